-- gesummv: y = alpha A x + beta B x (PolyBench 4.2.1, linear-algebra/blas).
-- Run: tide examples/polybench/gesummv.lua [mini, small or medium]
local tide, suite = require "tide", require "suite"

local case = {
  name = "gesummv",
  extents = "N",
  tiny = "6", mini = "30", small = "90", medium = "250",
  large = "1300",
}

function case.kernel(T, z)
  local N = z.N
  local gesummv = tide.kernel {alpha = T, beta = T, A = T[N][N], B = T[N][N], x = T[N], y = T[N],
    function(alpha, beta, A, B, x, y)
      local tmp = T[N]()
      for i = 0, N - 1 do
        tmp[i] = 0.0
        y[i] = 0.0
        for j = 0, N - 1 do
          tmp[i] = A[i][j] * x[j] + tmp[i]
          y[i] = B[i][j] * x[j] + y[i]
        end
        y[i] = alpha * tmp[i] + beta * y[i]
      end
    end}
  return gesummv
end

-- Both sums of a row take turns with those of the others, so that none waits for its adder.
function case.schedule(s)
  s:reorder("j", "i")
  for _, loop in ipairs {"i_1", "i", "i_2"} do s:pipeline(loop) end
end

suite.show(case)
return case

--> ... steps, each proved: strict
--> gesummv: the schedule computes what its kernel does, and plain Lua
--> u280 at 300 MHz: ... cycles...
