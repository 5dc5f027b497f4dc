-- same.lua - two builds of Tide say the same: `make same REF=commit` runs every example and every file of tests/prim
-- with the program of that commit and with this one, both over the commit's scripts, and compares, byte for byte,
-- what they print and the C and HLS C++ of the last schedules that each script holds. For moves and renames.
local shell = require "shell"

local ref = assert(arg[1], "usage: make same REF=commit")
local here = shell.here
local id = shell.output(("git rev-parse --short %s"):format(shell.quote(ref))):match "%x+"
assert(id, ref .. " is no commit")
local there = ("%s/build/same/%s"):format(here, id)

-- Runs a script and prints the text of the builds of what it made; times and addresses are blanked.
local dump = here .. "/build/same/dump.lua"
shell.output("mkdir -p " .. shell.quote(here .. "/build/same"))
shell.write(dump, [[
local tide = require "tide"
local made = {}
local schedule = tide.schedule
tide.schedule = function(...)
  local s = schedule(...)
  made[#made + 1] = s
  if #made > 12 then table.remove(made, 1) end
  return s
end
local path = arg[1]
arg = {[0] = path}
package.path = path:match "^(.*/)" .. "?.lua;" .. package.path
local exit = os.exit
os.exit = function() error("exit", 0) end
print(pcall(dofile, path))
for _, s in ipairs(made) do
  for _, target in ipairs {"cpu", "hls"} do
    local ok, m = pcall(s.build, s, {target = target})
    if not ok then
      print(target, m)
    elseif target == "cpu" then
      print(m.source)
    else
      local names = {}
      for name in pairs(m.files) do names[#names + 1] = tostring(name) end
      table.sort(names)
      for _, name in ipairs(names) do print(name, m.files[name]) end
    end
  end
end
]])

-- The program of the commit, built once.
if not shell.read(there .. "/tide") then
  local made, status = shell.output(
    ("git worktree prune; git worktree add --detach %s %s && make -C %s -j2 2>&1"):format(
      shell.quote(there), id, shell.quote(there)))
  assert(status == 0, made)
end

-- What a program prints of a script, without what changes from run to run: times, addresses, the order of tests.
local function said(program, script)
  local text = shell.output(("cd %s && LUA_PATH='tests/?.lua;;' timeout 300 %s %s %s 2>&1"):format(
    shell.quote(there), shell.quote(program), shell.quote(dump), shell.quote(script)))
  for _, folder in ipairs {there, here} do text = text:gsub(folder:gsub("%p", "%%%0"), ".") end
  text = text:gsub("[%d.]+ *m?s%f[%W]", "# ms"):gsub("0x%x+", "0x#"):gsub("tide_ip_%x+", "tide_ip_#")
  local ok, rest = {}, {}
  for line in text:gmatch "[^\n]+" do
    local name = line:match "^ok %d+ (.*)"
    table.insert(name and ok or rest, name or line)
  end
  table.sort(ok)
  return table.concat(rest, "\n") .. table.concat(ok, "\n")
end

local differing, n = 0, 0
local list = "cd %s && ls examples/*.lua examples/polybench/*.lua tests/prim/*.lua"
for script in shell.output(list:format(shell.quote(there))):gmatch "[^\n]+" do
  local a, b = said(there .. "/tide", script), said(here .. "/tide", script)
  n = n + 1
  if a ~= b then
    differing = differing + 1
    local left, right = os.tmpname(), os.tmpname()
    shell.write(left, a)
    shell.write(right, b)
    print("differs: " .. script)
    print((shell.output(("diff %s %s | head -20"):format(left, right))))
    os.remove(left)
    os.remove(right)
  end
end
print(("%d scripts, %d differ"):format(n, differing))
os.exit(differing == 0)
