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

t.done()
