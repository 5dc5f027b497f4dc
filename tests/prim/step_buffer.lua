-- buffer: tiles that a load of a STeP graph reads again and again are read once.
local tide, step = require "tide", require "tide.step"
local models = require "tide.step.models"
local t = require "tap"
local f32, fn = tide.f32, step.fn

-- A load of a 4 x 6 tensor in 2 x 2 tiles.
local function graph(shape, stride, ref)
  return step.graph(function()
    local o = { tile = { 2, 2 }, shape = shape, stride = stride, name = "x" }
    local T = tide.random(f32[4][6], 3)
    local r = ref and step.values(tide.i32[ref](0))
    local x = r and r:load(T, o) or step.load(T, o)
    return x:map(fn.exp)
  end)
end

t.test("the outermost, an inner, the innermost dimension; with a reference", function()
  for _, case in ipairs { { { 3, 2 }, { 0, 1 } }, { { 2, 3, 2 }, { 3, 0, 1 } }, { { 2, 3 }, { 3, 0 } },
    { { 5 }, { 0 } }, { { 3, 2 }, { 0, 1 }, 4 }, { { 2, 3 }, { 1, 0 }, 2 } } do
    local g = graph(case[1], case[2], case[3])
    local s = tide.schedule(g):buffer("x")
    t.eq(s:verify(), "strict")
    t.ok(s:run { lists = false }:equal((g:run())), tostring(s))
    local again = 1
    for k, stride in ipairs(case[2]) do if stride == 0 then again = case[1][k] end end
    t.eq(s:simulate().traffic * again, g:simulate().traffic)
  end
end)

t.test("SwiGLU reads its input once for all columns", function()
  local c = { B = 8, D = 8, F = 16, tm = 4, tn = 4, bw = 64 }
  local g = models.swiglu(c)
  local s = tide.schedule(g):buffer("x")
  t.eq(s:verify(), "strict")
  t.eq(g:simulate().traffic - s:simulate().traffic, 3 * 8 * 8 * 4)
end)

t.test("refused: no stride of 0, twinned; what is no load", function()
  local function refused(words, g, node)
    local s = tide.schedule(g)
    local ok, err = pcall(s.buffer, s, node)
    t.ok(not ok and err.code == "step-buffer" and err.message:find(words, 1, true), tostring(err))
  end
  refused("reads no tile again", graph({ 2, 3 }, { 3, 1 }), "x")
  refused("is no load", graph({ 2, 3 }, { 3, 0 }), "map")
  tide.schedule(graph({ 2, 3 }, { 3, 0 })):buffer("x")
end)

t.done()
