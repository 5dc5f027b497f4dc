-- depth of streams of a STeP graph.
local tide, step = require "tide", require "tide.step"
local t = require "tap"
local f32, fn = tide.f32, step.fn

local function rows(n) return step.load(f32[n][8], { tile = { 1, 8 } }):flatten(0, 1) end

t.test("a deeper stream lets a producer run ahead", function()
  local g = step.graph(function()
    local x = rows(32)
    local a = x:map(fn.silu, { bw = 1 })
    local b = x:map(fn.exp, { bw = 64 })
    b:sink()
    a:sink()
  end)
  local s = tide.schedule(g):depth("b", 9)
  t.ok(tostring(s):find("step%.map%(rows, fn%.exp, { bw = 64, depth = 9 }%)"), tostring(s))
  t.eq(s:simulate().traffic, g:simulate().traffic)
end)

t.test("a family at once, or one of it", function()
  local g = step.graph(function()
    for _ = 1, 3 do
      local act = rows(2):map(fn.silu)
      act:sink()
    end
  end)
  local s = tide.schedule(g):depth("act", 4):depth("act#2", 6)
  local text, n = tostring(s), 0
  for d in text:gmatch "fn%.silu, { depth = (%d)" do
    n = n + 1
    t.eq(d, n == 2 and "6" or "4")
  end
  t.eq(n, 3)
end)

t.test("refused: no places, a node that gives no stream, an unknown name", function()
  local s = tide.schedule(step.graph(function() rows(2):map(fn.silu):sink() end))
  local function refused(code, ...)
    local ok, err = pcall(s.depth, s, ...)
    t.ok(not ok and err.code == code, tostring(err))
  end
  refused("step-option", "map", 0)
  refused("step-option", "sink", 2)
  refused("step-name", "mapp", 2)
  s:depth("map", 1)
end)

t.done()
