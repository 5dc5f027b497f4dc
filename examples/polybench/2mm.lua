-- 2mm: D = alpha A B C + beta D (PolyBench 4.2.1, linear-algebra/kernels).
-- Run: tide examples/polybench/2mm.lua [mini, small or medium]
local tide, suite = require "tide", require "suite"
local grid = tide.grid

local case = {
  name = "2mm",
  extents = "I J K L",
  tiny = "3 4 5 6", mini = "16 18 22 24", small = "40 50 70 80", medium = "180 190 210 220",
  large = "800 900 1100 1200",
}

function case.kernel(T, z)
  local I, J, K, L = z.I, z.J, z.K, z.L
  local mm2 = tide.kernel {alpha = T, beta = T, tmp = T[I][J], A = T[I][K], B = T[K][J], C = T[J][L],
    D = T[I][L], function(alpha, beta, tmp, A, B, C, D)
      for i, j in grid(I, J) do
        tmp[i][j] = 0.0
        for k = 0, K - 1 do tmp[i][j] = tmp[i][j] + alpha * A[i][k] * B[k][j] end
      end
      for i, j in grid(I, L) do
        D[i][j] = D[i][j] * beta
        for k = 0, J - 1 do D[i][j] = D[i][j] + tmp[i][k] * C[k][j] end
      end
    end}
  return mm2
end

-- Both products as in gemm: a row of the result in registers, all of it at once.
function case.schedule(s)
  for n, array in ipairs {"tmp", "D"} do
    local right = n == 1 and "B" or "C"
    s:reorder("k#" .. n, "j#" .. n)
    local _, row = s:buffer_at(array, "i#" .. n)
    s:partition(row, 0):partition(right, 1):partition(array, 1, {factor = 10}):pipeline("k#" .. n)
  end
  for _, loop in ipairs {"j_1", "j_1_back", "j_2_init", "j_2", "j_2_back"} do s:pipeline(loop):unroll(loop, 10) end
end

suite.show(case)
return case

--> ... steps, each proved: strict
--> 2mm: the schedule computes what its kernel does, and plain Lua
--> u280 at 300 MHz: ... cycles...
