-- 03_unroll_gemm: the algorithm apart from what the hardware makes of it (Allo, Fig. 1): three steps on a plain
-- product, the program that they give, and the HLS C++ of that.
-- Run: tide examples/03_unroll_gemm.lua [M N K]     (default 32 32 32; K from 8)
local tide = require "tide"
local f32, grid = tide.f32, tide.grid
local M, N, K = tonumber(arg[1] or 32), tonumber(arg[2] or 32), tonumber(arg[3] or 32)

local gemm = tide.kernel {
  A = f32[M][K], B = f32[K][N], C = f32[M][N],
  function(A, B, C)
    for i, j in grid(M, N) do
      for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
    end
  end,
}

local s = tide.schedule(gemm)
s:unroll("k", 8)
s:partition("A", 1, { factor = 8 })
s:partition("B", 0, { factor = 8 })
print(s)
print(select(2, s:verify()))

-- HLS counts dimensions from 1.
local m = s:build { target = "hls" }
for line in m.source:gmatch "[^\n]+" do
  if line:find "#pragma HLS unroll" or line:find "#pragma HLS array_partition" then print(line) end
end

-- Plain Lua adds in doubles.
local A, B = tide.random(f32[M][K], 1), tide.random(f32[K][N], 2)
local C, want, hls = f32[M][N](0), f32[M][N](0), f32[M][N](0)
s(A, B, C)
gemm:native(A, B, want)
m(A, B, hls)
print("as plain Lua computes it:", C:allclose(want), "and HLS C++, to the bit:", C:equal(hls))

--> ...
--> A = f32[M][K], --@ partition(1, cyclic, 8)
--> ...
--> for k = 0, K - 1 do --@ unroll(8)
--> ...
--> proved: strict...
--> #pragma HLS array_partition variable=A type=cyclic dim=2 factor=8
--> #pragma HLS array_partition variable=B type=cyclic dim=1 factor=8
--> #pragma HLS unroll factor=8
--> as plain Lua computes it:	true	and HLS C++, to the bit:	true
