-- nussinov: the folding of an RNA sequence, by dynamic programming (PolyBench 4.2.1, medley).
-- Run: tide examples/polybench/nussinov.lua [mini, small or medium]
local tide, suite = require "tide", require "suite"
local i32 = tide.i32

local case = {
  name = "nussinov",
  extents = "N",
  tiny = "8", mini = "60", small = "180", medium = "500",
  large = "2500",
  letters = 4,
}

function case.kernel(_, z)
  local N = z.N
  local nussinov = tide.kernel {seq = i32[N], table = i32[N][N], function(seq, table)
    for i = N - 1, 0, -1 do
      for j = i + 1, N - 1 do
        if j - 1 >= 0 then table[i][j] = tide.max(table[i][j], table[i][j - 1]) end
        if i + 1 < N then table[i][j] = tide.max(table[i][j], table[i + 1][j]) end
        if j - 1 >= 0 and i + 1 < N then
          if i < j - 1 then
            local pair = i32(0)
            if seq[i] + seq[j] == 3 then pair = 1 end
            table[i][j] = tide.max(table[i][j], i32(table[i + 1][j - 1] + pair))
          else
            table[i][j] = tide.max(table[i][j], table[i + 1][j - 1])
          end
        end
        for k = i + 1, j - 1 do
          table[i][j] = tide.max(table[i][j], i32(table[i][k] + table[k + 1][j]))
        end
      end
    end
  end}
  return nussinov
end

suite.show(case)
return case

--> nussinov: the schedule computes what its kernel does, and plain Lua
--> u280 at 300 MHz: ... cycles...
