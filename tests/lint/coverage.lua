-- coverage.lua - primitives are described and tested; every diagnostic code has a test and a row in
-- the table of codes.
local tree = require "lint.tree"

-- The string literals of a piece of C, joined where they stand side by side, as a list.
local function literals(text)
  local found = {}
  for s in text:gsub('"%s*"', ""):gmatch '"([^"]*)"' do found[#found + 1] = s end
  return found
end

-- Whether the tree has a file of that path.
local function exists(path) return #tree.matching("^" .. path:gsub("%p", "%%%0") .. "$") > 0 end

-- Primitives: the fields that people read, and a test of that name.
local function check_primitives(report)
  local n = 0
  local paths = tree.matching "^interp/rewrite/%a+/[%w_]+%.c$"
  for _, path in ipairs(tree.matching "^interp/step/prim/[%w_]+%.c$") do paths[#paths + 1] = path end
  for _, path in ipairs(paths) do
    local stem = path:match "([^/]+)%.c$"
    local of = path:find "^interp/step/" and "stp_prim" or "prim"
    local defined, struct = tree.text(path):match("\nconst TdPrim td_" .. of .. "_([%w_]+) = (%b{})")
    if of == "stp_prim" then stem = stem:gsub("^stp_", "") end
    if defined and defined ~= stem then
      report(path, 1, ("defines const TdPrim td_%s_%s, not td_%s_%s"):format(of, defined, of, stem))
    end
    if struct then
      n = n + 1
      for _, field in ipairs {"name", "on", "summary", "rewrite", "legal", "example"} do
        if not struct:find("%." .. field .. '%s*=%s*"[^"]') then
          report(path, 1, "the primitive lacks ." .. field)
        end
      end
      local test = ("tests/prim/%s%s.lua"):format(of == "prim" and "" or "step_", struct:match '%.name%s*=%s*"([^"]*)"')
      if not exists(test) then report(path, 1, "the primitive has no " .. test) end
    end
  end
  return n .. " primitives"
end

-- The functions that take a diagnostic code: name -> {[path or ""] = position of the code among
-- the arguments}; static ones count in their own file only.
local function takers()
  local found = {}
  for _, tag in ipairs(tree.tags()) do
    if tag.kind == "function" and not tag.path:find "^tests/" then
      local position = 0
      for parameter in tag.signature:sub(2, -2):gmatch "[^,]+" do
        position = position + 1
        if parameter:find "const char %* ?code$" then
          found[tag.name] = found[tag.name] or {}
          found[tag.name][tag.hidden and tag.path or ""] = position
        end
      end
    end
  end
  return found
end

-- The n-th argument of the call whose parenthesis opens at `at`, as written, or nil.
local function argument(path, at, n)
  local code, text = tree.code(path), tree.text(path)
  local depth, position, from = 0, 1, at + 1
  for i = at, #code do
    local c = code:sub(i, i)
    if c == "(" or c == "{" or c == "[" then
      depth = depth + 1
    elseif c == ")" or c == "}" or c == "]" then
      depth = depth - 1
    end
    if depth == 0 or depth == 1 and c == "," then
      if position == n then return text:sub(from, i - 1) end
      position, from = position + 1, i + 1
    end
    if depth == 0 then return nil end
  end
end

-- Every code in the sources: code -> {path, line} of one place.
local function collect_codes()
  local codes, takes = {}, takers()
  local function add(path, at, text)
    for _, s in ipairs(literals(text or "")) do
      for code in s:gmatch "[%l%d-]+" do
        codes[code] = codes[code] or {path = path, line = tree.line_of(tree.text(path), at)}
      end
    end
  end
  for _, path in ipairs(tree.core()) do
    local code, text = tree.code(path), tree.text(path)
    for name, at in code:gmatch "([%a_][%w_]*)%s*()%(" do
      local positions = takes[name]
      local n = positions and (positions[path] or positions[""])
      if n then add(path, at, argument(path, at, n)) end
    end
    for at, value in text:gmatch '()%f[%w]code = ("[%l%d-]+")' do add(path, at, value) end
    for at, value in text:gmatch '()%.errors%s*=%s*(".-"),?\n%s*[%.}]' do add(path, at, value) end
    for at, value in text:gmatch '\n    {[%u%d_|() ~]+, [%u |]+, ()("%l[%l-]+"),' do add(path, at, value) end
    for at, value in text:gmatch '\n#define [%u_]+ ()("%l+%-[%l-]+"), "' do add(path, at, value) end
    for at, value in text:gmatch '%f[%w]codes?%[%] = ()(%b{})' do add(path, at, value) end
  end
  return codes
end

local kinds = {illegal = true, unsupported = true, usage = true, limit = true, bug = true}

-- Adds the codes that Lua of stdlib raises: the first word in quotes among the arguments of fail,
-- raise or refuse, behind the kind.
local raising = {fail = true, raise = true, refuse = true}
local function add_library_codes(codes)
  for _, path in ipairs(tree.matching "^stdlib/.*%.lua$") do
    local text = tree.text(path)
    for at, name in text:gmatch "%f[%w_]()(%l+)%f[(]" do
      local call = raising[name] and text:match("^%l+(%b())", at) or ""
      for literal in call:gmatch '"([^"\n]*)"' do
        local code = literal:match "^%l[%l%d-]*$"
        if code and not codes[code] and not kinds[code] then
          codes[code] = {path = path, line = tree.line_of(text, at)}
        end
        if not kinds[code] then break end
      end
    end
  end
end

-- Marks the codes that a string of a test names: it is the code (alone, with a line, or after its
-- kind), or holds one of more than one word.
local function mark_codes(tested, s)
  local kind, after = s:match "^(%l+) (%l[%l%d-]*) ?$"
  tested[kinds[kind] and after or s:match "^(%l[%l%d-]*):?%d*$" or 0] = true
  for code in s:gmatch "%l[%l%d]*%-[%l%d-]+" do tested[code] = true end
end

-- The codes that strings of tests name.
local function tested_codes()
  local tested = {}
  for _, path in ipairs(tree.matching("^tests/.*/.*%.lua$", "^tests/.*%.[ch]$")) do
    local text = path:find "^tests/lint" and "" or tree.text(path):gsub("\\[tn]", " ")
    for s in text:gmatch '"([^"\n]*)"' do mark_codes(tested, s) end
    for s in text:gmatch "'([^'\n]*)'" do mark_codes(tested, s) end
  end
  return tested
end

-- Codes without a test.
local function check_codes(report)
  local tested, all = tested_codes(), 0
  for code, place in pairs(collect_codes()) do
    all = all + 1
    if not tested[code] then report(place.path, place.line, "no test names the code " .. code) end
  end
  return all .. " codes"
end

-- The folder of the table of codes, and a row of it as it is written.
local table_of_codes = "stdlib/tide/tool/codes/"
local row = "add to %s<area>.txt, in its order: a line `%s`, below it by two spaces a sentence or two on what it " ..
  "means and what helps, and if it can be, lines `  run - <refused>` and `  run + <accepted>`"

-- Codes that the table lacks, and rows of it that nothing raises.
local function check_table(report)
  local codes, rows, n = collect_codes(), {}, 0
  add_library_codes(codes)
  codes.error = nil -- of plain Lua
  for _, path in ipairs(tree.matching("^" .. table_of_codes .. ".*%.txt$")) do
    for number, line in ipairs(tree.lines(path)) do
      local code = line:match "^[%l%d-]+$"
      if code then
        if rows[code] then report(path, number, "a second row of " .. code) end
        rows[code], n = true, n + 1
        if not codes[code] then report(path, number, "nothing raises the code " .. code .. ": take its row out") end
        if not (tree.lines(path)[number + 1] or ""):find "^  %S" then
          report(path, number, code .. " has no text")
        end
      end
    end
  end
  for code, place in pairs(codes) do
    if not rows[code] then
      report(place.path, place.line, ("no text on %s: %s"):format(code, row:format(table_of_codes, code)))
    end
  end
  return n .. " rows"
end

-- What docs/house.md names in backquotes with a slash is a file or folder.
local function check_house(report)
  local n = 0
  for number, line in ipairs(tree.lines "docs/house.md") do
    for path in line:gmatch "`(%l[%w_]*/[%w_/.]+)`" do
      n = n + 1
      if #tree.matching("^" .. path:gsub("%p", "%%%0")) == 0 then
        report("docs/house.md", number, path .. " is not in the tree")
      end
    end
  end
  return n .. " paths"
end

return {
  {"primitives are described and have tests/prim/<name>.lua", check_primitives},
  {"every diagnostic code has a test", check_codes},
  {"every diagnostic code has a row in the table of codes", check_table},
  {"docs/house.md names what exists", check_house},
}
