-- covariance: covariances of the columns of a table (PolyBench 4.2.1, datamining).
-- Run: tide examples/polybench/covariance.lua [mini, small or medium]
local tide, suite = require "tide", require "suite"
local grid = tide.grid

local case = {
  name = "covariance",
  extents = "M N",
  tiny = "5 7", mini = "28 32", small = "80 100", medium = "240 260",
  large = "1200 1400",
}

function case.kernel(T, z)
  local M, N = z.M, z.N
  local count = N + 0.0
  local covariance = tide.kernel {data = T[N][M], cov = T[M][M], mean = T[M],
    function(data, cov, mean)
      for j = 0, M - 1 do
        mean[j] = 0.0
        for i = 0, N - 1 do mean[j] = mean[j] + data[i][j] end
        mean[j] = mean[j] / count
      end
      for i, j in grid(N, M) do data[i][j] = data[i][j] - mean[j] end
      for i = 0, M - 1 do
        for j = i, M - 1 do
          cov[i][j] = 0.0
          for k = 0, N - 1 do cov[i][j] = cov[i][j] + data[k][i] * data[k][j] end
          cov[i][j] = cov[i][j] / (count - 1.0)
          cov[j][i] = cov[i][j]
        end
      end
    end}
  return covariance
end

suite.show(case)
return case

--> covariance: the schedule computes what its kernel does, and plain Lua
--> u280 at 300 MHz: ... cycles...
