-- retile of packed tiles of a STeP graph: the rows are the same, whatever the tiles.
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

-- Rows routed to two branches, packed by `pack`, through `f`, unpacked, gathered and stored.
local function routed(n, pack, f, y)
  local sel = {}
  for i = 1, n do sel[i] = { i % 3 == 0 and 1 or 0 } end
  return step.graph(function()
    local s = step.selectors(sel, { n = 2 })
    local outs = {}
    local x = step.load(tide.random(f32[n][8], 5), { tile = { 1, 8 } }):flatten(0, 1)
    for e, rows in ipairs(x:partition(s)) do
      local tile = pack(rows):accum(fn.retile_row, { rank = 1 })
      outs[e] = f(tile):flat_map(fn.split_rows)
    end
    step.reassemble(outs, s):store(y)
  end)
end

local function static(n) return function(x) return x:reshape { chunk = n, pad = f32[1][8](0) } end end
local function dynamic(x) return x:promote() end
local W = tide.random(f32[8][8], 3)
local function product(tile)
  return tile:zip(tile:load(W, { tile = { 8, 8 } }):flatten(0, 1):flatten(0, 1)):map(fn.matmul, { bw = 64 })
end

-- s computes what g does, by proof and by numbers.
local function same(g, s, y)
  t.eq(s:verify(), "strict")
  g:run()
  local want = y:copy()
  clear(y)
  s:run()
  t.ok(y:equal(want))
end

t.test("static to dynamic, to other sizes, and back", function()
  local y = f32[10][8](0)
  local g = routed(10, static(4), product, y)
  local s = tide.schedule(g):retile("tile", "dynamic")
  same(g, s, y)
  t.eq(s:traffic() == routed(10, dynamic, product, y):traffic(), true)
  for _, n in ipairs { 1, 3, 16, 4 } do
    s:retile("tile", n)
    same(g, s, y)
  end
  t.ok(s:traffic() == g:traffic() and s:simulate().cycles == g:simulate().cycles)
end)

t.test("dynamic to static, one branch at a time", function()
  local y = f32[7][8](0)
  local g = routed(7, dynamic, product, y)
  local s = tide.schedule(g):retile("tile#1", 2)
  same(g, s, y)
  s:retile("tile#2", 5)
  same(g, s, y)
  t.ok(tostring(s):find "chunk = 2" and tostring(s):find "chunk = 5")
end)

t.test("the MoE layer as it is built by hand, with a row-wise node more or less", function()
  local c = { B = 12, D = 16, F = 32, E = 3, k = 1, tf = 8, N = 4, bw = 64 }
  local routing = {}
  for b = 1, c.B do routing[b] = { b * b % 3 } end
  local g = models.moe(c, routing)
  for _, n in ipairs { 2, 6, false } do
    c.N = n or nil
    local hand, s = models.moe(c, routing), tide.schedule(g):retile("tile", n or "dynamic")
    t.ok(s:traffic() == hand:traffic() and s:memory() == hand:memory())
    t.eq(s:simulate(models.settings.fig9).cycles, hand:simulate(models.settings.fig9).cycles)
    t.eq(tide.verify(hand, s), "strict")
  end
end)

local function refused(code, words, g, ...)
  local s = tide.schedule(g)
  local ok, err = pcall(s.retile, s, ...)
  t.ok(not ok and err.code == code and err.message:find(words, 1, true), tostring(err))
end

t.test("refused: what mixes the rows of a tile, twinned by what does not", function()
  local y = f32[6][8](0)
  local tall = tide.random(f32[2][8], 4)
  local function mixes(tile)
    local other = tile:load(tall, { tile = { 2, 8 } }):flatten(0, 1):flatten(0, 1)
    return tile:zip(other):map(fn.mul)
  end
  local function rowwise(tile)
    local other = tile:load(tall, { tile = { 1, 8 }, shape = { 1 } }):flatten(0, 1)
    return tile:zip(other):map(fn.mul)
  end
  refused("step-rows", "'mixes#1', between 'tile#1' and split_rows, combines the rows", routed(6, static(2), mixes, y),
    "tile", "dynamic")
  local g = routed(6, static(2), rowwise, y)
  same(g, tide.schedule(g):retile("tile", "dynamic"), y)
end)

t.test("refused: sums over rows, tiles that are kept, folds over tiles", function()
  local y = f32[6][8](0)
  refused("step-rows", "sums over the rows of a tile", routed(6, static(2), function(tile)
    local left = tile:load(tide.random(f32[2][2], 1), { tile = { 2, 2 } }):flatten(0, 1):flatten(0, 1)
    return left:zip(tile):map(fn.matmul)
  end, y), "tile", 3)
  local kept = step.graph(function()
    local x = step.load(f32[4][8], { tile = { 1, 8 } }):flatten(0, 1)
    local tile = static(2)(x):accum(fn.retile_row, { rank = 1 })
    return tile
  end)
  refused("step-rows", "is an output of the graph", kept, "tile", "dynamic")
  local folds = step.graph(function()
    local x = step.load(f32[4][8], { tile = { 1, 8 } }):flatten(0, 1)
    local tile = static(2)(x):accum(fn.retile_row, { rank = 1 })
    tile:promote():accum(fn.add, { rank = 1 }):flat_map(fn.split_rows):sink()
  end)
  refused("step-rows", "folds over several tiles", folds, "tile", "dynamic")
end)

t.test("refused: what packs no rows, no rows at all, an order of arrival that shows", function()
  local y = f32[6][8](0)
  local g = routed(6, static(2), product, y)
  refused("step-pack", "is no accum of fn.retile_row", g, "partition", 2)
  refused("step-option", "at least 1 row", g, "tile", 0)
  local c = { B = 4, D = 8, F = 8, E = 2, k = 2, tf = 8, N = 2, bw = 8 }
  local moe = models.moe(c, { { 0, 1 }, { 0, 1 }, { 1, 0 }, { 0, 1 } })
  refused("step-order", "in which elements arrive at 'reassemble'", moe, "tile", "dynamic")
  local s = tide.schedule(moe):retile("tile", "dynamic", { reassociate = true })
  t.eq(#s:steps()[1].notes, 1)
end)

t.test("refused: tiles that make the graph stop at its depths, twinned by deeper streams", function()
  local routing = { { 0, 1 } }
  for b = 2, 64 do routing[b] = { 0 } end
  local g = step.graph(function()
    local sel = step.selectors(routing, { n = 2 })
    local outs = {}
    for e, rows in ipairs(step.load(f32[64][8], { tile = { 1, 8 } }):flatten(0, 1):partition(sel)) do
      local tile = static(1)(rows):accum(fn.retile_row, { rank = 1 })
      outs[e] = tile:flat_map(fn.split_rows)
    end
    local y = step.reassemble(outs, sel, { order = "index" }):accum(fn.add, { rank = 1 })
    y:store(f32[64][8])
  end)
  local s = tide.schedule(g)
  local ok, err = pcall(s.retile, s, "tile", 4)
  t.ok(not ok and err.code == "step-deadlock" and #err.notes >= 4, tostring(err))
  s:depth("partition", 64):retile("tile", 4)
  t.eq(s:verify(), "strict")
end)

t.done()
