-- Products of 2048^3 on 4 x 4 cores by the model of time: Dato's tiles, other tiles that divide and that cores hold, at
-- equal depth; what deeper streams alone gain, apart. Tiles whose sums are as large as memory lets them be come for
-- fewer blocks from the host.
-- Run: tide examples/npu/shapes.lua [SIZE]     (default 2048)
-- [slow]
local here = (arg[0] or ""):match "^(.*/)" or "./"
package.path = here .. "?.lua;" .. package.path
local product = require "product"
local size = tonumber(arg[1] or 2048)

-- Rows, columns and depth of a tile, blocks of factors and of sums ahead.
local tiles = {
  i16 = {{64, 64, 64, 2, 2}, {128, 64, 32, 2, 2}, {64, 128, 32, 2, 2}, {64, 64, 32, 4, 2}},
  bf16 = {{64, 64, 64, 2, 1}, {128, 64, 32, 2, 1}, {64, 128, 32, 2, 1}, {64, 64, 32, 4, 1}},
  i8 = {{64, 128, 64, 2, 2}, {128, 128, 64, 2, 1}, {256, 128, 32, 2, 1}, {64, 128, 32, 4, 2}},
}

print("type,m,n,k,depth,% of the peak")
for _, kind in ipairs(product.kinds) do
  local best, dato
  for _, x in ipairs(tiles[kind.name]) do
    local z = product.with(kind, {M = size, N = size, K = size, m = x[1], n = x[2], k = x[3], depth = x[4], out = x[5]})
    local r = product.mapped(z, "dma"):build {target = "npu", tool = false}:simulate()
    print(("%s,%d,%d,%d,%d,%.1f"):format(kind.name, z.m, z.n, z.k, z.depth, 100 * r.utilisation))
    dato = dato or r.utilisation
    if z.depth == 2 then best = math.max(best or 0, r.utilisation) end
  end
  assert(size < 2048 or best > dato, "other tiles are faster at equal depth")
end

--> type,m,n,k,depth,% of the peak
--> i16,64,64,64,2,...
