-- gemver: A = A + u1 v1 + u2 v2, x = beta A^T y + z, w = alpha A x (PolyBench 4.2.1, linear-algebra/blas).
-- Run: tide examples/polybench/gemver.lua [mini, small or medium]
local tide, suite = require "tide", require "suite"
local grid = tide.grid

local case = {
  name = "gemver",
  extents = "N",
  tiny = "6", mini = "40", small = "120", medium = "400",
  large = "2000",
}

function case.kernel(T, size)
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

suite.show(case)
return case

--> gemver: the schedule computes what its kernel does, and plain Lua
--> u280 at 300 MHz: ... cycles...
