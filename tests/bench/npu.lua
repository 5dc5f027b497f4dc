-- npu.lua - NPU builds: from a product of 2048^3 to its files, its sequence, its simulation, the search; what the model
-- says of it; lines of programs; a run of 512^3 from its text.
package.path = "examples/npu/?.lua;" .. package.path
local b = require "bench"
local product = require "product"
local shell = require "shell"
local tide = require "tide"

local i16 = product.kinds[1]
local z = product.with(i16, {M = 2048, N = 2048, K = 2048})
local s = product.mapped(z, "dma")
local options = {target = "npu", tool = false, data = false}

local m
b.row("a product of 2048^3, schedule given, as text", b.median(3, function() m = s:build(options) end), "ms", 100)
local folder = shell.output "mktemp -d":gsub("%s+$", "")
b.row("the same, written to files", b.once(function() m:write(folder) end), "ms", 100)
shell.output(("rm -r '%s'"):format(folder))
local _, operations = m.source:gsub("aiex%.npu", "")
b.row("operations in its sequence", operations, "", 800)
b.row("its simulation", b.once(function() m:simulate() end), "ms", 1000)
b.row("the search for its schedule", b.once(function()
  tide.schedule(product.design(z)):search {device = "npu1", reassociate = true}
end), "ms", 10000)

-- What is published of Dato's mapping is that of the first row of each; more depth is not counted.
local least = {i16 = 80, bf16 = 65, i8 = 77}
for _, kind in ipairs(product.kinds) do
  local best = 0
  for _, tile in ipairs {{64, 64, 64}, {64, 128, 64}, {128, 64, 32}, {128, 128, 32}} do
    local x = product.with(kind, {M = 2048, N = 2048, K = 2048, m = tile[1], n = tile[2], k = tile[3]})
    local ok, r = pcall(function() return product.mapped(x, "dma"):build(options):simulate() end)
    if ok then best = math.max(best, 100 * r.utilisation) end
  end
  b.row("the best of four tiles, depth 2, " .. kind.name, best, "%", least[kind.name], nil, true)
  b.why "panels of an operand are not kept in memory tiles"
end
local lines = require "code_lines"
b.row("lines of a product, design and search", #lines.gemm, "", 8, "IRON 101")
b.row("lines of attention, design and schedule", #lines.attention, "", 44, "IRON 239")
b.row("lines of a feed-forward layer", #lines.ffn, "", 14, "IRON 101")

local small = product.with(i16, {M = 512, N = 512, K = 512})
local run = product.mapped(small, "dma"):build(options)
local A, B, C = tide.random(tide.i16[512][512], 1), tide.random(tide.i16[512][512], 2), tide.i16[512][512](0)
b.row("512^3 from its text, kernels compiled", b.once(function() run(A, B, C) end), "ms")
b.row("512^3 from its text", b.once(function() run(A, B, C) end), "ms", 2000)

-- A megabyte to a core and back.
local copy = tide.design(function(d)
  d.copy = tide.task {x = tide.i32[128][1024], y = tide.i32[128][1024], function(x, y)
    for i in tide.grid(128) do
      local u, v = tide.i32[1024](), tide.i32[1024]()
      for j in tide.grid(1024) do u[j] = x[i][j] end
      for j in tide.grid(1024) do v[j] = u[j] end
      for j in tide.grid(1024) do y[i][j] = v[j] end
    end
  end}
end):build(options)
local X, Y = tide.random(tide.i32[128][1024], 1), tide.i32[128][1024](0)
copy(X, Y)
b.row("a MiB of transfers, half in, half out", b.median(3, function() copy(X, Y) end), "ms", 10)
b.done "NPU"
