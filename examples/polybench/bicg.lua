-- bicg: s = A^T r, q = A p (PolyBench 4.2.1, linear-algebra/kernels).
-- Run: tide examples/polybench/bicg.lua [mini, small or medium]
local tide, suite = require "tide", require "suite"

local case = {
  name = "bicg",
  extents = "M N",
  tiny = "5 6", mini = "38 42", small = "116 124", medium = "390 410",
  large = "1900 2100",
}

function case.kernel(T, z)
  local M, N = z.M, z.N
  local bicg = tide.kernel {A = T[N][M], s = T[M], q = T[N], p = T[M], r = T[N],
    function(A, s, q, p, r)
      for i = 0, M - 1 do s[i] = 0.0 end
      for i = 0, N - 1 do
        q[i] = 0.0
        for j = 0, M - 1 do
          s[j] = s[j] + r[i] * A[i][j]
          q[i] = q[i] + A[i][j] * p[j]
        end
      end
    end}
  return bicg
end

suite.show(case)
return case
