-- compose.lua - compose: schedules made apart are replayed where their kernels are called.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i32, f32, grid = tide.i32, tide.f32, tide.grid

-- Two kernels and one that calls both.
local first = tide.kernel {A = f32[4][6], x = f32[6], u = f32[4], function(A, x, u)
  for i, j in grid(4, 6, "S") do u[i] = u[i] + A[i][j] * x[j] end
end}
local second = tide.kernel {A = f32[4][6], u = f32[4], y = f32[6], function(A, u, y)
  for i, j in grid(4, 6, "S") do y[j] = y[j] + A[i][j] * u[i] end
end}
local function both()
  local one, two = first, second
  return tide.kernel {name = "both", A = f32[4][6], x = f32[6], y = f32[6], function(A, x, y)
    local u = f32[4](0)
    one(A, x, u)
    two(A, u, y)
  end}, {f32[4][6], f32[6], f32[6]}
end

-- Both calls are of one kernel, each its own.
local function twins()
  local scale = tide.kernel {a = i32[6], b = i32[6], function(a, b)
    for i = 0, 5 do b[i] = a[i] * 3 end
  end}
  local left, right = scale:as "left", scale:as "right"
  return tide.kernel {name = "twins", x = i32[6], y = i32[6], function(x, y)
    local m = i32[6]()
    left(x, m)
    right(m, y)
  end}, {i32[6], i32[6]}, scale
end

local function sub(k, steps) return (steps(tide.schedule(k))) end
local scale = select(3, twins())

prim.accepted("loops get the kernel's name in front", {
  of = both, has = {"--@ band(S) pipeline(1)"},
  step = {"compose", sub(first, function(s) return s:reorder("j", "i"):pipeline("i") end)},
})
prim.accepted("names that the schedule made", {
  of = both, step = {"compose", sub(second, function(s)
    local _, outer, inner = s:split("j", 2)
    return s:unroll(inner):pipeline(outer)
  end)}, has = {"for j_o = 0", "pipeline(1)"},
}, function(s, outer, inner)
  t.eq({outer, inner}, {"j_o", "j_i"})
  t.has(s:log(), 's:split("second:j", 2)')
end)
prim.accepted("one instance of two", {
  of = twins, has = {"for i_o"},
  step = {"compose", sub(scale, function(s) return s:split("i", 3) end), {id = "right"}},
})
local inner = tide.kernel {A = i32[4], name = "inner", function(A)
  for i = 0, 3 do A[i] = A[i] * 2 end
end}
local around = tide.kernel({A = i32[4], name = "around", function(A)
  for i = 0, 3 do A[i] = A[i] + 1 end
  inner(A)
end}):as "inner"
for name, options in pairs {["called as"] = {}, ["named by id as"] = {id = "inner"}} do
  prim.accepted(("an instance that is %s what it calls"):format(name), {
    of = function() return tide.kernel {A = i32[4], name = "top", function(A) around(A) end}, {i32[4]} end,
    step = {"compose", sub(around, function(s) return s:pipeline("inner:i") end), options},
    has = {"for i = 0, 3 do --@ pipeline(1)\n      A[i] = A[i] * 2"},
  })
end
prim.accepted("buffers and partitions: arrays get the name too", {
  of = both, step = {"compose", sub(second, function(s)
    return s:buffer_at("A", "j"):partition("u", 0)
  end)}, has = {"u = f32[4], --@ partition(0, complete, 0)"},
})
prim.accepted("an unfolded kernel", {
  of = twins, step = {"compose", sub(scale, function(s)
    s:unfold("i")
    return s
  end), {id = "left"}}, has = {"left = tide.design(function(d)"},
})
prim.accepted("an empty schedule but for one attribute", {
  of = both, step = {"compose", sub(first, function(s) return s:unroll("j", 2) end)},
})

