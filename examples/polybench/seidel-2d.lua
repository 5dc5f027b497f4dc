-- seidel-2d: a stencil of nine points, in place (PolyBench 4.2.1, stencils).
-- Run: tide examples/polybench/seidel-2d.lua [mini, small or medium]
local tide, suite = require "tide", require "suite"
local grid = tide.grid

local case = {
  name = "seidel-2d",
  extents = "S N",
  tiny = "2 6", mini = "20 40", small = "40 120", medium = "100 400",
  large = "500 2000",
}

function case.kernel(T, z)
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

suite.show(case)
return case

--> seidel-2d: the schedule computes what its kernel does, and plain Lua
--> u280 at 300 MHz: ... cycles...
