-- lu: A = L U, in place (PolyBench 4.2.1, linear-algebra/solvers).
-- Run: tide examples/polybench/lu.lua [mini, small or medium]
local tide, suite = require "tide", require "suite"

local case = {
  name = "lu",
  extents = "N",
  tiny = "6", mini = "40", small = "120", medium = "400",
  large = "2000",
  dominant = "A",
}

function case.kernel(T, z)
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

suite.show(case)
return case

--> lu: the schedule computes what its kernel does, and plain Lua
--> u280 at 300 MHz: ... cycles...
