-- Errors as JSON, one line each, for editors and other programs: tide --diagnostics=json.
local json = require "tide.json"

local diagnostics = {}

-- The place of an error of plain Lua: "file:line: message", behind it perhaps a traceback.
local function plain(text)
  text = text:gsub("\nstack traceback:.*", "")
  local file, line, message = text:match "^(.-):(%d+): (.*)$"
  return { file = file, line = math.tointeger(line), kind = "lua", code = "error", message = message or text,
    notes = json.list }
end

-- A place and what is said of it.
local function place(x)
  return { file = x.file, line = x.line, column = x.col ~= 0 and x.col or nil, message = x.message, at = x.at }
end

--- The line for an error: {file, line, column, kind, code, message, notes, help, prim, witness}; what is not known is
--- left out, notes are {file, line, column, message}. Kinds are those of Tide, and "lua" for an error of plain Lua.
function diagnostics.text(e)
  if type(e) ~= "table" or not e.kind then return json.text(plain(tostring(e))) end
  local out = place(e)
  out.kind, out.code, out.help, out.prim = e.kind, e.code, e.help, e.prim
  out.notes = json.list
  for i, note in ipairs(e.notes or {}) do
    if i == 1 then out.notes = {} end
    out.notes[i] = place(note)
  end
  local w = e.witness
  out.witness = w and { array = w.array, element = w.element, first = place(w.first), second = place(w.second) } or nil
  return json.text(out)
end

return diagnostics
