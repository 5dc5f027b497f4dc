-- cholesky: the Cholesky factor of A, in place (PolyBench 4.2.1, linear-algebra/solvers).
-- Run: tide examples/polybench/cholesky.lua [mini, small or medium]
local tide, suite = require "tide", require "suite"

local case = {
  name = "cholesky",
  extents = "N",
  tiny = "6", mini = "40", small = "120", medium = "400",
  large = "2000",
  dominant = "A", symmetric = true,
}

function case.kernel(T, z)
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

suite.show(case)
return case

--> cholesky: the schedule computes what its kernel does, and plain Lua
--> u280 at 300 MHz: ... cycles...
