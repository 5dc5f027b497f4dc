-- [slow]
-- verilog_examples.lua - designs of examples as Verilog in Icarus, where the examples run them: the check compares
-- values and cycles with the timed run at `device = "rtl"`.
local t = require "tap"
local case = require "verilog_case"
local tide = require "tide"
local i16, i32, task, grid = tide.i16, tide.i32, tide.task, tide.grid

if not case.has "iverilog" then t.skip_all "iverilog is not here" end

local ran

-- A build of p for the CPU, timed, which on a call runs it as Verilog, too.
function _G.both(p) -- luacheck: ignore
  local m = p:build {target = "cpu", timed = true}
  local function run(_, ...)
    local list = table.pack(...)
    for i = 1, list.n do
      if type(list[i]) == "userdata" then list[i] = list[i]:copy() end
    end
    local v = p:build {target = "verilog", sim = "icarus"}
    v(table.unpack(list, 1, list.n))
    ran = v.report.cycles
    return m(...)
  end
  return setmetatable({}, {__call = run, __index = function(_, name) return m[name] end})
end

-- Runs an example with the edits.
local function example(name, sizes, from, to)
  local text = io.open("examples/" .. name .. ".lua"):read "a"
  local edited, n = text:gsub(from, to)
  t.eq(n, 1)
  local print_, arg_ = print, arg
  _G.print, _G.arg, ran = function() end, sizes, nil -- luacheck: ignore
  local ok, e = pcall(assert(load(edited, "@" .. name)))
  _G.print, _G.arg = print_, arg_ -- luacheck: ignore
  t.ok(ok, tostring(e))
  return ran
end

local timed = '([^%s=]+):build%s*{%s*target = "cpu", timed = true%s*}'

t.test("example 12 at two sizes", function()
  t.eq(example("12_systolic", {"4", "4", "4"}, timed, "both(%1)"), 20)
  t.ok(example("12_systolic", {"3", "2", "5"}, timed, "both(%1)"))
end)

t.test("example 30", function()
  t.eq(example("30_timed_systolic", {}, timed, "both(%1)"), 105)
end)

t.test("example 32 at two sizes", function()
  t.ok(example("32_weight_stationary", {"8", "6", "5", "2", "3"}, "= s(:build { target = \"cpu\", timed = true })",
    "= both(s)"))
  t.ok(example("32_weight_stationary", {"6", "8", "8", "4", "4"}, "= s(:build { target = \"cpu\", timed = true })",
    "= both(s)"))
end)

t.test("example 34 at two sizes", function()
  for _, sizes in ipairs {{"4", "4", "8", "2", "2", "1"}, {"3", "5", "7", "2", "1", "2"}} do
    t.ok(example("34_two_level_cache", sizes, "= s(:build { target = \"cpu\", timed = true })", "= both(s)"))
  end
end)

t.test("example 35, of two seeds", function()
  for _, seed in ipairs {"1", "7"} do t.ok(example("35_bitonic_sort", {seed}, "\nsort%(A%)\n", "\nboth(sort)(A)\n")) end
end)

t.test("tasks exchange what they read", function()
  for _, q in ipairs {{2, 3}, {4, 2}} do
    local P, K = q[1], q[2]
    local d = tide.design(function(d)
      local Z, Y = d:stream(i32, {P}), d:stream(i16, {P})
      d.cell = task {map = {P}, A = i32[P][K], function(A, p)
        for k in grid(K) do
          Z[(p + 1) % P]:put(A[p][k])
          local u = Z[p]:get()
          Y[p]:put(i16(u) + 1)
          local v = Y[p]:get()
          A[p][k] = u * 3 // (v * v + 1)
        end
      end}
    end)
    case.run(d, {tide.random(i32[P][K], 3, {lo = -90, hi = 90})})
  end
end)

t.done()
