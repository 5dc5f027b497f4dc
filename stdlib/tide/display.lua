-- What values look like where more than text can be shown: a notebook shows the drawing of a graph, the colours of a
-- difference, the page of s:html(). At a terminal everything is text.
--   local display = require "tide.display"
--   display.show(m.report)                     now, not only as the last value of a cell
--   display.show(text, { id = "progress" })    again with the same id: in place of what it showed
--   display.clear()                            takes away what the cell showed
local drawing = require "tide.tool.drawing"
local front = require "tide.front"
local html = require "tide.tool.html"

local display = {}

-- Differences are coloured without the help of a page's style.
local styles = { ins = "background: rgba(46, 160, 67, .2)", del = "background: rgba(248, 81, 73, .2)",
  ok = "color: #2f7d32" }

-- Output with its lines of differences marked, or nil when it has none.
local function marked(text)
  local rows, n = html.diff(text):gsub('class="(%w+)"', function(class) return ('style="%s"'):format(styles[class]) end)
  return n > 0 and ("<pre>%s</pre>"):format(rows) or nil
end

-- A whole page in a frame of its own, so that its style stays inside.
local function framed(page)
  return ('<iframe sandbox="allow-scripts" style="width: 100%%; height: 40rem; border: 0" srcdoc="%s"></iframe>')
    :format(html.escape(page))
end

-- How many bytes a text has that is shown as something else.
local function size(what, text) return ("%s of %d bytes"):format(what, #text) end

-- The picture of a value by its class: a MIME type and its text, and what stands for it as text if not its echo; or
-- nothing.
local pictures = {}

pictures["tide.graph"] = function(graph) return "image/svg+xml", drawing.tasks(graph) end

pictures["tide.layout"] = function(layout)
  if layout.known and #layout <= 4096 then return "image/svg+xml", layout:svg() end
end

pictures["tide.schedule"] = function(_, text) return "text/html", marked(text) end

pictures["tide.timed"] = function(report, text)
  local kept, waves = pcall(report.svg, report)
  return "text/html", kept and ("<pre>%s</pre>\n%s"):format(html.escape(text), waves) or nil
end

pictures.string = function(s)
  if s:find "^%s*<svg[%s>].*</svg>%s*$" then return "image/svg+xml", s, size("an SVG drawing", s) end
  if s:find "^%s*<!DOCTYPE html>.*</html>%s*$" then return "text/html", framed(s), size("an HTML page", s) end
end

--- The picture of a value of a class: its MIME type and text; nil when it has none.
function display.picture(value, class, text)
  local picture = pictures[class or type(value)]
  if not picture then return nil end
  local mime, data, instead = picture(value, text)
  if data then return mime, data, instead end
end

-- A drawing as HTML, whose style stays inside: pages that nbconvert 6 makes lose drawings that are not.
local function image(svg, text)
  local data = svg:gsub('[%c%%#"&<>\128-\255]', function(c) return ("%%%02X"):format(c:byte()) end)
  return ('<img alt="%s" src="data:image/svg+xml,%s">'):format(html.escape(text), data)
end

--- All forms of a value of a class that the prompt echoes as `text`, by MIME type.
function display.forms(value, class, text)
  local drawn, mime, data, instead = pcall(display.picture, value, class, text)
  if not drawn or not mime then return { ["text/plain"] = text } end
  local forms = { ["text/plain"] = instead or text, [mime] = data }
  if mime == "image/svg+xml" then forms["text/html"] = image(data, forms["text/plain"]) end
  return forms
end

local shown = {} -- ids

--- Shows a value where the cell is now; `id`: anew in place of what was shown with that id.
function display.show(value, options)
  local id = options and options.id
  local text, class = front.echo(value)
  if type(value) == "string" then text = value end
  if not front.is_here() then
    print(text)
    return
  end
  front.show(display.forms(value, class, text), id, id and shown[id])
  if id then shown[id] = true end
end

--- Takes away what the cell showed; with `wait`, when it shows something new.
function display.clear(wait) front.clear(wait) end

return display
