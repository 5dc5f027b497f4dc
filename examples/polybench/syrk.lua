-- syrk: C = alpha A A^T + beta C, the lower triangle (PolyBench 4.2.1, linear-algebra/blas).
-- Run: tide examples/polybench/syrk.lua [mini, small or medium]
local tide, suite = require "tide", require "suite"

local case = {
  name = "syrk",
  extents = "M N",
  tiny = "4 5", mini = "20 30", small = "60 80", medium = "200 240",
  large = "1000 1200",
}

function case.kernel(T, z)
  local N, M = z.N, z.M
  local syrk = tide.kernel {alpha = T, beta = T, C = T[N][N], A = T[N][M],
    function(alpha, beta, C, A)
      for i = 0, N - 1 do
        for j = 0, i do C[i][j] = C[i][j] * beta end
        for k = 0, M - 1 do
          for j = 0, i do C[i][j] = C[i][j] + alpha * A[i][k] * A[j][k] end
        end
      end
    end}
  return syrk
end

-- A row of C in registers; a column of A goes to all of it at once.
function case.schedule(s, z)
  s:split("j#2", z.N):reorder("j_o", "k")
  local _, row = s:buffer_at("C", "i")
  s:partition(row, 0):partition("A", 0):partition("C", 1, {factor = 10}):pipeline "k"
  for _, loop in ipairs {"j_init", "j", "j_back"} do s:pipeline(loop):unroll(loop, 10) end
end

suite.show(case)
return case

--> ... steps, each proved: strict
--> syrk: the schedule computes what its kernel does, and plain Lua
--> u280 at 300 MHz: ... cycles...
