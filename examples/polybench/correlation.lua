-- correlation: correlations of the columns of a table (PolyBench 4.2.1, datamining).
-- Run: tide examples/polybench/correlation.lua [mini, small or medium]
local tide, suite = require "tide", require "suite"
local grid = tide.grid

local case = {
  name = "correlation",
  extents = "M N",
  tiny = "5 7", mini = "28 32", small = "80 100", medium = "240 260",
  large = "1200 1400",
}

function case.kernel(T, z)
  local M, N = z.M, z.N
  local count = N + 0.0
  local correlation = tide.kernel {data = T[N][M], corr = T[M][M], mean = T[M], stddev = T[M],
    function(data, corr, mean, stddev)
      for j = 0, M - 1 do
        mean[j] = 0.0
        for i = 0, N - 1 do mean[j] = mean[j] + data[i][j] end
        mean[j] = mean[j] / count
      end
      for j = 0, M - 1 do
        stddev[j] = 0.0
        for i = 0, N - 1 do
          stddev[j] = stddev[j] + (data[i][j] - mean[j]) * (data[i][j] - mean[j])
        end
        stddev[j] = tide.sqrt(stddev[j] / count)
        stddev[j] = tide.select(stddev[j] <= 0.1, 1.0, stddev[j])
      end
      for i, j in grid(N, M) do
        data[i][j] = data[i][j] - mean[j]
        data[i][j] = data[i][j] / (tide.sqrt(T(count)) * stddev[j])
      end
      for i = 0, M - 2 do
        corr[i][i] = 1.0
        for j = i + 1, M - 1 do
          corr[i][j] = 0.0
          for k = 0, N - 1 do corr[i][j] = corr[i][j] + data[k][i] * data[k][j] end
          corr[j][i] = corr[i][j]
        end
      end
      corr[M - 1][M - 1] = 1.0
    end}
  return correlation
end

-- Row by row: all sums of a row at once.
function case.schedule(s, z)
  s:reorder("i#1", "j#1"):reorder("i#2", "j#2")
  s:reorder("k", "j#4"):reorder("k", "i#4"):split("i#4", 8):reorder("i_o", "k")
  s:split("j#4", z.M)
  local _, rows = s:buffer_at("corr", "i_o")
  s:partition(rows):partition("corr", 1, {factor = 8}):partition("data", 1):partition("mean", 0):partition("stddev", 0)
  for _, loop in ipairs {"i#1", "i#2", "i#3", "k", "j_2", "j_4", "j_6"} do s:pipeline(loop) end
  for _, loop in ipairs {"j_1", "j_3", "j_5", "i_i_init_1", "i_i_back_1"} do s:pipeline(loop):unroll(loop, 8) end
end

suite.show(case)
return case

--> ... steps, each proved: strict
--> correlation: the schedule computes what its kernel does, and plain Lua
--> u280 at 300 MHz: ... cycles...
