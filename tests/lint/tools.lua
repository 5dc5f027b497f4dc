-- tools.lua - what other programs check: formatting of C, and Lua.
local shell = require "shell"
local tree = require "lint.tree"

-- Runs a command on files, two batches at a time; returns its output.
local function run(command, files)
  local list = os.tmpname()
  shell.write(list, table.concat(files, "\n") .. "\n")
  local text = tree.output(("xargs -a '%s' -d '\\n' -n 25 -P \"$(nproc)\" %s 2>&1"):format(list,
    command))
  os.remove(list)
  return text
end

-- Reports each line of output that begins with file:line; anything else is shown as it stands.
local function report_lines(report, text, strange)
  for line in text:gmatch "[^\n]+" do
    local path, n, message = line:match "^%s*([^:]+):(%d+):%d*:?%s*(.*)$"
    if path then
      report(path, tonumber(n), message)
    elseif strange and line:find(strange) then
      report("tests/lint/tools.lua", 1, line)
    end
  end
end

-- Formatting: one finding for each file.
local function check_format(report)
  local seen = {}
  local files = tree.matching("%.[ch]$", "%.cpp$")
  report_lines(function(path, line)
    if not seen[path] then report(path, line, "not as clang-format leaves it") end
    seen[path] = true
  end, run("clang-format --dry-run -Werror", files), "not found")
  return #files .. " files"
end

-- Lua.
local function check_lua(report)
  local files = tree.matching "%.lua$"
  report_lines(report, run("luacheck --no-color --formatter plain --codes", files), "not found")
  return #files .. " files"
end

return {
  {"clang-format", check_format},
  {"luacheck", check_lua},
}
