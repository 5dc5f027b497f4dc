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
        for j = 0, M - 1 do s[j] = s[j] + r[i] * A[i][j] end
        for j = 0, M - 1 do q[i] = q[i] + A[i][j] * p[j] end
      end
    end}
  return bicg
end

-- q: a block of columns is added at once, rows take turns, as many as an addition to each takes; s, and the columns
-- that are left of q: a row goes to all sums at once. An addition takes 7 cycles: s keeps a seventh of M adders busy,
-- which are the columns of a block, if a block is done before its row comes again.
function case.schedule(s, z)
  local columns = math.max(math.min(z.M, z.N - 12) // 7, 2)
  s:reorder("j#1", "i#2"):reorder("i#2", "j#1"):split("j#2", columns, {tail = "cut"}):reorder("j_o", "i_2")
  s:compute_at("i#2", "i_2_1")
  for _, loop in ipairs {"i#1", "i_1", "i_2", "i_2_1"} do s:pipeline(loop) end
  s:unroll("i#1", 10):unroll("i_1", 10):partition("q", 0, {factor = 10})
  s:partition("A", 1, {factor = columns}):partition("p", 0, {factor = columns}):partition("s", 0)
end

suite.show(case)
return case

--> ... steps, each proved: strict
--> bicg: the schedule computes what its kernel does, and plain Lua
--> u280 at 300 MHz: ... cycles...
