-- Streamers of tide.maestro in front of a design: tasks that only load from one argument and put, or get and store,
-- become streamers; what else the design has runs as it is, and memory is stepped cycle by cycle beside its clocks.
local core = require "tide.maestro.core"
local refusal = require "tide.refusal"
local bytes = require "tide.order"
local rtl = require "tide.maestro_rtl"

local front = {}
local class, built = { __name = "tide.maestro.Front" }, { __name = "tide.maestro.FrontBuild" }
local text = { __name = "tide.maestro.FrontVerilog" }
class.__index, built.__index, text.__index = class, built, text

local function fail(code, why, help) refusal.raise(code, why, help) end

local timed = { target = "cpu", timed = true, device = "ideal" }
local verilog = { target = "verilog", device = "rtl", sim = "icarus", bus = "ready_valid", check = true, seconds = 600 }

--- front:build { target = "cpu", timed = true, device = "ideal" } -> m: m(A, B, C) runs the design behind its
--- streamers; m.report is the run with its clock, m.memory what memory did: cycles, accesses, conflicts, banks.
--- front:build { target = "verilog", device = "rtl", sim = "icarus" | "verilator", bus =, check = true, seconds = 600 }
--- -> m: one text of both; m(A, B, C) runs it in a simulator and holds every cycle and value against the run with a
--- clock; m.report.cycles, m.files, m:write(folder).
function class:build(o)
  local name = o and o.target or "cpu"
  local r = rtl.options(name == "verilog" and verilog or timed, o, "build")
  if name == "verilog" then
    local files, bench = core.front_files(self.core, r)
    return setmetatable({ front = self, options = r, files = files, bench = bench }, text)
  end
  if name ~= "cpu" or r.timed ~= true then
    fail("maestro-build", 'streamers in front of a design run as {target = "cpu", timed = true} or "verilog"')
  end
  return setmetatable({ front = self, device = r.device }, built)
end

function built:__call(...)
  local memory
  self.report, memory = core.front_run(self.front.core, self.device, ...)
  self.memory = self.front.complete(memory)
  return self.report
end

function text:__call(...)
  self.report = { cycles = core.front_sim(self.front.core, self.options, ...), sim = self.options.sim }
  return self.report
end

--- Writes the files and a bench to a folder that is there.
function text:write(folder)
  rtl.write(folder, self.files, self.bench)
  return self
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
