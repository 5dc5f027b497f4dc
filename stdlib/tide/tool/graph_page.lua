-- A graph of STeP as a page: its drawing, a box for each family, beside its text.
local html = require "tide.tool.html"

local style = [[<style>main { display: flex; flex-wrap: wrap; gap: 2em } pre { overflow-x: auto }</style>]]

-- page(g): the page as text; page(g, path) writes it; nil and a message where it cannot.
return function(g, path)
  local drawn, svg = pcall(g.svg, g)
  local body = ("<body><main><div>%s</div><pre>%s</pre></main></body>")
    :format(drawn and svg or "<p>" .. html.escape(tostring(svg)) .. "</p>", html.lua(tostring(g)))
  local page = html.page("STeP graph", style, body)
  if not path then return page end
  local file, message = io.open(path, "w")
  if not file then return nil, message end
  file:write(page)
  file:close()
end
