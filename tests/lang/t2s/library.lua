-- library.lua - T2S programs of many fields as strangers write them, mapped in ways that no other test has: linear
-- algebra over triangles, dynamic programs, sorts, graphs, convolutions of every kind, stencils, statistics. Each runs
-- as a definition, a design and with a clock, some as HLS C++, against loops in plain Lua. [slow]
local t = require "tap"
local tide = require "tide"
local t2s = require "tide.t2s"
local case = require "t2s_case"
local i16, i32, u8, f32 = tide.i16, tide.i32, tide.u8, tide.f32
local max, min, select = tide.max, tide.min, tide.select
local Param, Const, Var, Func, assume = t2s.Param, t2s.Const, t2s.Var, t2s.Func, t2s.assume
local row, rows, sum, try = case.row, case.rows, case.sum, case.try
local all, clock, bits, small = {builds = true}, {builds = "clock"}, {lo = 0, hi = 1}, {lo = 1, hi = 9}

-- Linear algebra.

try("a batch of products, rows fed by scatter, columns collected", function(map)
  local P, Q = Param("P Q", i16, 3)
  local N, M, L, D = Param "N M L D"
  local TM, TL = Const "TM TL"
  local n, m, l, d, mi, li = Var "n m l d mi li"
  local R, pl, pf, ql, qf, out = Func("R pl pf ql qf out", i32)
  R[n][m][l] = 0
  R[n][m][l] = R[n][m][l] + i32(P[n][m][d]) * i32(Q[n][d][l])
  R:set_bounds(n, 0, N, m, 0, M, l, 0, L, d, 0, D)
  if map then
    assume.divisible(M, TM, L, TL)
    R:tile(m, l, mi, li, TM, TL)
    R:isolate_producer_chain(P, pl, pf):isolate_producer_chain(Q, ql, qf):isolate_consumer_chain(R, out)
    R:unroll(mi, li):relay(P, {0, 1}):relay(Q, {1, 0}):relay(R, {0, -1})
    pf:unroll(mi):relay(P, {1})
    qf:unroll(li):relay(Q, {1})
    out:unroll(mi)
  end
  return R, {TM = 3, TL = 2}
end, {{N = 2, M = 6, L = 4, D = 5}, {N = 1, M = 3, L = 2, D = 1}}, function(a, z)
  return row(z.N, function(n)
    return rows(z.M, z.L, function(m, l) return sum(0, z.D - 1, function(d) return a.P[n][m][d] * a.Q[n][d][l] end) end)
  end)
end, nil, clock)

try("a product of weights that stay: sums travel along k, in tiles", function(map)
  local P, Q = Param("P Q", i32, 2)
  local M, N, K = Param "M N K"
  local m, n, k, kk = Var "m n k kk"
  local S, R = Func("S R", i32)
  S[m][n][k] = select(k:eq(0), 0, S[m][n][k - 1]) + P[m][k] * Q[k][n]
  R[m][n] = t2s.select(k:eq(K - 1), S[m][n][k])
  R:merge_ures(S):set_bounds(m, 0, M, n, 0, N, k, 0, K)
  if map then
    assume.divisible(K, 3)
    R:tile(k, kk, 3):unroll(kk):relay(S, {1})
  end
  return R, {}
end, {{M = 2, N = 4, K = 6}, {M = 1, N = 1, K = 3}}, function(a, z)
  return rows(z.M, z.N, function(m, n) return sum(0, z.K - 1, function(k) return a.P[m][k] * a.Q[k][n] end) end)
end, nil, clock)

