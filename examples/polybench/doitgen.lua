-- doitgen: each row of A times C4, through a buffer (PolyBench 4.2.1, linear-algebra/kernels).
-- Run: tide examples/polybench/doitgen.lua [mini, small or medium]
local tide, suite = require "tide", require "suite"
local grid = tide.grid

local case = {
  name = "doitgen",
  extents = "R Q P",
  tiny = "3 4 5", mini = "10 8 12", small = "25 20 30", medium = "50 40 60",
  large = "150 140 160",
}

function case.kernel(T, z)
  local R, Q, P = z.R, z.Q, z.P
  local doitgen = tide.kernel {A = T[R][Q][P], C4 = T[P][P], sum = T[P], function(A, C4, sum)
    for r, q in grid(R, Q) do
      for p = 0, P - 1 do
        sum[p] = 0.0
        for s = 0, P - 1 do sum[p] = sum[p] + A[r][q][s] * C4[s][p] end
      end
      for p = 0, P - 1 do A[r][q][p] = sum[p] end
    end
  end}
  return doitgen
end

suite.show(case)
return case

--> doitgen: the schedule computes what its kernel does, and plain Lua
--> u280 at 300 MHz: ... cycles...
