-- [slow] cpu_sanitized.lua - the C that is emitted for every kernel and design of the tests of primitives
-- and of PolyBench, with ASan and UBSan: nothing is found, and it computes what the reference run
-- does.
local t = require "tap"
local batch = require "c_batch"
local collect = require "collect"
local polybench = require "polybench"

-- What the CPU does not take.
local refused = {}

-- Adds a program, if the CPU takes it.
local function record(name, program, inputs)
  local after = collect.copies(table.unpack(inputs))
  program:reference(table.unpack(after))
  local passed, e = pcall(batch.add, name, program, inputs, after)
  if not passed then refused[#refused + 1] = name .. ": " .. tostring(e) end
end

collect.prim(record)
for _, name in ipairs(polybench.names) do record("PolyBench " .. name, polybench.make(name)) end

t.test("the CPU takes all that it should", function()
  t.eq(table.concat(refused, "\n"), "")
  t.ok(batch.count() > 250, "only " .. batch.count() .. " programs")
end)
batch.test("with ASan and UBSan: nothing found, the same results",
  "-g -O0 -fsanitize=address,undefined -fno-sanitize-recover=all")
t.done()