try("a tensor times a matrix, in and out by chains on both axes", function(map)
  local X, U = Param("X", f32, 3), Param("U", f32, 2)
  local I, J, K, L = Param "I J K L"
  local i, j, k, l, jj, ll = Var "i j k l jj ll"
  local Y, xl, xf, ul, uf, oc, od = Func("Y xl xf ul uf oc od", f32)
  Y[i][j][l] = 0
  Y[i][j][l] = Y[i][j][l] + X[i][j][k] * U[k][l]
  Y:set_bounds(i, 0, I, j, 0, J, l, 0, L, k, 0, K)
  if map then
    assume.divisible(J, 2, L, 3)
    Y:tile(j, l, jj, ll, 2, 3)
    Y:isolate_producer_chain(X, xl, xf):isolate_producer_chain(U, ul, uf):isolate_consumer_chain(Y, od, oc)
    Y:unroll(jj, ll):relay(X, {0, 1}):relay(U, {1, 0}):relay(Y, {-1, 0})
    xf:unroll(jj):relay(X, {1})
    uf:unroll(ll):relay(U, {1})
    oc:unroll(ll):relay(Y, {-1})
  end
  return Y, {}
end, {{I = 2, J = 4, K = 3, L = 3}}, function(a, z)
  return row(z.I, function(i)
    return rows(z.J, z.L, function(j, l) return sum(0, z.K - 1, function(k) return a.X[i][j][k] * a.U[k][l] end) end)
  end)
end, nil, clock)

try("the upper half of a product of upper triangles, in tiles that do not divide", function(map)
  local A, B = Param("A B", i32, 2)
  local N, i, j, k, ii, C = Param "N", Var "i", Var "j", Var "k", Var "ii", Func("C", i32)
  C[i][j] = 0
  C[i][j] = C[i][j] + A[i][k] * B[k][j]
  C:set_bounds(i, 0, N, j, i, N, k, i, j + 1)
  if map then C:tile(i, ii, 2):unroll(ii) end
  return C, {}
end, {{N = 5}, {N = 2}, {N = 1}}, function(a, z)
  return rows(z.N, z.N, function(i, j) return sum(i, j, function(k) return a.A[i][k] * a.B[k][j] end) end)
end, nil, all)

try("a product with its own transpose, the lower half: an element for each place of a triangle", function(map)
  local A, N, K = Param("A", f32, 2), Const "N", Param "K"
  local i, j, k, C = Var "i", Var "j", Var "k", Func("C", f32)
  C[i][j] = 0
  C[i][j] = C[i][j] + A[i][k] * A[j][k]
  C:set_bounds(i, 0, N, j, 0, i + 1, k, 0, K)
  if map then C:unroll(i, j) end
  return C, {N = 3}
end, {{K = 3}, {K = 1}}, function(a, z)
  return rows(3, 3, function(i, j)
    return j <= i and sum(0, z.K - 1, function(k) return a.A[i][k] * a.A[j][k] end) or 0
  end)
end, nil, all)

for _, way in ipairs {"rows", "columns"} do
  try("a triangle solved: an element for each of its " .. way, function(map)
    local L, b, N = Param("L", f32, 2), Param("b", f32, 1), Const "N"
    local i, j, S, X, O = Var "i", Var "j", Func("S X O", f32)
    S[i][j] = select(j:eq(0), b[i], S[i][j - 1] - L[i][j - 1] * X[i][j - 1])
    X[i][j] = select(i:eq(j), S[i][j] / L[i][j], X[i - 1][j])
    O[j] = t2s.select(i:eq(N - 1), X[i][j])
    O:merge_ures(S, X):set_bounds(i, 0, N, j, 0, i + 1)
    if map and way == "rows" then O:unroll(i):relay(X, {1}) end
    if map and way == "columns" then O:unroll(j):relay(S, {1}):relay(X, {1}) end
    return O, {N = 4}
  end, {{}}, function(a)
    local x = {}
    for i = 0, 3 do x[i] = (a.b[i] - sum(0, i - 1, function(j) return a.L[i][j] * x[j] end)) / a.L[i][i] end
    return row(4, function(n) return x[n] end)
  end, small, clock)
end

-- What Givens rotations make of a matrix of m rows and n columns.
local function rotated(A, m, n)
  local R = {}
  for i = 0, m - 1 do R[i] = table.move(A[i], 0, n - 1, 0, {}) end
  for k = 0, n - 1 do
    for i = k + 1, m - 1 do
      local r = math.sqrt(R[k][k] ^ 2 + R[i][k] ^ 2)
      local c, s = R[k][k] / r, R[i][k] / r
      for j = k, n - 1 do R[k][j], R[i][j] = c * R[k][j] + s * R[i][j], c * R[i][j] - s * R[k][j] end
    end
  end
  return R
