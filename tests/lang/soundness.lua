-- What keeps a step sound beside dependences: a copied expression keeps its value, a state keeps its
-- owner, a run gains no fault. Each refusal names both places and has an accepted twin that differs
-- in one fact. docs/soundness.md
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i32, index = tide.i32, tide.index

-- 1. A copied expression keeps its value. Bodies write what a bound reads (`bad`), or something
-- beside it; memory that steers is set first, since arguments are random.
local kinds = {i32[32], i32[8], i32[8]}
local function steered(body)
  return function(bad)
    return tide.kernel {A = i32[32], p = i32[8], q = i32[8], body(bad)}, kinds
  end
end

-- A refusal of step by bound-written, in words that name both lines, and its twin.
local function bounds(name, body, ...)
  for _, step in ipairs {...} do
    prim.twins(name .. ", " .. step[1], {
      of = steered(body), no = true, yes = false, step = step, code = "bound-written",
      kind = "unsupported", match = "is written here",
    })
  end
end

bounds("a first iteration in memory that the body counts up", function(bad)
  return function(A, p, q)
    p[0] = 1
    q[0] = 1
    for i = 0, 1 do
      for j = p[0], p[0] + 3 do
        A[j] = A[j] + i + 1
        if bad then p[0] = p[0] + 1 else q[0] = q[0] + 1 end
      end
    end
  end
end, {"fuse", "i", "j"}, {"unroll", "j", {replace = true}}, {"split", "j", 2})

bounds("one element or another of the same array", function(bad)
  return function(A, p, q)
    p[0] = 1
    p[1] = 1
    for i = 0, 1 do
      for j = p[0], p[0] + 2 do
        A[j] = A[j] + i + 1
        if bad then p[0] = p[0] + 1 else p[1] = p[1] + 1 end
      end
    end
  end
end, {"fuse", "i", "j"}, {"unroll", "j", {replace = true}}, {"split", "j", 2, {tail = "cut"}})

bounds("a scalar that the body assigns", function(bad)
  return function(A, p, q)
    p[0] = 2
    local n, m = p[0], p[0]
    for i = 0, 1 do
      for j = n, n + 3 do
        A[j] = A[j] + 2
        if bad then n = n + 1 else m = m + 1 end
      end
    end
    A[0] = n + m
  end
end, {"fuse", "i", "j"}, {"unroll", "j", {replace = true}})

bounds("a write by a kernel that the body calls", function(bad)
  local up = tide.kernel {a = i32[8], function(a) a[0] = a[0] + 1 end}
  return function(A, p, q)
    p[0] = 0
    q[0] = 0
    for i = 0, 1 do
      for j = p[0], p[0] + 3 do
        A[j] = A[j] + 1
        if bad then up(p) else up(q) end
      end
    end
  end
end, {"fuse", "i", "j"}, {"unroll", "j", {replace = true}}, {"split", "j", 3})

bounds("a write under a condition", function(bad)
  return function(A, p, q)
    for x = 0, 7 do p[x] = x end
    for i = 0, 6 do
      for j = p[i], p[i] + 1 do
        A[j] = A[j] + i
        if A[j] > 3 then
          if bad then p[i] = p[i] + 1 else p[i + 1] = i + 1 end
        end
      end
    end
  end
end, {"unroll", "j", {replace = true}})

bounds("the outer loop's first iteration", function(bad)
  return function(A, p, q)
    p[0] = 3
    for i = p[0], p[0] + 1 do
      for j = 0, 3 do
        A[i] = A[i] + j
        p[bad and 0 or 1] = 9
      end
    end
  end
end, {"fuse", "i", "j"}, {"unroll", "i", {replace = true}})

prim.accepted("the last iteration of an outer loop is read once, whatever the body writes", {
  of = steered(function()
    return function(A, p, q)
      p[0] = 3
      for i = 0, p[0] do
        for j = 0, 3 do
          A[i] = A[i] + j
          p[0] = 0
        end
      end
    end
  end), step = {"fuse", "i", "j"},
})

t.test("the refusal names the bound, the loop and the write", function()
  local k = steered(function()
    return function(A, p, q)
      p[0] = 0
      for i = 0, 1 do
        for j = p[0], p[0] + 3 do
          A[j] = A[j] + 1
          p[0] = p[0] + 1
        end
      end
    end
  end)()
  local e = t.fails(function() tide.schedule(k):fuse("i", "j") end, {code = "bound-written"})
  t.has(e.message, "'p[0]', a bound of 'j', would be evaluated again")
  t.has(e.help, "local n = p[0]")
  t.has(e.notes[1].message, "'p' is written here")
  t.eq(e.notes[1].line, tonumber(e.message:match "after line (%d+)"))
end)

