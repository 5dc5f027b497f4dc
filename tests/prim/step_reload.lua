-- reload: what a STeP graph keeps in a buffer is read each time.
local tide, step = require "tide", require "tide.step"
local t = require "tap"
local f32, fn = tide.f32, step.fn

local T = tide.random(f32[4][6], 3)

t.test("the inverse of buffer", function()
  for _, case in ipairs { { { 3, 2 }, { 0, 1 } }, { { 2, 3, 2 }, { 3, 0, 1 } } } do
    local g = step.graph(function()
      local x = step.load(T, { tile = { 2, 2 }, shape = case[1], stride = case[2] })
      return x:map(fn.exp)
    end)
    local s = tide.schedule(g):buffer("x"):reload("x")
    t.eq(s:verify(), "strict")
    t.ok(s:traffic() == g:traffic() and s:memory() == g:memory())
    t.eq(s:simulate().cycles, g:simulate().cycles)
  end
end)

t.test("a buffer that was written by hand", function()
  local g = step.graph(function()
    local kept = step.load(T, { tile = { 2, 2 } }):bufferize { rank = 1 }
    local x = kept:streamify { times = { 4 } }
    return x
  end)
  local s = tide.schedule(g):reload("x")
  t.ok(s:run():equal((g:run())))
  t.eq(s:simulate().traffic, 4 * g:simulate().traffic)
  t.eq(s:verify(), "strict")
end)

t.test("refused: what lies in the buffer was computed; by a stream; no streamify", function()
  local function refused(words, node, f)
    local s = tide.schedule(step.graph(f))
    local ok, err = pcall(s.reload, s, node)
    t.ok(not ok and err.code == "step-buffer" and err.message:find(words, 1, true), tostring(err))
  end
  refused("is no load", "x", function()
    local x = step.load(T, { tile = { 2, 2 } }):map(fn.exp):bufferize { rank = 1 }:streamify { times = { 2 } }
    return x
  end)
  refused("is no streamify", "x", function()
    local x = step.load(T, { tile = { 2, 2 } }):bufferize { rank = 1 }
    local y = x:streamify { times = { 2 } }
    return y
  end)
  refused("a number of times", "x", function()
    local ref = step.values(tide.i32[2][3](0))
    local x = step.load(T, { tile = { 2, 2 } }):bufferize { rank = 1 }:streamify { ref = ref }
    return x
  end)
end)

t.done()
