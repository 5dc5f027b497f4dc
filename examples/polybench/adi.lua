-- adi: alternating directions for the heat equation (PolyBench 4.2.1, stencils).
-- Run: tide examples/polybench/adi.lua [mini, small or medium]
local tide, suite = require "tide", require "suite"

local case = {
  name = "adi",
  extents = "S N",
  tiny = "2 6", mini = "20 20", small = "40 60", medium = "100 200",
  large = "500 1000",
}

function case.kernel(T, z)
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

suite.show(case)
return case

--> adi: the schedule computes what its kernel does, and plain Lua
--> u280 at 300 MHz: ... cycles...
