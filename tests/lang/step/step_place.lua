-- Scratchpads (`place`), whose buffers share ports, and loads with several tiles under way (`ahead`). Cycles of both
-- are held against a machine stepped cycle by cycle in tests/slow/step_stepped.lua.
local tide, step = require "tide", require "tide.step"
local t = require "tap"
local f32, fn = tide.f32, step.fn

-- Two buffers of 4 tiles of 1 KiB each, read 6 times over, in these scratchpads.
local function buffers(p, q, f)
  local x = tide.random(f32[4][256], 1)
  return step.graph(function()
    local outs = {}
    for k = 1, 2 do
      local kept = step.load(x, { tile = { 4, 64 } }):bufferize { rank = 1, place = k == 1 and p or q }
      outs[k] = kept:streamify { times = { 6 } }:map(f or fn.exp, { bw = 4096 })
    end
    return outs[1], outs[2]
  end)
end

t.test("buffers of one scratchpad take turns at its ports", function()
  local alone = buffers():simulate().cycles
  t.eq(buffers("pmu3"):simulate().cycles, alone, "one of them is in none")
  t.eq(buffers("pmu3", "pmu4"):simulate().cycles, alone)
  local shared = buffers("pmu3", "pmu3"):simulate()
  -- 2 x 24 tiles of 16 cycles each, one after the other.
  t.eq(shared.cycles - alone, 24 * 16)
  t.ok(shared.cycles > 2 * 24 * 16)
  local waits = 0
  for _, task in ipairs(shared.tasks) do
    for _, s in ipairs(task.name:find "map" and task.stalls or {}) do
      if s.why == "memory" then waits = waits + s.cycles end
    end
  end
  t.ok(waits > 20 * 16, "waits for a port are stalls by memory")
  local g = buffers("pmu3", "pmu3")
  local a, b, r = g:run()
  t.eq(r.cycles, shared.cycles)
  local c, d = buffers():run()
  t.ok(a:allclose(c, { rtol = 0, atol = 0 }) and b:allclose(d, { rtol = 0, atol = 0 }), "values stay")
  local wide = buffers("pmu3", "pmu3"):simulate({ pmu = 1024 }).cycles - buffers():simulate({ pmu = 1024 }).cycles
  t.ok(wide > 0 and wide <= 24, "a port as wide as a tile")
end)

t.test("operands of one function: side by side out of two scratchpads, one after the other out of one", function()
  local x, w = tide.random(f32[16][64], 1), tide.random(f32[16][64], 2)
  local function cycles(p, q)
    return step.graph(function()
      local function kept(m, place)
        return step.load(m, { tile = { 4, 64 } }):flatten(0, 1):promote():bufferize { rank = 1, place = place }
          :streamify { times = { 8 } }
      end
      kept(x, p):zip(kept(w, q)):map(fn.add, { bw = 4096 }):sink()
    end):simulate().cycles
  end
  t.eq(cycles() - cycles("a", "b"), 16 * 31 + 1, "without a scratchpad the reader's memory unit has both")
  t.ok(cycles("a", "a") >= cycles(), "one port to read, and one to write")
  t.eq(cycles("a"), cycles("a", "b"))
end)

t.test("text, metrics, families", function()
  local g = buffers("pmu3", "pmu4")
  t.ok(tostring(g):find 'place = "pmu3"' and tostring(g):find 'place = "pmu4"', tostring(g))
  t.ok(not tostring(g):find "for ", "buffers of two scratchpads are no loop")
  t.ok(tostring(buffers("pmu3", "pmu3")):find "for ")
  local again = assert(load(tostring(g)))(g:constants())
  t.eq(tostring(again), tostring(g))
  step.metric("of pmu3", { bufferize = function(n) return n.place == "pmu3" and n.memory or 0 end })
  t.eq(g:metric "of pmu3", buffers("pmu3", "pmu3"):metric "of pmu3" // 2)
end)

-- n tiles of one request each, `ahead` under way.
local function loads(n, ahead, o)
  o = o or {}
  return step.graph(function()
    step.load(f32[n][16], { tile = { 1, 16 }, ahead = ahead, ports = o.ports }):map(fn.exp, { bw = o.bw or 64 }):sink()
  end)
end

t.test("a load with several tiles under way", function()
  -- A request is answered after 19 cycles; the next goes out in the next cycle.
  local one, four, many = loads(32):simulate(), loads(32, 4):simulate(), loads(32, 32):simulate()
  t.ok(one.cycles >= 32 * 19 and many.cycles <= 4 * 19)
  t.ok(many.cycles < four.cycles and four.cycles < one.cycles)
  t.ok(four.cycles < one.cycles // 4 + 40)
  t.eq(many.traffic, one.traffic)
  t.eq(loads(32, 1):simulate().cycles, one.cycles)
  t.eq(loads(32, 33):simulate().cycles, many.cycles)
  t.eq(loads(8, 8):memory() - loads(8):memory(), 7 * 64, "they have their places")
  for _, model in ipairs { "banks", "slots" } do
    local o = { memory = model }
    t.ok(loads(32, 8):simulate(o).cycles < loads(32):simulate(o).cycles, model)
  end
end)

t.test("loads by reference and by address give the same, in order", function()
  local x = tide.random(f32[8][16], 3)
  local at = tide.tensor(tide.i32[6], { 5, 0, 7, 7, 1, 2 })
  local function g(ahead)
    return step.graph(function()
      local a = step.values(at):load_at(x, { tile = { 1, 16 }, ahead = ahead })
      local b = a:load(x, { tile = { 2, 16 }, shape = { 4 }, stride = { 1 }, ahead = ahead })
      return a:map(fn.exp), b:map(fn.exp)
    end)
  end
  local a, b, r = g():run { depth = 4 }
  local c, d, s = g(3):run { depth = 4 }
  t.ok(a:allclose(c, { rtol = 0, atol = 0 }) and b:allclose(d, { rtol = 0, atol = 0 }))
  t.ok(s.cycles < r.cycles)
  t.eq(tide.verify(g(), g(3)), "strict")
  t.eq(tostring(assert(load(tostring(g(3))))(g(3):constants())), tostring(g(3)))
end)

local function refused(words, build)
  local ok, err = pcall(step.graph, build)
  t.ok(not ok and err.code == "step-argument" and tostring(err):find(words, 1, true), tostring(err))
end

t.test("refused, beside what is accepted above", function()
  local function kept(place) return function() step.load(f32[4][16], { tile = { 1, 16 } })
    :bufferize({ rank = 1, place = place }):sink() end end
  step.graph(kept "p")
  refused("a name", kept(3))
  refused("a name", kept(true))
  refused("'ahead' is at least 1", function() step.load(f32[4][16], { tile = { 1, 16 }, ahead = 0 }):sink() end)
  refused("'ahead' is at most", function() step.load(f32[4][16], { tile = { 1, 16 }, ahead = 1 << 40 }):sink() end)
end)

t.done()
