-- lint.lua - what a program can check of CONTRIBUTING.md: lua5.4 tests/lint.lua, from the root.
-- Prints one TAP line for each rule, below it the findings as file:line: message.
package.path = "tests/?.lua;" .. package.path

local modules = {"layers", "names", "budgets", "comments", "memory", "coverage", "tools"}
local passed, failed = 0, 0

-- Runs one rule: check(report) calls report(file, line, message) for each finding and may return
-- a figure.
local function run(name, check)
  local findings = {}
  local figure = check(function(path, line, message)
    findings[#findings + 1] = ("%s:%d: %s"):format(path, line, message)
  end)
  local good = #findings == 0
  passed, failed = passed + (good and 1 or 0), failed + (good and 0 or 1)
  print(("%s %d - %s%s"):format(good and "ok" or "not ok", passed + failed, name,
    figure and (" (%s)"):format(figure) or ""))
  for _, finding in ipairs(findings) do print(finding) end
  io.stdout:flush()
end

for _, name in ipairs(modules) do
  for _, rule in ipairs(require("lint." .. name)) do run(rule[1], rule[2]) end
end
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0, true)
