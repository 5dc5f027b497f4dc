-- verilog_drawn.lua - random designs as Verilog in Icarus; the check holds values and cycles against the timed [slow]
-- run, with random tables of when streams of the top are ready.
local t = require "tap"
local case = require "verilog_case"
local designs = require "stream_designs"

if not case.has "iverilog" then t.skip_all "iverilog is not here" end

local count, first = 60, 1

t.test(("%d random designs run in their cycles"):format(count), function()
  local failed, refused = designs.campaign(first, count, {target = "verilog", sim = "icarus", most = 100000})
  t.eq(failed, "")
  t.ok(refused * 10 < count, refused .. " refused")
end)

t.done()
