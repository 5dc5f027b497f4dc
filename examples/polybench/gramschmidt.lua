-- gramschmidt: A = Q R by the modified Gram-Schmidt process (PolyBench 4.2.1, linear-algebra/solvers).
-- Run: tide examples/polybench/gramschmidt.lua [mini, small or medium]
local tide, suite = require "tide", require "suite"

local case = {
  name = "gramschmidt",
  extents = "M N",
  tiny = "6 5", mini = "20 30", small = "60 80", medium = "200 240",
  large = "1000 1200",
}

function case.kernel(T, z)
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

suite.show(case)
return case

--> gramschmidt: the schedule computes what its kernel does, and plain Lua
--> u280 at 300 MHz: ... cycles...
