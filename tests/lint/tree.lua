-- tree.lua - the checkout as the checks see it: files, lines, code without comments, tags.
local shell = require "shell"

local M = {output = shell.output}

-- What is built, by the lines of .gitignore that begin at the root.
local built = {}
for path in (shell.read ".gitignore" or ""):gmatch "/([^\n]+)" do built[path] = true end

-- Every other file, by path, sorted.
M.files = {}
for path in M.output [[find . \( -path ./build -o -path ./.git \) -prune -o -type f -printf '%P\n' | LC_ALL=C sort]]
  :gmatch "[^\n]+" do
  if not built[path] then M.files[#M.files + 1] = path end
end

-- The files whose path matches one of the patterns.
function M.matching(...)
  local found = {}
  for _, path in ipairs(M.files) do
    for _, pattern in ipairs {...} do
      if path:find(pattern) then
        found[#found + 1] = path
        break
      end
    end
  end
  return found
end

-- The C files of the program itself, without the headers of simulated C++.
function M.core()
  local found = {}
  for _, path in ipairs(M.matching("^interp/.*%.[ch]$", "^backends/.*%.[ch]$", "^repl/.*%.[ch]$")) do
    if not path:find "/include/" then found[#found + 1] = path end
  end
  return found
end

-- f, called once for each argument.
local function once(f)
  local known = {}
  return function(x)
    x = x or ""
    known[x] = known[x] or f(x)
    return known[x]
  end
end

-- The whole of a file, and its lines.
M.text = once(shell.read)
M.lines = once(function(path)
  local lines = {}
  for line in (M.text(path):gsub("\n$", "") .. "\n"):gmatch "(.-)\n" do lines[#lines + 1] = line end
  return lines
end)

-- The text of a C file with comments and the insides of literals blanked; every byte in its place.
M.code = once(function(path)
  local text, parts, at = M.text(path), {}, 1
  while true do
    local from = text:find("[/\"']", at)
    if not from then break end
    local to, keep = nil, 1
    local first = text:sub(from, from)
    if first == "/" then
      keep = 0
      if text:sub(from + 1, from + 1) == "*" then
        to = select(2, text:find("*/", from + 2, true))
      elseif text:sub(from + 1, from + 1) == "/" then
        to = (text:find("\n", from, true) or #text + 1) - 1
      end
    else
      to = from + 1
      while to < #text and text:sub(to, to) ~= first do
        to = to + (text:sub(to, to) == "\\" and 2 or 1)
      end
    end
    to = to or from
    parts[#parts + 1] = text:sub(at, from - 1)
    if to == from then
      parts[#parts + 1] = first
    else
      local inside = text:sub(from + keep, to - keep):gsub("[^\n]", " ")
      parts[#parts + 1] = keep == 1 and first .. inside .. first or inside
    end
    at = to + 1
  end
  parts[#parts + 1] = text:sub(at)
  return table.concat(parts)
end)

-- The line number of a byte of a text.
function M.line_of(text, at)
  local _, n = text:sub(1, at - 1):gsub("\n", "")
  return n + 1
end

-- Whether the declaration that a line belongs to begins with `static`: `static struct {` may stand
-- far above the name.
local function begins_static(path, line)
  local lines = M.lines(path)
  while line > 1 and lines[line]:find "^[%s}]" do line = line - 1 end
  return lines[line]:find "^static" ~= nil
end

-- Appends to `tags` what Universal Ctags sees in files of one language.
local function read_tags(tags, files, language)
  local list = os.tmpname()
  shell.write(list, table.concat(files, "\n") .. "\n")
  local text = M.output(("ctags --quiet -L '%s' -f - --sort=no --excmd=number --fields=+neKS " ..
    "--kinds-%s=fptvx --language-force=%s -I TD_PRINTF+"):format(list, language, language))
  os.remove(list)
  for line in text:gmatch "[^\n]+" do
    local name, path, number, rest = line:match '^(%S+)\t([^\t]+)\t(%d+);"\t(.*)$'
    if name then
      rest = rest .. "\t"
      tags[#tags + 1] = {name = name, path = path, line = tonumber(number),
        kind = rest:match "^%a+", last = tonumber(rest:match "\tend:(%d+)"),
        signature = rest:match "\tsignature:([^\t]*)" or "",
        hidden = rest:find "\tfile:" ~= nil or begins_static(path, tonumber(number))}
    end
  end
end

-- Definitions, prototypes, types and variables of C and C++ files: {name, path, line, kind, last,
-- signature, hidden}; last is the last line, hidden is static.
M.tags = once(function()
  local c, cpp = {}, {}
  for _, path in ipairs(M.matching("%.[ch]$", "%.cpp$")) do
    table.insert((path:find "^backends/%w+/include/" or path:find "^tests/backend/") and cpp or c,
      path)
  end
  local tags = {}
  read_tags(tags, c, "C")
  read_tags(tags, cpp, "C++")
  assert(#tags > 0, "Universal Ctags gave nothing")
  return tags
end)

-- Functions defined in C files, tests included.
function M.functions()
  local found = {}
  for _, tag in ipairs(M.tags()) do
    if tag.kind == "function" and tag.path:find "%.[ch]p?p?$" then found[#found + 1] = tag end
  end
  return found
end

return M
