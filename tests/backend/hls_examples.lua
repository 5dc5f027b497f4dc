-- hls_examples.lua - the systolic arrays and the multi-kernel designs of the examples as HLS C++: every compiler that
-- there is takes them, and they compute what the CPU does, bit by bit.
-- [slow]
local t = require "tap"
local batch = require "hls_batch"
local tide = require "tide"

-- The designs that an example makes at these sizes.
local function designs(name, sizes)
  local file = assert(io.open(("examples/%s.lua"):format(name)))
  local text, list, make = file:read "a", {}, tide.design
  file:close()
  function tide.design(build, options)
    local d = make(build, options)
    list[#list + 1] = d
    return d
  end
  local ok, why = pcall(assert(load(text, "=" .. name, "t",
    setmetatable({arg = sizes, print = function() end}, {__index = _G}))))
  tide.design = make
  t.ok(ok, why)
  return list
end

for _, example in ipairs {{"25_daisy_chain", 9, 7, 5, 3, 4}, {"32_weight_stationary", 9, 7, 5, 3, 4},
  {"33_packed_array", 9, 7, 5, 3, 4}, {"34_two_level_cache", 9, 7, 5, 3, 4}, {"20_flash_attention"}, {"21_swiglu"}} do
  t.test(example[1] .. " is written as HLS C++", function()
    local list = designs(example[1], {table.unpack(example, 2)})
    t.ok(#list > 0)
    for i, d in ipairs(list) do
      if #list < 4 or i % 2 == 1 then t.ok(batch.add(("%s, design %d"):format(example[1], i), d)) end
    end
  end)
end

batch.test()
t.done()
