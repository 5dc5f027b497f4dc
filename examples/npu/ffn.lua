-- N10: the gate and up products of a feed-forward layer in one launch: their weights side by side, so each is made by a
-- half of 4 x 2 cores, and rows of X go to both halves at once. Beside it a launch for each on 4 x 4 cores, on the same
-- model: no claim beside Dato's 1.64 over IRON.
-- Run: tide examples/npu/ffn.lua [ROWS FEATURES HIDDEN]     (default 256 192 768, in bf16; 256 768 3072 is GPT-2's)
-- [slow]
local here = (arg[0] or ""):match "^(.*/)" or "./"
package.path = here .. "?.lua;" .. package.path
local show, product, tide = require "show", require "product", require "tide"
local model = require "tide.npu.core".model()
local bf16, f32, task = tide.bf16, tide.f32, tide.task
local M, K, H = tonumber(arg[1] or 256), tonumber(arg[2] or 192), tonumber(arg[3] or 768)
local m, n, k = math.min(64, M // 4), math.min(64, H // 4), math.min(64, K // 2)
local N = 2 * H

local ffn = tide.design(function(d)
  d.ffn = task {
    map = {K // k, M // m, N // n}, X = bf16[M][K]:layout "S1S0", W = bf16[K][N]:layout "S0S2",
    Y = f32[M][N]:layout "S1S2",
    function(X, W, Y) Y:set(tide.allreduce(tide.matmul(X, W, {acc = f32}), "+")) end,
  }
end)
local s = tide.schedule(ffn):search {device = "npu1", reassociate = true}

local _, r = show("one launch", s, {bf16[M][K], bf16[K][N], f32[M][N]})
local z = {T = bf16, R = f32, M = M, N = H, K = K, m = m, n = n, k = k}
local apart = product.mapped(z, "dma"):build {target = "npu", tool = false}:simulate()
local function ms(cycles, launches)
  return cycles / model.CLOCK.value / 1e6 + launches * model.LAUNCH.value / 1e3
end
local one, two = ms(r.cycles, 1), ms(2 * apart.cycles, 2)
print(("%.2f ms in one launch, %.2f ms in two: %.2f times"):format(one, two, two / one))
assert(one < two)

--> one launch               16 cores, ...
--> ... ms in one launch, ... ms in two: ... times
