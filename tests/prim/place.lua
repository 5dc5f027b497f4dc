-- place: the tile of an instance; an instance of several becomes a task of its own.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i32, task = tide.i32, tide.task

-- A producer and two consumers.
local function fan_out()
  return tide.design(function(d)
    local Z = d:stream(i32, {2})
    d.send = task {A = i32[2], function(A)
      Z[0]:put(A[0])
      Z[1]:put(A[1])
    end}
    d.take = task {map = {2}, B = i32[2], function(B, p) B[p] = Z[p]:get() * 2 end}
  end), {i32[2], i32[2]}
end

prim.accepted("a task", {of = fan_out, step = {"place", "send", {2, 1}}, has = {"--@ place(2, 1)"}})
prim.accepted("an instance", {
  of = fan_out, step = {"place", "take[1]", {0, 3}}, has = {"d.take_1 = ", "--@ place(0, 3)"},
}, function(s, name) t.eq({name, s:tasks()}, {"take_1", {"send", "take[0]", "take_1"}}) end)
prim.accepted("another place for the same task", {
  of = fan_out, before = function(s) s:place("send", {2, 1}) end, step = {"place", "send", {1, 1}},
  has = {"--@ place(1, 1)"},
})
prim.twins("a place that is taken", {
  no = 1, yes = 2, code = "taken", match = "'send' is at column 0, row 2",
  of = function(column)
    local design, types = fan_out()
    local s = tide.schedule(design):place("send", {column - 1, 2})
    return load(tostring(s))(), types
  end,
  step = {"place", "take[0]", {0, 2}},
})
prim.accepted("all instances of a task, at steps", {
  of = fan_out, step = {"place", "take", {1, 2}, {by = {{0, 1}}}}, has = {"--@ place(1, 2, 0, 1)"},
}, function(s, name)
  t.eq({name, s:tasks()}, {"take", {"send", "take[0]", "take[1]"}})
  t.has(s:log(), 's:place("take", {1, 2}, {by = {{0, 1}}})')
end)
prim.twins("instances on each other", {
  no = {{0, 0}}, yes = {{1, 0}}, code = "taken", match = "'take' is at column 0, row 2",
  of = function() return fan_out() end,
  step = {"place", "take", {0, 2}, {by = {{0, 0}}}}, yes_step = {"place", "take", {0, 2}, {by = {{1, 0}}}},
})
prim.accepted("several in the row of the memories", {
  of = fan_out, step = {"place", "take", {0, 1}, {by = {{0, 0}}}},
})
prim.refused("steps of other than the map's axes", {
  of = fan_out, step = {"place", "take", {0, 2}, {by = {{1, 0}, {0, 1}}}}, kind = "usage", code = "place",
})
prim.refused("an instance beyond the array", {
  of = fan_out, step = {"place", "take", {0, 2}, {by = {{-1, 0}}}}, kind = "usage", code = "place",
})
prim.refused("several instances", {
  of = fan_out, step = {"place", "take", {0, 0}}, kind = "usage", code = "instance",
})
prim.refused("no place", {of = fan_out, step = {"place", "send", {0}}, kind = "usage", code = "place"})

t.done()
