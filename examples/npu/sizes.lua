-- Dato, Fig. 8: products of 64 sizes in three precisions on 4 x 4 cores, by the model of time: cycles and share of the
-- peak. A tile counts where it divides the sizes and leaves every core one: i8 has columns of 64 at N = 256.
-- Run: tide examples/npu/sizes.lua [LARGEST]     (default 512; 2048 has all 64)
-- [slow]
local here = (arg[0] or ""):match "^(.*/)" or "./"
package.path = here .. "?.lua;" .. package.path
local product = require "product"
local largest = tonumber(arg[1] or 512)

local sizes = {}
for _, n in ipairs {256, 512, 1024, 2048} do if n <= largest then sizes[#sizes + 1] = n end end

print("M,N,K," .. "i16 cycles,i16 %,bf16 cycles,bf16 %,i8 cycles,i8 %")
for _, rows in ipairs(sizes) do
  for _, columns in ipairs(sizes) do
    for _, depth in ipairs(sizes) do
      local line = {rows, columns, depth}
      for _, kind in ipairs(product.kinds) do
        local z = product.with(kind, {M = rows, N = columns, K = depth, n = math.min(kind.n, columns // 4)})
        local r = product.mapped(z, "dma"):build {target = "npu", tool = false}:simulate()
        line[#line + 1] = r.cycles
        line[#line + 1] = ("%.1f"):format(100 * r.utilisation)
      end
      print(table.concat(line, ","))
    end
  end
end

--> M,N,K,i16 cycles,i16 %,bf16 cycles,bf16 %,i8 cycles,i8 %
--> 256,256,256,...
