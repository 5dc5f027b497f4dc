-- search: a design that fits is mapped by steps of its own log; what fits nowhere is refused. How
-- good the mappings are is tests/lang/design/search.lua.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i32, task, grid = tide.i32, tide.task, tide.grid

-- Four pairs of tasks.
local function pairs_of()
  return tide.design(function(d)
    local Z = d:stream(i32, {4})
    d.send = task {map = {4}, A = i32[8]:layout "S0", function(A, p)
      for n in grid(2) do Z[p]:put(A[n]) end
    end}
    d.take = task {map = {4}, B = i32[8]:layout "S0", function(B, p)
      for n in grid(2) do B[n] = Z[p]:get() end
    end}
  end), {i32[8], i32[8]}
end

prim.accepted("pairs of tasks on two PEs", {
  of = pairs_of, step = {"search", {pes = 2}},
}, function(s)
  t.eq(s:graph().nodes, 2)
  t.has(s:log(), 's:chain("send", "take")\ns:bundle("send", {axis = 0, factor = 2})')
end)
prim.accepted("with room in its ports", {
  of = pairs_of, step = {"search", {pes = 8, ports = {inputs = 2, outputs = 1}}},
}, function(s)
  t.ok(s:graph().ports <= 3)
  t.eq(s:steps()[1].call, "search({pes = 8, ports = {inputs = 2, outputs = 1}})")
end)
prim.twins("ports that no mapping keeps to", {
  no = 0, yes = 1, code = "infeasible", match = "keeps to the ports",
  step = {"search", {pes = 1, ports = {inputs = 1}}},
  of = function(reads)
    return tide.design(function(d)
      d.one = task {map = {2}, A = i32[2]:layout "S0", B = i32[2]:layout "S0", function(A, B)
        if reads > 0 then A[0] = 7 else A[0] = A[0] + B[0] end
        B[0] = B[0] + 1
      end}
    end), {i32[2], i32[2]}
  end,
})
prim.refused("no number of PEs", {of = pairs_of, step = {"search", {}}, kind = "usage", code = "pes"})
prim.refused("a kernel", {
  of = function() return tide.kernel {A = i32[2], function(A) A[0] = 1 end}, {i32[2]} end,
  step = {"search", {pes = 1}}, kind = "usage", code = "not-a-design",
})
prim.accepted("a device in place of a number of PEs", {
  of = pairs_of, step = {"search", {device = "u280"}},
}, function(s) t.eq(s:steps()[1].call, 'search({device = "u280"})') end)
for option, bad in pairs {steps = 0, seconds = -1} do
  prim.refused(option .. " that are none", {of = pairs_of, step = {"search", {pes = 2, [option] = bad}},
    kind = "usage", code = option})
  prim.accepted(option .. " that are some", {of = pairs_of, step = {"search", {pes = 2, [option] = 50}}})
end
t.test("a device that there is not", function()
  local s = tide.schedule((pairs_of()))
  local e = t.fails(function() s:search {pes = 2, device = "u208"} end, {kind = "usage", code = "option"})
  t.has(e.message, "did you mean 'u280'?")
end)
t.test("a port that there is not", function()
  local s = tide.schedule((pairs_of()))
  t.fails(function() s:search {pes = 2, ports = {input = 1}} end, {kind = "usage", code = "option"})
end)

t.done()
