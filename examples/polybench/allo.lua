-- allo.lua - the thirteen kernels that Allo schedules (PLDI 2024, Table 3), in stages as there, with the steps of its
-- artifact: what the schedules of the files beside this one are held against.
-- A parameter called like another one with _copy at its end is given the same array, as Allo's kernels are, which
-- need another partition of it.
local tide = require "tide"
local grid = tide.grid

local allo = {}

-- What was published (Table 3, and the results of the artifact), at medium sizes: cycles and DSP of Allo, of ScaleHLS.
allo.published = {
  ["2mm"] = {194006}, ["3mm"] = {222987}, atax = {4910, 403, 19400, 141}, bicg = {1651},
  correlation = {498690, 4168, 144900000, 109}, gemm = {239025}, gesummv = {1521},
  ["jacobi-2d"] = {58801, 3968, 10800000, 55}, mvt = {3207}, symm = {426805, 1208, 182400000, 6}, syr2k = {296183},
  syrk = {293543}, trmm = {492613, 101, 38400000, 7},
}

-- A stage that adds up rows of `right` in a row of registers, which starts at zero: Allo's buffer_at.
local function rows(s, n, right)
  s:reorder("k" .. n, "j" .. n):pipeline("k" .. n):pipeline("b" .. n)
  s:partition("row" .. n, 0):partition(right, 1)
end

function allo.gemm(T, z)
  local M, N, K = z.M, z.N, z.K
  local gemm = tide.kernel {A = T[M][K], B = T[K][N], C = T[M][N], alpha = T, beta = T,
    function(A, B, C, alpha, beta)
      local AB = T[M][N]()
      for i = 0, M - 1 do
        local row1 = T[N](0)
        for j1, k1 in grid(N, K) do row1[j1] = row1[j1] + A[i][k1] * B[k1][j1] end
        for b1 = 0, N - 1 do AB[i][b1] = row1[b1] end
      end
      for i2, j2 in grid(M, N) do C[i2][j2] = alpha * AB[i2][j2] + beta * C[i2][j2] end
    end}
  local s = tide.schedule(gemm)
  rows(s, 1, "B")
  return s:pipeline "j2", gemm
end

allo["2mm"] = function(T, z)
  local I, J, K, L = z.I, z.J, z.K, z.L
  local mm2 = tide.kernel {alpha = T, beta = T, tmp = T[I][J], A = T[I][K], B = T[K][J], C = T[J][L], D = T[I][L],
    function(alpha, beta, tmp, A, B, C, D)
      local ABC = T[I][L]()
      for i = 0, I - 1 do
        local row1 = T[J](0)
        for j1, k1 in grid(J, K) do row1[j1] = row1[j1] + A[i][k1] * B[k1][j1] end
        for b1 = 0, J - 1 do tmp[i][b1] = row1[b1] end
      end
      for i = 0, I - 1 do
        local row2 = T[L](0)
        for j2, k2 in grid(L, J) do row2[j2] = row2[j2] + tmp[i][k2] * C[k2][j2] end
        for b2 = 0, L - 1 do ABC[i][b2] = row2[b2] end
      end
      for i3, j3 in grid(I, L) do D[i3][j3] = alpha * ABC[i3][j3] + beta * D[i3][j3] end
    end}
  local s = tide.schedule(mm2)
  rows(s, 1, "B")
  rows(s, 2, "C")
  return s:pipeline "j3", mm2
end

allo["3mm"] = function(T, z)
  local I, J, K, L, M = z.I, z.J, z.K, z.L, z.M
  local mm3 = tide.kernel {E = T[I][J], A = T[I][K], B = T[K][J], F = T[J][L], C = T[J][M], D = T[M][L], G = T[I][L],
    function(E, A, B, F, C, D, G)
      for i = 0, I - 1 do
        local row1 = T[J](0)
        for j1, k1 in grid(J, K) do row1[j1] = row1[j1] + A[i][k1] * B[k1][j1] end
        for b1 = 0, J - 1 do E[i][b1] = row1[b1] end
      end
      for i = 0, J - 1 do
        local row2 = T[L](0)
        for j2, k2 in grid(L, M) do row2[j2] = row2[j2] + C[i][k2] * D[k2][j2] end
        for b2 = 0, L - 1 do F[i][b2] = row2[b2] end
      end
      for i = 0, I - 1 do
        local row3 = T[L](0)
        for j3, k3 in grid(L, J) do row3[j3] = row3[j3] + E[i][k3] * F[k3][j3] end
        for b3 = 0, L - 1 do G[i][b3] = row3[b3] end
      end
    end}
  local s = tide.schedule(mm3)
  rows(s, 1, "B")
  rows(s, 2, "D")
  rows(s, 3, "F")
  return s, mm3
