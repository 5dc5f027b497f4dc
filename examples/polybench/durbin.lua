-- durbin: a Toeplitz system by Durbin's recursion (PolyBench 4.2.1, linear-algebra/solvers).
-- Run: tide examples/polybench/durbin.lua [mini, small or medium]
local tide, suite = require "tide", require "suite"

local case = {
  name = "durbin",
  extents = "N",
  tiny = "7", mini = "40", small = "120", medium = "400",
  large = "2000",
}

function case.kernel(T, z)
  local N = z.N
  local durbin = tide.kernel {r = T[N], y = T[N], function(r, y)
    local next_y = T[N]()
    y[0] = -r[0]
    local beta, alpha = T(1), -r[0]
    for k = 1, N - 1 do
      beta = (1.0 - alpha * alpha) * beta
      local sum = T(0)
      for i = 0, k - 1 do sum = sum + r[k - i - 1] * y[i] end
      alpha = -(r[k] + sum) / beta
      for i = 0, k - 1 do next_y[i] = y[i] + alpha * y[k - i - 1] end
      for i = 0, k - 1 do y[i] = next_y[i] end
      y[k] = alpha
    end
  end}
  return durbin
end

suite.show(case)
return case

--> durbin: the schedule computes what its kernel does, and plain Lua
--> u280 at 300 MHz: ... cycles...
