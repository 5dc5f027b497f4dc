-- same_text.lua - printed IR, reports, emitted text and results are the same bytes in every run: in another folder,
-- with other addresses and memory, and where numbers are written with a comma.
local t = require "tap"
local shell = require "shell"

local program = shell.program

-- Prints all that a design and a schedule say; "comma" asks for a locale that writes 1,5.
local source = [[
local tide = require "tide"
if os.getenv "COMMA" then assert(os.setlocale "" and tostring(1.5) == "1,5", "no comma") end
local f32, i8, i32, grid, task = tide.f32, tide.i8, tide.i32, tide.grid, tide.task

local gemm = tide.kernel {
  A = f32[6][5], B = f32[5][4], C = f32[6][4],
  function(A, B, C)
    for i, j in grid(6, 4) do
      for k = 0, 4 do C[i][j] = C[i][j] + A[i][k] * B[k][j] * 1.5 - 0.125 end
    end
  end,
}
local s = tide.schedule(gemm)
s:split("i", 4)
print(s:diff())
s:reorder("k", "j"):buffer_at("C", "i_i")
s:pipeline("k"):partition("B", {1})
print(s, s:log(), s:estimate())
print(tide.verify(gemm, s))
print(select(2, pcall(s.parallel, s, "k")))
local function show(m)
  local names = {}
  for name in pairs(m.files) do if type(name) == "string" then names[#names + 1] = name end end
  table.sort(names, require "tide.order".bytes)
  for _, name in ipairs(names) do print(name, m.files[name]) end
end
show(s:build {target = "hls"})
local A, B = tide.random(f32[6][5], 1), tide.random(f32[5][4], 2)
for _, tier in ipairs {"tcc", "cc"} do
  local C = f32[6][4](0.5)
  s:build {target = "cpu", tier = tier}(A, B, C)
  print(tier, C)
end

local array = tide.design(function(d)
  local a = d:stream(i8, {5})
  d.head = task {X = i8[7], function(X) for n in grid(7) do a[0]:put(X[n]) end end}
  d.link = task {map = {4}, function(i) for _ in grid(7, "n") do a[i + 1]:put(a[i]:get() + i) end end}
  d.tail = task {Y = i8[7], function(Y) for n in grid(7) do Y[n] = a[4]:get() end end}
end)
print(array, array:graph(), array:graph():dot())
show(tide.schedule(array):build {target = "hls"})
local run, Y = tide.schedule(array):build {target = "cpu", timed = true}, i8[7](0)
run(tide.random(i8[7], 3), Y)
print(Y, run.report, run.report:timeline(40))
print(require "tide.json".text {a = 1, B = 2, c = {["_"] = 1, Z = 2, z = 3, [""] = 4}})
print(require "tide.nn")
local session = require "tide.session"
session.open()
io.open("k.lua", "w"):write("local tide = require 'tide'\nreturn tide.kernel { name = 'k', x = tide.i32[4],\n" ..
  "  function(x) for i = 0, 3 do x[i] = i end end }\n"):close()
session.run "k = dofile 'k.lua' B, a, _c, D = tide.schedule(k), tide.schedule(k), tide.schedule(k), tide.schedule(k)"
print(session.run(":reload k.lua").printed)
session.run ":save saved.lua"
print(io.open "saved.lua":read "a")
run.report:vcd "same.vcd"
print(io.open "same.vcd":read "a")
]]

-- What the program prints in a folder of its own, run with these variables.
local count = 0
local function output(variables)
  count = count + 1
  local folder = t.tmp("run " .. count)
  shell.plant(folder, {["same.lua"] = source})
  local text, status = shell.output(("cd '%s' && env %s '%s' same.lua 2>&1"):format(folder, variables, program))
  t.eq(status, 0, text)
  return text
end

-- Fails with the first line that differs.
local function same(got, want)
  if got == want then return end
  local lines = want:gmatch "[^\n]*"
  for line in got:gmatch "[^\n]*" do t.eq(line, lines()) end
  t.ok(false, "one text is longer")
end

local first = output ""
t.test("a second run, elsewhere, with other addresses and what memory held", function()
  t.ok(#first > 10000, first)
  same(output "MALLOC_PERTURB_=165", first)
end)

-- A folder with a locale that writes a comma, or nil.
local function comma_locale()
  local folder = t.tmp "locales"
  shell.plant(folder, {})
  shell.output(("localedef -i de_DE -f UTF-8 '%s/de_DE.UTF-8' 2>&1"):format(folder))
  return shell.read(folder .. "/de_DE.UTF-8/LC_NUMERIC") and folder
end

local locales = comma_locale()
if locales then
  t.test("where numbers have a comma", function()
    same(output(("LOCPATH='%s' LC_ALL=de_DE.UTF-8 COMMA=1"):format(locales)), first)
    shell.output(("rm -r '%s'"):format(locales))
  end)
else
  t.skip("where numbers have a comma", "the package locales is not installed")
end

t.done()
