-- The products of a GPT-2 block (heads of 64; with width 768 the 12 of GPT-2), layer by layer through one system of
-- streamers: each layer's 8-bit results are the next one's operand, and equal those of its kernel in plain runs.
-- Softmax, normalisation and GELU are the host's, and are left out.
-- Run: tide examples/maestro/gpt2_block.lua [TOKENS] [WIDTH]
-- [slow]
local tide, maestro = require "tide", require "tide.maestro"
local i8, i16, i32, grid, reduction = tide.i8, tide.i16, tide.i32, tide.grid, tide.reduction
local S, W = tonumber(arg[1] or 32), tonumber(arg[2] or 256)
local H = W // 64

-- D = A B + bias as 8 bits; with `turned` B is stored by columns.
local function product(M, N, K, shift, turned)
  local function q(x) return i8(tide.max(-128, tide.min(127, tide.asr(x * i16(3), shift)))) end
  if turned then
    return tide.kernel { name = "product", A = i8[M][K], B = i8[N][K], C = i32[N], D = i8[M][N], function(A, B, C, D)
      for m, n in grid(M, N) do
        local acc = C[n]
        for k in reduction(K) do acc = acc + A[m][k] * B[n][k] end
        D[m][n] = q(acc)
      end
    end }
  end
  return tide.kernel { name = "product", A = i8[M][K], B = i8[K][N], C = i32[N], D = i8[M][N], function(A, B, C, D)
    for m, n in grid(M, N) do
      local acc = C[n]
      for k in reduction(K) do acc = acc + A[m][k] * B[k][n] end
      D[m][n] = q(acc)
    end
  end }
end

local sys = maestro.reference()
local total, fires = 0, 0

-- Runs a layer on A; its results.
local function layer(name, A, B, N, shift, turned, times)
  local M, K = A.shape[1], A.shape[2]
  local kernel = product(M, N, K, shift, turned)
  local job = sys:compile(kernel, { m = "m", n = "n", k = "k", mode = "gima8" })
  local C, D, want = tide.random(i32[N], 9, { lo = -500, hi = 500 }), i8[M][N](0), i8[M][N](0)
  local r = job:run { A = A, B = B, C = C, D = D }
  kernel:native(A, B, C, want)
  assert(D:equal(want), name)
  times = times or 1
  total, fires = total + times * r.cycles, fires + times * r.fires
  print(("%-12s %5d x %5d x %5d %4d jobs x %2d %9d cycles, %.2f %% of the MAC window"):format(name, M, N, K,
    job.jobs and #job.jobs or 1, times, times * r.cycles, 100 * r.utilisation))
  return D
end

local x = tide.random(i8[S][W], 1)
local qkv = layer("QKV", x, tide.random(i8[W][3 * W], 2), 3 * W, 10)
local q, k, v = i8[S][64](0), i8[S][64](0), i8[S][64](0)
for s = 0, S - 1 do
  for d = 0, 63 do q[s][d], k[s][d], v[s][d] = qkv[s][d], qkv[s][W + d], qkv[s][2 * W + d] end
end
local p = layer("Q K^T", q, k, S, 8, true, H)
layer("P V", p, v, 64, 8, false, H)
local y = layer("projection", x, tide.random(i8[W][W], 3), W, 10)
local h = layer("FFN up", y, tide.random(i8[W][4 * W], 4), 4 * W, 10)
layer("FFN down", h, tide.random(i8[4 * W][W], 5), W, 11)
print(("block: %d cycles, %.2f %% of them multiply"):format(total, 100 * fires / total))
