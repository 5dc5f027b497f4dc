-- session.lua - what a session leaves: :save and :reload, settings, commands and their errors, comparing, echo.
local t = require "tap"
local shell = require "shell"
local tide = require "tide"
local quote, session = shell.quote, shell.session

local home = t.tmp "designs"

local kernel = "k = tide.kernel { x = i32[8], function(x) for i = 0, 7 do x[i] = i end end };\n"
local schedule = kernel .. "s = tide.schedule(k);\n"

-- A session with errors, redefinitions, pasted blocks, answers, and inputs that failed half way.
local hostile = [=[
local M, N, K = 4, 4, 4
local y <const> = 5
local z
gemm = tide.kernel {
  A = i8[M][K], B = i8[K][N], C = i16[M][N],
  function(A, B, C)
    for i, j in grid(M, N, "PE") do
      for k = 0, K - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
    end
  end,
}
s = tide.schedule(gemm)
s:split("zz", 2)
s:split("k", 2):split("nope", 3)
s:loops()
first = _[1]
s:reorder("j", first)
:undo s
s:pipeline("k_i")
old = s
gemm = tide.kernel { A = i8[M], function(A) for i in grid(M) do A[i] = y end end }
s = tide.schedule(gemm)
s:unroll "i"
nil + 1
z = 3 nil = 5
half = 7; error "late"
if half then return end
::top:: goto done ::done::
local function double(a) return 2 * a end
double(half)
eight = _1 - 6
i16 = 3
text = [[
  two lines@@
]]
while true do break end
]=]
hostile = hostile:gsub("@@", "  ")

