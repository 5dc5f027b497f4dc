-- ready.lua - ends outside that are not always ready: streams of the top of runs with a clock, against registers that
-- are stepped cycle by cycle; what is refused.
local t = require "tap"
local tide = require "tide"
local i32, f32 = tide.i32, tide.f32

-- A task of one firing: II, and one multiplication or two.
local function scale(n, ii, two)
  local k = tide.kernel {X = tide.stream(f32), Z = tide.stream(f32), name = "scale", function(X, Z)
    for i = 0, n - 1 do
      local v = X:get()
      if two then
        Z:put(v * v * v)
      else
        Z:put(v * 3.0)
      end
    end
  end}
  return tide.schedule(k):pipeline("i", ii)
end

local function tokens(n)
  local list = {}
  for i = 1, n do list[i] = i end
  return list
end

local function run(n, ii, device, ready, two)
  local m = scale(n, ii, two):build {target = "cpu", timed = true, device = device, ready = ready}
  local Z = {}
  m(tokens(n), Z)
  return m.report, Z
end

-- A latch, a credit counter, a shift register of L stages and a FIFO behind it: the cycles of all gets and puts. The
-- first get may be in cycle `from`. With `shared`, two stages have the multiplier in turns: a start keeps to its turn.
local function step(n, ii, L, from, ready, shared)
  local credits, pipe, fifo, got, put, next, latch = math.ceil(L / ii) + 1, {}, 0, {}, {}, from, false
  for now = 0, 10000 do
    local back = 0
    if #got < n and not latch and now >= next and now >= (ready.X[#got + 1] or 0) then
      got[#got + 1], latch = now, true
    end
    if latch and credits > 0 and (not shared or (now - next) % ii == 0) then
      credits, next, latch = credits - 1, now + ii, false
      pipe[now + L] = true
    end
    if pipe[now] then fifo = fifo + 1 end
    if fifo > 0 and now >= (ready.Z[#put + 1] or 0) then
      fifo, back = fifo - 1, 1
      put[#put + 1] = now
    end
    credits = credits + back
    if #put == n then return got, put end
  end
end

local function draw(random, n)
  local list, at = {}, 0
  for k = 1, random(0, n) do
    at = at + (random(0, 2) == 0 and random(0, 9) or random(0, 1))
    list[k] = at
  end
  return list
end

t.test("random tables: first and last cycles of every prefix are those of registers", function()
  local seed = 7
  local function random(lo, hi)
    seed = (seed * 6364136223846793005 + 1442695040888963407) & 0x7fffffffffffffff
    return lo + (seed >> 33) % (hi - lo + 1)
  end
  local waited, shared = 0, 0
  for _ = 1, 400 do
    local n, ii, device = random(1, 8), random(1, 5), ({"ideal", "rtl", "u280"})[random(1, 3)]
    local two = random(0, 1) == 1
    local free = run(1, ii, device, nil, two).streams
    local from, L = free.X.gots[1], free.Z.puts[1] - free.X.gots[1]
    local ready = {X = draw(random, n), Z = draw(random, n)}
    local slip = run(1, ii, device, {X = {from + 1}}, two).streams.Z.puts[1] - free.Z.puts[1]
    t.ok(slip == 1 or slip == ii and two and device ~= "ideal",
      "a slip is of a cycle, or of an interval where they share")
    shared = shared + (slip > 1 and 1 or 0)
    local got, put = step(n, ii, L, from, ready, slip > 1)
    for k = 1, n do
      local r, Z = run(k, ii, device, ready, two)
      local s = r.streams
      t.eq({s.X.gots[1], s.X.gots[2], s.Z.puts[1], s.Z.puts[2]}, {got[1], got[k], put[1], put[k]},
        ("n %d, II %d, L %d, %s, %s"):format(k, ii, L, device, two))
      t.eq(Z[k], two and k * k * k + 0.0 or 3.0 * k, "values do not depend on it")
      waited = waited + (r.tasks[1].stalled > 0 and 1 or 0)
    end
  end
  t.ok(waited > 300 and shared > 30, waited .. " " .. shared)
end)

t.test("waits are charged to the stream that was not ready", function()
  local r = run(3, 1, "ideal", {X = {0, 7}})
  t.eq({r.streams.X.gots[1], r.streams.X.gots[2]}, {0, 8})
  t.eq({r.tasks[1].stalls[1].stream, r.tasks[1].stalls[1].why, r.tasks[1].stalls[1].cycles}, {"X", "empty", 6})
  r = run(2, 1, "ideal", {Z = {5}})
  t.eq({r.streams.Z.puts[1], r.streams.Z.puts[2]}, {5, 6})
  t.eq({r.tasks[1].stalls[1].stream, r.tasks[1].stalls[1].why}, {"Z", "full"})
  t.eq(run(2, 1, "ideal", {Z = {}}).cycles, run(2, 1, "ideal").cycles)
end)

t.test("the second contract waits for them, too", function()
  local r = run(3, 1, "ideal", {X = {0, 7}, Z = {0, 0, 20}})
  t.eq({r.fire.hangs, r.fire.cycles}, {false, 21})
end)

t.test("an array of streams has a list for each", function()
  local k = tide.kernel {X = tide.stream(i32)[2], name = "two", function(X)
    for p = 0, 1 do X[p]:put(i32(p)) end
  end}
  local m = tide.schedule(k):build {target = "cpu", timed = true, ready = {X = {{4}, {9}}}}
  local X = {{}, {}}
  m(X)
  t.eq({X, m.report.streams[1].puts[1], m.report.streams[2].puts[1]}, {{{0}, {1}}, 4, 9})
  t.fails(function() tide.schedule(k):build {target = "cpu", timed = true, ready = {X = {{4}, {9}, {1}}}} end,
    {code = "ready", match = "2 streams"})
end)

t.test("what is no table of cycles, or of no stream of the top, is refused; its twin is not", function()
  local s = scale(2, 1)
  local function build(ready, timed) return s:build {target = "cpu", timed = timed ~= false, ready = ready} end
  for _, wrong in ipairs {{Z = 3}, {Z = {1.5}}, {Z = {-1}}, {Z = {4, 3}}, {Z = {"4"}}, {{4}}} do
    t.fails(function() build(wrong) end, {code = "option-value"})
  end
  t.fails(function() build(7) end, {code = "option-value"})
  t.fails(function() build {Y = {4}} end, {code = "ready", match = "'Y' is no stream of the top of scale %(X, Z%)"})
  t.fails(function() build({Z = {4}}, false) end, {code = "ready", match = "timed = true"})
  t.fails(function() build {Z = {{1}, {2}}} end, {code = "ready", match = "1 stream,"})
  t.ok(build {Z = {3, 3, 4}})
  local none = tide.kernel {A = i32[2], name = "none", function(A) A[0] = 1 end}
  t.fails(function() tide.schedule(none):build {target = "cpu", timed = true, ready = {A = {4}}} end,
    {code = "ready", match = "it has none"})
end)

t.done()
