-- faults.lua - errors of plain Lua that nobody catches: their line, a caret where Lua's message names something, the
-- calls that led there, the name that was meant; alike at the prompt, in scripts, in documents and as JSON.
local t = require "tap"
local shell = require "shell"
local session = require "tide.session"
local quote = shell.quote

local program = quote(arg[-1])

-- What is typed, § before what the caret points at (none: at nothing); a part of the message; the name that was meant.
local cases = {
  {"tide.§kernal {}", "'kernal' is nil, not a function", "kernel"},
  {"for i in §grids(2) do print(i) end", "'grids' is nil, not a function", "grid"},
  {'s:§splt("i", 2)', "no method or field 'splt'", "split"},
  {'tide.schedule(k):§splt("i", 2)', "no method or field 'splt'", "split"},
  {"return x.§shap", "no method or field 'shap'", "shape"},
  {"C = i32[6][8]; C[1]§[1] = 2", "i32[6][8][1] is a type, which has no elements to assign to", "T(0) is a tensor"},
  {"local t = {alpha = 1}; t.§alpa.b = 2", "'alpa' is nil, which has no fields", "alpha"},
  {"local t = {alpha = 1}; return t['alpha'] + t§['alpa']", "'alpa' is nil: arithmetic takes", "alpha"},
  {"return math.abs(1) + math.§flor(1.5)", "'flor' is nil, not a function", "floor"},
  {"return ('x'):§reep(3)", "'reep' is nil, not a function", "rep"},
  {"local word = 'x' return word:§uper()", "'uper' is nil, not a function", "upper"},
  {"local length = 1 return §lenght + 1", "'lenght' is nil: arithmetic takes", "length"},
  {"return 'a' .. §tostrin .. 'b'", "'tostrin' is nil: .. joins texts and numbers", "tostring"},
  {"return #§no_such_thing", "'no_such_thing' is nil, which has no length"},
  {"return nil §+ 1", "this value is nil: arithmetic takes numbers and tensors"},
  {"return 1 + 2, {} §< 3", "a table and a number have no order"},
  {"return nil + 1 + nil", "this value is nil: arithmetic takes numbers and tensors"},
  {"return string.rep('x', §{})", "argument 2 of 'rep' is a table, not a number"},
  {"return ('x'):rep(§{})", "argument 1 of 'rep' is"},
  {"return string.§rep()", "argument 1 of 'rep' is"},
  {"for i = 1, §{} do print(i) end", "'for' limit"},
  {"for k in §pairs(nil) do print(k) end", "argument 1 of 'for iterator' is nil, not a table"},
  {"for k in §nil do print(k) end", "a loop runs over nil"},
  {"return ('x'):rep(2) §.. nil", "this value is nil: .. joins texts and numbers"},
  {"local function f(a, b) return a + §b end return (f(1))", "'b' is nil: arithmetic takes"},
  {"§error 'my own words'", "my own words"},
  {"return x[0], x§[4]", "index 4 is out of range", "indices count from 0"},
  {"return i32[3](0)§[3]", "index 3 is out of range", "indices count from 0"},
  {"local y = i32[4](1); y§[-1] = y[0]", "index -1 is out of range", "indices count from 0"},
  {"local y = i32[4](1) return y§[4]", "index 4 is out of range", "indices count from 0"},
  {"return x §+ i32[3](0)", "shapes differ", "shapes are equal"},
  {"return (x + 1) + (2 + i32[4](0) + i32[3](0))", "shapes differ", "shapes are equal"},
  {"return x * 2, x §// 0", "division by zero"},
  {"return i32[8], i32§[-8]", "an extent cannot be negative (-8)"},
  {"return k§[1]", "no method or field '1'"},
  {"return i32§[1 << 40](0)", "not enough memory: a tensor of type i32[1099511627776] is too large"},
  {"local n = 1; if n §= 2 then n = 3 end", "'then' expected near '='", "== compares, = assigns"},
  {"while x[0] §= 2 do end", "'do' expected near '='", "== compares, = assigns"},
  {"if x[0] §!= 2 then end", "unexpected character '!'", "unequal is ~= in Lua"},
  {"if x &§& 2 then end", "an expression expected near '&'", "Lua writes `and` for &&"},
  {"if x |§| 2 then end", "an expression expected near '|'", "Lua writes `or` for ||"},
  {"return x §? 2 : 3", "unexpected character '?'", "tide.select(c, x, y) chooses"},
  {"local §é = 2", "unexpected character 'é'", "letters a to z"},
}

