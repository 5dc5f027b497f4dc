-- [slow]
-- verilog_streams.lua - streams as Verilog: rows of them and indices that loops and data choose, tokens of several
-- beats, latencies, tokens computed in a loop, several firings of a pipelined loop; bits and cycles of timed runs.
local t = require "tap"
local case = require "verilog_case"
local tide = require "tide"
local i16, i32, task, grid = tide.i16, tide.i32, tide.task, tide.grid

if not case.has "iverilog" then t.skip_all "iverilog is not here" end

local function words(n, seed) return tide.random(i32[n], seed or 3, {lo = -90, hi = 90}) end
local function table_of(n, m, f)
  local rows = {}
  for i = 0, n * m - 1 do rows[i + 1] = f(i) end
  return tide.tensor(i32[n * m], rows)
end

-- Each token of the loop goes to another stream of the row; each task of a row gets from its own.
local function deal(P, K, depth)
  return tide.design(function(d)
    local lane = d:stream(i32, {P}, {depth = depth})
    d.src = task {X = i32[P][K], function(X)
      for k in grid(K) do
        for p in grid(P, "p") do lane[p]:put(X[p][k]) end
      end
    end}
    d.dst = task {map = {P}, Y = i32[P][K], function(Y, p)
      for k in grid(K) do Y[p][k] = lane[p]:get() * (p + 1) end
    end}
  end), {tide.random(i32[P][K], 1), i32[P][K](0)}
end

t.test("a loop puts to the streams of a row", function()
  for _, q in ipairs {{3, 4, 2}, {5, 3, 1}} do
    local d, args = deal(q[1], q[2], q[3])
    case.run(d, args)
    case.run(tide.schedule(d):pipeline("src:p"), args)
  end
end)

-- A table in memory says which stream of the row the next token comes from.
local function collect(P, K)
  local d = tide.design(function(d)
    local row = d:stream(i16, {P}, {depth = K})
    d.many = task {map = {P}, X = i16[P][K], function(X, p)
      for k in grid(K) do row[p]:put(X[p][k]) end
    end}
    d.one = task {S = i32[P * K], Y = i16[P * K], function(S, Y)
      for j in grid(P * K, "j") do Y[j] = row[S[j]]:get() end
    end}
  end)
  return d, {tide.random(i16[P][K], 1), table_of(P, K, function(i) return i * (P + 1) % P end), i16[P * K](0)}
end

t.test("data says which stream of a row a token comes from", function()
  for _, q in ipairs {{3, 4}, {4, 2}} do
    local d, args = collect(q[1], q[2])
    case.run(d, args)
    case.run(tide.schedule(d):pipeline("one:j", 2), args)
  end
end)

t.test("rows of arrays of streams, the first column of which nobody holds", function()
  for _, q in ipairs {{2, 3}, {3, 2}} do
    local P, K = q[1], q[2]
    local d = tide.design(function(d)
      local a = d:stream(i32, {P, P + 1}, {depth = K})
      d.src = task {map = {P}, X = i32[P][K], function(X, i)
        for k in grid(K) do
          for j = 1, P do a[i][j]:put(X[i][k] + j) end
        end
      end}
      d.dst = task {map = {P}, Y = i32[P][K], function(Y, i)
        for k in grid(K) do
          local s = i32(0)
          for j = 1, P do s = s + a[i][j]:get() end
          Y[i][k] = s
        end
      end}
    end)
    case.run(d, {tide.random(i32[P][K], 1), i32[P][K](0)})
  end
end)

t.test("a kernel that is called is passed a row of streams", function()
  for _, q in ipairs {{2, 3}, {3, 2}} do
    local P, K = q[1], q[2]
    local spread = tide.kernel {
      name = "spread", Z = tide.stream(i32)[P], v = i32,
      function(Z, v)
        for i in grid(P) do Z[i]:put(v * i) end
      end,
    }
    local d = tide.design(function(d)
      local m = d:stream(i32, {2, P})
      d.src = task {X = i32[K], function(X)
        for k in grid(K) do
          for side in grid(2) do spread(m[side], X[k] + side) end
        end
      end}
      d.dst = task {map = {2, P}, Y = i32[2][P][K], function(Y, i, j)
        for k in grid(K) do Y[i][j][k] = m[i][j]:get() end
      end}
    end)
    case.run(d, {words(K), i32[2][P][K](0)})
  end
end)

-- Tensors as tokens in a loop of three tasks; `marks`: lanes and latency of the streams.
local function tokens(n, w, depth, marks)
  local text = ([[
    local tide, n, w, depth = ...
    local i32, task, grid = tide.i32, tide.task, tide.grid
    return tide.design(function(d)
      local z = d:stream(i32[w], {depth = depth}) %s
      local y = d:stream(i32[w], {depth = depth}) %s
      d.src = task {X = i32[n][w], function(X)
        for i in grid(n, "i") do
          local u = i32[w](1)
          for k in grid(w, "k") do u[k] = u[k] + X[i][k] * k end
          z:put(u)
        end
      end}
      d.mid = task {function()
        for _ in grid(n, "i") do
          local u = z:get()
          local r = i32[w](0)
          for k in grid(w, "k") do r[k] = u[w - 1 - k] - u[0] end
          y:put(r)
        end
      end}
      d.dst = task {Y = i32[n][w], function(Y) for i in grid(n, "i") do Y[i]:set(y:get()) end end}
    end)]]):format(marks, marks)
  return load(text)(tide, n, w, depth), {tide.random(i32[n][w], 1, {lo = -99, hi = 99}), i32[n][w](0)}
