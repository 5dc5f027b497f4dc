-- CSV files: rows of fields, with a head or without; quotes as RFC 4180 has them.
--   local rows = tide.csv.read "lens.csv"          -- { { len0 = "33", .. }, .. }, by the head
--   tide.csv.write("out.csv", rows, { "tile", "cycles" })
local csv = {}

-- The fields of the record that begins at `from`; where the next begins.
local function record(text, from)
  local fields, at = {}, from
  while true do
    local value
    if text:sub(at, at) == '"' then
      local parts, stop = {}, at + 1
      while true do
        local quote = text:find('"', stop, true) or error("csv: a quote is not closed", 0)
        parts[#parts + 1] = text:sub(stop, quote - 1)
        stop = quote + 1
        if text:sub(stop, stop) ~= '"' then break end
        parts[#parts + 1] = '"'
        stop = stop + 1
      end
      value, at = table.concat(parts), stop
    else
      local stop = text:find("[,\r\n]", at) or #text + 1
      value, at = text:sub(at, stop - 1), stop
    end
    fields[#fields + 1] = value
    local c = text:sub(at, at)
    if c ~= "," then return fields, text:match("^\r?\n()", at) or at + 1 end
    at = at + 1
  end
end

--- The rows of a text; with the head of its first line as keys, unless `head` is false.
---@param text string
---@param o? table head = false: rows are lists; numbers = true: fields that are numbers become some
function csv.parse(text, o)
  o = o or {}
  local rows, at, names = {}, 1, nil
  while at <= #text do
    local fields
    fields, at = record(text, at)
    if o.numbers then
      for i, v in ipairs(fields) do fields[i] = tonumber(v) or v end
    end
    if o.head == false then
      rows[#rows + 1] = fields
    elseif not names then
      names = fields
    else
      local row = {}
      for i, name in ipairs(names) do row[name] = fields[i] end
      rows[#rows + 1] = row
    end
  end
  return rows, names
end

--- The rows of a file.
function csv.read(path, o)
  local file = io.open(path, "rb") or error(("csv: there is no file '%s'"):format(path), 2)
  local text = file:read "a"
  file:close()
  return csv.parse(text, o)
end

local function field(v)
  local text = v == nil and "" or math.type(v) == "float" and ("%.9g"):format(v) or tostring(v)
  return text:find '[",\r\n]' and '"' .. text:gsub('"', '""') .. '"' or text
end

--- Rows as text: the columns that are named, under a head.
function csv.text(rows, columns)
  local lines = { table.concat(columns, ",") }
  for i, row in ipairs(rows) do
    local fields = {}
    for k, name in ipairs(columns) do fields[k] = field(row[name]) end
    lines[i + 1] = table.concat(fields, ",")
  end
  return table.concat(lines, "\n") .. "\n"
end

--- Writes rows to a file.
function csv.write(path, rows, columns)
  local file = io.open(path, "wb") or error(("csv: '%s' cannot be written"):format(path), 2)
  file:write(csv.text(rows, columns))
  file:close()
end

return csv