-- The text of a case without its mark, and what the drawn line and caret are.
local function read(case)
  local before, after = case[1]:match "^(.-)§(.*)$"
  return before and before .. after or case[1], before and (" "):rep(#before) .. "^"
end

-- States that an error shows a line of source, the caret below it, the message and the help of a case.
local function shows(text, line, caret, case)
  local drawn = text:match("| ([^\n]*)\n", (text:find("| " .. line, 1, true)))
  t.eq(drawn, line, text)
  local below = text:match("| " .. line:gsub("%p", "%%%0") .. "\n *| ( *%^)")
  t.eq(below, caret, text)
  t.has(text, case[2])
  if case[3] then t.has(text, case[3]:find " " and case[3] or "did you mean '" .. case[3] .. "'?") end
  if not case[3] then t.ok(not text:find "did you mean", text) end
end

local setup = "k = tide.kernel { x = i32[8], function(x) for i = 0, 7 do x[i] = i end end }\n" ..
  "s, x = tide.schedule(k), i32[4](0)\n"

session.open()
assert(session.run(setup).ok)

t.test("at the prompt and in documents", function()
  for _, case in ipairs(cases) do
    local text, caret = read(case)
    local r = session.run(text)
    t.ok(not r.ok)
    t.ok(r.error:find "^tide:%d+:1:", r.error)
    shows(r.error, text, caret, case)
  end
end)

-- Runs a script; returns its standard error, without what ASan says of memory that it does not give.
local function run(options, text)
  local path, errors = t.tmp "fault.lua", t.tmp "errors"
  shell.write(path, text)
  t.eq(select(2, shell.output(("%s %s %s 2>%s"):format(program, options, quote(path), quote(errors)))), 1)
  return (shell.read(errors):gsub("==%d+==WARNING: AddressSanitizer failed to allocate[^\n]*\n", "")), path
end

local names = "local tide = require 'tide'; local i32, grid = tide.i32, tide.grid "

t.test("in what a command is given", function()
  local function shown(text) return session.run(text).error end
  local drawn = "tide:command:1:%d: error: 'nosuch' is nil, which has no fields\n     1 | %s\n"
  t.has(shown ":log nosuch.field", drawn:format(1, "nosuch.field"))
  t.has(shown ":time local a = nosuch.field", drawn:format(11, "local a = nosuch.field"))
end)

t.test("in scripts", function()
  for _, case in ipairs(cases) do
    local text, caret = read(case)
    local said, path = run("", names .. (setup:gsub("\n", " ")) .. "\n\tprint(grid and i32)\ndo " .. text .. " end")
    t.ok(said:find(path .. ":3:", 1, true) == 1, said)
    shows(said, "do " .. text .. " end", caret and "   " .. caret, case)
  end
end)

t.test("a name of tide that a script has not taken is named by its path", function()
  t.has(run("", "require 'tide'\ngrid(2)"), "did you mean 'tide.grid'?")
end)

t.test("names that the function itself sees: locals, upvalues, fields of both", function()
  local function meant(text) return run("", text):match "did you mean '([%w_.]+)'" end
  t.eq(meant "local config = {} return function() end, confg.x", "config")
  t.eq(meant "local config = {width = 1}\nlocal function f() return config.widht.x end\nf()", "width")
  t.eq(meant "local function f(config) return config.inner.widht.x end\nf {inner = {width = 1}}", "width")
  t.eq(meant "local function f(config) return confg.x end\nf {}", "config")
  t.eq(meant "local t = setmetatable({}, {__index = {method = print}})\nt:methd()", "method")
end)

t.test("the one of several that is nil is pointed at", function()
  local said = run("", "local a, b = {x = {y = 1}}, {}\nreturn a.x.y + b.x.y")
  shows(said, "return a.x.y + b.x.y", (" "):rep(17) .. "^", {nil, "'x' is nil, which has no fields"})
end)

t.test("a call over several lines is pointed at where its name stands", function()
  local said = run("", "local t = {}\nreturn ('x')\n  :rep(2)\n  :uper()")
  t.has(said, ":4:4: error: 'uper' is nil, not a function\n     4 |   :uper()\n       |    ^~~~\n")
end)

t.test("the calls that led there are noted, those of a recursion once", function()
  local said, path = run("", "local function f() return {} + 1, 2 end\nlocal function g() return f(), 1 end\n" ..
    "local function deep(n) return (n == 0 and g() or deep(n - 1)), 3 end\ndeep(50)")
  t.has(said, ("note: %s:2:27: called here\n"):format(path))
  t.has(said, ("note: %s:3:43: called here\n"):format(path))
  t.has(said, ("note: %s:4:1: called here\n     4 | deep(50)\n"):format(path))
  t.eq(select(2, said:gsub("called here", "")), 4, said)
end)

t.test("a stack that overflows is told like any other error, at once", function()
  local said = run("", "local function f() return 1 + f() end\nf()")
  t.has(said, "error: stack overflow\n     1 | local function f() return 1 + f() end\n")
  said = run("", "local function f() return 1 + f() end\nlocal ok, e = pcall(f)\nerror(e, 0)")
  t.has(said, "error: stack overflow")
end)

t.test("a chunk that Lua cannot compile has its caret too, whoever loads it", function()
  local said = run("", "local x = = 2")
  t.has(said, ":1:11: error: an expression expected near '='\n     1 | local x = = 2\n       |           ^\n")
  local path = t.tmp "inner.lua"
  shell.write(path, "return (1 +")
  t.has(session.run(("dofile %q"):format(path)).error, "     1 | return (1 +\n")
end)

t.test("what other languages write, a block without its end, a break that Lua notices later", function()
  t.has(run("", "local x = 1\nx += 2"), ":2:3: error: a name alone is not a statement, near '+'")
  t.has(run("", "local x = 1\nx += 2"), "help: Lua has no +=: write x = x + y")
  t.has(run("", "local x = 1\nx++"), "help: Lua has no ++")
  t.ok(not run("", "local x = 1\nx + + 2"):find "help:")
  local said, path = run("", "print(function()\n  for i = 1, 2 do print(i)\nend)")
  t.has(said, ":3:4: error: a statement expected near ')'")
  t.has(said, ("note: %s:1:7: 'function' has no 'end' yet"):format(path))
  t.ok(not run("", "do 3 end"):find "note:")
  t.has(run("", "if true then\n  break\nend\nlocal x = 1"), ":2:3: error: break outside a loop\n     2 |   break\n")
end)

t.test("tide and its names, where a script has not taken them", function()
  t.has(run("", "i8 = tide.i8"), "did you mean 'require \"tide\"'?")
  t.has(run("", "local i16 = require 'tide'.i16\nA = i8[4]"), "did you mean 'tide.i8'?")
end)

t.test("in a coroutine, and passed on by error(e, 0)", function()
  local said = run("", "coroutine.wrap(function()\n  local t = {} t.x.y = 1\nend)()")
  t.has(said, ":2:18: error: 'x' is nil, which has no fields")
  said = run("", "local ok, e = pcall(function() undefined.x = 1 end)\nerror(e, 0)")
  t.has(said, ":1:32: error: 'undefined' is nil, which has no fields")
end)

t.test("chunks of any name: Lua shortens those of 60 bytes and more", function()
  local lines = "coroutine.wrap(function()\n  local t = {} t.x.y = 1\nend)()"
  local drawn = ":2:18: error: 'x' is nil, which has no fields\n     2 |   local t = {} t.x.y = 1\n"
  for length = 57, 62 do
    for _, mark in ipairs {"@", "="} do
      local name = ("n"):rep(length)
      local said = session.run(("assert(load(%q, %q))()"):format(lines, mark .. name)).error
      t.has(said, name .. drawn)
    end
  end
end)

t.test("what user code catches is what Lua says", function()
  local said = [[local ok, e = pcall(function() return grids(2) end)
    print(type(e), e)
    print(xpcall(function() return nil + 1 end, function(m) return "seen: " .. m end))
    print(select(2, load("x = = 2", "=chunk")))
    print(select(2, coroutine.resume(coroutine.create(function() local t = {} t.x.y = 1 end))))]]
  local path = t.tmp "caught.lua"
  shell.write(path, said)
  local lua = shell.output("command -v lua5.4"):match "%S+"
  local here = shell.output(program .. " " .. quote(path) .. " 2>&1")
  t.ok(here:find "string\t[^\n]*caught.lua:1: attempt to call a nil value %(global 'grids'%)\n", here)
  t.ok(here:find "false\tseen: [^\n]*caught.lua:3: attempt to perform arithmetic on a nil value\n", here)
  t.has(here, "chunk:1: unexpected symbol near '='\n")
  if lua then t.eq(here, shell.output(lua .. " " .. quote(path) .. " 2>&1")) end
end)

t.test("no user code runs to tell of an error", function()
  local said = run("", [[
local ran = setmetatable({}, {__index = function() print "RAN" return nil end, __tostring = function() print "RAN" end,
  __name = "mine"})
ran.x.y = 1]])
  t.eq(select(2, said:gsub("RAN", "")), 0)
  t.has(said, "'x' is nil, which has no fields")
end)

t.test("an error without a place, and one that is no text, stay as they are", function()
  t.eq(session.run("error('bare', 0)").error, "bare\n")
  t.eq(session.run("error {a = 1}").error, "error: {a = 1}\n")
  t.eq(session.run("error('see file:12: there', 0)").error, "see file:12: there\n")
  t.eq(session.run("error()").error, "nil\n")
end)

t.test("tide doc records the same, and JSON has its fields", function()
  local path = t.tmp "l.md"
  shell.write(path, "```lua error\nlocal t = {}\nt.x.y = 1\n```\n\n```out\n" ..
    "tide:1:2:3: error: 'x' is nil, which has no fields\n     2 | t.x.y = 1\n       |   ^\n```\n")
  t.eq(shell.output(program .. " doc --check " .. quote(path) .. " 2>&1"), path .. ": 1 blocks, as recorded\n")
  local line = run("--diagnostics=json", "local tide = require 'tide'\ntide.kernal {}")
  t.has(line, '"code": "error", "column": 6, "file": "')
  t.has(line, '"help": "did you mean \'kernel\'?", "kind": "lua", "line": 2, ')
  t.has(line, '"message": "\'kernal\' is nil, not a function"')
  t.eq(select(2, line:gsub("\n", "")), 1)
end)

t.done()
