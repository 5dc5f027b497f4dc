-- What the prompt answers, line by line, without a terminal.
local t = require "tap"
local session = require "shell".session

t.test("locals persist, results are shown, `;` silences", function()
  t.eq(session "local x = 20\nlocal y <const> = 22\nx + y\nx + y;\nlocal z\nz", "42\nnil\n")
end)

t.test("several statements end in a shown value", function()
  t.eq(session "a = 1; b = 2; a + b", "3\n")
end)

t.test("inputs of several lines", function()
  t.eq(session "function f(x)\n  return x * 2\nend\nf(21)", "42\n")
  t.eq(session "local function fact(n)\n  if n < 2 then return 1 end\n  return n * fact(n - 1)\nend\nfact(10)",
    "3628800\n")
end)

t.test("lines that end in CR alone", function()
  t.eq(session "do end\rlocal a = 1\rlocal b <const> = 2\ra + b", "3\n")
end)

t.test("answers have names", function()
  t.eq(session "select(1, 'a', 1)\n_1 .. _2 .. #_", '"a"\t1\n"a11"\n')
end)

t.test("tide and its names are global, Lua's own stay", function()
  t.eq(session "i8[4](1)\nload == tide.load\nselect('#', 1, 2)", "i8[4] {1, 1, 1, 1}\nfalse\n2\n")
end)

t.test("tables, nested and cut", function()
  t.eq(session "{1, {2, x = 3}, y = 'z'}", '{1, {2, x = 3}, y = "z"}\n')
end)

t.test("fields by name, whatever the order that they lie in", function()
  local words, shown = {}, {}
  for i = 1, 18 do words[i] = ("k%02d = %d"):format(i * 7 % 19, i) end
  for i, word in ipairs(words) do shown[i] = word end
  table.sort(shown)
  local out = session("{" .. table.concat(words, ", ") .. ", 'first', [2.5] = 'last'}")
  t.eq(out:gsub("\n +", " "):gsub("{ ", "{"):gsub("\n}", "}"),
    '{"first", ' .. table.concat(shown, ", ") .. ', [2.5] = "last"}\n')
end)

t.test("several values behind commas, and several targets", function()
  t.eq(session "1, 2", "1\t2\n")
  t.eq(session "x, y = 1, 2\nx, y\nz = 3; x, y, z", "1\t2\n1\t2\t3\n")
  t.eq(session "t = {}\nt.a, t['b'] = 5, 6\nt.b, t.a", "6\t5\n")
  t.eq(session "x, y = 1, 2\nx,\ny", "1\t2\n")
  t.eq(session "x, y = 1, 2;\nx, y;\nx", "1\n")
  t.has(session "x, 1 = 2", "cannot assign to an integer")
  t.has(session "x, y z = 1", "alone is not a statement")
end)

t.test("an error never ends the session", function()
  local out = session "error 'no'\nnil + 1\nx x\n1 +\n2"
  t.ok(out:find "no", out)
  t.ok(out:find "this value is nil: arithmetic takes numbers and tensors", out)
  t.ok(out:find("a name alone is not a statement", 1, true), out)
  t.ok(out:find "3\n$", out)
end)

t.test("errors draw the line of the input", function()
  for _, before in ipairs {"", "local k = 1 ", "local k ", "local\tk ", "local k, l local m <const> = 1; ",
    "k = 1 local\n  k = 2 local k "} do
    local input = before .. "k = tide.kernel { x = i8[4], function(x) x[0] = y end }"
    local line = input:match "[^\n]*$"
    local out = session(input)
    local row, column = select(2, input:gsub("\n", "")) + 1, line:find "y end"
    t.has(out, ("tide:1:%d:%d: error: undefined name 'y' ("):format(row, column))
    t.has(out, line .. "\n       | " .. line:sub(1, column - 1):gsub("[^\t]", " ") .. "^\n")
  end
end)

t.test("what is no Lua has errors with codes too", function()
  local codes = "debug.getmetatable(select(2, pcall(tide.kernel))).__tostring = " ..
    "function(e) return e.kind .. ' ' .. e.code end\n"
  t.eq(session(codes .. ":nosuch"), "usage command\n")
  t.eq(session(codes .. "?nosuch"), "usage help\n")
  t.eq(session(codes .. "x = '" .. ("a"):rep(70000) .. "' local y"), "usage line-length\n")
  t.eq(session(codes .. "local f <close> = io.tmpfile()"), "usage close-input\n")
  t.eq(session(codes .. "do local f <close> = io.tmpfile() end 1"), "1\n")
end)

