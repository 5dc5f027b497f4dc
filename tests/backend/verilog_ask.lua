-- [slow]
-- verilog_ask.lua - what tools say of Verilog: m:lint(), m:cost {..}; tools that are missing or complain are told.
local shell = require "shell"
local t = require "tap"
local case = require "verilog_case"
local tide = require "tide"
local i8, i16, task, grid = tide.i8, tide.i16, tide.task, tide.grid

if not (case.has "yosys" and case.has "verilator" and case.has "iverilog") then t.skip_all "yosys is not here" end

local function saxpy(n)
  local k = tide.kernel {
    name = "saxpy", x = i16[n], y = i16[n], a = i16,
    function(x, y, a)
      for i in grid(n) do y[i] = y[i] + a * x[i] end
    end,
  }
  return tide.schedule(k):pipeline "i"
end

local function pipe(n, stages)
  return tide.design(function(d)
    local z = d:stream(i8, {stages + 1})
    d.src = task {X = i8[n], function(X) for k in grid(n) do z[0]:put(X[k]) end end}
    d.mid = task {map = {stages}, function(p)
      for _ in grid(n, "k") do z[p + 1]:put(z[p]:get() + p) end
    end}
    d.dst = task {Y = i8[n], function(Y) for k in grid(n) do Y[k] = z[stages]:get() end end}
  end)
end

t.test("linters find nothing", function()
  for _, p in ipairs {saxpy(8), pipe(6, 2)} do
    local r = p:build {target = "verilog"}:lint()
    t.ok(r.clean, tostring(r))
    t.eq(r.verilator, "clean")
    t.has(tostring(r), "icarus")
  end
end)

t.test("cells of modules times instances are the sum, beside the estimate", function()
  for _, q in ipairs {{"generic", 5, 3}, {"xilinx", 6, 2}, {"ice40", 4, 4}} do
    local c = pipe(q[2], q[3]):build {target = "verilog"}:cost {flow = q[1]}
    local ff, mids = 0, 0
    for _, m in ipairs(c.modules) do
      ff = ff + m.ff * m.instances
      if m.name == "tide_fifo" then t.eq(m.ff, 2 * 8 + 2) end
      if m.name:find "^mid" then mids = mids + m.instances end
    end
    t.eq(c.ff, ff)
    t.eq(mids, q[3])
    t.ok(c.ff > 0 and c.lut > 0 and c.path > 0 and c.estimate.lut > 0, tostring(c))
    t.has(tostring(c), "estimate (rtl)")
  end
  t.eq(saxpy(8):build {target = "verilog"}:cost {flow = "xilinx"}.dsp, 1)
end)

if case.has "nextpnr-ice40" then
  t.test("nextpnr tells the clock", function()
    local c = saxpy(8):build {target = "verilog"}:cost {flow = "ice40", pnr = true}
    t.ok(c.mhz > 10 and c.mhz < 1000, tostring(c))
    t.has(tostring(c), "MHz on hx8k")
    local relay = tide.kernel {
      name = "relay", X = tide.stream(i8), Y = tide.stream(i8), a = i8,
      function(X, Y, a) for _ in grid(3) do Y:put(X:get() * a) end end,
    }
    local slow = relay:build {target = "verilog"}:cost {flow = "ice40", pnr = true}
    t.ok(slow.mhz < 150, "a product of 8 bits stands on the path: " .. tostring(slow))
  end)
else
  t.skip("nextpnr tells the clock", "nextpnr-ice40 is not here")
end

t.test("what cannot be asked is refused", function()
  local m = saxpy(4):build {target = "verilog"}
  t.fails(function() m:cost {flow = "xilinx", pnr = true} end, {code = "option-value"})
  t.fails(function() m:cost {flow = "altera"} end, {code = "option-value"})
  t.fails(function() saxpy(4):build {target = "hls"}:lint() end, {code = "no-question"})
end)

t.test("the files: modules, benches, scripts, the clock", function()
  local m = pipe(4, 2):build {target = "verilog"}
  t.has(m.files["xilinx.ys"], "synth_xilinx")
  t.has(m.files["pipe.sdc"], "create_clock -name clk -period 5.000")
  for line in m.files["files.f"]:gmatch "[^\n]+" do t.ok(m.files[line], line) end
end)

local script = [[
local tide = require "tide"
local m = tide.kernel {x = tide.i32[1], function(x) x[0] = x[0] + 1 end}:build {target = "verilog"}
local ok, r = pcall(m.%s, m)
print(ok, r)
if not ok then print(r.code, r.help) end
]]

-- What the script says where only `tool` is on PATH, of these lines.
local function says(question, tool, lines)
  local dir = t.tmp "tools"
  os.execute(("rm -rf %s && mkdir -p %s/bin"):format(dir, dir))
  for _, name in ipairs {"sh", "cat", "rm", "mkdir"} do
    os.execute(("ln -s $(command -v %s) %s/bin/%s"):format(name, dir, name))
  end
  if tool then shell.write(dir .. "/bin/" .. tool, "#!/bin/sh\n" .. lines .. "\n") end
  os.execute(("chmod +x %s/bin/* 2>/dev/null"):format(dir))
  shell.write(dir .. "/run.lua", script:format(question))
  return shell.output(("PATH=%s TIDE_CACHE=%s %s %s 2>&1"):format(dir .. "/bin", shell.quote(dir),
    shell.quote(shell.program), shell.quote(dir .. "/run.lua")))
end

t.test("a tool that is missing: the command is said", function()
  t.has(says "lint", "yosys      not on PATH; after m:write(dir) run there: yosys -q")
  local text = says "cost"
  t.has(text, "no-tool")
  t.has(text, "there run: yosys -q -s generic.ys")
end)

t.test("what a tool says is told", function()
  local text = says("lint", "verilator", "echo '%Warning-WIDTH: it is narrow'")
  t.has(text, "verilator  warns")
  t.has(text, "it is narrow")
  t.has(says("cost", "yosys", "echo 'ERROR: it is odd'; exit 1"), "ERROR: it is odd")
end)

t.done()
