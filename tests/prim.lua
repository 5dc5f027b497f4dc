-- prim.lua - what the tests of primitives share: kernels of every shape, and what an accepted and a
-- refused step owe the user.
local t = require "tap"
local tide = require "tide"
local i8, i16, i32, grid = tide.i8, tide.i16, tide.i32, tide.grid

local prim = {shape = {}}

-- Kernels: each is a function of its sizes that returns a kernel and the types of its arguments.

-- A perfect nest of three loops that accumulates.
function prim.shape.gemm(z)
  local M, N, K = z.M or 4, z.N or 5, z.K or 6
  local gemm = tide.kernel {A = i8[M][K], B = i8[K][N], C = i32[M][N], function(A, B, C)
    for i, j in grid(M, N, "PE") do
      for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
    end
  end}
  return gemm, {i8[M][K], i8[K][N], i32[M][N]}
end

-- A triangle.
function prim.shape.triangle(z)
  local N = z.N or 6
  local triangle = tide.kernel {L = i16[N][N], x = i32[N], y = i32[N], function(L, x, y)
    for i = 0, N - 1 do
      for j = 0, i do y[i] = y[i] + L[i][j] * x[j] end
    end
  end}
  return triangle, {i16[N][N], i32[N], i32[N]}
end

-- One loop over two arrays.
function prim.shape.scale(z)
  local N = z.N or 7
  local scale = tide.kernel {A = i32[N], B = i32[N], function(A, B)
    for i = 0, N - 1 do B[i] = A[i] * 3 + i end
  end}
  return scale, {i32[N], i32[N]}
end

-- Three loops without a dependence.
function prim.shape.cube(z)
  local P, Q, R = z.P or 2, z.Q or 3, z.R or 5
  local cube = tide.kernel {A = i32[P][Q][R], B = i32[P][Q][R], function(A, B)
    for x, y, v in grid(P, Q, R) do B[x][y][v] = A[x][y][v] + x - y end
  end}
  return cube, {i32[P][Q][R], i32[P][Q][R]}
end

-- A row sum in a kernel that another one calls for each row.
function prim.shape.callee(z)
  local M, N = z.M or 3, z.N or 5
  local row = tide.kernel {a = i32[N], b = i32[N], function(a, b)
    for i, j in grid(N, 2) do b[i] = b[i] + a[i] * (j + 1) end
  end}
  local rows = tide.kernel {A = i32[M][N], B = i32[M][N], function(A, B)
    for r = 0, M - 1 do row(A[r], B[r]) end
  end}
  return rows, {i32[M][N], i32[M][N]}
end

-- Random tensors and scalars of these types.
local function arguments(types, seed)
  local list = {}
  for i, T in ipairs(types) do
    list[i] = type(T) == "number" and T or tide.random(T, seed * 100 + i)
  end
  return list
end

local function same(a, b)
  if type(a) == "number" then return a == b end
  return a:equal(b)
end

-- States that two programs do the same to the same random data.
function prim.runs_alike(p, q, types, equal)
  local a, b = arguments(types, 1), arguments(types, 1)
  p(table.unpack(a))
  q(table.unpack(b))
  for i = 1, #types do t.ok((equal or same)(a[i], b[i]), "argument " .. i .. " differs") end
end

-- A schedule of test case c (of, sizes, before), and the types of its arguments.
local function prepare(c)
  local k, types = c.of(c.sizes or {})
  local s = tide.schedule(k)
  if c.before then c.before(s) end
  return s, types, k
end

local function call(s, step) return s[step[1]](s, table.unpack(step, 2)) end

-- States that c.step is accepted: can() agrees and changes nothing; the result prints as text that
-- loads to itself, is proved to be the same program (c.level, strict by default; c.undecided: data
-- steers it), and computes the same here and at each of c.other sizes. Returns the schedule, and
-- the names that were made.
function prim.accept(c)
  local s, types, k = prepare(c)
  local text, log = tostring(s), s:log()
  t.eq({s:can(table.unpack(c.step))}, {true}, "can")
  t.eq({tostring(s), s:log()}, {text, log}, "can() changes nothing")
  local made = {call(s, c.step)}
  t.eq(table.remove(made, 1), s, "first value")
  t.ok(tostring(s) ~= text, "nothing changed")
  local again = load(tostring(s))(s:constants())
  t.eq(tostring(again), tostring(s), "printed form, loaded")
  local level, verdict = s:verify()
  if c.undecided then t.has(tostring(verdict), "not decided") end
  t.eq(level, not c.undecided and (c.level or "strict") or nil, tostring(verdict))
  prim.runs_alike(k, s, types, c.equal)
  for _, z in ipairs(c.other or {}) do
    local whole, shapes = c.of(z)
    prim.runs_alike(whole, again:at(z), shapes, c.equal)
  end
  for _, part in ipairs(c.has or {}) do t.has(tostring(s), part) end
  return s, table.unpack(made)
end

-- Codes that come of a name, whatever the primitive.
local of_names = " no-loop ambiguous-loop no-array ambiguous-array no-unit "

-- Whether the primitive's own description lists a code.
local function documented(name, code)
  for _, p in ipairs(tide.registry().primitives) do
    if p.name == name then
      return (" " .. p.errors .. of_names):find(" " .. code .. " ", 1, true)
    end
  end
end

-- States that c.step is refused with c.code (c.kind, illegal by default), by can() as by the method,
-- that nothing changed, and (c.witness: the element's array) which instances clash. Returns the
-- error.
function prim.refuse(c)
  local s = prepare(c)
  local text, log = tostring(s), s:log()
  local no, e = s:can(table.unpack(c.step))
  t.eq(no, nil, "can")
  local raised = t.fails(function() call(s, c.step) end,
    {kind = c.kind or "illegal", code = c.code, prim = c.step[1]})
  t.ok(documented(c.step[1], c.code), c.code .. " is not among the documented errors")
  t.eq({e.kind, e.code, e.message}, {raised.kind, raised.code, raised.message}, "can() and method")
  t.eq({tostring(s), s:log()}, {text, log}, "a refused step changes nothing")
  local w = raised.witness
  t.eq(w and w.array, c.witness, "array of the witness")
  if w then
    t.has(w.element, w.array .. "")
    t.ok(w.first.line > 0 and w.second.line > 0, "lines of the witness")
    t.ok(w.first.at and w.second.at, "iterations of the witness")
  end
  if c.match then t.has(tostring(raised), c.match) end
  return raised
end

-- A test that c.step is refused for the kernel of c.of(c.no), and accepted for its twin of
-- c.of(c.yes), which differs in that one fact.
function prim.twins(name, c)
  t.test(name, function()
    local function with(fact)
      local twin = setmetatable({}, {__index = c})
      twin.of = function(z) return c.of(fact, z) end
      return twin
    end
    prim.refuse(with(c.no))
    local yes = with(c.yes)
    if c.yes_step then yes.step = c.yes_step end
    prim.accept(yes)
  end)
end

-- A test that c.step is refused.
function prim.refused(name, c)
  t.test(name, function() prim.refuse(c) end)
end

-- A test that c.step is accepted; `more` may look at the schedule and the names.
function prim.accepted(name, c, more)
  t.test(name, function()
    if more then more(prim.accept(c)) else prim.accept(c) end
  end)
end

return prim
