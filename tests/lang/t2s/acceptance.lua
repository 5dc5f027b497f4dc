-- acceptance.lua - the acceptance cases of the notes on T2S once more, by number, under other names and at other sizes:
-- tiles that do not divide, triangles, strides, orders of loops that no listing has. Each is proved, counted and run
-- beside its definition. [slow]
local t = require "tap"
local tide = require "tide"
local t2s = require "tide.t2s"
local case = require "t2s_case"
local i32, f32, select = tide.i32, tide.f32, tide.select
local Param, Const, Var, Func, assume = t2s.Param, t2s.Const, t2s.Var, t2s.Func, t2s.assume
local row, rows, sum = case.row, case.rows, case.sum
local clock = {builds = "clock"}

-- How many tasks a design has.
local function tasks(net)
  local n = 0
  for _ in tostring(net):gmatch "tide%.task {" do n = n + 1 end
  return n
end

t.test("acceptance 1: a provider, a computer, a consumer: three tasks, two channels", function()
  local net = case.run(function(map)
    local src, L, p, out, get, put = Param("src", i32, 1), Param "L", Var "p", Func("out get put", i32)
    out[p] = src[p] * src[p] - 3
    out:set_bounds(p, 0, L)
    if map then out:isolate_producer_chain(src, get):isolate_consumer_chain(out, put) end
    return out, {}
  end, {{L = 7}, {L = 1}}, function(a, z) return row(z.L, function(p) return a.src[p] ^ 2 - 3 end) end, nil, clock)
  t.eq({tasks(net), t2s.report(net).channels, t2s.report(net).memory}, {3, 2, 0})
end)

