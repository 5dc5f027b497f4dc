-- [slow] Runs with a clock that move rings of tokens whole, and rings that begin elsewhere, against the evaluator.
local tide = require "tide"
local t = require "tap"
local i32 = tide.i32

-- A grid of P x P whose streams are all so deep, except that down is `deeper`. A third of the n tokens of each row
-- and column meet when the last task, whose turn comes after, was asked: rings are seldom full at their first place.
local function meeting(P, n, depth, deeper, latency)
  return assert(load(([[
    local tide = require "tide"
    local i32, task, grid = tide.i32, tide.task, tide.grid
    local P, n, depth, deeper = ...
    return tide.design(function(d)
      local a = d:stream(i32, {P, P + 1, depth = depth}) --@ latency(%d)
      local b = d:stream(i32, {P + 1, P, depth = depth + deeper})
      local ask, go = d:stream(i32, {P, P}), d:stream(i32, {P, P})
      d.left = task {map = {P}, function(i) for k in grid(n, "k") do a[i][0]:put(i32(k + i)) end end}
      d.top = task {map = {P}, function(j) for k in grid(n, "k") do b[0][j]:put(i32(k * j)) end end}
      d.pe = task {map = {P, P}, C = i32[P][P], function(C, i, j)
        local c = i32(0)
        for _ in grid(3) do
          ask[i][j]:put(c)
          c = go[i][j]:get()
          for k in grid(n // 3, "k") do
            local x, y = a[i][j]:get(), b[i][j]:get()
            c = c * 7 + x * y
            if j < P - 1 then a[i][j + 1]:put(x * 3) end
            if i < P - 1 then b[i + 1][j]:put(y) end
          end
        end
        C[i][j] = c
      end}
      d.go = task {map = {P, P}, function(i, j) for _ in grid(3) do go[i][j]:put(ask[i][j]:get()) end end}
    end)]]):format(latency)))(P, n, depth, deeper)
end

t.test("24 grids tell what the evaluator tells, on two devices", function()
  for case = 1, 24 do
    local depth, n = 2 + case * 5 % 17, 3 * (1 + case * 7 % 23)
    local s = tide.schedule(meeting(3, n, depth, case % 3 == 0 and 1 or 0, 1 + case % 2)):pipeline("pe:k")
    if case % 4 > 0 then s:pipeline("left:k"):pipeline("top:k", 1 + case % 2) end
    for _, device in ipairs {"ideal", "u280"} do
      local by_evaluator = s:build {target = "cpu", timed = true, trace = true, device = device}
      local compiled = s:build {target = "cpu", timed = true, tier = "tcc", device = device}
      local C, D = i32[3][3](0), i32[3][3](0)
      by_evaluator(C)
      compiled(D)
      t.eq(compiled.report.text, by_evaluator.report.text)
      t.ok(C:equal(D), tostring(s))
    end
  end
end)

-- A ring that is put whole in each round and got in two parts, after pauses that tables tell: the next puts come
-- before, with, or after the last gets, and what the stream held at most tells which.
local function paused(depth, before_put, before_get, first)
  local rounds = #before_put
  local P, G = tide.tensor(i32[rounds], before_put), tide.tensor(i32[rounds], before_get)
  return tide.design(function(d)
    local z = d:stream(i32, {depth = depth})
    d.put = tide.task {S = i32[1], function(S)
      local s = i32(0)
      for r in tide.grid(rounds) do
        for w = 0, P[r] - 1 do s = s + w * r end
        for k in tide.grid(depth, "k") do z:put(i32(k + r)) end
      end
      S[0] = s
    end}
    d.get = tide.task {C = i32[1], function(C)
      local c = i32(0)
      for r in tide.grid(rounds) do
        for _ in tide.grid(first, "k") do c = c + z:get() end
        for w = 0, G[r] - 1 do c = c + w * r end
        for _ in tide.grid(depth - first, "l") do c = c + z:get() end
      end
      C[0] = c
    end}
  end)
end

t.test("60 rings with pauses hold at most what the evaluator tells", function()
  local state = 20261122
  local function random(n)
    state = (state * 1103515245 + 12345) % 2147483648
    return state // 65536 % n
  end
  for _ = 1, 60 do
    local before_put, before_get = {}, {}
    local depth, rounds = 2 + random(7), 2 + random(4)
    for r = 1, rounds do before_put[r], before_get[r] = random(2 * depth), random(2 * depth) end
    local s = tide.schedule(paused(depth, before_put, before_get, random(depth)))
    for _, loop in ipairs {"put:w", "put:k", "get:k", "get:w", "get:l"} do s:pipeline(loop) end
    local told = {}
    for _, tier in ipairs {false, "tcc"} do
      local run = s:build {target = "cpu", timed = true, trace = not tier, tier = tier or nil}
      local S, C = i32[1](0), i32[1](0)
      run(S, C)
      told[#told + 1] = {tostring(run.report), S[0], C[0]}
    end
    t.eq(told[2], told[1])
  end
end)

t.done()
