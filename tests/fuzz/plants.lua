-- plants.lua - each fault of faults.lua planted in a copy of the tree: lua5.4 tests/fuzz/plants.lua [NAME]
-- The fuzzer must find each within STEPS accepted steps; at the end, the tree as it is, over as
-- many steps as the slowest needed, must have none. Copies lie in build/plants.
package.path = "tests/?.lua;" .. package.path
local shell = require "shell"
local faults = dofile "tests/fuzz/faults.lua"

local STEPS, SECONDS, SEED = 50000, 1500, 1

local function run(command, ...) return shell.output(command:format(...)) end

-- Replaces the one place in a file of the copy where `from` stands.
local function plant(folder, file, from, to)
  local text = shell.read(folder .. "/" .. file)
  local at, last = text:find(from, 1, true)
  assert(at and not text:find(from, last + 1, true), file .. " does not hold once: " .. from)
  shell.write(folder .. "/" .. file, text:sub(1, at - 1) .. to .. text:sub(last + 1))
end

-- A copy of the tree with what was built.
local function copy(folder)
  run("rm -rf '%s' && mkdir -p '%s/build' '%s/tests'", folder, folder, folder)
  run("cp -a Makefile VERSION interp backends repl stdlib '%s'", folder)
  run("cp -a tests/fuzz '%s/tests' && cp -a build/release build/gen '%s/build'", folder, folder)
end

-- Builds the fuzzer of a folder and runs it until the first failure; how many accepted steps that
-- took, and what it said; nil when it found nothing.
local function hunt(folder, steps)
  local built = run("cd '%s' && make build/release/tests/fuzz/fuzz 2>&1 || echo NOT BUILT", folder)
  assert(not built:find "NOT BUILT", built)
  local said = run("cd '%s' && nice -n 19 build/release/tests/fuzz/fuzz --first --cc 100 " ..
    "--seconds %d %d %d 2>&1", folder, SECONDS, steps, SEED)
  local after, what = said:match "after (%d+) accepted steps: ([^\n]*)"
  return tonumber(after), what, said
end

local only, number, failed, slowest = arg[1], 0, 0, 0

-- One TAP line.
local function point(good, text)
  number, failed = number + 1, failed + (good and 0 or 1)
  print(("%s %d - %s"):format(good and "ok" or "not ok", number, text))
  io.stdout:flush()
end

for _, fault in ipairs(faults) do
  local name = fault[1]
  if not only or name:find(only, 1, true) then
    local folder = "build/plants/" .. name:gsub(" ", "-")
    copy(folder)
    for i = 2, #fault do plant(folder, table.unpack(fault[i])) end
    local after, what = hunt(folder, STEPS)
    slowest = math.max(slowest, after or STEPS)
    point(after, after and ("%s: found after %d accepted steps (%s)"):format(name, after, what) or
      name .. ": not found")
    if after then run("rm -rf '%s'", folder) end
  end
end
local after, what = hunt(".", slowest + 1)
point(not after, ("the tree as it is: nothing found in %d steps"):format(slowest + 1) ..
  (after and (", but %s after %d"):format(what, after) or ""))
print("1.." .. number)
os.exit(failed == 0, true)