-- Steps that read an expression at another place and ask about the order of all that they move.
local function ordered(name, step, body, code)
  prim.twins(name, {of = steered(body), no = true, yes = false, step = step,
    code = code or "dependence", witness = (code or "dependence") == "dependence" and "p" or nil})
end

ordered("compute_at: what the producer reads is written by the consumer", {"compute_at", "B", "k"},
  function(bad)
    return function(A, p, q)
      local B = i32[8](0)
      for i = 0, 7 do B[i] = A[i] + p[0] end
      for k = 0, 7 do
        A[k] = B[k]
        if bad then p[0] = p[0] + 1 else q[0] = q[0] + 1 end
      end
    end
  end)

ordered("compute_at: what the producer reads is written on the way", {"compute_at", "B", "k"},
  function(bad)
    return function(A, p, q)
      local B = i32[8](0)
      for i = 0, 7 do B[i] = A[i] + p[0] end
      if bad then p[0] = 5 else q[0] = 5 end
      for k = 0, 7 do A[k] = B[k] end
    end
  end)

ordered("reorder: a bound that the body writes", {"reorder", "j", "i"}, function(bad)
  return function(A, p, q)
    p[0] = 3
    for i = 0, p[0] do
      for j = 0, 7 do
        A[j] = A[j] + 1
        if bad then p[0] = 2 else q[j] = 2 end
      end
    end
  end
end)

ordered("unfold: a value that another iteration changes", {"unfold", "i"}, function(bad)
  return function(A, p, q)
    for i = 0, 7 do
      A[i] = A[i] + p[0]
      if bad then p[0] = i else q[i] = i end
    end
  end
end)

ordered("collapse: what an array holds changes where it came from", {"collapse", "B"}, function(bad)
  return function(A, p, q)
    local B = i32[8]()
    for i = 0, 7 do B[i] = p[i] end
    for i = 0, 7 do
      if bad then p[7 - i] = i else q[7 - i] = i end
      A[i] = B[i]
    end
  end
end)

-- A kernel that is inlined reads its arguments once, where it was called.
prim.accepted("inline: an argument that the callee changes is read once", {
  of = steered(function()
    local f = tide.kernel {a = i32[32], n = index, m = i32, c = i32[8], function(a, n, m, c)
      for x = 0, n do
        c[0] = c[0] + 1
        a[x] = a[x] + m
      end
    end}
    return function(A, p, q)
      p[0] = 2
      for i = 0, 3 do f(A, p[0], p[0] * 2, p) end
    end
  end), step = {"inline", "f"},
})


-- 2. A state keeps its owner: an instance, which is a path of runs and calls from the root.

-- A kernel that counts its calls in a state, which it adds to a row.
local function counter()
  local c = tide.state(i32[1], 0)
  return tide.kernel {a = i32[4], function(a)
    c[0] = c[0] + 1
    a[0] = a[0] + c[0]
  end}
end

-- States that a schedule does in three calls what its kernel does in as many.
local function same_calls(k, s, T)
  local x, y = T(0), T(0)
  k:reset()
  for _ = 1, 3 do
    k(x)
    s(y)
    t.ok(x:equal(y), "the calls do not agree")
  end
end

-- A test that a step is refused because of a state, for the kernel of make(true), in words that
-- name two lines, and accepted for that of make(false), where three calls agree.
local function owners(name, T, make, step)
  t.test(name, function()
    local e = t.fails(function()
      local s = tide.schedule(make(true))
      s[step[1]](s, table.unpack(step, 2))
    end, {kind = "illegal", code = "state", prim = step[1]})
    t.has(e.message, "state 'c'")
    local one, two = e.message:match "lines (%d+) and (%d+)"
    t.ok(one and two, e.message)
    t.ok(e.help, "no help")
    local k = make(false)
    local s = tide.schedule(k)
    s[step[1]](s, table.unpack(step, 2))
    t.eq(s:verify(), "strict")
    same_calls(k, s, T)
  end)
end

owners("outline of one of two calls that share a state", i32[4][4], function(bad)
  local count = counter()
  return tide.kernel {A = i32[4][4], function(A)
    for i = 0, 1 do count(A[i]) end
    if bad then for j = 2, 3 do count(A[j]) end end
  end}
end, {"outline", "i", "part"})

owners("outline of one of two, through another kernel", i32[4][4], function(bad)
  local count = counter()
  local both = tide.kernel {a = i32[4], function(a) count(a) a[1] = a[1] + 1 end}
  return tide.kernel {A = i32[4][4], function(A)
    for i = 0, 1 do both(A[i]) end
    if bad then for j = 2, 3 do both(A[j]) end end
  end}
end, {"outline", "i", "part"})

owners("inline puts together what a kernel kept apart", i32[4][4], function(bad)
  local count = counter()
  local more = tide.kernel {a = i32[4], function(a) count(a) a[1] = a[1] + 1 end}
  return tide.kernel {A = i32[4][4], function(A)
    if bad then count(A[0]) end
    more(A[1])
  end}
end, {"inline", "more"})

