-- [slow] hls_programs.lua - every kernel of the tests of primitives and of the language as HLS C++: it
-- compiles without a warning and computes what the program does.
local t = require "tap"
local batch = require "hls_batch"
local collect = require "collect"

-- What HLS does not take, by code: docs/hls-dataflow.md.
local refused, excused = {}, {["no-streams"] = true, ["no-model"] = true, ["unbound-size"] = true,
  ["shared-write"] = true, ["block-feedback"] = true}

-- Adds a program unless it is one that HLS does not take.
local function record(name, program, inputs)
  local passed, e = pcall(batch.add, name, program, inputs)
  if passed then return end
  local code = type(e) == "table" and e.code or tostring(e)
  if not excused[code] then refused[#refused + 1] = name .. ": " .. tostring(e) end
end

collect.each(record)

t.test("HLS takes all that it should", function()
  t.eq(table.concat(refused, "\n"), "")
end)
batch.test()
t.done()
