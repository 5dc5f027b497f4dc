-- beyond.lua - T2S programs beyond the paper, each a definition of a few lines and a mapping: time warping, a batch of
-- Smith-Waterman pairs at full rate, PairHMM's system, products of a matrix and a vector by rows and by columns, an
-- outer product, MTTKRP, a stencil along time. Proved, run, and equal to the definition. [slow]
local studies = require "t2s_studies"
local t = require "tap"
local tide = require "tide"
local t2s = require "tide.t2s"
local i32, f32, min, select = tide.i32, tide.f32, tide.min, tide.select
local Param, Const, Var, Func, assume = t2s.Param, t2s.Const, t2s.Var, t2s.Func, t2s.assume

-- Proves a design for all sizes, runs it at those of z, and compares with the definition.
local function check(F, consts, z)
  local net, verdict = t2s.design(F, consts)
  t.has(tostring(verdict), "proved: strict, all sizes")
  local at, k, args, want = net:at(z), t2s.kernel(F, consts):at(z), {}, {}
  for n, q in ipairs(k.params) do
    args[n] = n < #k.params and tide.random(q.type, n, {lo = -3, hi = 3}) or q.type(0)
    want[n] = n < #k.params and args[n] or q.type(0)
  end
  at(table.unpack(args))
  k(table.unpack(want))
  t.ok(args[#args]:equal(want[#want]))
  return net
end

t.test("dynamic time warping", function()
  local X, Y = Param("X Y", i32, 1)
  local I, J = Param "I J"
  local II, JJ = Const "II JJ"
  local i, j, ii, jj = Var "i j ii jj"
  local D, edge = Func "D edge"
  D[-1][-1] = 0
  D[i][-1] = 100000
  D[-1][j] = 100000
  D[i][j] = tide.abs(X[i] - Y[j]) + min(D[i - 1][j], min(D[i][j - 1], D[i - 1][j - 1]))
  D:set_bounds(i, 0, I, j, 0, J):store(I - 1, J - 1)
  assume(J:le(32))
  D:tile(i, j, ii, jj, II, JJ)
  D:isolate_producer_chain(X, edge):isolate_producer_chain(Y, edge)
  D:isolate_producer_chain(D, edge):isolate_consumer_chain(D, edge)
  D:unroll(ii, jj):relay(D, {1, 0}):relay(D, {0, 1}):relay(D, {1, 1}):relay(X, {0, 1}):relay(Y, {1, 0})
  check(D, {II = 2, JJ = 3}, {I = 5, J = 7})
end)

t.test("a batch of Smith-Waterman pairs: without a driver, a cell a cycle in each element", function()
  local net = check(studies.batch {}, {II = 4, JJ = 4}, {B = 3, I = 8, J = 8})
  t.has(tostring(net), "local A_b = i32()", "what an element makes stays in a register until it is sent")
  t.ok(not tostring(net):find ":put%(A%[")
  local function cycles(made, device)
    local m = made:at {B = 32, I = 32, J = 32}:build {target = "cpu", timed = true, device = device}
    m(tide.random(i32[32][32], 1), tide.random(i32[32][32], 2), i32[32][32][32](0))
    return 32 * 32 * 32 / 16 / m.report.cycles
  end
  t.ok(cycles(net) >= 0.95)
  local slow, fast = cycles(net, "u280"), cycles(check(studies.batch {depth = 12}, {II = 4, JJ = 4}, {B = 3, I = 8,
    J = 8}), "u280")
  t.ok(fast >= 0.7 and fast > slow, ("%.2f %.2f"):format(slow, fast))
end)

t.test("set_min_depth is a floor: channels that sizes make deeper stay so, which the report tells", function()
  local net = t2s.design(studies.batch {depth = 5}, {II = 4, JJ = 4})
  t.has(tostring(net), "local A_back = d:stream(i32, {4, depth = B + 2})")
  t.has(tostring(net), "local A_pass_2 = d:stream(i32, {3, 3, depth = 5})")
  t.eq(#t2s.report(net).left, 5)
  for _, x in ipairs(t2s.report(net).left) do t.has(x.what, "set_min_depth(A, A, 5)") end
  net = t2s.design(studies.batch {depth = 3}, {II = 4, JJ = 4})
  t.has(tostring(net), "local A_pass_2 = d:stream(i32, {3, 3, depth = 4})")
  t.has(tostring(net), "local A_pass = d:stream(i32, {4, 3, depth = 3})")
end)

t.test("a batch of PairHMM pairs: no array is cleared that is written as a whole", function()
  local net = check(studies.pairs {}, {II = 4, JJ = 4}, {B = 3, I = 8, J = 8})
  t.has(tostring(net), "local M = f32[B][I][J]()")
  local m = net:at {B = 32, I = 32, J = 32}:build {target = "cpu", timed = true}
  m(tide.random(f32[32][32][32], 1), f32[32][32][32](0))
  t.ok(32 * 32 * 32 / 16 / m.report.cycles >= 0.95, tostring(m.report.cycles))
end)

t.test("an array that is read before it is written is cleared", function()
  local a, i, j = Param("a", i32, 1), Var "i j"
  local function cleared(rhs)
    local X, Y = Func("X", i32), Func("Y", i32)
    X[i][j] = rhs(X) + a[i]
    Y[i][j] = X[i][j] + 1
    X:set_bounds(i, 0, 4, j, 0, 4)
    Y:set_bounds(i, 0, 4, j, 0, 4)
    local text = tostring(t2s.kernel(Y))
    local x, y = tide.random(i32[4], 1), i32[4][4](0)
    t2s.kernel(Y)(x, y)
    t2s.design(Y)
    return text:find("local X = i32[4][4](0)", 1, true) ~= nil
  end
  t.eq(cleared(function() return j end), false)
  t.eq(cleared(function(X) return select(i:eq(0), 0, X[i - 1][3 - j]) end), false)
  t.eq(cleared(function(X) return select(i:eq(0), 0, select(j:eq(3), 0, X[i - 1][j + 1])) end), false)
  t.eq(cleared(function(X) return select(j:eq(3), 0, X[i][j + 1]) end), true)
  t.eq(cleared(function(X) return select(i:eq(3), 0, X[i + 1][j]) end), true)
  t.eq(cleared(function(X) return select(j:lt(3), X[i][3 - j], 3) end), true)
end)

t.test("a capsule convolution: a sum a cycle, also where an adder takes several", function()
  local net = check(studies.capsule(), {OO = 2}, {H = 2, V = 3, O = 4, C = 2, KX = 2, KY = 2})
  for _, device in ipairs {"ideal", "u280"} do
    local m = net:at {H = 4, V = 4, O = 4, C = 4, KX = 3, KY = 3}:build {target = "cpu", timed = true, device = device}
    m(tide.random(f32[6][6][4][4][4], 1), tide.random(f32[3][3][4][4][4][4], 2), f32[4][4][4][4][4](0))
    t.ok(4 * 4 * 4 * 16 * 4 * 9 * 4 / 8 / m.report.cycles >= 0.95, device)
  end
end)

t.test("PairHMM: three recurrences in one nest", function()
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
  local net = t2s.design(Y, {II = 2, JJ = 2})
  t.eq(t2s.report(net).pes.Y_pe, 4)
  check(Y, {II = 2, JJ = 2}, {I = 6, J = 4})
end)

t.test("a matrix times a vector: columns in space, sums that travel", function()
  local A, x, I, KK, i, k, y = Param("A", f32, 2), Param("x", f32, 1), Param "I", Const "KK", Var "i", Var "k",
    Func("y", f32)
  y[i][k] = select(k:eq(0), 0.0, y[i][k - 1]) + A[i][k] * x[k]
  y:set_bounds(i, 0, I, k, 0, KK):unroll(k):relay(y, {1})
  check(y, {KK = 4}, {I = 5})
end)

t.test("a matrix times a vector: rows in space", function()
  local A, x = Param("A", f32, 2), Param("x", f32, 1)
  local I, K = Param "I K"
  local II, i, k, ii = Const "II", Var "i k ii"
  local y, feed, drain = Func("y feed drain", f32)
  y[i] = 0
  y[i] = y[i] + A[i][k] * x[k]
  y:set_bounds(i, 0, I, k, 0, K)
  assume.divisible(I, II)
  y:tile(i, ii, II):unroll(ii):isolate_producer_chain(x, feed):isolate_consumer_chain(y, drain)
  y:relay(x, {1}):relay(y, {-1})
  check(y, {II = 4}, {I = 8, K = 5})
end)

t.test("an outer product added to a matrix", function()
  local A, x, y = Param("A", f32, 2), Param("x y", f32, 1)
  local I, J = Param "I J"
  local II, JJ = Const "II JJ"
  local i, j, ii, jj = Var "i j ii jj"
  local Z, xf, yf = Func("Z xf yf", f32)
  Z[i][j] = A[i][j] + x[i] * y[j]
  Z:set_bounds(i, 0, I, j, 0, J)
  assume.divisible(I, II, J, JJ)
  Z:tile(i, j, ii, jj, II, JJ):unroll(ii, jj)
  Z:isolate_producer_chain(x, xf):isolate_producer_chain(y, yf):relay(x, {0, 1}):relay(y, {1, 0})
  check(Z, {II = 2, JJ = 3}, {I = 4, J = 9})
end)

t.test("MTTKRP", function()
  local A, B, C = Param("A", f32, 3), Param("B C", f32, 2)
  local I, J, K, L = Param "I J K L"
  local II, JJ = Const "II JJ"
  local i, j, k, l, ii, jj = Var "i j k l ii jj"
  local D, bf, cf = Func("D bf cf", f32)
  D[i][j] = 0
  D[i][j] = D[i][j] + A[i][k][l] * B[k][j] * C[l][j]
  D:set_bounds(i, 0, I, j, 0, J, k, 0, K, l, 0, L)
  assume.divisible(I, II, J, JJ)
  D:tile(i, j, ii, jj, II, JJ):unroll(ii, jj)
  D:isolate_producer_chain(B, bf):isolate_producer_chain(C, cf):relay(B, {1, 0}):relay(C, {1, 0})
  check(D, {II = 2, JJ = 3}, {I = 4, J = 3, K = 3, L = 2})
end)

t.test("a stencil along time, its cells in space", function()
  local T, M, x, tt, i = Param "T", Const "M", Param("x", i32, 1), Var "t", Var "i"
  local S, edge = Func("S edge", i32)
  S[-1][i] = x[i]
  S[tt][-1] = 0
  S[-1][-1] = 0
  S[tt][i] = S[tt - 1][i] + S[tt - 1][i - 1]
  S:set_bounds(tt, 0, T, i, 0, M):isolate_producer_chain(S, edge):isolate_consumer_chain(S, edge)
  S:unroll(i):relay(S, {1})
  check(S, {M = 4}, {T = 5})
end)

t.done()
