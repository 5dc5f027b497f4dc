-- Codes of errors: each example of the table is refused with that very code, and its twin is accepted; help on codes.
local shell = require "shell"
local t = require "tap"
local codes = require "tide.tool.codes"
local tide = require "tide"

-- What the prompt has as globals.
_G.tide = tide
for name, v in pairs(tide) do
  if _G[name] == nil then _G[name] = v end
end

-- Runs an example; raises what it raises.
local function run(row, which)
  local chunk, why = load(codes.program(row, which), ("=%s %s"):format(row.code, which))
  if not chunk then error(why, 0) end
  return chunk()
end

local examples = 0
for _, row in ipairs(codes.all()) do
  if row.refused then
    examples = examples + 1
    t.test(row.code, function()
      t.fails(function() run(row, "refused") end, { code = row.code })
      local passed, why = pcall(run, row, "accepted")
      t.ok(passed, "the twin is refused: " .. tostring(why))
    end)
  end
end

t.test("most ordinary codes have an example", function() t.ok(examples >= 170, examples) end)

-- The line with the message.
local function first_line(text) return text:match "^[^\n]*" end

t.test("a message ends with its code on its first line, but for plain Lua", function()
  local k = tide.kernel { A = tide.i32[4], function(A) for i = 0, 3 do A[i] = i end end }
  local e = t.fails(function() tide.schedule(k):split("q", 2) end, { code = "no-loop" })
  t.ok(first_line(tostring(e)):find "%(loops: i%) %[no%-loop%]$", tostring(e))
  t.ok(not e.message:find "%[no%-loop%]", e.message)
  local plain = shell.session "local a = nil + 1"
  t.ok(not first_line(plain):find "%]$", plain)
end)

t.test("?code explains it with its example, however it is asked", function()
  local row, text = codes.all()["no-loop"], shell.session "?no-loop"
  for _, part in ipairs { row.text:match "^[^\n]*", row.refused, row.accepted, "local gemm" } do t.has(text, part) end
  for _, form in ipairs { "??no-loop", 'help "no-loop"', "help no-loop" } do t.eq(shell.session(form), text, form) end
  local body = shell.session "?int-division"
  t.has(body, "in        tide.kernel {B = i32[8], n = i32, function(B, n) .. end}")
  t.has(body, "accepted  B[0] = n // 2")
  t.has(shell.session "?depth", "s:depth(stream, depth)")
  t.has(shell.session "?depth", "error code depth")
end)

t.test("codes are searched, guessed, and on the reference page", function()
  t.has(shell.session "?typographic", "  bad-character ")
  t.ok(not shell.session "?typographic":find("int-division", 1, true))
  t.has(shell.session "?no-lop", "did you mean '?no-loop'?")
  t.has(shell.session "?", "?no-loop")
  t.has(require "tide.tool.reference".text(), "- `int-division`: `/` of integers")
end)

t.done()
