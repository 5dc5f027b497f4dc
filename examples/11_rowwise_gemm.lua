-- 11_rowwise_gemm: one matrix product, three schedules (Allo, PLDI 2024, Fig. 2): as it stands, inner products, and
-- row by row. What bounds the initiation interval is seen before any vendor tool runs.
-- Run: tide examples/11_rowwise_gemm.lua [N UNROLL]     (default 64 32; the paper: 1024 32)
local tide = require "tide"
local f32, grid = tide.f32, tide.grid
local N, U = tonumber(arg[1] or 64), tonumber(arg[2] or 32)

local gemm = tide.kernel {
  A = f32[N][N], B = f32[N][N], C = f32[N][N],
  function(A, B, C)
    for i, j in grid(N, N) do
      for k = 0, N - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
    end
  end,
}

-- Inner products: each addition to C[i][j] waits for the one before it.
local inner = tide.schedule(gemm):pipeline("k"):unroll("k", U)
inner:partition("A", 1, { factor = U }):partition("B", 0, { factor = U })

-- Row by row: the innermost loop runs over j, whose sums do not wait for each other, in a buffer of a row of C.
local row = tide.schedule(gemm):reorder("k", "j")
local _, buffer = row:buffer_at("C", "i")
for _, loop in ipairs { "j_init", "j", "j_back" } do row:pipeline(loop):unroll(loop, U) end
row:partition("B", 1, { factor = U }):partition("C", 1, { factor = U }):partition(buffer, 0, { factor = U })

for _, s in ipairs { inner, row } do print(select(2, s:verify())) end
print(select(2, tide.verify(inner, row)))

local plain, slow, fast = tide.schedule(gemm):estimate(), inner:estimate(), row:estimate()
print(slow, fast)
print(("inner products %.1f times as fast as the plain loops, row by row %.1f times"):format(
  plain.cycles / slow.cycles, plain.cycles / fast.cycles))
assert(fast.cycles < slow.cycles and slow.cycles < plain.cycles)
row:build { target = "hls" }:write "build/rowwise_gemm"

--> proved: strict...
--> proved: strict...
--> proved: strict...
--> ...recurrence: C of the iteration 1 before...
--> ...
-->   k                64                        1282
-->     j         64 / 32     1...as asked
--> ...
--> inner products 2...times as fast as the plain loops, row by row 4...times
