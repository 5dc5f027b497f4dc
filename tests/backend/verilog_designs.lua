-- verilog_designs.lua - designs as Verilog: tasks of example 30 and pipes with latencies, depths and [slow]
-- intervals of all kinds move their tokens in the cycles of the timed run.
local t = require "tap"
local case = require "verilog_case"
local tide = require "tide"
local i32, task, grid = tide.i32, tide.task, tide.grid

if not case.has "iverilog" then t.skip_all "iverilog is not here" end

t.test("example 30 runs in its cycles, pipelined or not", function()
  local d, args = case.array(4, 32)
  case.run(d, args)
  case.run(tide.schedule(d):pipeline("pe:k"), args)
  for _, q in ipairs {{3, 7, 2, 2}, {2, 5, 3, 3}, {5, 9, 1, 2}} do
    local e, other = case.array(q[1], q[2], q[3])
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

-- Half of the tokens are handed on.
local function filter(n)
  return tide.design(function(d)
    local a, z = d:stream(i32), d:stream(i32)
    d.src = task {X = i32[n], function(X) for k in grid(n) do a:put(X[k]) end end}
    d.mid = task {function()
      for k in grid(n) do
        local u = a:get()
        if k % 2 == 0 then z:put(i32(u * u)) end
      end
    end}
    d.dst = task {Y = i32[n // 2], function(Y) for k in grid(n // 2) do Y[k] = z:get() end end}
  end), {tide.random(i32[n], 3, {lo = -9, hi = 9}), i32[n // 2](0)}
end

t.test("puts under a condition", function()
  local d, args = filter(12)
  case.run(tide.schedule(d):pipeline("src:k"):pipeline("mid:k"), args)
end)

t.test("several firings", function()
  for _, q in ipairs {{4, 1}, {7, 2}} do
    local n = q[1]
    local e = tide.design(function(d)
      local a, z = d:stream(i32, {depth = q[2]}), d:stream(i32, {depth = q[2]})
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
    case.run(e, {tide.random(i32[2 * n], 3, {lo = -90, hi = 90}), i32[2 * n](0)})
  end
end)

-- Two sorted runs as one: which stream is read, data decides.
local function merge(m, n)
  return tide.design(function(d)
    local x, y, z = d:stream(i32), d:stream(i32, {depth = 3}), d:stream(i32)
    d.left = task {X = i32[m], function(X) for k in grid(m) do x:put(X[k]) end end}
    d.right = task {W = i32[n], function(W) for k in grid(n) do y:put(W[k]) end end}
    d.merge = task {function()
      local p, q, i, j = i32(x:get()), i32(y:get()), i32(0), i32(0)
      while i < m or j < n do
        if j >= n or (i < m and p < q) then
          z:put(p)
          i = i + 1
          if i < m then p = x:get() end
        else
          z:put(q)
          j = j + 1
          if j < n then q = y:get() end
        end
      end
    end}
    d.dst = task {Y = i32[m + n], function(Y) for k in grid(m + n) do Y[k] = z:get() end end}
  end)
end

t.test("which stream is read, data decides", function()
  case.run(merge(4, 6), {tide.tensor(i32[4], {1, 3, 4, 9}), tide.tensor(i32[6], {0, 1, 5, 6, 7, 12}), i32[10](0)})
  case.run(merge(3, 1), {tide.tensor(i32[3], {1, 3, 4}), tide.tensor(i32[1], {2}), i32[4](0)})
end)

t.test("tokens in loops that data ends, and in kernels that are called", function()
  for _, n in ipairs {4, 7} do
    local send = tide.kernel {name = "send", Z = tide.stream(i32), a = i32[n],
      function(Z, a) for i in grid(n) do Z:put(a[i] * 2) end end}
    local d = tide.design(function(d)
      local z, y = d:stream(i32), d:stream(i32, {depth = 1})
      d.src = task {X = i32[n], function(X) send(z, X) end}
      d.mid = task {function()
        local i = i32(0)
        repeat
          y:put(z:get() // 3)
          i = i + 1
        until i * i >= n * n
      end}
      d.dst = task {Y = i32[n], function(Y)
        for k in grid(n) do
          local v = y:get()
          if v == 1000 then break end
          Y[k] = v
        end
      end}
    end)
    case.run(d, {tide.random(i32[n], 3, {lo = -90, hi = 90}), i32[n](0)})
  end
end)

-- Tensors as tokens: made in memory, or (`pipelined`) of values alone; taken apart by loops and at once.
local function tokens(n, w, pipelined)
  local d = tide.design(function(d)
    local z, y = d:stream(i32[w]), d:stream(i32[w], {depth = 3})
    d.src = task {X = i32[n][w], function(X)
      for i in grid(n, "i") do
        local t = i32[w](1)
        for k in grid(w, "k") do t[k] = t[k] + X[i][k] * k end
        z:put(t)
      end
    end}
    d.mid = task {function()
      for _ in grid(n, "i") do
        local t = z:get()
        local r = i32[w](0)
        for k in grid(w, "k") do r[k] = t[w - 1 - k] - t[0] end
        y:put(r)
      end
    end}
    d.dst = task {Y = i32[n][w], function(Y) for i in grid(n, "i") do Y[i]:set(y:get()) end end}
  end)
  local s = pipelined and tide.schedule(d):pipeline("src:i"):pipeline("mid:i") or d
  return s, {tide.random(i32[n][w], 1, {lo = -99, hi = 99}), i32[n][w](0)}
end

t.test("tensors as tokens", function()
  for _, q in ipairs {{3, 4}, {5, 3}} do
    case.run(tokens(q[1], q[2]))
    case.run(tokens(q[1], q[2], true))
  end
end)

t.test("tokens of many bits are refused", function()
  local function wide(n)
    return tide.design(function(d)
      local z = d:stream(i32[n])
      d.src = task {X = i32[n], function(X)
        local t = i32[n](0)
        for k in grid(n) do t[k] = X[k] end
        z:put(t)
      end}
      d.dst = task {Y = i32[n], function(Y)
        local t = z:get()
        for k in grid(n) do Y[k] = t[k] end
      end}
    end)
  end
  t.fails(function() wide(129):build {target = "verilog"} end, {code = "not-built"})
  case.run(wide(5), {tide.random(i32[5], 1), i32[5](0)})
end)

t.test("arguments of a design with a latency, a width of their own", function()
  local function copy(marks)
    return load(([[
      local tide = require "tide"
      local i32 = tide.i32
      return tide.design(function(d)
        local X = d:arg(i32[16]) %s
        local Y = d:arg(i32[16])
        d.copy = tide.task {
          X = X,
          Y = Y,
          function(X, Y) for k = 0, 15 do Y[k] = X[k] + 1 end end,
        }
      end)]]):format(marks))()
  end
  for _, marks in ipairs {"", "--@ latency(1)", "--@ latency(2)", "--@ latency(50)", "--@ bytes_per_cycle(2)",
    "--@ bytes_per_cycle(4) latency(5)", "--@ bytes_per_cycle(8)"} do
    case.run(copy(marks), {tide.random(i32[16], 1), i32[16](0)})
    case.run(tide.schedule(copy(marks)):pipeline("copy:k"), {tide.random(i32[16], 1), i32[16](0)})
  end
end)

-- Instances that take turns at an argument.
t.test("several instances share the port of an argument", function()
  for _, q in ipairs {{2, 4}, {3, 16}, {3, 4}} do
    local d = assert(load(([[
      local tide = require "tide"
      local i32 = tide.i32
      return tide.design(function(d)
        local X = d:arg(i32[9]) --@ bytes_per_cycle(%d)
        local Y = d:arg(i32[%d][9]) --@ bytes_per_cycle(%d) latency(3)
        d.add = tide.task {
          map = {%d}, X = X, Y = Y,
          function(X, Y, p) for k = 0, 8 do Y[p][k] = X[k] + X[8 - k] * p end end,
        }
      end)]]):format(q[2], q[1], q[2], q[1])))()
    local args = {tide.random(i32[9], 1), i32[q[1]][9](0)}
    case.run(d, args)
    case.run(tide.schedule(d):pipeline("add:k"), args)
  end
end)

-- Rows of S that each task of a chain fills with its own element, in a pipelined loop, some of them only.
local function gather(S, n, every)
  return tide.design(function(d)
    local word, row = d:stream(i32, {S}), d:stream(i32[S], {S})
    d.src = task {map = {S}, X = i32[S][n], function(X, j)
      for k in grid(n) do word[j]:put(X[j][k]) end
    end}
    d.add = task {map = {S}, function(j)
      for k in grid(n, "k") do
        local r, u = i32[S](-1), word[j]:get()
        if k % every == 0 then r[(k + j) % S] = u end
        row[j]:put(r)
      end
    end}
    d.dst = task {map = {S}, Y = i32[S][n][S], function(Y, j)
      for k in grid(n, "k") do
        local r = row[j]:get()
        for i in grid(S, "i") do Y[j][k][i] = r[i] end
      end
    end}
  end), {tide.random(i32[S][n], 3, {lo = -90, hi = 90}), i32[S][n][S](0)}
end

t.test("an array that each iteration of a pipelined loop makes, fills and stores to", function()
  for _, q in ipairs {{2, 5, 1}, {3, 8, 2}, {4, 6, 3}} do
    local d, args = gather(q[1], q[2], q[3])
    case.run(d, args)
    case.run(tide.schedule(d):pipeline("add:k"), args)
    case.run(tide.schedule(d):pipeline("add:k", 3):pipeline("dst:k"), args)
  end
end)

t.test("a run that takes longer than said is told", function()
  local d, args = filter(12)
  local m = d:build {target = "verilog", sim = "icarus", most = 20}
  t.fails(function() m(table.unpack(args)) end, {code = "verilog-hangs"})
end)

if case.has "verilator" then
  t.test("example 30 runs in Verilator", function()
    local d, args = case.array(3, 8)
    case.run(tide.schedule(d):pipeline("pe:k"), args, {sim = "verilator"})
  end)
else
  t.skip("example 30 runs in Verilator", "verilator is not here")
end

t.test("streams and locals that are called like pins", function()
  local d = tide.design(function(d)
    local x_q, z = d:stream(i32, {depth = 2}), d:stream(i32, {depth = 2})
    d.src = task {x = i32[8], function(x)
      for k in grid(8) do
        local x_q_put = i32(x[k] * 3)
        for j in grid(2) do x_q_put = x_q_put + j end
        x_q:put(x_q_put)
        z:put(x[k])
      end
    end}
    d.dst = task {Y = i32[8], function(Y)
      for k in grid(8) do
        local z_data = i32(k)
        if Y[k] > 0 then z_data = z_data + Y[k] end
        Y[k] = x_q:get() + z:get() + z_data
      end
    end}
  end)
  case.run(d, {tide.random(i32[8], 3), tide.random(i32[8], 4)})
end)

t.done()
