-- chains.lua - chains of fifty random steps: going back gives the very same programs, the log gives the same text in a
-- new process, and can() leaves no trace. Run by chains_test.c.
-- luacheck: globals program counters
local t = require "tap"
local chain = require "chain_steps"
local shell = require "shell"
local tide = require "tide"

local STEPS = 50

-- All that can() could change.
local function state(s) return {program(s), tostring(s), s:log(), {counters(s)}} end

-- Takes STEPS random steps; returns the program and the text before the first and after each.
local function walk(s, arrays)
  local versions, refused = {[0] = {program(s), tostring(s)}}, 0
  while #versions < STEPS do
    local step, before = chain.random_step(s, arrays), state(s)
    local can = s:can(table.unpack(step))
    t.eq(state(s), before, "can() changes something")
    local done = pcall(s[step[1]], s, table.unpack(step, 2))
    t.eq(done, can == true)
    if done then
      versions[#versions + 1] = {program(s), tostring(s)}
    else
      t.eq(state(s), before, "a refused step changes something")
      refused = refused + 1
      t.ok(refused < 40 * STEPS, "nothing is accepted any more")
    end
  end
  return versions
end

-- What a new process prints for the text of a kernel and a log.
local function replayed(text, log)
  local path = t.tmp "log.lua"
  shell.write(path, ("local k = load(%q)()\nlocal s = load(%q)(k)\nio.write(tostring(s))\n"):format(text, log))
  return (shell.output(("%s %s 2>&1"):format(shell.quote(arg[-1]), shell.quote(path))))
end

for _, name in ipairs(chain.names) do
  t.test("fifty steps of " .. name, function()
    for seed = 1, 3 do
      math.randomseed(seed)
      local k, _, arrays = chain.kernels[name]()
      local s = tide.schedule(k)
      local versions = walk(s, arrays)
      t.eq(replayed(versions[0][2], s:log()), versions[STEPS][2], "replayed")
      for n = STEPS, 0, -1 do
        t.eq({program(s:at(n)), program(s:fork():undo(STEPS - n))}, {versions[n][1], versions[n][1]})
      end
      s:undo(STEPS)
      t.eq({program(s), tostring(s)}, versions[0])
    end
  end)
end

t.done()
