-- 24_tiled_gemm: a matrix product shared out by layouts alone (Dato, Fig. 7), then folded onto fewer nodes. The sum
-- over a split K is pending until an allreduce makes it whole; the task that does so is scheduled like any other.
-- Run: tide examples/24_tiled_gemm.lua [M N K PK PM PN]     (default 8 8 8 2 2 2)
local tide = require "tide"
local i8, i32, task = tide.i8, tide.i32, tide.task
local M, N, K = tonumber(arg[1] or 8), tonumber(arg[2] or 8), tonumber(arg[3] or 8)
local Pk, Pm, Pn = tonumber(arg[4] or 2), tonumber(arg[5] or 2), tonumber(arg[6] or 2)

-- The product; without `whole` it would store a part of the sum.
local function product(whole)
  return tide.design(function(d)
    d.gemm = task {
      map = { Pk, Pm, Pn },
      A = i8[M][K]:layout "S1S0", B = i8[K][N]:layout "S0S2", C = i32[M][N]:layout "S1S2",
      function(A, B, C)
        local part = tide.matmul(A, B)
        if whole then C:set(tide.allreduce(part, "+")) else C:set(part) end
      end,
    }
  end)
end

print(select(2, pcall(product, false)).message)

local s = tide.schedule(product(true))
print(s:graph())
s:bundle("gemm", { axis = 0 })      -- the products of a tile take turns on one node
print(s:graph())
s:chain("gemm", "gemm_allreduce")   -- and are added up where they are made
print(s, select(2, s:verify()))

local A, B, C = tide.random(i8[M][K], 1), tide.random(i8[K][N], 2), i32[M][N](0)
s(A, B, C)
assert(C:equal(tide.matmul(A, B)))
print(#s:tasks() .. " nodes compute it")

--> ...pending...
--> ...12 nodes...
-->   task gemm {2, 2, 2}: 8 nodes  reads A, B
-->   task gemm_allreduce {2, 2}: 4 nodes  writes C
--> ...8 nodes...
--> ...
--> ...proved: strict...
--> 4 nodes compute it