t.test(":save writes a script that makes the same programs in a new process, clean for luacheck", function()
  local path = t.tmp "saved.lua"
  local told = "print(tostring(old), tostring(s), half, eight, z, i16, #text)"
  local out = session(hostile .. ":save " .. path .. "\n" .. told .. ";\n")
  local was = out:match "saved %d+ inputs to [^\n]+\n(.*)$"
  t.ok(was and #was > 200, out)
  local text = shell.read(path)
  t.ok(not text:find("zz", 1, true) and not text:find("nil + 1", 1, true), text)
  local replayed = shell.output(("%s -e %s 2>&1"):format(quote(arg[-1]), quote(("dofile %q "):format(path) .. told)))
  t.eq(replayed, was)
  if shell.output "command -v luacheck" ~= "" then
    t.eq({ shell.output("luacheck --std lua54 --no-config -q " .. quote(path) .. " >/dev/null") }, { "", 0 })
  end
end)

t.test(":save keeps no answers that nobody asks for", function()
  local path = t.tmp "answers.lua"
  session("x = 20\nx + 22\nx\nprint(x)\n:save " .. path .. "\n")
  t.ok(shell.read(path):find "globals x\nlocal tide = require \"tide\"\n\nx = 20\n\nprint%(x%)\n$", shell.read(path))
  os.remove(path)
  session("x = 20\nx + 22\ny = _\n:save " .. path .. "\n")
  t.has(shell.read(path), "_1 = x + 22\n_ = _1\n\ny = _\n")
end)

t.test(":save asks before it writes over a file of others", function()
  local path = t.tmp "mine.lua"
  shell.write(path, "-- mine\n")
  local save = ":save " .. path .. "\n"
  t.has(session("x = 1\n" .. save .. "x\n"), "mine.lua is there already")
  t.eq(shell.read(path), "-- mine\n")
  t.ok(not session("x = 1\n" .. save .. save):find "error.*error")
  t.has(shell.read(path), "x = 1")
  local twice = session("x = 2\n" .. save .. save .. "y = 3\n" .. save)
  t.eq(select(2, twice:gsub("saved", "")), 2)
  t.has(shell.read(path), "y = 3")
end)

t.test(":save to where nothing can be written is an error that goes on", function()
  t.has(session "x = 1\n:save /no/such/x.lua\nx\n", "cannot write /no/such/x.lua")
  t.has(session "x = 1\n:save /no/such/x.lua\nx\n", "1\n")
end)

local file = [[
local tide = require "tide"
local k = tide.kernel { A = tide.i32[8][8], function(A) for i, j in tide.grid(8, 8) do A[i][j] = i end end }
return k
]]

-- What a session says that takes k from a file, applies steps, and reloads the file after a change.
local function reloads(change, after)
  shell.plant(home, { ["k.lua"] = file })
  local path = home .. "/k.lua"
  return session(([[
k = dofile %q
s = tide.schedule(k)
s:split("j", 4);
s:unroll("j_i");
io.open(%q, "w"):write(%q):close();
:reload %s
%s]]):format(path, path, change, path, after or ""))
end

t.test(":reload applies the steps again", function()
  local out = reloads(file:gsub("A%[i%]%[j%] = i", "A[i][j] = i + 1"), ":log s\n:ir s\n")
  t.has(out, "k: new\ns: 2 of 2 steps apply again\n")
  t.has(out, '  1  s:split("j", 4)\n  2  s:unroll("j_i")\n')
  t.has(out, "A[i][j_o * 4 + j_i] = i + 1")
end)

t.test(":reload of a second file takes its kernel in the place of another's of that name", function()
  local one = 'local tide = require "tide"\nk = tide.kernel { A = tide.i32[4], function(A) A[0] = %d end }\n'
  shell.plant(home, { ["one.lua"] = one:format(11), ["two.lua"] = one:format(22) })
  local out = session((":reload %s/one.lua\nk\n:reload %s/two.lua\nk\n"):format(home, home))
  t.has(out:match "^.-two.lua", "A[0] = 11")
  t.has(out:match "two.lua(.*)", "A[0] = 22")
  t.eq(out:match "two.lua.*A%[0%] = 11", nil)
end)

t.test(":reload leaves a schedule whose kernel has its name a schedule", function()
  shell.plant(home, { ["k.lua"] = (file:gsub("local k", "k")) })
  local out = session(("dofile %q;\nk = tide.schedule(k)\nk:split(\"j\", 4);\n:reload %s\n:log k\n"):format(
    home .. "/k.lua", home .. "/k.lua"))
  t.has(out, "k: 1 of 1 step apply again\n")
  t.has(out, '  1  s:split("j", 4)')
end)

t.test(":reload says which steps do not apply any more", function()
  local out = reloads(file:gsub("i, j", "i, c"):gsub("%[j%]", "[c]"))
  t.has(out, "s: 0 of 2 steps apply again\n  1  s:split(\"j\", 4) does not apply: no loop named 'j'")
end)

t.test(":reload of a file that fails, or makes nothing, changes nothing", function()
  t.has(reloads("error 'broken'", ":log s\n"), '  2  s:unroll("j_i")')
  t.has(reloads("error 'broken'"), "k.lua:1:1: error: broken\n     1 | error 'broken'\n       | ^~~~~\n")
  t.has(reloads("local x = 1", ":log s\n"), "made nothing that stays")
  t.has(reloads("k =\nlocal x"),
    "k.lua:2:1: error: an expression expected near 'local'\n     2 | local x\n       | ^~~~~\n")
  t.has(session ":reload /no/such.lua\n1\n", "cannot open /no/such.lua")
end)

t.test("a step that is to change what is computed is not compared with what was before it, later ones are", function()
  local out = session [[
k = tide.kernel { A = tide.f32[8], B = tide.f32[8], function(A, B) local acc = tide.f32(0) for i = 0, 7 do
acc = acc + A[i] * A[i] B[i] = acc end end }
s = tide.schedule(k)
s:retype("acc", tide.f16)
s:split("i", 4)
:log s
]]
  t.eq(out:find("gives another program", 1, true), nil)
  t.has(out, '  1  s:retype("acc", tide.f16)\n  2  s:split("i", 4)')
  t.has(out, "proved: strict")
end)

t.test("each command has help, and an error for arguments that it does not take", function()
  local wrong = { nothing = ":%s now", value = ":%s ]", schedule = ":%s 3", code = ":%s", file = ":%s",
    number = ":%s x", setting = ":%s nope", word = ":%s nope", lesson = ":%s nope" }
  for _, c in ipairs(tide.registry().commands) do
    local help = session("?:" .. c.name .. "\n")
    t.has(help, ":" .. c.usage .. "\n  " .. c.summary)
    local out = session(wrong[c.takes]:format(c.name) .. "\nprint 'goes on'\n")
    t.ok(out:find "goes on\n$" and not out:find "^goes on", c.name .. ": " .. out)
  end
end)

t.test(":set shows and changes settings", function()
  t.has(session ":set\n", "check is quick\nghost is on\n")
  t.eq(session ":set ghost off\n:set ghost\n", "ghost is off\nghost is off\n")
  t.has(session ":set ghost maybe\n", "ghost is one of off|on, not 'maybe'")
end)

t.test("steps are proved by default, where that is quick", function()
  local function steps(n, before)
    return session(([[
k = tide.kernel {A = i32[%d], function(A) for i = 0, %d - 1 do for j = 0, 999 do A[i] = A[i] * 3 + j end end end}
s = tide.schedule(k);
%s
s:unroll("j", 2)
]]):format(n, n, before or ""))
  end
  t.has(steps(4), "proved: strict")
  t.has(steps(2000), "proved: strict")
  local slow = steps(20000)
  t.has(slow, "unroll(2)")
  t.ok(not slow:find "proved", slow)
  t.has(steps(20000, ":check on"), "proved: strict")
  t.ok(not steps(4, ":check off"):find "proved")
end)

t.test(":trace shows each step as it is taken", function()
  local out = session(schedule .. ':trace on\ns:split("i", 4):unroll("i_i");\n')
  t.has(out, 'k: step 1: split("i", 4)\n')
  t.has(out, 'k: step 2: unroll("i_i")\n')
  t.has(out, "+     for i_o = 0, 1 do")
  t.eq(session(schedule .. 's:split("i", 4):unroll("i_i");\n'), "")
end)

t.test(":log numbers the steps, :diff and :undo take a schedule and a step", function()
  local steps = schedule .. 's:split("i", 4);\ns:unroll("i_i");\n'
  t.eq(session(steps .. ":log s\n"), '  1  s:split("i", 4)\n  2  s:unroll("i_i")\n')
  t.ok(not session(steps .. ":diff s\n"):find("+     for i_o", 1, true))
  t.has(session(steps .. ":diff s, 0\n"), "+     for i_o")
  t.eq(session(steps .. ":undo s, 2\n:log s\n"):match "no steps yet\n$", "no steps yet\n")
  t.has(session(steps .. "s\n1\n:log\n"), '  1  s:split("i", 4)')
  t.has(session ":log\n", "takes a schedule, not nil: none was shown yet")
end)

t.test("a user's table, string, io, math, print and require harm nothing", function()
  local path = t.tmp "own.lua"
  local out = session("table, string, io, math = {1, 2}, 'x', 5, nil\n"
    .. "print, require, pairs, ipairs, tostring = 1, 2, 3, 4, 5\n"
    .. "type, error, pcall, next, select, load, setmetatable, os = nil\n" .. schedule
    .. 's:split("i", 4);\n:log s\ns:estimate()\ns:steps()[1].verdict\ntide.show({s:loops()})\n?loop\n?not-divisible\n'
    .. "tutorial\n:tutorial stop\n#s:html()\ntable\n:undo s\n:save " .. path
    .. "\ntide.matmul(i8[2][2](1), i8[2][2](1))\n")
  t.ok(not out:find "error:", out)
  t.has(out, "u280 at 300 MHz")
  t.has(out, "{1, 2}\n")
  t.has(out, "saved 11 inputs")
  t.has(out, "i32[2][2]\n[0]  2  2")
  t.has(shell.output(shell.quote(shell.program) .. " " .. shell.quote(path) .. " 2>&1 && echo replayed"), "replayed")
end)

t.test("tables and lists of reports print in scripts as at the prompt", function()
  local path = t.tmp "prints.lua"
  shell.write(path, [[
require "tide.globals"
local k = kernel {x = i32[64], function(x) for i = 0, 63 do x[i] = x[i] + 1 end end}
local s = schedule(k)
print({1, two = {2, "zwei"}}, 3, {}, setmetatable({}, {__tostring = function() return "own" end}))
print({s:estimate(), s:estimate {device = "ideal"}})
print(s:loops())
local many = {}
for i = 1, 30 do many[i] = i * 1000 end
print(many)
tide.show {depth = 4, x = i8[2](1)}
many.self = many
print({many, name = many})
]])
  local out = shell.output(shell.quote(shell.program) .. " " .. shell.quote(path) .. " 2>&1")
  t.has(out, '{1, two = {2, "zwei"}}\t3\t{}\town\n')
  t.has(out, "{\n  [1] =\n    u280 at 300 MHz: 258 cycles")
  t.has(out, "\n  [2] =\n    ideal at 300 MHz: 64 cycles")
  t.has(out, '\n{"i"}\n')
  t.has(out, "{\n  1000, 2000, ")
  t.has(out, ", 29000, 30000\n}\n")
  t.has(out, "{depth = 4, x = i8[2] {1, 1}}\n")
  t.has(out, "self = {..}")
  t.ok(not out:find "table: 0x", out)
end)

t.test("what is taken back is shown by what changes, at :undo and s:undo()", function()
  local back = "-     for i_o = 0, 1 do\n-       for i_i = 0, 3 do\n"
    .. "-         x[i_o * 4 + i_i] = i_o * 4 + i_i\n-       end\n"
    .. "+     for i = 0, 7 do\n+       x[i] = i\n      end\n    end,\n"
  t.has(session(schedule .. 's:split("i", 4);\n:undo s\n'), back .. 'taken back: s:split("i", 4)\n')
  t.has(session(schedule .. 's:split("i", 4);\ns:undo()\n'), back .. 'taken back: s:split("i", 4)\n')
  t.has(session(schedule .. 's:split("i", 4);\ns:unroll("i_i")\n:undo s, 2\n'),
    'taken back: s:unroll("i_i")\ntaken back: s:split("i", 4)\n')
  t.has(session(schedule .. 's:split("i", 4)\ns:undo();\ns:split("i", 2)\n'), "+     for i_o = 0, 3 do")
end)

t.test("schedules of STeP graphs are shown by what changed, undone and logged like others", function()
  local graph = [[
step = require "tide.step"
g = step.graph(function() local act = step.load(tide.f32[4][8], { tile = { 1, 8 } }):map(step.fn.silu) act:sink() end)
s = tide.schedule(g);
]]
  local shown = session(graph .. 's\ns:depth("act", 3)\n')
  t.has(shown, "+   local act = step.map(load, fn.silu, { depth = 3 })")
  t.eq(session(graph .. 's:depth("act", 3);\n:log s\n'), '  1  s:depth("act", 3)\n')
  t.eq(session(graph .. 's:depth("act", 3);\n:undo s\n:log s\n'):match "no steps yet\n$", "no steps yet\n")
  t.has(session "?retile\n", "s:retile(pack, rows, {reassociate =})")
end)

t.test("any two schedules, kernels and designs are compared", function()
  local two = schedule .. "r = s:fork(); r:split('i', 2); s:split('i', 4);\n"
  t.has(session(two .. "tide.diff(r, s)\n"), "-     for i_o = 0, 3 do")
  t.has(session(two .. "s:diff(r)\n"), "+     for i_o = 0, 1 do")
  t.eq(session(two .. "#tide.diff(s, s), #s:diff(s:fork())\n"), "0\t0\n")
  t.has(session(two .. ":diff s, r\n"), "+     for i_o = 0, 1 do")
  t.has(session(two .. "s:diff(k)\n"), "-     for i = 0, 7 do")
  t.has(session(two .. "tide.diff(s, 3)\n"), "a schedule, kernel or design is expected, not an integer")
end)

t.test("a design is shown as a graph, its program by :ir", function()
  local design = [[
d = tide.design(function(d)
  local Z = d:stream(i8, {4, depth = 2})
  d.a = tide.task { map = {4}, A = i8[4]:layout "S0", function(A, t) Z[t]:put(A[0]) end }
  d.b = tide.task { map = {4}, B = i8[4]:layout "S0", function(B, t) B[0] = Z[t]:get() end }
end)
]]
  local graph = "d(A: i8[4], B: i8[4]): 2 tasks, 1 stream\n  A -> a[4] -> Z\n  Z -> b[4] -> B\n" ..
    "  stream Z[4]: i8, depth 2\n"
  t.eq(session(design .. "d\n"), graph)
  t.eq(session(design .. "tide.schedule(d)\n"), graph)
  t.has(session(design .. ":ir d\n"), "d.a = tide.task {")
end)

t.test("a design of many tasks is shown by its first ones", function()
  local out = session [[
d = tide.design(function(d) for i = 1, 300 do d["t" .. i] = tide.task { x = i8[1], function(x) x[0] = 1 end } end end,
  {check = false});
d
]]
  t.ok(out:find "^d%(x: i8%[1%]%): 300 tasks, 0 streams\n", out)
  t.has(out, "  .. 100 more tasks; :ir shows all\n")
end)

t.test("echoes are cut, and :show is not", function()
  t.ok(#session "('x'):rep(100000)\n" < 3000)
  t.ok(#session "('x\\n'):rep(100000)\n" < 21000)
  t.eq(#session "s = ('x\\n'):rep(100000);\n:show s\n", 200000)
  local long = session "setmetatable({}, {__tostring = function() return ('y'):rep(1e6) end})\n"
  t.has(long, ".. and more; :show shows all\n")
  t.has(session "l = {} for i = 1, 100 do l[i] = i end l\n", "20, ..}\n")
  t.has(session "l = {} for i = 1, 100 do l[i] = i end;\n:show l\n", "98, 99, 100\n}\n")
  t.eq(session "t = {} t.t = t;\n:show t\n", "{t = {..}}\n")
end)

t.test("text of several lines is shown as it is, other text quoted", function()
  t.eq(session [["a\nb"]], "a\nb\n")
  t.eq(session [[{"a\nb"}, "a\0\nb"]], [[{"a\nb"}]] .. "\t" .. [["a\000\nb"]] .. "\n")
end)

t.test("errors that are tables say what they hold; those that cannot be told do not end the session", function()
  t.eq(session "error {code = 3}\n1\n", "error: {code = 3}\n1\n")
  local silent = "setmetatable({}, {__tostring = function() error 'no' end})"
  t.eq(session("error(" .. silent .. ")\n1\n"), "an error that cannot be told\n1\n")
  t.has(session(silent .. "\n1\n"), "error: no\n")
  t.ok(session(silent .. "\n1\n"):find "\n1\n$")
end)

t.test("return shows its values; a line that is too long to tell columns is refused", function()
  t.eq(session "return 1, 2\nreturn 3;\nreturn\n", "1\t2\n")
  local t1 = 'x = "' .. ("a"):rep(70000) .. '"'
  local long = session(t1 .. " local y = 5\ny\n")
  t.has(long, "this line of the input is too long")
  t.eq(session(t1 .. "\nlocal y = 5\ny, #x\n"), "5\t70000\n")
end)

t.test("shell lines say how they ended", function()
  t.eq(session "!exit 3\n!kill -9 $$\n!true\n", "exit status 3\nended by signal 9\n")
end)

t.done()
