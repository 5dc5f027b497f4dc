-- stencils.lua - PolyBench 4.2.1, stencils.
local tide = require "tide"
local grid = tide.grid

local stencils = {}

function stencils.adi(T, z)
  local S, N = z.S, z.N
  local DX, DT = 1.0 / N, 1.0 / S
  local mul1, mul2 = 2.0 * DT / (DX * DX), 1.0 * DT / (DX * DX)
  local a, b, d, e = -mul1 / 2.0, 1.0 + mul1, -mul2 / 2.0, 1.0 + mul2
  local c, f = a, d
  local adi = tide.kernel {u = T[N][N], v = T[N][N], p = T[N][N], q = T[N][N],
    function(u, v, p, q)
      for _ = 1, S do
        for i = 1, N - 2 do
          v[0][i] = 1.0
          p[i][0] = 0.0
          q[i][0] = v[0][i]
          for j = 1, N - 2 do
            p[i][j] = -c / (a * p[i][j - 1] + b)
            q[i][j] = (-d * u[j][i - 1] + (1.0 + 2.0 * d) * u[j][i] - f * u[j][i + 1] -
              a * q[i][j - 1]) / (a * p[i][j - 1] + b)
          end
          v[N - 1][i] = 1.0
          for j = N - 2, 1, -1 do v[j][i] = p[i][j] * v[j + 1][i] + q[i][j] end
        end
        for i = 1, N - 2 do
          u[i][0] = 1.0
          p[i][0] = 0.0
          q[i][0] = u[i][0]
          for j = 1, N - 2 do
            p[i][j] = -f / (d * p[i][j - 1] + e)
            q[i][j] = (-a * v[i - 1][j] + (1.0 + 2.0 * a) * v[i][j] - c * v[i + 1][j] -
              d * q[i][j - 1]) / (d * p[i][j - 1] + e)
          end
          u[i][N - 1] = 1.0
          for j = N - 2, 1, -1 do u[i][j] = p[i][j] * u[i][j + 1] + q[i][j] end
        end
      end
    end}
  return adi
end

stencils["fdtd-2d"] = function(T, z)
  local S, X, Y = z.S, z.X, z.Y
  local fdtd = tide.kernel {ex = T[X][Y], ey = T[X][Y], hz = T[X][Y], fict = T[S],
    function(ex, ey, hz, fict)
      for t = 0, S - 1 do
        for j = 0, Y - 1 do ey[0][j] = fict[t] end
        for i = 1, X - 1 do
          for j = 0, Y - 1 do ey[i][j] = ey[i][j] - 0.5 * (hz[i][j] - hz[i - 1][j]) end
        end
        for i = 0, X - 1 do
          for j = 1, Y - 1 do ex[i][j] = ex[i][j] - 0.5 * (hz[i][j] - hz[i][j - 1]) end
        end
        for i, j in grid(X - 1, Y - 1) do
          hz[i][j] = hz[i][j] - 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j])
        end
      end
    end}
  return fdtd
end

stencils["heat-3d"] = function(T, z)
  local S, N = z.S, z.N
  local function step(A, B, i, j, k)
    B[i][j][k] = 0.125 * (A[i + 1][j][k] - 2.0 * A[i][j][k] + A[i - 1][j][k]) +
      0.125 * (A[i][j + 1][k] - 2.0 * A[i][j][k] + A[i][j - 1][k]) +
      0.125 * (A[i][j][k + 1] - 2.0 * A[i][j][k] + A[i][j][k - 1]) + A[i][j][k]
  end
  local heat = tide.kernel {A = T[N][N][N], B = T[N][N][N], function(A, B)
    for _ = 1, S do
      for i, j, k in grid({1, N - 1}, {1, N - 1}, {1, N - 1}) do step(A, B, i, j, k) end
      for i, j, k in grid({1, N - 1}, {1, N - 1}, {1, N - 1}) do step(B, A, i, j, k) end
    end
  end}
  return heat
end

stencils["jacobi-1d"] = function(T, z)
  local S, N = z.S, z.N
  local jacobi = tide.kernel {A = T[N], B = T[N], function(A, B)
    for _ = 1, S do
      for i = 1, N - 2 do B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1]) end
      for i = 1, N - 2 do A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1]) end
    end
  end}
  return jacobi
end

stencils["jacobi-2d"] = function(T, z)
  local S, N = z.S, z.N
  local jacobi = tide.kernel {A = T[N][N], B = T[N][N], function(A, B)
    for _ = 1, S do
      for i, j in grid({1, N - 1}, {1, N - 1}) do
        B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j])
      end
      for i, j in grid({1, N - 1}, {1, N - 1}) do
        A[i][j] = 0.2 * (B[i][j] + B[i][j - 1] + B[i][j + 1] + B[i + 1][j] + B[i - 1][j])
      end
    end
  end}
  return jacobi
end

stencils["seidel-2d"] = function(T, z)
  local S, N = z.S, z.N
  local seidel = tide.kernel {A = T[N][N], function(A)
    for _ = 1, S do
      for i, j in grid({1, N - 1}, {1, N - 1}) do
        A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] +
          A[i][j + 1] + A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) / 9.0
      end
    end
  end}
  return seidel
end

return stencils
