-- Schedules of STeP graphs: versions, undo, log, diff, can, help and completion are those of every schedule.
local tide, step = require "tide", require "tide.step"
local t = require "tap"
local f32, fn = tide.f32, step.fn

local function graph(n)
  return step.graph(function()
    local x = step.load(f32[n][8], { tile = { 1, 8 } }):flatten(0, 1)
    local act = x:map(fn.silu, { bw = 4 })
    act:map(fn.exp):store(f32[n][8])
  end)
end

t.test("steps make versions, and undo takes them back", function()
  local g = graph(6)
  local s = tide.schedule(g)
  local before = tostring(s)
  t.eq(before, tostring(g))
  s:depth("act", 7):bw("act", 16)
  t.ok(tostring(s):find "bw = 16" and tostring(s):find "depth = 7")
  t.eq(#s:steps(), 2)
  t.eq(s:steps()[2].call, 'bw("act", 16)')
  t.ok(s:diff(0):find "depth = 7")
  t.eq(tostring(s:at(1)):find "bw = 16", nil)
  t.eq(tostring(s:undo(2)), before)
  t.eq(tostring(g), before, "the graph itself stays")
end)

t.test("the log rebuilds the schedule from the graph", function()
  local g = graph(4)
  local s = tide.schedule(g):depth("act", 3):ports("load", 2)
  t.eq(tostring(load(s:log())(g)), tostring(s))
end)

t.test("a schedule runs, and gives its graph", function()
  local s = tide.schedule(graph(16))
  local slow = s:simulate().cycles
  s:bw("act", 64)
  t.ok(s:simulate().cycles < slow)
  t.eq(s:graph():simulate().cycles, s:simulate().cycles)
  t.ok(s:graph():traffic() == s:traffic())
end)

t.test("can answers what the method raises, and changes nothing", function()
  local s = tide.schedule(graph(4))
  local before = tostring(s)
  for _, case in ipairs { { "bw", "load", 3 }, { "depth", "act", 0 }, { "ports", "act", 2 }, { "bw", "actt", 3 } } do
    local ok, why = s:can(table.unpack(case))
    t.eq(ok, nil, case[1])
    local done, raised = pcall(s[case[1]], s, table.unpack(case, 2))
    t.ok(not done and raised.code == why.code and raised.message == why.message, case[1])
  end
  t.eq(s:can("bw", "act", 3), true)
  t.eq(s:can("split", "act", 3), nil)
  t.eq(tostring(s), before)
end)

t.test("every primitive on graphs is in the registry, with its arguments", function()
  local names = {}
  for _, p in ipairs(tide.registry().graph_primitives) do
    names[p.name] = p
    t.ok(#p.args > 0 and #p.legal > 0 and #p.example > 0, p.name)
  end
  t.ok(names.depth and names.bw and names.ports)
  t.eq(names.depth.args[1].kind, "family")
end)

t.test("settings: runs after a step are at the depths and memory of the schedule, and its own runs", function()
  -- The step is refused where a depth of 1 stops the graph: a fork that joins behind a fold.
  local function made()
    return step.graph(function()
      local x = step.load(f32[4][8], { tile = { 1, 8 }, shape = { 1, 4 } })
      local sum = x:accum(fn.add, { rank = 1 })
      sum:promote { at = 0 }:expand(x, { rank = 1 }):zip(x):map(fn.mul):sink()
    end)
  end
  local deep, shallow = tide.schedule(made(), { depth = 8 }), tide.schedule(made(), { depth = 1 })
  t.ok(deep:bw("map", 4):simulate().cycles > 0)
  t.ok(not pcall(shallow.simulate, shallow), "it stops at a depth of 1")
  t.ok(shallow:simulate({ depth = 8 }).cycles > 0)
  local s = tide.schedule(made(), { depth = 8 })
  t.fails(function() s:depth("x", 1) end, { code = "step-deadlock" })
  s:depth("x", 6)
  -- Memory: a run says what the schedule's settings say.
  local slow = tide.schedule(made(), { depth = 8, memory = { model = "queue", latency = 90 } })
  t.ok(slow:simulate().cycles > deep:simulate().cycles + 100)
  t.eq(slow:fork():simulate().cycles, slow:simulate().cycles)
  t.fails(function() tide.schedule(made(), { depht = 8 }) end, { code = "unknown-option" })
  local asked = 0
  local own = { request = function(_, r) asked = asked + 1 return r.cycle + 3 end }
  tide.schedule(made(), { depth = 8, memory = own }):bw("map", 4)
  t.ok(asked > 0, "steps ask it")
end)

t.done()
