-- 27_library_kernel: a C micro-kernel takes the place of the inner loops of a matrix product (Dato, 5.1). Its contract
-- is what its parameters say: shapes, the order in which an operand lies, vector widths, cost; its model says what it
-- computes. inject makes the loops around it and the copies that arrange operands, and proves the whole; a contract
-- that does not fit is refused with what differs.
-- Run: tide examples/27_library_kernel.lua [M N K]     (default 32 24 64; multiples of 8, 8 and 16)
local tide = require "tide"
local i8, i32, grid = tide.i8, tide.i32, tide.grid
local M, N, K = tonumber(arg[1] or 32), tonumber(arg[2] or 24), tonumber(arg[3] or 64)

local gemm = tide.kernel {
  A = i8[M][K], B = i8[K][N], C = i32[M][N],
  function(A, B, C)
    for i, j, k in grid(M, N, K) do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
  end,
}

-- What the C function computes, on its operands as they lie.
local model = tide.kernel {
  A = i8[2][16][4], B = i8[16][8], C = i32[8][8],
  function(A, B, C)
    for m, n, k in grid(8, 8, 16) do C[m][n] = C[m][n] + A[m // 4][k][m % 4] * B[k][n] end
  end,
}
local mm = tide.extern {
  source = (arg[0]:match "^(.*)/" or ".") .. "/27_micro_kernel.c", symbol = "mm_8x8x16", model = model,
  A = i8[2][16][4], --@ order("m k -> m/4 k m%4") lanes(4)
  B = i8[16][8], --@ lanes(8)
  C = i32[8][8],
} --@ cost(64, 72, 32)

-- A contract that says that A lies by rows is found out.
local wrong = tide.extern {
  source = (arg[0]:match "^(.*)/" or ".") .. "/27_micro_kernel.c", symbol = "mm_8x8x16", model = model,
  A = i8[2][16][4], --@ order("m k -> m%2 k m/2")
  B = i8[16][8],
  C = i32[8][8],
}
local s = tide.schedule(gemm)
print(select(2, s:can("inject", "i", wrong)).message)

s:inject("i", mm)
s:buffer_at("C", "j_o")           -- the tile of the result stays while K goes by
print(s, select(2, s:verify()))

local A, B, C = tide.random(i8[M][K], 1), tide.random(i8[K][N], 2), i32[M][N](0)
s(A, B, C)                        -- runs the C function
assert(C:equal(tide.matmul(A, B)))
print "the C function computes it"

--> ...'wrong' does not compute...
--> ...mm(A_1, B:slice({k_o * 16, k_o * 16 + 16}, {j_o * 8, j_o * 8 + 8}), C_j_o)...
--> ...proved: strict...
--> the C function computes it
