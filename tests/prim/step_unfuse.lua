-- unfuse of a map_accum of a STeP graph.
local tide, step = require "tide", require "tide.step"
local t = require "tap"
local f32, fn = tide.f32, step.fn

local function graph(rows)
  return step.graph(function()
    local x = step.load(tide.random(f32[rows][12], 1), { tile = { rows, 4 } })
    local w = step.load(tide.random(f32[12][4], 2), { tile = { 4, 4 }, shape = { 1, 3 } })
    local sum = x:zip(w):map_accum(fn.matmul, { rank = 1, bw = 16, write_back = true })
    return sum
  end)
end

t.test("there and back", function()
  for _, rows in ipairs { 3, 4 } do
    local g = graph(rows)
    local s = tide.schedule(g):unfuse("sum")
    t.eq(s:verify(), "strict")
    t.ok(s:run():equal((g:run())))
    s:fuse("sum_map", "sum")
    t.eq(s:simulate().cycles, g:simulate().cycles)
    t.ok(s:flops() == g:flops())
  end
end)

t.test("refused: what is no map_accum", function()
  local s = tide.schedule(graph(2))
  local ok, err = pcall(s.unfuse, s, "zip")
  t.ok(not ok and err.code == "step-fuse", tostring(err))
  s:unfuse("sum")
  ok, err = pcall(s.unfuse, s, "sum")
  t.ok(not ok and err.code == "step-fuse", tostring(err))
end)

t.done()
