-- budgets.lua - how long files, functions and lines may be, and how often they may branch on #if.
local tree = require "lint.tree"

local FILE, FUNCTION, SWITCH, LINE, LONG_LINE, LINES_PER_IF = 600, 60, 120, 100, 120, 200
local FOLDER = 30

-- Files.
local function check_files(report)
  for _, path in ipairs(tree.matching("%.[ch]$", "%.cpp$", "%.lua$", "%.sh$", "^Makefile$",
    "^setup$")) do
    local n = #tree.lines(path)
    if n > FILE then report(path, n, ("%d lines, at most %d"):format(n, FILE)) end
  end
end

-- Sources of C in a folder, headers not counted.
local function check_folders(report)
  local count = {}
  for _, path in ipairs(tree.matching("^interp/.*%.c$", "^backends/.*%.c$", "^repl/.*%.c$")) do
    local folder = path:match "^(.*)/"
    count[folder] = (count[folder] or 0) + 1
    if count[folder] == FOLDER + 1 then
      report(path, 1, ("%s has more than %d sources: make a room"):format(folder, FOLDER))
    end
  end
end

-- How many lines from first to last lie outside the longest switch that begins among them.
local function outside_switch(path, first, last)
  local lines, longest = tree.lines(path), 0
  for n = first, last do
    local indent = lines[n]:match "^(%s*)switch %("
    for m = n + 1, indent and last or n do
      if lines[m] == indent .. "}" then
        longest = math.max(longest, m - n + 1)
        break
      end
    end
  end
  return last - first + 1 - longest
end

-- Functions of C and C++; one that is a single switch has a limit of its own.
local function check_functions(report)
  for _, tag in ipairs(tree.functions()) do
    local n = tag.last and tag.last - tag.line + 1 or 0
    local is_switch = n > FUNCTION and n <= SWITCH and
      outside_switch(tag.path, tag.line, tag.last) <= 15
    if n > FUNCTION and not is_switch then
      report(tag.path, tag.line, ("%s has %d lines, at most %d"):format(tag.name, n, FUNCTION))
    end
  end
end

-- Functions of Lua, as its own compiler lists them.
local function check_lua_functions(report)
  for _, path in ipairs(tree.matching "%.lua$") do
    for from, to in tree.output("luac5.4 -l -p '" .. path .. "' 2>/dev/null"):gmatch
      "\nfunction <[^\n]-:(%d+),(%d+)>" do
      local n = to - from + 1
      if n > FUNCTION then
        report(path, tonumber(from), ("a function of %d lines, at most %d"):format(n, FUNCTION))
      end
    end
  end
end

-- The lines of a file that have a limit: of Markdown, those outside of tables and fenced blocks.
local function limited_lines(path)
  if not path:find "%.md$" then return tree.lines(path) end
  local kept, fenced = {}, false
  for n, line in ipairs(tree.lines(path)) do
    if line:find "^```" then fenced = not fenced end
    kept[n] = (fenced or line:find "^|") and "" or line
  end
  return kept
end

-- Lines, in code points; the rows of a table of cases (.def, tests/reject) are as wide as it is.
local function check_lines(report)
  for _, path in ipairs(tree.matching("%.[ch]$", "%.cpp$", "%.lua$", "%.sh$", "^Makefile$",
    "^setup$", "^%.ci/", "%.md$")) do
    local long = path:find "%.lua$" or path:find "%.md$"
    local most = path:find "^tests/reject/" and math.huge or long and LONG_LINE or LINE
    for n, line in ipairs(limited_lines(path)) do
      if #line > most and (utf8.len(line) or #line) > most then
        report(path, n, ("%d columns, at most %d"):format(utf8.len(line) or #line, most))
      end
    end
  end
end

-- Conditional compilation, include guards aside; files of one platform are named for it.
local function check_conditions(report)
  for _, path in ipairs(tree.core()) do
    if not path:find "_posix%.c$" and not path:find "_linux%.c$" then
      local found, last = 0, 0
      for n, line in ipairs(tree.lines(path)) do
        local guard = line:find "^#ifndef [%u%d_]+_H$"
        if line:find "^%s*#%s*if" and not guard then found, last = found + 1, n end
      end
      local allowed = math.ceil(#tree.lines(path) / LINES_PER_IF)
      if found > allowed then
        report(path, last, ("%d times #if, at most %d"):format(found, allowed))
      end
    end
  end
end

return {
  {("files have at most %d lines"):format(FILE), check_files},
  {("folders have at most %d sources"):format(FOLDER), check_folders},
  {("functions have at most %d lines, %d when one switch"):format(FUNCTION, SWITCH),
    function(report)
      check_functions(report)
      check_lua_functions(report)
    end},
  {("lines have at most %d columns, of Lua and Markdown %d"):format(LINE, LONG_LINE), check_lines},
  {("#if at most once in %d lines"):format(LINES_PER_IF), check_conditions},
}
