-- [slow] What callees assume of their index parameters: proved where they are called, or checked in every
-- run, and kept by steps. Nothing rests on an assumption that is neither.
local tide = require "tide"
local t = require "tap"
local i8, i16, i32, i64, index = tide.i8, tide.i16, tide.i32, tide.i64, tide.index

-- A copy of each tensor of a list.
local function copies(args)
  local list = {}
  for i, v in ipairs(args) do list[i] = type(v) == "userdata" and v:copy() or v end
  return list
end

-- All ways to run a program, by name.
local function tiers(program, hls)
  local list = {
    reference = function(...) program:reference(...) end,
    tcc = program:build {target = "cpu", tier = "tcc"},
    cc = program:build {target = "cpu", tier = "cc"},
  }
  if hls ~= false then list.hls = program:build {target = "hls"} end
  return list
end

-- States that a program runs alike everywhere on `good`, and that every run of it on `bad` ends for
-- what is assumed.
local function checked(program, good, bad, hls)
  local want = copies(good)
  program:reference(table.unpack(want))
  for name, run in pairs(tiers(program, hls)) do
    local got = copies(good)
    run(table.unpack(got))
    for i = 1, #want do
      if type(want[i]) == "userdata" then t.ok(got[i]:equal(want[i]), name .. ", argument " .. i) end
    end
    for _, args in ipairs(bad) do
      local passed, e = pcall(run, table.unpack(copies(args)))
      t.ok(not passed, name .. " ran")
      t.eq(e.code, "assume", name .. ": " .. tostring(e))
      t.has(tostring(e), "assumes")
    end
  end
end

local function one(ty, v) return tide.tensor(ty[1], {v}) end

local function writer(bound)
  local f = tide.kernel {A = i32[8], n = index, function(A, n)
    tide.assume(n < bound, n >= 0)
    A[n] = 1
  end}
  return tide.kernel {A = i32[8], p = i32[1], function(A, p) f(A, p[0]) end}
end

t.test("an index from memory", function()
  checked(writer(8), {i32[8](0), one(i32, 7)},
    {{i32[8](0), one(i32, 8)}, {i32[8](0), one(i32, -1)}, {i32[8](0), one(i32, 1000000000)}})
end)

t.test("a stronger assumption than the bounds need is checked as well", function()
  checked(writer(3), {i32[8](0), one(i32, 2)}, {{i32[8](0), one(i32, 5)}})
end)

t.test("a remainder, of a negative number too", function()
  local f = tide.kernel {A = i16[12], n = index, function(A, n)
    tide.assume(n % 4 == 1, n < 9)
    for i = 0, 3 do if n + i >= 0 then A[n + i] = 3 end end
  end}
  checked(tide.kernel {A = i16[12], p = i32[1], function(A, p) f(A, p[0]) end},
    {i16[12](0), one(i32, -3)}, {{i16[12](0), one(i32, -1)}, {i16[12](0), one(i32, 9)}})
end)

t.test("two parameters, one computed", function()
  local f = tide.kernel {A = i32[16], lo = index, hi = index, function(A, lo, hi)
    tide.assume(0 <= lo and lo <= hi and hi <= 16)
    for i = lo, hi - 1 do A[i] = A[i] + 1 end
  end}
  local g = tide.kernel {A = i32[16], q = i16[4], function(A, q)
    for i = 0, 2 do f(A, q[i], q[i + 1]) end
  end}
  checked(g, {i32[16](0), tide.tensor(i16[4], {0, 3, 9, 16})},
    {{i32[16](0), tide.tensor(i16[4], {0, 3, 2, 16})},
      {i32[16](0), tide.tensor(i16[4], {0, 3, 9, 17})}})
end)

