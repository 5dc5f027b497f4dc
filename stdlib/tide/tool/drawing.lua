-- A design as a drawing: tasks in layers from left to right (Sugiyama's method: cycles opened, longest paths, long
-- edges through points of their own, barycentres), streams that lead back below, streams of a task to itself above it.
local html = require "tide.tool.html"
local view = require "tide.view"

local drawing = {}

-- The colours are those of the page, if it has them.
local style = [[<style>
svg.graph { max-width: 100%; height: auto; font: 13px ui-monospace, "DejaVu Sans Mono", monospace }
.graph .node { fill: var(--box, #f3f6fb); stroke: var(--accent, #0b6e99); stroke-width: 1.5 }
.graph .arg { fill: none; stroke: var(--soft, #5f6772); stroke-dasharray: 3 3 }
.graph .edge { fill: none; stroke: var(--soft, #5f6772); stroke-width: 1.5 } .graph .head { fill: var(--soft, #5f6772) }
.graph text { fill: var(--fg, #23272e) } .graph .small { fill: var(--soft, #5f6772); font-size: 11.5px }</style>]]

local arrow_head = [[<defs><marker id="head" viewBox="0 0 8 8" refX="1" refY="4" markerWidth="7" markerHeight="7"
orient="auto"><path class="head" d="M0 0L8 4L0 8z"/></marker></defs>
]]

local LETTER, LINE, GAP, PAD = 7.9, 17, 26, 24 -- pixels: of a letter, a line of text, between nodes, around all

-- A node for each task, and one for each argument that is read or written.
local function collect_nodes(g)
  local nodes, by_name = {}, {}
  local function add(key, node)
    if by_name[key] then return end
    by_name[key], nodes[#nodes + 1] = node, node
    node.out, node.into, node.loops = {}, {}, 0
  end
  local types = {}
  for _, a in ipairs(g.arguments) do types[a.name] = a.type end
  for _, way in ipairs { "read", "task", "write" } do
    for _, task in ipairs(g.tasks) do
      if way == "task" then
        add("task " .. task.name, { lines = { task.name .. task.map }, class = "node", many = task.map ~= "" })
      end
      for _, b in ipairs(task.bindings) do
        if b[way] then
          add(way .. " " .. b.argument, { lines = { b.argument, types[b.argument] }, class = "arg" })
        end
      end
    end
  end
  return nodes, by_name
end

-- The nodes of the tasks among whose puts, or gets, a stream is.
local function holders(g, by_name, ends, stream)
  local found = {}
  for _, task in ipairs(g.tasks) do
    for _, name in ipairs(task[ends]) do
      if name == stream.name then found[#found + 1] = by_name["task " .. task.name] end
    end
  end
  return found
end

local function detail_of(stream) return ("%s, depth %s"):format(stream.type, stream.depth) end

-- The edges between nodes: of a stream between the tasks of which it joins instances or, in a design where that cannot
-- be told, between all that name it; without an end, it gets a node that says so.
local function collect_edges(g, nodes, by_name)
  local edges = {}
  local function add(from, to, label, detail)
    edges[#edges + 1] = { from = from, to = to, label = label, detail = detail }
  end
  local function nobody()
    local node = { lines = { "nobody" }, class = "arg", out = {}, into = {}, loops = 0 }
    nodes[#nodes + 1] = node
    return node
  end
  for _, task in ipairs(g.tasks) do
    local node = by_name["task " .. task.name]
    for _, b in ipairs(task.bindings) do
      if b.read then add(by_name["read " .. b.argument], node, b.layout or "") end
      if b.write then add(node, by_name["write " .. b.argument], b.layout or "") end
    end
  end
  local function join(stream, a, b) add(a, b, stream.name .. stream.extents, detail_of(stream)) end
  for _, stream in ipairs(g.streams) do
    for _, way in ipairs(stream.ways or {}) do
      join(stream, by_name["task " .. (way.from or "")] or nobody(), by_name["task " .. (way.to or "")] or nobody())
    end
    local from, to = holders(g, by_name, "puts", stream), holders(g, by_name, "gets", stream)
    for _, a in ipairs(stream.ways and {} or from[1] and from or { nobody() }) do
      for _, b in ipairs(to[1] and to or { nobody() }) do join(stream, a, b) end
    end
  end
  return edges
end

-- What stands beside an edge that runs on one line: its type, too, unless another edge of the stream has it.
local function one_line(e, edges)
  for _, other in ipairs(edges) do
    if other ~= e and other.label == e.label and other.path then return e.label end
  end
  return e.label .. "  " .. e.detail
end

-- Marks the edges that close a cycle, found depth first.
local function open_cycles(nodes, edges)
  local state = {}
  for _, e in ipairs(edges) do
    if e.from ~= e.to then table.insert(e.from.out, e) end
  end
  local function visit(node)
    state[node] = "open"
    for _, e in ipairs(node.out) do
      if state[e.to] == "open" then
        e.back = true
      elseif not state[e.to] then
        visit(e.to)
      end
    end
    state[node] = "done"
  end
  for _, node in ipairs(nodes) do
    if not state[node] then visit(node) end
  end
end

-- The layer of each node: the longest path to it; what nothing leads to stands just before what it leads to.
local function assign_layers(nodes, edges)
  for _, node in ipairs(nodes) do node.layer = 0 end
  local changed = true
  while changed do
    changed = false
    for _, e in ipairs(edges) do
      if not e.back and e.from ~= e.to and e.to.layer <= e.from.layer then
        e.to.layer, changed = e.from.layer + 1, true
      end
    end
  end
  for _, node in ipairs(nodes) do
    local least = math.huge
    for _, e in ipairs(node.out) do least = math.min(least, e.back and math.huge or e.to.layer - 1) end
    if node.class == "arg" and least < math.huge then node.layer = least end
  end
end

-- The layers as lists of nodes; an edge over several layers gets a point in each between, e.path from node to node.
local function make_layers(nodes, edges)
  local layers = {}
  local function put(node)
    layers[node.layer] = layers[node.layer] or {}
    table.insert(layers[node.layer], node)
  end
  for _, node in ipairs(nodes) do put(node) end
  for _, e in ipairs(edges) do
    if not e.back and e.from ~= e.to then
      e.path = { e.from }
      for layer = e.from.layer + 1, e.to.layer - 1 do
        local point = { layer = layer, lines = {}, into = {}, out = {}, loops = 0 }
        put(point)
        table.insert(e.path, point)
      end
      table.insert(e.path, e.to)
    end
  end
  return layers
end

-- Orders each layer by the mean place of the neighbours on one side, there and back again.
local function order(layers, edges)
  local near = {}
  for _, e in ipairs(edges) do
    for i = 2, e.path and #e.path or 0 do
      local a, b = e.path[i - 1], e.path[i]
      near[a], near[b] = near[a] or { [1] = {}, [-1] = {} }, near[b] or { [1] = {}, [-1] = {} }
      table.insert(near[a][1], b)
      table.insert(near[b][-1], a)
    end
  end
  local function number(layer)
    for i, node in ipairs(layer) do node.place = i - #layer / 2 end
  end
  for n = 0, #layers do number(layers[n]) end
  for sweep = 1, 8 do
    local side = sweep % 2 == 1 and -1 or 1
    for n = side < 0 and 0 or #layers, side < 0 and #layers or 0, -side do
      local key = {}
      for _, node in ipairs(layers[n]) do
        local list, sum = near[node] and near[node][side] or {}, 0
        for _, other in ipairs(list) do sum = sum + other.place end
        key[node] = { #list > 0 and sum / #list or node.place, node.place }
      end
      table.sort(layers[n], function(a, b)
        if key[a][1] ~= key[b][1] then return key[a][1] < key[b][1] end
        return key[a][2] < key[b][2]
      end)
      number(layers[n])
    end
  end
end

-- How wide a text is.
local function width(text) return (utf8.len(text) or #text) * LETTER end

-- The size of each node: its text, and room for the edges at its sides.
local function measure(layers, edges)
  local ports = {}
  for _, e in ipairs(edges) do
    if e.path then
      for i = 2, #e.path do
        local a, b = e.path[i - 1], e.path[i]
        ports[a], ports[b] = ports[a] or { 0, 0 }, ports[b] or { 0, 0 }
        ports[a][2], ports[b][1] = ports[a][2] + 1, ports[b][1] + 1
      end
    elseif e.from == e.to then
      e.from.loops = e.from.loops + 1
    end
  end
  for n = 0, #layers do
    for _, node in ipairs(layers[n]) do
      local most = ports[node] and math.max(ports[node][1], ports[node][2]) or 0
      node.w = 0
      for _, line in ipairs(node.lines) do node.w = math.max(node.w, width(line) + 24) end
      node.h = #node.lines == 0 and 2 * LINE or math.max(#node.lines * LINE + 14, most * 2 * LINE + 6)
    end
  end
end

-- Where each node stands; returns the width and height of all.
local function place(layers, edges)
  local x, tallest, heights = PAD, 0, {}
  for n = 0, #layers do
    local layer, h = layers[n], 0
    for _, node in ipairs(layer) do h = h + node.h + GAP + node.loops * 2 * LINE end
    heights[n], tallest = h - GAP, math.max(tallest, h - GAP)
  end
  for n = 0, #layers do
    local w, gap, y = 0, 56, PAD + (tallest - heights[n]) / 2
    for _, node in ipairs(layers[n]) do w = math.max(w, node.w) end
    for _, node in ipairs(layers[n]) do
      y = y + node.loops * 2 * LINE
      node.x, node.y = x + (w - node.w) / 2, y
      y = y + node.h + GAP
    end
    for _, e in ipairs(edges) do
      if e.path and e.from.layer == n then
        gap = math.max(gap, width(e.label) + 36, e.detail and width(e.detail) * .88 + 36 or 0)
      elseif e.from == e.to and e.from.layer == n then
        gap = math.max(gap, width(one_line(e, edges)) + 20)
      end
    end
    x = x + w + (n < #layers and gap or 0)
  end
  return x + PAD, tallest + 2 * PAD
end

-- Spreads the segments over the sides of their nodes in the order of their other ends: seg.y1, seg.y2.
local function attach(segments)
  for _, side in ipairs { { "a", "b", "y1" }, { "b", "a", "y2" } } do
    local groups = {}
    for _, s in ipairs(segments) do
      groups[s[side[1]]] = groups[s[side[1]]] or {}
      table.insert(groups[s[side[1]]], s)
    end
    for node, list in pairs(groups) do
      for i, s in ipairs(list) do s.nth = i end
      table.sort(list, function(s, r)
        local u, v = s[side[2]].y + s[side[2]].h / 2, r[side[2]].y + r[side[2]].h / 2
        if u ~= v then return u < v end
        return s.nth < r.nth
      end)
      for i, s in ipairs(list) do s[side[3]] = node.y + node.h * (i - .5) / #list end
    end
  end
end

-- Adds an element: `$1`, `$2`, .. of the format are what follows, numbers with one decimal and text escaped.
local function put(out, format, ...)
  local words = { ... }
  out[#out + 1] = format:gsub("%$(%d)", function(i)
    local word = words[tonumber(i)]
    return type(word) == "number" and (("%.1f"):format(word):gsub("%.0$", "")) or html.escape(word)
  end)
end

-- The name of a stream with its type below, left-aligned from (x, y) where the line runs.
local function put_label(out, e, x, y)
  put(out, '<text x="$1" y="$2">$3</text>', x, y - 5, e.label)
  if e.detail then put(out, '<text class="small" x="$1" y="$2">$3</text>', x, y + 13, e.detail) end
end

-- The edges that go forward.
local function put_forward(out, edges)
  local segments = {}
  for _, e in ipairs(edges) do
    for i = 2, e.path and #e.path or 0 do
      segments[#segments + 1] = { a = e.path[i - 1], b = e.path[i], e = e, first = i == 2, last = i == #e.path }
    end
  end
  attach(segments)
  for _, s in ipairs(segments) do
    local x1, x2 = s.a.x + s.a.w, s.b.x - (s.last and 7 or 0)
    local text = s.first and math.max(width(s.e.label), width(s.e.detail or "") * .88) or 0
    local bend = math.min(x2 - 24, x1 + 12 + text)
    local path = s.last and '<path class="edge" marker-end="url(#head)" ' or '<path class="edge" '
    put(out, path .. 'd="M$1 $2H$3C$4 $2 $4 $5 $6 $5"/>', x1, s.y1, bend, (bend + x2) / 2, s.y2, x2)
    if s.first then put_label(out, s.e, x1 + 8, s.y1) end
  end
end

-- The edges that lead back, below all nodes, and those of a node to itself, above it. Returns the height of all.
local function put_back(out, edges, height)
  local loops = {}
  for _, e in ipairs(edges) do
    if e.from == e.to then
      local n = loops[e.from] or 0
      loops[e.from] = n + 1
      local y, up, in_ = e.from.y, (n + 1) * 1.3 * LINE - 4, 8 * (e.from.loops - n)
      local left, right = e.from.x + in_ + 2, e.from.x + e.from.w - in_
      put(out, '<path class="edge" marker-end="url(#head)" d="M$1 $2V$3H$4V$5"/>', right, y, y - up, left, y - 7)
      put_label(out, { label = one_line(e, edges) }, e.from.x + e.from.w + 2, y - up + 10)
    elseif e.back then
      local x1, x2 = e.from.x + e.from.w, e.to.x
      local y1, y2 = e.from.y + e.from.h - 8, e.to.y + e.to.h - 8
      put(out, '<path class="edge" marker-end="url(#head)" d="M$1 $2h14V$3H$4V$5h9"/>', x1, y1, height, x2 - 16, y2)
      put_label(out, { label = one_line(e, edges) }, math.min(x1, x2) + 20, height)
      height = height + 2 * LINE
    end
  end
  return height
end

-- The boxes with their lines of text; a second box behind those that stand for many.
local function put_nodes(out, nodes)
  for _, node in ipairs(nodes) do
    local x, y, w, h = node.x, node.y, node.w, node.h
    local box = '<rect class="$5" x="$1" y="$2" width="$3" height="$4" rx="6"/>'
    if node.many then put(out, box, x + 4, y + 4, w, h, node.class) end
    put(out, box, x, y, w, h, node.class)
    for i, line in ipairs(node.lines) do
      put(out, '<text class="$4" text-anchor="middle" x="$1" y="$2">$3</text>', x + w / 2,
        y + h / 2 + 5 + (i - (#node.lines + 1) / 2) * LINE, line, i > 1 and "small" or "name")
    end
  end
end

-- How wide all is with the labels of edges that no column has room for.
local function widest(edges, w)
  for _, e in ipairs(edges) do
    if not e.path then w = math.max(w, math.min(e.from.x, e.to.x) + e.from.w + width(e.label .. e.detail) + 30) end
  end
  return w
end

--- The tasks of a design (or of a schedule or graph of one) as an SVG drawing: the text of one `svg` element, which a
--- page colours by its classes. Nil for a kernel. `step`: as it was after that step of a schedule.
function drawing.tasks(x, step)
  local g = view.design(x, step)
  if not g then return nil end
  local nodes, by_name = collect_nodes(g)
  local edges = collect_edges(g, nodes, by_name)
  open_cycles(nodes, edges)
  assign_layers(nodes, edges)
  local layers = make_layers(nodes, edges)
  if not layers[0] then layers[0] = {} end
  order(layers, edges)
  measure(layers, edges)
  local w, h = place(layers, edges)
  local out = {}
  put_forward(out, edges)
  h = put_back(out, edges, h)
  put_nodes(out, nodes)
  w, h = math.ceil(widest(edges, w)), math.ceil(h)
  local head = ('<svg class="graph" xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" ' ..
    'role="img" aria-label="%s">'):format(w, h, w, h, html.escape("the graph of " .. g.name))
  return head .. style .. arrow_head .. table.concat(out, "\n") .. "\n</svg>"
end

return drawing
