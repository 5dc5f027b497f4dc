-- readme.lua - the README's session, copied whole and pasted at the prompt, prints what it shows.
local t = require "tap"
local screen = require "screen"
local shell = require "shell"
screen.need()

-- Lines as a terminal shows them: no tabs, no empty ones.
local function shown(text)
  local lines = {}
  for line in text:gmatch "[^\n]+" do
    line = line:gsub("(.-)\t", function(before) return before .. (" "):rep(8 - #before % 8) end):gsub(" +$", "")
    if line ~= "" then lines[#lines + 1] = line end
  end
  return lines
end

t.test("the session of the README, pasted with its prompts and its output", function()
  local session = shell.read "README.md":match "```tide\n(.-)```"
  local want = shown(session)
  local term = screen.open("env TIDE_HISTORY= " .. arg[-1], 220, 2 * #want)
  term:wait "tide>"
  term:paste(session)
  term:type("", "Enter")
  t.ok(term:wait(want[#want], 20), term:text())
  local got = shown(term:text())
  t.ok(got[1]:find "^Tide " and got[2]:find "tutorial" and got[#got] == "tide>", term:text())
  t.eq(table.concat(got, "\n", 3, #got - 1), table.concat(want, "\n"))
  term:close()
end)

t.done()
