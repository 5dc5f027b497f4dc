-- What keeps a step sound beside dependences: a copied expression keeps its value, a state keeps its
-- owner, a run gains no fault. Each refusal names both places and has an accepted twin that differs
-- in one fact. docs/soundness.md
local t = require "tap"
local prim = require "prim"
local tide = require "tide"
local i8, i32, f32, index = tide.i8, tide.i32, tide.f32, tide.index

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

-- 4. Faults are part of meaning: a step adds none, verify says which program faults and where.
-- luacheck: ignore 211

-- Kernels of A, B, C of eight numbers each.
local function of_three(body) return tide.kernel {A = i32[8], B = i32[8], C = i32[8], body} end
local plain = of_three(function(A, B, C)
  for i = 0, 7 do C[i] = A[i] + B[i] end
end)

-- States that tide.verify finds that `bad` faults where `good` does not, in both orders, says at
-- which line, and that neither differs from itself.
local function faults(name, good, bad, what)
  t.test("verify: " .. name, function()
    local level, verdict = tide.verify(good, bad)
    t.eq(level, nil)
    t.has(tostring(verdict), "differs: the second faults")
    t.has(tostring(verdict), what)
    level, verdict = tide.verify(bad, good)
    t.eq(level, nil)
    t.has(tostring(verdict), "differs: the first faults")
    t.eq(tide.verify(good, good), "strict")
    t.eq(tide.verify(bad, (bad:as "again")), "strict")
  end)
end

faults("a division whose result nobody uses", plain, of_three(function(A, B, C)
  for i = 0, 7 do
    local d = A[i] // B[i]
    C[i] = A[i] + B[i]
  end
end), "division by zero")
faults("a remainder at one iteration", plain, of_three(function(A, B, C)
  for i = 0, 7 do
    if i == 3 then local d = A[i] % B[0] end
    C[i] = A[i] + B[i]
  end
end), "division by zero")
faults("an index that data decide", plain, of_three(function(A, B, C)
  for i = 0, 7 do
    local d = A[B[i]]
    C[i] = A[i] + B[i]
  end
end), "out of range")
faults("both arms of a select", of_three(function(A, B, C)
  for i = 0, 7 do
    if B[i] ~= 0 then C[i] = A[i] // B[i] else C[i] = 0 end
  end
end), of_three(function(A, B, C)
  for i = 0, 7 do C[i] = tide.select(B[i] ~= 0, A[i] // B[i], i32(0)) end
end), "division by zero")
faults("another divisor", of_three(function(A, B, C)
  for i = 0, 7 do
    local d = A[i] // B[0]
    C[i] = d - d
  end
end), of_three(function(A, B, C)
  for i = 0, 7 do
    local d = A[i] // B[i]
    C[i] = d - d
  end
end), "division by zero")

t.test("verify: a run that always faults is another program", function()
  local level, verdict = tide.verify(plain, of_three(function(A, B, C)
    local d = i32[8]()
    for i = 0, 7 do
      C[i] = A[i] + B[i]
      local x = d[i]
    end
  end))
  t.eq(level, nil)
  t.has(tostring(verdict), "the second faults")
  t.has(tostring(verdict), "read before it is written")
  level, verdict = tide.verify(plain, of_three(function(A, B, C)
    for i = 0, 7 do
      local x = A[i] // (i32(i) - 2)
      C[i] = A[i] + B[i]
    end
  end))
  t.eq(level, nil)
  t.has(tostring(verdict), "the second faults")
end)

t.test("verify: the order of faults is no part of the meaning", function()
  t.eq(tide.verify(of_three(function(A, B, C)
    for i = 0, 7 do C[i] = A[i] // B[i] end
  end), of_three(function(A, B, C)
    for i = 7, 0, -1 do C[i] = A[i] // B[i] end
  end)), "strict")
end)

t.test("verify: a divisor that is never 0 is not said to fault", function()
  local level, verdict = tide.verify(plain, of_three(function(A, B, C)
    for i = 0, 7 do
      local d = A[i] // (i32(B[i] & 7) + 1)
      C[i] = A[i] + B[i]
    end
  end))
  t.eq(level, nil)
  t.has(tostring(verdict), "not decided")
  t.has(tostring(verdict), "may be 0")
end)

t.test("inject: a library kernel that divides", function()
  local function library(divides)
    return tide.kernel {a = i32[8], b = i32[8], function(a, b)
      local d = i32[8]()
      for i = 0, 7 do
        if divides then d[i] = 1 // a[i] else d[i] = a[i] * 3 end
        b[i] = a[i] * 2
      end
    end}
  end
  local k = of_three(function(A, B, C)
    for i = 0, 7 do C[i] = A[i] * 2 end
  end)
  local e = t.fails(function() tide.schedule(k):inject("i", library(true):as "lib") end,
    {code = "not-decided"})
  t.has(e.message, "may be 0")
  local s = tide.schedule(k)
  s:inject("i", library(false):as "lib")
  t.eq(s:verify(), "strict")
end)

-- A bound or a guard that divides, around which a loop or a guard was.
local function divided(name, make)
  prim.twins("reorder: " .. name, {of = function(bad) return make(bad), {i32[8], i32[8], 5, 3} end,
    no = true, yes = false, step = {"reorder", "j", "i"}, code = "may-fault", undecided = true})
end

divided("a bound that divides, under a loop that may not run", function(bad)
  return tide.kernel {A = i32[8], B = i32[8], n = index, m = index, function(A, B, n, m)
    tide.assume(n <= 8)
    tide.assume(m <= 8)
    tide.assume(m >= (bad and 0 or 1))
    for i = 0, n - 1 do
      for j = 0, 7 // m do
        if j < 8 then A[i] = A[i] + B[j] end
      end
    end
  end}
end)

-- The code of the fault of a run by each tier, or what it leaves in its first argument.
local function by_tiers(k, A, c)
  local got = {}
  for i, tier in ipairs {"reference", "tcc", "cc"} do
    local B = A:copy()
    local ran, e = pcall(function()
      if tier == "reference" then k:reference(B, c) else k:build {target = "cpu", tier = tier}(B, c) end
    end)
    got[i] = ran and tostring(B) or e.code
  end
  return got
end

t.test("a choice evaluates both values, in every tier: a fault of one that is not taken ends the run", function()
  local function both(code, body, T, bad, good)
    local k = tide.kernel {A = T[4], c = i32[2], body}
    local A = tide.random(T[4], 5)
    t.eq(by_tiers(k, A, tide.tensor(i32[2], bad)), {code, code, code})
    local got = by_tiers(k, A, tide.tensor(i32[2], good))
    t.ok(got[1]:find("{", 1, true), got[1])
    t.eq({got[2], got[3]}, {got[1], got[1]})
  end
  both("zero-division", function(A, c) A[0] = tide.select(false, A[1] // c[0], 7) end, i32, {0, 0}, {3, 0})
  both("zero-division", function(A, c) A[0] = i8(tide.select(c[1] == 1, 3, A[1] % c[0])) end, i8, {0, 1}, {3, 0})
  both("index-out-of-range", function(A, c) A[0] = tide.select(c[1] == 1, A[c[0]], 7.0) end, f32, {5, 0}, {3, 0})
  both("zero-division", function(A, c) A[tide.select(c[1] == 1, 4 // c[0], 1)] = 9 end, i32, {0, 0}, {2, 1})
  both("index-out-of-range", function(A, c)
    local b = tide.uint(96)[2](7)
    A[0] = i32(tide.bits(tide.select(c[1] == 1, b[c[0]], b[1]), 0, 30))
  end, i32, {5, 0}, {1, 0})
end)

t.done()
