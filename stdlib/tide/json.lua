-- JSON text of Lua values: strings, numbers, booleans, lists, tables with string keys (sorted, so that the same value
-- is the same text). What reports, notebooks and diagnostics are written with.
local order = require "tide.order"

local json = {}

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["\b"] = "\\b", ["\f"] = "\\f", ["\n"] = "\\n", ["\r"] = "\\r",
  ["\t"] = "\\t" }

--- An empty list, which an empty table is not.
json.list = setmetatable({}, { __len = function() return 0 end })

--- What null is, as nil is no entry of a table.
json.null = setmetatable({}, { __tostring = function() return "null" end })

--- A string with U+FFFD for each byte that is not UTF-8.
function json.utf8(s)
  local good, from = {}, 1
  while true do
    local n, bad = utf8.len(s, from)
    good[#good + 1] = s:sub(from, n and #s or bad - 1)
    if n then return table.concat(good, "\u{FFFD}") end
    from = bad + 1
  end
end

-- A string in quotes.
local function quote(s)
  return '"' .. json.utf8(s):gsub('[%c"\\]', function(c) return escapes[c] or ("\\u%04x"):format(c:byte()) end) .. '"'
end

-- A number so that it reads back the same; JSON has none that is infinite or not a number.
local function number(x)
  if math.type(x) == "integer" then return ("%d"):format(x) end
  assert(x == x and x ~= math.huge and x ~= -math.huge, "JSON has no such number")
  return (("%.17g"):format(x):gsub(",", "."))
end

-- Puts v with what is inside it at `indent`; nil: on one line.
local function put(out, v, indent)
  local kind = type(v)
  if kind == "string" then out[#out + 1] = quote(v) return end
  if kind == "number" then out[#out + 1] = number(v) return end
  if kind ~= "table" or v == json.null then out[#out + 1] = tostring(v) return end
  local inner = indent and indent .. " "
  local listed, keys = #v > 0 or v == json.list, {}
  for k in pairs(v) do
    if not listed then keys[#keys + 1] = k end
  end
  table.sort(keys, order.bytes)
  local n = listed and #v or #keys
  out[#out + 1] = listed and "[" or "{"
  for i = 1, n do
    out[#out + 1] = (i > 1 and "," or "") .. (inner and "\n" .. inner or i > 1 and " " or "")
    if not listed then out[#out + 1] = quote(keys[i]) .. ": " end
    put(out, listed and v[i] or v[keys[i]], inner)
  end
  out[#out + 1] = (inner and n > 0 and "\n" .. indent or "") .. (listed and "]" or "}")
end

--- The text of v, on one line; with `indented`, one entry a line.
function json.text(v, indented)
  local out = {}
  put(out, v, indented and "" or nil)
  return table.concat(out)
end

-- ---- reading ----

local plain = { ['"'] = '"', ["\\"] = "\\", ["/"] = "/", b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }
local words = { ["true"] = true, ["false"] = false, null = json.null }
local read

local function fail(at, what) error(("JSON at byte %d: %s"):format(at, what), 0) end

local function skip(s, at) return s:find("[^ \t\r\n]", at) or #s + 1 end

-- The character of \uXXXX at `at`, of two such where they are a pair, and where the text goes on.
local function unicode(s, at)
  local high = tonumber(s:match("^%x%x%x%x", at) or fail(at, "four hexadecimal digits expected"), 16)
  local low = high >= 0xD800 and high < 0xDC00 and tonumber(s:match("^\\u(%x%x%x%x)", at + 4) or "", 16)
  if low and low >= 0xDC00 and low < 0xE000 then
    return utf8.char(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)), at + 10
  end
  return high >= 0xD800 and high < 0xE000 and "\u{FFFD}" or utf8.char(high), at + 4
end

-- The string whose quote is at `at`, and where the text goes on.
local function read_string(s, at)
  local out, from = {}, at + 1
  while true do
    local stop = s:find('["\\%c]', from) or fail(at, "a string that does not end")
    out[#out + 1] = s:sub(from, stop - 1)
    local c = s:sub(stop, stop)
    if c == '"' then return table.concat(out), stop + 1 end
    if c ~= "\\" then fail(stop, "a control character in a string") end
    local e = s:sub(stop + 1, stop + 1)
    if e == "u" then
      out[#out + 1], from = unicode(s, stop + 2)
    else
      out[#out + 1], from = plain[e] or fail(stop, "an unknown escape"), stop + 2
    end
  end
end

-- The entries between brackets at `at`: `entry` reads one into the table; where the text goes on.
local function read_entries(s, at, close, entry)
  local out = {}
  at = skip(s, at + 1)
  if s:sub(at, at) == close then return out, at + 1 end
  while true do
    at = skip(s, entry(out, at))
    local c = s:sub(at, at)
    if c == close then return out, at + 1 end
    if c ~= "," then fail(at, "',' or '" .. close .. "' expected") end
    at = skip(s, at + 1)
  end
end

-- The value at `at`, at most `deep` levels deep, and where the text goes on.
function read(s, at, deep)
  local c = s:sub(at, at)
  if deep == 0 then fail(at, "too deep") end
  if c == '"' then return read_string(s, at) end
  if c == "[" then
    return read_entries(s, at, "]", function(out, from)
      out[#out + 1], from = read(s, from, deep - 1)
      return from
    end)
  end
  if c == "{" then
    return read_entries(s, at, "}", function(out, from)
      if s:sub(from, from) ~= '"' then fail(from, "a key expected") end
      local key
      key, from = read_string(s, from)
      from = skip(s, from)
      if s:sub(from, from) ~= ":" then fail(from, "':' expected") end
      out[key], from = read(s, skip(s, from + 1), deep - 1)
      return from
    end)
  end
  local word = s:match("^%l+", at)
  if word and words[word] ~= nil then return words[word], at + #word end
  local number = s:match("^-?%d+%.?%d*[eE]?[+-]?%d*", at)
  local value = number and (math.tointeger(number) or tonumber(number))
  if not value or number:find "^-?0%d" then fail(at, "a value expected") end
  return value, at + #number
end

--- The value of a JSON text: objects and lists are tables, null is json.null. Raises where it is none.
function json.read(s)
  local v, at = read(s, skip(s, 1), 200)
  at = skip(s, at)
  if at <= #s then fail(at, "the end expected") end
  return v
end

return json
