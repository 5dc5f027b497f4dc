-- cases_test.lua - cases in which the fuzzer found a fault of its own, or one of Tide, run again.
local t = require "tap"

local cases = {
  {1001, 91854, "values after fma in a chain that regrouped sums before"},
  {5001, 12507, "the same after reorder"},
  {1002, 40549, "a literal beside one that says its type"},
  {8001, 50536, "an index that got another type, beside indices"},
}

local program = (arg[-1]:match "^(.*build/%w+)/tide$" or "build/release") .. "/tests/fuzz/fuzz"
local folder = t.tmp "found"
for _, case in ipairs(cases) do
  local seed, number, what = table.unpack(case)
  t.test(what, function()
    local run = ("'%s' --first --cc 1 --out '%s' 1 %d %d 2>&1"):format(program, folder, seed, number)
    local pipe = assert(io.popen(run))
    local said = pipe:read "a"
    t.ok(pipe:close(), said)
  end)
end

t.done()
