-- [slow]
-- printed.lua - every program that a test of a primitive makes, from its text alone: equal in structure here, and
-- printed again to the same bytes in a new process, elsewhere. Run by printed_test.c.
-- luacheck: globals alike
local t = require "tap"
local collect = require "collect"
local programs = require "programs"

local record, done, count = programs.record, programs.done, 0

t.test("what is loaded is equal in structure", function()
  collect.prim(function(name, s)
    local text = tostring(s)
    local loaded = load(text, "=printed")(s:constants())
    if not alike(s, loaded) then t.ok(false, name .. ":\n" .. text .. "\n---\n" .. tostring(loaded)) end
    record(s)
    count = count + 1
  end)
  t.ok(count > 500, count .. " programs")
end)
done()
