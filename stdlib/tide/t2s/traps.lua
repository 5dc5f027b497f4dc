-- What Lua decides before a definition sees it: `==` with a number, `and`, `or`, `not` in a line of the definition.
-- Such a line runs without an error and means something else, so the source of the statement is looked at.
local trace = require "tide.trace"

local traps = {}

local helps = {
  ["and"] = "write t2s.select(c, a, b), or c & d between tests",
  ["or"] = "write t2s.select(c, a, b), or c | d between tests",
  ["not"] = "write ~c, or x:ne(y)",
  ["=="] = "write x:eq(y), as in t2s.select(x:eq(y), a, b)",
  ["~="] = "write x:ne(y), as in t2s.select(x:ne(y), a, b)",
}

-- The text with comments and strings blanked, of the same length.
local function blank(text)
  local function spaces(s) return (s:gsub("[^\n]", " ")) end
  text = text:gsub('"[^"\n]*"', spaces):gsub("'[^'\n]*'", spaces)
  return (text:gsub("%-%-[^\n]*", spaces))
end

local blanked = {} -- source id -> text

-- The statement around a line: from it to where its brackets close, and on while a line ends in an operator.
local function statement(text, line)
  local at = 1
  for _ = 2, line do at = (text:find("\n", at, true) or #text) + 1 end
  local stop, depth = at, 0
  while stop <= #text do
    local eol = text:find("\n", stop, true) or #text + 1
    local part = text:sub(stop, eol - 1)
    for c in part:gmatch "[%(%)%[%]{}]" do depth = depth + (("([{"):find(c, 1, true) and 1 or -1) end
    stop = eol + 1
    if depth <= 0 and not part:match "[%+%-%*/=,&|~<>%.]%s*$" then break end
  end
  return at, text:sub(at, stop - 2)
end

-- The blanked text of a source.
local function source_text(id)
  blanked[id] = blanked[id] or blank(trace.text(id) or "")
  return blanked[id]
end

local checked = setmetatable({}, { __mode = "k" }) -- functions that were looked at

-- The first function on the stack that is no part of tide.t2s, and its level for the caller.
local function user_function()
  for level = 3, 12 do
    local info = debug.getinfo(level, "Sfu")
    if not info then return nil end
    if info.what == "main" then return nil end
    if info.what == "Lua" and not info.source:find "stdlib/tide/t2s" then return info, level - 1 end
  end
end

-- Where Lua tests a name in a text: at a byte, the word; a name that the text declares again is passed over.
local function test_of(text, name)
  local n = "%f[%w_]" .. name .. "%f[^%w_]"
  if text:find("for [%w_, ]*" .. n) or select(2, text:gsub("local [%w_, ]*" .. n, "")) > 0 then return nil end
  for _, word in ipairs { "==", "~=" } do
    local at = text:match("[^%w_%.:%]]" .. n .. "%s*()" .. word)
      or text:match("()" .. word .. "%s*" .. n .. "%s*[^%s%.:%[%(]")
    if at then return at, word end
  end
  for _, word in ipairs { "and", "or", "not" } do
    local at = text:match("()%f[%w_]" .. word .. "%s+" .. n .. "%s*[^%s%.:%[]")
    if at then return at, word end
  end
end

--- Refuses a function called by a definition that tests one of its traced arguments by Lua's own words.
function traps.note(is_traced)
  local info, level = user_function()
  if not info or info.nparams == 0 or checked[info.func] then return end
  checked[info.func] = true
  local place = trace.place()
  if place.source == 0 then return end
  local text = source_text(place.source)
  local lines, at = {}, 0
  for line in text:gmatch "[^\n]*" do
    at = at + 1
    if at >= info.linedefined and at <= info.lastlinedefined then lines[#lines + 1] = line end
  end
  local part = table.concat(lines, "\n") .. " "
  for n = 1, info.nparams do
    local name, value = debug.getlocal(level, n)
    local spot, word
    if is_traced(value) then spot, word = test_of(part, name) end
    if spot then
      checked[info.func] = nil
      traps.refuse({ source = place.source, line = info.linedefined }, part, spot, word)
    end
  end
end

--- Refuses a statement of a definition at a place that holds a word which Lua decides.
function traps.check(place)
  if place.source == 0 or place.line == 0 then return end
  local _, part = statement(source_text(place.source), place.line)
  local from = part:find "=[^=]" or 1
  for at, word in part:gmatch "()([%a_][%w_]*)" do
    if at > from and (word == "and" or word == "or" or word == "not") then traps.refuse(place, part, at, word) end
    if at > from and word == "function" then return end
  end
  for at, word in part:gmatch "()([=~]=)" do
    if at > from then traps.refuse(place, part, at, word) end
  end
end

--- Raises the refusal of a word at that byte of the statement.
function traps.refuse(place, part, at, word)
  local before = part:sub(1, at - 1)
  local _, lines = before:gsub("\n", "")
  local spot = { source = place.source, line = place.line + lines, column = at - (before:match ".*()\n" or 0),
    length = #word }
  trace.refuse(spot, "usage", "t2s-compare",
    ("Lua's `%s` decides now; it is no part of the definition"):format(word), helps[word])
end

return traps
