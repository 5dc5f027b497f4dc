-- t2s_definitions.lua - T2S definitions as kernels: the five studies and another example of each against plain Lua,
-- recurrences, systems, triangles, and what a definition refuses, each with its accepted twin.
local studies = require "t2s_studies"
local t = require "tap"
local tide = require "tide"
local t2s = require "tide.t2s"
local f32, i32, i64, max, select, stream = tide.f32, tide.i32, tide.i64, tide.max, tide.select, tide.stream
local Param, Const, Var, Func, assume = t2s.Param, t2s.Const, t2s.Var, t2s.Func, t2s.assume

local small = {lo = -8, hi = 8}

local function product(names)
  local a, b, c = names[1], names[2], names[3]
  local A, B = Param(a .. " " .. b, f32, 2)
  local I, J, K = Param "I J K"
  local II, JJ = Const "II JJ"
  local i, j, k = Var "i j k"
  local C = Func(c, f32)
  C[i][j] = 0
  C[i][j] = C[i][j] + A[i][k] * B[k][j]
  C:set_bounds(i, 0, I, j, 0, J, k, 0, K)
  assume.no_alias(A, B)
  assume.divisible(I, II, J, JJ)
  C:tile(i, j, Var "ii", Var "jj", II, JJ)
  return t2s.kernel(C, names.consts)
end

t.test("SGEMM at two sizes and names", function()
  for n, at in ipairs {{8, 8, 8, {"A", "B", "C", consts = {II = 4, JJ = 4}}}, {3, 5, 7, {"left", "right", "sum"}}} do
    local I, J, K, names = at[1], at[2], at[3], at[4]
    local a, b, c = tide.random(f32[I][K], n, small), tide.random(f32[K][J], n + 5, small), f32[I][J](0)
    local k = product(names)
    k {[names[1]] = a, [names[2]] = b, [names[3]] = c, I = I, J = J, K = K}
    t.ok(c:equal(tide.matmul(a, b)))
  end
end)

t.test("an assumption is checked at the call", function()
  local k = product {"A", "B", "C", consts = {II = 4, JJ = 4}}
  local function run(I) k(f32[I][2](0), f32[2][4](0), f32[I][4](0)) return true end
  t.ok(run(8))
  t.fails(function() run(6) end, {kind = "illegal", code = "assume"})
end)

t.test("a size that is given by name agrees with the tensors", function()
  local k = product {"A", "B", "C"}
  local A, B, C = f32[4][2](0), f32[2][3](0), f32[4][3](0)
  k {A = A, B = B, C = C, I = 4}
  t.fails(function() k {A = A, B = B, C = C, I = 5} end, {code = "argument-type"})
end)

local function convolution(S, sizes)
  local input, weight, bias = Param("input", i32, 3), Param("weight", i32, 4), Param("bias", i32, 1)
  local Nof, Noy, Nox, Nif, Nky, Nkx = Param "Nof Noy Nox Nif Nky Nkx"
  local Step = Const "S"
  local no, y, x, ni, ky, kx = Var "no y x ni ky kx"
  local conv, relu = Func "conv relu"
  conv[no][y][x] = 0
  conv[no][y][x] = conv[no][y][x] + input[ni][y * Step + ky][x * Step + kx] * weight[no][ni][ky][kx]
  relu[no][y][x] = max(conv[no][y][x] + bias[no], 0)
  conv:set_bounds(no, 0, Nof, y, 0, Noy, x, 0, Nox, ni, 0, Nif, ky, 0, Nky, kx, 0, Nkx)
  relu:set_bounds(no, 0, Nof, y, 0, Noy, x, 0, Nox)
  local F, Y, X, I, KY, KX = table.unpack(sizes)
  local inp = tide.random(i32[I][(Y - 1) * S + KY][(X - 1) * S + KX], 1, small)
  local w, b, out = tide.random(i32[F][I][KY][KX], 2, small), tide.random(i32[F], 3, small), i32[F][Y][X](0)
  t2s.kernel(relu, {S = S}) {input = inp, weight = w, bias = b, relu = out, Nof = F, Noy = Y, Nox = X, Nif = I,
    Nky = KY, Nkx = KX}
  for f = 0, F - 1 do
    for v = 0, Y - 1 do
      for u = 0, X - 1 do
        local sum = 0
        for c = 0, I - 1 do
          for p = 0, KY - 1 do
            for q = 0, KX - 1 do sum = sum + inp[c][v * S + p][u * S + q] * w[f][c][p][q] end
          end
        end
        t.eq(out[f][v][u], math.max(sum + b[f], 0))
      end
    end
  end
