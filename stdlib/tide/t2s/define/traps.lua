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

-- The value of a name where the user's code is: a local, an upvalue, a global.
local function value_of(name)
  for level = 3, 20 do
    local info = debug.getinfo(level, "Sf")
    if not info then return nil end
    if info.what ~= "C" and not info.source:find "stdlib/tide/t2s" then
      local found, value, globals
      for n = 1, 250 do
        local key, v = debug.getlocal(level, n)
        if not key then break end
        if key == name then found, value = true, v end
      end
      for n = 1, found and 0 or 250 do
        local key, v = debug.getupvalue(info.func, n)
        if not key then break end
        if key == name then return v end
        if key == "_ENV" then globals = v end
      end
      if found then return value end
      return globals and globals[name]
    end
  end
end

-- Whether an operand in a text is a value of Lua's own: a number, or a name of what is neither traced nor a size.
local function is_plain(operand)
  if not operand or operand == "" or tonumber(operand) then return true end
  if helps[operand] then return true end -- behind a text, which is blanked
  local v = operand:match "^[%a_][%w_]*$" and value_of(operand)
  local mt = type(v) == "table" and getmetatable(v)
  return not (operand:find "[^%w_]" or type(v) == "userdata" or mt and mt.__traced)
end

-- Whether what Lua tests in a statement are values of its own: then it chooses between definitions.
local function is_choice(part)
  local tests = false
  for at, stop in part:gmatch "()[=~]=()" do
    local left = part:sub(1, at - 1):match "([^%s%(,=]*)%s*$"
    tests = true
    if not (is_plain(left) and is_plain(part:match("^%s*([^%s%),]*)", stop))) then return false end
  end
  for at, word, stop in part:gmatch "()%f[%w_](%l+)%f[^%w_]()" do
    if word == "not" and not is_plain(part:match("^%s*([^%s%),]*)", stop)) then return false end
    if (word == "and" or word == "or") and not tests then
      if not is_plain(part:sub(1, at - 1):match "([^%s%(,=]*)%s*$") then return false end
      tests = true
    end
  end
  return true
end

local begins = { ["if"] = true, ["for"] = true, ["while"] = true, ["local"] = true, ["return"] = true, ["end"] = true,
  ["then"] = true, ["do"] = true, ["else"] = true, ["elseif"] = true, ["repeat"] = true, ["until"] = true }

--- Refuses a statement of a definition at a place that holds a word which Lua decides.
function traps.check(place)
  if place.source == 0 or place.line == 0 then return end
  local _, part = statement(source_text(place.source), place.line)
  local from = part:find "=[^=]" or 1
  for at, word in part:gmatch "()([%a_][%w_]*)" do
    if at > from and (begins[word] or word == "function") then
      part = part:sub(1, at - 1)
      break
    end
  end
  if is_choice(part:sub(from + 1)) then return end
  for at, word in part:gmatch "()([%a_][%w_]*)" do
    if at > from and (word == "and" or word == "or" or word == "not") then traps.refuse(place, part, at, word) end
  end
  for at, word in part:gmatch "()([=~]=)" do
    if at > from then traps.refuse(place, part, at, word) end
  end
end

local ABOVE = 6 -- lines before a definition in which an `if` may choose it

-- The names of the Vars of a definition.
local function names_of(def)
  local names, seen = {}, {}
  for _, s in ipairs(def.stages) do
    for _, x in ipairs(s.lhs.idx) do
      if x.op == "var" and not seen[x.name] then
        seen[x.name], names[#names + 1] = true, x.name
      end
    end
  end
  return names
end

--- Refuses an `if` or `while` around lines of a definition that tests a Var of it by `==`, which is false at once.
function traps.around(def)
  if #def.stages == 0 then return end
  local first, last = def.stages[1].place, def.stages[#def.stages].place
  if first.source == 0 or first.source ~= last.source then return end
  local n, lines = 0, {}
  for line in source_text(first.source):gmatch "[^\n]*" do
    n = n + 1
    if n >= first.line - ABOVE and n <= last.line then lines[#lines + 1] = { n, line } end
  end
  for _, name in ipairs(names_of(def)) do
    local var = "%f[%w_]" .. name .. "%f[^%w_]"
    local own = true -- whether the name is only the Var's here
    for _, l in ipairs(lines) do
      own = own and not l[2]:find("for [%w_, ]*" .. var) and not l[2]:find("function[^%(]*%([^%)]*" .. var)
    end
    for _, l in ipairs(own and lines or {}) do
      local at = l[2]:match "()%f[%w_]if%f[^%w_]" or l[2]:match "()%f[%w_]elseif%f[^%w_]"
        or l[2]:match "()%f[%w_]while%f[^%w_]"
      local spot, word = test_of(at and l[2]:sub(at) .. " " or "", name)
      if spot and (word == "==" or word == "~=") then
        traps.refuse({ source = first.source, line = l[1] }, l[2], at + spot - 1, word)
      end
    end
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