owners("inline of a kernel of two callers", i32[4][4], function(bad)
  local count = counter()
  local more = tide.kernel {a = i32[4], function(a) count(a) a[1] = a[1] + 1 end}
  local most = tide.kernel {a = i32[4], function(a) more(a) a[2] = a[2] + 1 end}
  return tide.kernel {A = i32[4][4], function(A)
    if bad then count(A[0]) end
    more(A[1])
    most(A[2])
  end}
end, {"inline", "more"})

owners("unify of kernels that call one with a state", i32[2][4], function(bad)
  local count = counter()
  local x = tide.kernel {a = i32[4], function(a)
    count(a)
    for i = 0, 3 do a[i] = a[i] + 1 end
  end}
  local y = tide.kernel {a = i32[4], function(a)
    if bad then count(a) end
    for i = 0, 3 do a[i] = a[i] * 2 end
  end}
  return tide.kernel {A = i32[2][4], function(A)
    x(A[0])
    y(A[1])
  end}
end, {"unify", "x", "y", 2})

t.test("steps that leave all uses of a state together", function()
  local count = counter()
  local k = tide.kernel {A = i32[4][4], function(A)
    for i = 0, 3 do
      count(A[i])
      for j = 0, 3 do A[i][j] = A[i][j] * 2 end
      count(A[3 - i])
    end
  end}
  for _, steps in ipairs {
    {{"outline", "i", "all"}}, {{"split", "i", 2}, {"outline", "i_i", "part"}},
    {{"unroll", "i", {replace = true}}}, {{"inline", "counter"}},
    {{"outline", "i", "all"}, {"inline", "all:counter"}, {"inline", "all"}},
  } do
    local s = tide.schedule(k)
    for _, step in ipairs(steps) do s[step[1]](s, table.unpack(step, 2)) end
    t.eq(s:verify(), "strict")
    same_calls(k, s, i32[4][4])
  end
end)

t.test("an instance of its own is what the help says", function()
  local count = counter()
  local other = count:as "other"
  local k = tide.kernel {A = i32[4][4], function(A)
    for i = 0, 1 do count(A[i]) end
    for j = 2, 3 do other(A[j]) end
  end}
  local s = tide.schedule(k)
  s:outline("i", "part")
  same_calls(k, s, i32[4][4])
end)

-- Native, reference and compiled runs, three calls each, share or separate a state alike.
local function tiers_alike(name, T, make)
  t.test(name, function()
    local k = make()
    local x, y, z = T(0), T(0), T(0)
    for _ = 1, 3 do
      k(x)
      k:reference(y)
      k:native(z)
      t.ok(x:equal(y), "compiled and reference run differ")
      t.ok(x:equal(z), "compiled and native run differ")
    end
  end)
end

local function step_by(c, n)
  return tide.kernel {a = i32[4], function(a)
    for i = 0, 3 do
      c[0] = c[0] + n
      a[i] = a[i] + c[0]
    end
  end}
end

tiers_alike("states: one kernel called twice", i32[4], function()
  local f = step_by(tide.state(i32[1], 0), 1)
  return tide.kernel {A = i32[4], function(A) f(A) f(A) end}
end)
tiers_alike("states: one kernel by two paths", i32[4], function()
  local f = step_by(tide.state(i32[1], 3), 1)
  local g = tide.kernel {A = i32[4], function(A) f(A) end}
  return tide.kernel {A = i32[4], function(A) f(A) g(A) f(A) end}
end)
tiers_alike("states: one tide.state in two kernels", i32[4], function()
  local c = tide.state(i32[1], 0)
  local f, g = step_by(c, 1), step_by(c, 2)
  return tide.kernel {A = i32[4], function(A) f(A) g(A) f(A) end}
end)
tiers_alike("states: one tide.state in caller and callee", i32[4], function()
  local c = tide.state(i32[1], 0)
  local f = step_by(c, 1)
  return tide.kernel {A = i32[4], function(A)
    f(A)
    c[0] = c[0] + 10
    f(A)
    A[3] = A[3] + c[0]
  end}
end)
tiers_alike("states: instances of one kernel", i32[4], function()
  local f = step_by(tide.state(i32[1], 0), 1)
  local one, two = f:as "one", f:as "two"
  return tide.kernel {A = i32[4], function(A) one(A) two(A) one(A) end}
end)
tiers_alike("states: a Lua function inlined in two kernels, a state of rows", i32[4], function()
  local c = tide.state(i32[2][2], 1)
  local function f(A) for i = 0, 3 do c[1][0] = c[1][0] + 1 A[i] = A[i] + c[1][0] end end
  local g = tide.kernel {A = i32[4], function(A) f(A) end}
  return tide.kernel {A = i32[4], function(A) f(A) g(A) f(A) end}
end)
t.done()
