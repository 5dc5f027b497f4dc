-- verilog_tools.lua - simulators that are missing, fail, hang, or run another text than Tide wrote: each is told.
local shell = require "shell"
local t = require "tap"
local case = require "verilog_case"

if not case.has "iverilog" then t.skip_all "iverilog is not here" end

local script = [[
local tide = require "tide"
local k = tide.kernel {x = tide.i32[1], function(x) x[0] = x[0] + 12345 end}
local x = tide.i32[1](1)
local m = k:build {target = "verilog", sim = "icarus", seconds = 1}
local ok, e = pcall(m, x)
print(ok and "x is " .. x[0] or e.code, ok and "" or e)
]]

-- What the script says where a tool is a shell script of these lines; path: PATH in place of one with it.
local function says(lines, tool, path)
  local dir = t.tmp "tools"
  os.execute(("rm -rf %s && mkdir -p %s/bin"):format(dir, dir))
  shell.write(dir .. "/bin/" .. tool, "#!/bin/sh\n" .. lines .. "\n")
  os.execute(("chmod +x %s/bin/*"):format(dir))
  shell.write(dir .. "/run.lua", script)
  return shell.output(("PATH=%s TIDE_CACHE=%s %s %s 2>&1"):format(path or dir .. "/bin:$PATH", shell.quote(dir),
    shell.quote(shell.program), shell.quote(dir .. "/run.lua")))
end

local real = shell.output("command -v iverilog"):gsub("%s+$", "")

t.test("a simulator that is there runs; one that is missing is named", function()
  t.has(says(("exec %s \"$@\""):format(real), "iverilog"), "x is 12346")
  local text = says("", "iverilog", "/nowhere")
  t.has(text, "no-tool")
  t.has(text, "iverilog is not on PATH")
end)

t.test("what it says when it fails is told", function()
  local text = says("echo it is broken; exit 3", "iverilog")
  t.has(text, "verilog-tool")
  t.has(text, "it is broken")
end)

t.test("one that hangs is ended", function()
  local text = says("exec sleep 60", "vvp")
  t.has(text, "verilog-time")
  t.has(text, "vvp did not end in time")
end)

t.test("a text that computes something else is found by the check", function()
  local text = says(([[
for f; do case $f in *.sv) sed -i 's/12345/12344/' "$f";; esac; done
exec %s "$@"]]):format(real), "iverilog")
  t.has(text, "verilog-differs")
  t.has(text, "x[0] is 12346")
end)

t.done()
