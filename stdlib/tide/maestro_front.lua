-- Streamers of tide.maestro in front of a design: tasks that only load from one argument and put, or get and store,
-- become streamers; what else the design has runs as it is, and memory is stepped cycle by cycle beside its clocks.
local core = require "tide.maestro.core"
local refusal = require "tide.refusal"
local bytes = require "tide.order"

local front = {}
local class, built = { __name = "tide.maestro.Front" }, { __name = "tide.maestro.FrontBuild" }
class.__index, built.__index = class, built

local function fail(code, text, help) refusal.raise(code, text, help) end

local build = { target = "cpu", timed = true, device = "ideal" }

--- front:build { target = "cpu", timed = true, device = "ideal" } -> m: m(A, B, C) runs the design behind its
--- streamers; m.report is the run with its clock, m.memory what memory did: cycles, accesses, conflicts, banks.
function class:build(o)
  local r = {}
  for k, v in pairs(build) do r[k] = v end
  for k, v in pairs(o or {}) do
    if build[k] == nil then fail("maestro-build", ("build has no option '%s'"):format(tostring(k))) end
    r[k] = v
  end
  if r.target ~= "cpu" or r.timed ~= true then
    fail("maestro-build", 'streamers in front of a design run as {target = "cpu", timed = true}')
  end
  return setmetatable({ front = self, device = r.device }, built)
end

function built:__call(...)
  local memory
  self.report, memory = core.front_run(self.front.core, self.device, ...)
  self.memory = self.front.complete(memory)
  return self.report
end

--- The registers of a streamer, with the order of its argument, the streams that it serves, their tokens, and as group
--- how many of each stream a word has.
function class:stream(name)
  for _, s in ipairs(self.streams) do
    if s.name == name then return s end
  end
end

function class:__tostring()
  local lines = {}
  for i, s in ipairs(self.streams) do
    lines[i] = ("%s; \"%s\"; %d tokens for %d stream%s, %d of each in a word"):format(tostring(s), s.order, s.tokens,
      s.streams, s.streams == 1 and "" or "s", s.group)
  end
  return table.concat(lines, "\n")
end

--- Makes it: s is a design or its schedule; t what core.system takes, with `front`; o.order, o.mode and o.base by
--- argument; how: what registers print by, what completes a report.
function front.new(s, t, o, how)
  t.front = true
  local handle = core.front(core.system(t), s, { order = o.order, mode = o.mode, base = o.base })
  local r = setmetatable({ core = handle, streams = core.front_streams(handle), complete = how.report }, class)
  table.sort(r.streams, function(x, y) return bytes.bytes(x.name, y.name) end)
  for _, x in ipairs(r.streams) do setmetatable(x, how.stream) end
  return r
end

return front
