-- kernels.lua - PolyBench 4.2.1, linear-algebra/kernels and datamining.
local tide = require "tide"
local grid = tide.grid

local kernels = {}

kernels["2mm"] = function(T, z)
  local I, J, K, L = z.I, z.J, z.K, z.L
  local mm2 = tide.kernel {alpha = T, beta = T, tmp = T[I][J], A = T[I][K], B = T[K][J], C = T[J][L],
    D = T[I][L], function(alpha, beta, tmp, A, B, C, D)
      for i, j in grid(I, J) do
        tmp[i][j] = 0.0
        for k = 0, K - 1 do tmp[i][j] = tmp[i][j] + alpha * A[i][k] * B[k][j] end
      end
      for i, j in grid(I, L) do
        D[i][j] = D[i][j] * beta
        for k = 0, J - 1 do D[i][j] = D[i][j] + tmp[i][k] * C[k][j] end
      end
    end}
  return mm2
end

kernels["3mm"] = function(T, z)
  local I, J, K, L, M = z.I, z.J, z.K, z.L, z.M
  local mm3 = tide.kernel {E = T[I][J], A = T[I][K], B = T[K][J], F = T[J][L], C = T[J][M],
    D = T[M][L], G = T[I][L], function(E, A, B, F, C, D, G)
      for i, j in grid(I, J) do
        E[i][j] = 0.0
        for k = 0, K - 1 do E[i][j] = E[i][j] + A[i][k] * B[k][j] end
      end
      for i, j in grid(J, L) do
        F[i][j] = 0.0
        for k = 0, M - 1 do F[i][j] = F[i][j] + C[i][k] * D[k][j] end
      end
      for i, j in grid(I, L) do
        G[i][j] = 0.0
        for k = 0, J - 1 do G[i][j] = G[i][j] + E[i][k] * F[k][j] end
      end
    end}
  return mm3
end

function kernels.atax(T, z)
  local M, N = z.M, z.N
  local atax = tide.kernel {A = T[M][N], x = T[N], y = T[N], tmp = T[M], function(A, x, y, tmp)
    for i = 0, N - 1 do y[i] = 0.0 end
    for i = 0, M - 1 do
      tmp[i] = 0.0
      for j = 0, N - 1 do tmp[i] = tmp[i] + A[i][j] * x[j] end
      for j = 0, N - 1 do y[j] = y[j] + A[i][j] * tmp[i] end
    end
  end}
  return atax
end

function kernels.bicg(T, z)
  local M, N = z.M, z.N
  local bicg = tide.kernel {A = T[N][M], s = T[M], q = T[N], p = T[M], r = T[N],
    function(A, s, q, p, r)
      for i = 0, M - 1 do s[i] = 0.0 end
      for i = 0, N - 1 do
        q[i] = 0.0
        for j = 0, M - 1 do
          s[j] = s[j] + r[i] * A[i][j]
          q[i] = q[i] + A[i][j] * p[j]
        end
      end
    end}
  return bicg
end

function kernels.doitgen(T, z)
  local R, Q, P = z.R, z.Q, z.P
  local doitgen = tide.kernel {A = T[R][Q][P], C4 = T[P][P], sum = T[P], function(A, C4, sum)
    for r, q in grid(R, Q) do
      for p = 0, P - 1 do
        sum[p] = 0.0
        for s = 0, P - 1 do sum[p] = sum[p] + A[r][q][s] * C4[s][p] end
      end
      for p = 0, P - 1 do A[r][q][p] = sum[p] end
    end
  end}
  return doitgen
end

function kernels.mvt(T, z)
  local N = z.N
  local mvt = tide.kernel {x1 = T[N], x2 = T[N], y1 = T[N], y2 = T[N], A = T[N][N],
    function(x1, x2, y1, y2, A)
      for i, j in grid(N, N) do x1[i] = x1[i] + A[i][j] * y1[j] end
      for i, j in grid(N, N) do x2[i] = x2[i] + A[j][i] * y2[j] end
    end}
  return mvt
end

function kernels.correlation(T, z)
  local M, N = z.M, z.N
  local count = N + 0.0
  local correlation = tide.kernel {data = T[N][M], corr = T[M][M], mean = T[M], stddev = T[M],
    function(data, corr, mean, stddev)
      for j = 0, M - 1 do
        mean[j] = 0.0
        for i = 0, N - 1 do mean[j] = mean[j] + data[i][j] end
        mean[j] = mean[j] / count
      end
      for j = 0, M - 1 do
        stddev[j] = 0.0
        for i = 0, N - 1 do
          stddev[j] = stddev[j] + (data[i][j] - mean[j]) * (data[i][j] - mean[j])
        end
        stddev[j] = tide.sqrt(stddev[j] / count)
        stddev[j] = tide.select(stddev[j] <= 0.1, 1.0, stddev[j])
      end
      for i, j in grid(N, M) do
        data[i][j] = data[i][j] - mean[j]
        data[i][j] = data[i][j] / (tide.sqrt(T(count)) * stddev[j])
      end
      for i = 0, M - 2 do
        corr[i][i] = 1.0
        for j = i + 1, M - 1 do
          corr[i][j] = 0.0
          for k = 0, N - 1 do corr[i][j] = corr[i][j] + data[k][i] * data[k][j] end
          corr[j][i] = corr[i][j]
        end
      end
      corr[M - 1][M - 1] = 1.0
    end}
  return correlation
end

function kernels.covariance(T, z)
  local M, N = z.M, z.N
  local count = N + 0.0
  local covariance = tide.kernel {data = T[N][M], cov = T[M][M], mean = T[M],
    function(data, cov, mean)
      for j = 0, M - 1 do
        mean[j] = 0.0
        for i = 0, N - 1 do mean[j] = mean[j] + data[i][j] end
        mean[j] = mean[j] / count
      end
      for i, j in grid(N, M) do data[i][j] = data[i][j] - mean[j] end
      for i = 0, M - 1 do
        for j = i, M - 1 do
          cov[i][j] = 0.0
          for k = 0, N - 1 do cov[i][j] = cov[i][j] + data[k][i] * data[k][j] end
          cov[i][j] = cov[i][j] / (count - 1.0)
          cov[j][i] = cov[i][j]
        end
      end
    end}
  return covariance
end

return kernels
