-- chains.lua - random chains of steps: each accepted one is proved, loads back and runs alike; each
-- refused one changes nothing; the log replays, undo goes back.
local t = require "tap"
local prim = require "prim"
local chain = require "chain_steps"
local tide = require "tide"

local count, first = require "campaign".range(20)

-- What every accepted step owes.
local function check_accepted(s, k, types)
  local text = tostring(s)
  local again = load(text)(s:constants())
  t.eq(tostring(again), text)
  local level, verdict = s:verify()
  t.ok(level == "strict" or level == "associative", tostring(verdict) .. "\n" .. s:log() .. text)
  prim.runs_alike(function(...) k:reference(...) end, function(...) again:reference(...) end, types)
end

-- Takes n random steps; returns how many were accepted.
local function walk(s, k, types, arrays, n)
  local accepted = 0
  for _ = 1, n do
    local step, text = chain.random_step(s, arrays), tostring(s)
    local can = s:can(table.unpack(step))
    t.eq(tostring(s), text)
    local done, e = pcall(s[step[1]], s, table.unpack(step, 2))
    t.eq(done, can == true)
    if done then
      accepted = accepted + 1
      check_accepted(s, k, types)
    else
      t.ok(type(e) == "table" and e.kind ~= "bug", tostring(e))
      t.eq(tostring(s), text)
    end
  end
  return accepted
end

for _, name in ipairs(chain.names) do
  t.test("random chains of " .. name, function()
    local accepted = 0
    for seed = first, first + count - 1 do
      math.randomseed(seed)
      local k, types, arrays = chain.kernels[name]()
      local s = tide.schedule(k)
      local start = tostring(s)
      local n = walk(s, k, types, arrays, 14)
      t.eq(tostring(load(s:log())(k)), tostring(s))
      s:undo(n)
      t.eq(tostring(s), start)
      accepted = accepted + n
    end
    t.ok(accepted >= 3 * count, accepted .. " steps were accepted")
  end)
end

t.done()
