-- N11: the second half of a GPT-2 block, layernorm, product, GELU, product, with weights of 4 bits and activations of
-- 8: a kernel of templates, cut by dataflow into tasks that neighbours run; weights are tables of the cores.
-- Run: tide examples/npu/gpt2_mlp.lua [TOKENS FEATURES HIDDEN]     (default 4 8 32)
-- [slow]
local here = (arg[0] or ""):match "^(.*/)" or "./"
package.path = here .. "?.lua;" .. package.path
local show, tide, quant = require "show", require "tide", require "tide.quant"
local i4, i8, i16, i32, u16 = tide.int(4), tide.i8, tide.i16, tide.i32, tide.u16
local M, D, H = tonumber(arg[1] or 4), tonumber(arg[2] or 8), tonumber(arg[3] or 32)

local function weights(K, N, seed)
  local scale = math.floor(65536 * 32 / (184 * math.sqrt(K)))
  return {W = quant.pack(tide.random(i4[K][N], seed):table()),
    b = tide.random(i32[N], seed + 1, {lo = -2000, hi = 2000}),
    m = tide.random(u16[N], seed + 2, {lo = scale // 2, hi = scale})}
end
local g, b = tide.random(i16[D], 3, {lo = 24, hi = 40}), tide.random(i8[D], 4, {lo = -4, hi = 4})
local up, down = weights(D, H, 30), weights(H, D, 40)
local norm, gelu = quant.layernorm({M = M, N = D}, "norm"), quant.gelu {shape = {M, H}}
local first = quant.linear({M = M, K = D, N = H, shift = 16}, "first")
local second = quant.linear({M = M, K = H, N = D, shift = 16}, "second")
local mlp = tide.kernel {X = i8[M][D], Y = i8[M][D], function(X, Y)
  local e, u, v = i8[M][D](), i8[M][H](), i8[M][H]()
  norm(X, g, b, e)
  first(e, up.W, up.b, up.m, u)
  gelu(u, v)
  second(v, down.W, down.b, down.m, Y)
end}
show("an MLP", tide.schedule(mlp):dataflow(), {i8[M][D], i8[M][D]})

--> an MLP ...
