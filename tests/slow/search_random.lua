-- search_random.lua - random designs of at most six nodes, grids, feedback, unconnected parts and several stream arrays
-- among them: no sequence of bundles and chains does better than the search, which takes the same steps each time.
local t = require "tap"
local prim = require "prim"
local graphs = require "random_graphs"
local mappings = require "mappings"
local tide = require "tide"

-- Searches design `seed` within its own limits, by the clock of a device if one is named; whether brute force, of at
-- most `most` programs, could tell the least.
local function compare(seed, most, device)
  local design, types, text = graphs.design(seed)
  local limits, ports = {pes = seed % 3 + 1, most = most, device = device}, nil
  if seed % 4 == 1 then
    limits.inputs = seed // 4 % 4 + 1
    ports = {inputs = limits.inputs}
  elseif seed % 4 == 3 then
    limits.outputs = seed // 4 % 4 + 1
    ports = {outputs = limits.outputs}
  end
  local told, best, steps = pcall(mappings.least, tide.schedule(design), types, limits)
  if not told then
    t.has(tostring(best), "too many")
    return false
  end
  local s = tide.schedule(design)
  local function search() return s:search {pes = limits.pes, ports = ports, device = device} end
  if best == math.huge then
    t.fails(search, {code = "infeasible"})
    return true
  end
  search()
  t.eq(mappings.cycles(s, types, device), best, ("seed %d:\n%s%s"):format(seed, text, steps))
  t.ok(s:graph().nodes <= limits.pes, "nodes")
  prim.runs_alike(design, s, types)
  t.eq(tostring(load(s:log())(design)), tostring(s), "the log rebuilds it")
  local again = tide.schedule(design):search {pes = limits.pes, ports = ports, device = device}
  t.eq(again:log(), s:log(), "the same each time")
  return true
end

local count, start = require "campaign".range(40)

for first = start, start + count - 1, 20 do
  t.test(("nothing is better than what is found: designs %d to %d"):format(first, first + 19), function()
    local compared = 0
    for seed = first, first + 19 do compared = compared + (compare(seed, 60) and 1 or 0) end
    t.ok(compared >= 5, "brute force can tell enough")
  end)
end

for first = start + 100, start + 99 + count // 2, 20 do
  t.test(("nor by the clock of the u280: designs %d to %d"):format(first, first + 19), function()
    local compared = 0
    for seed = first, first + 19 do compared = compared + (compare(seed, 60, "u280") and 1 or 0) end
    t.ok(compared >= 3, "brute force can tell enough")
  end)
end

t.test("two instances joined crosswise; a chain that only one order of steps allows", function()
  t.ok(compare(190, 200))
  t.ok(compare(198, 1600))
end)

-- The design of which a search that left out ways to the same turns took 12 cycles for 10.
t.test("two tasks that nothing connects, one on a grid of one", function()
  local i32, task, grid = tide.i32, tide.task, tide.grid
  for work = 1, 6 do
    local design = tide.design(function(d)
      d.t1 = task {map = {3}, A = i32[3]:layout "S0", function(A) for k in grid(2) do A[0] = A[0] + k end end}
      d.t2 = task {map = {1}, B = i32[1], function(B) for k in grid(work) do B[0] = B[0] * 3 + k end end}
    end)
    local types = {i32[3], i32[1]}
    for pes = 1, 3 do
      local best = mappings.least(tide.schedule(design), types, {pes = pes})
      local s = tide.schedule(design):search {pes = pes}
      t.eq(mappings.cycles(s, types), best, ("%d steps of work on %d"):format(work, pes))
    end
  end
end)

t.done()
