-- JSON text of Lua values: strings, numbers, booleans, lists, tables with string keys (sorted, so that the same value
-- is the same text). What reports, notebooks and diagnostics are written with.
local order = require "tide.order"

local json = {}

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["\b"] = "\\b", ["\f"] = "\\f", ["\n"] = "\\n", ["\r"] = "\\r",
  ["\t"] = "\\t" }

--- An empty list, which an empty table is not.
json.list = setmetatable({}, { __len = function() return 0 end })

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
  if kind ~= "table" then out[#out + 1] = tostring(v) return end
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

return json