end

function allo.atax(T, z)
  local M, N = z.M, z.N
  local atax = tide.kernel {A = T[M][N], x = T[N], y = T[N], tmp = T[M], function(A, x, y, tmp)
    y:set(0)
    tmp:set(0)
    for m, r in grid(M, N) do tmp[m] = tmp[m] + A[m][r] * x[r] end
    for n, k in grid(N, M) do y[n] = y[n] + A[k][n] * tmp[k] end
  end}
  return tide.schedule(atax):reorder("r", "m"):pipeline("m"):reorder("k", "n"):pipeline "n", atax
end

function allo.bicg(T, z)
  local M, N = z.M, z.N
  local bicg = tide.kernel {A = T[N][M], A_copy = T[N][M], s = T[M], q = T[N], p = T[M], r = T[N],
    function(A, A_copy, s, q, p, r)
      s:set(0)
      q:set(0)
      for i0, j0 in grid(N, M) do s[j0] = s[j0] + A[i0][j0] * r[i0] end
      for i1, j1 in grid(N, M) do q[i1] = q[i1] + A_copy[i1][j1] * p[j1] end
    end}
  local s = tide.schedule(bicg):pipeline("i0"):partition("A", 1):partition("s", 0)
  return s:reorder("j1", "i1"):pipeline("j1"):partition("A_copy", 0):partition("q", 0), bicg
end

function allo.mvt(T, z)
  local N = z.N
  local mvt = tide.kernel {x1 = T[N], x2 = T[N], y1 = T[N], y2 = T[N], A = T[N][N], A_copy = T[N][N],
    function(x1, x2, y1, y2, A, A_copy)
      for i0, j0 in grid(N, N) do x1[i0] = x1[i0] + A[i0][j0] * y1[j0] end
      for i1, j1 in grid(N, N) do x2[i1] = x2[i1] + A_copy[j1][i1] * y2[j1] end
    end}
  local s = tide.schedule(mvt):pipeline("i0"):partition("A", 1):partition("y1", 0)
  return s:pipeline("i1"):partition("A_copy", 0):partition("y2", 0), mvt
end

function allo.gesummv(T, z)
  local N = z.N
  local gesummv = tide.kernel {alpha = T, beta = T, A = T[N][N], B = T[N][N], x = T[N], y = T[N],
    function(alpha, beta, A, B, x, y)
      local ta, tb = T[N](0), T[N](0)
      for i, j in grid(N, N) do
        ta[i] = ta[i] + A[i][j] * x[j]
        tb[i] = tb[i] + B[i][j] * x[j]
      end
      for i0 = 0, N - 1 do y[i0] = alpha * ta[i0] + beta * tb[i0] end
    end}
  return tide.schedule(gesummv):reorder("j", "i"):pipeline("i"):pipeline "i0", gesummv
end

allo["jacobi-2d"] = function(T, z)
  local jacobi = require("jacobi-2d").kernel(T, z)
  local s = tide.schedule(jacobi)
  for n, array in ipairs {"A", "B"} do
    local _, lines = s:reuse_at(array, "i#" .. n)
    local _, window = s:reuse_at(lines, "j#" .. n)
    s:pipeline("i#" .. n):partition(lines):partition(window)
  end
  s:reorder("i_init", "j_init"):reorder("i_init_1", "j_init_2"):pipeline("i_init"):pipeline "i_init_1"
  return s:partition("A", 1):partition("B", 1), jacobi
end

function allo.correlation(T, z)
  local M, N = z.M, z.N
  local count = N + 0.0
  local correlation = tide.kernel {data = T[N][M], corr = T[M][M], mean = T[M], stddev = T[M],
    function(data, corr, mean, stddev)
      local centred = T[N][M]()
      for x = 0, M - 1 do
        local m = T(0)
        for k = 0, N - 1 do m = m + data[k][x] end
        mean[x] = m / count
      end
      for x = 0, M - 1 do
        local v = T(0)
        for m = 0, N - 1 do v = v + (data[m][x] - mean[x]) * (data[m][x] - mean[x]) end
        local d = tide.sqrt(v / count)
        stddev[x] = tide.select(d <= 0.1, 1.0, d)
      end
      for x, y in grid(N, M) do
        centred[x][y] = (data[x][y] - mean[y]) / (tide.sqrt(T(count)) * stddev[y])
      end
      for i = 0, M - 2 do
        corr[i][i] = 1.0
        for j = i + 1, M - 1 do
          local v = T(0)
          for k = 0, N - 1 do v = v + centred[k][i] * centred[k][j] end
          corr[i][j] = v
          corr[j][i] = v
        end
      end
      corr[M - 1][M - 1] = 1.0
    end}
  local s = tide.schedule(correlation):pipeline("x#1"):pipeline("x#2"):partition("data", 0)
  s:pipeline("x#3"):partition("data", 1):partition("mean", 0):partition("stddev", 0)
  return s:partition("centred"):pipeline "j", correlation
