-- [slow] Designs that kernels and tasks call: the same bits by the evaluator, in memory, by the system's
-- compiler and as HLS C++; faults and deadlocks of the inner design are told; states last.
local tide = require "tide"
local t = require "tap"
local collect = require "collect"
local i32, grid, task, tensor = tide.i32, tide.grid, tide.task, tide.tensor

-- The ways to run a program here; `hls` only where it is asked for.
local ways = {"reference", "tcc", "cc"}

-- A function that runs p in a way.
local function runner(p, way)
  if way == "reference" then return function(...) p:reference(...) end end
  if way == "hls" then return p:build {target = "hls"} end
  return p:build {target = "cpu", tier = way}
end

-- Runs make() in every way on copies of inputs, `calls` times; what the reference leaves, which all leave.
local function same(make, inputs, calls, list)
  local want
  for _, way in ipairs(list or ways) do
    local args = collect.copies(table.unpack(inputs))
    local f = runner(make(), way)
    for _ = 1, calls or 1 do f(table.unpack(args)) end
    want = want or args
    for k = 1, #args do
      if type(args[k]) == "userdata" then
        t.ok(args[k]:equal(want[k]), ("%s, argument %d: %s, not %s"):format(way, k, tostring(args[k]),
          tostring(want[k])))
      end
    end
  end
  return table.unpack(want)
end

local everywhere = {"reference", "tcc", "cc", "hls"}

-- A design that adds `by` to n elements, over a stream of this depth.
local function adder(n, by, depth)
  return tide.design(function(d)
    local Z = d:stream(i32, {depth = depth or 2})
    d.send = task {A = i32[n], function(A) for i in grid(n) do Z:put(A[i]) end end}
    d.take = task {B = i32[n], function(B) for i in grid(n) do B[i] = Z:get() + by end end}
  end)
end

t.test("a kernel calls a design on the rows of an array", function()
  local A, B = tide.random(i32[4][8], 1, {lo = -99, hi = 99}), i32[4][8](0)
  local _, got = same(function()
    local add = adder(8, 1)
    return tide.kernel {A = i32[4][8], B = i32[4][8], function(A, B)
      for i in grid(4) do add(A[i], B[i]) end
    end}
  end, {A, B}, 1, everywhere)
  t.ok(got:equal(i32[4][8](A + 1)))
end)

t.test("on columns, and on rows and columns of other arrays by the same design", function()
  local A, B = tide.random(i32[8][5], 2, {lo = -99, hi = 99}), tide.random(i32[8], 3, {lo = 0, hi = 9})
  local C, D = i32[3][8](0), i32[8][7](0)
  local _, _, c, d = same(function()
    local add = adder(8, 3, 1)
    return tide.kernel {A = i32[8][5], B = i32[8], C = i32[3][8], D = i32[8][7], function(A, B, C, D)
      add(A:slice({}, 2), C[1])
      add(B, D:slice({}, 6))
      add(C[1], D:slice({}, 0))
    end}
  end, {A, B, C, D})
  for i in grid(8) do
    t.eq({c[1][i], d[i][6], d[i][0]}, {A[i][2] + 3, B[i] + 3, A[i][2] + 6})
  end
end)

