-- 64_step_schedule: from static tiles to dynamic ones to shared regions, and from one region of attention to four, each
-- a step that is proved, not a graph written anew (STeP, ASPLOS 2026, sections 5.2 to 5.4).
-- Run: tide examples/64_step_schedule.lua
local tide = require "tide"
local models = require "tide.step.models"

local c = { B = 32, D = 64, F = 96, E = 8, k = 1, tf = 48, N = 4, bw = 1024 }
local routing = {}
for b = 1, c.B do routing[b] = { b * b % c.E } end

local s = tide.schedule(models.moe(c, routing))
local function report(what)
  local r = s:simulate(models.settings.fig12)
  print(("%-22s %6d cycles %7d bytes moved %7d bytes on chip  %s"):format(what, r.cycles, r.traffic, r.memory,
    (s:verify())))
end
report "static tiles of 4"
s:retile("tile", "dynamic")
report "dynamic tiles"
s:multiplex("tile", "done", 2)
report "two regions"
print(s:log())

-- Attention over one region, then over four, each of which takes a request when it is free.
local lens = { 33, 500, 40, 64, 90, 31, 700, 64, 35, 80, 48, 96 }
local a = tide.schedule(models.attention({ H = 8, D = 64, R = 32, P = 1, by = "block", bw = 2048 }, lens))
local one = a:simulate(models.settings.fig14).cycles
a:parallelize({ "q", "k", "v", "index", "tiles", "rows" }, "sink", 4, { by = "free", idle = "cached#1" })
print(one, a:simulate(models.settings.fig14).cycles, (a:verify()))
