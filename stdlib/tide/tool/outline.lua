-- A design as a graph in lines of text: what each task takes, and what it gives.
local view = require "tide.view"

local outline = {}

local MOST = 200 -- tasks, and streams, that are drawn

-- "A, Z -> ", or nothing.
local function ends(names, format) return #names > 0 and format:format(table.concat(names, ", ")) or "" end

-- The arguments that a task reads, or writes, and the streams that it gets from, or puts to.
local function held(task, way, streams)
  local names = {}
  for _, b in ipairs(task.bindings) do
    if b[way] then names[#names + 1] = b.argument end
  end
  return table.move(streams, 1, #streams, #names + 1, names)
end

--- The tasks and streams of a design, or of a schedule of one, a line each; nil of a kernel.
function outline.text(x)
  local g = view.design(x, nil, MOST)
  if not g then return nil end
  local arguments, lines = {}, {}
  for i, a in ipairs(g.arguments) do arguments[i] = a.name .. ": " .. a.type end
  lines[1] = ("%s(%s): %d task%s, %d stream%s"):format(g.name, table.concat(arguments, ", "), g.ntask,
    g.ntask == 1 and "" or "s", g.nstream, g.nstream == 1 and "" or "s")
  for _, task in ipairs(g.tasks) do
    lines[#lines + 1] = ("  %s%s%s%s"):format(ends(held(task, "read", task.gets), "%s -> "), task.name, task.map,
      ends(held(task, "write", task.puts), " -> %s"))
  end
  if g.ntask > MOST then lines[#lines + 1] = ("  .. %d more tasks; :ir shows all"):format(g.ntask - MOST) end
  for _, s in ipairs(g.streams) do
    lines[#lines + 1] = ("  stream %s%s: %s, depth %s"):format(s.name, s.extents, s.type, s.depth)
  end
  if g.nstream > MOST then lines[#lines + 1] = ("  .. %d more streams"):format(g.nstream - MOST) end
  return table.concat(lines, "\n") .. "\n"
end

return outline
