-- module.lua - tide.so in a stock lua5.4: kernels, schedules, pages; what needs the program is said.
local t = require "tap"
local shell = require "shell"
local quote = shell.quote

if not shell.read "tide.so" then t.skip_all "tide.so is not built (make so)" end
if shell.output "command -v lua5.4" == "" then t.skip_all "lua5.4 is not installed" end

-- Two places for the module: the checkout, and where make install puts it.
local root = shell.here
local installed = t.tmp "an install"
shell.plant(installed, { ["lib/lua/5.4/note"] = "", ["share/tide/note"] = "" })
shell.output(("cp tide.so %s/lib/lua/5.4/ && cp -r stdlib %s/share/tide/"):format(quote(installed), quote(installed)))

-- What lua5.4 prints for a script, in another folder, with the module from one of the places.
local function run(text, place)
  local path = t.tmp "script.lua"
  shell.write(path, text)
  local cpath = (place or root) .. "/?.so"
  return (shell.output(("cd / && env LUA_INIT= LUA_CPATH_5_4=%s lua5.4 %s 2>&1"):format(quote(cpath), quote(path))))
end

t.test("a kernel of a script is captured, runs compiled, and is scheduled", function()
  t.eq(run [[
local tide = require "tide"
local k = tide.kernel { x = tide.i8[4], function(x) for i in tide.grid(4) do x[i] = i * 2 end end }
local x = tide.i8[4](0)
tide.schedule(k):split("i", 2)(x)
print(x)]], "i8[4] {0, 2, 4, 6}\n")
end)

t.test("stdlib is found from the checkout and from an installation", function()
  local text = [[
local tide = require "tide"
print(tide.features().home, type(require "tide.tool.viewer".page))]]
  t.eq(run(text), root .. "\tfunction\n")
  t.eq(run(text, installed .. "/lib/lua/5.4"), installed .. "/share/tide\tfunction\n")
end)

t.test("tide.features() says that it is no program, and what is missing", function()
  local said = run [[
local f = require "tide".features()
print(f.program, f.memory_compiler, f.version)
print(f.missing)]]
  t.has(said, "false\tfalse\t" .. shell.read "VERSION")
  t.has(said, "run the program tide")
end)

t.test("a kernel in code without a file: the help names the program", function()
  local out = shell.output(("LUA_CPATH_5_4=%s lua5.4 -e %s 2>&1"):format(quote(root .. "/?.so"), quote [[
local tide = require "tide"
tide.kernel { x = tide.i8[4], function(x) x[0] = 1 end }]]))
  t.has(out, "the source of this function is not known")
  t.has(out, "help: run this with the program tide")
end)

t.test("the program lacks nothing", function()
  local out = shell.output("./tide -e 'print(tide.features().program, tide.features().missing)' 2>&1")
  t.eq(out, "true\tnil\n")
end)

t.done()
