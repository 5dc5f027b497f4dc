-- Designs: what the table of examples/README.md promises and no other test names.
local tide = require "tide"
local t = require "tap"
local p = require "programs"
local i8, i32, f32, task, grid = tide.i8, tide.i32, tide.f32, tide.task, tide.grid

t.test("a grid of one, on one, two and three axes", function()
  for rank = 1, 3 do
    local map = {}
    for k = 1, rank do map[k] = 1 end
    local body = ({function(A, B, x) B[x] = A[x] + 1 end, function(A, B, x, y) B[x] = A[y] + 1 end,
      function(A, B, x, y, z) B[x + y + z] = A[x] + 1 end})[rank]
    local top = tide.design(function(d)
      local A, B = d:arg(i32[1]), d:arg(i32[1])
      d.one = task {map = map, A = A, B = B, body}
    end)
    local _, B = p.foreign(top, tide.tensor(i32[1], {6}), i32[1](0))
    t.eq(B:table(), {7})
  end
end)

t.test("one template of a task, made for different arguments", function()
  local function scaled(A, B, by)
    return task {X = A, Y = B, function(X, Y) for i in grid(4) do Y[i] = X[i] * by end end}
  end
  local top = tide.design(function(d)
    local A, B, C = d:arg(i32[4]), d:arg(i32[4]), d:arg(i32[4])
    d.twice = scaled(A, B, 2)
    d.thrice = scaled(A, C, 3)
  end)
  local _, B, C = p.foreign(top, tide.tensor(i32[4], {1, 2, 3, 4}), i32[4](0), i32[4](0))
  t.eq({B:table(), C:table()}, {{2, 4, 6, 8}, {3, 6, 9, 12}})
end)

t.test("a table that the host computes, indexed by the id", function()
  local first, steps = {}, {}
  for q = 0, 3 do first[q + 1], steps[q + 1] = q * q, q + 1 end
  local start, count = tide.tensor(i32[4], first), tide.tensor(i32[4], steps)
  local top = tide.design(function(d)
    d.run = task {map = {4}, B = i32[4]:layout "S0", function(B, q)
      local sum = start[q]
      for i = 0, count[q] - 1 do sum = sum + i end
      B[0] = sum
    end}
  end)
  local B = p.foreign(top, i32[4](0))
  t.eq(B:table(), {0, 1 + 1, 4 + 3, 9 + 6})
end)

t.test("scalars as arguments", function()
  local top = tide.design(function(d)
    local n, scale = d:arg(i32), d:arg(f32)
    local Z = d:stream(f32)
    d.send = task {n = n, A = f32[8], function(n, A) for i = 0, n - 1 do Z:put(A[i]) end end}
    d.take = task {n = n, scale = scale, B = f32[8], function(n, scale, B)
      for i = 0, n - 1 do B[i] = Z:get() * scale end
    end}
  end)
  local A, B = tide.random(f32[8], 1), f32[8](0)
  top(5, 2.0, A, B)
  for i = 0, 7 do t.eq(B[i], i < 5 and A[i] * 2 or 0) end
end)

