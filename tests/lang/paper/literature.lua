-- literature.lua - schedules of the literature (Halide, TVM, Allo, Exo, polyhedral compilers), step by step: how many
-- of their legal steps are refused, and that what comes of the others is proved.
local t = require "tap"
local tide = require "tide"
local i8, i32, f32, grid = tide.i8, tide.i32, tide.f32, tide.grid

local rows, steps, refused = {}, 0, {}
local function row(name, kernel, schedule) rows[#rows + 1] = {name, kernel, schedule} end

-- A schedule whose refused steps are counted and left out. Methods return the names that were made.
local function counting(name, s)
  return setmetatable({schedule = s}, {__index = function(_, prim)
    return function(_, ...)
      steps = steps + 1
      local made = table.pack(pcall(s[prim], s, ...))
      if made[1] then return table.unpack(made, 3, made.n) end
      refused[#refused + 1] = ("%s: %s: %s"):format(name, prim, made[2].message)
    end
  end})
end

-- ---- kernels ----

local H, W = 7, 9
local function blur()
  return tide.kernel {A = i32[H + 2][W + 2], O = i32[H][W], function(A, O)
    local B = i32[H + 2][W]()
    for y, x in grid(H + 2, W) do B[y][x] = A[y][x] + A[y][x + 1] + A[y][x + 2] end
    for v, u in grid(H, W) do O[v][u] = B[v][u] + B[v + 1][u] + B[v + 2][u] end
  end}
end
local function unsharp()
  return tide.kernel {A = f32[H + 2][W], O = f32[H][W], function(A, O)
    local G, B = f32[H + 2][W](), f32[H][W]()
    for a, b in grid(H + 2, W) do G[a][b] = A[a][b] * 0.5 end
    for c, d in grid(H, W) do B[c][d] = (G[c][d] + G[c + 1][d] + G[c + 2][d]) * 0.25 end
    for v, u in grid(H, W) do O[v][u] = G[v + 1][u] * 2.0 - B[v][u] end
  end}
end
local function line()
  local N = 12
  return tide.kernel {A = f32[N], B = f32[N], function(A, B)
    local T = f32[N]()
    for i = 0, N - 1 do T[i] = A[i] * 2.0 end
    for j = 1, N - 2 do B[j] = T[j - 1] + T[j] + T[j + 1] end
  end}
end
local function gemm(M, N, K)
  M, N, K = M or 8, N or 8, K or 8
  return tide.kernel {A = f32[M][K], B = f32[K][N], C = f32[M][N], function(A, B, C)
    for i, j in grid(M, N, "PE") do
      for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
    end
  end}
end
local function int_gemm()
  local M, N, K = 4, 4, 6
  return tide.kernel {A = i8[M][K], B = i8[K][N], C = i32[M][N], function(A, B, C)
    for i, j in grid(M, N, "PE") do
      for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
    end
  end}
end
local function conv()
  local N, R, CI, CO = 8, 3, 2, 4
  return tide.kernel {A = f32[CI][N][N], F = f32[CO][CI][R][R], B = f32[CO][N - 2][N - 2], function(A, F, B)
    for o, y, x in grid(CO, N - 2, N - 2) do
      for c, r, q in grid(CI, R, R) do B[o][y][x] = B[o][y][x] + A[c][y + r][x + q] * F[o][c][r][q] end
    end
  end}
end
local function image()
  local N = 8
  return tide.kernel {A = i32[N][N], F = i32[3][3], B = i32[N - 2][N - 2], function(A, F, B)
    for y, x in grid(N - 2, N - 2) do
      local s = i32(0)
      for r, c in grid(3, 3) do s = s + A[y + r][x + c] * F[r][c] end
      B[y][x] = s
    end
  end}
end
local function depthwise()
  return tide.kernel {A = f32[4][8], F = f32[4][3], B = f32[4][6], function(A, F, B)
    for c, x in grid(4, 6) do
      for r = 0, 2 do B[c][x] = B[c][x] + A[c][x + r] * F[c][r] end
    end
  end}
end
local function pointwise()
  return tide.kernel {A = f32[6][8], B = f32[6][8], D = f32[6][8], function(A, B, D)
    for i, j in grid(6, 8) do B[i][j] = A[i][j] * 2.0 end
    for u, v in grid(6, 8) do D[u][v] = B[u][v] + 1.0 end
  end}
end
local function two_products()
  local P, Q, R, S = 4, 3, 5, 4
  local first = tide.kernel {A = f32[P][Q], B = f32[Q][R], X = f32[P][R], name = "first", function(A, B, X)
    for i, j in grid(P, R) do
      for k = 0, Q - 1 do X[i][j] = X[i][j] + A[i][k] * B[k][j] end
    end
  end}
  local second = tide.kernel {X = f32[P][R], C = f32[R][S], Y = f32[P][S], name = "second", function(X, C, Y)
    for i, j in grid(P, S) do
      for k = 0, R - 1 do Y[i][j] = Y[i][j] + X[i][k] * C[k][j] end
    end
  end}
  return tide.kernel {A = f32[P][Q], B = f32[Q][R], C = f32[R][S], Y = f32[P][S], function(A, B, C, Y)
    local X = f32[P][R](0)
    first(A, B, X)
    second(X, C, Y)
  end}
end
local function atax()
  local M, N = 5, 6
  return tide.kernel {A = f32[M][N], x = f32[N], y = f32[N], function(A, x, y)
    local z = f32[M](0)
    for r, m in grid(M, N) do z[r] = z[r] + A[r][m] * x[m] end
    for k, n in grid(M, N) do y[n] = y[n] + A[k][n] * z[k] end
  end}
end
local function bicg()
  local M, N = 5, 6
  return tide.kernel {A = f32[M][N], p = f32[N], r = f32[M], q = f32[M], s = f32[N], function(A, p, r, q, s)
    for i, j in grid(M, N) do s[j] = s[j] + r[i] * A[i][j] end
    for u, v in grid(M, N) do q[u] = q[u] + A[u][v] * p[v] end
  end}
end
local function gesummv()
  local N = 6
  return tide.kernel {A = f32[N][N], B = f32[N][N], x = f32[N], y = f32[N], function(A, B, x, y)
    local a, b = f32[N](0), f32[N](0)
    for i, j in grid(N, N) do a[i] = a[i] + A[i][j] * x[j] end
    for u, v in grid(N, N) do b[u] = b[u] + B[u][v] * x[v] end
    for w = 0, N - 1 do y[w] = a[w] * 1.5 + b[w] * 0.5 end
  end}
end
local function mvt()
  local N = 6
  return tide.kernel {A = f32[N][N], x = f32[N], y = f32[N], p = f32[N], q = f32[N], function(A, x, y, p, q)
    for i, j in grid(N, N) do x[i] = x[i] + A[i][j] * p[j] end
    for u, v in grid(N, N) do y[u] = y[u] + A[v][u] * q[v] end
  end}
end
local function jacobi2d()
  local N = 8
  return tide.kernel {A = f32[N][N], B = f32[N][N], function(A, B)
    for i, j in grid({1, N - 1}, {1, N - 1}) do
      B[i][j] = A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i - 1][j] + A[i + 1][j]
    end
  end}
end
local function trmm()
  local M, N = 6, 5
  return tide.kernel {A = f32[M][M], B = f32[M][N], function(A, B)
    for i, j in grid(M, N) do
      for k = i + 1, M - 1 do B[i][j] = B[i][j] + A[k][i] * B[k][j] end
    end
  end}
end
local function syrk()
  local N, M = 6, 4
  return tide.kernel {A = f32[N][M], C = f32[N][N], function(A, C)
    for i = 0, N - 1 do
      for j = 0, i do
        for k = 0, M - 1 do C[i][j] = C[i][j] + A[i][k] * A[j][k] end
      end
    end
  end}
end
local function jacobi1d()
  local T, N = 4, 10
  return tide.kernel {A = f32[N], B = f32[N], function(A, B)
    for _ = 0, T - 1, 1 do
      for i = 1, N - 2 do B[i] = (A[i - 1] + A[i] + A[i + 1]) * 0.5 end
      for j = 1, N - 2 do A[j] = B[j] end
    end
  end}
end
local function seidel1d()
  local T, N = 4, 10
  return tide.kernel {A = f32[N], function(A)
    for t = 0, T - 1 do -- luacheck: ignore 213
      for i = 1, N - 2 do A[i] = (A[i - 1] + A[i] + A[i + 1]) * 0.5 end
    end
  end}
end
local function seidel2d()
  local T, N = 3, 6
  return tide.kernel {A = f32[N][N], function(A)
    for t = 0, T - 1 do -- luacheck: ignore 213
      for i, j in grid({1, N - 1}, {1, N - 1}) do
        A[i][j] = A[i - 1][j] + A[i][j - 1] + A[i][j] + A[i][j + 1] + A[i + 1][j]
      end
    end
  end}
end
local function wave()
  local N = 7
  return tide.kernel {A = f32[N][N], function(A)
    for i, j in grid({1, N}, {1, N}) do A[i][j] = A[i - 1][j] + A[i][j - 1] end
  end}
end
local function lu()
  local N = 6
  return tide.kernel {A = f32[N][N], function(A)
    for k = 0, N - 1 do
      for r = k + 1, N - 1 do A[r][k] = A[r][k] / A[k][k] end
      for i = k + 1, N - 1 do
        for j = k + 1, N - 1 do A[i][j] = A[i][j] - A[i][k] * A[k][j] end
      end
    end
  end}
end
local function solve()
  local N, M = 6, 4
  return tide.kernel {L = f32[N][N], B = f32[N][M], function(L, B)
    for i = 0, N - 1 do
      for j = 0, i - 1 do
        for m = 0, M - 1 do B[i][m] = B[i][m] - L[i][j] * B[j][m] end
      end
    end
  end}
end
local function triangle()
  local N = 8
  return tide.kernel {L = f32[N][N], x = f32[N], y = f32[N], function(L, x, y)
    for i = 0, N - 1, 2 do
      for j = 0, i do y[i] = y[i] + L[i][j] * x[j] end
    end
  end}
end
local function cholesky()
  local N = 5
  return tide.kernel {A = f32[N][N], function(A)
    for k = 0, N - 1 do
      for i = k + 1, N - 1 do
        for j = k + 1, i do A[i][j] = A[i][j] - A[i][k] * A[j][k] end
      end
    end
  end}
end
local function floyd()
  local N = 5
  return tide.kernel {D = i32[N][N], function(D)
    for k = 0, N - 1 do
      for i, j in grid(N, N) do D[i][j] = tide.min(D[i][j], D[i][k] + D[k][j]) end
    end
  end}
end
local function fdtd()
  local N = 8
  return tide.kernel {E = f32[N + 1], U = f32[N], function(E, U)
    for i = 1, N - 1 do E[i] = E[i] - (U[i] - U[i - 1]) * 0.5 end
    for j = 0, N - 2 do U[j] = U[j] - (E[j + 1] - E[j]) * 0.25 end
  end}
end
local function imperfect()
  local N = 6
  return tide.kernel {A = f32[N][N], s = f32[N], function(A, s)
    for i = 0, N - 1 do
      s[i] = 0
      for j = 0, N - 1 do s[i] = s[i] + A[i][j] end
    end
  end}
end
local function copies()
  local N = 8
  return tide.kernel {A = f32[N], B = f32[N], C = f32[N], function(A, B, C)
    for i = 0, N - 1 do B[i] = A[i] + 1.0 end
    for k = 0, N - 1 do C[k] = A[k] * 2.0 end
    for j = 0, N - 1 do A[j] = B[j] + C[j] end
  end}
end
local function doitgen()
  local P, Q, S = 3, 4, 5
  return tide.kernel {A = f32[P][Q][S], F = f32[S][S], B = f32[P][Q][S], function(A, F, B)
    for r, q, p in grid(P, Q, S) do
      for s = 0, S - 1 do B[r][q][p] = B[r][q][p] + A[r][q][s] * F[s][p] end
    end
  end}
end
local function heat()
  local T, N = 3, 8
  return tide.kernel {A = f32[T + 1][N], O = f32[N], function(A, O)
    for t = 0, T - 1 do
      for i = 1, N - 2 do A[t + 1][i] = A[t][i - 1] + A[t][i] + A[t][i + 1] end
    end
    for o = 0, N - 1 do O[o] = A[0][o] end
  end}
end

-- ---- Halide ----

local function tiles(s)
  s:split("v", 4, {names = {"vo", "vi"}})
  s:split("u", 4, {names = {"uo", "ui"}})
  s:reorder("vo", "uo", "vi", "ui")
end
row("Halide blur: breadth first, rows in parallel", blur, function(s)
  s:parallel("v") s:parallel("y") s:unroll("x", 3)
end)
row("Halide blur: the transposed order", blur, function(s) s:reorder("u", "v") s:reorder("x", "y") end)
row("Halide blur: total fusion", blur, function(s) s:compute_at("B", "u") s:parallel("v") end)
row("Halide blur: rows computed at rows", blur, function(s) s:compute_at("B", "v") s:parallel("v") s:unroll("u", 3) end)
row("Halide blur: tiles in parallel", blur, function(s)
  tiles(s) s:compute_at("B", "uo") s:parallel("vo") s:unroll("ui")
end)
row("Halide blur: a loop of tiles", blur, function(s) tiles(s) s:parallel(s:fuse("vo", "uo") or "vo") end)
row("Halide blur: strips", blur, function(s)
  s:split("v", 2, {names = {"vo", "vi"}, tail = "cut"})
  s:compute_at("B", "vo")
  s:parallel("vo")
end)
row("Halide sliding window: one row ahead", blur, function(s)
  s:shift("v", 2) s:peel("y", 2) s:fuse("y", "v") s:fold_storage("B")
end)
row("Halide sliding window in a line, folded", line, function(s)
  s:shift("j", 1) s:peel("i", 2) s:fuse("i", "j") s:fold_storage("T") s:pipeline("i")
end)
row("Halide unsharp: computed at rows", unsharp, function(s)
  s:compute_at("B", "v") s:compute_at("G", "v") s:parallel("v")
end)
row("Halide unsharp: two stages in one", unsharp, function(s) s:fuse("c", "v") s:fuse("d", "u") s:fold_storage("B") end)

-- ---- TVM ----

local function blocks(s)
  s:split("i", 4) s:split("j", 4) s:split("k", 4)
  s:reorder("i_o", "j_o", "k_o", "k_i", "i_i", "j_i")
end
row("TVM gemm: blocking", gemm, blocks)
row("TVM gemm: blocking, vectorised and unrolled", gemm, function(s) blocks(s) s:unroll("j_i") s:unroll("k_i", 4) end)
row("TVM gemm: loop permutation", gemm, function(s)
  s:split("i", 4) s:split("j", 4) s:split("k", 4)
  s:reorder("i_o", "j_o", "k_o", "i_i", "k_i", "j_i")
end)
row("TVM gemm: packed operand", gemm, function(s)
  s:split("j", 4) s:reorder("j_o", "i", "j_i", "k") s:buffer_at("B", "j_o")
end)
row("TVM gemm: write cache", gemm, function(s) blocks(s) s:buffer_at("C", "j_o") end)
row("TVM gemm: in parallel", gemm, function(s) blocks(s) s:buffer_at("C", "j_o") s:parallel("i_o") end)
row("TVM gemm: remainders", function() return gemm(7, 9, 5) end, blocks)
row("TVM conv2d: tiles", conv, function(s)
  s:split("y", 3) s:split("x", 3) s:reorder("o", "y_o", "x_o", "c", "r", "q", "y_i", "x_i") s:unroll("x_i")
end)
row("TVM conv2d: cached input and output", conv, function(s)
  s:split("o", 2) s:reorder("o_o", "y", "x", "o_i") s:buffer_at("B", "x") s:buffer_at("A", "x") s:parallel("o_o")
end)
row("TVM depthwise", depthwise, function(s) s:parallel("c") s:reorder("r", "x") s:unroll("r") end)
row("TVM injective: fused axes", pointwise, function(s)
  local one = s:fuse("i", "j")
  s:split(one or "i", 8)
  s:parallel((one or "i") .. "_o")
end)
row("TVM compute_at of an elementwise stage", pointwise, function(s) s:compute_at("B", "v") s:parallel("u") end)

-- ---- Allo ----

row("Allo gemm: row-wise product", gemm, function(s) s:reorder("k", "j") s:buffer_at("C", "i") s:pipeline("j") end)
row("Allo gemm: unrolled columns", gemm, function(s)
  s:reorder("k", "j") s:unroll("j", 4) s:partition("C", 1) s:partition("B", 1)
end)
row("Allo Fig. 5: a systolic array", int_gemm, function(s)
  s:buffer_at("A", "j") s:buffer_at("B", "j")
  s:unfold("PE", {0, 1})
  s:partition("C", {0, 1})
  s:relay("A_j", "PE", {axis = 1}) s:relay("B_j", "PE", {axis = 0})
  s:fuse("PE:k_init_1", "PE:k_init", "PE:k")
  s:fold_storage("PE:A_j_1") s:fold_storage("PE:B_j_1")
  s:pipeline("PE:k_init_1")
end)
row("Allo 2mm: two products in a row", two_products, function(s)
  s:reorder("first:k", "first:j") s:buffer_at("first:X", "first:i") s:pipeline("first:j")
  s:reorder("second:k", "second:j") s:buffer_at("second:X", "second:i")
  s:relay("X", "second")
end)
row("Allo atax", atax, function(s) s:reorder("m", "r") s:pipeline("m") s:pipeline("n") end)
row("Allo bicg", bicg, function(s)
  s:pipeline("i") s:partition("A", 1) s:partition("s", 0) s:reorder("v", "u") s:pipeline("v")
end)
row("Allo gesummv", gesummv, function(s) s:fuse("i", "u", "w") s:fuse("j", "v") s:pipeline("j") end)
row("Allo mvt", mvt, function(s) s:pipeline("i") s:partition("A", 1) s:reorder("v", "u") s:pipeline("u") end)
row("Allo jacobi-2d: line and window buffers", jacobi2d, function(s)
  local lines = s:reuse_at("A", "i")
  s:reuse_at(lines or "A", "j")
  s:pipeline("j")
end)
row("Allo convolution: line and window buffers", image, function(s)
  local lines = s:reuse_at("A", "y")
  local window = s:reuse_at(lines or "A", "x")
  s:partition(lines or "A", 0) s:partition(window or "A") s:pipeline("x")
end)
row("Allo trmm", trmm, function(s) s:reorder("k", "j") s:unroll("j", 5) s:partition("B", 1) s:pipeline("k") end)
row("Allo syrk", syrk, function(s) s:reorder("k", "j") s:buffer_at("C", "i") s:pipeline("j") end)

-- ---- Exo ----

row("Exo sgemm: the micro-kernel", gemm, function(s)
  s:split("i", 4, {tail = "perfect"}) s:split("j", 4, {tail = "perfect"})
  s:reorder("i_o", "j_o", "k", "i_i", "j_i") s:buffer_at("C", "j_o") s:unroll("j_i")
end)
row("Exo sgemm: panels", gemm, function(s)
  s:split("k", 4, {tail = "perfect"}) s:split("i", 4, {tail = "perfect"})
  s:reorder("k_o", "i_o", "i_i", "j", "k_i") s:buffer_at("B", "k_o") s:buffer_at("A", "i_o")
end)
row("Exo sgemm: a kernel of its own", gemm, function(s)
  s:split("i", 4, {tail = "cut"}) s:split("j", 4, {tail = "cut"}) s:outline("j_o", "micro") s:inline("micro")
end)

-- ---- polyhedral classics ----

row("time skewing: Jacobi in one dimension", heat, function(s)
  s:skew("t", "i", 1) s:reorder("i", "t") s:split("i", 4)
end)
row("Jacobi: the copy is fused", jacobi1d, function(s)
  s:shift("j", 1) s:peel("i", 1) s:peel("j", 1, {at = "end"}) s:fuse("i", "j")
end)
row("Seidel: wavefront", seidel1d, function(s) s:skew("t", "i", 2) s:reorder("i", "t") s:parallel("t") end)
row("Seidel: time tiles", seidel1d, function(s)
  s:split("t", 2) s:skew("t_i", "i", 1) s:reorder("i", "t_i") s:split("i", 3) s:reorder("t_i", "i_i")
end)
row("Seidel in two dimensions: wavefront", seidel2d, function(s)
  s:skew("t", "i", 1) s:skew("t", "j", 1) s:skew("i", "j", 1) s:reorder("i", "t")
end)
row("a recurrence in both directions", wave, function(s) s:skew("i", "j", 1) s:reorder("j", "i") s:parallel("i") end)
row("LU", lu, function(s) s:parallel("i") s:reorder("j", "i") s:parallel("r") s:split("i", 2) end)
row("triangular solve of several sides", solve, function(s)
  s:reorder("m", "i", "j") s:parallel("m") s:split("i", 2)
end)
row("a triangle with steps", triangle, function(s) s:reorder("j", "i") s:split("j", 4) s:pipeline("i") end)
row("Cholesky's update", cholesky, function(s) s:parallel("i") s:reorder("j", "i") s:unroll("i", 2) end)
row("Floyd and Warshall", floyd, function(s) s:split("j", 2) s:reorder("j_o", "i") s:unroll("j_i") end)
row("FDTD: fusion after a shift", fdtd, function(s) s:shift("j", 1) s:fuse("i", "j") s:pipeline("i") end)
row("fission", imperfect, function(s) s:reorder("j", "i") s:parallel("i") end)
row("fusion over what stands between", copies, function(s) s:fuse("i", "k") s:fuse("i", "j") s:pipeline("i") end)
row("strip-mine and interchange", doitgen, function(s)
  s:split("p", 2, {tail = "cut"}) s:reorder("s", "p_o") s:split("q", 2) s:reorder("q_o", "r")
end)

for _, r in ipairs(rows) do
  t.test(r[1], function()
    local s = tide.schedule(r[2]())
    local before = #refused
    r[3](counting(r[1], s))
    local level, verdict = s:verify()
    t.ok(level == "strict" or level == "associative", tostring(verdict))
    t.eq(tostring(load(tostring(s))(s:constants())), tostring(s))
    if #refused > before then print("# refused: " .. refused[#refused]) end
  end)
end

t.test("at most two of the legal steps are refused", function()
  print(("# %d schedules, %d steps, %d refused"):format(#rows, steps, #refused))
  t.ok(#rows >= 48 and steps >= 170)
  t.ok(#refused <= 2, table.concat(refused, "\n"))
end)

t.done()
