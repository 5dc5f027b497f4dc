-- What the scripts of this folder share: a design on the CPU, beside its build for an NPU, run from the text and timed
-- on the model.
local tide = require "tide"

-- Arguments of these types, filled at random by their numbers; all else is itself.
local function fresh(types)
  local list = {}
  for i, T in ipairs(types) do list[i] = math.type(T) and T or tide.random(T, i) end
  return list
end

--- Builds d, a design or a schedule of one, and runs it and d itself on arguments of these types `calls` times: all
--- arrays must come out the same. Prints what the model tells; returns the build and its report.
return function(name, d, types, calls)
  local build = d:build {target = "npu", tool = false, math = "host"}
  local want, have = fresh(types), fresh(types)
  for _ = 1, calls or 1 do
    d(table.unpack(want))
    build(table.unpack(have))
  end
  for i, T in ipairs(types) do assert(math.type(T) or have[i]:equal(want[i]), "other bits") end
  local r = build:simulate()
  print(("%-24s %2d cores, %7d cycles, %5.1f %% of the peak"):format(name, #r.tasks, r.cycles, 100 * r.utilisation))
  return build, r
end
