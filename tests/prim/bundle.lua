-- bundle: isomorphic instances of designs take turns; what is not isomorphic or not independent is
-- refused.
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i8, i16, i32, f32, task, grid = tide.i8, tide.i16, tide.i32, tide.f32, tide.task, tide.grid

-- P instances add 1 to their blocks.
local function vector(z)
  local P, N = z.P or 4, z.N or 16
  return tide.design(function(d)
    d.add = task {map = {P}, A = i32[N]:layout "S0", B = i32[N]:layout "S0", function(A, B)
      B:set(A + 1)
    end}
  end), {i32[N], i32[N]}
end

-- Blocks of C = A B on a grid, rows and columns sent by feeders.
local function blocks(z)
  local P, Q, N = z.P or 2, z.Q or 3, z.N or 6
  return tide.design(function(d)
    local a = d:stream(i8[N // P][4], {P, Q})
    d.feed = task {map = {P}, A = i8[N][4]:layout "S0R", function(A, i)
      for j in grid(Q) do a[i][j]:put(A) end
    end}
    d.mm = task {
      map = {P, Q}, B = i8[4][N]:layout "RS1", C = i32[N][N]:layout "S0S1",
      function(B, C, i, j) C:set(tide.matmul(a[i][j]:get(), B)) end,
    }
  end), {i8[N][4], i8[4][N], i32[N][N]}
end

-- M tokens go to each of two readers: in turn, or one reader's after the other's.
local function turns(in_turn)
  local M = 3
  return tide.design(function(d)
    local Z = d:stream(i32, {2, depth = 3})
    if in_turn then
      d.put = task {A = i32[M], function(A)
        for j in grid(M) do for p in grid(2) do Z[p]:put(A[j]) end end
      end}
    else
      d.put = task {A = i32[M], function(A)
        for p in grid(2) do for j in grid(M) do Z[p]:put(A[j]) end end
      end}
    end
    d.take = task {map = {2}, B = i32[M][2]:layout "RS0", function(B, p)
      for j in grid(M) do B[j][0] = Z[p]:get() end
    end}
  end)
end

-- A row of P stages: each adds its id; `back` has the last one feed the first.
local function row(P)
  return tide.design(function(d)
    local Z = d:stream(i32, {P + 1})
    d.head = task {A = i32[4], function(A)
      for n in grid(4) do Z[0]:put(A[n]) end
    end}
    d.stage = task {map = {P}, function(p)
      for _ in grid(4) do Z[p + 1]:put(Z[p]:get() + p) end
    end}
    d.tail = task {B = i32[4], function(B)
      for n in grid(4) do B[n] = Z[P]:get() end
    end}
  end), {i32[4], i32[4]}
end

prim.accepted("all of an axis", {
  of = vector, step = {"bundle", "add"}, has = {"for shot = 0, 3 do", "B:slice({shot * 4, shot * 4 + N // 4})"},
}, function(s, name) t.eq({name, s:graph().nodes}, {"add", 1}) end)
prim.accepted("some neighbours", {
  of = vector, step = {"bundle", "add", {factor = 2}}, has = {"map = {2}", 'A:layout "S0"'},
}, function(s) t.eq(s:tasks(), {"add[0]", "add[1]"}) end)
prim.accepted("each by itself: a loop of one, as after a split by 1", {
  of = blocks, step = {"bundle", "feed", {factor = 1}}, has = {"map = {2}", "for i_i = 0, 0 do"},
}, function(s) t.eq({s:graph().nodes, s:tasks()}, {2 + 6, tide.schedule((blocks {})):tasks()}) end)
prim.accepted("the only one of an axis, which leaves", {
  of = function() return vector {P = 1} end, step = {"bundle", "add", {factor = 1}}, lacks = {"map = "},
}, function(s) t.eq(s:tasks(), {"add"}) end)
prim.accepted("what is bundled already", {
  of = vector, before = function(s) s:bundle("add", {factor = 2}) end, step = {"bundle", "add"},
}, function(s) t.eq(s:tasks(), {"add"}) end)
prim.accepted("the second axis of two", {
  of = blocks, step = {"bundle", "mm", {axis = 1}}, has = {"function(B, C, i)", 'C:layout "S0R"'},
}, function(s) t.eq(s:graph().nodes, 2 + 2) end)
prim.accepted("the first axis of two: the other is renumbered", {
  of = blocks, step = {"bundle", "mm", {axis = 0}}, has = {"function(B, C, j)", 'B:layout "RS0"'},
}, function(s) t.eq(s:graph().nodes, 2 + 3) end)
prim.accepted("producers of one consumer", {
  of = blocks, step = {"bundle", "feed"},
})
prim.accepted("a state of each instance", {
  of = function()
    local seen = tide.state(i32[1], 5)
    return tide.design(function(d)
      d.count = task {map = {3}, A = i32[6]:layout "S0", function(A)
        for n in grid(2) do
          seen[0] = seen[0] + A[n]
          A[n] = seen[0]
        end
      end}
    end), {i32[6]}
  end,
  step = {"bundle", "count"}, has = {"i32[3][1]"},
})
prim.accepted("ids in conditions that are equal along the axis", {
  of = function()
    return tide.design(function(d)
      d.scale = task {map = {2, 3}, A = f32[4][6]:layout "S0S1", function(A, i, j)
        if i == 0 then A:set(A * 2) else A:set(A + j) end
      end}
    end), {f32[4][6]}
  end,
  step = {"bundle", "scale", {axis = 1}},
})
prim.accepted("tokens of many puts, more than the depth", {
  of = function()
    return tide.design(function(d)
      local Z = d:stream(i16, {3, depth = 1})
      d.send = task {map = {3}, A = i16[12]:layout "S0", function(A, p)
        for n in grid(4) do Z[p]:put(A[n]) end
      end}
      d.sum = task {B = i16[3], function(B)
        for p in grid(3) do
          for _ in grid(4) do B[p] = i16(B[p] + Z[p]:get()) end
        end
      end}
    end), {i16[12], i16[3]}
  end,
  step = {"bundle", "send"},
})

-- ---- lists ----

prim.accepted("two neighbours by name", {
  of = vector, step = {"bundle", {"add[1]", "add[2]"}}, has = {"id < 1 or 3 <= id", "d.add_1 = "},
}, function(s, name) t.eq({name, s:tasks()}, {"add_1", {"add[0]", "add[3]", "add_1"}}) end)
prim.accepted("instances that are no neighbours", {
  of = vector, step = {"bundle", {"add[0]", "add[3]"}}, has = {"id ~= 0 and id ~= 3"},
})
prim.accepted("in an order of their own", {
  of = vector, step = {"bundle", {"add[3]", "add[0]", "add[1]"}},
}, function(s) t.eq(s:graph().nodes, 2) end)
prim.accepted("two and two", {
  of = vector, before = function(s) s:bundle {"add[0]", "add[1]"} end,
  step = {"bundle", {"add[2]", "add[3]"}},
}, function(s) t.eq(s:tasks(), {"add_2", "add_0"}) end)
prim.accepted("bundles of bundles", {
  of = vector, before = function(s) s:bundle({"add[0]", "add[1]"}):bundle {"add[2]", "add[3]"} end,
  step = {"bundle", {"add_0", "add_2"}},
}, function(s) t.eq(s:tasks(), {"add_0"}) end)
prim.accepted("all of one axis, by a star", {
  of = blocks, step = {"bundle", {"mm[1][*]"}}, has = {"d.mm_1_0 = "},
}, function(s) t.eq(s:graph().nodes, 2 + 3 + 1) end)
prim.accepted("all instances, by a star", {
  of = vector, step = {"bundle", {"add[*]"}}, has = {"for shot = 0, 3 do"},
})

-- Two tasks of one shape; `other` makes the second another one.
local function two(other)
  return tide.design(function(d)
    local x, y = d:stream(i32, {2}), d:stream(i32, {2})
    local function send(z)
      return task {map = {2}, A = i32[2], function(A, p) z[p]:put(A[p] * 2) end}
    end
    d.one = send(x)
    if other == "statements" then
      d.two = task {map = {2}, B = i32[2], function(B, p) y[p]:put(B[p] * 3) end}
    elseif other == "interface" then
      d.two = task {map = {2}, B = i16[2], function(B, p) y[p]:put(B[p] * 2) end}
    elseif other == "map" then
      d.two = task {B = i32[2], function(B) for p in grid(2) do y[p]:put(B[p] * 2) end end}
    else
      d.two = task {map = {2}, B = i32[2], function(B, p) y[p]:put(B[p] * 2) end}
    end
    d.sum = task {map = {2}, C = i32[2], function(C, p) C[p] = x[p]:get() - y[p]:get() end}
  end), {i32[2], other == "interface" and i16[2] or i32[2], i32[2]}
end

prim.accepted("tasks of one shape", {
  of = function() return two() end, step = {"bundle", {"one", "two"}},
}, function(s, name) t.eq({name, s:graph().nodes}, {"one", 4}) end)
prim.twins("tasks of other statements", {
  no = "statements", code = "isomorphic", match = "they have other statements",
  step = {"bundle", {"one", "two"}}, of = two,
})
prim.twins("tasks of other interfaces", {
  no = "interface", code = "interface", match = "parameter 1 is i32[2] and i16[2]",
  step = {"bundle", {"one", "two"}}, of = two,
})
prim.twins("a task and single instances", {
  no = "map", code = "list", kind = "usage", step = {"bundle", {"one", "two"}}, of = two,
})
prim.refused("an instance twice", {
  of = vector, step = {"bundle", {"add[1]", "add[1]"}}, kind = "usage", code = "list",
})
prim.refused("no such instance", {
  of = vector, step = {"bundle", {"add[1]", "add[4]"}}, kind = "usage", code = "instance",
})
prim.refused("an axis of a list", {
  of = vector, step = {"bundle", {"add[1]", "add[2]"}, {axis = 0}}, kind = "usage", code = "axis",
})
prim.twins("listed instances, one of which feeds another", {
  no = "stage[1]", yes = "stage[2]", code = "path", match = "stage[0] -> stage[1]",
  of = function(_) return row(3) end, step = {"bundle", {"stage[0]", "stage[1]"}},
  yes_step = {"bundle", {"stage[0]"}},
})

prim.twins("instances of other statements", {
  no = 1, yes = 0, code = "isomorphic", match = "many[0] and many[1]", step = {"bundle", "many"},
  of = function(by)
    return tide.design(function(d)
      d.many = task {map = {3}, A = i32[3], function(A, p)
        if p * by > 0 then A[p] = A[p] * 2 else A[p] = A[p] + 1 end
      end}
    end), {i32[3]}
  end,
})
prim.twins("instances that do nothing", {
  no = 1, yes = 0, code = "isomorphic", match = "does nothing", step = {"bundle", "many"},
  of = function(least)
    return tide.design(function(d)
      d.many = task {map = {3}, A = i32[3], function(A, p)
        if p >= least then A[p] = A[p] * 2 end
      end}
    end), {i32[3]}
  end,
})
prim.twins("other numbers of tokens", {
  no = 1, yes = 0, code = "interface", match = "other numbers of tokens of 'Z'", step = {"bundle", "send"},
  of = function(by)
    return tide.design(function(d)
      local Z = d:stream(i32, {2, depth = 4})
      d.send = task {map = {2}, A = i32[4], function(A, p)
        for n in grid(2 + p * by) do Z[p]:put(A[n]) end
      end}
      d.sink = task {map = {2}, B = i32[2], function(B, p)
        for _ in grid(2 + p * by) do B[p] = B[p] + Z[p]:get() end
      end}
    end), {i32[4], i32[2]}
  end,
})
prim.twins("a stage that feeds the next", {
  no = 2, yes = 1, code = "path", match = "stage[0] feeds stage[1]: stage[0] -> stage[1]",
  step = {"bundle", "stage"}, of = row,
})
prim.twins("an indirect path", {
  no = true, yes = false, code = "path", match = "work[0] -> between -> work[1]",
  step = {"bundle", "work"},
  of = function(indirect)
    return tide.design(function(d)
      local a, b = d:stream(i32, {2}), d:stream(i32, {2})
      d.head = task {A = i32[2], function(A)
        b[0]:put(A[0])
        if not indirect then b[1]:put(A[1]) end
      end}
      d.work = task {map = {2}, function(p) a[p]:put(b[p]:get() + 1) end}
      d.between = task {C = i32[1], function(C)
        if indirect then b[1]:put(a[0]:get() * 2) else C[0] = 1 end
      end}
      d.tail = task {B = i32[2], function(B)
        B[1] = a[1]:get()
        if not indirect then B[0] = a[0]:get() end
      end}
    end), {i32[2], i32[1], i32[2]}
  end,
})
prim.twins("turns that would block", {
  no = 1, yes = 4, code = "deadlock", step = {"bundle", "send"},
  of = function(depth)
    return tide.design(function(d)
      local Z = d:stream(i32, {2, depth = depth})
      d.send = task {map = {2}, A = i32[8]:layout "S0", function(A, p)
        for n in grid(4) do Z[p]:put(A[n]) end
      end}
      d.sum = task {B = i32[4], function(B)
        for n in grid(4) do B[n] = Z[0]:get() + Z[1]:get() end
      end}
    end), {i32[8], i32[4]}
  end,
})
prim.twins("copies that are changed", {
  no = true, yes = false, code = "copies", match = "changes 'S'", step = {"bundle", "work"},
  of = function(changes)
    return tide.design(function(d)
      d.work = task {map = {2}, A = i32[2]:layout "S0", S = i32[1]:layout "R", function(A, S)
        if changes then S[0] = S[0] + 1 else S[0] = 3 end
        A[0] = A[0] + 1
      end}
    end), {i32[2], i32[1]}
  end,
})
prim.twins("instances that wait for the sum of all", {
  no = true, yes = false, code = "path", step = {"bundle", "work"},
  of = function(meet)
    return tide.design(function(d)
      d.work = task {map = {2}, A = i32[8]:layout "S0", B = i32[8]:layout "S0", function(A, B)
        if meet then B:set(tide.allreduce(A, "+")) else B:set(A + A) end
      end}
    end), {i32[8], i32[8]}
  end,
})
prim.twins("instances that meet in an allreduce if data says so", {
  no = true, yes = false, kind = "unsupported", code = "allreduce", step = {"bundle", "work"},
  of = function(meet)
    return tide.design(function(d)
      d.work = task {map = {2}, N = i32[1], A = i32[8]:layout "S0", B = i32[8]:layout "S0",
        function(N, A, B)
          if N[0] > 0 then
            if meet then B:set(tide.allreduce(A, "+")) else B:set(A + A) end
          end
        end}
    end), {i32[1], i32[8], i32[8]}
  end,
})
prim.twins("a name that tasks of two designs have", {
  no = "work", yes = "other", kind = "usage", code = "ambiguous-task", step = {"bundle", "work"},
  of = function(name)
    local inner = tide.design(function(d)
      d[name] = task {map = {2}, A = i32[8]:layout "S0", function(A) A[0] = A[0] + 1 end}
    end)
    return tide.design(function(d)
      d.work = task {map = {2}, B = i32[8]:layout "S0", function(B) B[0] = B[0] * 2 end}
      d.calls = task {C = i32[8], function(C) inner(C) end}
    end), {i32[8], i32[8]}
  end,
})
prim.twins("a state in what is called", {
  no = true, yes = false, kind = "unsupported", code = "state", step = {"bundle", "work"},
  of = function(keeps)
    local seen = tide.state(i32[1], 0)
    local count = tide.kernel {a = i32[2], function(a)
      if keeps then
        seen[0] = seen[0] + a[0]
        a[1] = seen[0]
      else
        a[1] = a[0]
      end
    end}
    return tide.design(function(d)
      d.work = task {map = {2}, A = i32[4]:layout "S0", function(A) count(A) end}
    end), {i32[4]}
  end,
})
prim.twins("a return", {
  no = true, yes = false, kind = "unsupported", code = "return", step = {"bundle", "work"},
  of = function(returns)
    return tide.design(function(d)
      d.work = task {map = {2}, A = i32[4]:layout "S0", function(A)
        if A[0] > 0 then
          A[1] = 7
          if returns then return end
        end
        A[0] = 1
      end}
    end), {i32[4]}
  end,
})
prim.refused("no such axis", {of = vector, step = {"bundle", "add", {axis = 1}}, kind = "usage", code = "axis"})
prim.refused("which axis?", {of = blocks, step = {"bundle", "mm"}, kind = "usage", code = "axis"})
prim.refused("a factor that does not divide", {
  of = vector, step = {"bundle", "add", {factor = 3}}, kind = "usage", code = "factor",
})
prim.refused("a factor of nothing", {
  of = vector, step = {"bundle", "add", {factor = 0}}, kind = "usage", code = "factor",
})
prim.refused("no such task", {of = vector, step = {"bundle", "ad"}, kind = "usage", code = "no-task"})
prim.refused("a kernel", {
  of = function() return tide.kernel {A = i32[2], function(A) A[0] = 1 end}, {i32[2]} end,
  step = {"bundle", "add"}, kind = "usage", code = "not-a-design",
})
prim.refused("data decides the order", {
  of = function()
    return tide.design(function(d)
      local Z = d:stream(i32, {2, depth = 2})
      d.send = task {map = {2}, A = i32[2], function(A, p)
        if A[p] > 0 then Z[p]:put(1) else Z[p]:put(0) end
        if A[p] > 3 then Z[p]:put(1) end
      end}
      d.sink = task {B = i32[2], A = i32[2], function(B, A)
        for p in grid(2) do
          B[p] = Z[p]:get()
          if A[p] > 3 then B[p] = Z[p]:get() end
        end
      end}
    end), {i32[2], i32[2]}
  end,
  step = {"bundle", "send"}, code = "not-decided",
})

t.done()

t.test("readers that take turns hold at the sizes at which tokens fit: an assumption", function()
  local far = {i32[9], i32[9][2]}
  local function run(s)
    local A, B = tide.random(far[1], 1), far[2](0)
    s(A, B)
    for j = 0, 8 do t.eq(B[j][1], A[j]) end
  end
  local s, other = tide.schedule(turns(true)), tide.schedule(turns(false))
  run(s)
  s:bundle "take"
  t.has(select(2, s:verify()), "at M = 3; relative to assume M == 3")
  t.fails(function() run(s) end, {code = "assume"})
  other:bundle "take"
  t.has(select(2, other:verify()), "all sizes")
  run(other)
end)
