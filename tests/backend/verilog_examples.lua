-- [slow]
-- verilog_examples.lua - designs of examples as Verilog in Icarus, where the examples run them: the check compares
-- values and cycles with the timed run at `device = "rtl"`.
local t = require "tap"
local case = require "verilog_case"
local tide = require "tide"
local i16, i32, task, grid = tide.i16, tide.i32, tide.task, tide.grid

if not case.has "iverilog" then t.skip_all "iverilog is not here" end

-- Where the examples run with a clock, all at once or what one call makes.
local timed = {'([^%s=]+):build%s*{%s*target = "cpu", timed = true%s*}', "both(%1)"}
local call = {'= s(:build { target = "cpu", timed = true })', "= both(s)"}

t.test("example 12 at two sizes", function()
  t.eq(case.example("12_systolic", {"4", "4", "4"}, {timed}), 20)
  t.ok(case.example("12_systolic", {"3", "2", "5"}, {timed}))
end)

t.test("example 20 at two sizes, mapped and not", function()
  for _, run in ipairs {"\nrun(4, 2, 2, false, 1)", "\nrun(3, 2, 2, true, 1)"} do
    for _, what in ipairs {"both(top)(Q, K, V, O)", "top(Q, K, V, O) both(hand)(Q, K, V, O:copy())"} do
      t.ok(case.example("20_flash_attention", {}, {{"\nrun%(.*", run}, {"top%(Q, K, V, O%)", what}}))
    end
  end
end)

t.test("example 30", function()
  t.eq(case.example("30_timed_systolic", {}, {timed}), 105)
end)

t.test("example 32 at two sizes", function()
  t.ok(case.example("32_weight_stationary", {"8", "6", "5", "2", "3"}, {call}))
  t.ok(case.example("32_weight_stationary", {"6", "8", "8", "4", "4"}, {call}))
end)

t.test("example 34 at two sizes", function()
  for _, sizes in ipairs {{"4", "4", "8", "2", "2", "1"}, {"3", "5", "7", "2", "1", "2"}} do
    t.ok(case.example("34_two_level_cache", sizes, {call}))
  end
end)

t.test("example 35, of two seeds", function()
  for _, seed in ipairs {"1", "7"} do
    t.ok(case.example("35_bitonic_sort", {seed}, {{"\nsort%(A%)\n", "\nboth(sort)(A)\n"}}))
  end
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
