-- jacobi-1d: a stencil of three points, between two rows (PolyBench 4.2.1, stencils).
-- Run: tide examples/polybench/jacobi-1d.lua [mini, small or medium]
local tide, suite = require "tide", require "suite"

local case = {
  name = "jacobi-1d",
  extents = "S N",
  tiny = "3 8", mini = "20 30", small = "40 120", medium = "100 400",
  large = "500 2000",
}

function case.kernel(T, z)
  local S, N = z.S, z.N
  local jacobi = tide.kernel {A = T[N], B = T[N], function(A, B)
    for _ = 1, S do
      for i = 1, N - 2 do B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1]) end
      for i = 1, N - 2 do A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1]) end
    end
  end}
  return jacobi
end

suite.show(case)
return case

--> jacobi-1d: the schedule computes what its kernel does, and plain Lua
--> u280 at 300 MHz: ... cycles...
