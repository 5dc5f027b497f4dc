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

-- A section with a line for each thing: what `term` says of it, and its summary.
local function section(out, title, list, term)
  out[#out + 1] = ("\n## %s\n"):format(title)
  for _, x in ipairs(list) do out[#out + 1] = ("- `%s`: %s"):format(term(x), x.summary) end
end

-- An option as it is typed.
local function option(o)
  local words = { o.letter and "-" .. o.letter, o.name and "--" .. o.name }
  local spelled = words[1] and words[2] and words[1] .. " " .. words[2] or words[1] or words[2]
  return spelled .. (o.args and (o.letter and " " or "=") .. o.args or "")
end

-- A section of stdlib's templates: what help says of each.
local function templates(out)
  out[#out + 1] = "\n## Templates\n"
  for _, x in ipairs(require "tide.template".list()) do
    out[#out + 1] = ("### %s\n\n    %s\n"):format(x.name, (tostring(x.template):gsub("\n", "\n    ")))
  end
end

--- The whole page as Markdown.
function reference.text()
  local r, out = tide.registry(), { "# Tide reference\n", "## Primitives\n" }
  for _, p in ipairs(r.primitives) do primitive(p, out) end
  out[#out + 1] = "\n## Primitives on STeP graphs\n"
  for _, p in ipairs(r.graph_primitives) do primitive(p, out) end
  section(out, "Functions and methods", r.functions, function(f) return f.usage end)
  templates(out)
  section(out, "Commands of the prompt", r.commands, function(c) return ":" .. c.usage end)
  section(out, "Keys of the prompt", r.keys, function(k) return k.name end)
  section(out, "Command line", r.options, option)
  section(out, "Verbs", r.verbs, function(v) return v.name .. (v.args and " " .. v.args or "") end)
  section(out, "Environment", r.environment, function(v) return v.name end)
  require("tide.tool.codes").page(out)
  return table.concat(out, "\n") .. "\n"
end

return reference
