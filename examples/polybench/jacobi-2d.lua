-- jacobi-2d: a stencil of five points, between two grids (PolyBench 4.2.1, stencils).
-- Run: tide examples/polybench/jacobi-2d.lua [mini, small or medium]
local tide, suite = require "tide", require "suite"
local grid = tide.grid

local case = {
  name = "jacobi-2d",
  extents = "S N",
  tiny = "2 6", mini = "20 30", small = "40 90", medium = "100 250",
  large = "500 1300",
}

function case.kernel(T, z)
  local S, N = z.S, z.N
  local jacobi = tide.kernel {A = T[N][N], B = T[N][N], function(A, B)
    for _ = 1, S do
      for i, j in grid({1, N - 1}, {1, N - 1}) do
        B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j])
      end
      for i, j in grid({1, N - 1}, {1, N - 1}) do
        A[i][j] = 0.2 * (B[i][j] + B[i][j - 1] + B[i][j + 1] + B[i + 1][j] + B[i - 1][j])
      end
    end
  end}
  return jacobi
end

-- Lines of three rows move down the grid; a row is computed in each cycle.
function case.schedule(s)
  for n, array in ipairs {"A", "B"} do
    local _, lines = s:reuse_at(array, "i#" .. n)
    s:pipeline("i#" .. n):partition(lines)
  end
  s:reorder("i_init", "j_init"):reorder("i_init_1", "j_init_1"):pipeline("i_init"):pipeline "i_init_1"
  s:partition("A", 1):partition("B", 1)
end

suite.show(case)
return case

--> ... steps, each proved: strict
--> jacobi-2d: the schedule computes what its kernel does, and plain Lua
--> u280 at 300 MHz: ... cycles...
