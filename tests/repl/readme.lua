-- The session in README.md, pasted at the prompt, behaves as printed. `TIDE_UPDATE=1` prints the session as it is now.
package.path = "tests/?.lua;" .. package.path
local t = require "tap"
local shell = require "shell"

-- The fenced block: inputs (lines behind a prompt, joined) each with the output that follows it.
local function read_session(text)
  local list = {}
  for line in text:match("```tide\n(.-)```"):gmatch "(.-)\n" do
    if line:match "^tide> " then
      list[#list + 1] = { input = line:sub(7), output = {} }
    elseif line:match "^  %.%.> " then
      list[#list].input = list[#list].input .. "\n" .. line:sub(7)
    else
      table.insert(list[#list].output, line)
    end
  end
  return list
end

-- What the prompt answers to each input: all are sent at once, a mark between them.
local function answers(list)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  for i, step in ipairs(list) do file:write(step.input, "\n!echo @@" .. i .. "\n") end
  file:close()
  local out = shell.output(("%s -i <%s 2>&1"):format(arg[-1], path))
  os.remove(path)
  local result, from = {}, 1
  for i = 1, #list do
    local at, last = out:find("@@" .. i .. "\n", from, true)
    result[i] = out:sub(from, (at or 1) - 1)
    from = (last or from) + 1
  end
  return result
end

local session = read_session(shell.read "README.md")
local now = answers(session)
for i, step in ipairs(session) do
  if os.getenv "TIDE_UPDATE" then
    io.write("tide> ", (step.input:gsub("\n", "\n  ..> ")), "\n", now[i])
  else
    local name = step.input:match "[^\n]*"
    t.test(name, function() t.eq(now[i], table.concat(step.output, "\n") .. (#step.output > 0 and "\n" or "")) end)
  end
end
if not os.getenv "TIDE_UPDATE" then t.done() end
