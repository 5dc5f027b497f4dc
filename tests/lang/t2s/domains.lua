-- domains.lua - T2S domains that are no boxes, and systems of equations with outputs that drop dimensions: triangles,
-- strides, LU; proved, run and equal to the definition, whose results are checked by hand where numbers are known.
-- [slow]
local t = require "tap"
local tide = require "tide"
local t2s = require "tide.t2s"
local i32, f32, select = tide.i32, tide.f32, tide.select
local Param, Const, Var, Func, assume = t2s.Param, t2s.Const, t2s.Var, t2s.Func, t2s.assume

-- Proves a design, runs it at sizes and compares with the definition.
local function check(F, consts, ...)
  local net, verdict = t2s.design(F, consts)
  t.has(tostring(verdict), "proved: strict")
  for _, z in ipairs {...} do
    local at, k, args, want = net:at(z), t2s.kernel(F, consts):at(z), {}, {}
    for n, q in ipairs(k.params) do
      args[n] = n < #k.params and tide.random(q.type, n, {lo = -3, hi = 3}) or q.type(0)
      want[n] = n < #k.params and args[n] or q.type(0)
    end
    at(table.unpack(args))
    k(table.unpack(want))
    t.ok(args[#args]:equal(want[#want]))
  end
  return net
end

-- A product as a system: operands that go from element to element, sums along k, and an output that drops k.
local function product(o)
  local A, B = Param("A B", f32, 2)
  local K, I, J = Param "K", Const "I J"
  local i, j, k = Var "i j k"
  local X, Y, Z, C = Func("X Y Z C", f32)
  X[i][j][k] = select(j:eq(0), A[i][k], X[i][j - 1][k])
  Y[i][j][k] = select(i:eq(0), B[k][j], Y[i - 1][j][k])
  Z[i][j][k] = select(k:eq(0), 0.0, Z[i][j][k - 1]) + X[i][j][k] * Y[i][j][k]
  C[i][j] = t2s.select(k:eq(K - 1), Z[i][j][k])
  C:merge_ures(X, Y, Z)
  C:set_bounds(i, 0, I, j, 0, J, k, 0, K)
  if o.space then C:unroll(i, j) end
  if o.ways then C:relay(X, {0, 1}):relay(Y, {1, 0}) end
  return C
end

t.test("acceptance 13: an output that drops one dimension, select without else", function()
  check(product {}, {}, {I = 2, J = 3, K = 4}, {I = 1, J = 1, K = 1})
  check(product {space = true, ways = true}, {I = 3, J = 2}, {K = 4}, {K = 1})
  local e = t.fails(function() t2s.design(product {space = true}, {I = 3, J = 2}) end, {code = "t2s-carried"})
  t.ok(e.line > 0)
end)

t.test("acceptance 13: an output that drops two dimensions", function()
  local A, B = Param("A B", f32, 2)
  local J, K, I = Param "J", Param "K", Const "I"
  local i, j, k = Var "i j k"
  local Z, last = Func("Z last", f32)
  Z[i][j][k] = select(k:eq(0), 0.0, Z[i][j][k - 1]) + A[i][k] * B[k][j]
  last[i] = t2s.select(k:eq(K - 1) & j:eq(J - 1), Z[i][j][k])
  last:merge_ures(Z)
  last:set_bounds(i, 0, I, j, 0, J, k, 0, K):unroll(i)
  check(last, {I = 3}, {J = 3, K = 4}, {J = 1, K = 1})
end)

t.test("acceptance 17: LU without pivoting, over triangles", function()
  local A, N = Param("A", f32, 2), Param "N"
  local k, i, j = Var "k i j"
  local V, L, U, Z = Func("V L U Z", f32)
  V[k][i][j] = select(k:eq(0), A[i][j], V[k - 1][i][j] - L[k - 1][i][j] * U[k - 1][i][j])
  U[k][i][j] = select(i:eq(k), V[k][i][j], U[k][i - 1][j])
  L[k][i][j] = select(j:eq(k), V[k][i][j] / U[k][i][j], L[k][i][j - 1])
  Z[i][j] = t2s.select(i:le(j) & i:eq(k) | i:gt(j) & j:eq(k), select(i:le(j), U[k][i][j], L[k][i][j]))
  Z:merge_ures(V, U, L)
  Z:set_bounds(k, 0, N, i, k, N, j, k, N)
  local a, z = f32[4][4](), f32[4][4](0)
  local rows = {{1, 4, 5, 2}, {2, 3, 6, 7}, {3, 5, 8, 9}, {5, 2, 1, 12}}
  local want = {{1, 4, 5, 2}, {2, -5, -4, 3}, {3, 1.4, -1.4, -1.2}, {5, 3.6, 6.857, -0.571}}
  for r = 0, 3 do for c = 0, 3 do a[r][c] = rows[r + 1][c + 1] end end
  local net, verdict = t2s.design(Z, {})
  t.has(tostring(verdict), "proved: strict")
  net {A = a, Z = z}
  for r = 0, 3 do
    for c = 0, 3 do t.ok(math.abs(z[r][c] - want[r + 1][c + 1]) < 1e-3, ("%d %d"):format(r, c)) end
  end
end)

-- Sums over a triangle, the operand relayed or not; `bound` and `way` change them.
local function triangle(o)
  local x, N, i, j = Param("x", i32, 1), Const "N", Var "i j"
  local y, feed = Func("y feed", i32)
  y[i] = 0
  y[i] = y[i] + x[j] * (i + 1)
  y:set_bounds(i, 0, N, j, o.from or 0, o.to and o.to(i, N) or i + 1)
  y:unroll(i)
  if o.feed ~= false then y:isolate_producer_chain(x, feed) end
  if o.way then y:relay(x, o.way) end
  return y
end

t.test("triangles: elements of which each sums more, fed apart and from either end", function()
  for n, o in ipairs {{}, {feed = false}, {way = {1}}, {way = {-1}},
    {way = {1}, to = function(i, N) return N - i end}, {way = {-1}, to = function(i) return 2 * i + 1 end}} do
    check(triangle(o), {N = 2 + n}, {})
  end
end)

t.test("a triangular matrix times a vector, tiled, gathered", function()
  for _, way in ipairs {-1, 1} do
    local L, x, N = Param("L", i32, 2), Param("x", i32, 1), Param "N"
    local II, i, j, ii = Const "II", Var "i j ii"
    local y, feed, drain = Func("y feed drain", i32)
    y[i] = 0
    y[i] = y[i] + L[i][j] * x[j]
    y:set_bounds(i, 0, N, j, 0, i + 1)
    assume.divisible(N, II)
    y:tile(i, ii, II):unroll(ii):isolate_producer_chain(x, feed):relay(x, {way})
    y:isolate_consumer_chain(y, drain):relay(y, {-way})
    check(y, {II = 2}, {N = 4}, {N = 8})
  end
end)

t.test("strides: windows that are scattered, rows that are passed over", function()
  local x, w, N, M, S = Param("x", i32, 1), Param("w", i32, 1), Param "N", Const "M", Const "S"
  local i, j, ii = Var "i j ii"
  local y, wf, xf, out = Func("y wf xf out", i32)
  local II = Const "II"
  y[i] = 0
  y[i] = y[i] + x[i * S + j] * w[j]
  y:set_bounds(i, 0, N, j, 0, M)
  assume.divisible(N, II)
  y:tile(i, ii, II):unroll(ii):isolate_producer_chain(w, wf):isolate_producer_chain(x, xf):relay(w, {1}):relay(x, {1})
  y:isolate_consumer_chain(y, out):relay(y, {-1})
  check(y, {M = 3, S = 2, II = 2}, {N = 4}, {N = 6})
  check(y, {M = 2, S = 3, II = 3}, {N = 6})
  local a, R, C, r, c, odd = Param("a", i32, 2), Param "R", Const "C", Var "r", Var "c", Func("odd", i32)
  odd[r][c] = a[2 * r][3 * c + 1]
  odd:set_bounds(r, 0, R, c, 0, C):unroll(c)
  check(odd, {C = 3}, {R = 4})
end)

t.done()
