-- multiplex of branches of a STeP graph over regions.
local tide, step = require "tide", require "tide.step"
local models = require "tide.step.models"
local t = require "tap"
local f32, fn = tide.f32, step.fn

-- Makes all elements of a matrix 0.
local function clear(y)
  for i = 0, y.shape[1] - 1 do
    for j = 0, y.shape[2] - 1 do y[i][j] = 0 end
  end
end

local function routing(B, E, k, seed)
  math.randomseed(seed)
  local list = {}
  for b = 1, B do
    local own, seen = {}, {}
    while #own < k do
      local e = math.random(0, E - 1)
      if not seen[e] then own[#own + 1], seen[e] = e, true end
    end
    list[b] = own
  end
  return list
end

local function layer(E, N, P)
  return { B = 16, D = 32, F = 48, E = E, k = 2, tf = 24, N = N, P = P, bw = 256 }
end

t.test("static and dynamic tiles, as built by hand: traffic, memory, cycles", function()
  for _, case in ipairs { { 4, 4, 2 }, { 4, nil, 2 }, { 6, 4, 2 }, { 6, 3, 3 }, { 4, 4, 1 } } do
    local E, N, P = case[1], case[2], case[3]
    local r = routing(16, E, 2, E + P)
    local s = tide.schedule(models.moe(layer(E, N), r)):multiplex("tile", "done", P, { reassociate = true })
    local hand = models.moe(layer(E, N, P), r)
    t.ok(s:traffic() == hand:traffic(), "traffic")
    t.ok(s:memory() == hand:memory(), "memory")
    t.eq(s:simulate(models.settings.fig12).cycles, hand:simulate(models.settings.fig12).cycles)
    t.eq(s:verify(), "strict")
  end
end)

t.test("loads keep what they ask for at once", function()
  local g = step.graph(function()
    local ways, outs = step.load(f32[4][8], { tile = { 1, 8 } }):flatten(0, 1)
      :partition(step.selectors({ { 0 }, { 1 }, { 1 }, { 0 } }, { n = 2 })), {}
    for e, from in ipairs(ways) do
      local tile = from:map(fn.exp, { bw = 8 })
      local w = tile:load(f32[32][8], { tile = { 8, 8 }, ports = 2, ahead = 3, depth = 5 }):flatten(0, 1)
      local done = tile:rep(4):zip(w):map(fn.matmul, { bw = 64 })
      outs[e] = done:map(fn.silu, { bw = 8 })
    end
    return table.unpack(outs)
  end)
  t.has(tostring(tide.schedule(g):multiplex("tile", "done", 1):graph()), "ports = 2, ahead = 3, depth = 5")
end)

t.test("static to dynamic to a region of all", function()
  local r = routing(16, 4, 1, 5)
  local c = layer(4, 4)
  c.k = 1
  local s = tide.schedule(models.moe(c, r)):retile("tile", "dynamic"):multiplex("tile", "done", 1)
  c.N, c.P = nil, 1
  t.eq(s:simulate(models.settings.fig12).cycles, models.moe(c, r):simulate(models.settings.fig12).cycles)
  t.eq(s:verify(), "strict")
end)

t.test("weights with data come to the region in one tensor", function()
  local c = { B = 8, D = 16, F = 12, E = 4, k = 1, tf = 4, N = 3, bw = 64, up = {}, gate = {}, down = {},
    x = tide.random(f32[8][16], 5), weights = tide.random(f32[8][1], 9), y = f32[8][16](0) }
  for e = 1, 4 do
    c.up[e], c.gate[e] = tide.random(f32[16][12], e), tide.random(f32[16][12], 10 + e)
    c.down[e] = tide.random(f32[12][16], 20 + e)
  end
  local g = models.moe(c, routing(8, 4, 1, 7))
  g:run()
  local want = c.y:copy()
  for _, P in ipairs { 2, 1 } do
    clear(c.y)
    tide.schedule(g):multiplex("tile", "done", P):run()
    t.ok(c.y:equal(want))
  end
end)

-- Two branches from a partition: f of each tile.
local function two(f, after)
  return step.graph(function()
    local x = step.load(f32[6][8], { tile = { 1, 8 } }):flatten(0, 1)
    local sel = step.selectors({ { 0 }, { 1 }, { 1 }, { 0 }, { 1 }, { 0 } }, { n = 2 })
    local outs = {}
    for e, rows in ipairs(x:partition(sel)) do
      local tile = rows:map(fn.silu)
      local done = f(tile, e)
      outs[e] = done
      if after then after(tile) end
    end
    step.reassemble(outs, sel):store(f32[6][8])
  end)
end

local function refused(code, words, g, ...)
  local s = tide.schedule(g)
  local ok, err = pcall(s.multiplex, s, ...)
  t.ok(not ok and err.code == code and err.message:find(words, 1, true), tostring(err))
end

local function act(tile) return tile:map(fn.exp, { name = "done" }) end

t.test("branches without weights", function()
  local s = tide.schedule(two(act)):multiplex("tile", "done", 1)
  t.eq(s:verify(), "strict")
  t.eq(#s:graph().nodes, #two(act).nodes + 2 - 1)
end)

t.test("refused: branches that differ, twinned by those that do not", function()
  refused("step-branches", "'done#2' has another function than 'done#1'",
    two(function(tile, e) return tile:map(e == 1 and fn.exp or fn.silu, { name = "done" }) end), "tile", "done", 1)
  refused("step-branches", "has another option than",
    two(function(tile, e) return tile:map(fn.exp, { bw = e, name = "done" }) end), "tile", "done", 1)
  refused("step-branches", "reads its tiles in another order",
    two(function(tile, e)
      local w = tile:load(f32[1][16], { tile = { 1, 8 }, shape = { 2 }, stride = { e - 1 } })
      return tile:rep(2):zip(w):map(fn.mul):accum(fn.add, { rank = 1, name = "done" })
    end), "tile", "done", 1)
  local s = tide.schedule(two(function(tile)
    local w = tile:load(f32[1][16], { tile = { 1, 8 }, shape = { 2 }, stride = { 1 } })
    return tile:rep(2):zip(w):map(fn.mul):accum(fn.add, { rank = 1, name = "done" })
  end)):multiplex("tile", "done", 1)
  t.eq(s:verify(), "strict")
end)

t.test("refused: a state across tiles, a reader inside, no such regions", function()
  refused("step-branch", "folds over several tiles",
    two(function(tile) return tile:scan(fn.add, { rank = 1, name = "done" }) end), "tile", "done", 1)
  refused("step-branch", "reads the branch before its end",
    two(act, function(tile) tile:sink() end), "tile", "done", 1)
  refused("step-option", "do not make 3 regions", two(act), "tile", "done", 3)
  refused("step-branch", "takes tiles together", two(act), "done", "tile", 1)
  refused("step-name", "no node 'tyle'", two(act), "tyle", "done", 1)
end)

t.done()