t.test("a <close> variable is refused with advice", function()
  local out = session "local f <close> = io.tmpfile()"
  t.ok(out:find("do ... end", 1, true), out)
end)

t.test("help by ?name, name? and ?", function()
  t.ok(session "?split":find("s:split(loop, factor, {names =, tail =})", 1, true))
  t.ok(session "reorder?":find("Put the loops of a nest in another order", 1, true))
  t.ok(session "?:time":find(":time [100x] code", 1, true))
  local all = session "?"
  for _, word in ipairs { "split", "kernel", ":undo", "!line" } do t.ok(all:find(word, 1, true), word) end
  for asked, meant in pairs {splt = "split", ["s:reordr"] = "reorder", ["tide.matmull"] = "tide.matmul"} do
    t.has(session("?" .. asked), "did you mean '?" .. meant .. "'?")
  end
  t.ok(session "?nothing_like_it":find("there is no help on 'nothing_like_it'", 1, true))
end)

t.test("tensors are read as a person reads them: aligned, digits that matter, corners of big ones", function()
  t.eq(session "tide.tensor(f32[2][3], {{1, 2.5, 1e10}, {-1/0, 0/0, 1/3}})",
    "f32[2][3]\n[0]     1.0    2.5  1e+10\n[1]  -inf    nan    0.333333\n")
  t.eq(session "tide.tensor(f32[4], {10, -200000, 1e6, 0.001})", "f32[4] {10.0, -200000.0, 1e+06, 0.001}\n")
  t.eq(session "f16[4](1.1)", "f16[4] {1.1, 1.1, 1.1, 1.1}\n")
  t.eq(session "tide.tensor(f64[2], {1/3, 0.1})", "f64[2] {0.333333, 0.1}\n")
  local text = session "t = i32[50][40](0) t[49][39] = 7 t[0][0] = 5 t[30][20] = 9 t"
  t.has(text, "i32[50][40]\n[0]   5  0  0")
  t.has(text, "\n...\n[46]")
  t.ok(text:find "%[49%]  0  0 [0 ]*%.%.%. [0 ]*7\n$", text)
  t.ok(not text:find "9%f[%D]  0", text)
  for line in text:gmatch "[^\n]+" do t.ok(#line <= 80, line) end
  text = session "i8[9][9][9](1)"
  t.has(text, "[0][0]  1")
  t.has(text, "[8][8]  1")
  t.ok(select(2, text:gsub("\n", "")) <= 40, text)
  t.has(session "x = {a = i8[2][2](1)}\nx", "a = i8[2][2] {{1, 1}, {1, 1}}")
end)

t.test("commands", function()
  local k = "s = tide.schedule(tide.kernel { x = i32[8], function(x) for i = 0, 7 do x[i] = i end end });\n"
  t.ok(session(k .. 's:split("i", 4);\n:log s'):find('s:split("i", 4)', 1, true))
  t.ok(session(k .. 's:split("i", 4);\n:diff s'):find("+     for i_o = 0, 1 do", 1, true))
  t.ok(session(k .. 's:split("i", 4);\n:undo s\n:ir s'):find("for i = 0, 7 do", 1, true))
  t.ok(session ":time 1 + 1":find "2\n%d+%.%d+ ms\n")
  local least, median, greatest = session "n = 0\n:time 7x (function() n = n + 1 return n end)()\nprint(n, _)":match(
    "^7\nleast (%d+%.%d+) ms, median (%d+%.%d+) ms, greatest (%d+%.%d+) ms of 7 runs\n7\t7\n$")
  t.ok(tonumber(least) <= tonumber(median) and tonumber(median) <= tonumber(greatest))
  t.has(session ":time 0x 1", "from 1x to")
  t.ok(session ":tiem 1":find("did you mean ':time'", 1, true))
  t.eq(session ":check off\n:check", "check is off\ncheck is off\n")
  t.eq(session "!echo hello", "hello\n")
  t.eq(session "1\n:quit\n2", "1\n")
end)

t.test("a step shows what changed and how it was proved", function()
  local out = session [[
s = tide.schedule(tide.kernel { x = i32[8], function(x) for i = 0, 7 do x[i] = i end end });
s:split("i", 4)]]
  t.ok(out:find("+     for i_o = 0, 1 do", 1, true), out)
  t.ok(out:find("proved: strict", 1, true), out)
end)

t.test("an error that cannot be told does not end the session", function()
  t.eq(session "error(setmetatable({}, {__tostring = function() error 'x' end}))\n1 + 1",
    "an error that cannot be told\n2\n")
end)

t.done()
