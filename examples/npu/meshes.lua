-- N16: one product on one core, then on 1 x 4, 2 x 4 and 4 x 4 of them: the same steps with other numbers, the rest
-- added by the build.
-- Run: tide examples/npu/meshes.lua [M N K]     (default 64 64 32, in tiles of 16 x 16 x 16)
-- [slow]
local here = (arg[0] or ""):match "^(.*/)" or "./"
package.path = here .. "?.lua;" .. package.path
local show, product, tide, npu = require "show", require "product", require "tide", require "tide.npu"
local i16, t = tide.i16, 16
local z = {T = i16, R = i16, M = tonumber(arg[1] or 64), N = tonumber(arg[2] or 64), K = tonumber(arg[3] or 32), m = t,
  n = t, k = t}
local d = product.design(z)

-- On P x Q cores.
local function mesh(P, Q)
  local s = tide.schedule(d):bundle("mul", {axis = 0}):chain("mul", "mul_allreduce")
  local function fold(axis, turns, most)
    if turns == 1 then return end
    s:bundle("mul", turns < most and {axis = axis, factor = turns} or {axis = axis})
  end
  fold(1, z.N // t // Q, z.N // t)
  fold(0, z.M // t // P, z.M // t)
  local _, nest = s:expand "mul_part"
  s:collapse("mul_part", {reassociate = true})
  local _, _, _, _, c = s:inject(nest, npu.matmul {m = t, n = t, k = t, A = i16, B = i16, C = i16})
  return s:hoist(c, "x"):collapse "acc"
end

local one
for _, m in ipairs {{1, 1}, {1, 4}, {2, 4}, {4, 4}} do
  local _, r = show(("%d x %d"):format(m[1], m[2]), mesh(m[1], m[2]), {i16[z.M][z.K], i16[z.K][z.N], i16[z.M][z.N]})
  one = one or r.cycles
  print(("  %.2f times as fast as one"):format(one / r.cycles))
end

--> 1 x 1                     1 cores, ...
--> ... 1.00 times as fast as one
--> 1 x 4                     4 cores, ...
