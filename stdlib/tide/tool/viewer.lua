-- s:html "x.html": one page that holds every step of a schedule, with the types, names and source lines of the printed
-- program, its text as HLS C++ and C, the interval of each loop and what bounds it, the verdict of each step, the graph
-- of a design, and the script that compares any two steps. It needs nothing else, nor a network. A
-- page that would have more than 200 KB tells the types of names only, not of every expression, and has nothing to show
-- where scripts do not run.
local drawing = require "tide.tool.drawing"
local html = require "tide.tool.html"
local json = require "tide.json"
local tide = require "tide"
local view = require "tide.view"

local viewer = {}

local TARGETS = { "hls", "cpu" } -- whose text a page shows
local SECONDS = 1 -- that the verdict on a step may take, and
local PATIENCE = 5 -- those of all steps together

local LIMIT = 200 * 1024 -- bytes

-- Numbers things from 0 as they first come; `list` holds them in that order.
local function numbering()
  local known, list = {}, {}
  return function(key, value)
    if not known[key] then
      known[key] = #list
      list[#list + 1] = value
    end
    return known[key]
  end, list
end

-- What a page says of a program, shared by its steps.
local function new_page(is_full)
  local page = { sources = {}, is_full = is_full, waited = 0 }
  page.type, page.types = numbering()
  page.line, page.lines = numbering()
  page.graph, page.graphs = numbering()
  page.plain, page.plains = numbering()
  return page
end

-- Adds values to the end of a list.
local function append(list, ...)
  for _, value in ipairs { ... } do list[#list + 1] = value end
end

-- Where each line of a text begins, and one place past its end.
local function line_starts(text)
  local starts = { 1 }
  for at in text:gmatch "\n()" do starts[#starts + 1] = at end
  if starts[#starts] <= #text then starts[#starts + 1] = #text + 2 end
  return starts
end

-- The line, counted from 1, that a place of the text is on.
local function line_of(starts, at)
  local lo, hi = 1, #starts - 1
  while lo < hi do
    local mid = (lo + hi + 1) // 2
    if starts[mid] <= at then lo = mid else hi = mid - 1 end
  end
  return lo
end

-- Notes that a line of a source is named, so that the page holds it.
local function cite(page, mark)
  local source = page.sources[mark.source]
  if not source then
    source = { first = mark.line, last = mark.line, number = 0 }
    page.sources[mark.source] = source
    for _ in pairs(page.sources) do source.number = source.number + 1 end
  end
  source.first, source.last = math.min(source.first, mark.line), math.max(source.last, mark.line)
  return source.number - 1
end

-- Adds the type of an expression to a line's list {from, to, type, ..}; columns count from 0. An expression that is
-- cast as it stands (a store, a put) has both types.
local function add_expression(page, row, text, mark, start)
  local written = text:sub(mark.from, mark.to)
  if not mark.type or written:find "^[%d.]+$" then return end
  local from, to, n = mark.from - start, mark.to - start + 1, #row.types
  if n > 0 and row.types[n - 2] == from and row.types[n - 1] == to then
    local inner = page.types[row.types[n] + 1]
    local both = inner == mark.type and inner or inner .. ", stored as " .. mark.type
    row.types[n] = page.type(both, both)
  else
    append(row.types, from, to, page.type(mark.type, mark.type))
  end
end

-- The rows of a program {text =, types =, source =, line =}, and the list {row, name, type, ..} of what it declares.
local function read_program(page, text, marks)
  local starts, rows, symbols = line_starts(text), {}, {}
  for n = 1, #starts - 1 do rows[n] = { text = text:sub(starts[n], starts[n + 1] - 2), types = {} } end
  for _, mark in ipairs(marks) do
    local n = line_of(starts, mark.from)
    if mark.piece == "expr" and page.is_full then
      add_expression(page, rows[n], text, mark, starts[n])
    elseif mark.piece == "symbol" then
      local kind = mark.type or "index"
      append(symbols, n - 1, mark.name, page.type(kind, kind))
    end
    if mark.line and mark.piece ~= "expr" and not rows[n].line then
      rows[n].source, rows[n].line = cite(page, mark), mark.line
    end
  end
  return rows, symbols
end

-- Cycles by the estimate, and a list {name, interval or 0, what is said of it, ..} of its loops; nil where it has none.
local function estimate_of(x)
  local ok, e = pcall(function() return x:estimate() end)
  if not ok then return nil end
  local loops = {}
  for _, loop in ipairs(e.loops) do
    local why = loop.why or ""
    if loop.by and loop.by ~= "asked" then why = loop.by .. ": " .. why end
    if loop.ii or loop.why then append(loops, loop.name, loop.ii or 0, why) end
  end
  return e.cycles, #loops > 0 and loops or nil
end

-- The texts of a program for the targets, as lists of numbers of lines; why there is none where it is refused.
local function texts_of(page, x)
  local texts = {}
  for _, target in ipairs(TARGETS) do
    local ok, m = pcall(function() return x:build { target = target }.source end)
    local list = {}
    if not ok then m = "// not built: " .. tostring(type(m) == "table" and m.message or m):match "[^\n]*" end
    for line in (m:gsub("%s+$", "") .. "\n"):gmatch "([^\n]*)\n" do list[#list + 1] = page.plain(line, line) end
    texts[target] = list
  end
  return texts
end

-- The verdict on a step, the two programs around it given, while there is patience.
local function verdict_of(page, before, now)
  local began = os.clock()
  if page.waited > PATIENCE then return "not tried" end
  local ok, level = pcall(tide.verify, before, now, { seconds = SECONDS })
  page.waited = page.waited + os.clock() - began
  return ok and level and "proved: " .. tostring(level) or ok and "not decided" or nil
end

-- One step as the page holds it.
local function make_stage(page, x, step)
  local text, marks = view.program(x, step)
  local rows, symbols = read_program(page, text, marks)
  local stage = { symbols = symbols, lines = {} }
  for n, row in ipairs(rows) do
    local line = { row.text, #row.types > 0 and row.types or json.list, row.source or -1, row.line or 0 }
    stage.lines[n] = page.line(json.text(line), line)
  end
  local drawn, graph = pcall(drawing.tasks, x, step)
  if not drawn and graph.code ~= "no-graphviz" then error(graph, 0) end
  graph = drawn and graph
  stage.graph = graph and page.graph(graph, graph) or nil
  return stage
end

-- The sources that are cited, in the order of their numbers, with three lines around what is cited.
local function read_sources(page)
  local list = {}
  for id, s in pairs(page.sources) do
    local name, text = view.source(id)
    local first, all = math.max(s.first - 3, 1), {}
    for line in (text:gsub("\n$", "") .. "\n"):gmatch "(.-)\r?\n" do all[#all + 1] = line end
    list[s.number] = { name = name, first = first, lines = { table.unpack(all, first, math.min(s.last + 3, #all)) } }
  end
  return #list > 0 and list or json.list
end

-- The file beside this one.
local function read_beside(name)
  local folder = debug.getinfo(1, "S").source:match "^@(.*)/" or "."
  local file = assert(io.open(folder .. "/" .. name))
  local text = file:read "a"
  file:close()
  return text
end

-- The data of a page, as JSON that can stand in a script; texts for targets are of "all" steps, of the "last", or none.
local function read_all(x, name, is_full, texted)
  local page, stages, count = new_page(is_full), {}, view.steps(x)
  local steps = count and x:steps() or {}
  for n = 0, count or 0 do
    local stage, step = make_stage(page, x, count and n), steps[n] or { notes = {} }
    stage.call, stage.notes = step.call, #step.notes > 0 and step.notes or json.list
    local now = count and x:at(n) or x
    stage.cycles, stage.loops = estimate_of(now)
    if texted and (texted == "all" or n == (count or 0)) then stage.texts = texts_of(page, now) end
    stage.verdict = n > 0 and verdict_of(page, x:at(n - 1), now) or nil
    stages[n + 1] = stage
  end
  return json.text { name = name, stages = stages, lines = page.lines, types = page.types,
    plains = #page.plains > 0 and page.plains or json.list, sources = read_sources(page),
    graphs = #page.graphs > 0 and page.graphs or json.list }:gsub("</", "<\\/")
end

local policy = [[<meta http-equiv="Content-Security-Policy"
content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">]]

--- The text of the page of a kernel, design or schedule.
function viewer.page(x)
  local text = view.program(x)
  local name = text:match "return ([%w_]+)%s*$"
  local function make(is_full, texted)
    local still = is_full and "<noscript><pre>" .. html.escape(text) .. "</pre></noscript>" or ""
    return html.page(name .. " - Tide", policy .. "<style>" .. read_beside "viewer.css" .. "</style>", table.concat({
      "<body>", read_beside "viewer.html", still,
      '<script type="application/json" id="data">' .. read_all(x, name, is_full, texted) .. "</script>",
      "<script>" .. read_beside "viewer.js" .. "</script></body>" }, "\n"))
  end
  for _, texted in ipairs { "all", "last" } do
    local page = make(true, texted)
    if #page <= LIMIT then return page end
  end
  local page = make(true)
  return #page <= LIMIT and page or make(false)
end

--- Writes the page; nil and a reason when it cannot.
function viewer.write(x, path)
  return require "tide.file".write(path, viewer.page(x))
end

return viewer
