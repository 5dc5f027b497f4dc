-- Metrics that a user adds, operational intensity, operations on whole tiles and on what is valid: expressions equal to
-- what runs measure.
local tide, step = require "tide", require "tide.step"
local t = require "tap"
local f32, fn = tide.f32, step.fn

-- n rows to E branches in tiles of N.
local function layer(n, E, N, D, F, seed)
  math.randomseed(seed)
  local list, x, w = {}, tide.random(f32[n][D], 1), tide.random(f32[D][F], 2)
  for r = 1, n do list[r] = { math.random(0, E - 1) } end
  return step.graph(function()
    local sel, outs = step.selectors(list, { n = E }), {}
    for e, b in ipairs(step.load(x, { tile = { 1, D } }):flatten(0, 1):partition(sel)) do
      local tile = b:reshape { chunk = N, pad = f32[1][D](0) }:accum(fn.retile_row, { rank = 1 })
      outs[e] = tile:zip(tile:load(w, { tile = { D, F } }):flatten(0, 2)):map(fn.matmul, { bw = 8 }):map(fn.silu)
        :flat_map(fn.split_rows)
    end
    step.reassemble(outs, sel):store(f32[n][F](0))
  end)
end

t.test("operations on whole tiles and on valid rows, intensity", function()
  for seed = 1, 20 do
    math.randomseed(seed)
    local n, E, N, D, F = math.random(1, 12), math.random(1, 4), math.random(1, 5), math.random(1, 6), math.random(1, 6)
    local g = layer(n, E, N, D, F, seed)
    local r = select(-1, g:run())
    t.eq(g:flops():at(r.symbols), r.flops)
    t.eq(g:traffic():at(r.symbols), r.traffic)
    t.eq(r.useful, n * (2 * D * F + 8 * F))
    t.ok(r.useful <= r.flops)
    t.eq(g:intensity():at(r.symbols), r.flops / r.traffic)
    t.eq(g:simulate().useful, r.useful)
  end
  t.ok(tostring(layer(4, 2, 2, 2, 2, 1):intensity()):find(") / (", 1, true))
end)

t.test("a metric without symbols is a number, which has `at` too", function()
  for _, o in ipairs { { 4, 6, 2 }, { 3, 5, 1 } } do
    local rows, cols, part = table.unpack(o)
    local g = step.graph(function() return step.load(f32[rows][cols], { tile = { part, cols } }):map(fn.exp) end)
    for _, symbols in ipairs { {}, g:simulate().symbols, { D0 = 3 } } do
      t.eq(g:traffic():at(symbols), rows * cols * 4)
      t.eq(g:memory():at(symbols), g:memory())
    end
    t.eq(g:intensity():at {}, 1.0)
  end
  t.eq((2.5):at {}, 2.5)
  local n = 7
  for words, f in pairs {
    ["at takes a table of values by name, {D0 = 4}, not an integer"] = function() return n:at(3) end,
    ["attempt to index a number value (with 'to')"] = function() return n:to {} end,
    ["at takes a table of values by name"] = function() return layer(4, 2, 2, 2, 2, 1):intensity():at() end,
  } do
    local ok, err = pcall(f)
    t.ok(not ok and tostring(err):find(words, 1, true), tostring(err))
  end
end)

t.test("a metric is a sum over nodes", function()
  step.metric("moves", { load = function(n) return n.traffic end, store = function(n) return n.traffic end })
  step.metric("maps", { map = function() return 1 end })
  local g = layer(9, 3, 2, 4, 4, 2)
  t.ok(g:metric "moves" == g:traffic())
  t.eq(g:metric "maps", 6)
  t.ok(tide.schedule(g):metric "moves" == g:traffic())
end)

t.test("refused: no such metric, no such operator, no function", function()
  local g = layer(2, 1, 1, 1, 1, 1)
  local ok, err = pcall(g.metric, g, "heat")
  t.ok(not ok and tostring(err):find("there is no metric 'heat'", 1, true), tostring(err))
  ok, err = pcall(step.metric, "heat", { warm = print })
  t.ok(not ok and tostring(err):find("no operator 'warm'", 1, true), tostring(err))
  ok, err = pcall(step.metric, "heat", { map = 3 })
  t.ok(not ok and tostring(err):find("is a function", 1, true), tostring(err))
  step.metric("heat", { map = function(n) return n.flops end })
  t.ok(g:metric "heat" == g:flops())
end)

t.done()
