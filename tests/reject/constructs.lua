-- How many different refusals the tests have: pairs of a diagnostic code and the construct of the [slow]
-- language that it was given for. They are taken from errors that were raised, with the expected
-- code, while the files of tests/reject and tests/prim ran again here (tap.lua, TAP_REFUSALS).
local t = require "tap"
local shell = require "shell"
local tide = require "tide"

local LEAST = 300

-- Words that are constructs of their own: of Lua, of tide, and methods.
local words = {}
for word in ("and break do else elseif end false for function goto if in local nil not or repeat return " ..
  "then true until while"):gmatch "%a+" do words[word] = true end
for name in pairs(tide) do words[name] = true end
for _, f in ipairs(tide.registry().functions) do words[f.name:match "[%w_]+$" or 0] = true end

-- The construct that a piece of source text stands for: any name is a name, any number a number.
local function construct(text)
  if text:find "^s:" or words[text] then return text end
  if text:find "^%-%-@" then return text:match "^%-%-@ *%a*" end
  if text:find "^[%a_]" then return "name" end
  if text:find "^%d" then return "number" end
  if text:find "^[\"']" then return "string" end
  return text:match "^%p+" or "?"
end

-- Runs the test files, which note their refusals in a file; returns its text.
local function collect()
  local path = t.tmp "refusals"
  os.remove(path)
  for file in shell.output("ls tests/reject/*.lua tests/prim/*.lua"):gmatch "[^\n]+" do
    if not file:find "constructs" then
      local said, status = shell.output(("TAP_REFUSALS=%s %s %s 2>&1"):format(shell.quote(path),
        shell.quote(arg[-1]), shell.quote(file)))
      if status ~= 0 then error(file .. " fails:\n" .. said) end
    end
  end
  return assert(shell.read(path))
end

t.test("refusals: codes with constructs", function()
  local pairs_of, codes, n, ncodes = {}, {}, 0, 0
  for code, text in collect():gmatch "([^\t\n]+)\t([^\n]*)" do
    local key = code .. " " .. construct(text)
    if not pairs_of[key] then pairs_of[key], n = true, n + 1 end
    if not codes[code] then codes[code], ncodes = true, ncodes + 1 end
  end
  print(("# %d pairs of %d codes"):format(n, ncodes))
  t.ok(n >= LEAST, n .. " pairs, at least " .. LEAST)
end)

t.test("what counts as one construct", function()
  t.eq({construct "i", construct "A[0]", construct "12", construct "'x'", construct "==", construct "grid",
    construct "s:split", construct "--@ unroll(2)", construct "while"},
    {"name", "name", "number", "string", "==", "grid", "s:split", "--@ unroll", "while"})
end)

t.done()
