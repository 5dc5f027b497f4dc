-- The manual page tide(1), written from the registry. `make docs` puts it into docs/tide.1.
local tide = require "tide"

local manual = {}

-- Text as roff takes it: no escape, hyphen or request that is not meant.
local function roff(text)
  return (("\n" .. text):gsub("\\", "\\e"):gsub("%-", "\\-"):gsub("\n([.'])", "\n\\&%1"):sub(2))
end

-- An entry of a list: what it is about, and the text.
local function entry(out, term, text) out[#out + 1] = (".TP\n.B %s\n%s"):format(roff(term), roff(text)) end

-- "-v, --version", "--dump-ir=dir".
local function spelling(o)
  local args = o.args and ((o.letter and " " or "=") .. o.args) or ""
  local long = o.name and "--" .. o.name
  return (o.letter and "-" .. o.letter .. (long and ", " .. long or "") or long) .. args
end

local head = [=[
.TH TIDE 1 "" "Tide %s" "User Commands"
.SH NAME
tide \- a workbench for dataflow accelerators
.SH SYNOPSIS
.B tide
.RI [ options ]
.RI [ script
.RI [ args ]]
.br
.B tide
.I verb
.RI [ args ]
.SH DESCRIPTION
An algorithm is an ordinary Lua function. Tide captures it as a kernel, transforms it step by step, proves each step or
refuses it with a witness, runs it, and builds it for an FPGA. Without a script,
.B tide
is a prompt; at the prompt,
.B ?
lists what there is and
.BI ? name
explains it.]=]

--- The text of the page.
function manual.text()
  local r = tide.registry()
  local out = { head:format(tide.features().version) }
  local function section(title, list, term, text)
    out[#out + 1] = ".SH " .. title
    for _, x in ipairs(list) do entry(out, term(x), text and text(x) or x.summary) end
  end
  section("OPTIONS", r.options, spelling)
  section("VERBS", r.verbs, function(v) return v.name .. (v.args and " " .. v.args or "") end)
  section("PRIMITIVES OF A SCHEDULE", r.primitives, function(p) return p.name end)
  section("PRIMITIVES OF A SCHEDULE OF A STEP GRAPH", r.graph_primitives, function(p) return p.name end)
  section("COMMANDS OF THE PROMPT", r.commands, function(c) return ":" .. c.usage end)
  section("KEYS OF THE PROMPT", r.keys, function(k) return k.name end)
  section("ENVIRONMENT", r.environment, function(v) return v.name end)
  section("EXIT STATUS", { { "0", "Done." }, { "1", "The script or check failed." }, { "2", "Wrong usage." },
    { "130", "Interrupted." } }, function(x) return x[1] end, function(x) return x[2] end)
  section("FILES", { { "~/.config/tide/init.lua", "Runs before the prompt opens." },
    { "~/.local/state/tide/history", "What was typed at the prompt." } }, function(x) return x[1] end,
    function(x) return x[2] end)
  out[#out + 1] = ".SH SEE ALSO\n.BR lua5.4 (1)"
  return table.concat(out, "\n") .. "\n"
end

return manual
