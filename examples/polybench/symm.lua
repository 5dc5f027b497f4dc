-- symm: C = alpha A B + beta C, of a symmetric A one triangle (PolyBench 4.2.1, linear-algebra/blas).
-- Run: tide examples/polybench/symm.lua [mini, small or medium]
local tide, suite = require "tide", require "suite"

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
      for i = 0, M - 1 do
        local temp2 = T[N](0)
        for j = 0, N - 1 do
          for k = 0, i - 1 do
            C[k][j] = C[k][j] + alpha * B[i][j] * A[i][k]
            temp2[j] = temp2[j] + B[k][j] * A[i][k]
          end
          C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * temp2[j]
        end
      end
    end}
  return symm
end

-- Columns are independent: all of a row at once.
function case.schedule(s)
  s:reorder("k", "j"):partition("B", 1):partition("C", 1):partition("temp2", 0):pipeline("k"):pipeline "j_1"
end

suite.show(case)
return case

--> ... steps, each proved: strict
--> symm: the schedule computes what its kernel does, and plain Lua
--> u280 at 300 MHz: ... cycles...
