-- hls_random.lua - the random kernels of tests/slow/random.lua as HLS C++: what is written compiles
-- without a warning and leaves, on the test bench's data, the same bits.
local t = require "tap"
local batch = require "hls_batch"
local campaign = require "campaign"
local generator = require "generator"

local count, first = campaign.range(125)
local refused = {}

for seed = first, first + count - 1 do
  local program = generator.program(seed)
  local k = assert(load(program.text(), "=random"))()
  local passed, e = pcall(batch.add, "seed " .. seed, k, program.arguments())
  if not passed then refused[#refused + 1] = ("seed %d: %s"):format(seed, tostring(e)) end
end

t.test(("HLS takes %d random kernels from seed %d"):format(count, first), function()
  t.eq(table.concat(refused, "\n"), "")
end)
-- Folding may leave a variable that nothing reads.
batch.test(125, {quick = true, flags = "-Wno-unused-but-set-variable -Wno-unused-variable"})
t.done()