t.test("a layout of the inner design cuts a part that does not lie in rows", function()
  local A, B = tide.random(i32[6][4], 4, {lo = -99, hi = 99}), i32[6][6](0)
  local _, got = same(function()
    local copy = tide.design(function(d)
      d.pe = task {map = {3, 2}, X = i32[6][4]:layout "S0S1", Y = i32[6][4]:layout "S0S1", function(X, Y, i, j)
        for a, b in grid(2, 2) do Y[a][b] = X[a][b] * (10 * i + j) end
      end}
    end)
    return tide.kernel {A = i32[6][4], B = i32[6][6], function(A, B)
      copy(A, B:slice({}, {1, 5}))
    end}
  end, {A, B})
  for i, j in grid(6, 4) do t.eq(got[i][j + 1], A[i][j] * (10 * (i // 2) + j // 2)) end
end)

-- A design whose task counts its calls, and writes the count.
local function counter(start)
  local calls = tide.state(i32[1], start)
  return tide.design(function(d)
    d.count = task {B = i32[1], function(B)
      calls[0] = calls[0] + 1
      B[0] = calls[0]
    end}
  end)
end

t.test("states of inner designs last, one for each path from the top", function()
  local function make()
    local count = counter(10)
    local one = tide.kernel {B = i32[3][1], function(B) count(B[0]) count(B[1]) end}
    local two = one:as "two"
    return tide.kernel {B = i32[2][3][1], function(B) one(B[0]) two(B[1]) two(B[1]) end}
  end
  local B = same(make, {i32[2][3][1](0)}, 2, everywhere)
  t.eq(B:table(), {{{13}, {14}, {0}}, {{17}, {18}, {0}}})
  local k = make():build {target = "cpu"}
  local got = i32[2][3][1](0)
  for _ = 1, 2 do
    k(got)
    t.eq({got[0][1][0], got[1][1][0]}, {12, 14})
    k:reset()
  end
end)

t.test("two designs of one name, with states and streams of one name", function()
  local function named(by)
    local sum = tide.state(i32[1], by)
    return tide.design(function(d)
      local Z = d:stream(i32)
      d.send = task {A = i32[4], function(A) for i in grid(4) do Z:put(A[i] * by) end end}
      d.take = task {B = i32[4], function(B)
        for i in grid(4) do
          sum[0] = sum[0] + Z:get()
          B[i] = sum[0]
        end
      end}
    end)
  end
  local A, B, C = tensor(i32[4], {1, 2, 3, 4}), i32[4](0), i32[4](0)
  local _, b, c = same(function()
    local first, second = named(2), named(3)
    return tide.kernel {A = i32[4], B = i32[4], C = i32[4], function(A, B, C)
      first(A, B)
      second(A, C)
    end}
  end, {A, B, C}, 2, everywhere)
  t.eq({b:table(), c:table()}, {{24, 28, 34, 42}, {36, 42, 51, 63}})
end)

t.test("two kernels of one text have two states, where one kernel calls both", function()
  local function counting(inside)
    local calls = tide.state(i32[1], 0)
    local count = tide.kernel {A = i32[1], function(A)
      calls[0] = calls[0] + 1
      A[0] = calls[0]
    end}
    return inside and tide.kernel {A = i32[1], function(A) count(A) end} or count
  end
  for _, inside in ipairs {false, true} do
    local A, B = same(function()
      local a, b = counting(inside), counting(inside)
      return tide.kernel {A = i32[1], B = i32[1], function(A, B) a(A) b(B) a(A) end}
    end, {i32[1](0), i32[1](0)}, 2)
    t.eq({A[0], B[0]}, {4, 2})
  end
end)

t.test("a kernel with streams is given rows and every second element", function()
  local _, got = same(function()
    local send = tide.kernel {Z = tide.stream(i32), a = i32[4], function(Z, a)
      for i in grid(4) do Z:put(a[i]) end
    end}
    return tide.design(function(d)
      local Z = d:stream(i32)
      d.p = task {A = i32[8], function(A)
        send(Z, A:slice({0, 4}))
        send(Z, A:slice({0, 8, 2}))
      end}
      d.c = task {R = i32[8], function(R) for i in grid(8) do R[i] = Z:get() end end}
    end)
  end, {tensor(i32[8], {1, 2, 3, 4, 5, 6, 7, 8}), i32[8](0)})
  t.eq(got:table(), {1, 2, 3, 4, 1, 3, 5, 7})
end)

t.test("designs in designs in designs, whose streams have one name", function()
  local A, B = tide.random(i32[8], 5, {lo = -99, hi = 99}), i32[8](0)
  local _, got = same(function()
    local inner = adder(4, 1)
    local middle = tide.design(function(d)
      local Z = d:stream(i32[4])
      d.send = task {A = i32[8], function(A)
        for h in grid(2) do
          local t4 = i32[4](0)
          inner(A:slice({4 * h, 4 * h + 4}), t4)
          Z:put(t4)
        end
      end}
      d.take = task {B = i32[8], function(B)
        for h in grid(2) do
          local t4 = Z:get()
          local u4 = i32[4](0)
          inner(t4, u4)
          for i in grid(4) do B[4 * h + i] = u4[i] end
        end
      end}
    end)
    return tide.design(function(d)
      d.all = task {A = i32[8], B = i32[8], function(A, B) middle(A, B) end}
    end)
  end, {A, B}, 1)
  t.ok(got:equal(i32[8](A + 2)))
end)

t.test("a loop that calls a design runs in turn: nothing proves that calls may run side by side", function()
  local A, B = tide.random(i32[64][8], 6, {lo = -99, hi = 99}), i32[64][8](0)
  local function in_turn()
    local add = adder(8, 1, 1)
    return tide.kernel {A = i32[64][8], B = i32[64][8], function(A, B)
      for i in grid(64) do add(A[i], B[i]) end
    end}
  end
  local _, got = same(in_turn, {A, B})
  t.ok(got:equal(i32[64][8](A + 1)))
  t.fails(function() tide.schedule(in_turn()):parallel "i" end, {kind = "illegal"})
  t.fails(function()
    local add = adder(8, 1, 1)
    return tide.kernel {A = i32[64][8], B = i32[64][8], function(A, B)
      for i in grid(64) do --@ parallel
        add(A[i], B[i])
      end
    end}
  end, {kind = "illegal"})
end)

-- A design that puts n tokens and gets as many as A[0] says.
local function guided()
  return tide.design(function(d)
    local Z = d:stream(i32, {2, depth = 2})
    d.send = task {A = i32[4], function(A)
      for i = 0, 3 do Z[0]:put(A[i]) end
      Z[1]:put(7)
    end}
    d.take = task {A = i32[4], B = i32[4], function(A, B)
      if A[0] < 4 then B[3] = Z[1]:get() end
      for i = 0, A[0] - 1 do B[i] = Z[0]:get() end
      if A[0] >= 4 then B[3] = B[3] + Z[1]:get() end
    end}
  end)
end

t.test("a deadlock and leftovers in an inner design are told by its tasks; the next call is right", function()
  for _, way in ipairs(ways) do
    local inner = guided()
    local k = tide.kernel {A = i32[2][4], B = i32[2][4], function(A, B)
      for i in grid(2) do inner(A[i], B[i]) end
    end}
    local outer = tide.design(function(d)
      d.a = task {A = i32[2][4], B = i32[2][4], function(A, B) k(A, B) end}
    end)
    for _, p in ipairs {k, outer} do
      local f, B = runner(p, way), i32[2][4](0)
      local good = tensor(i32[2][4], {{4, 5, 6, 7}, {4, 1, 1, 1}})
      local stuck = t.fails(function() f(tensor(i32[2][4], {{4, 5, 6, 7}, {2, 1, 1, 1}}), B) end,
        {kind = "illegal", code = "deadlock"})
      local said = tostring(stuck)
      t.ok(said:find("send.- waits to put") and said:find("take.- waits to get"), way .. ": " .. said)
      t.ok(said:find "Z%[0%] holds 2, 1", said)
      f(good, B)
      t.eq(B:table(), {{4, 5, 6, 14}, {4, 1, 1, 8}}, way)
    end
  end
end)

t.test("tokens left in an inner design, a division and an index are faults of the call", function()
  local function inner(n)
    return tide.design(function(d)
      local Z = d:stream(i32, {depth = 4})
      d.send = task {A = i32[4], function(A) for i = 0, A[0] - 1 do Z:put(60 // A[1]) end end}
      d.take = task {B = i32[4], A = i32[4], function(B, A) for i in grid(n) do B[A[2]] = Z:get() + i end end}
    end)
  end
  for _, way in ipairs(ways) do
    local part = inner(2)
    local k = tide.kernel {A = i32[4], B = i32[4], function(A, B) part(A, B) end}
    local f, B = runner(k, way), i32[4](0)
    t.fails(function() f(tensor(i32[4], {3, 1, 0, 0}), B) end, {code = "leftover"})
    t.fails(function() f(tensor(i32[4], {2, 0, 0, 0}), B) end, {code = "zero-division"})
    t.fails(function() f(tensor(i32[4], {2, 1, 4, 0}), B) end, {code = "index-out-of-range"})
    f(tensor(i32[4], {2, 5, 3, 0}), B)
    t.eq(B[3], 13, way)
  end
end)

-- A design on streams from outside: it adds 1 to n tokens, over a stream of its own.
local function filter(n)
  return tide.design(function(d)
    local X, Y = d:arg(tide.stream(i32)), d:arg(tide.stream(i32))
    local Z = d:stream(i32, {depth = 1})
    d.first = task {X = X, function(X) for i in grid(n) do Z:put(X:get()) end end}
    d.second = task {Y = Y, function(Y) for i in grid(n) do Y:put(Z:get() + 1) end end}
  end)
end

t.test("a design on streams of its caller stops and goes on with them", function()
  for _, shape in ipairs {{1, 1}, {8, 1}, {3, 5}, {64, 2}} do
    local n, depth = shape[1], shape[2]
    local A, B = tide.random(i32[2][n], 7, {lo = -99, hi = 99}), i32[2][n](0)
    local _, got = same(function()
      local part = filter(n)
      return tide.design(function(d)
        local P, Q = d:stream(i32, {2, depth = depth}), d:stream(i32, {2, depth = depth})
        d.a = task {map = {2}, A = i32[2][n]:layout "S0R", function(A, i)
          for k in grid(n) do P[i]:put(A[0][k]) end
        end}
        d.b = task {map = {2}, function(i) part(P[i], Q[i]) end}
        d.c = task {map = {2}, B = i32[2][n]:layout "S0R", function(B, i)
          for k in grid(n) do B[0][k] = Q[i]:get() end
        end}
      end)
    end, {A, B}, 2)
    t.ok(got:equal(i32[2][n](A + 1)))
  end
end)

t.test("twice in a task, through a kernel with streams, two levels deep", function()
  local A, B = tide.random(i32[12], 8, {lo = -99, hi = 99}), i32[12](0)
  local _, got = same(function()
    local part = filter(3)
    local twice = tide.kernel {X = tide.stream(i32), Y = tide.stream(i32), function(X, Y)
      part(X, Y)
      for _ in grid(3) do Y:put(X:get()) end
      part(X, Y)
    end}
    local middle = tide.design(function(d)
      local X, Y = d:arg(tide.stream(i32)), d:arg(tide.stream(i32))
      d.only = task {X = X, Y = Y, function(X, Y)
        twice(X, Y)
        part(X, Y)
      end}
    end)
    return tide.design(function(d)
      local P, Q = d:stream(i32, {depth = 1}), d:stream(i32, {depth = 1})
      d.a = task {A = i32[12], function(A) for k in grid(12) do P:put(A[k]) end end}
      d.b = task {function() middle(P, Q) end}
      d.c = task {B = i32[12], function(B) for k in grid(12) do B[k] = Q:get() end end}
    end)
  end, {A, B})
  for k in grid(12) do t.eq(got[k], A[k] + (k // 3 == 1 and 0 or 1)) end
end)

t.test("a deadlock through such a design names its tasks and what its streams hold", function()
  local function top(n)
    local part = filter(4)
    return tide.design(function(d)
      local P, Q = d:stream(i32), d:stream(i32)
      d.a = task {A = i32[4], function(A) for k = 0, A[0] - 1 do P:put(A[k]) end end}
      d.b = task {function() part(P, Q) end}
      d.c = task {B = i32[4], function(B) for k in grid(n) do B[k] = Q:get() end end}
    end)
  end
  for _, way in ipairs(ways) do
    local B = i32[4](0)
    local said = tostring(t.fails(function() runner(top(4), way)(tensor(i32[4], {3, 1, 1, 1}), B) end,
      {code = "deadlock"}))
    t.ok(said:find "first.- waits to get" and said:find "second.- waits to get" and
      said:find "c.- waits to get", way .. ": " .. said)
  end
end)

t.test("with a clock the evaluator runs a design in a task; compiled runs refuse", function()
  local add = adder(4, 1)
  local top = tide.design(function(d)
    d.only = task {A = i32[4], B = i32[4], function(A, B) add(A, B) end}
  end)
  local A, B = tensor(i32[4], {1, 2, 3, 4}), i32[4](0)
  local m = top:build {target = "cpu", timed = true}
  m(A, B)
  t.ok(B:equal(i32[4](A + 1)) and m.report.cycles > 4)
  local function timed(p) p:build {target = "cpu", timed = true, tier = "tcc"}(A, B) end
  timed(add)
  t.fails(function() timed(top) end, {kind = "unsupported", code = "nested-design"})
end)

t.done()
