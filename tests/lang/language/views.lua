-- Tensors inside kernels: rows, slices, transposes, set, copy, element by element, matmul, reduce.
local tide = require "tide"
local t = require "tap"
local p = require "programs"
local i8, i32, i64, f32, bool = tide.i8, tide.i32, tide.i64, tide.f32, tide.bool

local A = tide.random(i8[4][6], 2, {lo = -20, hi = 20})
local M, N = 4, 6

-- The same function run by Lua on tensors and by a kernel over A[4][6] gives the same B[4][6].
local function check(fn)
  local k = tide.kernel {A = i8[M][N], B = i32[M][N], fn}
  local want = i32[M][N](0)
  fn(A, want)
  local got = select(2, p.same(k, A, i32[M][N](0)))
  t.ok(got:equal(want), tostring(got) .. tostring(want) .. tostring(k))
  return k
end

t.test("rows and rows of rows are views", function()
  check(function(A, B)
    for i = 0, M - 1 do
      local r, b = A[i], B[i]
      for j = 0, N - 1 do b[j] = r[j] * (i + 1) end
    end
    local row = B[2]
    row:set(7)
    B[3]:set(A[1])
    row[5] = A[3][5]
  end)
end)

t.test("slices: ranges, steps, numbers, all", function()
  check(function(A, B)
    B:slice({1, 3}, {2, 5}):set(A:slice({0, 2}, {3, 6}))
    B:slice(0):set(A:slice(3, {}))
    B:slice({}, 5):set(1)
    B:slice({0, 4, 2}, {0, 6, 3}):set(A:slice({1, 4, 2}, {1, 5, 3}))
    local inner = B:slice({1, 4}):slice({}, {1, 6}):slice({1, 3, 1}, {0, 5, 4})
    inner:set(inner + 1)
    inner[1][1] = 99
    B[3][4] = A:slice(2, 3)
    for i = 0, 2 do
      local two = B:slice({i, i + 2}, i)
      two[0] = two[1] + 1
    end
  end)
end)

t.test("a slice up to the end, whose length every value of its variables leaves the same", function()
  check(function(A, B)
    for p = 0, 1 do B[p]:slice({p, N, 2}):set(A[p]:slice({1 - p, N, 2})) end
    for q = 2, 0, -1 do B[2]:slice({q, N, 3}):set(A[2]:slice({2 - q, N, 3}) + q) end
    for i, j in tide.grid({0, 2}, {1, 3}) do B[3]:slice({i + j, N, 5}):set(A[1]:slice({3 - i - j, N, 6})) end
    for i = 0, 2 do
      for j = 0, i do B:slice({j, M, 4}, j):set(j) end
    end
  end)
end)

