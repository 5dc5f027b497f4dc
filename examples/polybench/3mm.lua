-- 3mm: G = (A B) (C D) (PolyBench 4.2.1, linear-algebra/kernels).
-- Run: tide examples/polybench/3mm.lua [mini, small or medium]
local tide, suite = require "tide", require "suite"
local grid = tide.grid

local case = {
  name = "3mm",
  extents = "I J K L M",
  tiny = "3 4 5 6 7", mini = "16 18 20 22 24", small = "40 50 60 70 80", medium = "180 190 200 210 220",
  large = "800 900 1000 1100 1200",
}

function case.kernel(T, z)
  local I, J, K, L, M = z.I, z.J, z.K, z.L, z.M
  local mm3 = tide.kernel {E = T[I][J], A = T[I][K], B = T[K][J], F = T[J][L], C = T[J][M],
    D = T[M][L], G = T[I][L], function(E, A, B, F, C, D, G)
      for i, j in grid(I, J) do
        E[i][j] = 0.0
        for k = 0, K - 1 do E[i][j] = E[i][j] + A[i][k] * B[k][j] end
      end
      for i, j in grid(J, L) do
        F[i][j] = 0.0
        for k = 0, M - 1 do F[i][j] = F[i][j] + C[i][k] * D[k][j] end
      end
      for i, j in grid(I, L) do
        G[i][j] = 0.0
        for k = 0, J - 1 do G[i][j] = G[i][j] + E[i][k] * F[k][j] end
      end
    end}
  return mm3
end

-- Three products as in gemm: a row of the result in registers, all of it at once.
function case.schedule(s)
  for n, array in ipairs {"E", "F", "G"} do
    s:reorder("k#" .. n, "j#" .. n)
    local _, row = s:buffer_at(array, "i#" .. n)
    s:partition(row, 0):pipeline("k#" .. n)
    for _, loop in ipairs {"j_" .. n, "j_" .. n .. "_back"} do s:pipeline(loop):unroll(loop, 10) end
  end
  for _, array in ipairs {"B", "D", "F"} do s:partition(array, 1) end
  for _, array in ipairs {"E", "G"} do s:partition(array, 1, {factor = 10}) end
end

suite.show(case)
return case

--> ... steps, each proved: strict
--> 3mm: the schedule computes what its kernel does, and plain Lua
--> u280 at 300 MHz: ... cycles...
