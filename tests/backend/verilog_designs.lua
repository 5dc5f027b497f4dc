-- verilog_designs.lua - designs as Verilog: tasks of example 30 and pipes with latencies, depths and
-- intervals of all kinds move their tokens in the cycles of the timed run.
local t = require "tap"
local case = require "verilog_case"
local tide = require "tide"
local i8, i32, task, grid = tide.i8, tide.i32, tide.task, tide.grid

if not case.has "iverilog" then t.skip_all "iverilog is not here" end

local function array(P, K, depth)
  local d = tide.design(function(d)
    local a, b = d:stream(i8, {P, P + 1}, {depth = depth}), d:stream(i8, {P + 1, P}, {depth = depth})
    d.feed_a = task {map = {P}, A = i8[P][K],
      function(A, i) for k in grid(K) do a[i][0]:put(A[i][k]) end end}
    d.feed_b = task {map = {P}, B = i8[K][P],
      function(B, j) for k in grid(K) do b[0][j]:put(B[k][j]) end end}
    d.pe = task {map = {P, P}, C = i32[P][P],
      function(C, i, j)
        local c = i32(0)
        for _ in grid(K, "k") do
          local x, y = a[i][j]:get(), b[i][j]:get()
          c = c + x * y
          if j < P - 1 then a[i][j + 1]:put(x) end
          if i < P - 1 then b[i + 1][j]:put(y) end
        end
        C[i][j] = c
      end}
  end)
  return d, {tide.random(i8[P][K], 1), tide.random(i8[K][P], 2), i32[P][P](0)}
end

t.test("example 30 runs in its cycles, pipelined or not", function()
  local d, args = array(4, 32)
  case.run(d, args)
  case.run(tide.schedule(d):pipeline("pe:k"), args)
  for _, q in ipairs {{3, 7, 2, 2}, {2, 5, 3, 3}, {5, 9, 1, 2}} do
    local e, other = array(q[1], q[2], q[3])
    case.run(tide.schedule(e):pipeline("pe:k", q[4]):pipeline("feed_a:k"), other)
  end
end)

-- A pipe of three stages; the one in the middle has a latency.
local function pipe(n, depth)
  return tide.design(function(d)
    local z, y = d:stream(i32, {depth = depth}), d:stream(i32, {depth = depth})
    d.src = task {X = i32[n], function(X) for k in grid(n) do z:put(X[k]) end end}
    d.mid = task {function()
      for _ in grid(n, "k") do
        local v = z:get()
        y:put(i32(i32(v * v) * i32(v * 3)))
      end
    end}
    d.dst = task {Y = i32[n], function(Y) for k in grid(n) do Y[k] = y:get() end end}
  end), {tide.random(i32[n], 3, {lo = -100, hi = 100}), i32[n](0)}
end

t.test("a pipe with a latency, by depths and intervals", function()
  for _, q in ipairs {{1, 1, 1}, {2, 1, 3}, {1, 2, 3}, {4, 5, 2}} do
    local d, args = pipe(12, q[1])
    case.run(tide.schedule(d):pipeline("src:k"):pipeline("mid:k", q[2]):pipeline("dst:k", q[3]), args)
  end
end)

t.test("two puts of a firing wait for readers of their own speed", function()
  for _, q in ipairs {{1, 1, 1}, {2, 1, 3}, {3, 4, 1}} do
    local n = 12
    local d = tide.design(function(d)
      local a = d:stream(i32)
      local z, y = d:stream(i32, {depth = q[1]}), d:stream(i32, {depth = q[1]})
      d.src = task {X = i32[n], function(X) for k in grid(n) do a:put(X[k]) end end}
      d.mid = task {function()
        for _ in grid(n, "k") do
          local u = a:get()
          local v = i32(u * u)
          z:put(v)
          y:put(i32(v * u))
        end
      end}
      d.one = task {Y = i32[n], function(Y) for k in grid(n) do Y[k] = z:get() end end}
      d.two = task {Z = i32[n], function(Z) for k in grid(n) do Z[k] = y:get() end end}
    end)
    local s = tide.schedule(d):pipeline("src:k")
    if q[1] < 3 then s:pipeline("mid:k") end
    case.run(s:pipeline("one:k", q[2]):pipeline("two:k", q[3]),
      {tide.random(i32[n], 3, {lo = -100, hi = 100}), i32[n](0), i32[n](0)})
  end
end)

-- Half of the tokens are handed on, or (`late`) a get follows a put that is under way.
local function filter(n, late)
  return tide.design(function(d)
    local a, z = d:stream(i32), d:stream(i32)
    d.src = task {X = i32[n], function(X) for k in grid(n) do a:put(X[k]) end end}
    if late then
      d.mid = task {function()
        for _ in grid(n // 2, "k") do
          local u = a:get()
          z:put(i32(u * u))
          u = a:get() -- luacheck: ignore 311
        end
      end}
    else
      d.mid = task {function()
        for k in grid(n) do
          local u = a:get()
          if k % 2 == 0 then z:put(i32(u * u)) end
        end
      end}
    end
    d.dst = task {Y = i32[n // 2], function(Y) for k in grid(n // 2) do Y[k] = z:get() end end}
  end), {tide.random(i32[n], 3, {lo = -9, hi = 9}), i32[n // 2](0)}
end

t.test("puts under a condition; a get after a put under way is refused", function()
  local d, args = filter(12)
  case.run(tide.schedule(d):pipeline("src:k"):pipeline("mid:k"), args)
  t.fails(function() filter(12, true):build {target = "verilog"} end, {code = "not-built"})
end)

t.test("a run that takes longer than said is told", function()
  local d, args = filter(12)
  local m = d:build {target = "verilog", sim = "icarus", most = 20}
  t.fails(function() m(table.unpack(args)) end, {code = "verilog-hangs"})
end)

if case.has "verilator" then
  t.test("example 30 runs in Verilator", function()
    local d, args = array(3, 8)
    case.run(tide.schedule(d):pipeline("pe:k"), args, {sim = "verilator"})
  end)
else
  t.skip("example 30 runs in Verilator", "verilator is not here")
end

t.done()
