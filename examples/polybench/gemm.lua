-- gemm: C = alpha A B + beta C (PolyBench 4.2.1, linear-algebra/blas).
-- Run: tide examples/polybench/gemm.lua [mini, small or medium]
local tide, suite = require "tide", require "suite"
local grid = tide.grid

local case = {
  name = "gemm",
  extents = "M N K",
  tiny = "4 5 6", mini = "20 25 30", small = "60 70 80", medium = "200 220 240",
  large = "1000 1100 1200",
}

function case.kernel(T, z)
  local M, N, K = z.M, z.N, z.K
  local gemm = tide.kernel {A = T[M][K], B = T[K][N], C = T[M][N], alpha = T, beta = T,
    function(A, B, C, alpha, beta)
      for i = 0, M - 1 do
        for j = 0, N - 1 do C[i][j] = C[i][j] * beta end
        for k, j in grid(K, N) do C[i][j] = C[i][j] + alpha * A[i][k] * B[k][j] end
      end
    end}
  return gemm
end

-- A row of C lives in registers, and a row of B, times an element of A, is added to all of it at once. An addition
-- takes 7 cycles, so that a seventh as many adders serve; where they are busy in all 7, alpha A[i][k] takes an eighth.
function case.schedule(s, z)
  local lanes = math.max(z.N // 8, 1)
  local _, row = s:buffer_at("C", "i")
  s:partition(row, 0):partition("B", 1):partition("C", 1, {factor = lanes}):pipeline("k", z.N % 7 == 0 and 8 or 7)
  for _, loop in ipairs {"j_init", "j#1", "j_back"} do s:pipeline(loop):unroll(loop, lanes) end
end

suite.show(case)
return case

--> ... steps, each proved: strict
--> gemm: the schedule computes what its kernel does, and plain Lua
--> u280 at 300 MHz: ... cycles...