end

t.test("tokens of several beats, and streams with a latency", function()
  for _, q in ipairs {{3, 4, 1, "--@ lanes(2)"}, {4, 5, 2, "--@ lanes(2)"}, {3, 3, 1, "--@ lanes(1) latency(3)"},
    {5, 4, 3, "--@ latency(4)"}} do
    local d, args = tokens(q[1], q[2], q[3], q[4])
    case.run(d, args)
    case.run(tide.schedule(d):pipeline("src:i"):pipeline("mid:i"), args)
  end
end)

t.test("tokens of more bits than wires of a beat are refused without lanes", function()
  local e = t.fails(function() tokens(2, 129, 1, ""):build {target = "verilog"} end, {code = "not-built"})
  t.has(e.help, "lanes(128)")
  local d, args = tokens(2, 129, 1, "--@ lanes(43)")
  case.run(d, args)
end)

t.test("a put computes its token in a loop", function()
  for _, q in ipairs {{3, 4}, {2, 5}} do
    local n, w = q[1], q[2]
    local d = tide.design(function(d)
      local z = d:stream(i32[w])
      d.src = task {X = i32[n][w], function(X)
        for i in grid(n) do z:put(X[i] * X[i] + i) end
      end}
      d.dst = task {Y = i32[n][w], function(Y) for i in grid(n) do Y[i]:set(z:get()) end end}
    end)
    case.run(d, {tide.random(i32[n][w], 1, {lo = -99, hi = 99}), i32[n][w](0)})
  end
end)

-- Two firings of an iteration, the second of which puts one or the other.
local function pairs_of(n, depth, ii)
  local d = tide.design(function(d)
    local a, z = d:stream(i32, {depth = depth}), d:stream(i32, {depth = depth})
    d.src = task {X = i32[2 * n], function(X) for k in grid(2 * n) do a:put(X[k] // 5) end end}
    d.mid = task {function()
      for _ in grid(n, "k") do
        local u = a:get()
        z:put(i32(u * u) * 3)
        local v = a:get()
        if v > 0 then z:put(u + v) else z:put(v) end
      end
    end}
    d.dst = task {Y = i32[2 * n], function(Y) for k in grid(2 * n) do Y[k] = z:get() end end}
  end)
  return tide.schedule(d):pipeline("src:k", ii[1]):pipeline("mid:k", ii[2]):pipeline("dst:k", ii[3]),
    {words(2 * n), i32[2 * n](0)}
end

t.test("the report tells the cycle of each token, as the timed run's does", function()
  for _, P in ipairs {2, 3} do
    local d, args = deal(P, 4, 2)
    local v = d:build {target = "verilog", sim = "icarus"}
    local timed = d:build {target = "cpu", timed = true, device = "rtl"}
    v(args[1], args[2])
    timed(args[1], args[2])
    t.eq(#v.report.streams, P)
    for p = 0, P - 1 do
      local x, y = v.report.streams[("lane[%d]"):format(p)], timed.report.streams[("lane[%d]"):format(p)]
      t.eq({x.tokens, x.most, x.puts, x.gots}, {y.tokens, y.most, y.puts, y.gots})
    end
  end
end)

-- Each task of a chain changes an element of the token that it hands on: the one of its id, or (`turns`) another one.
local function change(S, n, turns)
  local d = tide.design(function(d)
    local row = d:stream(i32[S], {S + 1})
    d.src = task {X = i32[n][S], function(X)
      for i in grid(n) do
        local c = i32[S](1)
        for k in grid(S) do c[k] = X[i][k] end
        row[0]:put(c)
      end
    end}
    d.add = task {map = {S}, function(j)
      for m in grid(n, "m") do
        local c = row[j]:get()
        if turns then c[(j + m) % S] = m else c[j] = c[j] * 2 + m end
        row[j + 1]:put(c)
      end
    end}
    d.dst = task {Y = i32[n][S], function(Y) for i in grid(n) do Y[i]:set(row[S]:get()) end end}
  end)
  return d, {tide.random(i32[n][S], 1), i32[n][S](0)}
end

t.test("a token that was got is changed and put", function()
  for _, q in ipairs {{3, 4}, {2, 5, true}} do
    local d, args = change(q[1], q[2], q[3])
    case.run(d, args)
    case.run(tide.schedule(d):pipeline("add:m"), args)
  end
end)

t.test("several firings of a pipelined loop put", function()
  for _, q in ipairs {{4, 1, {1, 1, 1}}, {7, 2, {2, 1, 3}}, {5, 3, {1, 4, 2}}} do
    local s, args = pairs_of(q[1], q[2], q[3])
    case.run(s, args)
  end
end)

t.done()