t.test("stream parameters: a kernel that takes ends and rows of them", function()
  local zip = tide.kernel {X = tide.stream(i32)[2], Y = tide.stream(i32), function(X, Y)
    for _ in grid(3) do
      Y:put(X[0]:get())
      Y:put(X[1]:get())
    end
  end}
  local top = tide.design(function(d)
    local x, y = d:stream(i32, {2, 2}), d:stream(i32, {2})
    d.send = task {map = {2, 2}, A = i32[2][2][3]:layout "S0S1R", function(A, i, j)
      for k in grid(3) do x[i][j]:put(A[0][0][k]) end
    end}
    d.zip = task {map = {2}, function(i) zip(x[i], y[i]) end}
    d.take = task {map = {2}, B = i32[2][6]:layout "S0R", function(B, i)
      for k in grid(6) do B[0][k] = y[i]:get() end
    end}
  end)
  local A = tide.random(i32[2][2][3], 1)
  local _, B = p.foreign(top, A, i32[2][6](0))
  for i, k in grid(2, 6) do t.eq(B[i][k], A[i][k % 2][k // 2]) end
end)

-- A design that stops on 0 in A in the middle of a stream.
local function divides()
  return tide.design(function(d)
    local Z = d:stream(i32, {depth = 8})
    d.send = task {A = i32[4], function(A)
      for i in grid(4) do Z:put(60 // A[i]) end
    end}
    d.take = task {B = i32[4], function(B) for i in grid(4) do B[i] = Z:get() end end}
  end)
end

t.test("a second call after a failed first sees no token of it", function()
  for _, how in ipairs {"call", "reference", "tcc", "cc"} do
    local top, B = divides(), i32[4](0)
    local f = how == "call" and top or how == "reference" and function(...) top:reference(...) end or
      tide.schedule(top):build {target = "cpu", tier = how}
    t.fails(function() f(tide.tensor(i32[4], {1, 2, 0, 4}), B) end, {code = "zero-division"})
    f(tide.tensor(i32[4], {1, 2, 3, 4}), B)
    t.eq(B:table(), {60, 30, 20, 15}, how)
  end
end)

t.test("two clashing instances and the element are named, for a write and for a read", function()
  local function at(by, reads)
    return function()
      tide.design(function(d)
        d.pe = task {map = {3}, A = i32[8], B = i32[3]:layout "S0", function(A, B, q)
          A[2 * q] = q
          if reads then B[0] = A[by] else A[2 * q + by] = q B[0] = 0 end
        end}
      end)
    end
  end
  t.ok(pcall(at(1, false)))
  local write = t.fails(at(2, false), {kind = "illegal", code = "race"})
  t.has(tostring(write), "A[2]")
  t.has(tostring(write), "pe[0]")
  t.has(tostring(write), "pe[1]")
  local read = t.fails(at(4, true), {kind = "illegal", code = "race"})
  t.has(tostring(read), "A[4]")
  t.has(tostring(read), "pe[2]")
end)

-- A design that counts its calls, run twice by each of two instances of a task.
local function nested()
  local seen = tide.state(i32[1], 10)
  local inner = tide.design(function(d)
    local Z = d:stream(i32)
    d.a = task {A = i32[2], function(A)
      seen[0] = seen[0] + 1
      for i in grid(2) do Z:put(A[i] + seen[0]) end
    end}
    d.b = task {B = i32[2], function(B) for i in grid(2) do B[i] = Z:get() end end}
  end)
  return tide.design(function(d)
    d.outer = task {map = {2}, A = i32[2][2]:layout "S0R", B = i32[2][2][2]:layout "S0RR", function(A, B)
      for n in grid(2) do inner(A[0], B[0][n]) end
    end}
  end)
end

t.test("an inner design with a state: each instance has its own, and keeps it", function()
  local A, want = tide.tensor(i32[2][2], {{0, 100}, {1000, 2000}}), {}
  for call = 0, 1 do
    local x, y = 11 + 2 * call, 12 + 2 * call
    want[call + 1] = {{{x, 100 + x}, {y, 100 + y}}, {{1000 + x, 2000 + x}, {1000 + y, 2000 + y}}}
  end
  local function runs(f)
    local B = i32[2][2][2](0)
    for call = 1, 2 do
      f(A, B)
      t.eq(B:table(), want[call])
    end
  end
  local top = nested()
  runs(nested())
  runs(function(...) top:reference(...) end)
  runs(tide.schedule(nested()))
  local timed = tide.schedule(nested()):build {target = "cpu", timed = true}
  runs(timed)
  t.eq({#timed.report.tasks, timed.report.tasks["outer[1]:a"].stalled}, {6, 0})
end)

-- Every way to run a design.
local ways = {{}, {tier = "tcc"}, {tier = "cc"}, {timed = true}, {timed = true, tier = "tcc"}}

-- States that a design fails with this code in every way, and says so.
local function fails_everywhere(top, code, said, A, B)
  for _, how in ipairs(ways) do
    how.target = "cpu"
    local e = t.fails(function() tide.schedule(top):build(how)(A, B) end, {code = code})
    t.has(tostring(e), said)
  end
  t.has(tostring(t.fails(function() top:reference(A, B) end, {code = code})), said)
end

-- b waits for y before it takes what a puts to x; `extra` tokens of x are never taken.
local function stuck(T, options, swap, extra)
  return tide.design(function(d)
    local x, y = d:stream(T, options), d:stream(i32)
    d.a = task {A = i32[1], function(A)
      for i in grid(3) do x:put(T(i + A[0])) end
      y:put(1)
    end}
    d.b = task {B = i32[1], function(B)
      if swap then B[0] = y:get() end
      for _ in grid(3 - extra) do local _ = x:get() end
      if not swap then B[0] = y:get() end
    end}
  end, {check = false})
end

t.test("a deadlock shows what the streams hold, in every tier", function()
  local A, B = tide.tensor(i32[1], {5}), i32[1](0)
  fails_everywhere(stuck(i8[2], {depth = 2}, true, 0), "deadlock", "x holds 5, 5, 6, 6\n", A, B)
  fails_everywhere(stuck(i32[2][2], {depth = 2, block = true}, true, 0), "deadlock",
    "x holds 5, 5, 5, 5, 6, 6, 6, 6\n", A, B)
  fails_everywhere(stuck(i8[5], {depth = 2}, true, 0), "deadlock", "x holds 5, 5, 5, 5, 5, 6, 6, 6, ...", A, B)
  fails_everywhere(stuck(f32, {depth = 2}, true, 0), "deadlock", "x holds 5.0, 6.0", A, B)
  stuck(i8[2], {depth = 3}, true, 0)(A, B)
end)

t.test("tokens that are left over are shown, in every tier", function()
  local A, B = tide.tensor(i32[1], {-4}), i32[1](0)
  fails_everywhere(stuck(tide.int(5), {depth = 2}, false, 1), "leftover", "x holds -2", A, B)
  stuck(tide.int(5), {depth = 2}, false, 0)(A, B)
end)

t.test("a layout names an axis once", function()
  t.fails(function() return i32[4][4]:layout "S0S0" end, {code = "layout", match = "dimensions 0 and 1"})
  t.fails(function() return i32[4][4][4]:layout "S1RS1" end, {code = "layout", match = "dimensions 0 and 2"})
  t.ok(i32[4][4]:layout "S0S1")
end)

t.test("streams as many as a size that has no value yet", function()
  local n = tide.size "n"
  local top = tide.design(function(d)
    local s = d:stream(i32, {n, depth = 3})
    d.a = task {A = i32[n], function(A) for i = 0, n - 1 do s[i]:put(A[i]) end end}
    d.b = task {B = i32[n], function(B) for i = 0, n - 1 do B[i] = s[i]:get() end end}
  end)
  t.has(tostring(top), "d:stream(i32, {n, depth = 3})")
  local _, B = p.foreign(top:at {n = 3}, tide.tensor(i32[3], {4, 5, 6}), i32[3](0))
  t.eq(B:table(), {4, 5, 6})
end)

t.test("a slice of a row is put, and the next step goes on", function()
  local P = 2
  local top = tide.design(function(d)
    local s = d:stream(i32[P])
    d.a = task {A = i32[4][8], function(A)
      for i, k in grid(4, 4) do s:put(A:slice(i, {k * P, k * P + P})) end
    end}
    d.b = task {B = i32[4][8], function(B)
      for i, k in grid(4, 4) do B:slice(i, {k * P, k * P + P}):set(s:get()) end
    end}
  end)
  local s = tide.schedule(top)
  s:split("a:i", 2)
  s:pipeline "b:k"
  t.eq(s:verify(), "strict")
  local A = tide.random(i32[4][8], 3)
  local _, B = p.foreign(s, A, i32[4][8](0))
  t.ok(B:equal(A))
end)

t.test("tokens left in many streams are all told", function()
  local function top(n)
    return tide.design(function(d)
      local s = d:stream(i32, {n})
      d.a = task {map = {n}, A = i32[n]:layout "S0", function(A, i)
        s[i]:put(A[0])
        s[i]:put(A[0])
      end}
      d.b = task {map = {n}, B = i32[n]:layout "S0", function(B, i) B[0] = s[i]:get() end}
    end, {check = false})
  end
  for _, n in ipairs {3, 18} do
    local k = top(n)
    for _, run in ipairs {function(...) k:reference(...) end, k:build {target = "cpu"}} do
      local passed, e = pcall(run, i32[n](7), i32[n](0))
      t.eq(passed, false)
      t.eq(e.code, "leftover")
      local text = tostring(e)
      for i = 0, math.min(n, 8) - 1 do t.has(text, ("s[%d] holds 7"):format(i)) end
      t.eq(text:find("and 10 more streams", 1, true) ~= nil, n == 18)
    end
  end
end)

t.done()
