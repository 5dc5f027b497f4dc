-- 12_systolic: an output-stationary systolic array from a plain matrix product in seven steps (Allo, PLDI 2024,
-- Fig. 5). The schedule of a kernel becomes a design: processing elements, feeders and drains. A second stage gives
-- each element one loop and registers in place of rows: the array ends within K + M + N cycles.
-- Run: tide examples/12_systolic.lua [M N K]     (default 4 4 4)
local tide = require "tide"
local i8, i16, grid = tide.i8, tide.i16, tide.grid
local M, N, K = tonumber(arg[1] or 4), tonumber(arg[2] or 4), tonumber(arg[3] or 4)

local gemm = tide.kernel {
  A = i8[M][K], B = i8[K][N], C = i16[M][N],
  function(A, B, C)
    for i, j in grid(M, N, "PE") do
      for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
    end
  end,
}

local s = tide.schedule(gemm)
local _, row = s:buffer_at("A", "j")                -- each element's own row of A and column of B
local _, column = s:buffer_at("B", "j")
local _, pe = s:unfold("PE", { 0, 1 })              -- the loops i and j become a grid of tasks
s:partition("C", { 0, 1 }):partition("A", 0):partition("B", 1)
s:relay(row, pe, { axis = 1, depth = M + 1 })       -- rows travel along j, columns along i
s:relay(column, pe, { axis = 0, depth = N + 1 })
print(s)
print(select(2, s:verify()))

local A, B = tide.random(i8[M][K], 1), tide.random(i8[K][N], 2)
local C, want = i16[M][N](0), i16[M][N](0)
s(A, B, C)                                          -- arguments as the kernel's
gemm:native(A, B, want)
assert(C:equal(want))
print("the array and plain Lua agree")

local hls = s:build { target = "hls" }
hls:write "build/systolic"
C = i16[M][N](0)
hls(A, B, C)
assert(C:equal(want))
print("so does its HLS C++")

s:fuse("PE:k_init_1", "PE:k_init", "PE:k")          -- receive, pass on and multiply in one loop,
s:fold_storage("PE:A_j_1"):fold_storage("PE:B_j_1") -- so an element of the rows lives for one iteration
s:pipeline("PE:k_init_1")
print(s:diff(#s:steps() - 4))
print(select(2, s:verify()))

local run = s:build { target = "cpu", timed = true }
C = i16[M][N](0)
run(A, B, C)
assert(C:equal(want) and run.report.cycles <= K + M + N)
print(("%d cycles of at most K + M + N = %d"):format(run.report.cycles, K + M + N))

--> local tide = ...
--> ...
-->   d.PE = tide.task {
-->     map = {M, N},
--> ...
--> proved: strict...
--> the array and plain Lua agree
--> so does its HLS C++
--> ...
--> proved: strict...
--> 11 cycles of at most K + M + N = 12