t.test("a slice of every P-th element, from each task's own on", function()
  local function interleaved(N, P)
    return tide.design(function(d)
      d.w = tide.task {map = {P}, X = i32[N], Y = i32[N], function(X, Y, p)
        Y:slice({p, N, P}):set(X:slice({p, N, P}) + p)
      end}
    end)
  end
  local function helped(N, P)
    return tide.design(function(d)
      d.w = tide.task {map = {P}, X = i32[N], Y = i32[N], function(X, Y, p)
        Y:slice({p, p + N - 3, 4}):set(X:slice({p, p + N - 3, 4}) + p)
      end}
    end)
  end
  local function want(N, P, X, most)
    local Y = i32[N](0)
    for p = 0, P - 1 do
      for i = p, math.min(N, p + most * P) - 1, P do Y[i] = X[i] + p end
    end
    return Y
  end
  for _, at in ipairs {{12, 4}, {12, 1}, {7, 7}, {64, 16}} do
    local n, P = at[1], at[2]
    local X, Y = tide.random(i32[n], 5, {lo = -50, hi = 50}), i32[n](0)
    interleaved(n, P)(X, Y)
    t.ok(Y:equal(want(n, P, X, n // P)), tostring(Y))
  end
  local e = t.fails(function() interleaved(13, 4) end,
    {kind = "usage", code = "extent", match = "from 3 to 4 elements"})
  t.has(e.help, "{p, p + N - 3, 4} has one length wherever it begins: N // 4")
  local X, Y = tide.random(i32[13], 5, {lo = -50, hi = 50}), i32[13](0)
  helped(13, 4)(X, Y)
  t.ok(Y:equal(want(13, 4, X, 13 // 4)), tostring(Y))
end)

t.test("transposes, also of slices and rows", function()
  local k = tide.kernel {A = i8[M][N], B = i32[N][M], C = i32[2][3][4], D = i32[4][2],
    function(A, B, C, D)
      B:set(A:transpose())
      local u = B:transpose()
      u[1][2] = 100
      B:transpose():slice({2, 4}, {1, 3}):set(A:slice({0, 2}, {0, 2}))
      D:set(C:transpose():slice({}, 1, {}))
      local r = C:transpose()[2]
      D[0][0] = r[1][1]
      local v = C:slice({}, {0, 2}, {1, 4, 2}):transpose()[1]
      v[0][1] = 55
      D[1][1] = v[0][1] + #v + v.shape[1] * 10 + v.shape[2]
    end}
  local C = tide.random(i32[2][3][4], 8, {lo = 0, hi = 50})
  local B, D = i32[N][M](0), i32[4][2](0)
  local want_c = C:copy()
  local function plain()
    for i = 0, M - 1 do for j = 0, N - 1 do B[j][i] = A[i][j] end end
    B[2][1] = 100
    for i = 0, 1 do for j = 0, 1 do B[j + 1][i + 2] = A[i][j] end end
    for i = 0, 3 do for j = 0, 1 do D[i][j] = C[j][1][i] end end
    D[0][0] = C[1][1][2]
    want_c[1][0][3] = 55
    D[1][1] = 55 + 2 + 2 * 10 + 2
  end
  plain()
  local _, b, c, d = p.same(k, A, i32[N][M](0), C, i32[4][2](0))
  t.ok(b:equal(B), tostring(b))
  t.ok(c:equal(want_c), tostring(c))
  t.ok(d:equal(D), tostring(d) .. tostring(D))
end)

t.test("a view named by a local keeps the indices it had", function()
  local k = tide.kernel {X = i32[8], Y = i32[8], function(X, Y)
    local n = i32(2)
    n = n + X[0]
    local w = Y:slice({n, n + 3})
    n = 0
    local x = X:slice({X[1], X[1] + 2})
    X[1] = 5
    w:set(9)
    x:set(7)
    w[0] = x[1] + X[1]
    Y[n] = #w
  end}
  local X, Y = p.same(k, tide.tensor(i32[8], {1, 4, 0, 0, 0, 0, 0, 0}), i32[8](0))
  t.eq(X:table(), {1, 5, 0, 0, 7, 7, 0, 0})
  t.eq(Y:table(), {3, 0, 0, 12, 9, 9, 0, 0})
end)

t.test("element by element", function()
  check(function(A, B)
    B:set(A * 2 + 1)
    B[0]:set(B[1] - A[2] * A[3])
    B[1]:set(-A[1])
    B[2]:set(tide.max(A[2], 3))
    local s = A[0] + A[1]
    B[3]:slice({0, 3}):set(s:slice({3, 6}) * 2)
    B[3][5] = (A[0] * A[1])[2]
  end)
end)

t.test("conversions and copies", function()
  local k = tide.kernel {A = i8[4], B = i32[4], F = f32[4], function(A, B, F)
    local c = A:copy()
    c[0] = 5
    B:set(c)
    local w = i32[4](A)
    w[1] = 1000
    B[1] = w[1]
    F:set(f32[4](A))
    F:set(F * 0.5)
    local z = i8[4](F)
    B[3] = z[3]
  end}
  local a = tide.tensor(i8[4], {1, 2, 3, -9})
  local _, B, F = p.foreign(k, a, i32[4](0), f32[4](0))
  t.eq(B:table(), {5, 1000, 3, -4})
  t.eq(F:table(), {0.5, 1.0, 1.5, -4.5})
end)

t.test("matmul and reduce", function()
  local k = tide.kernel {A = i8[3][4], B = i8[4][2], C = i32[3][2], D = i64[3][2], R = i32[3], S =
    i32[4],
    function(A, B, C, D, R, S)
      C:set(tide.matmul(A, B))
      D:set(tide.matmul(A, B, {acc = i64}) + C)
      R:set(tide.reduce(A, "+", 1))
      S:set(tide.reduce(A, "max", 0, {acc = i32}))
    end}
  local a, b = tide.random(i8[3][4], 1), tide.random(i8[4][2], 2)
  local _, _, C, D, R, S = p.same(k, a, b, i32[3][2](0), i64[3][2](0), i32[3](0), i32[4](0))
  for i = 0, 2 do
    local sum = 0
    for j = 0, 1 do
      local x = 0
      for m = 0, 3 do x = x + a[i][m] * b[m][j] end
      t.eq(C[i][j], x)
      t.eq(D[i][j], 2 * x)
    end
    for m = 0, 3 do sum = sum + a[i][m] end
    t.eq(R[i], sum)
  end
  for m = 0, 3 do t.eq(S[m], math.max(a[0][m], a[1][m], a[2][m])) end
end)

t.test("a target that is also an operand at other places is refused or exact", function()
  check(function(A, B)
    B:set(A)
    B[0]:set(B[1] + B[0])
    B:slice({}, {0, 3}):set(B:slice({}, {3, 6}) * 2)
  end)
end)

t.test("booleans", function()
  local k = tide.kernel {A = i8[6], F = bool[6], B = i32[6], function(A, F, B)
    for i = 0, 5 do F[i] = A[i] > 0 end
    F[0] = not F[0] or F[1] and A[2] == 3
    F:slice({3, 5}):set(true)
    for i = 0, 5 do
      if F[i] then B[i] = 1 end
      if F[i] == F[0] then B[i] = B[i] + i32(F[i]) + 2 end
    end
    local g = bool[6](false)
    g[1] = F[1] ~= F[2]
    if g[1] then B[5] = 77 end
    B:set(tide.select(F, B, B + 100))
  end}
  local a = tide.tensor(i8[6], {1, -1, 3, 4, 0, 6})
  local F, B = select(2, p.foreign(k, a, bool[6](false), i32[6](0)))
  t.eq(F:table(), {false, false, true, true, true, true})
  t.eq(B:table(), {102, 102, 1, 1, 1, 77})
end)

p.done()
