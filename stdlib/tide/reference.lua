-- The reference page, written from the registry that help and completion read.
local tide = require "tide"

local reference = {}

local function signature(p)
  local args, options = {}, {}
  for _, a in ipairs(p.args) do
    if a.place == "option" then
      options[#options + 1] = a.name .. " ="
    else
      args[#args + 1] = a.place == "optional" and "[" .. a.name .. "]" or
        a.place == "rest" and a.name .. ", .." or a.name
    end
  end
  if #options > 0 then args[#args + 1] = "{" .. table.concat(options, ", ") .. "}" end
  return ("s:%s(%s)"):format(p.name, table.concat(args, ", "))
end

local function primitive(p, out)
  out[#out + 1] = ("### %s\n\n`%s`\n\n%s\n"):format(p.name, signature(p), p.summary)
  for _, a in ipairs(p.args) do
    local words = a.words and " (" .. a.words:gsub("|", ", ") .. ")" or ""
    out[#out + 1] = ("- `%s`: %s%s"):format(a.name, a.help, words)
  end
  out[#out + 1] = ("\n    %s\n\nLegal %s.\n\nErrors: %s.\n"):format(p.rewrite, p.legal, p.errors)
end

--- The whole page as Markdown.
function reference.text()
  local r, out = tide.registry(), { "# Tide reference\n", "## Primitives\n" }
  for _, p in ipairs(r.primitives) do primitive(p, out) end
  out[#out + 1] = "## Functions and methods\n"
  for _, f in ipairs(r.functions) do out[#out + 1] = ("- `%s`: %s"):format(f.usage, f.summary) end
  out[#out + 1] = "\n## Commands of the prompt\n"
  for _, c in ipairs(r.commands) do out[#out + 1] = ("- `:%s`: %s"):format(c.usage, c.summary) end
  return table.concat(out, "\n") .. "\n"
end

return reference
