-- fuse of a map and a sum of a STeP graph.
local tide, step = require "tide", require "tide.step"
local t = require "tap"
local f32, fn = tide.f32, step.fn

local function graph(rows, fold, also)
  return step.graph(function()
    local x = step.load(tide.random(f32[rows][12], 1), { tile = { rows, 4 } })
    local w = step.load(tide.random(f32[12][4], 2), { tile = { 4, 4 }, shape = { 1, 3 } })
    local product = x:zip(w):map(fn.matmul, { bw = 16 })
    if also then product:sink() end
    local sum = product:accum(fold or fn.add, { rank = 1 })
    return sum
  end)
end

t.test("a product and its sum are one node", function()
  for _, rows in ipairs { 2, 5 } do
    local g = graph(rows)
    local s = tide.schedule(g):fuse("product", "sum")
    t.ok(tostring(s):find "step%.map_accum%(zip, fn%.matmul, { rank = 1, bw = 16 }%)", tostring(s))
    t.eq(s:verify(), "strict")
    t.ok(s:run():equal((g:run())))
    t.eq(s:flops() == g:flops(), false, "the sum counts no FLOPs")
  end
end)

t.test("refused: others read the map, a fold that is no sum, nodes that are no pair", function()
  local function refused(words, g, ...)
    local s = tide.schedule(g)
    local ok, err = pcall(s.fuse, s, ...)
    t.ok(not ok and err.code == "step-fuse" and err.message:find(words, 1, true), tostring(err))
  end
  refused("is read by others", graph(2, nil, true), "product", "sum")
  refused("are no map and accum of fn.add", graph(2, fn.retile_col), "product", "sum")
  refused("are no map and accum", graph(2), "sum", "product")
end)

t.done()
