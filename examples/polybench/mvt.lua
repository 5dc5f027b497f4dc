-- mvt: x1 = x1 + A y1, x2 = x2 + A^T y2 (PolyBench 4.2.1, linear-algebra/kernels).
-- Run: tide examples/polybench/mvt.lua [mini, small or medium]
local tide, suite = require "tide", require "suite"
local grid = tide.grid

local case = {
  name = "mvt",
  extents = "N",
  tiny = "6", mini = "40", small = "120", medium = "400",
  large = "2000",
}

function case.kernel(T, z)
  local N = z.N
  local mvt = tide.kernel {x1 = T[N], x2 = T[N], y1 = T[N], y2 = T[N], A = T[N][N],
    function(x1, x2, y1, y2, A)
      for i, j in grid(N, N) do x1[i] = x1[i] + A[i][j] * y1[j] end
      for i, j in grid(N, N) do x2[i] = x2[i] + A[j][i] * y2[j] end
    end}
  return mvt
end

-- x1: a column of A goes to all sums at once. x2: a column is added to a sum at once.
function case.schedule(s)
  s:reorder("j#1", "i#1")
  s:partition("A", 0):partition("x1", 0):partition("y2", 0):pipeline("j#1"):pipeline("i#2")
end

suite.show(case)
return case

--> ... steps, each proved: strict
--> mvt: the schedule computes what its kernel does, and plain Lua
--> u280 at 300 MHz: ... cycles...
