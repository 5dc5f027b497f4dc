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

-- What a schedule of a design does.
local function verdict_of(s, options, name)
  local device = options.device or "u280"
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

--- A run of the design on options.args (or random ones) at options.device: {contract, device, hangs, cycles} or, where
--- it hangs, {.., task, stream, why = "empty" or "full"}, by contract `name`.
function contract.check(design, options, name) return verdict_of(tide.schedule(design), options, name) end

-- What the design does by the second contract at these depths.
local function run(design, depths, options)
  local s = tide.schedule(design)
  for name, n in pairs(depths) do s:depth(name, n) end
  return verdict_of(s, { device = options.device, args = options.args }, "fire")
end

--- Depths at which the design does not hang where pipelines stall as a whole, for one input: from least ones on, those
--- of the streams that are full where it hangs grow; then each is as small as it can be with the others as they are.
function contract.depths(design, least, options)
  local depths = {}
  for name, n in pairs(least) do depths[name] = n end
  local r = run(design, depths, options)
  while r.hangs do
    local name = r.why == "full" and r.stream:match "^[^%[]+"
    if not name or not depths[name] then
      error(("%s waits for ever: %s is empty, at any depths"):format(r.task, r.stream), 0)
    end
    depths[name] = depths[name] + 1
    r = run(design, depths, options)
  end
  local names = {}
  for name in pairs(depths) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    while depths[name] > least[name] do
      depths[name] = depths[name] - 1
      if run(design, depths, options).hangs then
        depths[name] = depths[name] + 1
        break
      end
    end
  end
  return depths
end

return contract
