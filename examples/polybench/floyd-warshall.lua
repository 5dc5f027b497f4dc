-- floyd-warshall: all shortest paths of a graph (PolyBench 4.2.1, medley).
-- Run: tide examples/polybench/floyd-warshall.lua [mini, small or medium]
local tide, suite = require "tide", require "suite"
local grid, i32 = tide.grid, tide.i32

local case = {
  name = "floyd-warshall",
  extents = "N",
  tiny = "6", mini = "60", small = "180", medium = "500",
  large = "2800",
}

function case.kernel(_, z)
  local N = z.N
  local floyd = tide.kernel {path = i32[N][N], function(path)
    for k, i, j in grid(N, N, N) do
      path[i][j] = tide.min(path[i][j], i32(path[i][k] + path[k][j]))
    end
  end}
  return floyd
end

suite.show(case)
return case

--> floyd-warshall: the schedule computes what its kernel does, and plain Lua
--> u280 at 300 MHz: ... cycles...
