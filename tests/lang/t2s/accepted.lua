-- accepted.lua - cases that a mapping of T2S takes, each at the sizes of its statement: conditional operands, outputs
-- of a system through a chain, a product of 64^3 with double buffers, PairHMM in tiles of tiles, capsule convolutions.
-- [slow]
local t = require "tap"
local tide = require "tide"
local t2s = require "tide.t2s"
local i32, f32, select = tide.i32, tide.f32, tide.select
local Param, Const, Var, Func, assume = t2s.Param, t2s.Const, t2s.Var, t2s.Func, t2s.assume

-- Proves a design, runs it at z, compares it with the definition; returns it at z.
local function check(F, consts, z)
  local net, verdict = t2s.design(F, consts)
  t.has(tostring(verdict), "proved: strict")
  local at, k, args, want = net:at(z), t2s.kernel(F, consts):at(z), {}, {}
  for n, q in ipairs(k.params) do
    args[n] = n < #k.params and tide.random(q.type, n, {lo = -3, hi = 3}) or q.type(0)
    want[n] = n < #k.params and args[n] or q.type(0)
  end
  at(table.unpack(args))
  k(table.unpack(want))
  t.ok(args[#args]:equal(want[#want]))
  return at, net
end

-- How many tokens a stream carries in a run with a clock.
local function tokens(at, stream)
  local m = at:build {target = "cpu", timed = true}
  local args = {}
  for n, q in ipairs(at.params) do args[n] = tide.random(q.type, n, {lo = 0, hi = 3}) end
  m(table.unpack(args))
  for _, s in ipairs(m.report.streams) do
    if s.name == stream then return s.tokens or s.count end
  end
end

t.test("acceptance 3: two operands through four stages, one of them through a fifth", function()
  local a, b, N, i = Param("a", i32, 1), Param("b", i32, 1), Param "N", Var "i"
  local y, P, Q, R, S, T = Func("y", i32), Func "P Q R S T"
  y[i] = a[i] * 2 + b[i]
  y:set_bounds(i, 0, N):isolate_producer_chain(a, P, Q, R, S):isolate_producer_chain(b, P, Q, R, S)
  P:isolate_producer_chain(b, T)
  local at, net = check(y, {}, {N = 10})
  local r = t2s.report(net)
  t.eq({r.pes.P, r.pes.Q, r.pes.R, r.pes.S, r.pes.T, r.channels}, {1, 1, 1, 1, 1, 9})
  t.eq({tokens(at, "a_i"), tokens(at, "b_i")}, {10, 10})
end)

t.test("acceptance 3 on elements: a loader, the host before it; stages whose operands go in other loops", function()
  local function product(o)
    local X, Y, M, N, K = Param("X", i32, 2), Param("Y", i32, 2), Param "M N K"
    local m, n, k, mm, nn = Var "m n k mm nn"
    local Z, load, near, host = Func("Z", i32), Func("load", i32), Func("near", i32), Func("host", t2s.HOST)
    Z[m][n] = 0
    Z[m][n] = Z[m][n] + X[m][k] * Y[k][n]
    Z:set_bounds(m, 0, M, n, 0, N, k, 0, K)
    assume.divisible(M, 2, N, 3)
    Z:tile(m, n, mm, nn, 2, 3)
    local list = o.host and {host, load, near} or {load, near}
    Z:isolate_producer_chain(X, table.unpack(list)):isolate_producer_chain(Y, table.unpack(list))
    if o.space then Z:unroll(mm, nn):relay(X, {0, 1}):relay(Y, {1, 0}) end
    if o.kept then near:buffer(X, n):buffer(Y, n) end
    return Z
  end
  for _, o in ipairs {{}, {space = true}, {host = true, space = true}} do
    local _, net = check(product(o), {}, {M = 4, N = 6, K = 3})
    t.eq({t2s.report(net).pes.load, t2s.report(net).pes.near}, {1, 1})
    t.eq(t2s.report(net).memory, o.host and 2 or 0)
  end
  local e = t.fails(function() t2s.design(product {kept = true}) end, {code = "t2s-isolate", kind = "unsupported"})
  t.has(e.message, "Y in other loops")
end)

t.test("acceptance 4: a conditional operand sends as many tokens as the condition holds", function()
  local a, N, i = Param("a", i32, 1), Param "N", Var "i"
  local y, P = Func("y", i32), Func "P"
  y[i] = select(i:le(2), a[i], 2 * i)
  y:set_bounds(i, 0, N):isolate_producer_chain(a, P)
  local at = check(y, {}, {N = 10})
  t.eq(tokens(at, "a_i"), 3)
end)

t.test("acceptance 5: an equation decides: the producer evaluates it, too", function()
  local function conditional(o)
    local a, N, M, i = Param("a", i32, 1), Param "N", Const "M", Var "i"
    local y, from, P = Func("y", i32), Func("from", i32), Func "P"
    if o.data then from[i] = a[i] else from[i] = i - M end
    if o.data then y[i] = select(from[i]:ge(0), 3, 2 * i) else y[i] = select(from[i]:ge(0), a[i], 2 * i) end
    from:set_bounds(i, 0, N)
    y:set_bounds(i, 0, N)
    if not o.data then y:isolate_producer_chain(a, P) end
    return y
  end
  local at = check(conditional {}, {M = 4}, {N = 10})
  t.eq(tokens(at, "a_i"), 6)
  check(conditional {data = true}, {M = 4}, {N = 5}) -- what data decides stays as it is
end)

t.test("acceptance 6: the output of a propagation through three consumers", function()
  local a, N, M, i, j = Param("a", i32, 1), Param "N", Const "M", Var "i j"
  local X, D1, D2, D3 = Func("X", i32), Func "D1 D2 D3"
  X[i][j] = select(j:eq(0), a[i], X[i][j - 1] + 1)
  X:set_bounds(i, 0, N, j, 0, M):isolate_consumer_chain(X, D1, D2, D3)
  check(X, {M = 4}, {N = 5})
end)

-- A product in the paper's tiles; `o` leaves out the scatter, or the loops that loaders do not need.
local function product(o)
  local A, B = Param("A B", f32, 2)
  local I, J, K = Param "I J K"
  local II, JJ, KK, III, JJJ, KKK = Const "II JJ KK III JJJ KKK"
  local i, j, k, ii, jj, kk, iii, jjj, kkk = Var "i j k ii jj kk iii jjj kkk"
  local C, la, fa, lb, fb = Func("C", f32), Func "la fa lb fb"
  C[i][j] = 0
  C[i][j] = C[i][j] + A[i][k] * B[k][j]
  C:set_bounds(i, 0, I, j, 0, J, k, 0, K)
  assume.divisible(I, II, J, JJ, K, KK)
  C:tile(i, j, k, ii, jj, kk, iii, jjj, kkk, II, JJ, KK, III, JJJ, KKK)
  C:isolate_producer_chain(A, la, fa):isolate_producer_chain(B, lb, fb)
  C:unroll(ii, jj):relay(A, {0, 1}):relay(B, {1, 0})
  fa:unroll(ii):buffer(A, k, t2s.DOUBLE)
  fb:unroll(jj):buffer(B, k, t2s.DOUBLE)
  if o.scatter then
    fa:relay(A, {1})
    fb:relay(B, {1})
  end
  if o.remove then
    la:remove(jjj)
    lb:remove(iii)
  end
  return C
end

for _, o in ipairs {{scatter = true, remove = true}, {remove = true}, {scatter = true}} do
  t.test(("acceptance 9: a product of 64^3 with double buffers%s%s"):format(o.scatter and ", scatter" or "",
    o.remove and ", remove" or ""), function()
    check(product(o), {II = 32, JJ = 32, KK = 16, III = 8, JJJ = 8, KKK = 4}, {I = 64, J = 64, K = 64})
  end)
end

t.test("acceptance 18: PairHMM, tiles of 4 x 4 on 4 x 4", function()
  local P = Param("P", f32, 2)
  local I, J = Param "I J"
  local II, JJ = Const "II JJ"
  local i, j, ii, jj = Var "i j ii jj"
  local M, X, Y = Func("M X Y", f32)
  M[i][j] = select(i:eq(0), 0.0, select(j:eq(0), 0.0,
    P[i][j] * (0.9 * M[i - 1][j - 1] + 0.05 * (X[i - 1][j - 1] + Y[i - 1][j - 1]))))
  X[i][j] = select(i:eq(0), 0.0, 0.1 * M[i - 1][j] + 0.2 * X[i - 1][j])
  Y[i][j] = select(j:eq(0), select(i:eq(0), 1.0, 0.5), 0.1 * M[i][j - 1] + 0.2 * Y[i][j - 1])
  Y:merge_ures(M, X)
  Y:set_bounds(i, 0, I, j, 0, J)
  assume(J:le(32))
  assume.divisible(I, II, J, JJ)
  Y:tile(i, j, ii, jj, II, JJ):unroll(ii, jj)
  Y:relay(M, {1, 0}):relay(M, {0, 1}):relay(M, {1, 1}):relay(X, {1, 0}):relay(X, {1, 1})
  Y:relay(Y, {0, 1}):relay(Y, {1, 1})
  check(Y, {II = 4, JJ = 4}, {I = 16, J = 16})
end)

t.test("acceptance 19: a capsule convolution, 4 x 4 matrices a point, five reductions", function()
  local P, W = Param("P", f32, 5), Param("W", f32, 6)
  local H, V = Param "H V"
  local O, C, KX, KY = Const "O", Param "C KX KY"
  local h, v, o, m, n, c, kx, ky, r = Var "h v o m n c kx ky r"
  local Q, pf = Func("Q", f32), Func "pf"
  Q[h][v][o][m][n] = 0
  Q[h][v][o][m][n] = Q[h][v][o][m][n] + P[h + kx][v + ky][c][m][r] * W[kx][ky][c][o][r][n]
  Q:set_bounds(h, 0, H, v, 0, V, o, 0, O, m, 0, 4, n, 0, 4, c, 0, C, kx, 0, KX, ky, 0, KY, r, 0, 4)
  Q:unroll(o):isolate_producer_chain(P, pf):relay(P, {1})
  check(Q, {O = 2}, {H = 2, V = 2, C = 2, KX = 2, KY = 2})
end)

for _, way in ipairs {t2s.UP, t2s.DOWN} do
  t.test("acceptance 7 and 8: eight elements scatter, and gather, " .. way, function()
    for _, what in ipairs {"scatter", "gather"} do
      local a, N, M, i, j, A, P = Param("a", i32, 1), Const "N", Param "M", Var "i", Var "j", Func("A", i32), Func "P"
      A[i][j] = 2 * a[i]
      A:set_bounds(i, 0, N, j, 0, M):unroll(i)
      if what == "scatter" then A:isolate_producer_chain(a, P):scatter(P, i, way)
      else A:isolate_consumer_chain(A, P):gather(A, i, way) end
      local _, net = check(A, {N = 8}, {M = 3})
      t.eq(t2s.report(net).pes.A_pe, 8)
      t.eq(t2s.report(net).channels, 8)
    end
  end)

  t.test("acceptance 8: gathered along one loop, columns in space, " .. way, function()
    local a, N, M, K, A, P = Param("a", i32, 2), Const "N", Const "M", Param "K", Func("A", i32), Func "P"
    local i, j, k = Var "i j k"
    A[i][j][k] = 2 * a[i][k] + j
    A:set_bounds(i, 0, N, j, 0, M, k, 0, K):isolate_consumer_chain(A, P):unroll(i, j):gather(A, i, way)
    P:unroll(j)
    local _, net = check(A, {N = 4, M = 2}, {K = 3})
    t.eq(t2s.report(net).channels, 8)
  end)
end

-- Rows of elements, sums along them or not, in lanes of `n` that the stage has, too.
local function lanes(n, carries, other)
  local a, N, M, i, j, ii, jj = Param("a", i32, 2), Param "N", Param "M", Var "i j ii jj"
  local A, P = Func("A P", i32)
  A[i][j] = a[i][j] * 3 + (carries and select(j:eq(0), 0, A[i][j - 1]) or 0)
  A:set_bounds(i, 0, N, j, 0, M)
  assume.divisible(M, n, N, 2)
  A:tile(i, ii, 2):tile(j, jj, n):unroll(ii):isolate_producer_chain(a, P):vectorize(jj)
  P:unroll(ii):vectorize(other and j or jj)
  return A
end

t.test("acceptance 14: lanes in space and time, sums that they carry, ends that differ", function()
  for _, carries in ipairs {false, true} do
    local _, net = check(lanes(4, carries), {}, {N = 4, M = 8})
    t.has(tostring(net), "d:stream(i32[4], {2")
  end
  local e = t.fails(function() t2s.design(lanes(4, false, true), {}) end, {code = "t2s-vectorize"})
  t.ok(e.line > 0)
end)

t.done()
