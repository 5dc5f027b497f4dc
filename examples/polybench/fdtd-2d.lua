-- fdtd-2d: Maxwell's equations by finite differences in time (PolyBench 4.2.1, stencils).
-- Run: tide examples/polybench/fdtd-2d.lua [mini, small or medium]
local tide, suite = require "tide", require "suite"
local grid = tide.grid

local case = {
  name = "fdtd-2d",
  extents = "S X Y",
  tiny = "3 5 6", mini = "20 20 30", small = "40 60 80", medium = "100 200 240",
  large = "500 1000 1200",
}

function case.kernel(T, z)
  local S, X, Y = z.S, z.X, z.Y
  local fdtd = tide.kernel {ex = T[X][Y], ey = T[X][Y], hz = T[X][Y], fict = T[S],
    function(ex, ey, hz, fict)
      for t = 0, S - 1 do
        for j = 0, Y - 1 do ey[0][j] = fict[t] end
        for i = 1, X - 1 do
          for j = 0, Y - 1 do ey[i][j] = ey[i][j] - 0.5 * (hz[i][j] - hz[i - 1][j]) end
        end
        for i = 0, X - 1 do
          for j = 1, Y - 1 do ex[i][j] = ex[i][j] - 0.5 * (hz[i][j] - hz[i][j - 1]) end
        end
        for i, j in grid(X - 1, Y - 1) do
          hz[i][j] = hz[i][j] - 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j])
        end
      end
    end}
  return fdtd
end

suite.show(case)
return case

--> fdtd-2d: the schedule computes what its kernel does, and plain Lua
--> u280 at 300 MHz: ... cycles...
