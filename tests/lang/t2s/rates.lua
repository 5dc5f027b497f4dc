-- rates.lua - cycles of whole runs of T2S designs beside the operations of their definitions: on an ideal device and on
-- a U280, fill and drain included. The larger sizes are in tests/bench/t2s.lua. [slow]
local t = require "tap"
local tide = require "tide"
local t2s = require "tide.t2s"
local f32 = tide.f32
local HOST, DOUBLE = t2s.HOST, t2s.DOUBLE

-- A product of matrices on P x P elements of L lanes, T x T sums in each, tiles of KK along the sum; `host`: with
-- stages on the host.
local function product(P, L, T, KK, host)
  local X, Y = t2s.Param("X Y", f32, 2)
  local M, N, Q = t2s.Param "M N Q"
  local m, n, q, mm, nn, qq, mmm, nnn, qqq = t2s.Var "m n q mm nn qq mmm nnn qqq"
  local Z = t2s.Func("Z", f32)
  Z[m][n] = 0
  Z[m][n] = Z[m][n] + X[m][q] * Y[q][n]
  Z:set_bounds(m, 0, M, n, 0, N, q, 0, Q)
  t2s.assume.divisible(M, P * T, N, P * T, Q, KK)
  Z:tile(m, n, q, mm, nn, qq, mmm, nnn, qqq, P * T, P * T, KK, T, T, L)
  local xl, xf, yl, yf, zc, zu = t2s.Func "xl xf yl yf zc zu"
  if host then
    local xs, ys, zd = t2s.Func("xs ys zd", HOST)
    Z:isolate_producer_chain(X, xs, xl, xf):isolate_producer_chain(Y, ys, yl, yf)
    Z:isolate_consumer_chain(Z, zd, zu, zc)
    xs:remove(nnn, nn, n)
    ys:remove(mmm, mm, m)
    zd:remove(q, qq, qqq)
  else
    Z:isolate_producer_chain(X, xl, xf):isolate_producer_chain(Y, yl, yf):isolate_consumer_chain(Z, zu, zc)
  end
  Z:unroll(mm, nn):relay(X, {0, 1}):relay(Y, {1, 0}):relay(Z, {-1, 0}):vectorize(qqq)
  xl:remove(nnn, nn):vectorize(qqq)
  yl:remove(mmm, mm):vectorize(qqq)
  xf:unroll(mm):relay(X, {1}):buffer(X, mm, DOUBLE):vectorize(qqq)
  yf:unroll(nn):relay(Y, {1}):buffer(Y, nn, DOUBLE):vectorize(qqq)
  zc:remove(q, qq, qqq):unroll(nn):relay(Z, {-1})
  return Z
end

-- The share of all lanes that a run at the sizes M = N = two tiles uses, of a device; and its report.
local function used(net, P, L, T, Q, device)
  local M = 2 * P * T
  local m = net:at {M = M, N = M, Q = Q}:build {target = "cpu", timed = true, device = device}
  local x, y, z = tide.random(f32[M][Q], 1), tide.random(f32[Q][M], 2), f32[M][M](0)
  m(x, y, z)
  t.ok(z:allclose(tide.matmul(x, y)))
  return 100 * M * M * Q / (P * P * L) / m.report.cycles, m.report
end

t.test("SGEMM with lanes: a vector a cycle from both operands, sums go on while results leave", function()
  local net, verdict = t2s.design(product(2, 8, 8, 64), {})
  t.has(tostring(verdict), "proved: strict, all sizes")
  t.eq(#t2s.report(net).left, 0)
  local share, r = used(net, 2, 8, 8, 2048)
  t.ok(share >= 98.5, ("%.1f %%\n%s"):format(share, tostring(r)))
  share, r = used(net, 2, 8, 8, 2048, "u280")
  t.ok(share >= 97, ("%.1f %%\n%s"):format(share, tostring(r)))
  t.has(tostring(net), "local Z_nnn_back_1 = Z_n[0][nn_1]:get()\n", "a collector gets its own in the loop of all")
end)

t.test("stages on the host take no time of the device's", function()
  local net, verdict = t2s.design(product(2, 4, 8, 16, true), {})
  t.has(tostring(verdict), "proved: strict, all sizes")
  t.eq(t2s.report(net).memory, 3)
  for device, least in pairs {ideal = 98, u280 = 95} do
    local share, r = used(net, 2, 4, 8, 1024, device)
    t.ok(share >= least, ("%s: %.1f %%\n%s"):format(device, share, tostring(r)))
    t.eq({r.tasks.xs.busy, r.tasks.ys.busy, r.tasks.zd.busy}, {0, 0, 0})
  end
end)

t.test("lanes that do not divide a tile: its clamps stay, proved, nothing is lost", function()
  local net, verdict = t2s.design(product(2, 3, 2, 8), {})
  t.has(tostring(verdict), "proved: strict")
  local share = used(net, 2, 3, 2, 16)
  t.ok(share > 0)
  for _, l in ipairs(t2s.report(net).left) do t.ok(#l.why > 0) end
end)
t.done()
