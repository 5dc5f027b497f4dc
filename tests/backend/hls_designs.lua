-- hls_designs.lua - designs as HLS C++: every design of the tests of the language compiles without
-- a warning and computes, task beside task on streams of the declared depth, what the program does.
local t = require "tap"
local batch = require "hls_batch"
local tide = require "tide"

-- What HLS does not take.
local refused = {}

-- Adds a design unless it is one that HLS does not take.
local function record(name, design, inputs)
  local passed, e = pcall(batch.add, name, design, inputs)
  if not passed then refused[#refused + 1] = name .. ": " .. tostring(e) end
end

-- Runs a test file that makes designs; those that are accepted are recorded.
local function visit(path)
  local real, make, test = {test = t.test, done = t.done}, tide.design, ""
  function t.test(name, fn)
    test = path .. ": " .. name
    pcall(fn)
  end
  function t.done() end
  function tide.design(build, options)
    local d = make(build, options)
    if not options then record(test, d) end
    return d
  end
  pcall(dofile, path)
  tide.design, t.test, t.done = make, real.test, real.done
end

visit "tests/lang/streams.lua"

t.test("HLS takes all that it should", function()
  t.eq(table.concat(refused, "\n"), "")
end)
batch.test()
t.done()
