-- callgrind.lua - how many instructions a command does, which no other work on the machine changes.
local shell = require "shell"
local M = {}

-- Why they cannot be counted here; nil when they can.
function M.missing()
  if arg[-1]:find("/san/", 1, true) then return "a program with ASan does not run under valgrind" end
  if shell.output "command -v valgrind" == "" then return "valgrind is not installed" end
end

-- The command that counts those of a command, for the shell; the count goes to a file. `within`, if there, names
-- functions: only what runs inside them is counted.
function M.command(command, log, within)
  local toggles = {}
  for i, name in ipairs(within or {}) do toggles[i] = "--toggle-collect=" .. name .. " " end
  return ("valgrind --tool=callgrind --callgrind-out-file=/dev/null %s--log-file=%s %s")
    :format(table.concat(toggles), shell.quote(log), command)
end

-- The count in that file; nil while the command runs.
function M.count(log) return tonumber((shell.read(log):match "Collected : (%d+)")) end

return M