end

for _, way in ipairs {"pivot", "place"} do
  try("QR by Givens rotations: an element for each " .. way, function(map)
    local A, M, N = Param("A", f32, 2), Const "M", Const "N"
    local k, i, j = Var "k i j"
    local P, V, C, S, O = Func("P V C S O", f32)
    local was, up = select(k:eq(0), A[i][j], V[k - 1][i][j]), select(i:eq(k), 0.0, P[k][i - 1][j])
    local r = tide.sqrt(up * up + was * was)
    C[k][i][j] = select(j:eq(k), up / r, C[k][i][j - 1])
    S[k][i][j] = select(j:eq(k), was / r, S[k][i][j - 1])
    P[k][i][j] = C[k][i][j] * up + S[k][i][j] * was
    V[k][i][j] = C[k][i][j] * was - S[k][i][j] * up
    O[k][j] = t2s.select(i:eq(M - 1), P[k][i][j])
    O:merge_ures(C, S, P, V):set_bounds(k, 0, N, i, k, M, j, k, N)
    if map and way == "pivot" then O:unroll(k):relay(V, {1}) end
    if map and way == "place" then O:unroll(k, j):relay(V, {1, 0}):relay(C, {0, 1}):relay(S, {0, 1}) end
    return O, {M = 5, N = 3}
  end, {{}}, function(a)
    local R = rotated(a.A, 5, 3)
    return rows(3, 3, function(k, j) return j >= k and R[k][j] or 0 end)
  end, small, all)
end

try("sampled products: a matrix times another's transpose where a third is not 0", function(map)
  local S, U, V = Param("S U V", i32, 2)
  local I, J, K, i, j, k, ii, jj = Param "I", Param "J", Param "K", Var "i j k ii jj"
  local T, O, uf, vf = Func("T O uf vf", i32)
  T[i][j] = 0
  T[i][j] = T[i][j] + U[i][k] * V[j][k]
  O[i][j] = select(S[i][j]:ne(0), S[i][j] * T[i][j], 0)
  T:set_bounds(i, 0, I, j, 0, J, k, 0, K)
  O:set_bounds(i, 0, I, j, 0, J)
  if map then
    assume.divisible(I, 2, J, 3)
    for _, f in ipairs {T, O} do f:tile(i, j, ii, jj, 2, 3):unroll(ii, jj) end
    T:isolate_producer_chain(U, uf):isolate_producer_chain(V, vf):relay(U, {0, 1}):relay(V, {1, 0})
  end
  return O, {}
end, {{I = 4, J = 3, K = 5}, {I = 2, J = 6, K = 1}}, function(a, z)
  return rows(z.I, z.J, function(i, j)
    return a.S[i][j] * sum(0, z.K - 1, function(k) return a.U[i][k] * a.V[j][k] end)
  end)
end, {lo = -2, hi = 2}, all)

-- Convolutions.

