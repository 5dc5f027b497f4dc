-- Dato, 7.4: one product built four ways: a launch for each 4 x 4 tiles; one launch, cores taking tiles in turn; with
-- kernels in blocks, which cores arrange; with blocks arranged on their way. Milliseconds of the model: what kernels
-- take, what cores wait for, launches. What was published has neither shape nor type, so the columns are not to be
-- compared figure by figure.
-- Run: tide examples/npu/ablation.lua [M N K]     (default 1024 1024 1024, i16)
-- [slow]
local here = (arg[0] or ""):match "^(.*/)" or "./"
package.path = here .. "?.lua;" .. package.path
local product = require "product"
local model = require "tide.npu.core".model()
local M, N, K = tonumber(arg[1] or 1024), tonumber(arg[2] or 1024), tonumber(arg[3] or 1024)
local kind = product.kinds[1]

-- Milliseconds of a product that is run `launches` times: of kernels on the busiest core, of waiting, of launches.
local function times(z, how, launches)
  local build = product.mapped(z, how):build {target = "npu", tool = false}
  local r, clock = build:simulate(), 1e6 * model.CLOCK.value
  local busy = 0
  for _, core in ipairs(r.tasks) do busy = math.max(busy, core.busy) end
  return launches * busy / clock, launches * (r.cycles - busy) / clock, launches * model.LAUNCH.value / 1000
end

local z = product.with(kind, {M = M, N = N, K = K})
local block = product.with(kind, {M = math.min(M, 4 * kind.m), N = math.min(N, 4 * kind.n), K = K})
local ways = {
  {"a launch for each tile", block, "plain", (M // block.M) * (N // block.N), 13.65},
  {"one launch", z, "plain", 1, 6.42},
  {"kernels in blocks", z, "blocks", 1, 3.13},
  {"arranged on their way", z, "dma", 1, 2.83},
}
print(("%-24s %9s %9s %9s %9s   published"):format("ms", "compute", "copies", "set-up", "all"))
local before
for _, way in ipairs(ways) do
  local compute, copies, setup = times(way[2], way[3], way[4])
  local all = compute + copies + setup
  print(("%-24s %9.2f %9.2f %9.2f %9.2f   %.2f"):format(way[1], compute, copies, setup, all, way[5]))
  assert(not before or all < before, "each way is faster than the one before")
  before = all
end

--> ...compute...copies...set-up...
--> a launch for each tile ...
--> one launch ...
--> kernels in blocks ...
--> arranged on their way ...
