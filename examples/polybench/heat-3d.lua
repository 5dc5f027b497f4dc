-- heat-3d: the heat equation, in three dimensions (PolyBench 4.2.1, stencils).
-- Run: tide examples/polybench/heat-3d.lua [mini, small or medium]
local tide, suite = require "tide", require "suite"
local grid = tide.grid

local case = {
  name = "heat-3d",
  extents = "S N",
  tiny = "2 5", mini = "20 10", small = "40 20", medium = "100 40",
  large = "500 120",
}

function case.kernel(T, z)
  local S, N = z.S, z.N
  local function step(A, B, i, j, k)
    B[i][j][k] = 0.125 * (A[i + 1][j][k] - 2.0 * A[i][j][k] + A[i - 1][j][k]) +
      0.125 * (A[i][j + 1][k] - 2.0 * A[i][j][k] + A[i][j - 1][k]) +
      0.125 * (A[i][j][k + 1] - 2.0 * A[i][j][k] + A[i][j][k - 1]) + A[i][j][k]
  end
  local heat = tide.kernel {A = T[N][N][N], B = T[N][N][N], function(A, B)
    for _ = 1, S do
      for i, j, k in grid({1, N - 1}, {1, N - 1}, {1, N - 1}) do step(A, B, i, j, k) end
      for i, j, k in grid({1, N - 1}, {1, N - 1}, {1, N - 1}) do step(B, A, i, j, k) end
    end
  end}
  return heat
end

suite.show(case)
return case

--> heat-3d: the schedule computes what its kernel does, and plain Lua
--> u280 at 300 MHz: ... cycles...
