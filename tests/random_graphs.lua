-- random_graphs.lua - random designs of few nodes: grids, feedback, unconnected parts, arrays of streams.
local tide = require "tide"

local M = {}

-- The text of a task of `graph` as the entry of a design table: the streams that it gets from and puts to, its loops.
local function task_text(graph, i)
  local task, lines = graph[i], {}
  local ids, at = {}, ""
  for d = 1, #task.map do
    ids[d] = "p" .. d
    at = at .. ("[p%d]"):format(d)
  end
  local function line(...) lines[#lines + 1] = (...):format(select(2, ...)) end
  line("for n in grid(%d) do", graph.N)
  line("local x = i32(A[n] + %d)", i)
  for k, z in ipairs(graph.stream) do
    if z.to == i and z.how == "each" then line("x = i32(x + z%d%s:get())", k, at) end
    if z.to == i and z.how == "spread" then line("x = i32(x + z%d%s:get())", k, at) end
    if z.to == i and z.how == "collect" then line("for q in grid(%d) do x = i32(x + z%d[q]:get()) end", z.n, k) end
    if z.to == i and z.how == "back" then line("if n > 0 then x = i32(x + z%d%s:get()) end", k, at) end
    if z.to == i and z.how == "next" then line("if p1 > 0 then x = i32(x + z%d[p1]:get()) end", k) end
  end
  line "local s = i32(x)"
  if task.work > 0 then line("for k in grid(%d) do s = i32(s + x * k) end", task.work) end
  for k, z in ipairs(graph.stream) do
    if z.from == i and (z.how == "each" or z.how == "collect") then line("z%d%s:put(i32(s + %d))", k, at, k) end
    if z.from == i and z.how == "spread" then line("for q in grid(%d) do z%d[q]:put(i32(s - q)) end", z.n, k) end
    if z.from == i and z.how == "back" then line("if n < %d then z%d%s:put(s) end", graph.N - 1, k, at) end
    if z.from == i and z.how == "next" then line("if p1 < %d then z%d[p1 + 1]:put(s) end", z.n - 1, k) end
  end
  line("B%d%s[n] = s", i, at)
  line "end"
  local extents = at:gsub("p(%d)", function(d) return task.map[tonumber(d)] end)
  return ("d.t%d = task {map = {%s}, A = i16[%d], B%d = i32%s[%d], function(%s)\n%s\nend}"):format(i,
    table.concat(task.map, ", "), graph.N, i, extents, graph.N,
    table.concat({"A", "B" .. i, table.unpack(ids)}, ", "), table.concat(lines, "\n"))
end

-- Streams between the tasks of a graph: of an element for each instance of equal maps, of all instances to one task or
-- from one, back from a later task, and from each instance to the next.
local function add_streams(graph, random)
  local function add(from, to, how, extents)
    local n = 1
    for _, e in ipairs(extents) do n = n * e end
    graph.stream[#graph.stream + 1] = {from = from, to = to, how = how, extents = extents, n = n}
  end
  for i, x in ipairs(graph) do
    if #x.map == 1 and x.map[1] > 1 and random(4) == 1 then add(i, i, "next", x.map) end
    for k = i + 1, #graph do
      local y = graph[k]
      if random(2) == 1 then
        if table.concat(x.map, " ") == table.concat(y.map, " ") then
          add(i, k, "each", x.map)
          if random(4) == 1 then add(k, i, "back", x.map) end
        elseif #x.map == 0 and #y.map == 1 then
          add(i, k, "spread", y.map)
        elseif #y.map == 0 and #x.map == 1 then
          add(i, k, "collect", x.map)
        end
      end
    end
  end
end

--- A design of at most six nodes that a seed decides, the types of its arguments, and its text.
function M.design(seed)
  local state = seed * 7919 + 17
  local function random(n)
    state = (state * 6364136223846793005 + 1442695040888963407) & -1
    return (state >> 33) % n + 1
  end
  local maps = {{}, {}, {}, {1}, {2}, {2}, {3}, {4}, {2, 2}, {1, 2}}
  local graph, nodes = {N = random(3) + 1, stream = {}}, 0
  for _ = 1, random(6) do
    local map = maps[random(#maps)]
    local n = (map[1] or 1) * (map[2] or 1)
    if nodes + n <= 6 then
      nodes = nodes + n
      graph[#graph + 1] = {map = map, work = (random(3) - 1) * random(4)}
    end
  end
  add_streams(graph, random)
  local lines, types = {}, {tide.i16[graph.N]}
  for k, z in ipairs(graph.stream) do
    local options = {table.unpack(z.extents)}
    options[#options + 1] = "depth = " .. random(3)
    lines[k] = ("local z%d = d:stream(i32, {%s})"):format(k, table.concat(options, ", "))
  end
  for i, task in ipairs(graph) do
    lines[#lines + 1] = task_text(graph, i)
    local T = tide.i32
    for _, n in ipairs(task.map) do T = T[n] end
    types[#types + 1] = T[graph.N]
  end
  local text = "local tide = require 'tide'\nlocal i16, i32, task, grid = tide.i16, tide.i32, tide.task, tide.grid\n"
    .. "return tide.design(function(d)\n" .. table.concat(lines, "\n") .. "\nend)\n"
  return assert(load(text, "=random_graph"))(), types, text, nodes
end

return M