end

t.test("convolution and ReLU, strides 1 and 2", function()
  convolution(1, {4, 4, 4, 2, 3, 3})
  convolution(2, {3, 2, 5, 1, 2, 3})
end)

local function align(name, T, S, at)
  local P, Q = Param("T S", i32, 1)
  local I, J = Param "I J"
  local MAX_J = Const "MAX_J"
  local i, j = Var "i j"
  local A = Func(name)
  local function f(up, left, diag, a, b)
    return max(max(0, diag + select(a:eq(b), 2, -1)), max(up - 1, left - 1))
  end
  A[-1][-1] = 0
  A[i][-1] = 0
  A[-1][j] = 0
  A[i][j] = f(A[i - 1][j], A[i][j - 1], A[i - 1][j - 1], P[i], Q[j])
  A:set_bounds(i, 0, I, j, 0, J)
  if at then A:store(I - 1, J - 1) end
  assume(J:le(MAX_J))
  return t2s.kernel(A, {MAX_J = 16})
end

local function align_plain(T, S, n, m)
  local A = {}
  for i = -1, n - 1 do
    A[i] = {}
    for j = -1, m - 1 do
      if i < 0 or j < 0 then A[i][j] = 0
      else
        A[i][j] = math.max(0, A[i - 1][j - 1] + (T[i] == S[j] and 2 or -1), A[i - 1][j] - 1, A[i][j - 1] - 1)
      end
    end
  end
  return A
end