t.test("the log rebuilds it without the other schedule", function()
  local k = both()
  local s = tide.schedule(k):compose(sub(first, function(x) return x:reorder("j", "i") end))
  s:compose(sub(second, function(x) return x:split("i", 2):pipeline("i_i") end))
  local again = load(s:log())(k)
  t.eq(tostring(again), tostring(s))
  t.eq(#s:steps(), 2)
  s:undo(1)
  t.ok(not tostring(s):find("i_i", 1, true))
end)
t.test("a schedule of schedules", function()
  local k = both()
  local inner = tide.schedule(k):compose(sub(first, function(x) return x:split("i", 2) end))
  local outer = function()
    return tide.kernel {A = f32[4][6], x = f32[6], y = f32[6], function(A, x, y) k(A, x, y) end}
  end
  local s = tide.schedule(outer()):compose(inner)
  t.has(tostring(s), "for i_o")
  t.eq((s:verify()), "strict")
end)

t.test("an array of a kernel that the kernel calls, named bare beside its loop", function()
  local row = tide.kernel {a = i32[4][6], b = i32[6], function(a, b)
    for i, j in grid(4, 6) do b[j] = b[j] + a[i][j] end
  end}
  local sums = tide.kernel {a = i32[4][6], b = i32[6], function(a, b)
    for j = 0, 5 do b[j] = 0 end
    row(a, b)
  end}
  local k = tide.kernel {X = i32[4][6], Y = i32[6], function(X, Y) sums(X, Y) end}
  local s = tide.schedule(k):compose(sub(sums, function(x) return x:buffer_at("a", "row:i"):partition("a_i") end))
  t.has(s:log(), 's:buffer_at("sums:row:a", "sums:row:i")')
  t.eq((s:verify()), "strict")
  t.eq(tostring(load(s:log())(k)), tostring(s))
  prim.runs_alike(k, s, {i32[4][6], i32[6]})
end)

t.test("steps in the design that an unfolded inner loop became", function()
  local rows = tide.kernel {A = i32[2][6], B = i32[2][6], name = "rows", function(A, B)
    for r = 0, 1 do
      for i, j in grid(6, 2, "lane") do A[r][i] = A[r][i] + B[r][i] * j end
    end
  end}
  local two = rows:as "two"
  local top = tide.kernel {A = i32[2][6], B = i32[2][6], function(A, B) two(A, B) end}
  local s = tide.schedule(top):compose(sub(rows, function(x)
    local _, task = x:unfold("i")
    return x:unroll(task .. ":j", 2)
  end), {id = "two"})
  t.has(tostring(s), "unroll(2)")
  t.eq((s:verify()), "strict")
  t.eq(tostring(load(s:log())(top)), tostring(s))
end)

t.test("a schedule of schedules on two instances: names that its steps made are each one's own", function()
  local row = tide.kernel {a = f32[6], b = f32[6], function(a, b)
    for i = 0, 5 do b[i] = a[i] * 3 end
  end}
  local rows = tide.kernel {A = f32[2][6], B = f32[2][6], function(A, B)
    for r = 0, 1 do row(A[r], B[r]) end
  end}
  local inner = tide.schedule(rows):compose(sub(row, function(s)
    local _, outer, within = s:split("i", 2)
    local _, task = s:unfold(outer)
    return s:pipeline(task .. ":" .. within)
  end))
  local one, two = rows:as "one", rows:as "two"
  local k = tide.kernel {A = f32[2][6], B = f32[2][6], function(A, B)
    local C = f32[2][6]()
    one(A, C)
    two(C, B)
  end}
  local s = tide.schedule(k):compose(inner, {id = "one"}):compose(inner, {id = "two"})
  local _, n = tostring(s):gsub("for i_i = 0, 1 do %-%-@ pipeline%(1%)", "")
  t.eq(n, 2, tostring(s))
  t.eq((s:verify()), "strict")
  t.eq(tostring(load(s:log())(k)), tostring(s))
end)

prim.refused("a loop that an earlier step took away", {
  of = both, before = function(s) s:fuse("first:i", "first:j") end,
  step = {"compose", sub(first, function(s) return s:split("j", 2) end)},
  kind = "usage", code = "no-loop", match = "went with step 1",
})
prim.refused("an attribute that an earlier step set otherwise", {
  of = both, before = function(s) s:pipeline("first:j", 2) end,
  step = {"compose", sub(first, function(s) return s:pipeline("j", 1) end)},
  code = "conflict", match = "pipeline(\"first:j\", 2)",
})
prim.refused("a kernel that is not called here", {
  of = both, step = {"compose", sub(scale, function(s) return s:split("i", 2) end)},
  kind = "usage", code = "no-unit",
})
prim.refused("an instance that is not there", {
  of = twins, step = {"compose", sub(scale, function(s) return s:split("i", 2) end), {id = "top"}},
  kind = "usage", code = "no-unit",
})
t.test("what is no schedule", function()
  local k = both()
  t.fails(function() tide.schedule(k):compose(first) end, {kind = "usage", code = "argument"})
end)
t.test("the same attribute twice is no conflict", function()
  local s = tide.schedule((both())):pipeline("first:j", 1)
  s:compose(sub(first, function(x) return x:pipeline("j", 1) end))
  t.eq((s:verify()), "strict")
end)

t.done()
