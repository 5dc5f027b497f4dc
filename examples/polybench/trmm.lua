-- trmm: B = alpha A^T B with A triangular, in place (PolyBench 4.2.1, linear-algebra/blas).
-- Run: tide examples/polybench/trmm.lua [mini, small or medium]
local tide, suite = require "tide", require "suite"
local grid = tide.grid

local case = {
  name = "trmm",
  extents = "M N",
  tiny = "5 4", mini = "20 30", small = "60 80", medium = "200 240",
  large = "1000 1200",
}

function case.kernel(T, z)
  local M, N = z.M, z.N
  local trmm = tide.kernel {alpha = T, A = T[M][M], B = T[M][N], function(alpha, A, B)
    for i, j in grid(M, N) do
      for k = i + 1, M - 1 do B[i][j] = B[i][j] + A[k][i] * B[k][j] end
      B[i][j] = alpha * B[i][j]
    end
  end}
  return trmm
end

-- Columns are independent: all of a row at once, as often as its adders allow.
function case.schedule(s)
  s:reorder("k", "j"):partition("B", 1):pipeline("k", 15):pipeline("j_1"):unroll("j_1", 15)
end

suite.show(case)
return case

--> ... steps, each proved: strict
--> trmm: the schedule computes what its kernel does, and plain Lua
--> u280 at 300 MHz: ... cycles...
