-- The printed form of graphs: families are loops, tensors the chunk's arguments; it loads back to the same nodes,
-- names, values and cycles. Drawings fold families.
local tide, step = require "tide", require "tide.step"
local models = require "tide.step.models"
local t = require "tap"
local f32, fn = tide.f32, step.fn

local function lines_of(text) return select(2, text:gsub("\n", "")) end

-- A graph and what its text loads to: as many nodes of the same names, the same text, metrics, cycles.
local function comes_back(g, cycles)
  local h = assert(load(tostring(g)))(g:constants())
  t.eq(h.nodes, g.nodes)
  t.eq(tostring(h), tostring(g))
  t.ok(h:traffic() == g:traffic() and h:memory() == g:memory(), "metrics")
  if cycles then t.eq(h:simulate({ depth = 64 }).cycles, g:simulate({ depth = 64 }).cycles) end
  return h
end

local function routing_of(B, E, k)
  local list = {}
  for b = 1, B do
    list[b] = {}
    for s = 1, k do list[b][s] = (b * 5 + s * 3) % E end
  end
  return list
end

t.test("Qwen's layer of 128 experts prints in 80 lines", function()
  local c = { B = 64, D = 2048, F = 768, E = 128, k = 8, tf = 64, N = 16, bw = 4096 }
  local g = models.moe(c, routing_of(c.B, c.E, c.k))
  t.ok(#g.nodes > 2000, #g.nodes)
  t.ok(lines_of(tostring(g)) <= 80, lines_of(tostring(g)))
  comes_back(g)
end)

t.test("loops in loops, feedback, other sizes", function()
  for _, c in ipairs { { B = 12, D = 16, F = 32, E = 8, k = 2, tf = 16, N = 4, P = 2, bw = 64 },
    { B = 12, D = 16, F = 32, E = 6, k = 1, tf = 8, bw = 64 } } do
    local g = models.moe(c, routing_of(c.B, c.E, c.k))
    t.ok(lines_of(tostring(g)) <= 80 and tostring(g):find "for i = 1, ")
    comes_back(g, true)
  end
  for _, by in ipairs { "block", "turn", "free" } do
    local c = { H = 2, D = 8, R = 4, P = 3, by = by, block = 2, bw = 64 }
    comes_back(models.attention(c, { 5, 9, 1, 14, 3, 8, 2 }), true)
  end
end)

t.test("after steps", function()
  local c = { B = 12, D = 16, F = 32, E = 4, k = 2, tf = 16, N = 4, bw = 64 }
  local s = tide.schedule(models.moe(c, routing_of(c.B, c.E, c.k)))
  s:retile("tile", "dynamic", { reassociate = true }):multiplex("tile", "done", 2, { reassociate = true })
  comes_back(s:graph(), true)
  t.ok(lines_of(tostring(s:graph())) < 70, lines_of(tostring(s:graph())))
end)

-- E branches, of which branch e scales by tensor e; names = names of the nodes, order = order of the readers.
local function scaled(c)
  local x = tide.random(f32[c.n][4], 1)
  local list, outs = {}, {}
  for r = 1, c.n do list[r] = { (r * 3) % c.E } end
  return step.graph(function()
    local sel = step.selectors(list, { n = c.E })
    for e, b in ipairs(step.load(x, { tile = { 1, 4 } }):flatten(0, 1):partition(sel)) do
      local groups = b:reshape { chunk = 2, pad = tide.tensor(f32[1][4], { { 1, 2, 3, 4 } }), name = c.name }
      local packed = groups:accum(fn.retile_row, { rank = 1 })
      local w = packed:load(c.w[e], { tile = { 4, 4 } }):flatten(0, 2)
      outs[e] = packed:zip(w):map(fn.matmul, { bw = 16, name = c.name }):flat_map(fn.split_rows)
    end
    local read = {}
    for i, e in ipairs(c.order) do read[i] = outs[e]:map(fn.silu) end
    local back = {}
    for i, e in ipairs(c.order) do back[e] = read[i] end
    return step.reassemble(back, sel, { order = "index" })
  end)
end

t.test("tensors are the chunk's arguments, fills that are no zeros too", function()
  local w = {}
  for e = 1, 5 do w[e] = tide.random(f32[4][4], 10 + e) end
  local g = scaled { n = 9, E = 5, w = w, order = { 1, 2, 3, 4, 5 } }
  t.ok(tostring(g):find("data[2 * i + 1]", 1, true), tostring(g))
  local h = comes_back(g, true)
  local a, b = g:run { lists = true }, h:run { lists = true }
  for r = 1, 9 do t.ok(a[r][1]:allclose(b[r][1]), r) end
  local bare = load(tostring(g))()
  t.eq(tostring(bare):gsub("data%b[] or ", ""), tostring(g):gsub("data%b[] or ", ""):gsub("local data[^\n]*\n", ""))
  local ok, err = pcall(bare.run, bare)
  t.ok(not ok and err.code == "step-data", tostring(err))
end)

t.test("readers in another order, names that are words of Lua", function()
  local w = {}
  for e = 1, 6 do w[e] = tide.random(f32[4][4], 10 + e) end
  for _, name in ipairs { "end", "f32", "two words", "table", "i", "" } do
    local g = scaled { n = 9, E = 6, w = w, order = { 4, 1, 6, 3, 2, 5 }, name = name }
    t.ok(tostring(g):find("({ 4, 1, 6, 3, 2, 5 })[i]", 1, true), tostring(g))
    comes_back(g, true)
  end
end)

t.test("what passes from node to node of a name is no loop", function()
  local g = step.graph(function()
    local x = step.load(f32[4][8], { tile = { 1, 8 } })
    for _ = 1, 12 do x = x:map(fn.silu) end
    return x
  end)
  t.ok(not tostring(g):find "for ")
  comes_back(g, true)
end)

t.test("drawings and pages have a box for each family", function()
  local c = { B = 12, D = 16, F = 32, E = 8, k = 2, tf = 16, N = 4, bw = 64 }
  local g = models.moe(c, routing_of(c.B, c.E, c.k))
  local boxes = select(2, g:dot():gsub("\n  n?%d+ %[", ""))
  t.ok(g:dot():find("tile: accum fn.retile_row x 8", 1, true), g:dot())
  t.ok(boxes < 40, boxes)
  t.ok(g:svg():find "^<svg" and g:html():find "<!DOCTYPE html>")
  t.ok(tide.schedule(g):html():find("retile_row", 1, true))
end)

t.done()
