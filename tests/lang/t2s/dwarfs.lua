-- dwarfs.lua - T2S on programs beyond the paper: factorisations on triangles, a capsule convolution, bodies, chains of
-- random numbers, a state machine as an element; what has no uniform distances (butterflies, graphs) is a definition
-- and no array; nets joined by a stream, and nets scheduled on by steps that are not T2S's. [slow]
local t = require "tap"
local tide = require "tide"
local t2s = require "tide.t2s"
local i8, i32, i64, f32, min, select = tide.i8, tide.i32, tide.i64, tide.f32, tide.min, tide.select
local Param, Const, Var, Func, assume = t2s.Param, t2s.Const, t2s.Var, t2s.Func, t2s.assume

-- Runs a design and its definition on the same numbers; returns the results.
local function run(F, net, consts, z, options)
  local k, at = t2s.kernel(F, consts), net
  if z then k, at = k:at(z), net:at(z) end
  local args, want = {}, {}
  for n, q in ipairs(k.params) do
    args[n] = n < #k.params and tide.random(q.type, n, options or {lo = -9, hi = 9}) or q.type(0)
    want[n] = n < #k.params and args[n] or q.type(0)
  end
  at(table.unpack(args))
  k(table.unpack(want))
  t.ok(args[#args]:equal(want[#want]))
  return args[#args]
end

-- LU without pivots: rows of U go down, multipliers to the right, what is left on to the next element.
local function lu()
  local A, N, k, i, j = Param("A", f32, 2), Const "N", Var "k", Var "i", Var "j"
  local U, L, V, O = Func("U L V O", f32)
  local was = select(k:eq(0), A[i][j], V[k - 1][i][j])
  U[k][i][j] = select(i:eq(k), was, U[k][i - 1][j])
  L[k][i][j] = select(j:eq(k), was / U[k][i][j], L[k][i][j - 1])
  V[k][i][j] = was - L[k][i][j] * U[k][i][j]
  O[i][j] = t2s.select(i:eq(k) | j:eq(k), select(i:eq(k), U[k][i][j], L[k][i][j]))
  O:merge_ures(U, L, V):set_bounds(k, 0, N, i, k, N, j, k, N)
  return O, V, k, {U = U, L = L, i = i, j = j}
end

t.test("LU: a triangle of iterations, an element for each pivot", function()
  local a, o = tide.tensor(f32[4][4], {{1, 4, 5, 2}, {2, 3, 6, 7}, {3, 5, 8, 9}, {5, 2, 1, 12}}), f32[4][4](0)
  local O, V, k = lu()
  O:unroll(k):relay(V, {1})
  local net, verdict = t2s.design(O, {N = 4})
  t.has(tostring(verdict), "proved: strict")
  t.eq(t2s.report(net).pes.O_pe, 4)
  t.eq(t2s.report(net).channels, 3)
  net {A = a, O = o}
  local want = {{1, 4, 5, 2}, {2, -5, -4, 3}, {3, 1.4, -1.4, -1.2}, {5, 3.6, 6.857, -0.571}}
  for i = 0, 3 do
    for j = 0, 3 do t.ok(math.abs(o[i][j] - want[i + 1][j + 1]) < 1e-3, i .. ", " .. j) end
  end
  run(O, t2s.design(O, {N = 6}), {N = 6}, nil, {lo = 1, hi = 9})
  t.fails(function()
    local P, W, q = lu()
    P:unroll(q):relay(W, {-1})
    t2s.schedule(P, {N = 4})
  end, {code = "way"})
end)

t.test("LU: an element for each place of the matrix, or for each row; those on the boundary divide", function()
  for _, n in ipairs {4, 3} do
    local O, _, _, q = lu()
    O:unroll(q.i, q.j):relay(q.U, {1, 0}):relay(q.L, {0, 1})
    local net, verdict = t2s.design(O, {N = n})
    t.has(tostring(verdict), "proved: strict")
    t.eq(t2s.report(net).pes.O_pe, n * n)
    t.eq(t2s.report(net).channels, 2 * n * (n - 1))
    run(O, net, {N = n}, nil, {lo = 1, hi = 9})
  end
  local O, _, _, q = lu()
  O:unroll(q.i):relay(q.U, {1})
  local net, verdict = t2s.design(O, {N = 5})
  t.has(tostring(verdict), "proved: strict")
  t.eq(t2s.report(net).pes.O_pe, 5)
  run(O, net, {N = 5}, nil, {lo = 1, hi = 9})
  t.fails(function()
    local P, _, _, w = lu()
    P:unroll(w.i, w.j):relay(w.U, {1, 0}):relay(w.L, {0, -1})
    t2s.schedule(P, {N = 4})
  end, {code = "way"})
end)

-- A matrix as a lower triangle times its own transpose.
local function cholesky()
  local A, N, k, i, j = Param("A", f32, 2), Const "N", Var "k", Var "i", Var "j"
  local D, L, R, V, O = Func("D L R V O", f32)
  local was = select(k:eq(0), A[i][j], V[k - 1][i][j])
  D[k][i][j] = select(j:eq(k), select(i:eq(k), tide.sqrt(was), D[k][i - 1][j]), D[k][i][j - 1])
  L[k][i][j] = select(j:eq(k), select(i:eq(k), D[k][i][j], was / D[k][i][j]), L[k][i][j - 1])
  R[k][i][j] = select(i:eq(j), L[k][i][j], R[k][i - 1][j])
  V[k][i][j] = was - L[k][i][j] * R[k][i][j]
  O[i][j] = t2s.select(j:eq(k), L[k][i][j])
  O:merge_ures(D, L, R, V):set_bounds(k, 0, N, i, k, N, j, k, i + 1)
  return O, {D = D, L = L, R = R, V = V, i = i, j = j, k = k}
end

-- Ways to lay it out: the elements that there are of n pivots, and the relays that the ways need.
local spread = {
  {"for each pivot", function(n) return n end, function(O, q) O:unroll(q.k):relay(q.V, {1}) end},
  {"for each row", function(n) return n end, function(O, q) O:unroll(q.i):relay(q.D, {1}):relay(q.R, {1}) end},
  {"for each column", function(n) return n end, function(O, q) O:unroll(q.j):relay(q.D, {1}):relay(q.L, {1}) end},
  {"for each place", function(n) return n * n end, function(O, q)
    O:unroll(q.i, q.j):relay(q.D, {1, 0}):relay(q.D, {0, 1}):relay(q.L, {0, 1}):relay(q.R, {1, 0})
  end},
}

for _, way in ipairs(spread) do
  t.test("Cholesky: roots on the diagonal, an element " .. way[1], function()
    local a, o = tide.tensor(f32[3][3], {{4, 0, 0}, {12, 37, 0}, {-16, -43, 98}}), f32[3][3](0)
    local O, q = cholesky()
    t2s.kernel(O, {N = 3})(a, o)
    for n, row in ipairs {{2, 0, 0}, {6, 1, 0}, {-8, 5, 3}} do
      for m, x in ipairs(row) do t.eq(o[n - 1][m - 1], x) end
    end
    way[3](O, q)
    local net, verdict = t2s.design(O, {N = 3})
    t.has(tostring(verdict), "proved: strict")
    t.eq(t2s.report(net).pes.O_pe, way[2](3))
    local got = f32[3][3](0)
    net {A = a, O = got}
    t.ok(got:equal(o))
  end)
end

t.test("a capsule convolution: five reductions of matrices", function()
  local X, W = Param("X", i32, 5), Param("W", i32, 5)
  local B, Y, CO, CI, KY, T = Param "B", Param "Y", Param "CO", Param "CI", Param "KY", Const "T"
  local b, co, coo, y, m, n, ci, ky, kk = Var "b co coo y m n ci ky kk"
  local V, feed, drain = Func("V feed drain", i32)
  V[b][co][y][m][n] = 0
  V[b][co][y][m][n] = V[b][co][y][m][n] + X[b][ci][y + ky][m][kk] * W[co][ci][ky][kk][n]
  V:set_bounds(b, 0, B, co, 0, CO, y, 0, Y, m, 0, 4, n, 0, 4, ci, 0, CI, ky, 0, KY, kk, 0, 4)
  assume.divisible(CO, T)
  V:tile(co, coo, T):unroll(coo):isolate_producer_chain(X, feed):isolate_consumer_chain(V, drain)
  V:relay(X, {1}):relay(V, {-1})
  local net, verdict = t2s.design(V, {T = 2})
  t.has(tostring(verdict), "proved: strict")
  run(V, net, {T = 2}, {B = 1, Y = 2, CO = 4, CI = 2, KY = 2})
end)

t.test("bodies that pull one another", function()
  local X, M, N, T, i, j, ii = Param("X", f32, 1), Param("M", f32, 1), Param "N", Const "T", Var "i", Var "j", Var "ii"
  local F, feed, drain = Func("F feed drain", f32)
  F[i] = 0
  F[i] = F[i] + M[j] * (X[j] - X[i]) / (tide.abs(X[j] - X[i]) + 1.0)
  F:set_bounds(i, 0, N, j, 0, N)
  assume.divisible(N, T)
  F:tile(i, ii, T):unroll(ii):isolate_producer_chain(M, feed):isolate_consumer_chain(F, drain)
  F:relay(M, {1}):relay(F, {-1})
  local net, verdict = t2s.design(F, {T = 4})
  t.has(tostring(verdict), "proved: strict, all sizes")
  run(F, net, {T = 4}, {N = 12})
end)

t.test("Monte Carlo: a chain of random numbers in each lane", function()
  local seed, LANES, N, l, n = Param("seed", i32, 1), Const "LANES", Param "N", Var "l", Var "n"
  local S, H, O = Func("S H O", i32)
  local x, y = i32((S[l][n] & 0xff00) // 256), i32((S[l][n] & 0xff0000) // 65536)
  S[l][n] = i32(select(n:eq(0), seed[l], S[l][n - 1]) * 1103515245 + 12345)
  H[l][n] = select(n:eq(0), 0, H[l][n - 1]) + select(i32(x * x + y * y):le(65025), 1, 0)
  O[l] = t2s.select(n:eq(N - 1), H[l][n])
  O:merge_ures(S, H):set_bounds(l, 0, LANES, n, 0, N):space_time_transform(l)
  local net, verdict = t2s.design(O, {LANES = 4})
  t.has(tostring(verdict), "proved: strict, all sizes")
  t.eq(t2s.report(net).pes.O_pe, 4)
  local hits = i32[4](0)
  net {seed = tide.tensor(i32[4], {1, 2, 3, 4}), O = hits, N = 200}
  for k = 0, 3 do t.ok(hits[k] > 130 and hits[k] < 180, tostring(hits[k])) end
end)

-- Counts how often 1, any number of 1, 2, 3 has been seen.
local fsm = tide.kernel {
  n = i32, p = tide.stream(i32), o = tide.stream(i32),
  function(n, p, o)
    local state, seen = i32(0), i32(0)
    for _ = 0, n - 1 do --@ pipeline(1)
      local c = p:get()
      if state == 0 then
        if c == 1 then state = 1 end
      elseif state == 1 then
        if c == 2 then state = 2 elseif c ~= 1 then state = 0 end
      else
        if c == 3 then seen = seen + 1 end
        if c == 1 then state = 1 else state = 0 end
      end
      o:put(seen)
    end
  end,
}

t.test("a state machine as an element", function()
  local text, LANES, N, m = Param("text", tide.stream(i32), 1), Const "LANES", Const "N", Var "m"
  local out, load = Func("out load", tide.stream(i32))
  out[m] = fsm(N, text[m])
  out:set_bounds(m, 0, LANES):isolate_producer_chain(text, load):unroll(m)
  local net, verdict = t2s.design(out, {LANES = 3, N = 8})
  t.has(tostring(verdict), "proved")
  local x = tide.tensor(i32[3][8], {{1, 2, 3, 1, 2, 3, 0, 0}, {1, 1, 2, 3, 3, 3, 1, 2}, {0, 1, 2, 0, 2, 3, 2, 3}})
  local o = i32[3][8](0)
  net {text = x, out = o}
  t.eq(o[0][7], 2)
  t.eq(o[1][7], 1)
  t.eq(o[2][7], 0)
end)

t.test("butterflies: a definition, and no array of neighbours", function()
  local x, S, N, s, i, X = Param("x", i32, 1), Const "S", Const "N", Var "s", Var "i", Func("X", i32)
  local half = 1 << (s - 1)
  X[s][i] = select(s:eq(0), x[i], select((i // half % 2):eq(0), X[s - 1][i] + X[s - 1][i + half],
    X[s - 1][i - half] - X[s - 1][i]))
  X:set_bounds(s, 0, S + 1, i, 0, N)
  local v, o = tide.tensor(i32[8], {1, 2, 3, 4, 5, 6, 7, 8}), i32[4][8](0)
  t2s.kernel(X, {S = 3, N = 8})(v, o)
  for n, want in ipairs {36, -4, -8, 0, -16, 0, 0, 0} do t.eq(o[3][n - 1], want) end
  X:unroll(s):relay(X, {1})
  t.fails(function() t2s.schedule(X, {S = 3, N = 8}) end, {code = "carried"})
end)

t.test("breadth first: a definition, and no array of neighbours", function()
  local W, N, T, u, v, r, E = Param("W", i32, 2), Const "N", Const "T", Var "u", Var "v", Var "r", Func("E", i32)
  local function was(x) return select(r:eq(0), select(x:eq(0), 0, 1000), E[r - 1][x][N - 1]) end
  E[r][v][u] = min(select(u:eq(0), was(v), E[r][v][u - 1]), was(u) + W[u][v])
  E:set_bounds(r, 0, T, v, 0, N, u, 0, N)
  local far = 1000
  local w = tide.tensor(i32[4][4], {{far, 1, far, far}, {far, far, 1, far}, {far, far, far, 1}, {far, far, far, far}})
  local o = i32[3][4][4](0)
  t2s.kernel(E, {T = 3, N = 4})(w, o)
  for k = 0, 3 do t.eq(o[2][k][3], k) end
  E:space_time_transform(v)
  t.fails(function() t2s.schedule(E, {T = 3, N = 4}) end, {code = "carried"})
end)

-- A stage of a fast Fourier transform: blocks of 2 * half complex numbers, sums before products of differences.
local function butterfly(N)
  return tide.kernel {half = i32, p = tide.stream(f32), w = tide.stream(f32), o = tide.stream(f32),
    function(half, p, w, o)
      local re, im, c, s = f32[N](0), f32[N](0), f32[N](0), f32[N](0)
      for k = 0, N // 2 - 1 do
        c[k] = w:get()
        s[k] = w:get()
      end
      for k = 0, N - 1 do
        re[k] = p:get()
        im[k] = p:get()
      end
      for k = 0, N - 1 do
        local a, r = i32(k // (2 * half) * 2 * half + k % half), i32(k % half * (N // 2 // half))
        local b = i32(a + half)
        if k // half % 2 == 0 then
          o:put(re[a] + re[b])
          o:put(im[a] + im[b])
        else
          o:put((re[a] - re[b]) * c[r] - (im[a] - im[b]) * s[r])
          o:put((re[a] - re[b]) * s[r] + (im[a] - im[b]) * c[r])
        end
      end
    end}
end

for _, S in ipairs {3, 4} do
  t.test(("a fast Fourier transform of %d points: stages as elements, in a row"):format(1 << S), function()
    local N, L, s = Const "N", Const "L", Var "s"
    local x, tw = Param("x", tide.stream(f32), 1), Param("tw", tide.stream(f32), 1)
    local X, load = Func("X load", tide.stream(f32))
    local stage = butterfly(N)
    X[0] = stage(1 << (L - 1), x[0], tw[0])
    X[s] = stage(1 << (L - 1 - s), X[s - 1], tw[s])
    X:set_bounds(s, 0, L):store(L - 1):isolate_producer_chain(x, load):unroll(s):relay(X, {1})
    local net, verdict = t2s.design(X, {N = 1 << S, L = S})
    t.has(tostring(verdict), "proved")
    local n = 1 << S
    local a, w, o = tide.random(f32[1][2 * n], 1), f32[S][n](), f32[2 * n](0)
    for k = 0, n // 2 - 1 do
      for l = 0, S - 1 do
        w[l][2 * k], w[l][2 * k + 1] = math.cos(-2 * math.pi * k / n), math.sin(-2 * math.pi * k / n)
      end
    end
    net {x = a, tw = w, X = o}
    for k = 0, n - 1 do
      local re, im, at = 0, 0, 0
      for b = 0, S - 1 do at = at | (k >> b & 1) << (S - 1 - b) end
      for m = 0, n - 1 do
        local u, v, q = a[0][2 * m], a[0][2 * m + 1], -2 * math.pi * k * m / n
        re, im = re + u * math.cos(q) - v * math.sin(q), im + u * math.sin(q) + v * math.cos(q)
      end
      t.ok(math.abs(o[2 * at] - re) < 1e-3 and math.abs(o[2 * at + 1] - im) < 1e-3, tostring(k))
    end
  end)
end

-- A round of a search by breadth: the least of what was known of a node and of a step more than its neighbours'.
local function round(N)
  return tide.kernel {p = tide.stream(i32), w = tide.stream(i32), o = tide.stream(i32), function(p, w, o)
    local far = i32[N](0)
    for v = 0, N - 1 do far[v] = p:get() end
    for v = 0, N - 1 do
      local best = far[v]
      for u = 0, N - 1 do best = min(best, far[u] + w:get()) end
      o:put(best)
    end
  end}
end

t.test("breadth first: rounds as elements, in a row", function()
  local N, T, r = Const "N", Const "T", Var "r"
  local from, w = Param("from", tide.stream(i32), 1), Param("w", tide.stream(i32), 1)
  local E, load = Func("E load", tide.stream(i32))
  local step = round(N)
  E[0] = step(from[0], w[0])
  E[r] = step(E[r - 1], w[r])
  E:set_bounds(r, 0, T):store(T - 1):isolate_producer_chain(from, load):unroll(r):relay(E, {1})
  local net, verdict = t2s.design(E, {N = 5, T = 4})
  t.has(tostring(verdict), "proved")
  local edges, far = {{0, 1}, {0, 3}, {1, 2}, {3, 4}, {2, 4}}, 1000
  local a, b, o = i32[1][5](far), i32[4][25](far), i32[5](0)
  a[0][0] = 0
  for _, e in ipairs(edges) do
    for q = 0, 3 do b[q][e[2] * 5 + e[1]] = 1 end
  end
  net {from = a, w = b, E = o}
  for v, want in ipairs {0, 1, 2, 1, 2} do t.eq(o[v - 1], want) end
end)

-- A product on 2 x 2 elements, with names of a prefix.
local function product(q)
  local A, B = Param(("%sA %sB"):format(q, q), i32, 2)
  local I, J, K = Param "I J K"
  local II, JJ, i, j, k, ii, jj = Const "II", Const "JJ", Var "i j k ii jj"
  local C, fa, fb, drain = Func((("C fa fb drain"):gsub("%a+", q .. "%0")), i32)
  C[i][j] = 0
  C[i][j] = C[i][j] + A[i][k] * B[k][j]
  C:set_bounds(i, 0, I, j, 0, J, k, 0, K)
  assume.divisible(I, II, J, JJ)
  C:tile(i, j, ii, jj, II, JJ):unroll(ii, jj):isolate_producer_chain(A, fa):isolate_producer_chain(B, fb)
  C:isolate_consumer_chain(C, drain):relay(A, {0, 1}):relay(B, {1, 0}):relay(C, {-1, 0})
  return (t2s.design(C, {II = 2, JJ = 2}))
end

t.test("two nets joined by a stream", function()
  local one, two = product "x":at {I = 4, J = 6, K = 3}, product "y":at {I = 4, J = 2, K = 6}
  local both = tide.kernel {A = i32[4][3], B = i32[3][6], C = i32[6][2], D = i32[4][2], function(A, B, C, D)
    local T = i32[4][6]()
    one(A, B, T)
    two(T, C, D)
  end}
  local s = tide.schedule(both)
  s:dataflow()
  t.has(tostring(s), "block = true")
  t.eq((s:verify()), "strict")
  local small = {lo = -9, hi = 9}
  local a, b, c = tide.random(i32[4][3], 1, small), tide.random(i32[3][6], 2, small), tide.random(i32[6][2], 3, small)
  local d = i32[4][2](0)
  s:build {target = "cpu"}(a, b, c, d)
  local ab = i32[4][6](0)
  ab:set(tide.matmul(a, b))
  t.ok(d:equal(tide.matmul(ab, c)))
end)

-- A product of bytes whose rows are in space.
local function rows(chain)
  local A, B, I, J, K = Param("A", i8, 2), Param("B", i8, 2), Param "I J K"
  local II, i, j, k, ii = Const "II", Var "i j k ii"
  local C, load, feed, drain = Func("C load feed drain", i32)
  C[i][j] = 0
  C[i][j] = C[i][j] + A[i][k] * B[k][j]
  C:set_bounds(i, 0, I, j, 0, J, k, 0, K)
  assume.divisible(I, II)
  C:tile(i, ii, II):unroll(ii)
  if chain then
    C:isolate_producer_chain(B, load, feed):relay(B, {1}):isolate_consumer_chain(C, drain)
    feed:buffer(B, j, t2s.DOUBLE)
  end
  return (t2s.design(C, {II = 4})):at {I = 8, J = 3, K = 8}
end

t.test("a net scheduled on: bundle, chain, retype, pack, search", function()
  local function step(net, what, ...)
    local s = tide.schedule(net)
    s[what](s, ...)
    t.eq((s:verify()), "strict", what)
    return tostring(s)
  end
  t.has(step(rows(), "bundle", "C_pe", {axis = 0, factor = 2}), "map = {2}")
  t.has(step(rows(), "retype", "C", i64), "i64[I][J]")
  step(rows(), "search", {pes = 2})
  t.eq(step(rows(true), "chain", "load", "feed_fill"):find("d.feed_fill", 1, true), nil)
  local s = tide.schedule(rows())
  local _, held = s:buffer_at("A", "C_pe:j")
  s:pack(held, 0, 4)
  t.eq((s:verify()), "strict", "pack")
  t.fails(function() tide.schedule(product "z"):bundle("zC_pe", {axis = 0}) end, {code = "isomorphic"})
end)

t.done()
