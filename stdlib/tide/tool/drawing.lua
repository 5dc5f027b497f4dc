-- Graphs as drawings: boxes and arrows in layers from left to right, laid out by Graphviz and drawn here.
local html = require "tide.tool.html"
local view = require "tide.view"

local drawing = {}

-- The colours are those of the page, if it has them.
local style = [[<style>
svg.graph { font: 13px ui-monospace, "DejaVu Sans Mono", monospace }
.graph .node { fill: var(--box, #f3f6fb); stroke: var(--accent, #0b6e99); stroke-width: 1.5 }
.graph .arg { fill: none; stroke: var(--soft, #5f6772); stroke-dasharray: 3 3 }
.graph .edge { fill: none; stroke: var(--soft, #5f6772); stroke-width: 1.5 } .graph .head { fill: var(--soft, #5f6772) }
.graph text { fill: var(--fg, #23272e); paint-order: stroke; stroke: var(--bg, #fff); stroke-width: 3px }
.graph .small { fill: var(--soft, #5f6772); font-size: 11.5px }</style>]]

local arrow_head = [[<defs><marker id="head" viewBox="0 0 8 8" refX="1" refY="4" markerWidth="7" markerHeight="7"
orient="auto"><path class="head" d="M0 0L8 4L0 8z"/></marker></defs>
]]

local LETTER, LINE, PAD, INCH = 7.9, 17, 12, 72 -- pixels: of a letter, a line of text, around all, an inch

-- A node for each task, and one for each argument that is read or written.
local function collect_nodes(g)
  local nodes, by_name = {}, {}
  local function add(key, node)
    if by_name[key] then return end
    by_name[key], nodes[#nodes + 1] = node, node
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

-- The most tokens that a stream held in a run: of that name, or the most of an array's; nil without a run.
local function fill_of(report, name)
  local most
  for _, s in ipairs(report and report.streams or {}) do
    if s.name == name or s.name:match "^[^%[]*" == name then most = math.max(most or 0, s.most) end
  end
  return most
end

-- Type, depth and fill of a stream, or of one of an array.
local function detail_of(stream, report, name)
  local fill = fill_of(report, name or stream.name)
  return ("%s, depth %s%s"):format(stream.type, stream.depth, fill and ", held " .. fill or "")
end

-- The edges between nodes: of a stream between the tasks of which it joins instances or, in a design where that cannot
-- be told, between all that name it; without an end, it gets a node that says so.
local function collect_edges(g, nodes, by_name, report)
  local edges = {}
  local function add(from, to, label, detail)
    edges[#edges + 1] = { from = from, to = to, label = label, detail = detail }
  end
  local function nobody()
    local node = { lines = { "nobody" }, class = "arg" }
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
  local function join(stream, a, b) add(a, b, stream.name .. stream.extents, detail_of(stream, report)) end
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

-- How wide a text is.
local function width(text) return (utf8.len(text) or #text) * LETTER end

-- The size of each node and each label, by their texts.
local function measure(nodes, edges)
  for _, node in ipairs(nodes) do
    node.w, node.h = 0, #node.lines * LINE + 14
    for _, line in ipairs(node.lines) do node.w = math.max(node.w, width(line) + 24) end
  end
  for _, e in ipairs(edges) do
    e.w, e.h = math.max(width(e.label), e.detail and width(e.detail) * .88 or 0) + 8, (e.detail and 2 or 1) * LINE
  end
end

-- The graph for Graphviz: boxes and labels of our sizes, which no font changes; edges known by their colours.
local function to_dot(nodes, edges)
  local out = { "digraph { rankdir=LR; ranksep=0.4; nodesep=0.35; node [shape=box, fixedsize=true, label=\"\"];" }
  for i, node in ipairs(nodes) do
    node.id = "n" .. i
    out[#out + 1] = ("%s [width=%.3f, height=%.3f];"):format(node.id, node.w / INCH, node.h / INCH)
  end
  local label = 'label=<<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0" FIXEDSIZE="TRUE" ' ..
    'WIDTH="%d" HEIGHT="%d"><TR><TD></TD></TR></TABLE>>, '
  for i, e in ipairs(edges) do
    local text = e.label ~= "" and label:format(math.ceil(e.w), e.h) or ""
    out[#out + 1] = ('%s -> %s [%scolor="#%06x"];'):format(e.from.id, e.to.id, text, i)
  end
  out[#out + 1] = "}"
  return table.concat(out, "\n")
end

-- Lays nodes and edges out: node.x, node.y, e.points, e.x, e.y in pixels from the top left; returns the width and
-- height of all.
local function lay_out(nodes, edges)
  measure(nodes, edges)
  local by_id, high, wide = {}, 0, 0
  local plain = view.lay_out(to_dot(nodes, edges))
  for _, node in ipairs(nodes) do by_id[node.id] = node end
  local function point(x, y) return PAD + x * INCH, PAD + high - y * INCH end
  for line in plain:gmatch "[^\n]+" do
    local kind, rest = line:match "^(%S+) (.*)"
    local words = {}
    for word in (rest or ""):gmatch "%S+" do words[#words + 1] = word end
    if kind == "graph" then
      wide, high = words[2] * INCH, words[3] * INCH
    elseif kind == "node" then
      local node = by_id[words[1]]
      local x, y = point(tonumber(words[2]), tonumber(words[3]))
      node.x, node.y = x - node.w / 2, y - node.h / 2
    elseif kind == "edge" then
      local e = edges[tonumber(line:match "#(%x+)$", 16)]
      e.points = {}
      for i = 4, 2 * words[3] + 2, 2 do
        e.points[#e.points + 1] = { point(tonumber(words[i]), tonumber(words[i + 1])) }
      end
      local x, y = line:match "([%d.e+-]+) ([%d.e+-]+) %S+ #%x+$"
      if e.label ~= "" then e.x, e.y = point(tonumber(x), tonumber(y)) end
    end
  end
  return math.ceil(wide + 2 * PAD), math.ceil(high + 2 * PAD)
end

-- Adds an element: `$1`, `$2`, .. of the format are what follows, numbers with one decimal and text escaped.
local function put(out, format, ...)
  local words = { ... }
  out[#out + 1] = format:gsub("%$(%d)", function(i)
    local word = words[tonumber(i)]
    return type(word) == "number" and (("%.1f"):format(word):gsub("%.0$", "")) or html.escape(word)
  end)
end

-- The curves of the edges, each with its name and, below, its type.
local function put_edges(out, edges)
  for _, e in ipairs(edges) do
    local path = {}
    for i, at in ipairs(e.points) do
      path[i] = ("%s%.1f %.1f"):format(i == 1 and "M" or i == 2 and "C" or "", at[1], at[2])
    end
    put(out, '<path class="edge" marker-end="url(#head)" d="$1"/>', table.concat(path, " "))
    local high = e.detail and -4 or 4
    if e.x then put(out, '<text text-anchor="middle" x="$1" y="$2">$3</text>', e.x, e.y + high, e.label) end
    if e.x and e.detail then
      put(out, '<text class="small" text-anchor="middle" x="$1" y="$2">$3</text>', e.x, e.y + 13, e.detail)
    end
  end
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

-- Nodes and edges as the text of one `svg` element.
local function draw(nodes, edges, name)
  local w, h = lay_out(nodes, edges)
  local out = {}
  put_edges(out, edges)
  put_nodes(out, nodes)
  local head = ('<svg class="graph" xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" ' ..
    'role="img" aria-label="%s">'):format(w, h, w, h, html.escape("the graph of " .. name))
  return head .. style .. arrow_head .. table.concat(out, "\n") .. "\n</svg>"
end

--- The tasks of a design (or of a schedule or graph of one) as an SVG drawing: the text of one `svg` element, which a
--- page colours by its classes. Nil for a kernel. `step`: as it was after that step of a schedule.
--- With the report of a run with a clock streams say the most that they held.
function drawing.tasks(x, step, report)
  local g = view.design(x, step)
  if not g then return nil end
  local nodes, by_name = collect_nodes(g)
  return draw(nodes, collect_edges(g, nodes, by_name, report), g.name)
end

-- The strings in quotes on a line, in which `\` marks what they could not hold.
local function strings(line)
  local found, from, at = {}, nil, 1
  while at <= #line do
    local c = line:sub(at, at)
    if c == '"' and from then
      found[#found + 1] = load("return " .. line:sub(from, at), "=string", "t", {})()
      from = nil
    elseif c == '"' then
      from = at
    end
    at = at + (c == "\\" and 2 or 1)
  end
  return found
end

-- The stream of graph x that the label of an edge names, and its name with indices; nil: none.
local function stream_of(x, label)
  local name = label:match "^[^,]*"
  for _, s in ipairs(x and view.design(x).streams or {}) do
    if s.name == name:match "^[^%[]*" then return s, name end
  end
end

--- The graph that Tide's own Graphviz text holds, drawn likewise; edges that are streams of graph x with their types,
--- depths and, of the report of a run, fills.
function drawing.dot(text, x, report)
  local nodes, edges, by_name, title = {}, {}, {}, ""
  local function node(name, class)
    if not by_name[name] then
      by_name[name] = { lines = { name }, class = class }
      nodes[#nodes + 1] = by_name[name]
    end
    return by_name[name]
  end
  for line in text:gmatch "[^\n]+" do
    local from, to, label = table.unpack(strings(line))
    if label then
      local stream, name = stream_of(x, label)
      edges[#edges + 1] = { from = node(from, "arg"), to = node(to, "arg"), label = label,
        detail = stream and detail_of(stream, report, name) or nil }
    elseif line:find "^digraph" then
      title = from
    elseif from then
      node(from, "node")
    end
  end
  return draw(nodes, edges, title)
end

return drawing
