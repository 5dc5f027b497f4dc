-- What a T2S design is made of, counted from its graph: PEs, register and memory channels, buffers.
local report = {}

local kept = setmetatable({}, { __mode = "k" }) -- design -> its schedule

--- Remembers the schedule of a design; returns the design.
function report.keep(net, s)
  kept[net] = s
  return net
end

--- The report of a design.
function report.of(net)
  return { schedule = kept[net] }
end

return report
