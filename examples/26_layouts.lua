-- 26_layouts: a loader packs blocks of a matrix before it sends them, a kernel takes them apart to multiply, and its
-- result goes out through one more arrangement (Dato, 5.2). Each copy is a descriptor, (offset; sizes, strides); where
-- they meet they compose, and here nothing is left of them: the loader sends slices, the kernel reads what it got.
-- Run: tide examples/26_layouts.lua [M K N]     (default 32 32 16; M a multiple of 8, K of 16)
local tide = require "tide"
local i8, i32, task, grid = tide.i8, tide.i32, tide.task, tide.grid
local M, K, N = tonumber(arg[1] or 32), tonumber(arg[2] or 32), tonumber(arg[3] or 16)

local top = tide.design(function(d)
  local blocks = d:stream(i8[2][K // 16][16][4], { depth = 2 })
  d.load = task {
    A = i8[M][K],
    function(A)
      for b in grid(M // 8) do
        local P = i8[2][K // 16][4][16]()            -- tile by tile
        for i, k in grid(8, K) do P[i // 4][k // 16][i % 4][k % 16] = A[b * 8 + i][k] end
        local T = i8[2][K // 16][16][4]()            -- and each tile by columns
        for io, ko, ki, ii in grid(2, K // 16, 16, 4) do T[io][ko][ki][ii] = P[io][ko][ii][ki] end
        blocks:put(T)
      end
    end,
  }
  d.multiply = task {
    B = i8[K][N], C = i32[N][M],
    function(B, C)
      for b in grid(M // 8) do
        local T = blocks:get()
        local R = i8[8][K]()                         -- rows again
        for i, k in grid(8, K) do R[i][k] = T[i // 4][k // 16][k % 16][i % 4] end
        local S = i32[8][N](0)
        for i, j in grid(8, N) do
          for k in grid(K) do S[i][j] = S[i][j] + R[i][k] * B[k][j] end
        end
        for i, j in grid(8, N) do C[j][b * 8 + i] = S[i][j] end  -- a transpose on the way out
      end
    end,
  }
end)

-- Cycles of a run with a clock, on random data; the result is checked.
local A, B = tide.random(i8[M][K], 1), tide.random(i8[K][N], 2)
local want = tide.matmul(A, B):transpose()
local function cycles(s)
  local C, m = i32[N][M](), s:build { target = "cpu", timed = true }
  m(A, B, C)
  assert(C:equal(want))
  return m.report.cycles
end

local s = tide.schedule(top)
local before = cycles(s)
s:collapse "load:P"        -- a copy of a copy is one copy
s:collapse "blocks"        -- tokens travel as they lie in A
s:collapse "multiply:R"    -- the product reads the token
s:collapse "multiply:S"    -- and adds up where the result goes
print(s, select(2, s:verify()))
local after = cycles(s)
print(("%.1f times faster"):format(before / after))
assert(after < before)

--> ...blocks:put(A:slice({b * 8, b * 8 + 8}, {0, 32}))...
--> ...C[j][b * 8 + i] = C[j][b * 8 + i] + T[i][k] * B[k][j]...
--> ...proved: strict...
--> ...times faster
