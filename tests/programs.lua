-- programs.lua - runs a kernel or design in every way that must agree, and prints and loads it.
--   local p = require "programs"
--   local A, B = p.same(k, A, B)  -- copies, as the reference run leaves them
--   p.done()                      -- instead of t.done(): all again in a new process
-- What is compared: the reference run, the compiled run, the Lua function itself (k:native, unless
-- p.foreign or p.close says otherwise), and the printed form, which loads back to the same text.
local t = require "tap"
local shell = require "shell"

local p = {}

local recorded = {} -- {text, constants, arguments, results} for the new process

-- Whether v is a tensor: the one kind of userdata that kernels are called with.
local function tensor(v) return type(v) == "userdata" end

-- A list of copies: tensors and lists of tokens are new.
local function copies(args)
  local list = {n = args.n}
  for i = 1, args.n do
    local v = args[i]
    list[i] = tensor(v) and v:copy() or type(v) == "table" and table.move(v, 1, #v, 1, {}) or v
  end
  return list
end

-- States that two lists of arguments hold the same.
local function agree(got, want, what, close)
  for i = 1, want.n do
    if tensor(want[i]) then
      local fits = close and got[i]:allclose(want[i]) or not close and got[i]:equal(want[i])
      t.ok(fits, ("%s, argument %d: got %s, want %s"):format(what, i, tostring(got[i]),
        tostring(want[i])))
    elseif type(want[i]) == "table" then
      t.eq(got[i], want[i], what)
    end
  end
end

-- k printed and loaded, whose text is the same again.
function p.again(k)
  local text = tostring(k)
  local chunk, why = load(text, "=printed")
  t.ok(chunk, why and why .. "\n" .. text)
  local passed, loaded = pcall(chunk, k:constants())
  t.ok(passed, not passed and tostring(loaded) .. "\n" .. text)
  local again = tostring(loaded)
  t.ok(again == text, "printed again it differs:\n" .. text .. "\n---\n" .. again)
  return loaded
end

-- Has the new process of p.done load k's text, print it again and, unless they are nil, run it on arguments.
function p.record(k, args, results)
  recorded[#recorded + 1] = {tostring(k), table.pack(k:constants()), args, results}
end

-- Runs k in all ways that `how` does not leave out; returns the arguments after the reference run.
local function run_all(k, how, ...)
  local args = table.pack(...)
  local want = copies(args)
  k:reference(table.unpack(want, 1, want.n))
  k:reset()
  local function also(what, close, fn)
    local got = copies(args)
    fn(table.unpack(got, 1, got.n))
    agree(got, want, what, close)
  end
  also("compiled", false, k)
  k:reset()
  local loaded = p.again(k)
  also("printed", false, function(...) loaded:reference(...) end)
  if how ~= "foreign" then also("native", how == "close", function(...) k:native(...) end) end
  k:reset()
  p.record(k, args, want)
  return table.unpack(want, 1, want.n)
end

function p.same(k, ...) return run_all(k, "exact", ...) end

-- The same where Lua's doubles are only near.
function p.close(k, ...) return run_all(k, "close", ...) end

-- The same for what plain Lua computes otherwise: wrapping locals, streams, states.
function p.foreign(k, ...) return run_all(k, "foreign", ...) end

-- A value as Lua source.
local function source(v)
  if tensor(v) then return ("tensor(%q, %s)"):format(tostring(v.type), source(v:table())) end
  if type(v) ~= "table" then return v == nil and "nil" or ("%q"):format(v) end
  local items = {}
  for i = 1, v.n or #v do items[i] = source(v[i]) end
  return "{n = " .. #items .. ", " .. table.concat(items, ", ") .. "}"
end

-- The program of the new process: it loads each text, prints it again and runs it.
local check = [[
local tide = require "tide"
local types = setmetatable({tide = tide}, {__index = function(_, k) return tide[k] or _G[k] end})
local function plain(v)
  if type(v) ~= "table" then return v end
  local list = {}
  for i = 1, v.n do list[i] = plain(v[i]) end
  return list
end
local function tensor(text, values)
  return tide.tensor(load("return " .. text, "=type", "t", types)(), plain(values))
end
local function check(number, text, constants, args, want)
  local k = load(text, "=printed")(table.unpack(constants, 1, constants.n))
  if tostring(k) ~= text then print("text " .. number) end
  if not args then return end
  for i = 1, args.n do args[i] = plain(args[i]) end
  k:reference(table.unpack(args, 1, args.n))
  for i = 1, args.n do
    local same = args[i] == want[i]
    if type(args[i]) == "userdata" then same = args[i]:equal(want[i]) end
    if type(args[i]) == "table" then
      same = table.concat(args[i], " ") == table.concat(want[i], " ")
    end
    if not same then print("result " .. number .. ": " .. tostring(args[i])) end
  end
end
]]

-- Runs everything recorded in a new process, in another folder.
local function run_fresh()
  local path = t.tmp("printed.lua")
  local lines = {check}
  for i, r in ipairs(recorded) do
    lines[i + 1] = ("check(%d, %q, %s, %s, %s)\n"):format(i, r[1], source(r[2]), source(r[3]), source(r[4]))
  end
  shell.write(path, table.concat(lines) .. 'print "done"\n')
  return (shell.output(("cd / && '%s' '%s' 2>&1"):format(shell.program, path)))
end

function p.done()
  if #recorded > 0 then
    t.test(("%d programs again, from their text alone in a new process"):format(#recorded),
      function() t.eq(run_fresh(), "done\n") end)
  end
  t.done()
end

return p
