-- symm: C = alpha A B + beta C, of a symmetric A one triangle (PolyBench 4.2.1, linear-algebra/blas).
-- Run: tide examples/polybench/symm.lua [mini, small or medium]
local tide, suite = require "tide", require "suite"
local grid = tide.grid

local case = {
  name = "symm",
  extents = "M N",
  tiny = "5 4", mini = "20 30", small = "60 80", medium = "200 240",
  large = "1000 1200",
}

function case.kernel(T, z)
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

suite.show(case)
return case