t.test("a call in a call", function()
  local f = tide.kernel {A = i32[8], n = index, function(A, n)
    tide.assume(n < 8, n >= 0)
    A[n] = A[n] + 2
  end}
  local g = tide.kernel {A = i32[8], m = index, function(A, m)
    tide.assume(m >= 0)
    f(A, m + 1)
  end}
  checked(tide.kernel {A = i32[8], p = i32[1], function(A, p) g(A, p[0]) end},
    {i32[8](0), one(i32, 3)}, {{i32[8](0), one(i32, 7)}, {i32[8](0), one(i32, -1)}})
end)

t.test("an index of 64 bits", function()
  local f = tide.kernel {A = i8[5], n = index, function(A, n)
    tide.assume(n >= 0, n < 5)
    A[n] = 9
  end}
  checked(tide.kernel {A = i8[5], p = i64[1], function(A, p) f(A, p[0]) end},
    {i8[5](0), one(i64, 4)}, {{i8[5](0), one(i64, 1 << 32)}, {i8[5](0), one(i64, -1 << 40)}})
end)

t.test("what the call proves is not checked again", function()
  local f = tide.kernel {name = "f", A = i32[8], n = index, function(A, n)
    tide.assume(n < 8, n >= 0)
    A[n] = 1
  end}
  local proved = tide.kernel {A = i32[8], function(A) for i = 0, 7 do f(A, i) end end}
  local guarded = tide.kernel {A = i32[8], n = index, function(A, n)
    if n >= 0 and n < 8 then f(A, n) end
  end}
  local open = tide.kernel {A = i32[8], n = index, function(A, n) f(A, n) end}
  checked(proved, {i32[8](0)}, {})
  checked(guarded, {i32[8](0), 99}, {})
  checked(open, {i32[8](0), 7}, {{i32[8](0), 99}})
  local function asks(k)
    return k:build {target = "cpu"}.source:find("td_fault(run, 8", 1, true) ~= nil
  end
  t.eq({asks(proved), asks(guarded), asks(open)}, {false, false, true})
end)

t.test("inline keeps what it cannot prove", function()
  local k = writer(8)
  local s = tide.schedule(k)
  s:inline "f"
  t.has(tostring(s), "f_assumes(n, 8)")
  checked(s, {i32[8](0), one(i32, 7)}, {{i32[8](0), one(i32, 8)}, {i32[8](0), one(i32, 1000000000)}})
  t.fails(function() s:inline "f_assumes" end, {code = "assume", kind = "illegal"})
end)

t.test("inline drops what it proves", function()
  local f = tide.kernel {A = i32[8], n = index, function(A, n)
    tide.assume(n < 8, n >= 0)
    A[n] = 1
  end}
  local s = tide.schedule(tide.kernel {A = i32[8], function(A) for i = 0, 7 do f(A, i) end end})
  s:inline "f"
  t.eq(tostring(s):find("assumes", 1, true), nil)
  t.eq(s:verify(), "strict")
end)

t.test("inline of a call that is not reached adds no fault", function()
  local f = tide.kernel {A = i32[8], n = index, function(A, n)
    tide.assume(n < 4)
    A[n] = 1
  end}
  local k = tide.kernel {A = i32[8], p = i32[1], function(A, p) if p[0] > 0 then f(A, 5) end end}
  local s = tide.schedule(k):inline "f"
  checked(k, {i32[8](0), one(i32, 0)}, {{i32[8](0), one(i32, 1)}})
  checked(s, {i32[8](0), one(i32, 0)}, {{i32[8](0), one(i32, 1)}})
end)

t.test("tasks: by their numbers, by an argument, by a call, by data", function()
  local at = tide.kernel {A = i32[8], n = index, function(A, n)
    tide.assume(n < 8, n >= 0)
    A[n] = A[n] + 5
  end}
  local function net(P)
    return tide.design(function(d)
      d.w = tide.task {map = {P}, A = d:arg(i32[P][4]), m = d:arg(index), function(A, m, i)
        tide.assume(m < 4, m >= 0)
        A[i][m] = i + 1
      end}
      d.c = tide.task {B = i32[8], p = i32[1], function(B, p) at(B, p[0]) end}
    end, {check = false})
  end
  local function args(P, m, p) return {i32[P][4](0), m, i32[8](0), one(i32, p)} end
  checked(net(3), args(3, 3, 7), {args(3, 4, 7), args(3, 1 << 40, 7), args(3, -1, 7), args(3, 3, 8)})
  checked(net(2), args(2, 2, 0), {args(2, 5, 0), args(2, 3, -1)})
end)

