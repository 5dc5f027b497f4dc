-- Plots of rows by gnuplot: SVG to a file, text at the prompt; without gnuplot a table.
--   plot(rows, { x = "memory", y = "cycles", kind = "scatter", log = "xy", by = "tile", front = true, file = "x.svg" })
local order = require "tide.order"

local plot = {}

local kinds = { lines = "linespoints", scatter = "points", bars = "boxes", box = "boxplot" }

local function number(v) return math.type(v) == "float" and ("%.6g"):format(v) or tostring(v) end

local MANY = 6 -- names along an axis that have room side by side

-- Rows in groups by a column, the groups in order of their names.
local function groups_of(rows, by)
  local groups, names = {}, {}
  for _, row in ipairs(rows) do
    local name = by and tostring(row[by]) or ""
    if not groups[name] then
      groups[name] = {}
      names[#names + 1] = name
    end
    table.insert(groups[name], row)
  end
  if not by then return groups, names end
  table.sort(names, function(a, b)
    local x, y = tonumber(a), tonumber(b)
    if x and y and x ~= y then return x < y end
    if (x ~= nil) ~= (y ~= nil) then return x ~= nil end
    return order.bytes(a, b)
  end)
  return groups, names
end

local function quoted(text) return "'" .. tostring(text):gsub("'", "''") .. "'" end

-- The places of a column's values where they are names (or bars, which stand side by side): 1, 2 .. as they come.
local function places_of(rows, x)
  local place, names = {}, {}
  for _, row in ipairs(rows) do
    local name = number(row[x])
    if not place[name] then
      names[#names + 1] = name
      place[name] = #names
    end
  end
  return place, names
end

-- Marks of an axis that has names.
local function tics(names)
  local list = {}
  for i, name in ipairs(names) do list[i] = ("%s %d"):format(quoted(name), i) end
  local turned = #names > MANY and "rotate by -45 " or ""
  return ("set xtics %s(%s)\nset xrange [0.4:%g]"):format(turned, table.concat(list, ", "), #names + 0.6)
end

-- The place along x of each row of group g, or nil where it is the value of the column; what its axis needs.
local function placing(rows, o, names)
  if o.kind == "box" then return function(_, g) return g end, tics(names) end
  local numbers = o.kind ~= "bars"
  for _, row in ipairs(rows) do numbers = numbers and type(row[o.x]) == "number" end
  if numbers then return end
  local place, all = places_of(rows, o.x)
  local width = o.kind == "bars" and 0.8 / #names or 0
  local head = tics(all)
  if o.kind == "bars" then head = ("%s\nset style fill solid 0.5\nset boxwidth %g"):format(head, width) end
  return function(row, g) return place[number(row[o.x])] + (g - (#names + 1) / 2) * width end, head
end

--- The script that gnuplot is given.
function plot.script(rows, o)
  local groups, names = groups_of(rows, o.by)
  local out, parts, data = {}, {}, {}
  local function line(...) out[#out + 1] = (...):format(select(2, ...)) end
  if o.file then
    line("set terminal svg size %d,%d", o.width or 720, o.height or 480)
    line("set output %s", quoted(o.file))
  else
    line("set terminal dumb %d %d", o.width or 79, o.height or 24)
  end
  local at, head = placing(rows, o, names)
  if o.title then line("set title %s", quoted(o.title)) end
  line("set xlabel %s", quoted(o.kind == "box" and (o.by or "") or o.x))
  line("set ylabel %s", quoted(o.y))
  for axis in (o.log or ""):gmatch "[xy]" do
    if axis == "y" or not at then line("set logscale %s", axis) end
  end
  if head then out[#out + 1] = head end
  local function series(list, title, style, g)
    parts[#parts + 1] = ("'-' using 1:2 with %s title %s"):format(style, quoted(title))
    if style == "boxplot" then parts[#parts] = ("'-' using (%d):2 with boxplot title %s"):format(g, quoted(title)) end
    for _, row in ipairs(list) do
      if row[o.y] ~= nil then
        data[#data + 1] = ("%s %s"):format(number(at and at(row, g) or row[o.x]), number(row[o.y]))
      end
    end
    data[#data + 1] = "e"
  end
  for g, name in ipairs(names) do
    series(groups[name], o.by and ("%s = %s"):format(o.by, name) or o.y, kinds[o.kind or "lines"], g)
  end
  if o.front and not at then
    local list = require("tide.explore").front(rows, { o.x, o.y })
    table.sort(list, function(a, b) return a[o.x] < b[o.x] end)
    series(list, "Pareto", "steps")
  end
  line("plot %s", table.concat(parts, ", "))
  return table.concat(out, "\n") .. "\n" .. table.concat(data, "\n") .. "\n"
end

-- The columns as text, where nothing draws.
local function as_table(rows, o)
  local lines = { ("%-16s %-16s %s"):format(o.by or "", o.x, o.y) }
  for _, row in ipairs(rows) do
    lines[#lines + 1] = ("%-16s %-16s %s"):format(o.by and tostring(row[o.by]) or "", tostring(row[o.x]),
      tostring(row[o.y]))
  end
  return table.concat(lines, "\n") .. "\n"
end

local function is_here()
  local pipe = io.popen("command -v gnuplot 2>/dev/null", "r")
  local found = pipe:read "l"
  pipe:close()
  return found ~= nil
end

--- Draws rows: to o.file as SVG, else as text, which is returned.
---@param rows table[]
---@param o table x, y: columns; kind = "lines" | "scatter" | "bars" | "box"; by, log, front, title, file, width, height
function plot.draw(rows, o)
  if type(o) ~= "table" or not o.x or not o.y then error("plot takes rows and { x = column, y = column }", 3) end
  if o.kind and not kinds[o.kind] then
    error(("plot: there is no kind '%s': lines, scatter, bars, box"):format(o.kind), 3)
  end
  if not is_here() then
    return as_table(rows, o) .. "(plots are drawn by gnuplot, which is not here: apt-get install gnuplot-nox)\n"
  end
  local name = os.tmpname()
  local script = assert(io.open(name, "w"))
  script:write(plot.script(rows, o))
  script:close()
  local pipe = io.popen("gnuplot " .. name .. " 2>&1", "r")
  local text = pipe:read "a"
  pipe:close()
  os.remove(name)
  return text
end

-- Products and bytes of memory of a run with a clock, its cycles, and the products that its tasks can start in a cycle.
local function work_of(report)
  local energy, products, multipliers = report.energy, 0, 0
  if not energy then error("roofline takes reports of runs with a clock on a device, m.report", 4) end
  for i, task in ipairs(energy.tasks) do
    local own = 0
    for kind, n in pairs(task.counts) do
      if kind:find "^mul " or kind:find "^fma " then own = own + n end
    end
    products = products + own
    local busy = math.max(1, report.tasks[i] and report.tasks[i].busy or report.cycles)
    multipliers = multipliers + (own > 0 and math.max(1, -(-own // busy)) or 0)
  end
  return products, (energy.counts.dram or 0) / 8, report.cycles, multipliers
end

--- A roofline: products in a cycle against products for each byte of memory, of runs with a clock under the roof that
--- multipliers and memory are. Returns the plot, and a row for each run {name =, intensity =, rate =, roof =, share =,
--- bound = "memory" or "multipliers"}.
---@param runs table a report, or reports by name
---@param o table bytes_per_cycle of the memory; multipliers, else those of the first run; file, title, width, height
function plot.roofline(runs, o)
  if type(o) ~= "table" or type(o.bytes_per_cycle) ~= "number" or o.bytes_per_cycle <= 0 then
    error("roofline takes reports and { bytes_per_cycle = of the memory, multipliers = of the device }", 2)
  end
  if type(runs) ~= "table" or runs.cycles then runs = { run = runs } end
  local names, rows, list, multipliers = {}, {}, {}, o.multipliers
  for name in pairs(runs) do names[#names + 1] = name end
  table.sort(names, function(a, b) return order.bytes(tostring(a), tostring(b)) end)
  for i, name in ipairs(names) do
    local products, bytes, cycles, own = work_of(runs[name])
    multipliers = multipliers or own
    if bytes == 0 then error(("roofline: '%s' moves nothing from or to memory"):format(name), 2) end
    local x, y = products / bytes, products / cycles
    local roof = math.min(multipliers, x * o.bytes_per_cycle)
    list[i] = { name = name, intensity = x, rate = y, roof = roof, share = y / roof,
      bound = roof < multipliers and "memory" or "multipliers" }
    rows[#rows + 1] = { of = tostring(name), ["products per byte"] = x, ["products per cycle"] = y }
  end
  local ridge = multipliers / o.bytes_per_cycle
  local low, high = ridge / 4, ridge * 4
  for _, row in ipairs(list) do low, high = math.min(low, row.intensity / 2), math.max(high, row.intensity * 2) end
  for _, x in ipairs { low, ridge, high } do
    rows[#rows + 1] = { of = "roof", ["products per byte"] = x,
      ["products per cycle"] = math.min(multipliers, x * o.bytes_per_cycle) }
  end
  return plot.draw(rows, { x = "products per byte", y = "products per cycle", by = "of", log = "xy", file = o.file,
    title = o.title, width = o.width, height = o.height }), list
end

return setmetatable(plot, { __call = function(_, rows, o) return plot.draw(rows, o) end })
