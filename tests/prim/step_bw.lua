-- bw of functions of a STeP graph.
local tide, step = require "tide", require "tide.step"
local t = require "tap"
local f32, fn = tide.f32, step.fn

local function graph()
  return step.graph(function()
    local x = step.load(f32[4][16], { tile = { 1, 16 } }):flatten(0, 1)
    local act = x:map(fn.silu, { bw = 2 })
    local sum = act:promote():accum(fn.add, { rank = 1 })
    sum:sink()
  end)
end

t.test("a faster function takes as many cycles fewer", function()
  local s = tide.schedule(graph())
  t.eq(s:simulate().tasks.act.busy, 4 * 64)
  s:bw("act", 128)
  t.eq(s:simulate().tasks.act.busy, 4)
  t.eq(s:simulate().allocated, 128)
end)

t.test("a fold that had none gets one", function()
  local s = tide.schedule(graph()):bw("sum", 1)
  t.eq(s:simulate().tasks.sum.busy, 64)
end)

t.test("refused: an operator without a function, none at all, a missing name", function()
  local s = tide.schedule(graph())
  for _, case in ipairs { { "load", 3, "step-option" }, { "act", 0, "step-option" }, { "act#7", 1, "step-name" } } do
    local ok, err = pcall(s.bw, s, case[1], case[2])
    t.ok(not ok and err.code == case[3], tostring(err))
  end
  s:bw("act#1", 1)
end)

t.done()
