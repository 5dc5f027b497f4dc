-- Codes of errors: what each means and what helps, and for most a program that is refused beside one that is accepted.
-- The texts are in codes/*.txt: a code, below it by two spaces its text, then lines of the two examples, refused ("-")
-- and accepted ("+"), which are whole programs ("run"), the body of a kernel ("body") or of a design's function
-- ("task"), over what `givens` defines. tests/repl/codes.lua runs them all; tests/lint/coverage.lua compares the table
-- with the sources.
local order = require "tide.order"

local codes = {}

-- The files, which are the sections of the reference page.
codes.areas = {
  { name = "syntax", title = "Lua" }, { name = "language", title = "Kernels" },
  { name = "values", title = "Values and runs" }, { name = "designs", title = "Designs" },
  { name = "steps", title = "Steps" }, { name = "builds", title = "Builds" },
  { name = "libraries", title = "Libraries" },
}

-- What examples use, in the order in which it is defined: a name, and the line that defines it.
local givens = {
  { "N", "local N = 8" },
  { "list", "local list = {1, 2}" },
  { "text", 'local text = "abc"' },
  { "none", "local none" },
  { "zero", "local zero = 0" },
  { "T", "local T = tide.tensor(i32[4], {1, 2, 3, 4})" },
  { "S", "local S = tide.state(i32[4], 0)" },
  { "add", "local function add(x, y) return x + y end" },
  { "add4", "local add4 = tide.kernel {X = i32[4], Y = i32[4], function(X, Y)\n" ..
    "  for i = 0, 3 do Y[i] = X[i] + 1 end\nend}" },
  { "set4", "local set4 = tide.kernel {X = i32[4], n = i32, function(X, n) for i = 0, 3 do X[i] = n end end}" },
  { "gemm", "local gemm = tide.kernel {A = i8[4][8], B = i8[8][4], C = i32[4][4], function(A, B, C)\n" ..
    "  for i, j in grid(4, 4) do\n    for k = 0, 7 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end\n  end\nend}" },
  { "two", "local two = tide.kernel {A = i32[8], B = i32[8], C = i32[8], function(A, B, C)\n" ..
    "  for i = 0, 7 do B[i] = A[i] + 1 end\n  for j = 0, 7 do C[j] = B[j] * 2 end\nend}" },
  { "line", "local line = tide.kernel {A = i32[8], function(A)\n  for i = 1, 7 do A[i] = A[i - 1] + 1 end\nend}" },
  { "caller", "local caller = tide.kernel {A = i32[4], B = i32[4], function(A, B)\n  add4(A, B)\nend}" },
  { "pair", "local pair = tide.design(function(d)\n  local Z = d:stream(i32)\n" ..
    "  d.put = tide.task {A = i32[4], function(A) for i = 0, 3 do Z:put(A[i]) end end}\n" ..
    "  d.get = tide.task {B = i32[4], function(B) for i = 0, 3 do B[i] = Z:get() end end}\nend)" },
  { "row", "local row = tide.design(function(d)\n  d.pe = tide.task {map = {4}, A = i32[8]:layout \"S0\", " ..
    "function(A, i) A[0] = i32(i) end}\nend)" },
  { "s", "local s = tide.schedule(gemm)" },
  { "s2", "local s2 = tide.schedule(two)" },
  { "sl", "local sl = tide.schedule(line)" },
  { "sp", "local sp = tide.schedule(pair)" },
  { "sr", "local sr = tide.schedule(row)" },
}

-- The parameters of the kernel around a body.
local parameters = { { "A", "i8[8]" }, { "B", "i32[8]" }, { "F", "f32[8]" }, { "M", "i32[4][4]" }, { "n", "i32" },
  { "x", "f32" }, { "j", "index" } }

-- Whether a name stands in a text, outside of strings and not as a field.
local function uses(text, name)
  return (" " .. text:gsub('"[^"\n]*"', '""')):find("[^%w_.:]" .. name .. "%f[^%w_]") ~= nil
end

-- The lines that define what a text uses.
local function defined(text)
  local lines = {}
  for n = #givens, 1, -1 do
    local name, line = givens[n][1], givens[n][2]
    if uses(text, name) then
      table.insert(lines, 1, line)
      text = text .. "\n" .. line
    end
  end
  return lines
end

-- What stands around an example of a kind: lines before it and behind it.
local around = {}
function around.run() return "", "" end
function around.task() return "tide.design(function(d)", "end)" end
function around.body(text)
  local fields, names = {}, {}
  for _, p in ipairs(parameters) do
    if uses(text, p[1]) then
      fields[#fields + 1], names[#names + 1] = p[1] .. " = " .. p[2] .. ", ", p[1]
    end
  end
  return ("tide.kernel {%sfunction(%s)"):format(table.concat(fields), table.concat(names, ", ")), "end}"
end

local rows -- by code: {code =, text =, area =, kind =, refused =, accepted =}, read when it is first asked for

-- Reads the file of an area into rows.
local function read(area)
  local path = assert(package.searchpath("tide.tool.codes", package.path)):gsub("%.lua$", "/" .. area.name .. ".txt")
  local row
  for line in io.lines(path) do
    local kind, sign, text = line:match "^  (%l+) ([-+]) ?(.*)$"
    if not line:find "^ " then
      if rows[line] then error(("%s: a second row '%s'"):format(path, line), 0) end
      row = { code = line, text = "", area = area.name }
      rows[line], rows[#rows + 1] = row, row
    elseif around[kind] then
      local field = sign == "-" and "refused" or "accepted"
      row.kind, row[field] = kind, (row[field] and row[field] .. "\n" or "") .. text
    else
      row.text = row.text .. (row.text == "" and "" or "\n") .. line:sub(3)
    end
  end
end

--- All rows, by area; by code too.
function codes.all()
  if not rows then
    rows = {}
    for _, area in ipairs(codes.areas) do read(area) end
  end
  return rows
end

--- An example of a row as a program, "refused" or "accepted"; nil if it has none.
function codes.program(row, which)
  local text = row[which]
  if not text then return nil end
  local head, tail = around[row.kind](row.refused .. "\n" .. row.accepted)
  local body = head .. "\n" .. text .. "\n" .. tail
  return table.concat(defined(body), "\n") .. "\n" .. body .. "\n"
end

-- Lines under a word.
local function put(out, word, text)
  for line in text:gmatch "[^\n]+" do
    out[#out + 1] = ("  %-9s %s"):format(word, line)
    word = ""
  end
end

--- What help says of a code, or nil.
function codes.help(code)
  local row = codes.all()[code]
  if not row then return nil end
  local out = { "error code " .. code, "  " .. row.text:gsub("\n", "\n  ") }
  if row.refused then
    local head, tail = around[row.kind](row.refused .. "\n" .. row.accepted)
    put(out, "given", table.concat(defined(head .. "\n" .. row.refused .. "\n" .. row.accepted), "\n"))
    if head ~= "" then put(out, "in", head .. " .. " .. tail) end
    put(out, "refused", row.refused)
    put(out, "accepted", row.accepted)
  end
  return table.concat(out, "\n")
end

--- The codes with their first lines, sorted: a list of {name =, summary =}.
function codes.list()
  local list = {}
  for _, row in ipairs(codes.all()) do
    list[#list + 1] = { name = row.code, summary = row.text:match "^[^\n]*" }
  end
  table.sort(list, function(a, b) return order.bytes(a.name, b.name) end)
  return list
end

--- A line for each code whose name or text holds a word, in either case; nil if there is none.
function codes.search(word)
  local out = {}
  word = word:lower()
  for _, x in ipairs(codes.list()) do
    local text = codes.all()[x.name].text
    if x.name:find(word, 1, true) or text:gsub("\n", " "):lower():find(word, 1, true) then
      out[#out + 1] = ("  %-20s %s"):format(x.name, x.summary)
    end
  end
  return out[1] and table.concat(out, "\n")
end

--- The reference page of all codes, as lines of Markdown.
function codes.page(out)
  out[#out + 1] = "\n## Codes of errors\n\nEach message ends with its code in brackets; `?code` explains it.\n"
  for _, area in ipairs(codes.areas) do
    out[#out + 1] = "### " .. area.title .. "\n"
    for _, row in ipairs(codes.all()) do
      if row.area == area.name then
        out[#out + 1] = ("- `%s`: %s"):format(row.code, row.text:gsub("\n", " "))
      end
    end
    out[#out + 1] = ""
  end
end

return codes