for _, places in ipairs {"d", "h", "hd", "dh", "dd", "dhdd", "hdhd", "hhdd"} do
  t.test("acceptance 2: a chain of producers, each on the host (h) or the device (d): " .. places, function()
    local edges = 0
    for n = 1, #places do
      local here, near = places:sub(n, n), n < #places and places:sub(n + 1, n + 1) or "d"
      edges = edges + ((here == "h" or near == "h") and 1 or 0)
    end
    local net = case.run(function(map)
      local b, L, p, twice, chain = Param("b", i32, 1), Param "L", Var "p", Func("twice", i32), {}
      twice[p] = 2 * b[p]
      twice:set_bounds(p, 0, L)
      for n = 1, #places do chain[n] = Func("s" .. n, places:sub(n, n) == "h" and t2s.HOST or nil) end
      if map then twice:isolate_producer_chain(b, table.unpack(chain)) end
      return twice, {}
    end, {{L = 5}}, function(a, z) return row(z.L, function(p) return 2 * a.b[p] end) end)
    t.eq({t2s.report(net).memory, t2s.report(net).channels}, {edges, #places - edges})
  end)
end

for _, way in ipairs {t2s.UP, t2s.DOWN} do
  t.test("acceptance 7: five elements take their own of what goes by, the last tile in part, " .. way, function()
    local net = case.run(function(map)
      local v, R, C, r, c, rr, E, feed = Param("v", i32, 1), Param "R", Param "C", Var "r", Var "c", Var "rr",
        Func("E feed", i32)
      E[r][c] = v[r] * (c + 2)
      E:set_bounds(r, 0, R, c, 0, C)
      if map then E:tile(r, rr, 5):unroll(rr):isolate_producer_chain(v, feed):scatter(feed, rr, way) end
      return E, {}
    end, {{R = 7, C = 3}, {R = 1, C = 1}, {R = 10, C = 2}}, function(a, z)
      return rows(z.R, z.C, function(r, c) return a.v[r] * (c + 2) end)
    end, nil, clock)
    t.eq({t2s.report(net).pes.E_pe, t2s.report(net).channels}, {5, 5})
  end)

  t.test("acceptance 8: rows of a triangle gather along one loop, columns in space, " .. way, function()
    local net = case.run(function(map)
      local v, R, C, K, r, c, k, E, out = Param("v", i32, 2), Const "R", Const "C", Param "K", Var "r", Var "c",
        Var "k", Func("E out", i32)
      E[r][c][k] = v[r][k] - c
      E:set_bounds(r, 0, R, c, 0, C, k, 0, K)
      if map then
        E:isolate_consumer_chain(E, out):unroll(r, c):gather(E, r, way)
        out:unroll(c)
      end
      return E, {R = 3, C = 2}
    end, {{K = 4}, {K = 1}}, function(a, z)
      return row(3, function(r) return rows(2, z.K, function(c, k) return a.v[r][k] - c end) end)
    end, nil, clock)
    t.eq(t2s.report(net).channels, 6)
  end)
end

-- What reads one row up and one column left, with edges.
local function pascal(f)
  return function(map)
    local R, C, r, c, T = Const "R", Const "C", Var "r", Var "c", Func("T", i32)
    T[r][c] = select(r:eq(0), 2 * c, select(c:eq(0), 5 * r, T[r - 1][c] - T[r][c - 1]))
    T:set_bounds(r, 0, R, c, 0, C)
    if map then f(T, r, c) end
    return T, {R = 4, C = 7}
  end
end

local function of_pascal()
  local o = {}
  return rows(4, 7, function(r, c)
    o[r] = o[r] or {}
    o[r][c] = r == 0 and 2 * c or c == 0 and 5 * r or o[r - 1][c] - o[r][c - 1]
    return o[r][c]
  end)
end

t.test("acceptance 10: data drives rows, or columns, of a table that is no square", function()
  for _, n in ipairs {4, 7} do
    local net = case.run(pascal(function(T, r, c) T:space_time_transform(n == 4 and r or c) end), {{}}, of_pascal)
    t.eq(t2s.report(net).pes.T_pe, n)
  end
end)

t.test("acceptance 11: schedules by factors: 4 + 7 - 1 and 3 * 3 + 7 steps, 2 * 6 + 4 along the other loop", function()
  for _, w in ipairs {{"r", 1, 4, 10}, {"r", 3, 4, 16}, {"c", 2, 7, 16}} do
    local net = case.run(pascal(function(T, r, c) T:space_time_transform({w[1] == "r" and r or c}, {w[2]}) end), {{}},
      of_pascal)
    t.eq({t2s.report(net).pes.T_pe, t2s.report(net).steps.T}, {w[3], w[4]})
  end
end)

t.test("acceptance 12: a convolution with a stride of two, by matrices: elements and steps", function()
  local p, s = Var "p s"
  for _, w in ipairs {{{1, 0, 1, 1}, 6, 8}, {{0, 1, 1, 1}, 3, 8}, {{1, 1, 0, 1}, 8, 3}, {{1, 0, 0, 1}, 6, 3}} do
    local net = case.run(function(map)
      local src, tap, N, K, n, k, y = Param("src", i32, 1), Param("tap", i32, 1), Const "N", Const "K", Var "n",
        Var "k", Func("y", i32)
      y[n][k] = select(k:eq(0), 0, y[n][k - 1]) + src[2 * n + k] * tap[k]
      y:set_bounds(n, 0, N, k, 0, K)
      if map then y:space_time_transform({n, k}, {p, s}, w[1]) end
      return y, {N = 6, K = 3}
    end, {{}}, function(a)
      return rows(6, 3, function(n, k) return sum(0, k, function(q) return a.src[2 * n + q] * a.tap[q] end) end)
    end)
    t.eq({t2s.report(net).pes.y_pe, t2s.report(net).steps.y}, {w[2], w[3]})
  end
end)

t.test("acceptance 13: what is left of a triangle: sums of its rows, and one of all", function()
  for _, drops in ipairs {1, 2} do
    case.run(function(map)
      local w, B, N, b, i, j = Param("w", i32, 3), Const "B", Const "N", Var "b", Var "i", Var "j"
      local S, out = Func("S out", i32)
      local was = drops == 1 and 0 or select(i:eq(0), 0, S[b][i - 1][i - 1])
      S[b][i][j] = select(j:eq(0), was, S[b][i][j - 1]) + w[b][i][j]
      if drops == 1 then out[b][i] = t2s.select(j:eq(i), S[b][i][j])
      else out[b] = t2s.select(i:eq(N - 1) & j:eq(i), S[b][i][j]) end
      out:merge_ures(S):set_bounds(b, 0, B, i, 0, N, j, 0, i + 1)
      if map then out:unroll(b) end
      return out, {B = 3, N = 4}
    end, {{}}, function(a)
      local function line(b, i) return sum(0, i, function(j) return a.w[b][i][j] end) end
      if drops == 1 then return rows(3, 4, line) end
      return row(3, function(b) return sum(0, 3, function(i) return line(b, i) end) end)
    end, nil, {builds = true})
  end
end)

t.test("acceptance 14: lanes of eight that a stage before has, sums that the lanes carry", function()
  for _, carries in ipairs {false, true} do
    local net = case.run(function(map)
      local v, R, C, r, c, cc = Param("v", i32, 2), Const "R", Param "C", Var "r", Var "c", Var "cc"
      local E, ld, nr = Func("E ld nr", i32)
      E[r][c] = v[r][c] * 5 + (carries and select(c:eq(0), 0, E[r][c - 1]) or 0)
      E:set_bounds(r, 0, R, c, 0, C)
      if map then
        assume.divisible(C, 8)
        E:tile(c, cc, 8):unroll(r):isolate_producer_chain(v, ld, nr):vectorize(cc)
        ld:unroll(r):vectorize(cc)
        nr:unroll(r):vectorize(cc)
      end
      return E, {R = 3}
    end, {{C = 16}, {C = 8}}, function(a, z)
      return rows(3, z.C, function(r, c)
        return carries and sum(0, c, function(n) return 5 * a.v[r][n] end) or 5 * a.v[r][c]
      end)
    end, nil, clock)
    t.has(tostring(net), "d:stream(i32[8], {3")
  end
end)

t.test("acceptance 15: a network of feeders and collectors on 3 x 2 elements: 25 channels", function()
  local net = case.run(function(map)
    local L, R = Param("L R", f32, 2)
    local M, N, K, m, n, k, mm, nn = Param "M", Param "N", Param "K", Var "m n k mm nn"
    local O, ll, lf, rl, rf, oc, od = Func("O ll lf rl rf oc od", f32)
    O[m][n] = 0
    O[m][n] = O[m][n] + L[m][k] * R[k][n]
    O:set_bounds(m, 0, M, n, 0, N, k, 0, K)
    if map then
      assume.divisible(M, 3, N, 2)
      O:tile(m, n, mm, nn, 3, 2):isolate_producer_chain(L, ll, lf):isolate_producer_chain(R, rl, rf)
      O:isolate_consumer_chain(O, od, oc):unroll(mm, nn):relay(L, {0, 1}):relay(R, {1, 0}):relay(O, {-1, 0})
      lf:unroll(mm):relay(L, {1})
      rf:unroll(nn):relay(R, {1})
      oc:unroll(nn):relay(O, {-1})
    end
    return O, {}
  end, {{M = 6, N = 4, K = 5}, {M = 3, N = 2, K = 1}}, function(a, z)
    return rows(z.M, z.N, function(m, n) return sum(0, z.K - 1, function(k) return a.L[m][k] * a.R[k][n] end) end)
  end, nil, clock)
  local r = t2s.report(net)
  t.eq({r.pes.O_pe, r.pes.lf, r.pes.rf, r.pes.oc}, {6, 3, 2, 2})
  t.eq(r.channels, 3 * 6 + 3 + 2 * 2)
end)

t.test("acceptance 16: sizes at the call; what is assumed and does not hold refuses to run", function()
  local L, M, K = Param("L", i32, 2), Param "M K"
  local m, k, mm, O = Var "m k mm", nil, nil, nil
  m, k, mm = Var "m k mm"
  O = Func("O", i32)
  O[m] = 0
  O[m] = O[m] + L[m][k]
  O:set_bounds(m, 0, M, k, 0, K):tile(m, mm, 3):unroll(mm)
  assume.divisible(M, 3)
  assume(K:le(6))
  local net = t2s.design(O)
  for _, z in ipairs {{3, 1}, {9, 6}, {4, 2}, {6, 7}} do
    local a, o = tide.random(i32[z[1]][z[2]], 1, {lo = -9, hi = 9}), i32[z[1]](77)
    local function run() net {L = a, O = o} end
    if z[1] % 3 == 0 and z[2] <= 6 then
      run()
      for r = 0, z[1] - 1 do t.eq(o[r], sum(0, z[2] - 1, function(c) return a[r][c] end)) end
    else
      t.fails(run, {kind = "illegal"})
      t.eq(o[0], 77, "nothing was written")
    end
  end
end)

t.test("acceptance 18: pairs of sequences, three recurrences, tiles of 2 x 3 that do not divide", function()
  case.run(function(map)
    local P, A, B, a, b, aa, bb = Param("P", f32, 2), Param "A", Param "B", Var "a b aa bb"
    local same, gone, more = Func("same gone more", f32)
    same[a][b] = select(a:eq(0) | b:eq(0), 0.0,
      P[a][b] * (0.5 * same[a - 1][b - 1] + 0.25 * (gone[a - 1][b - 1] + more[a - 1][b - 1])))
    gone[a][b] = select(a:eq(0), 0.0, 0.5 * same[a - 1][b] + 0.25 * gone[a - 1][b])
    more[a][b] = select(b:eq(0), 1.0, 0.5 * same[a][b - 1] + 0.25 * more[a][b - 1])
    more:merge_ures(same, gone):set_bounds(a, 0, A, b, 0, B)
    if map then
      assume(B:le(24))
      more:tile(a, b, aa, bb, 2, 3):unroll(aa, bb):relay(same, {1, 0}):relay(same, {0, 1}):relay(same, {1, 1})
      more:relay(gone, {1, 0}):relay(gone, {1, 1}):relay(more, {0, 1}):relay(more, {1, 1})
    end
    return more, {}
  end, {{A = 5, B = 7}, {A = 1, B = 1}, {A = 4, B = 6}}, function(q, z)
    local S, G, M = {}, {}, {}
    return rows(z.A, z.B, function(a, b)
      if b == 0 then S[a], G[a], M[a] = {}, {}, {} end
      S[a][b] = (a == 0 or b == 0) and 0
        or q.P[a][b] * (0.5 * S[a - 1][b - 1] + 0.25 * (G[a - 1][b - 1] + M[a - 1][b - 1]))
      G[a][b] = a == 0 and 0 or 0.5 * S[a - 1][b] + 0.25 * G[a - 1][b]
      M[a][b] = b == 0 and 1 or 0.5 * S[a][b - 1] + 0.25 * M[a][b - 1]
      return M[a][b]
    end)
  end, nil, {builds = true})
end)

t.test("acceptance 19: capsules of 2 x 3 by 3 x 2, one row of the kernel, weights that stay", function()
  case.run(function(map)
    local X, W = Param("X", i32, 4), Param("W", i32, 5)
    local H, O, C, K = Param "H", Const "O", Param "C", Param "K"
    local h, o, m, n, c, k, r = Var "h o m n c k r"
    local Q, far, near = Func("Q far near", i32)
    Q[h][o][m][n] = 0
    Q[h][o][m][n] = Q[h][o][m][n] + X[h + k][c][m][r] * W[k][c][o][r][n]
    Q:set_bounds(h, 0, H, o, 0, O, m, 0, 2, n, 0, 2, c, 0, C, k, 0, K, r, 0, 3)
    if map then
      Q:isolate_producer_chain(X, far):unroll(o):relay(X, {-1}):isolate_consumer_chain(Q, near):relay(Q, {1})
    end
    return Q, {O = 3}
  end, {{H = 2, C = 2, K = 2}, {H = 1, C = 1, K = 1}}, function(a, z)
    return rows(z.H, 3, function(h, o)
      return rows(2, 2, function(m, n)
        return sum(0, 3 * z.C * z.K - 1, function(q)
          local k, c, r = q // (3 * z.C), q // 3 % z.C, q % 3
          return a.X[h + k][c][m][r] * a.W[k][c][o][r][n]
        end)
      end)
    end)
  end, nil, clock)
end)

t.test("accepted, though others refuse it: a space loop that is not innermost, a condition's operand apart", function()
  local net = case.run(function(map)
    local v, c, R, C, i, j, E, pv, pc = Param("v", i32, 2), Param("c", i32, 2), Const "R", Param "C", Var "i", Var "j",
      Func("E pv pc", i32)
    E[i][j] = select(c[i][j]:gt(0), v[i][j], j)
    E:set_bounds(i, 0, R, j, 0, C)
    if map then E:unroll(i):isolate_producer_chain(c, pc):isolate_producer_chain(v, pv):relay(c, {1}) end
    return E, {R = 3}
  end, {{C = 4}, {C = 1}}, function(a, z)
    return rows(3, z.C, function(i, j) return a.c[i][j] > 0 and a.v[i][j] or j end)
  end, nil, clock)
  t.eq(t2s.report(net).pes.E_pe, 3)
end)

t.done()
