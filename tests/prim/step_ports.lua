-- ports of loads and stores of a STeP graph.
local tide, step = require "tide", require "tide.step"
local t = require "tap"
local f32, fn = tide.f32, step.fn

local function graph()
  return step.graph(function()
    local x = step.load(f32[4][256], { tile = { 1, 256 } }):flatten(0, 1)
    x:map(fn.silu):store(f32[4][256])
  end)
end

t.test("more ports, fewer cycles, the same bytes", function()
  local s = tide.schedule(graph())
  local one = s:simulate()
  s:ports("load", 4)
  local some = s:simulate()
  s:ports("store", 4)
  local all = s:simulate()
  t.ok(all.cycles < some.cycles and some.cycles < one.cycles)
  t.eq(all.traffic, one.traffic)
  t.eq(all.moved, one.moved)
end)

t.test("refused: what asks the memory for nothing, no port", function()
  local s = tide.schedule(graph())
  for _, case in ipairs { { "map", 2 }, { "load", 0 } } do
    local ok, err = pcall(s.ports, s, case[1], case[2])
    t.ok(not ok and err.code == "step-option", tostring(err))
  end
  s:ports("load", 1)
end)

t.done()
