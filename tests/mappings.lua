-- mappings.lua - all mappings of a small design that a sequence of bundles and chains leads to, and the least cycles of
-- any: what the search is held against.
local tide = require "tide"

local M = {}

--- The cycles of a run of a schedule with the clock of a device, ideal hardware by default.
function M.cycles(s, types, device)
  local m, args = s:build {target = "cpu", timed = true, device = device}, {}
  for i, T in ipairs(types) do args[i] = tide.random(T, i) end
  m(table.unpack(args))
  return m.report.cycles
end

-- All steps that may be legal on the graph of s: bundles along an axis; of two tasks, or two instances, chains
-- and bundles both ways.
local function moves_of(s)
  local g, list = s:graph(), {}
  local tasks, extent = {}, {}
  for _, n in ipairs(g.node) do
    local ids, d = n.name:match "^[%w_]+(.*)$", 0
    if not extent[n.task] then
      tasks[#tasks + 1] = n.task
      extent[n.task] = {}
    end
    for id in ids:gmatch "%[(%d+)%]" do
      d = d + 1
      extent[n.task][d] = math.max(extent[n.task][d] or 0, id + 1)
    end
  end
  local function pair(a, b)
    for _, p in ipairs {{a, b}, {b, a}} do
      list[#list + 1] = {"chain", p[1], p[2]}
      list[#list + 1] = {"bundle", p}
    end
  end
  for i, a in ipairs(tasks) do
    for d, n in ipairs(extent[a]) do
      for f = 2, n do list[#list + 1] = {"bundle", a, {axis = d - 1, factor = f}} end
    end
    for k = i + 1, #tasks do pair(a, tasks[k]) end
  end
  for i, a in ipairs(g.node) do
    for k = i + 1, #g.node do
      if #extent[a.task] + #extent[g.node[k].task] > 0 then pair(a.name, g.node[k].name) end
    end
  end
  return list
end

local function ports(s)
  local read, written = 0, 0
  for _, p in ipairs(s:graph().port) do
    read, written = read + (p.reads and 1 or 0), written + (p.writes and 1 or 0)
  end
  return read, written
end

--- The least cycles of all mappings of s within the limits {pes =, inputs =, outputs =, device =} that any sequence of
--- steps leads to, each of which leaves fewer nodes; the steps of one, and how many programs there are. math.huge:
--- none. With more than `most` programs an error.
function M.least(s, types, limits)
  local seen, n, best, steps = {}, 0, math.huge, nil
  local function visit(x, nodes)
    local text = tostring(x)
    if seen[text] then return end
    seen[text] = true
    n = n + 1
    if n > (limits.most or math.huge) then error "too many" end
    local read, written = ports(x)
    if nodes <= limits.pes and read <= (limits.inputs or 99) and written <= (limits.outputs or 99) then
      local c = M.cycles(x, types, limits.device)
      if c < best then best, steps = c, x:log() end
    end
    for _, m in ipairs(moves_of(x)) do
      local y = x:fork()
      local left = pcall(y[m[1]], y, table.unpack(m, 2)) and y:graph().nodes or nodes
      if left < nodes then visit(y, left) end
    end
  end
  visit(s, s:graph().nodes)
  return best, steps, n
end

return M
