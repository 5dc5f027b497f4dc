-- [slow] hls_layers.lua - each template of stdlib, with its schedule, as HLS C++ that computes the same.
local batch = require "hls_batch"
local cases = require "layer_cases"
local template = require "tide.template"

for _, c in ipairs(cases) do
  for n, shape in ipairs(c.shapes) do
    local types = c.types[n % #c.types + 1]
    local k = c.template(cases.join(shape, types))
    batch.add(("%s %d"):format(c.name, n), template.schedule(k), cases.arguments(k, n))
  end
end
batch.test(30)

require "tap".done()
