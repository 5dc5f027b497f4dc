-- trisolv: L x = b by forward substitution (PolyBench 4.2.1, linear-algebra/solvers).
-- Run: tide examples/polybench/trisolv.lua [mini, small or medium]
local tide, suite = require "tide", require "suite"

local case = {
  name = "trisolv",
  extents = "N",
  tiny = "7", mini = "40", small = "120", medium = "400",
  large = "2000",
  dominant = "L",
}

function case.kernel(T, z)
  local N = z.N
  local trisolv = tide.kernel {L = T[N][N], x = T[N], b = T[N], function(L, x, b)
    for i = 0, N - 1 do
      x[i] = b[i]
      for j = 0, i - 1 do x[i] = x[i] - L[i][j] * x[j] end
      x[i] = x[i] / L[i][i]
    end
  end}
  return trisolv
end

suite.show(case)
return case

--> trisolv: the schedule computes what its kernel does, and plain Lua
--> u280 at 300 MHz: ... cycles...
