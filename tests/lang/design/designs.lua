-- Designs: streams, tasks on grids, layouts, block streams, ports, designs in designs, marks.
local tide = require "tide"
local t = require "tap"
local p = require "programs"
local i8, i16, i32, task, grid = tide.i8, tide.i16, tide.i32, tide.task, tide.grid

t.test("a producer and a consumer over S0", function()
  local M, P = 16, 4
  local top = tide.design(function(d)
    local Z = d:stream(i8[M // P], {P, depth = 2})
    d.producer = task {map = {P}, A = i8[M]:layout "S0", function(A, t) Z[t]:put(A) end}
    d.consumer = task {map = {P}, B = i8[M]:layout "S0", function(B, t) B:set(Z[t]:get() + 1) end}
  end)
  t.eq(top.name, "top")
  local A = tide.random(i8[M], 1)
  local _, B = p.foreign(top, A, i8[M](0))
  t.ok(B:equal(i8[M](A + 1)))
  t.eq(top.sizes, {M = 16})
end)

t.test("tasks on three axes, replicated arguments, d:arg, assumptions", function()
  local top = tide.design(function(d)
    tide.assume(4 % 2 == 0)
    local C = d:arg(i32[2][4])
    local A, B = d:arg(i8[2][4]), d:arg(i8[4])
    local s = d:stream(i16, {2, 2, 2})
    d.mul = task {map = {2, 2, 2}, A = A:layout "S0S1", B = B:layout "S1",
      function(A, B, x, y, z)
        s[x][y][z]:put(A[0][z] * B[z] + x * 100 + y * 10 + z)
      end}
    d.gather = task {map = {2, 2}, C = C:layout "S0S1", function(C, x, y)
      for z = 0, 1 do C[0][z] = s[x][y][z]:get() end
    end}
  end)
  local A, B = tide.random(i8[2][4], 3), tide.random(i8[4], 4)
  local C = p.foreign(top, i32[2][4](0), A, B)
  for x = 0, 1 do
    for c = 0, 3 do t.eq(C[x][c], A[x][c] * B[c] + x * 100 + c // 2 * 10 + c % 2) end
  end
end)

t.test("gets and puts inside expressions, conditions, loops and functions", function()
  local function take(Z) local v = Z:get() return v * 2 end
  local top = tide.design(function(d)
    local X, Y = d:stream(i32, {depth = 3}), d:stream(i32, {2})
    d.source = task {A = i32[12], function(A)
      for i = 0, 11 do X:put(A[i]) end
    end}
    d.middle = task {function()
      Y[0]:put(X:get() - X:get())
      if X:get() > 0 then Y[1]:put(take(X)) else Y[1]:put(-take(X)) end
      local k = i32(0)
      while X:get() > 0 and k < 10 do k = k + 1 end
      Y[0]:put(k)
      local _ = X:get()
      X:get()
      local a, b = X:get(), X:get()
      Y[1]:put(a * 10 + b)
    end}
    d.sink = task {B = i32[4], function(B)
      B[0] = Y[0]:get()
      B[1] = Y[1]:get()
      B[2], B[3] = Y[0]:get(), Y[1]:get()
    end}
  end, {check = false})
  local A = tide.tensor(i32[12], {5, 3, 1, 7, 1, 1, 1, -1, 100, 101, 4, 2})
  local _, B = p.foreign(top, A, i32[4](0))
  t.eq(B:table(), {2, 14, 3, 42})
end)

t.test("block streams: slot, put, get", function()
  local top = tide.design(function(d)
    local Z = d:stream(i32[4], {depth = 2, block = true})
    d.fill = task {A = i32[3][4], function(A)
      for i = 0, 2 do
        local b = Z:slot()
        for j = 0, 3 do b[j] = A[i][j] * 2 end
        Z:put(b)
      end
    end}
    d.use = task {B = i32[3], function(B)
      for i = 0, 2 do
        local b = Z:get()
        B[i] = b[0] + b[3]
      end
    end}
  end)
  t.has(tostring(top), "block = true")
  t.has(tostring(top), "Z:slot()")
  local A = tide.random(i32[3][4], 4, {lo = 0, hi = 50})
  local _, B = p.foreign(top, A, i32[3](0))
  for i = 0, 2 do t.eq(B[i], 2 * (A[i][0] + A[i][3])) end
end)

-- Two block streams, Z and Y (two each): a fills Z, b does `body` with buffers of both, c takes Y.
local function passing(body, depth)
  local text = ([[
local tide = ...
local i32, task, grid = tide.i32, tide.task, tide.grid
return tide.design(function(d)
  local Z = d:stream(i32[3][3], {2, depth = DEPTH, block = true})
  local Y = d:stream(i32[3][3], {2, depth = DEPTH, block = true})
  d.a = task {A = i32[2][7][3][3], function(A)
    for n, p in grid(7, 2) do
      local b = Z[p]:slot()
      for i, j in grid(3, 3) do b[i][j] = A[p][n][i][j] * 2 end
      Z[p]:put(b)
    end
  end}
  d.b = task {map = {2}, function(p)
    for n in grid(7) do
      BODY
    end
  end}
  d.c = task {map = {2}, B = i32[2][7][3][3]:layout "S0RRR", function(B, p)
    for n in grid(7) do
      local b = Y[p]:get()
      for i, j in grid(3, 3) do B[0][n][i][j] = b[i][j] + n * b[j][i] end
    end
  end}
end, {check = false})]]):gsub("BODY", body):gsub("DEPTH", depth)
  return assert(load(text, "=passing"))(tide)
end

local function run_passing(body, depth)
  local A = tide.random(i32[2][7][3][3], 4, {lo = 0, hi = 50})
  local top, _, B = passing(body, depth)
  _, B = p.foreign(top, A, i32[2][7][3][3](0))
  local C = i32[2][7][3][3](0)
  top:build {target = "cpu", timed = true}(A, C)
  t.ok(C:equal(B))
  return A, B
end

t.test("a buffer goes as it is to its own stream alone; elsewhere a copy goes", function()
  for _, body in ipairs {
    "local x = Z[p]:get(); Y[p]:put(x)",
    "local x = Z[p]:get(); local o = Y[p]:slot(); o:set(x); Y[p]:put(o)",
    "local x = Z[p]:get(); local o = Y[1 * p]:slot(); o:set(x); Y[p]:put(o:slice({0, 3}, {0, 3}))",
  } do
    local A, B = run_passing(body, 2)
    for q, n, i, j in tide.grid(2, 7, 3, 3) do t.eq(B[q][n][i][j], 2 * (A[q][n][i][j] + n * A[q][n][j][i])) end
  end
end)

t.test("a slot that another stream got a copy of is still in hand", function()
  local top = tide.design(function(d)
    local Z, Y = d:stream(i32[2], {depth = 1, block = true}), d:stream(i32[2], {2, depth = 1, block = true})
    d.a = task {function()
      for n in grid(5) do
        local x = Y[0]:slot()
        x[0] = n
        x[1] = 1
        Z:put(x)
        Y[n % 2 * (1 - n % 2)]:put(x)
        Y[1]:put(i32[2](n))
      end
    end}
    d.b = task {B = i32[5][2], function(B)
      for n in grid(5) do
        local z, u, v = Z:get(), Y[0]:get(), Y[1]:get()
        B[n][0] = z[0] * 100 + u[0] * 10 + v[0]
        B[n][1] = z[1] + u[1] + v[1]
      end
    end}
  end, {check = false})
  local B = p.foreign(top, i32[5][2](0))
  for n = 0, 4 do t.eq({B[n][0], B[n][1]}, {111 * n, 2 + n}) end
end)

t.test("a copy waits for a free buffer, and not for the slot that is in hand", function()
  local body = "local x, o = Z[p]:get(), Y[p]:slot(); o:set(x); Y[p]:put(x); Y[p]:put(o)"
  local function build(depth) return passing("if n < 3 then " .. body .. " elseif n == 3 then " ..
    "Y[p]:put(Z[p]:get()) else local _ = Z[p]:get() end", depth) end
  local A = tide.random(i32[2][7][3][3], 5, {lo = 0, hi = 50})
  p.foreign(build(2), A, i32[2][7][3][3](0))
  for _, run in ipairs {function(...) build(1):reference(...) end, build(1):build {target = "cpu"}} do
    t.fails(function() run(A, i32[2][7][3][3](0)) end, {code = "deadlock"})
  end
end)

local merge = tide.kernel {X = tide.stream(i32), Y = tide.stream(i32), Z = tide.stream(i32),
  function(X, Y, Z)
    local x, y = X:get(), Y:get()
    for _ = 0, 5 do
      if x <= y then
        Z:put(x)
        if x < 1000 then x = X:get() end
      else
        Z:put(y)
        if y < 1000 then y = Y:get() end
      end
    end
  end}

t.test("a kernel with ports is called with lists", function()
  local _, _, Z = p.foreign(merge, {1, 4, 9, 1000}, {2, 3, 10, 1000}, {})
  t.eq(Z, {1, 2, 3, 4, 9, 10})
  local out = tide.kernel {Z = tide.stream(i8[2]), function(Z)
    for i = 0, 2 do Z:put(i8[2](i)) end
  end}
  local list = {}
  out(list)
  t.eq(#list, 3)
  t.eq(list[3]:table(), {2, 2})
  local bank = tide.kernel {X = tide.stream(i32)[2], Z = tide.stream(i32), function(X, Z)
    Z:put(X[0]:get() + X[1]:get())
  end}
  local z = {}
  bank:reference({{5}, {6}}, z)
  t.eq(z, {11})
  p.again(bank)
end)

t.test("ports inside a design", function()
  local top = tide.design(function(d)
    local X, Y = d:stream(i32, {4, depth = 4}), d:stream(i32, {2, depth = 6})
    d.feed = task {map = {4}, A = i32[4][4]:layout "S0R", function(A, i)
      for j = 0, 3 do X[i]:put(A[0][j]) end
    end}
    d.merge = task {map = {2}, function(m) merge(X[2 * m], X[2 * m + 1], Y[m]) end}
    d.drain = task {map = {2}, B = i32[2][6]:layout "S0R", function(B, m)
      for j = 0, 5 do B[0][j] = Y[m]:get() end
    end}
  end, {check = false})
  local A = tide.tensor(i32[4][4], {{1, 4, 9, 1000}, {2, 3, 10, 1000}, {1, 1, 1, 1000}, {0, 5, 6,
    1000}})
  local _, B = p.foreign(top, A, i32[2][6](0))
  t.eq(B:table(), {{1, 2, 3, 4, 9, 10}, {0, 1, 1, 1, 5, 6}})
end)

t.test("a design called by a task of another", function()
  local function chain(n)
    return tide.design(function(d)
      local Z = d:stream(i32, {depth = 2})
      d.a = task {A = i32[n], function(A) for i = 0, n - 1 do Z:put(A[i]) end end}
      d.b = task {B = i32[n], function(B) for i = 0, n - 1 do B[i] = Z:get() + 1 end end}
    end)
  end
  local inner = chain(4)
  t.eq(inner.name, "chain")
  local A, B = p.foreign(inner, tide.tensor(i32[4], {1, 2, 3, 4}), i32[4](0))
  t.eq(B:table(), {2, 3, 4, 5})
  t.ok(A)
end)

t.test("names of streams, arguments and the builder never hide each other", function()
  local top = tide.design(function(g)
    local d, d_1 = g:stream(i32), g:stream(i32)
    local alias = {d, d_1}
    g.p = task {d = i32[2], function(d)
      local d_1 = d[0] + 1
      alias[1]:put(d[1])
      alias[2]:put(d_1)
    end}
    g.c = task {i8 = i32[2], function(i8)
      i8[0] = alias[1]:get() + tide.i8(3)
      i8[1] = alias[2]:get()
    end}
  end)
  local _, B = p.foreign(top, tide.tensor(i32[2], {7, 8}), i32[2](0))
  t.eq(B:table(), {11, 8})
end)

t.test("constants, state and functions inside tasks", function()
  local taps, count = tide.tensor(i8[3], {1, 2, 3}), tide.state(i32[1], 0)
  local top = tide.design(function(d)
    local Z = d:stream(i32, {2})
    d.a = task {map = {2}, taps = i32[2]:layout "S0", function(taps, t) Z[t]:put(taps[0]) end}
    d.b = task {map = {2}, B = i32[2]:layout "S0", function(B, t)
      count[0] = count[0] + 1
      B[0] = Z[t]:get() * taps[2] + count[0]
    end}
  end)
  local A, B = p.foreign(top, tide.tensor(i32[2], {5, 6}), i32[2](0))
  t.eq(B:table(), {16, 19})
  local again = i32[2](0)
  top:reference(A, again)
  t.eq(again:table(), {16, 19})
  top:reference(A, again)
  t.eq(again:table(), {17, 20})
end)

-- A design whose middle task takes from X and gives to Y, arrays of 2 x 3 streams.
local function all_at_once(T, body)
  return tide.design(function(d)
    local X, Y, Z = d:stream(T, {2, 3}), d:stream(T, {2, 3}), d:stream(T)
    d.source = task {A = i32[2][3], function(A)
      for i, j in grid(2, 3) do X[i][j]:put(A[i][j]) end
      Z:put(A[0][0])
    end}
    d.middle = task {function() body(X, Y, Z) end}
    d.sink = task {B = i32[2][3], function(B)
      for i, j in grid(2, 3) do B[i][j] = Y[i][j]:get() end
    end}
  end)
end

t.test("gather and scatter: a token of each stream", function()
  local twice = all_at_once(i32, function(X, Y, Z)
    local x = X:gather()
    Y:scatter(x + x + Z:get())
  end)
  local rows = all_at_once(i32, function(X, Y, Z)
    for i = 0, 1 do Y[i]:scatter(X[i]:gather()) end
    local _ = Z:get()
  end)
  local A = tide.random(i32[2][3], 4)
  local _, B = p.foreign(twice, A, i32[2][3](0))
  t.ok(B:equal(i32[2][3](A + A + A[0][0])))
  _, B = p.foreign(rows, A, i32[2][3](0))
  t.ok(B:equal(A))
end)

t.test("gather and scatter that do not fit", function()
  local function refused(code, body)
    t.fails(function() all_at_once(i32, body) end, {code = code})
  end
  refused("shapes", function(_, Y) Y:scatter(i32[3][2](0)) end)
  refused("shapes", function(X, Y) Y:scatter(X[0]:gather()) end)
  refused("shapes", function(_, Y) Y:scatter(1) end)
  refused("rank", function(_, _, Z) Z:scatter(i32[1](0)) end)
  refused("rank", function(_, _, Z) local _ = Z:gather() end)
  refused("arguments", function(X) local _ = X:gather(1) end)
  t.has(t.fails(function()
    all_at_once(i32, function(_, _, Z) Z:gathr() end)
  end, {code = "method"}).help, "gather")
end)

p.done()
