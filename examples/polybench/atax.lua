-- atax: y = A^T A x (PolyBench 4.2.1, linear-algebra/kernels).
-- Run: tide examples/polybench/atax.lua [mini, small or medium]
local tide, suite = require "tide", require "suite"

local case = {
  name = "atax",
  extents = "M N",
  tiny = "5 6", mini = "38 42", small = "116 124", medium = "390 410",
  large = "1900 2100",
}

function case.kernel(T, z)
  local M, N = z.M, z.N
  local atax = tide.kernel {A = T[M][N], x = T[N], y = T[N], tmp = T[M], function(A, x, y, tmp)
    for i = 0, N - 1 do y[i] = 0.0 end
    for i = 0, M - 1 do
      tmp[i] = 0.0
      for j = 0, N - 1 do tmp[i] = tmp[i] + A[i][j] * x[j] end
      for j = 0, N - 1 do y[j] = y[j] + A[i][j] * tmp[i] end
    end
  end}
  return atax
end

-- The sums of A x take turns, so that none waits for its adder; one multiplier and one adder never rest.
function case.schedule(s)
  s:reorder("j#1", "i#2")
  for _, loop in ipairs {"i#1", "i_1", "i#2", "j#2"} do s:pipeline(loop) end
end

suite.show(case)
return case

--> ... steps, each proved: strict
--> atax: the schedule computes what its kernel does, and plain Lua
--> u280 at 300 MHz: ... cycles...
