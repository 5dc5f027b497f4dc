-- syrk: C = alpha A A^T + beta C, the lower triangle (PolyBench 4.2.1, linear-algebra/blas).
-- Run: tide examples/polybench/syrk.lua [mini, small or medium]
local tide, suite = require "tide", require "suite"

local case = {
  name = "syrk",
  extents = "M N",
  tiny = "4 5", mini = "20 30", small = "60 80", medium = "200 240",
  large = "1000 1200",
}

function case.kernel(T, z)
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

suite.show(case)
return case
