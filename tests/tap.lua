-- tap.lua - what a test file in Lua uses: named tests that print TAP, and the facts they state.
--   local t = require "tap"
--   t.test("split keeps the rest", function() t.eq(f(3), {1, 2}) end)
--   t.done()
-- A fact that does not hold ends its test; a test that states no fact fails.
local t = {}

local tests, failures, facts = 0, 0, 0
local broken = false -- a fact of the test under way did not hold
local folder -- of temporary files; t.tmp makes it

io.stdout:setvbuf "line"

-- A value as a message shows it.
local function show(v)
  if type(v) == "string" then return string.format("%q", v) end
  if type(v) ~= "table" or (getmetatable(v) or {}).__tostring then return tostring(v) end
  local parts = {}
  for i, x in ipairs(v) do parts[i] = show(x) end
  local keys = {}
  for k in pairs(v) do
    if math.type(k) ~= "integer" or k < 1 or k > #parts then keys[#keys + 1] = k end
  end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  for _, k in ipairs(keys) do parts[#parts + 1] = tostring(k) .. " = " .. show(v[k]) end
  return "{" .. table.concat(parts, ", ") .. "}"
end

-- Whether two values are the same: tables without a metatable by their entries, NaN equals NaN.
local function same(a, b)
  if a == b or a ~= a and b ~= b then return true end
  if type(a) ~= "table" or type(b) ~= "table" or getmetatable(a) or getmetatable(b) then
    return false
  end
  for k, v in pairs(a) do
    if not same(v, b[k]) then return false end
  end
  for k in pairs(b) do
    if a[k] == nil then return false end
  end
  return true
end

-- Counts a fact; when it does not hold, ends the test under way at the caller's line.
local function state(holds, text)
  facts = facts + 1
  if holds then return end
  broken = true
  error(text, 3)
end

-- Prints one TAP line, and a diagnosis below it.
local function point(passed, name, diagnosis)
  tests = tests + 1
  if not passed then failures = failures + 1 end
  print(string.format("%s %d - %s", passed and "ok" or "not ok", tests, name))
  if diagnosis then print("# " .. diagnosis:gsub("\n", "\n# ")) end
end

-- Runs fn as the test of that name.
function t.test(name, fn)
  facts, broken = 0, false
  local passed, why = xpcall(fn, function(e)
    if broken or type(e) == "table" then return tostring(e) end
    return debug.traceback(tostring(e), 2)
  end)
  if passed and facts == 0 then passed, why = false, "the test states no fact" end
  point(passed, name, not passed and why or nil)
end

-- States that v is neither nil nor false; returns it.
function t.ok(v, what)
  state(v, what or "expected a true value, got " .. tostring(v))
  return v
end

-- States that two values are the same.
function t.eq(got, want, what)
  state(same(got, want), string.format("%sgot %s, want %s", what and what .. ": " or "", show(got),
    show(want)))
end

-- States that text holds `part`, taken literally.
function t.has(text, part)
  state(type(text) == "string" and text:find(part, 1, true),
    string.format("%s is not in:\n%s", show(part), tostring(text)))
end

-- The least processor seconds of five calls of fn: for comparing with another time, not with a clock.
function t.least_time(fn)
  local least = math.huge
  for _ = 1, 5 do
    local from = os.clock()
    fn()
    least = math.min(least, os.clock() - from)
  end
  return least
end

-- Where TAP_REFUSALS names a file, adds the error that was expected to it: its code, and the source
-- text that it points at or the primitive that refused. tests/reject/constructs.lua counts them.
local function note_refusal(e)
  local path = os.getenv "TAP_REFUSALS"
  if not path or type(e) ~= "table" or not e.code then return end
  local source, blanks, carets = tostring(e):match "\n +%d+ | ([^\n]*)\n +| ( *)(%^~*)\n"
  local at = e.prim and "s:" .. e.prim or source and source:sub(#blanks + 1, #blanks + #carets) or "?"
  local f = assert(io.open(path, "a"))
  f:write(e.code, "\t", at, "\n")
  f:close()
end

-- States that fn raises an error table with the given fields ({kind =, code =, line =, ...});
-- `match` is a pattern of its text. Returns the error.
function t.fails(fn, want)
  local passed, e = pcall(fn)
  state(not passed, "expected an error")
  for field, v in pairs(want or {}) do
    if field == "match" then
      state(tostring(e):find(v), string.format("error does not match %q: %s", v, tostring(e)))
    else
      state(type(e) == "table", "the error is not a table: " .. tostring(e))
      state(same(e[field], v), string.format("error.%s is %s, want %s, in: %s", field,
        show(e[field]), show(v), tostring(e)))
    end
  end
  if want and want.code then note_refusal(e) end
  return e
end

-- Names a test that cannot run here, and why.
function t.skip(name, why)
  tests = tests + 1
  print(string.format("ok %d - %s # SKIP %s", tests, name, why))
end

-- Ends a file none of whose tests can run here.
function t.skip_all(why)
  print("1..0 # SKIP " .. why)
  os.exit(0, true)
end

-- A path for a temporary file or folder of that name; t.done removes it.
function t.tmp(name)
  if not folder then
    local pipe = assert(io.popen "mktemp -d")
    folder = assert(pipe:read "l", "no folder for temporary files")
    pipe:close()
  end
  return folder .. "/" .. name
end

-- Prints the plan and ends the program; call it last.
function t.done()
  if folder then os.execute(("rm -rf '%s'"):format(folder:gsub("'", "'\\''"))) end
  print("1.." .. tests)
  os.exit(failures == 0, true)
end

return t
