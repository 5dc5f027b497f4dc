-- strangers.lua - T2S programs as someone writes them who has read a page: names and orders of their own, sizes that do
-- not divide, bounds below zero, edges on both sides, reductions by min, max, or, small types, scalars. Definition and
-- design are run against loops in plain Lua. [slow]
local t = require "tap"
local tide = require "tide"
local t2s = require "tide.t2s"
local case = require "t2s_case"
local i8, i16, i32, u8, f32, f64, bool = tide.i8, tide.i16, tide.i32, tide.u8, tide.f32, tide.f64, tide.bool
local max, min, select, abs = tide.max, tide.min, tide.select, tide.abs
local Param, Const, Var, Func, assume = t2s.Param, t2s.Const, t2s.Var, t2s.Func, t2s.assume

local row, rows, sum, try = case.row, case.rows, case.sum, case.try

try("the greatest of windows, two apart", function(map)
  local src, H, W, r, q, u, v, qq = Param("src", i16, 2), Param "H", Param "W", Var "r q u v qq"
  local P = Func("P", i16)
  P[r][q] = -32768
  P[r][q] = max(P[r][q], src[2 * r + u][2 * q + v])
  P:set_bounds(r, 0, H, q, 0, W, u, 0, 3, v, 0, 3)
  if map then P:tile(q, qq, 2):unroll(qq) end
  return P, {}
end, {{H = 3, W = 5}, {H = 1, W = 2}}, function(a, z)
  return rows(z.H, z.W, function(r, q)
    return sum(0, 8, function(n) return a.src[2 * r + n // 3][2 * q + n % 3] end, math.max, -32768)
  end)
end)

try("edges on both sides", function(map)
  local a, N, x, xx = Param("a", i32, 1), Param "N", Var "x xx"
  local pad, y = Func("pad y", i32)
  pad[-1] = 0
  pad[N] = 0
  pad[x] = a[x]
  y[x] = pad[x - 1] + 2 * pad[x] + pad[x + 1]
  pad:set_bounds(x, 0, N)
  y:set_bounds(x, 0, N)
  if map then y:tile(x, xx, 2):unroll(xx) end
  return y, {}
end, {{N = 5}, {N = 4}}, function(a, z)
  return row(z.N, function(x) return (a.a[x - 1] or 0) + 2 * a.a[x] + (a.a[x + 1] or 0) end)
end)

try("edges on all sides of an image", function(map)
  local im, w, H, W, y, x, u, v, xx = Param("im", i32, 2), Param("w", i32, 2), Param "H", Param "W", Var "y x u v xx"
  local pd, cv = Func("pd cv", i32)
  pd[-1][x], pd[H][x], pd[y][-1], pd[y][W] = 0, 0, 0, 0
  pd[-1][-1], pd[-1][W], pd[H][-1], pd[H][W] = 0, 0, 0, 0
  pd[y][x] = im[y][x]
  cv[y][x] = 0
  cv[y][x] = cv[y][x] + pd[y + u - 1][x + v - 1] * w[u][v]
  pd:set_bounds(y, 0, H, x, 0, W)
  cv:set_bounds(y, 0, H, x, 0, W, u, 0, 3, v, 0, 3)
  if map then cv:tile(x, xx, 2):unroll(xx) end
  return cv, {}
end, {{H = 3, W = 5}}, function(a, z)
  return rows(z.H, z.W, function(y, x)
    return sum(0, 8, function(n)
      return ((a.im[y + n // 3 - 1] or {})[x + n % 3 - 1] or 0) * a.w[n // 3][n % 3]
    end)
  end)
end)

try("a sum from below zero", function(map)
  local a, R, d, n, N, nn = Param("a", i32, 1), Const "R", Var "d", Var "n", Param "N", Var "nn"
  local cor = Func("cor", i32)
  cor[n] = 0
  cor[n] = cor[n] + a[n + d + R] * (d + 1)
  cor:set_bounds(n, 0, N, d, -R, R + 1)
  if map then cor:tile(n, nn, 3):unroll(nn) end
  return cor, {R = 2}
end, {{N = 7}, {N = 3}}, function(a, z)
  return row(z.N, function(n) return sum(-2, 2, function(d) return a.a[n + d + 2] * (d + 1) end) end)
end)

try("a result from below zero", function(map)
  local a, R, d, n, N = Param("a", i32, 1), Const "R", Var "d", Var "n", Param "N"
  local cor = Func("cor", i32)
  cor[d] = 0
  cor[d] = cor[d] + a[n] * (n + d)
  cor:set_bounds(d, -R, R + 1, n, 0, N)
  if map then cor:unroll(d) end
  return cor, {R = 2}
end, {{N = 7}}, function(a, z)
  return row(3, function(d) return sum(0, z.N - 1, function(n) return a.a[n] * (n + d) end) end)
end)

try("tests in a type of their own", function(map)
  local m, R, r, rr, pos = Param("m", i32, 1), Param "R", Var "r", Var "rr", Func("pos", bool)
  pos[r] = m[r]:gt(0) & m[r]:lt(5)
  pos:set_bounds(r, 0, R)
  if map then pos:tile(r, rr, 2):unroll(rr) end
  return pos, {}
end, {{R = 5}}, function(a, z) return row(z.R, function(r) return a.m[r] > 0 and a.m[r] < 5 end) end)

try("bytes that are summed as words, all operands in chains", function(map)
  local A, B, M, N, K, m, n, k, mm = Param("A", i8, 2), Param("B", i8, 2), Param "M", Param "N", Param "K",
    Var "m n k mm"
  local C, fb, dr = Func("C fb dr", i32)
  C[m][n] = 0
  C[m][n] = C[m][n] + i32(A[m][k]) * i32(B[k][n])
  C:set_bounds(m, 0, M, n, 0, N, k, 0, K)
  if map then
    assume.divisible(M, 3)
    C:tile(m, mm, 3):unroll(mm):isolate_producer_chain(B, fb):relay(B, {1})
    C:isolate_consumer_chain(C, dr):relay(C, {-1})
  end
  return C, {}
end, {{M = 6, N = 2, K = 5}}, function(a, z)
  return rows(z.M, z.N, function(m, n) return sum(0, z.K - 1, function(k) return a.A[m][k] * a.B[k][n] end) end)
end, {lo = -128, hi = 127})

try("shortest paths by two steps, all relays backwards", function(map)
  local D, E, N, p, q, r, pp, qq = Param("D", i32, 2), Param("E", i32, 2), Param "N", Var "p q r pp qq"
  local F, fd, fe, out = Func("F fd fe out", i32)
  F[p][q] = 1 << 20
  F[p][q] = min(F[p][q], D[p][r] + E[r][q])
  F:set_bounds(p, 0, N, q, 0, N, r, 0, N)
  if map then
    F:tile(p, q, pp, qq, 2, 3):unroll(pp, qq):isolate_producer_chain(D, fd):isolate_producer_chain(E, fe)
    F:isolate_consumer_chain(F, out):relay(D, {0, -1}):relay(E, {-1, 0}):relay(F, {1, 0})
  end
  return F, {}
end, {{N = 5}, {N = 6}}, function(a, z)
  return rows(z.N, z.N, function(p, q)
    return sum(0, z.N - 1, function(r) return a.D[p][r] + a.E[r][q] end, math.min, 1 << 20)
  end)
end)

try("scalars beside a product", function(map)
  local alpha, beta, A, B, C0 = Param("alpha", f32), Param("beta", f32), Param("A B C0", f32, 2)
  local M, N, K, m, n, k, mm, nn = Param "M", Param "N", Param "K", Var "m n k mm nn"
  local S, Y, fa, fb = Func("S Y fa fb", f32)
  S[m][n] = 0
  S[m][n] = S[m][n] + A[m][k] * B[k][n]
  Y[m][n] = alpha * S[m][n] + beta * C0[m][n]
  S:set_bounds(m, 0, M, n, 0, N, k, 0, K)
  Y:set_bounds(m, 0, M, n, 0, N)
  if map then
    assume.divisible(M, 2, N, 2)
    for _, f in ipairs {S, Y} do f:tile(m, n, mm, nn, 2, 2):unroll(mm, nn) end
    S:isolate_producer_chain(A, fa):isolate_producer_chain(B, fb):relay(A, {0, 1}):relay(B, {1, 0})
  end
  return Y, {}
end, {{M = 4, N = 4, K = 3}}, function(a, z)
  return rows(z.M, z.N, function(m, n)
    return a.alpha * sum(0, z.K - 1, function(k) return a.A[m][k] * a.B[k][n] end) + a.beta * a.C0[m][n]
  end)
end)

try("a filter that feeds back, rows in space", function(map)
  local X, B, N, b, n, bb, Y = Param("X", f32, 2), Param "B", Param "N", Var "b", Var "n", Var "bb", Func("Y", f32)
  Y[b][-1] = 0
  Y[b][n] = X[b][n] + 0.5 * Y[b][n - 1]
  Y:set_bounds(b, 0, B, n, 0, N)
  if map then Y:tile(b, bb, 2):unroll(bb) end
  return Y, {}
end, {{B = 3, N = 4}}, function(a, z)
  return rows(z.B, z.N, function(b, n) return sum(0, n, function(m) return a.X[b][m] * 0.5 ^ (n - m) end) end)
end)

-- Three Funcs behind one another, the last alone in tiles.
local function blur(map)
  local im, H, W, y, x, xx, g, h, o = Param("im", i32, 2), Param "H", Param "W", Var "y", Var "x", Var "xx",
    Func("g h o", i32)
  g[y][x] = im[y][x] * 3
  h[y][x] = g[y][x] + g[y][x + 1] + g[y][x + 2]
  o[y][x] = select(h[y][x]:gt(10), h[y][x], 0)
  g:set_bounds(y, 0, H, x, 0, W + 2)
  h:set_bounds(y, 0, H, x, 0, W)
  o:set_bounds(y, 0, H, x, 0, W)
  if map then o:tile(x, xx, 2):unroll(xx) end
  return o, {}
end

try("three Funcs, of which one is mapped", blur, {{H = 2, W = 5}}, function(a, z)
  return rows(z.H, z.W, function(y, x)
    local s = 3 * (a.im[y][x] + a.im[y][x + 1] + a.im[y][x + 2])
    return s > 10 and s or 0
  end)
end)

t.test("what goes from Func to Func all at once is told, with why", function()
  local left = t2s.report((t2s.design((blur(true))))).left
  t.eq(#left, 2)
  t.eq(left[1].what, "g to h by channels")
  t.has(left[1].why, "again")
  t.eq(left[2].what, "h to o by channels")
  t.has(left[2].why, "tiles of h and o differ")
  t.ok(left[1].place.line > 0)
  t.eq(#t2s.report((t2s.design((blur(false))))).left, 1)
end)

try("blurs along both axes", function(map)
  local im, H, W, y, x, d, xx = Param("im", i32, 2), Param "H", Param "W", Var "y x d xx"
  local bx, by = Func("bx by", i32)
  bx[y][x] = 0
  bx[y][x] = bx[y][x] + im[y][x + d]
  by[y][x] = 0
  by[y][x] = by[y][x] + bx[y + d][x]
  bx:set_bounds(y, 0, H + 2, x, 0, W, d, 0, 3)
  by:set_bounds(y, 0, H, x, 0, W, d, 0, 3)
  if map then
    assume.divisible(W, 2)
    for _, f in ipairs {bx, by} do f:tile(x, xx, 2):unroll(xx) end
  end
  return by, {}
end, {{H = 3, W = 4}}, function(a, z)
  return rows(z.H, z.W, function(y, x)
    return sum(0, 8, function(n) return a.im[y + n // 3][x + n % 3] end)
  end)
end)

try("where the greatest is: two reductions of one row", function(map)
  local D, R, C, r, k, rr, best, at = Param("D", i32, 2), Param "R", Param "C", Var "r", Var "k", Var "rr",
    Func("best at", i32)
  best[r] = -1000
  best[r] = max(best[r], D[r][k])
  at[r] = 9999
  at[r] = min(at[r], select(D[r][k]:eq(best[r]), k, 9999))
  for _, f in ipairs {best, at} do
    f:set_bounds(r, 0, R, k, 0, C)
    if map then f:tile(r, rr, 2):unroll(rr) end
  end
  return at, {}
end, {{R = 3, C = 5}, {R = 4, C = 1}}, function(a, z)
  return row(z.R, function(r)
    local at = 0
    for k = 1, z.C - 1 do if a.D[r][k] > a.D[r][at] then at = k end end
    return at
  end)
end)

try("sizes made of Consts by shifts and products", function(map)
  local v, N, L, n, l, nn, F = Param("v", i32, 1), Param "N", Const "L", Var "n", Var "l", Var "nn", Func("F", i32)
  F[n] = 1
  F[n] = F[n] * v[n + l * (L - 1)]
  F:set_bounds(n, 0, N, l, 0, 1 << (L - 1))
  if map then
    assume.divisible(N, 2 * L)
    F:tile(n, nn, 2 * L):unroll(nn)
  end
  return F, {L = 2}
end, {{N = 8}, {N = 4}}, function(a, z) return row(z.N, function(n) return a.v[n] * a.v[n + 1] end) end)

-- The table of a longest common part, or of an edit distance, with edges that are functions.
local function common(a, z)
  local o = {}
  for p = -1, z.n - 1 do
    o[p] = {}
    for q = -1, z.m - 1 do
      o[p][q] = (p < 0 or q < 0) and 0 or a.u[p] == a.w[q] and o[p - 1][q - 1] + 1 or math.max(o[p - 1][q], o[p][q - 1])
    end
  end
  return o
end

try("longest common parts on an array, all of the table", function(map)
  local u, w, n, m, p, q, pp, qq = Param("u", u8, 1), Param("w", u8, 1), Param "n", Param "m", Var "p q pp qq"
  local T, drv = Func("T drv", i32)
  T[p][-1], T[-1][q], T[-1][-1] = 0, 0, 0
  T[p][q] = select(u[p]:eq(w[q]), T[p - 1][q - 1] + 1, max(T[p - 1][q], T[p][q - 1]))
  T:set_bounds(p, 0, n, q, 0, m)
  if map then
    T:tile(p, q, pp, qq, 3, 2)
    T:isolate_producer_chain(T, drv):isolate_consumer_chain(T, drv)
    T:isolate_producer_chain(u, drv):isolate_producer_chain(w, drv)
    T:unroll(pp, qq):relay(T, {0, 1}):relay(T, {1, 0}):relay(T, {1, 1}):relay(w, {1, 0}):relay(u, {0, 1})
  end
  return T, {}
end, {{n = 5, m = 7}, {n = 3, m = 2}}, function(a, z)
  local o = common(a, z)
  return rows(z.n, z.m, function(p, q) return o[p][q] end)
end, {lo = 0, hi = 2})

try("an edit distance, whose edges count", function(map)
  local u, w, N, M, a, b, aa, bb = Param("u", u8, 1), Param("w", u8, 1), Param "N", Param "M", Var "a b aa bb"
  local E, drv = Func("E drv", i32)
  E[-1][-1] = 0
  E[-1][b] = b + 1
  E[a][-1] = a + 1
  E[a][b] = min(E[a - 1][b - 1] + select(u[a]:eq(w[b]), 0, 1), min(E[a - 1][b], E[a][b - 1]) + 1)
  E:set_bounds(a, 0, N, b, 0, M):store(N - 1, M - 1)
  if map then
    E:tile(a, b, aa, bb, 2, 2)
    E:isolate_producer_chain(E, drv):isolate_consumer_chain(E, drv)
    E:isolate_producer_chain(u, drv):isolate_producer_chain(w, drv)
    E:unroll(aa, bb):relay(E, {1, 1}):relay(E, {1, 0}):relay(E, {0, 1}):relay(u, {0, 1}):relay(w, {1, 0})
  end
  return E, {}
end, {{N = 4, M = 6}, {N = 5, M = 3}}, function(a, z)
  local o = {}
  for p = 0, z.N do
    o[p] = {}
    for q = 0, z.M do
      o[p][q] = (p == 0 or q == 0) and p + q or math.min(o[p - 1][q - 1] + (a.u[p - 1] == a.w[q - 1] and 0 or 1),
        o[p - 1][q] + 1, o[p][q - 1] + 1)
    end
  end
  return {o[z.N][z.M]}
end, {lo = 0, hi = 2})

try("sums over rectangles, by a skewed loop", function(map)
  local a, M, N, i, j, S = Param("a", i32, 2), Const "M", Const "N", Var "i", Var "j", Func("S", i32)
  S[i][j] = a[i][j] + select(i:eq(0), 0, S[i - 1][j]) + select(j:eq(0), 0, S[i][j - 1])
    - select(i:eq(0) | j:eq(0), 0, S[i - 1][j - 1])
  S:set_bounds(i, 0, M, j, 0, N)
  if map then S:space_time_transform({i}, {1}) end
  return S, {M = 3, N = 4}
end, {{}}, function(a)
  return rows(3, 4, function(i, j)
    return sum(0, i, function(x) return sum(0, j, function(y) return a.a[x][y] end) end)
  end)
end)

for _, way in ipairs {{0, 1, 0, 0, 0, 1, 1, 1, 1}, {1, 0, 0, 0, 1, 0, 1, 1, 1}} do
  try("a product of equations by a matrix: " .. table.concat(way), function(map)
    local A, B, I, J, K, i, j, k = Param("A", i32, 2), Param("B", i32, 2), Const "I", Const "J", Const "K", Var "i j k"
    local X, Y, Z, C = Func("X Y Z C", i32)
    X[i][j][k] = select(j:eq(0), A[i][k], X[i][j - 1][k])
    Y[i][j][k] = select(i:eq(0), B[k][j], Y[i - 1][j][k])
    Z[i][j][k] = select(k:eq(0), 0, Z[i][j][k - 1]) + X[i][j][k] * Y[i][j][k]
    C[i][j] = t2s.select(k:eq(K - 1), Z[i][j][k])
    C:merge_ures(X, Y, Z):set_bounds(i, 0, I, j, 0, J, k, 0, K)
    if map then C:space_time_transform({i, j, k}, {Var "p q t"}, way) end
    return C, {I = 2, J = 3, K = 4}
  end, {{}}, function(a)
    return rows(2, 3, function(i, j) return sum(0, 3, function(k) return a.A[i][k] * a.B[k][j] end) end)
  end)
end

try("differences of bytes", function(map)
  local a, b, N, K, n, k, nn, F, feed = Param("a", u8, 1), Param("b", u8, 1), Param "N", Param "K", Var "n", Var "k",
    Var "nn", Func("F feed", i32)
  F[n] = 0
  F[n] = F[n] + abs(i32(a[n + k]) - i32(b[k]))
  F:set_bounds(n, 0, N, k, 0, K)
  if map then
    assume.divisible(N, 4)
    F:tile(n, nn, 4):unroll(nn):isolate_producer_chain(b, feed):relay(b, {1})
  end
  return F, {}
end, {{N = 8, K = 3}, {N = 4, K = 1}}, function(a, z)
  return row(z.N, function(n) return sum(0, z.K - 1, function(k) return math.abs(a.a[n + k] - a.b[k]) end) end)
end, {lo = 0, hi = 255})

for _, zero in ipairs {true, false} do
  try("the upper triangle of a matrix, first values " .. (zero and "that are none" or "of their own"), function(map)
    local U, x, N, i, j, ii, y = Param("U", i32, 2), Param("x", i32, 1), Param "N", Var "i", Var "j", Var "ii",
      Func("y", i32)
    if zero then y[i] = 0 else y[i] = x[i] end
    y[i] = y[i] + U[i][j] * x[j]
    y:set_bounds(i, 0, N, j, i + 1, N)
    if map then y:tile(i, ii, 2):unroll(ii) end
    return y, {}
  end, {{N = 5}, {N = 2}}, function(a, z)
    return row(z.N, function(i)
      return sum(i + 1, z.N - 1, function(j) return a.U[i][j] * a.x[j] end, nil, zero and 0 or a.x[i])
    end)
  end)
end

try("bounds from one, which leave an element as it is", function(map)
  local x, N, i, ii, y = Param("x", i32, 1), Param "N", Var "i", Var "ii", Func("y", i32)
  y[i] = x[i] - x[i - 1]
  y:set_bounds(i, 1, N)
  if map then y:tile(i, ii, 2):unroll(ii) end
  return y, {}
end, {{N = 6}}, function(a, z) return row(z.N, function(i) return i > 0 and a.x[i] - a.x[i - 1] or 0 end) end)

try("a polynomial in doubles, coefficients from the far end", function(map)
  local co, x, N, K = Param("co", f64, 1), Param("x", f64, 1), Param "N", Param "K"
  local n, k, nn, P, feed = Var "n", Var "k",
    Var "nn", Func("P feed", f64)
  P[n] = 0
  P[n] = P[n] * x[n] + co[k]
  P:set_bounds(n, 0, N, k, 0, K)
  if map then
    assume.divisible(N, 2)
    P:tile(n, nn, 2):unroll(nn):isolate_producer_chain(co, feed):relay(co, {-1})
  end
  return P, {}
end, {{N = 4, K = 3}}, function(a, z)
  return row(z.N, function(n)
    return sum(0, z.K - 1, function(k) return a.co[k] * a.x[n] ^ (z.K - 1 - k) end)
  end)
end)

try("heat in a rod, cells in space, edges on both sides", function(map)
  local u, T, N, s, x, U, edge = Param("u", f32, 1), Param "T", Const "N", Var "s", Var "x", Func("U edge", f32)
  U[-1][x] = u[x]
  U[s][-1], U[s][N], U[-1][-1], U[-1][N] = 0, 0, 0, 0
  U[s][x] = 0.25 * U[s - 1][x - 1] + 0.5 * U[s - 1][x] + 0.25 * U[s - 1][x + 1]
  U:set_bounds(s, 0, T, x, 0, N)
  if map then
    U:unroll(x):relay(U, {1}):relay(U, {-1}):isolate_producer_chain(U, edge):isolate_consumer_chain(U, edge)
  end
  return U, {N = 4}
end, {{T = 3}, {T = 1}}, function(a, z)
  local was = a.u
  return row(z.T, function()
    local now = {}
    for x = 0, 3 do now[x] = 0.25 * (was[x - 1] or 0) + 0.5 * was[x] + 0.25 * (was[x + 1] or 0) end
    was = now
    return row(4, function(x) return now[x] end)
  end)
end)

try("a triangle of results", function(map)
  local A, N, K, i, j, k, jj, C = Param("A", i32, 2), Param "N", Param "K", Var "i", Var "j", Var "k", Var "jj",
    Func("C", i32)
  C[i][j] = 0
  C[i][j] = C[i][j] + A[i][k] * A[j][k]
  C:set_bounds(i, 0, N, j, 0, i + 1, k, 0, K)
  if map then C:tile(j, jj, 2):unroll(jj) end
  return C, {}
end, {{N = 4, K = 3}}, function(a, z)
  return rows(z.N, z.N, function(i, j)
    return j <= i and sum(0, z.K - 1, function(k) return a.A[i][k] * a.A[j][k] end) or 0
  end)
end)

try("counts by value: data that chooses the element", function()
  local v, N, B, n, b, H = Param("v", i32, 1), Param "N", Param "B", Var "n", Var "b", Func("H", i32)
  H[b] = 0
  H[v[n]] = H[v[n]] + 1
  H:set_bounds(b, 0, B, n, 0, N)
  return H, {}
end, {{N = 9, B = 4}}, function(a, z)
  return row(z.B, function(b) return sum(0, z.N - 1, function(n) return a.v[n] == b and 1 or 0 end) end)
end, {lo = 0, hi = 4})

try("rows of a sparse matrix, as wide as the widest", function(map)
  local v, col, x, N, W = Param("v", f32, 2), Param("col", i32, 2), Param("x", f32, 1), Param "N", Param "W"
  local n, w, nn, y = Var "n", Var "w", Var "nn", Func("y", f32)
  y[n] = 0
  y[n] = y[n] + v[n][w] * x[col[n][w]]
  y:set_bounds(n, 0, N, w, 0, W)
  if map then y:tile(n, nn, 2):unroll(nn) end
  return y, {}
end, {{N = 5, W = 3, x_0 = 4}}, function(a, z)
  return row(z.N, function(n) return sum(0, z.W - 1, function(w) return a.v[n][w] * a.x[a.col[n][w]] end) end)
end, {lo = 0, hi = 4})

t.done()