t.test("Smith-Waterman: the stored element, and all of them", function()
  local a, b, score = i32[8](), i32[8](), i32[1](0)
  for n = 0, 7 do a[n], b[n] = (n * n * 3 + n) % 4, (n * 5 + n // 2) % 4 end
  align("A", a, b, true) {T = a, S = b, I = 8, J = 8, A = score}
  t.eq(score[0], 4)
  local T, S, all = tide.random(i32[9], 3, {lo = 0, hi = 3}), tide.random(i32[7], 4, {lo = 0, hi = 3}), i32[9][7](0)
  align("cell", T, S)(T, S, all)
  local want = align_plain(T, S, 9, 7)
  for i = 0, 8 do for j = 0, 6 do t.eq(all[i][j], want[i][j]) end end
  t.fails(function() align("A", a, b, true)(a, i32[20](0), score) end, {kind = "illegal"})
end)

local function sorter(name)
  local input = Param("input", stream(i32), 1)
  local L, S = Const "L S"
  local l, m = Var "l m"
  local out = Func(name, stream(i32))
  out[0][m] = studies.merge(S, input[2 * m], input[2 * m + 1])
  out[l][m] = studies.merge(S << l, out[l - 1][2 * m], out[l - 1][2 * m + 1])
  out:set_bounds(l, 0, L, m, 0, 1 << (L - 1 - l)):store(L - 1, 0)
  return out
end

t.test("merge sort: a tree of kernels with ports", function()
  for _, at in ipairs {{3, 4, "out"}, {2, 5, "tree"}, {1, 3, "one"}} do
    local L, S, name = at[1], at[2], at[3]
    local n = 1 << L
    local tokens, sorted = tide.random(i32[n][S], L), i32[n * S](0)
    local all = {}
    for s = 0, n - 1 do
      local row = tokens[s]:table()
      table.sort(row)
      table.move(row, 1, S, #all + 1, all)
      tokens[s]:set(tide.tensor(i32[S], row))
    end
    table.sort(all)
    t2s.kernel(sorter(name), {L = L, S = S}) {input = tokens, [name] = sorted}
    t.eq(sorted:table(), all)
  end
end)

t.test("a tree of sums, that of one level too", function()
  for levels = 1, 3 do
    local x, H, l, m, s = Param("x", i32, 1), Const "H", Var "l", Var "m", Func("s", i32)
    s[0][m] = x[2 * m] + x[2 * m + 1]
    s[l][m] = s[l - 1][2 * m] + s[l - 1][2 * m + 1]
    s:set_bounds(l, 0, H, m, 0, 1 << (H - 1 - l)):store(H - 1, 0)
    local a, sum, got = tide.random(i32[1 << levels], levels, {lo = 0, hi = 99}), 0, i32[1](0)
    for n = 0, (1 << levels) - 1 do sum = sum + a[n] end
    t2s.kernel(s, {H = levels}) {x = a, s = got}
    t.eq(got[0], sum)
  end
end)

local C, SLOTS = Param "C", Const "SLOTS"

local decoder = tide.kernel {
  len = stream(i32)[SLOTS], id = stream(i32)[SLOTS],
  function(len, id)
    local left, row, nxt = i32[SLOTS](0), i32[SLOTS](0), i32(0)
    for _ = 0, C - 1 do
      for s = 0, SLOTS - 1 do
        if left[s] == 0 then
          left[s] = len[s]:get()
          row[s] = nxt
          nxt = nxt + 1
        end
        left[s] = left[s] - 1
        id[s]:put(row[s])
      end
    end
  end,
}

local function spmv(name, slots)
  local Av, x = Param("Av", f32, 2), Param("x", f32, 1)
  local col, rowlen = Param("col rowlen", i32, 2)
  local ROWS = Param "ROWS"
  local c, r, n = Var "c r n"
  local part, rowid, y = Func("product", f32), Func("rowid", i32), Func(name, f32)
  part[c][r] = Av[c][r] * x[col[c][r]]
  rowid[c][r] = decoder(rowlen)
  y[n] = 0
  y[rowid[c][r]] = y[rowid[c][r]] + part[c][r]
  part:set_bounds(c, 0, C, r, 0, SLOTS)
  rowid:set_bounds(c, 0, C, r, 0, SLOTS)
  y:set_bounds(n, 0, ROWS + 1, c, 0, C, r, 0, SLOTS)
  return t2s.kernel(y, {SLOTS = slots})
end

t.test("SpMV: a decoder that takes as many lengths as it needs", function()
  local vec, out = f32[6](), f32[7](0)
  for k = 0, 5 do vec[k] = 3 * k - 4 end
  spmv("y", 4) {
    Av = tide.tensor(f32[4][4], {{1, 3, 0, 4}, {2, 8, 9, 5}, {0, 0, 10, 6}, {0, 0, 11, 7}}),
    col = tide.tensor(i32[4][4], {{0, 1, 0, 0}, {3, 5, 1, 2}, {0, 0, 2, 4}, {0, 0, 3, 5}}),
    rowlen = tide.tensor(i32[4][4], {{4, 1, 1, 4}, {0, 3, 3, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}}),
    x = vec, C = 4, ROWS = 6, y = out,
  }
  local want = {6, -3, 0, 119, 88, 66}
  for k = 0, 5 do t.eq(out[k], want[k + 1]) end
  local two = f32[4](0)
  spmv("z", 2) {
    Av = tide.tensor(f32[3][2], {{1, 2}, {3, 4}, {5, 6}}), col = tide.tensor(i32[3][2], {{0, 1}, {1, 0}, {2, 2}}),
    rowlen = tide.tensor(i32[2][2], {{2, 3}, {1, 0}}), x = tide.tensor(f32[3], {10, 20, 30}), ROWS = 3, z = two,
  }
  t.eq(two:table(), {1 * 10 + 3 * 20, 2 * 20 + 4 * 10 + 6 * 30, 5 * 30, 0})
end)

t.test("cases that loops decide", function()
  local N, i, j, F = Param "N", Var "i", Var "j", Func("F", i64)
  F[i][j] = t2s.select(i:eq(0), j, select(j:eq(0), i, F[i - 1][j] + F[i][j - 1]))
  F:set_bounds(i, 0, N, j, 0, N)
  local got, want = i64[10][10](0), {}
  t2s.kernel(F)(got)
  for a = 0, 9 do
    want[a] = {}
    for b = 0, 9 do
      want[a][b] = a == 0 and b or b == 0 and a or want[a - 1][b] + want[a][b - 1]
      t.eq(got[a][b], want[a][b])
    end
  end
end)

t.test("merged equations, a triangle, a scalar argument", function()
  local N, alpha, x = Param "N", Param("alpha", f32), Param("x", f32, 1)
  local i, j = Var "i j"
  local U, V, y = Func("U V y", f32)
  U[0] = 1
  V[0] = 2
  U[i] = U[i - 1] + V[i - 1]
  V[i] = U[i] - V[i - 1] * alpha
  U:set_bounds(i, 1, N)
  U:merge_ures(V)
  y[i] = 0
  y[i] = y[i] + x[j] * V[i]
  y:set_bounds(i, 0, N, j, 0, i + 1)
  local n, a = 6, 0.5
  local X, Y = tide.random(f32[n], 2, small), f32[n](0)
  t2s.kernel(y) {x = X, alpha = a, y = Y}
  local u, v = 1, 2
  for r = 0, n - 1 do
    if r > 0 then
      u = u + v
      v = u - v * a
    end
    local sum = 0
    for c = 0, r do sum = sum + X[c] * v end
    t.ok(math.abs(Y[r] - sum) <= 1e-4 * (1 + math.abs(sum)))
  end
end)

-- Refusals: `wrong` raises the code; `right` differs in one fact.
local function twins(code, wrong, right)
  t.test(code .. ": " .. wrong, function()
    local function run(text)
      local F, G = Func("F G", i32)
      local names = {N = Param "N", A = Param("A", i32, 1), i = Var "i", j = Var "j", F = F, G = G, select = select,
        t2s = t2s}
      assert(load(text .. " t2s.kernel(F)", "=twin", "t", names))()
    end
    run(right)
    t.fails(function() run(wrong) end, {code = code})
  end)
end

twins("t2s-left", "F[i][i] = 0 F:set_bounds(i, 0, N, j, 0, N)", "F[i][j] = 0 F:set_bounds(i, 0, N, j, 0, N)")
twins("t2s-left", "F[i + 1] = A[i] F:set_bounds(i, 0, N)", "F[i] = A[i] F:set_bounds(i, 0, N)")
twins("t2s-base", "F[i] = F[i - 1] + A[i] F:set_bounds(i, 0, N)",
  "F[-1] = 0 F[i] = F[i - 1] + A[i] F:set_bounds(i, 0, N)")
twins("t2s-base", "F[i] = F[i] + A[i] F:set_bounds(i, 0, N)", "F[i] = 0 F[i] = F[i] + A[i] F:set_bounds(i, 0, N)")
twins("t2s-order", "F[i] = 0 F[i] = F[i + 1] + A[i] F:set_bounds(i, 0, N)",
  "F[-1] = 0 F[i] = F[i - 1] + A[i] F:set_bounds(i, 0, N)")
twins("t2s-order", "F[i] = G[i] G[i] = A[i] F:set_bounds(i, 0, N) G:set_bounds(i, 0, N)",
  "G[i] = A[i] F[i] = G[i] F:set_bounds(i, 0, N) G:set_bounds(i, 0, N)")
twins("t2s-bounds", "F[i] = A[i]", "F[i] = A[i] F:set_bounds(i, 0, N)")
twins("t2s-bounds", "F[i] = A[i] F:set_bounds(i, 0, N, i, 0, N)", "F[i] = A[i] F:set_bounds(i, 0, N)")
twins("t2s-rank", "F[i] = A[i][j] F:set_bounds(i, 0, N)", "F[i] = A[i] F:set_bounds(i, 0, N)")
twins("t2s-index", "F[i] = A[i - 1] F:set_bounds(i, 0, N)", "F[i] = A[i - 1] F:set_bounds(i, 1, N)")
twins("t2s-undefined", "F[i] = G[i] F:set_bounds(i, 0, N)",
  "G[i] = 1 F[i] = G[i] G:set_bounds(i, 0, N) F:set_bounds(i, 0, N)")
twins("t2s-merge", "F[i] = A[i] F:set_bounds(i, 0, N) F:merge_ures(F)", "F[i] = A[i] F:set_bounds(i, 0, N)")
twins("t2s-field", "F[i] = A[i] F:set_bounds(i, 0, N) F.x = 1", "F[i] = A[i] F:set_bounds(i, 0, N)")
twins("t2s-write", "F[i] = A[i] A[i] = 1 F:set_bounds(i, 0, N)", "F[i] = A[i] F:set_bounds(i, 0, N)")
twins("t2s-compare", "F[i] = select(i == 0, A[i], 1) F:set_bounds(i, 0, N)",
  "F[i] = select(i:eq(0), A[i], 1) F:set_bounds(i, 0, N)")
twins("t2s-compare", "F[i] = i:eq(0) and A[i] or 1 F:set_bounds(i, 0, N)",
  "F[i] = select(i:eq(0), A[i], 1) F:set_bounds(i, 0, N)")
twins("t2s-compare", "F[i] = select(A[i] == A[i], 1, 2) F:set_bounds(i, 0, N)",
  "F[i] = select(A[i]:eq(A[i]), 1, 2) F:set_bounds(i, 0, N)")
twins("t2s-compare", "local function g(x) return x == 0 and 1 or x + 1 end\nF[i] = g(A[i]) F:set_bounds(i, 0, N)",
  "local function g(x) return select(x:eq(0), 1, x + 1) end\nF[i] = g(A[i]) F:set_bounds(i, 0, N)")
twins("t2s-store", "F[i] = A[i] F:set_bounds(i, 0, N):store(N)", "F[i] = A[i] F:set_bounds(i, 0, N):store(N - 1)")

-- A distance by a foreign function, which has a meaning for proofs or none, and may be called in any order or not.
local function distance(o)
  local hypot = tide.extern {library = "libm.so.6", symbol = "hypot", pure = o.pure, tide.f64(tide.f64, tide.f64),
    model = o.model and tide.kernel {r = tide.f64[1], a = tide.f64, b = tide.f64,
      function(r, a, b) r[0] = tide.sqrt(a * a + b * b) end} or nil}
  local x, n, i, ii, y = Param("x", tide.f64, 1), Param "n", Var "i", Var "ii", Func "y"
  y[i] = hypot(x[i], 4.0) + 1.0
  return y:set_bounds(i, 0, n):tile(i, ii, 2):unroll(ii)
end

t.test("a foreign function in a line of a definition", function()
  local x, y = tide.tensor(tide.f64[4], {3, 0, 3, 0}), tide.f64[4](0)
  t2s.kernel(distance {})(x, y)
  for n, want in ipairs {6, 5, 6, 5} do t.eq(y[n - 1], want) end
  local net, verdict = t2s.design(distance {pure = true, model = true})
  t.has(tostring(verdict), "proved")
  local z = tide.f64[4](0)
  net:at {n = 4}(x, z)
  t.ok(z:equal(y))
  t.fails(function() t2s.design(distance {pure = true}) end, {code = "t2s-design"})
  t.fails(function() t2s.design(distance {}) end, {code = "dependence"})
end)

t.test("an element that is stored alone, drained from an array", function()
  local A, x, n, m = Param("A", i32, 2), Param("x", i32, 1), Param "n", Param "m"
  local i, j, ii, y, out = Var "i", Var "j", Var "ii", Func("y out", i32)
  y[i] = 0
  y[i] = y[i] + A[i][j] * x[j]
  y:set_bounds(i, 0, n, j, 0, m):store(n - 1):tile(i, ii, 2):unroll(ii):isolate_consumer_chain(y, out):relay(y, {-1})
  local net, verdict = t2s.design(y)
  t.has(tostring(verdict), "proved: strict, all sizes")
  local got = i32[1](0)
  net:at {n = 3, m = 2}(tide.tensor(i32[3][2], {{1, 2}, {3, 4}, {5, 6}}), tide.tensor(i32[2], {1, 10}), got)
  t.eq(got[0], 65)
end)

t.done()