try("a convolution by channel: line buffers below a cache", function(map)
  local X, W = Param("X W", i32, 3)
  local C, Y, Z, R = Param "C", Param "Y", Param "Z", Const "R"
  local c, y, z, r, s, zz = Var "c y z r s zz"
  local D, xl, xf, wl, wf = Func("D xl xf wl wf", i32)
  D[c][y][z] = 0
  D[c][y][z] = D[c][y][z] + X[c][y + r][z + s] * W[c][r][s]
  D:set_bounds(c, 0, C, y, 0, Y, z, 0, Z, r, 0, R, s, 0, R)
  if map then
    assume.divisible(Z, 2)
    D:tile(z, zz, 2)
    D:isolate_producer_chain(X, xl, xf):isolate_producer_chain(W, wl, wf):unroll(zz):relay(W, {1})
    xf:buffer(X, c):linebuffer(X, y)
    wl:remove(y, z)
    wf:buffer(W, c)
  end
  return D, {R = 2}
end, {{C = 2, Y = 3, Z = 4}, {C = 1, Y = 1, Z = 2}}, function(a, z)
  return row(z.C, function(c)
    return rows(z.Y, z.Z, function(y, x)
      return sum(0, 3, function(n) return a.X[c][y + n // 2][x + n % 2] * a.W[c][n // 2][n % 2] end)
    end)
  end)
end, nil, all)

try("groups of channels, strides of two, weights that stay", function(map)
  local X, W = Param("X", i16, 4), Param("W", i16, 5)
  local G, O, C, H, V = Param "G O C H V"
  local g, o, c, h, v, r, s, vv = Var "g o c h v r s vv"
  local Y, wl, wf, xl = Func("Y wl wf xl", i32)
  Y[g][o][h][v] = 0
  Y[g][o][h][v] = Y[g][o][h][v] + i32(X[g][c][2 * h + r][2 * v + s]) * i32(W[g][o][c][r][s])
  Y:set_bounds(g, 0, G, o, 0, O, h, 0, H, v, 0, V, c, 0, C, r, 0, 3, s, 0, 3)
  if map then
    assume.divisible(V, 2)
    Y:tile(v, vv, 2):isolate_producer_chain(W, wl, wf):isolate_producer_chain(X, xl):unroll(vv):relay(W, {1})
    wl:remove(h, v)
    wf:buffer(W, o)
  end
  return Y, {}
end, {{G = 2, O = 2, C = 1, H = 2, V = 4}}, function(a, z)
  return row(z.G, function(g)
    return row(z.O, function(o)
      return rows(z.H, z.V, function(h, v)
        return sum(0, 9 * z.C - 1, function(n)
          local c, r, s = n // 9, n // 3 % 3, n % 3
          return a.X[g][c][2 * h + r][2 * v + s] * a.W[g][o][c][r][s]
        end)
      end)
    end)
  end)
end, nil, clock)

try("edges of zeros by a condition: the tensor is as large as the result", function(map)
  local im, w = Param("im w", i32, 2)
  local H, W, y, x, u, v, xx = Param "H", Param "W", Var "y x u v xx"
  local c, f = Func("c f", i32)
  local at, to = y + u - 1, x + v - 1
  c[y][x] = 0
  c[y][x] = c[y][x] + select(at:ge(0) & at:lt(H) & to:ge(0) & to:lt(W), im[at][to], 0) * w[u][v]
  c:set_bounds(y, 0, H, x, 0, W, u, 0, 3, v, 0, 3)
  if map then c:tile(x, xx, 2):unroll(xx):isolate_producer_chain(w, f):relay(w, {1}) end
  return c, {}
end, {{H = 3, W = 5}, {H = 1, W = 1}}, function(a, z)
  return rows(z.H, z.W, function(y, x)
    return sum(0, 8, function(n)
      return ((a.im[y + n // 3 - 1] or {})[x + n % 3 - 1] or 0) * a.w[n // 3][n % 3]
    end)
  end)
end, nil, all)

try("edges that repeat, by max and min", function(map)
  local a, N, x, xx, y = Param("a", i32, 1), Param "N", Var "x", Var "xx", Func("y", i32)
  y[x] = a[max(x - 1, 0)] + 2 * a[x] + a[min(x + 1, N - 1)]
  y:set_bounds(x, 0, N)
  if map then y:tile(x, xx, 3):unroll(xx) end
  return y, {}
end, {{N = 7}, {N = 1}, {N = 3}}, function(a, z)
  return row(z.N, function(x) return a.a[math.max(x - 1, 0)] + 2 * a.a[x] + a.a[math.min(x + 1, z.N - 1)] end)
end, nil, clock)

try("a transposed convolution: rows of the input in every second place", function(map)
  local a, w, N, K = Param("a", i32, 1), Param("w", i32, 1), Param "N", Const "K"
  local o, k, oo, y = Var "o", Var "k", Var "oo", Func("y", i32)
  local at = o - k
  y[o] = 0
  y[o] = y[o] + select((at % 2):eq(0) & at:ge(0) & at:lt(2 * N), a[at // 2], 0) * w[k]
  y:set_bounds(o, 0, 2 * N + K - 2, k, 0, K)
  if map then y:tile(o, oo, 4):unroll(oo) end
  return y, {K = 3}
end, {{N = 4}, {N = 1}}, function(a, z)
  return row(2 * z.N + 1, function(o)
    return sum(0, 2, function(k)
      local at = o - k
      return at % 2 == 0 and at >= 0 and at < 2 * z.N and a.a[at // 2] * a.w[k] or 0
    end)
  end)
end, nil, clock)

try("a convolution, then the greatest of pairs: other loops, one element a channel", function(map)
  local X, W, C, N, K, O = Param("X", i32, 2), Param("W", i32, 2), Param "C", Param "N", Const "K", Const "O"
  local o, n, c, k, u = Var "o n c k u"
  local V, P, f = Func("V P f", i32)
  V[o][n] = 0
  V[o][n] = V[o][n] + X[c][n + k] * W[o][c * K + k]
  P[o][n] = -1 << 30
  P[o][n] = max(P[o][n], V[o][2 * n + u])
  V:set_bounds(o, 0, O, n, 0, 2 * N, c, 0, C, k, 0, K)
  P:set_bounds(o, 0, O, n, 0, N, u, 0, 2)
  if map then
    for _, g in ipairs {V, P} do g:unroll(o) end
    V:isolate_producer_chain(X, f):relay(X, {1})
  end
  return P, {O = 3, K = 2}
end, {{C = 2, N = 3}}, function(a, z)
  return rows(3, z.N, function(o, n)
    return sum(0, 1, function(u)
      return sum(0, 2 * z.C - 1, function(q) return a.X[q // 2][2 * n + u + q % 2] * a.W[o][q] end)
    end, math.max, -1 << 30)
  end)
end, nil, clock)

-- Dynamic programs.

try("an alignment whose gaps open and go on: three recurrences in tiles", function(map)
  local p, q, M, N = Param("p", u8, 1), Param("q", u8, 1), Param "M", Param "N"
  local i, j, ii, jj = Var "i j ii jj"
  local H, E, F = Func("H E F", i32)
  E[i][j] = select(j:eq(0), -1000, max(E[i][j - 1] - 1, H[i][j - 1] - 3))
  F[i][j] = select(i:eq(0), -1000, max(F[i - 1][j] - 1, H[i - 1][j] - 3))
  H[i][j] = max(max(E[i][j], F[i][j]), select(i:eq(0) | j:eq(0), 0, H[i - 1][j - 1]) + select(p[i]:eq(q[j]), 2, -1))
  H:merge_ures(E, F):set_bounds(i, 0, M, j, 0, N)
  if map then
    assume(N:le(40))
    H:tile(i, j, ii, jj, 2, 3):unroll(ii, jj)
    H:relay(E, {0, 1}):relay(H, {0, 1}):relay(F, {1, 0}):relay(H, {1, 0}):relay(H, {1, 1})
  end
  return H, {}
end, {{M = 4, N = 6}, {M = 5, N = 4}}, function(a, z)
  local E, F, H = {}, {}, {}
  return rows(z.M, z.N, function(i, j)
    if j == 0 then E[i], F[i], H[i] = {}, {}, {} end
    E[i][j] = j == 0 and -1000 or math.max(E[i][j - 1] - 1, H[i][j - 1] - 3)
    F[i][j] = i == 0 and -1000 or math.max(F[i - 1][j] - 1, H[i - 1][j] - 3)
    local corner = (i == 0 or j == 0) and 0 or H[i - 1][j - 1]
    H[i][j] = math.max(E[i][j], F[i][j], corner + (a.p[i] == a.q[j] and 2 or -1))
    return H[i][j]
  end)
end, {lo = 0, hi = 2}, all)

try("the most likely states: each of the states before, in turn", function(map)
  local A, E, V0 = Param("A", i32, 2), Param("E", i32, 2), Param("V0", i32, 1)
  local T, S, n, s, r, V = Param "T", Param "S", Var "n", Var "s", Var "r", Func("V", i32)
  V[-1][s] = V0[s]
  V[n][s] = -1 << 20
  V[n][s] = max(V[n][s], V[n - 1][r] + A[r][s] + E[n][s])
  V:set_bounds(n, 0, T, s, 0, S, r, 0, S)
  return V, {}, map
end, {{T = 4, S = 3}, {T = 1, S = 1}}, function(a, z)
  local v = row(z.S, function(s) return a.V0[s] end)
  return row(z.T, function(n)
    v = row(z.S, function(s)
      return sum(0, z.S - 1, function(r) return v[r + 1] + a.A[r][s] + a.E[n][s] end, math.max, -1 << 20)
    end)
    return v
  end)
end, nil, clock)

try("what a sack holds: data decides which element is read", function(map)
  local w, p = Param("w p", i32, 1)
  local N, C, n, c, K = Const "N", Const "C", Var "n", Var "c", Func("K", i32)
  K[-1][c] = 0
  K[n][c] = max(K[n - 1][c], select(c:ge(w[n]), K[n - 1][max(c - w[n], 0)] + p[n], 0))
  K:set_bounds(n, 0, N, c, 0, C)
  return K, {N = 3, C = 6}, map
end, {{}}, function(a)
  local k = row(6, function() return 0 end)
  return row(3, function(n)
    k = row(6, function(c)
      return math.max(k[c + 1], c >= a.w[n] and k[c - a.w[n] + 1] + a.p[n] or 0)
    end)
    return k
  end)
end, {lo = 1, hi = 4}, clock)

try("shortest ways by every node in turn, what is told on in tiles", function(map)
  local W, N, k, i, j, ii = Param("W", i32, 2), Param "N", Var "k", Var "i", Var "j", Var "ii"
  local D, O = Func("D O", i32)
  D[-1][i][j] = W[i][j]
  D[k][i][j] = min(D[k - 1][i][j], D[k - 1][i][k] + D[k - 1][k][j])
  O[i][j] = D[N - 1][i][j]
  D:set_bounds(k, 0, N, i, 0, N, j, 0, N)
  O:set_bounds(i, 0, N, j, 0, N)
  if map then O:tile(i, ii, 2):unroll(ii) end
  return O, {}
end, {{N = 4}, {N = 3}}, function(a, z)
  local d = row(z.N, function(i) return row(z.N, function(j) return a.W[i][j] end) end)
  for k = 1, z.N do
    d = rows(z.N, z.N, function(i, j) return math.min(d[i + 1][j + 1], d[i + 1][k] + d[k][j + 1]) end)
  end
  return d
end, {lo = 1, hi = 20}, all)

try("what is reached in three rounds: lines of a Func that is not mapped stay apart", function(map)
  local A, src, N, D, r, v, u, vv = Param("A", i32, 2), Param("src", i32, 1), Param "N", Const "D", Var "r v u vv"
  local L, O = Func("L O", i32)
  L[-1][v] = src[v]
  L[r][v] = L[r - 1][v]
  L[r][v] = L[r][v] | (L[r - 1][u] & A[u][v])
  O[v] = L[D - 1][v]
  L:set_bounds(r, 0, D, v, 0, N, u, 0, N)
  O:set_bounds(v, 0, N)
  if map then O:tile(v, vv, 2):unroll(vv) end
  return O, {D = 3}
end, {{N = 5}, {N = 1}}, function(a, z)
  local l = row(z.N, function(v) return a.src[v] end)
  for _ = 1, 3 do
    l = row(z.N, function(v)
      return sum(0, z.N - 1, function(u) return l[u + 1] & a.A[u][v] end, function(x, y) return x | y end, l[v + 1])
    end)
  end
  return l
end, bits, all)

-- Sums, sorts, counts.

try("sums so far, by rows: loaded and collected", function(map)
  local v, B, L, b, n, p, f, g = Param("v", i32, 2), Const "B", Param "L", Var "b", Var "n", Func("p f g", i32)
  p[b][n] = select(n:eq(0), 0, p[b][n - 1]) + v[b][n]
  p:set_bounds(b, 0, B, n, 0, L)
  if map then p:unroll(b):isolate_producer_chain(v, f):isolate_consumer_chain(p, g):relay(p, {-1}) end
  return p, {B = 3}
end, {{L = 5}, {L = 1}}, function(a, z)
  return rows(3, z.L, function(b, n) return sum(0, n, function(m) return a.v[b][m] end) end)
end, nil, clock)

try("counts: an element for each value, the data passes all", function(map)
  local d, N, B, n, b, h, f, g = Param("d", u8, 1), Param "N", Const "B", Var "n", Var "b", Func("h f g", i32)
  h[b] = 0
  h[b] = h[b] + select(d[n]:eq(b), 1, 0)
  h:set_bounds(b, 0, B, n, 0, N)
  if map then
    h:unroll(b):isolate_producer_chain(d, f):relay(d, {1}):isolate_consumer_chain(h, g):relay(h, {1})
  end
  return h, {B = 5}
end, {{N = 11}, {N = 1}}, function(a, z)
  return row(5, function(b) return sum(0, z.N - 1, function(n) return a.d[n] == b and 1 or 0 end) end)
end, {lo = 0, hi = 4}, clock)

try("a sort: each element keeps the least that comes by", function(map)
  local x, N, r, i = Param("x", i32, 1), Const "N", Var "r", Var "i"
  local K, P, O = Func("K P O", i32)
  local come, kept = select(r:eq(0), x[i], P[r - 1][i]), select(i:eq(0), 1000, K[r][i - 1])
  K[r][i] = min(kept, come)
  P[r][i] = max(kept, come)
  O[r] = t2s.select(i:eq(N - 1), K[r][i])
  O:merge_ures(K, P):set_bounds(r, 0, N, i, 0, N)
  if map then O:unroll(r):relay(P, {1}) end
  return O, {N = 6}
end, {{}}, function(a)
  local list = row(6, function(n) return a.x[n] end)
  table.sort(list)
  return list
end, nil, all)

try("a sort by neighbours that change places", function(map)
  local x, N, n, i, V, O = Param("x", i32, 1), Const "N", Var "n", Var "i", Func("V O", i32)
  V[-1][i] = x[i]
  V[n][i] = select(((n + i) % 2):eq(0), select((i + 1):lt(N), min(V[n - 1][i], V[n - 1][i + 1]), V[n - 1][i]),
    select(i:gt(0), max(V[n - 1][i], V[n - 1][i - 1]), V[n - 1][i]))
  O[i] = V[N - 1][i]
  V:set_bounds(n, 0, N, i, 0, N)
  O:set_bounds(i, 0, N)
  if map then V:unroll(i):relay(V, {1}):relay(V, {-1}) end
  return O, {N = 5}
end, {{}}, function(a)
  local list = row(5, function(n) return a.x[n] end)
  table.sort(list)
  return list
end, nil, clock)

try("polynomials at many places: a coefficient an element", function(map)
  local c, x, N, D, n, d = Param("c", i32, 1), Param("x", i32, 1), Param "N", Const "D", Var "n", Var "d"
  local H, O, f = Func("H O f", i32)
  H[n][d] = select(d:eq(0), 0, H[n][d - 1]) * x[n] + c[d]
  O[n] = t2s.select(d:eq(D - 1), H[n][d])
  O:merge_ures(H):set_bounds(n, 0, N, d, 0, D)
  if map then O:unroll(d):relay(H, {1}):isolate_producer_chain(x, f):relay(x, {1}) end
  return O, {D = 4}
end, {{N = 3}, {N = 1}}, function(a, z)
  return row(z.N, function(n)
    return sum(0, 3, function(d) return a.c[d] end, function(s, c) return s * a.x[n] + c end)
  end)
end, nil, clock)

try("checks of bits, a lane an element", function(map)
  local d, L, N, l, n, C = Param("d", i32, 2), Const "L", Param "N", Var "l", Var "n", Func("C", i32)
  local was = C[l][n - 1]
  C[l][-1] = 255
  C[l][n] = select(((tide.asr(was, 7) ~ d[l][n]) & 1):eq(1), ((was << 1) ~ 49) & 255, (was << 1) & 255)
  C:set_bounds(l, 0, L, n, 0, N)
  if map then C:unroll(l) end
  return C, {L = 3}
end, {{N = 4}, {N = 1}}, function(a, z)
  return row(3, function(l)
    local c = 255
    return row(z.N, function(n)
      c = ((c >> 7) ~ a.d[l][n]) & 1 == 1 and ((c << 1) ~ 49) & 255 or (c << 1) & 255
      return c
    end)
  end)
end, bits, clock)

-- Stencils.

try("five points, the columns in space", function(map)
  local g, R, C, y, x, xx, s = Param("g", f32, 2), Param "R", Param "C", Var "y", Var "x", Var "xx", Func("s", f32)
  s[y][x] = g[y][x + 1] + g[y + 2][x + 1] + g[y + 1][x] + g[y + 1][x + 2] - 4.0 * g[y + 1][x + 1]
  s:set_bounds(y, 0, R, x, 0, C)
  if map then s:tile(x, xx, 3):unroll(xx) end
  return s, {}
end, {{R = 3, C = 7}, {R = 1, C = 1}}, function(a, z)
  local g = a.g
  return rows(z.R, z.C, function(y, x)
    return g[y][x + 1] + g[y + 2][x + 1] + g[y + 1][x] + g[y + 1][x + 2] - 4 * g[y + 1][x + 1]
  end)
end, nil, clock)

try("three points along time, both neighbours, a driver at the edges", function(map)
  local x, T, M, n, i, S, drv = Param("x", i32, 1), Param "T", Const "M", Var "n", Var "i", Func("S drv", i32)
  S[-1][i] = x[i]
  S[n][-1], S[n][M], S[-1][-1], S[-1][M] = 0, 0, 0, 0
  S[n][i] = S[n - 1][i - 1] + 2 * S[n - 1][i] + S[n - 1][i + 1]
  S:set_bounds(n, 0, T, i, 0, M)
  if map then
    S:isolate_producer_chain(S, drv):isolate_consumer_chain(S, drv):unroll(i):relay(S, {1}):relay(S, {-1})
  end
  return S, {M = 4}
end, {{T = 3}, {T = 1}}, function(a, z)
  local p = row(4, function(i) return a.x[i] end)
  return row(z.T, function()
    p = row(4, function(i) return (p[i] or 0) + 2 * p[i + 1] + (p[i + 2] or 0) end)
    return p
  end)
end, nil, clock)

try("generations of cells: eight neighbours whose edges are conditions", function(map)
  local g, H, W, T, n, y, x = Param("g", i32, 2), Const "H", Const "W", Param "T", Var "n", Var "y", Var "x"
  local L, s = Func("L", i32), 0
  L[-1][y][x] = g[y][x]
  for u = -1, 1 do
    for v = -1, 1 do
      local at, to = y + u, x + v
      if u ~= 0 or v ~= 0 then
        s = s + select(at:ge(0) & at:lt(H) & to:ge(0) & to:lt(W), L[n - 1][at][to], 0)
      end
    end
  end
  L[n][y][x] = select(s:eq(3) | (s:eq(2) & L[n - 1][y][x]:eq(1)), 1, 0)
  L:set_bounds(n, 0, T, y, 0, H, x, 0, W)
  if map then L:unroll(x):relay(L, {1}):relay(L, {-1}) end
  return L, {H = 3, W = 4}
end, {{T = 2}}, function(a, z)
  local c = rows(3, 4, function(y, x) return a.g[y][x] end)
  return row(z.T, function()
    c = rows(3, 4, function(y, x)
      local s = sum(0, 8, function(n) return n ~= 4 and (c[y + n // 3] or {})[x + n % 3] or 0 end)
      return (s == 3 or s == 2 and c[y + 1][x + 1] == 1) and 1 or 0
    end)
    return c
  end)
end, bits, clock)

t.test("a neighbour's element that no condition keeps inside is refused", function()
  local a, N, x = Param("a", i32, 1), Param "N", Var "x"
  local function of(cond)
    local y = Func("y", i32)
    y[x] = a[x] + select(cond, a[x - 1], 0)
    return y:set_bounds(x, 0, N)
  end
  for _, cond in ipairs {x:ge(0), x:le(1), a[x]:gt(0), x:gt(0) | x:lt(3)} do
    t.fails(function() t2s.kernel(of(cond)) end, {code = "t2s-index"})
  end
  for _, cond in ipairs {x:gt(0), x:ge(1), x:ne(0), ~x:eq(0), x:gt(0) & x:lt(3), (2 * x - 1):gt(0)} do
    t.ok(t2s.kernel(of(cond)))
  end
end)

t.done()
