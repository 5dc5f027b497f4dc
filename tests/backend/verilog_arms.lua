-- [slow] verilog_arms.lua - firings that put under conditions of their own, and loops from an id on: what does not take
-- place takes no credit and delays nothing, in the cycles of the timed run.
local t = require "tap"
local case = require "verilog_case"
local tide = require "tide"
local i32, f32, task, grid = tide.i32, tide.f32, tide.task, tide.grid

if not case.has "iverilog" then t.skip_all "iverilog is not here" end

-- Instances in a row hand on what those behind them send, each after its own: n of its own of each round, then theirs;
-- the reader takes one each `pace` cycles.
local function drain(P, rounds, n, depth, pace)
  local d = tide.design(function(d)
    local back = d:stream(i32, {P, depth = depth})
    d.out = task {map = {P}, A = i32[P][rounds][n], function(A, i)
      for a in grid(rounds) do
        for b = 0, (P - i) * n - 1 do
          if b < n then
            back[i]:put(A[i][a][b % n])
          elseif i + 1 < P then
            back[i]:put(back[i + 1]:get())
          end
        end
      end
    end}
    d.sink = task {y = i32[rounds * n * P], function(y)
      for k in grid(rounds * n * P) do y[k] = back[0]:get() end
    end}
  end)
  return tide.schedule(d):pipeline "out:b":pipeline("sink:k", pace)
end

for _, z in ipairs {{2, 3, 4, 2, 1}, {2, 4, 4, 2, 3}, {3, 2, 3, 1, 2}, {3, 3, 2, 3, 4}} do
  local P, rounds, n = z[1], z[2], z[3]
  t.test(("%d in a row, %d rounds of %d, depth %d, a token in %d cycles"):format(table.unpack(z)), function()
    local args = {tide.random(i32[P][rounds][n], 3), i32[rounds * n * P](0)}
    case.run(drain(table.unpack(z)), args)
  end)
end

-- Instance j of a row collects its own token, then those of the ones behind it, in a loop from j on.
local function collect(P, n)
  local d = tide.design(function(d)
    local z, back = d:stream(i32, {P, depth = 2}), d:stream(i32, {P, depth = 2})
    d.src = task {map = {P}, A = i32[P][n], function(A, j) for k in grid(n) do z[j]:put(A[j][k]) end end}
    d.coll = task {map = {P}, function(j)
      for _ in grid(n) do
        for b = j, P - 1 do
          if b == j then
            back[j]:put(z[j]:get())
          elseif j + 1 < P then
            back[j]:put(back[j + 1]:get())
          end
        end
      end
    end}
    d.sink = task {y = i32[n * P], function(y) for k in grid(n * P) do y[k] = back[0]:get() end end}
  end)
  return tide.schedule(d):pipeline "coll:b":pipeline "src:k":pipeline "sink:k"
end

t.test("a loop from an id on drains in each class", function()
  for _, z in ipairs {{2, 8}, {3, 4}, {4, 3}} do
    local P, n = z[1], z[2]
    case.run(collect(P, n), {tide.random(i32[P][n], 5), i32[n * P](0)})
  end
end)

-- Three arms by data, each with a time of its own: a copy, a product of floats, a sum of two that were got.
local function arms(n, pace, depth)
  local d = tide.design(function(d)
    local x, w = d:stream(f32, {depth = depth}), d:stream(f32, {depth = depth})
    d.src = task {X = f32[2 * n], used = i32, function(X, used) for k = 0, used - 1 do x:put(X[k]) end end}
    d.arms = task {C = i32[n], function(C)
      for k in grid(n) do
        local c = C[k]
        if c == 0 then
          w:put(x:get())
        elseif c == 1 then
          local v = x:get()
          w:put(v * v + 1)
        elseif c == 2 then
          local v, u = x:get(), x:get()
          w:put(v + u)
        end
      end
    end}
    d.sink = task {Y = f32[n], m = i32, function(Y, m) for k = 0, m - 1 do Y[k] = w:get() end end}
  end)
  return tide.schedule(d):pipeline "arms:k":pipeline "src:k":pipeline("sink:k", pace)
end

t.test("arms of several times", function()
  for seed = 1, 6 do
    local n = 8 + seed
    local C, used, m = tide.random(i32[n], seed, {lo = 0, hi = 4}), 0, 0
    for k = 0, n - 1 do
      m = m + (C[k] < 3 and 1 or 0)
      used = used + (C[k] < 2 and 1 or C[k] == 2 and 2 or 0)
    end
    local X = tide.random(f32[2 * n], seed)
    case.run(arms(n, 1 + seed % 3, 1 + seed % 2), {X, used, C, f32[n](0), m})
  end
end)

t.done()
