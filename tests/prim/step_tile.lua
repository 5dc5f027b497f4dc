-- tile of a product of a STeP graph: rows, columns, terms.
local tide, step = require "tide", require "tide.step"
local models = require "tide.step.models"
local t = require "tap"
local f32, fn = tide.f32, step.fn

-- y = x W in tiles of the rows of x and the columns of W.
local function graph(rows, inner, cols, across, also)
  local x, W = tide.random(f32[2 * rows][inner], 1), tide.random(f32[inner][cols * across], 2)
  return step.graph(function()
    local a = step.load(x, { tile = { rows, inner }, shape = { 2, across }, stride = { 1, 0 } })
    local b = step.load(W, { tile = { inner, cols }, shape = { 2, across }, stride = { 0, 1 } })
    if also then b:sink() end
    local product = a:zip(b):map(fn.matmul, { bw = 32 })
    return product
  end)
end

t.test("columns and rows are the same, bit for bit", function()
  for _, case in ipairs { { 4, 6, 8, 1 }, { 6, 4, 4, 3 } } do
    local g = graph(table.unpack(case))
    for _, o in ipairs { { n = 2 }, { m = 2 }, { n = 4 // case[4] }, { m = 1 } } do
      local s = tide.schedule(g):tile("product", o)
      t.eq(s:verify(), "strict")
      t.ok(s:run():equal((g:run())), tostring(s))
      t.eq(s:simulate().traffic, g:simulate().traffic)
    end
  end
end)

t.test("rows and columns at once: the same, bit for bit; the second is read for each part of the rows", function()
  for _, case in ipairs { { 4, 6, 8, 1 }, { 6, 4, 4, 3 }, { 8, 3, 2, 2 } } do
    local rows, inner, cols, across = table.unpack(case)
    local g = graph(rows, inner, cols, across)
    for _, o in ipairs { { m = 2, n = 2 // across > 0 and 2 // across or 1 }, { m = 1, n = 1 } } do
      if o.n == cols then o.n = 1 end
      local s = tide.schedule(g):tile("product", o)
      t.eq(s:verify(), "strict")
      t.ok(s:run():equal((g:run())), tostring(s))
      local again = (rows // o.m - 1) * 2 * across * inner * cols * 4
      t.eq(s:simulate().traffic, g:simulate().traffic + again)
      t.eq(s:simulate().flops, g:simulate().flops)
    end
  end
  local g = graph(4, 6, 8, 2)
  local s = tide.schedule(g):tile("product", { k = 3, m = 2, n = 4, reassociate = true })
  t.eq(s:verify(), "associative")
  t.ok(s:run():allclose((g:run()), { rtol = 1e-5, atol = 1e-5 }))
end)

t.test("terms come in another order: associative; with columns too", function()
  local g = graph(4, 6, 8, 2)
  for _, o in ipairs { { k = 2, reassociate = true }, { k = 3, n = 4, reassociate = true },
    { k = 2, m = 2, reassociate = true } } do
    local s = tide.schedule(g):tile("product", o)
    t.eq(s:verify(), "associative")
    t.ok(s:run():allclose((g:run()), { rtol = 1e-5, atol = 1e-5 }))
  end
end)

t.test("the products of an MoE layer, below their flatten", function()
  local c = { B = 6, D = 8, F = 16, E = 2, k = 1, tf = 8, N = 2, bw = 64 }
  local g = models.moe(c, { { 0 }, { 1 }, { 0 }, { 0 }, { 1 }, { 0 } })
  local s = tide.schedule(g):tile("a", { n = 4 })
  t.eq(s:verify(), "strict")
  t.ok(s:traffic() == g:traffic())
end)

t.test("an operand that others read is loaded for the product by itself", function()
  for _, o in ipairs { { n = 4 }, { m = 2 }, { m = 2, n = 2 }, { k = 3, reassociate = true } } do
    local g = graph(4, 6, 8, 2, true)
    local s = tide.schedule(g):tile("product", o)
    t.eq(s:verify(), o.k and "associative" or "strict")
    t.ok(s:run():allclose((g:run()), { rtol = 1e-5, atol = 1e-5 }))
    if o.n and not o.m then t.eq(s:simulate().traffic, g:simulate().traffic + 2 * 2 * 6 * 8 * 4) end
  end
  -- Two products of one stream of tiles: each cuts its own.
  local x, W, V = tide.random(f32[8][6], 1), tide.random(f32[6][4], 2), tide.random(f32[6][8], 3)
  local g = step.graph(function()
    local a = step.load(x, { tile = { 4, 6 } }):flatten(0, 1)
    local function with(T) return step.load(T, { shape = { 2 }, stride = { 0 } }) end
    local p = a:zip(with(W)):map(fn.matmul, { bw = 8 })
    local q = a:zip(with(V)):map(fn.matmul, { bw = 8 })
    return p, q
  end)
  for _, node in ipairs { "p", "q" } do
    local s = tide.schedule(g):tile(node, { m = 2 })
    t.eq(s:verify(), "strict")
    t.eq(s:simulate().traffic, g:simulate().traffic + 8 * 6 * 4)
    s:tile(node == "p" and "q" or "p", { m = 1 })
    t.eq(s:verify(), "strict")
    t.eq(s:simulate().traffic, g:simulate().traffic + 8 * 6 * 4, "the last reader has the load to itself")
  end
end)

t.test("refused: what is not loaded; both ways; no part; twinned above", function()
  local function refused(code, words, g, node, o)
    local s = tide.schedule(g)
    local ok, err = pcall(s.tile, s, node, o)
    t.ok(not ok and err.code == code and err.message:find(words, 1, true), tostring(err))
  end
  local g = graph(4, 6, 8, 1)
  refused("step-tile", "adds its products in another order", g, "product", { k = 3 })
  refused("step-option", "3 does not cut the 8", g, "product", { m = 2, n = 3 })
  refused("step-option", "3 does not cut the 4", g, "product", { m = 3, n = 2 })
  refused("step-option", "3 does not cut the 8", g, "product", { n = 3 })
  refused("step-option", "needs m, k or n", g, "product", { reassociate = true })
  refused("step-tile", "is no map of fn.matmul", g, "zip", { n = 4 })
  local made = step.graph(function()
    local a = step.load(f32[4][4], { tile = { 2, 4 }, shape = { 2 } }):map(fn.exp)
    local b = step.load(f32[4][4], { tile = { 4, 4 }, shape = { 2 }, stride = { 0 } })
    local product = a:zip(b):map(fn.matmul)
    return product
  end)
  refused("step-tile", "is no load", made, "product", { m = 1 })
  tide.schedule(made):tile("product", { n = 2 })
end)

t.done()
