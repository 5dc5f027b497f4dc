-- What collapse saves on a tiled product: cycles of a run with a clock, and bytes that copies move, at a K
-- that is a multiple of the tile. Each block of A is packed by the loader and taken apart by the kernel.
local tide = require "tide"
local b = require "bench"
local i8, i32, task, grid = tide.i8, tide.i32, tide.task, tide.grid
local M, N, K = 64, 64, 64

local top = tide.design(function(d)
  local blocks = d:stream(i8[2][4][16][4], {depth = 2})
  d.load = task {A = i8[M][K], function(A)
    for b in grid(M // 8) do
      local P = i8[2][4][16][4]()
      for i, k in grid(8, K, "pack") do P[i // 4][k // 16][k % 16][i % 4] = A[b * 8 + i][k] end
      blocks:put(P)
    end
  end}
  d.multiply = task {B = i8[K][N], C = i32[M][N], function(B, C)
    for b in grid(M // 8) do
      local T = blocks:get()
      local R = i8[8][K]()
      for i, k in grid(8, K, "unpack") do R[i][k] = T[i // 4][k // 16][k % 16][i % 4] end
      for i, j in grid(8, N) do
        local s = i32(0)
        for k in grid(K, "dot") do s = s + R[i][k] * B[k][j] end
        C[b * 8 + i][j] = s
      end
    end
  end}
end)

local A, B = tide.random(i8[M][K], 1), tide.random(i8[K][N], 2)

-- Cycles of a schedule with its innermost loop unrolled by the parts of a vector unit.
local function cycles(s)
  s:unroll("multiply:dot/k"):pipeline("multiply:j")
  local C, m = i32[M][N](), s:build {target = "cpu", timed = true}
  m(A, B, C)
  assert(C:equal(tide.matmul(A, B)))
  return m.report.cycles
end

-- Bytes that are read and written by the copy nests that the printed program has: K bytes for each of M rows.
local function copied(s)
  local n = 0
  for _ in tostring(s):gmatch "--@ band%((%l*)pack%)" do n = n + 1 end
  return n // 2 * 2 * M * K
end

local plain, collapsed = tide.schedule(top), tide.schedule(top)
collapsed:collapse "blocks":collapse "multiply:R"
local before, after = copied(plain), copied(collapsed)
local slow, fast = cycles(plain), cycles(collapsed)
b.row("tiled GEMM 64^3, packed and unpacked: cycles", slow, "")
b.row("collapsed: cycles", fast, "", slow, ("%.2f times fewer"):format(slow / fast))
b.row("bytes moved by copies", before, "")
b.row("collapsed: bytes moved by copies", after, "", 0)
local start = b.once(function()
  for _ = 1, 20 do tide.schedule(top):collapse "blocks":collapse "multiply:R" end
end)
b.row("two collapses, legality included", start / 20, "ms", 30)
b.done "layouts"