end

function allo.symm(T, z)
  local M, N = z.M, z.N
  local symm = tide.kernel {alpha = T, beta = T, C = T[M][N], A = T[M][M], B = T[M][N], B_copy = T[M][N],
    function(alpha, beta, C, A, B, B_copy)
      local sum = T[M][N]()
      for i1 = 0, M - 1 do
        local row = T[N](0)
        for j1 = 0, N - 1 do
          for k1 = 0, i1 - 1 do row[j1] = row[j1] + B_copy[k1][j1] * A[i1][k1] end
        end
        for b1 = 0, N - 1 do sum[i1][b1] = row[b1] end
      end
      for i2 = 0, M - 1 do
        for k2 = 0, i2 - 1 do
          for j2 = 0, N - 1 do C[k2][j2] = C[k2][j2] + alpha * B[i2][j2] * A[i2][k2] end
        end
        for j3 = 0, N - 1 do
          C[i2][j3] = beta * C[i2][j3] + alpha * B[i2][j3] * A[i2][i2] + alpha * sum[i2][j3]
        end
      end
    end}
  local s = tide.schedule(symm):reorder("k1", "j1"):partition("B_copy", 1, {factor = 30})
  s:partition("row", 0, {factor = 30}):pipeline("j1"):unroll("j1", 30):pipeline "b1"
  return s:pipeline("k2"):pipeline("j3"):partition("C", 1):partition("B", 1):partition("sum", 1), symm
end

function allo.trmm(T, z)
  local M, N = z.M, z.N
  local trmm = tide.kernel {alpha = T, A = T[M][M], B = T[M][N], function(alpha, A, B)
    for i1, j1 in grid(M, N) do
      for k1 = i1 + 1, M - 1 do B[i1][j1] = B[i1][j1] + A[k1][i1] * B[k1][j1] end
    end
    for i0, j0 in grid(M, N) do B[i0][j0] = alpha * B[i0][j0] end
  end}
  local s = tide.schedule(trmm):partition("B", 1, {factor = 20}):reorder("k1", "j1"):pipeline("j1"):unroll("j1", 20)
  return s:pipeline("j0"):unroll("j0", 20), trmm
end

-- The triangle of syrk and syr2k: rows scaled, then sums row by row, all of a row side by side.
local function triangle(s, copies)
  s:pipeline("i0"):partition("C", 1)
  local _, buffer = s:buffer_at("C", "i1")
  s:partition(buffer, 0):pipeline("k1"):pipeline("j1_init"):pipeline "j1_back"
  for _, array in ipairs(copies) do s:partition(array, 0) end
  return s
end

function allo.syrk(T, z)
  local N, M = z.N, z.M
  local syrk = tide.kernel {alpha = T, beta = T, C = T[N][N], A = T[N][M], A_copy = T[N][M],
    function(alpha, beta, C, A, A_copy)
      for i0 = 0, N - 1 do
        for j0 = 0, N - 1 do
          if j0 <= i0 then C[i0][j0] = C[i0][j0] * beta end
        end
      end
      for i1 = 0, N - 1 do
        for k1 = 0, M - 1 do
          for j1 = 0, N - 1 do
            if j1 <= i1 then C[i1][j1] = C[i1][j1] + alpha * A[i1][k1] * A_copy[j1][k1] end
          end
        end
      end
    end}
  return triangle(tide.schedule(syrk), {"A_copy"}), syrk
end

function allo.syr2k(T, z)
  local N, M = z.N, z.M
  local syr2k = tide.kernel {alpha = T, beta = T, C = T[N][N], A = T[N][M], B = T[N][M], A_copy = T[N][M],
    B_copy = T[N][M], function(alpha, beta, C, A, B, A_copy, B_copy)
      for i0 = 0, N - 1 do
        for j0 = 0, N - 1 do
          if j0 <= i0 then C[i0][j0] = C[i0][j0] * beta end
        end
      end
      for i1 = 0, N - 1 do
        for k1 = 0, M - 1 do
          for j1 = 0, N - 1 do
            if j1 <= i1 then
              C[i1][j1] = C[i1][j1] + (alpha * A_copy[j1][k1] * B[i1][k1] + alpha * B_copy[j1][k1] * A[i1][k1])
            end
          end
        end
      end
    end}
  return triangle(tide.schedule(syr2k), {"A_copy", "B_copy"}), syr2k
end

return allo