t.test("unify keeps what each of two kernels assumes", function()
  local function add(least)
    return tide.kernel {A = i32[16], n = index, function(A, n)
      tide.assume(n >= least, n <= 12)
      for i = 0, 3 do A[n + i] = A[n + i] + least end
    end}
  end
  local f, g = add(1), add(4)
  local s = tide.schedule(tide.kernel {A = i32[16], n = index, function(A, n)
    f(A, n)
    g(A, n)
  end})
  s:unify("add", "add_1", 2)
  checked(s, {i32[16](0), 5}, {{i32[16](0), 3}, {i32[16](0), 13}})
end)

-- y := x + n for n below `most`.
local function shifted(most)
  return tide.kernel {name = "shift", y = i32[4], x = i32[4], n = i32, function(y, x, n)
    tide.assume(n < most)
    for i = 0, 3 do y[i] = x[i] + n end
  end}
end

t.test("inject adds no assumption that is not known", function()
  local function of(most)
    return tide.schedule(tide.kernel {Y = i32[4], X = i32[4], m = i32, function(Y, X, m)
      tide.assume(m < most)
      for k = 0, 3 do Y[k] = X[k] + m end
    end})
  end
  of(9):inject("k", shifted(9))
  of(9):inject("k", shifted(12))
  t.fails(function() of(9):inject("k", shifted(8)) end, {code = "assume", kind = "illegal"})
end)

t.test("what a design's unit assumes is kept where no task takes it", function()
  local k = tide.kernel {A = i32[4], B = i32[4], n = index, function(A, B, n)
    tide.assume(n >= 2)
    for i = 0, 3 do A[i] = B[i] + 1 end
  end}
  local taken = tide.kernel {A = i32[4], B = i32[4], n = index, function(A, B, n)
    tide.assume(n >= 2)
    for i = 0, 3 do A[i] = B[i] + n end
  end}
  for _, x in ipairs {k, taken} do
    local s = tide.schedule(x):dataflow()
    local again = load(tostring(s))()
    checked(s, {i32[4](0), i32[4](3), 2}, {{i32[4](0), i32[4](3), 1}})
    checked(again, {i32[4](0), i32[4](3), 2}, {{i32[4](0), i32[4](3), 1}})
  end
end)

t.test("with a clock, and from call to call", function()
  local f = tide.kernel {A = i32[8], n = index, function(A, n)
    tide.assume(n < 8, n >= 0)
    A[n] = A[n] + 1
  end}
  local d = tide.design(function(d)
    d.a = tide.task {A = i32[8], p = i32[1], function(A, p) f(A, p[0]) end}
  end)
  for _, device in ipairs {"ideal", "u280"} do
    local run = d:build {target = "cpu", device = device}
    local A = i32[8](0)
    run(A, one(i32, 3))
    t.fails(function() run(A, one(i32, 1 << 20)) end, {code = "assume"})
    run(A, one(i32, 3))
    t.eq(A[3], 2)
  end
end)

t.test("in the body of a parallel loop", function()
  local f = tide.kernel {A = i32[8], n = index, function(A, n)
    tide.assume(n < 9)
    A[0] = n
  end}
  local s = tide.schedule(tide.kernel {A = i32[64][8], p = i32[64], function(A, p)
    for i = 0, 63 do f(A[i], p[i]) end
  end})
  s:parallel "i"
  local p = i32[64](3)
  local bad = p:copy()
  bad[40] = 9
  checked(s, {i32[64][8](0), p}, {{i32[64][8](0), bad}})
end)
t.done()
