-- solvers.lua - PolyBench 4.2.1, linear-algebra/solvers.
local tide = require "tide"

local solvers = {}

function solvers.cholesky(T, z)
  local N = z.N
  local cholesky = tide.kernel {A = T[N][N], function(A)
    for i = 0, N - 1 do
      for j = 0, i - 1 do
        for k = 0, j - 1 do A[i][j] = A[i][j] - A[i][k] * A[j][k] end
        A[i][j] = A[i][j] / A[j][j]
      end
      for k = 0, i - 1 do A[i][i] = A[i][i] - A[i][k] * A[i][k] end
      A[i][i] = tide.sqrt(A[i][i])
    end
  end}
  return cholesky
end

function solvers.durbin(T, z)
  local N = z.N
  local durbin = tide.kernel {r = T[N], y = T[N], function(r, y)
    local next_y = T[N]()
    y[0] = -r[0]
    local beta, alpha = T(1), -r[0]
    for k = 1, N - 1 do
      beta = (1.0 - alpha * alpha) * beta
      local sum = T(0)
      for i = 0, k - 1 do sum = sum + r[k - i - 1] * y[i] end
      alpha = -(r[k] + sum) / beta
      for i = 0, k - 1 do next_y[i] = y[i] + alpha * y[k - i - 1] end
      for i = 0, k - 1 do y[i] = next_y[i] end
      y[k] = alpha
    end
  end}
  return durbin
end

function solvers.gramschmidt(T, z)
  local M, N = z.M, z.N
  local gramschmidt = tide.kernel {A = T[M][N], R = T[N][N], Q = T[M][N], function(A, R, Q)
    for k = 0, N - 1 do
      local nrm = T(0)
      for i = 0, M - 1 do nrm = nrm + A[i][k] * A[i][k] end
      R[k][k] = tide.sqrt(nrm)
      for i = 0, M - 1 do Q[i][k] = A[i][k] / R[k][k] end
      for j = k + 1, N - 1 do
        R[k][j] = 0.0
        for i = 0, M - 1 do R[k][j] = R[k][j] + Q[i][k] * A[i][j] end
        for i = 0, M - 1 do A[i][j] = A[i][j] - Q[i][k] * R[k][j] end
      end
    end
  end}
  return gramschmidt
end

function solvers.lu(T, z)
  local N = z.N
  local lu = tide.kernel {A = T[N][N], function(A)
    for i = 0, N - 1 do
      for j = 0, i - 1 do
        for k = 0, j - 1 do A[i][j] = A[i][j] - A[i][k] * A[k][j] end
        A[i][j] = A[i][j] / A[j][j]
      end
      for j = i, N - 1 do
        for k = 0, i - 1 do A[i][j] = A[i][j] - A[i][k] * A[k][j] end
      end
    end
  end}
  return lu
end

function solvers.ludcmp(T, z)
  local N = z.N
  local ludcmp = tide.kernel {A = T[N][N], b = T[N], x = T[N], y = T[N], function(A, b, x, y)
    for i = 0, N - 1 do
      for j = 0, i - 1 do
        local w = A[i][j]
        for k = 0, j - 1 do w = w - A[i][k] * A[k][j] end
        A[i][j] = w / A[j][j]
      end
      for j = i, N - 1 do
        local w = A[i][j]
        for k = 0, i - 1 do w = w - A[i][k] * A[k][j] end
        A[i][j] = w
      end
    end
    for i = 0, N - 1 do
      local w = b[i]
      for j = 0, i - 1 do w = w - A[i][j] * y[j] end
      y[i] = w
    end
    for i = N - 1, 0, -1 do
      local w = y[i]
      for j = i + 1, N - 1 do w = w - A[i][j] * x[j] end
      x[i] = w / A[i][i]
    end
  end}
  return ludcmp
end

function solvers.trisolv(T, z)
  local N = z.N
  local trisolv = tide.kernel {L = T[N][N], x = T[N], b = T[N], function(L, x, b)
    for i = 0, N - 1 do
      x[i] = b[i]
      for j = 0, i - 1 do x[i] = x[i] - L[i][j] * x[j] end
      x[i] = x[i] / L[i][i]
    end
  end}
  return trisolv
end

return solvers
