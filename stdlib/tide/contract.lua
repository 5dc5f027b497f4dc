--- What a design does by each of the two contracts of hardware (docs/timing.md): "latch", gets and puts one by one, as
--- in RTL with handshakes, or "fire", all of a cycle of the schedule together, as in HLS pipelines that stall.
local tide = require "tide"
local fifos = require "tide.fifos"
local contract = {}

local verdict = {}
verdict.__index = verdict

function verdict:__tostring()
  if self.hangs then
    return ("%s on %s: hangs: %s waits for ever, %s is %s"):format(self.contract, self.device, self.task, self.stream,
      self.why)
  end
  return ("%s on %s: %d cycles"):format(self.contract, self.device, self.cycles)
end

--- A run of the design on options.args (or random ones) at options.device: {contract, device, hangs, cycles} or, where
--- it hangs, {.., task, stream, why = "empty" or "full"}.
function contract.check(design, options)
  local name, device = options.contract, options.device or "u280"
  local s = tide.schedule(design)
  local m, args = s:build { target = "cpu", timed = true, device = device, trace = true }, {}
  for i, v in ipairs(fifos.arguments(s, options.args)) do args[i] = type(v) == "userdata" and v:copy() or v end
  m(table.unpack(args))
  local r = { contract = name, device = device, hangs = false, cycles = m.report.cycles }
  if name == "fire" then
    local x = m.report.fire
    r.hangs, r.cycles, r.task, r.stream, r.why = x.hangs, x.cycles, x.task, x.stream, x.why
  end
  return setmetatable(r, verdict)
end

return contract
