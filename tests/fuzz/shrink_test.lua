-- shrink_test.lua - a failure ends as a smallest script: under a planted fault (no order of accesses counts as broken),
-- each failure is made small, and then goes wrong no more without any one of its steps, options and lines.
-- [slow]
local t = require "tap"

local FAILURES, SEED = 8, 11
local MOST_STEPS, MOST_LINES = 5, 50

local program = (arg[-1]:match "^(.*build/%w+)/tide$" or "build/release") .. "/tests/fuzz/fuzz"
local folder = t.tmp "found"
local run = ("'%s' --blind --smallest --most %d --cc 0 --out '%s' 100000 %d 2>&1"):format(program, FAILURES, folder,
  SEED)
local pipe = assert(io.popen(run))
local said = pipe:read "a"
pipe:close()

t.test("the fault is found, and each failure happens again", function()
  t.eq(select(2, said:gsub("written: ", "")), FAILURES, said)
  t.eq(said:find("does not happen again", 1, true), nil)
end)

for path, steps, verdict in said:gmatch "written: (%S+) %((%d+) steps%)\n([^\n]*)" do
  t.test(path:match "[^/]*$" .. " is smallest", function()
    t.has(verdict, "smallest: fine without any one step, option or line")
    t.ok(tonumber(steps) <= MOST_STEPS, steps .. " steps")
    local file = assert(io.open(path))
    local text = file:read "a"
    file:close()
    local lines = select(2, text:match "%[==%[(.-)%]==%]":gsub("\n", ""))
    t.ok(lines <= MOST_LINES, lines .. " lines")
  end)
end
t.done()
