-- depths.lua - least depths: a vector that is enough and minimal in every component, its bits; for one input where data
-- decides.
local t = require "tap"
local tide = require "tide"
local i8, i32 = tide.i8, tide.i32
local task, grid = tide.task, tide.grid
local N, P = 4, 3

-- Four tokens through a stream.
local function line()
  return tide.design(function(d)
    local x = d:stream(i32)
    d.a = task { A = i32[4], function(A) for i in grid(4) do x:put(A[i]) end end }
    d.b = task { function() for _ in grid(4) do local _ = x:get() end end }
  end)
end

-- Three streams between two tasks: the first puts a tokens to each in turn, the second gets b of each in turn.
local function crossing(a, b, depth)
  local total = 6
  return tide.design(function(d)
    local x, z = d:stream(i32, {depth = depth.x}), d:stream(i32, {depth = depth.z})
    local y = d:stream(i8[3], {depth = depth.y})
    d.send = task { function()
      for _ in grid(total // a) do
        for _ in grid(a) do x:put(1) end
        for _ in grid(a) do y:put(i8[3](2)) end
        for _ in grid(a) do z:put(3) end
      end
    end }
    d.take = task { function()
      for _ in grid(total // b) do
        for _ in grid(b) do local _ = z:get() end
        for _ in grid(b) do local _ = y:get() end
        for _ in grid(b) do local _ = x:get() end
      end
    end }
  end, {check = false})
end

t.test("brute force: enough, no component can be less, and jointly no other vector is less", function()
  local deep = {x = 6, y = 6, z = 6}
  for _, ab in ipairs {{1, 1}, {2, 1}, {3, 2}, {2, 3}, {6, 1}, {1, 6}} do
    local least, bits = crossing(ab[1], ab[2], deep):depths()
    t.eq(bits, 32 * least.x + 24 * least.y + 32 * least.z)
    for x, y, z in grid(6, 6, 6) do
      local depth = {x = x + 1, y = y + 1, z = z + 1}
      local runs = crossing(ab[1], ab[2], depth):check() == true
      local above = depth.x >= least.x and depth.y >= least.y and depth.z >= least.z
      local below = depth.x <= least.x and depth.y <= least.y and depth.z <= least.z
      if above then t.ok(runs, "what is at least that deep runs") end
      if below and not above then t.ok(not runs, "what is less in one component and more in none waits for ever") end
    end
  end
end)

t.test("in bits of storage when asked", function()
  local d = crossing(3, 2, {x = 6, y = 6, z = 6})
  local least, sum = d:depths()
  local bits, total = d:depths {unit = "bits"}
  t.eq(bits, {x = 32 * least.x, y = 24 * least.y, z = 32 * least.z})
  t.eq(total, sum)
  t.eq(d:depths {unit = "tokens"}, least)
  t.fails(function() d:depths {unit = "bytes"} end, {kind = "usage", code = "option-value"})
  local two = tide.design(function(e)
    local x = e:stream(i8[4], {P, depth = 9})
    e.a = task { map = {P}, function(p) x[p]:put(i8[4](0)) end }
    e.b = task { map = {P}, function(p) local _ = x[p]:get() end }
  end)
  t.eq(two:depths {unit = "bits"}, {x = P * 32})
end)

t.test("least depths are a vector, and its bits", function()
  local d = tide.design(function(d)
    local x, y = d:stream(i8[4], {depth = 9}), d:stream(i32, {P, depth = 2})
    d.a = task { function()
      local v = i8[4](1)
      for _ in grid(N) do x:put(v) end
      for p in grid(P) do y[p]:put(1) end
    end }
    d.b = task { function()
      for p in grid(P) do local _ = y[p]:get() end
      for _ in grid(N) do local _ = x:get() end
    end }
  end)
  local least, bits = d:depths()
  t.eq(least, {x = N, y = 1})
  t.eq(bits, N * 32 + P * 32)
end)

t.test("there are no least depths where data decides, or where none are enough", function()
  local open = tide.design(function(d)
    local s = d:stream(i32)
    d.a = task { A = i32[1], function(A) if A[0] > 0 then s:put(1) end end }
    d.b = task { function() local _ = s:get() end }
  end)
  local least, why = open:depths()
  t.eq({least, why.code}, {nil, "data"})
  local stuck = tide.design(function(d)
    local x, y = d:stream(i32), d:stream(i32)
    d.a = task { function() x:put(y:get()) end }
    d.b = task { function() y:put(x:get()) end }
  end, {check = false})
  least, why = stuck:depths()
  t.eq({least, why.code}, {nil, "deadlock"})
end)

-- Eight tokens that data sends to y[0] or y[1]; the sink takes four of the first, then four of the other.
local function sorted(depth)
  return tide.design(function(d)
    local x, y = d:stream(i32, {depth = 8}), d:stream(i32, {2, depth = depth})
    d.a = task { A = i32[8], function(A) for i in grid(8) do x:put(A[i]) end end }
    d.split = task { function()
      for _ in grid(8) do
        local v = x:get()
        if v > 0 then y[0]:put(v) else y[1]:put(v) end
      end
    end }
    d.b = task { R = i32[2], function(R)
      for k, _ in grid(2, 4) do R[k] = R[k] + y[k]:get() end
    end }
  end)
end

t.test("least depths of what data decides hold for this input: enough, and no component can be less", function()
  local d, R = sorted(8), i32[2](0)
  local _, why = d:depths()
  t.has(tostring(why), "d:depths(..), with arguments")
  for seed = 1, 12 do
    local A, list = i32[8](0), {1, 1, 1, 1, -1, -1, -1, -1}
    for i = 8, 2, -1 do
      local k = (seed * 7919 + i * 104729) // 97 % i + 1
      list[i], list[k] = list[k], list[i]
    end
    for i, v in ipairs(list) do A[i - 1] = v end
    local least, bits, how = d:depths(A, R)
    t.eq({how, bits}, {"for this input", 32 * least.x + 2 * 32 * least.y})
    t.eq(R:table(), {0, 0}, "the arguments stay as they are")
    sorted(least.y)(A, i32[2](0))
    t.eq(least.x, 1, "the first stream never needs more")
    if least.y > 1 then
      local short = sorted(least.y - 1)
      for _, run in ipairs {short, function(...) short:reference(...) end} do
        local e = t.fails(function() run(A, i32[2](0)) end, {code = "deadlock"})
        t.has(tostring(e), "wait cycle: split -> y[1] -> b -> y[0] -> split")
        t.has(e.help, "d:depths(..), with these arguments")
      end
    end
  end
  local never, none = d:depths {A = tide.tensor(i32[8], {1, 1, 1, 1, 1, -1, -1, -1}), R = R}
  t.eq({never, none.code}, {nil, "deadlock"})
  t.has(none.message, "on this input")
  t.eq(select("#", line():depths(i32[4](0))), 2, "where data has no say the answer is for all inputs")
end)

t.done()
