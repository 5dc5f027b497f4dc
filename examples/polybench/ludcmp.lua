-- ludcmp: A x = b by an LU factorisation (PolyBench 4.2.1, linear-algebra/solvers).
-- Run: tide examples/polybench/ludcmp.lua [mini, small or medium]
local tide, suite = require "tide", require "suite"

local case = {
  name = "ludcmp",
  extents = "N",
  tiny = "6", mini = "40", small = "120", medium = "400",
  large = "2000",
  dominant = "A",
}

function case.kernel(T, z)
  local N = z.N
  local ludcmp = tide.kernel {A = T[N][N], b = T[N], x = T[N], y = T[N], function(A, b, x, y)
    for i = 0, N - 1 do
      for j = 0, i - 1 do
        local w = A[i][j]
        for k = 0, j - 1 do w = w - A[i][k] * A[k][j] end
        A[i][j] = w / A[j][j]
      end
      for j = i, N - 1 do
        local w = A[i][j]
        for k = 0, i - 1 do w = w - A[i][k] * A[k][j] end
        A[i][j] = w
      end
    end
    for i = 0, N - 1 do
      local w = b[i]
      for j = 0, i - 1 do w = w - A[i][j] * y[j] end
      y[i] = w
    end
    for i = N - 1, 0, -1 do
      local w = y[i]
      for j = i + 1, N - 1 do w = w - A[i][j] * x[j] end
      x[i] = w / A[i][i]
    end
  end}
  return ludcmp
end

suite.show(case)
return case

--> ludcmp: the schedule computes what its kernel does, and plain Lua
--> u280 at 300 MHz: ... cycles...
