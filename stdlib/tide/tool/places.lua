-- Layouts as grids of places: a row for each value of the outer coordinates, a column for each of the last one; what
-- lies on one instance or bank has one colour.
local html = require "tide.tool.html"

local places = {}

local MOST = 32 -- rows and columns of what the prompt shows

-- Colours that differ on light and dark terminals, and as fills.
local codes = { "36", "33", "35", "32", "34", "31", "96", "93", "95", "92", "94", "91" }
local fills = { "#cfe8f7", "#fde2b8", "#e3d3f2", "#cdebcf", "#f7cfd4", "#d9dde3", "#bfe3dd", "#f3ecb1" }

-- Rows and columns of a layout: its last coordinate across; one coordinate alone in rows of its innermost digit.
local function extents(layout)
  local n, shape = #layout, layout.shape
  local columns = shape[#shape] or 1
  if #shape == 1 and n > 16 then
    columns = layout.digits[#layout.digits][1]
    if columns > MOST or columns == n then columns = 16 end
  end
  return math.max(1, (n + columns - 1) // math.max(columns, 1)), columns
end

-- What a cell says, and the group that colours it: its values on all axes but the address and the lane.
local function cell(layout, ordinal)
  local place, axes = layout(ordinal), layout.place
  if #axes == 0 then return tostring(place), 0 end
  local text, group, n = {}, 0, 0
  for i, axis in ipairs(axes) do
    local name = axis[1]
    text[i] = place[name]
    if name ~= "address" and name ~= "lane" then group, n = group * axis[2] + place[name], n + 1 end
  end
  if n == 0 then group = place.lane or 0 end
  return table.concat(text, ":"), group
end

-- Names of the axes, as cells show them.
local function legend(layout)
  local names = {}
  for i, axis in ipairs(layout.place) do names[i] = axis[1] end
  return #names > 0 and table.concat(names, ":") or "address"
end

-- Calls f(row, column, text, group) for each cell of the grid.
local function each(layout, f)
  local rows, columns = extents(layout)
  for row = 0, rows - 1 do
    for column = 0, columns - 1 do
      if row * columns + column < #layout then f(row, column, cell(layout, row * columns + column)) end
    end
  end
end

--- The grid as text; `colour`: with the escapes of terminals.
function places.grid(layout, colour)
  local rows, width = {}, 0
  each(layout, function(row, column, text, group)
    rows[row + 1] = rows[row + 1] or {}
    rows[row + 1][column + 1] = { text, group }
    width = math.max(width, #text)
  end)
  for i, row in ipairs(rows) do
    for k, c in ipairs(row) do
      local text = (" "):rep(width - #c[1]) .. c[1]
      row[k] = colour and ("\27[%sm%s\27[0m"):format(codes[c[2] % #codes + 1], text) or text
    end
    rows[i] = table.concat(row, " ")
  end
  return table.concat(rows, "\n") .. "\n"
end

--- What the prompt shows of a layout: how it is written, and its grid where that is small.
function places.echo(layout, colour)
  local text = tostring(layout)
  if not layout.known or #layout == 0 then return text end
  local rows, columns = extents(layout)
  if rows > MOST or columns > MOST then return text end
  return ("%s\n%s by %s:\n%s"):format(text, legend(layout), #layout.shape > 1 and "coordinates" or "ordinal",
    places.grid(layout, colour))
end

--- The grid as a drawing.
function places.svg(layout)
  local rows, columns = extents(layout)
  if rows * columns > 16384 then error("a drawing of a layout has at most 16384 places", 0) end
  local width = 0
  each(layout, function(_, _, text) width = math.max(width, #text) end)
  local w, h, out = width * 8 + 12, 24, {}
  out[1] = ('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" '
    .. 'font-family="monospace" font-size="12">'):format(columns * w + 2, rows * h + 24, columns * w + 2, rows * h + 24)
  out[2] = ('<text x="2" y="15">%s</text>'):format(html.escape(legend(layout)))
  each(layout, function(row, column, text, group)
    local x, y = column * w + 1, row * h + 22
    out[#out + 1] = ('<rect x="%d" y="%d" width="%d" height="%d" fill="%s" stroke="#555"/>'
      .. '<text x="%d" y="%d" text-anchor="middle">%s</text>'):format(x, y, w, h,
      #layout.place > 0 and fills[group % #fills + 1] or "#fff", x + w // 2, y + 16, html.escape(text))
  end)
  out[#out + 1] = "</svg>"
  return table.concat(out, "\n") .. "\n"
end

--- The drawing and the text that makes the layout, as a page; with a path, written there.
function places.html(layout, path)
  local body = ("<body><pre>%s</pre>\n%s</body>"):format(html.escape(tostring(layout)), places.svg(layout))
  local page = html.page("Layout - Tide", "", body)
  if path then return require "tide.file".write(path, page) end
  return page
end

return places
