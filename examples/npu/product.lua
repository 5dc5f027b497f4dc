-- What the scripts of this folder share: a product of matrices in tiles, and the steps that lead it to 4 x 4 cores.
local tide = require "tide"
local npu = require "tide.npu"

local M = {}

-- Precisions: types of factors and sums (as Dato's authors measured them, but for bf16, whose sums are f32 here) and
-- their tiles.
M.kinds = {
  {name = "i16", T = tide.i16, R = tide.i16, m = 64, n = 64, k = 64},
  {name = "bf16", T = tide.bf16, R = tide.f32, m = 64, n = 64, k = 64},
  {name = "i8", T = tide.i8, R = tide.i8, m = 64, n = 128, k = 64},
}

--- z with these fields besides.
function M.with(z, more)
  local all = {}
  for k, v in pairs(z) do all[k] = v end
  for k, v in pairs(more) do all[k] = v end
  return all
end

--- A product of M x K by K x N; z has these sizes, those of tiles, m, n, k, and the types T and R.
function M.design(z)
  local T, R = z.T, z.R
  return tide.design(function(d)
    d.mul = tide.task {
      map = {z.K // z.k, z.M // z.m, z.N // z.n}, X = T[z.M][z.K]:layout "S1S0", Y = T[z.K][z.N]:layout "S0S2",
      Z = R[z.M][z.N]:layout "S1S2",
      function(X, Y, Z) Z:set(tide.allreduce(tide.matmul(X, Y, {acc = R}), "+")) end,
    }
  end)
end

--- On 4 x 4 cores, each of which takes its tiles in turn; streams hold z.depth (2) blocks of factors and z.out (1) of
--- sums. `how` they compute: by "plain" loops; by "blocks", which instructions multiply and cores arrange; or "dma",
--- arranged on their way.
function M.mapped(z, how)
  local s = tide.schedule(M.design(z)):bundle("mul", {axis = 0}):chain("mul", "mul_allreduce")
  for axis, n in ipairs {z.M // z.m, z.N // z.n} do
    if n > 4 then s:bundle("mul", {axis = axis - 1, factor = n // 4}) end
  end
  local _, nest = s:expand "mul_part"
  s:collapse("mul_part", {reassociate = true})
  local copies = {"mul:X_x", "mul:Y_x", "acc"}
  if how ~= "dma" then s:buffer_at("mul:X", "x"):buffer_at("mul:Y", "x") end
  if how ~= "plain" then
    local _, _, a, b, c = s:inject(nest, npu.matmul {m = z.m, n = z.n, k = z.k, A = z.T, B = z.T, C = z.R})
    s:hoist(c, "x"):collapse "acc"
    copies = how == "dma" and {a, b, c} or {copies[1], copies[2], c}
  end
  local axes = {1, 0, 0}
  for i, copy in ipairs(copies) do
    local _, host = s:isolate(copy, {depth = i == 3 and (z.out or 1) or z.depth or 2})
    s:coalesce(host, {axis = axes[i]})
  end
  return s:place("mul", {0, 2}, {by = {{0, 1}, {1, 0}}})
end

return M
