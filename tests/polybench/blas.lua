-- blas.lua - PolyBench 4.2.1, linear-algebra/blas.
local tide = require "tide"
local grid = tide.grid

local blas = {}

function blas.gemm(T, z)
  local M, N, K = z.M, z.N, z.K
  local gemm = tide.kernel {A = T[M][K], B = T[K][N], C = T[M][N], alpha = T, beta = T,
    function(A, B, C, alpha, beta)
      for i = 0, M - 1 do
        for j = 0, N - 1 do C[i][j] = C[i][j] * beta end
        for k, j in grid(K, N) do C[i][j] = C[i][j] + alpha * A[i][k] * B[k][j] end
      end
    end}
  return gemm
end

function blas.gemver(T, size)
  local N = size.N
  local gemver = tide.kernel {alpha = T, beta = T, A = T[N][N], u1 = T[N], v1 = T[N], u2 = T[N],
    v2 = T[N], w = T[N], x = T[N], y = T[N], z = T[N],
    function(alpha, beta, A, u1, v1, u2, v2, w, x, y, z)
      for i, j in grid(N, N) do A[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j] end
      for i, j in grid(N, N) do x[i] = x[i] + beta * A[j][i] * y[j] end
      for i = 0, N - 1 do x[i] = x[i] + z[i] end
      for i, j in grid(N, N) do w[i] = w[i] + alpha * A[i][j] * x[j] end
    end}
  return gemver
end

function blas.gesummv(T, z)
  local N = z.N
  local gesummv = tide.kernel {alpha = T, beta = T, A = T[N][N], B = T[N][N], x = T[N], y = T[N],
    function(alpha, beta, A, B, x, y)
      local tmp = T[N]()
      for i = 0, N - 1 do
        tmp[i] = 0.0
        y[i] = 0.0
        for j = 0, N - 1 do
          tmp[i] = A[i][j] * x[j] + tmp[i]
          y[i] = B[i][j] * x[j] + y[i]
        end
        y[i] = alpha * tmp[i] + beta * y[i]
      end
    end}
  return gesummv
end

function blas.symm(T, z)
  local M, N = z.M, z.N
  local symm = tide.kernel {alpha = T, beta = T, C = T[M][N], A = T[M][M], B = T[M][N],
    function(alpha, beta, C, A, B)
      for i, j in grid(M, N) do
        local temp2 = T(0)
        for k = 0, i - 1 do
          C[k][j] = C[k][j] + alpha * B[i][j] * A[i][k]
          temp2 = temp2 + B[k][j] * A[i][k]
        end
        C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * temp2
      end
    end}
  return symm
end

function blas.syr2k(T, z)
  local N, M = z.N, z.M
  local syr2k = tide.kernel {alpha = T, beta = T, C = T[N][N], A = T[N][M], B = T[N][M],
    function(alpha, beta, C, A, B)
      for i = 0, N - 1 do
        for j = 0, i do C[i][j] = C[i][j] * beta end
        for k = 0, M - 1 do
          for j = 0, i do
            C[i][j] = C[i][j] + A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k]
          end
        end
      end
    end}
  return syr2k
end

function blas.syrk(T, z)
  local N, M = z.N, z.M
  local syrk = tide.kernel {alpha = T, beta = T, C = T[N][N], A = T[N][M],
    function(alpha, beta, C, A)
      for i = 0, N - 1 do
        for j = 0, i do C[i][j] = C[i][j] * beta end
        for k = 0, M - 1 do
          for j = 0, i do C[i][j] = C[i][j] + alpha * A[i][k] * A[j][k] end
        end
      end
    end}
  return syrk
end

function blas.trmm(T, z)
  local M, N = z.M, z.N
  local trmm = tide.kernel {alpha = T, A = T[M][M], B = T[M][N], function(alpha, A, B)
    for i, j in grid(M, N) do
      for k = i + 1, M - 1 do B[i][j] = B[i][j] + A[k][i] * B[k][j] end
      B[i][j] = alpha * B[i][j]
    end
  end}
  return trmm
end

return blas
