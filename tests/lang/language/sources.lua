-- Where a kernel's function may come from, and what its text may look like.
local tide = require "tide"
local t = require "tap"
local shell = require "shell"
local p = require "programs"
local i32 = tide.i32

local body = "function(A) for i = 0, 3 do A[i] = A[i] * 2 + 1 end end"
local A = tide.tensor(i32[4], {1, 2, 3, 4})
local want = {3, 5, 7, 9}

-- States that k is the kernel of `body`.
local function check(k)
  t.eq(p.same(k, A):table(), want)
end

-- Makes a file hold a text; returns its path.
local function file(name, text) return shell.write(t.tmp(name), text) end

local head = "local tide = require 'tide'\n"

t.test("strings, named chunks, pieces, chunks that share a name", function()
  check(load(head .. "return tide.kernel {A = tide.i32[4], " .. body .. "}")())
  check(load(head .. "return tide.kernel {A = tide.i32[4], " .. body .. "}", "=gen")())
  check(load(head .. "return tide.kernel {A = tide.i32[4], " .. body .. "}", "=tide:12")())
  local pieces = {head, "return tide.kernel {A = ", "tide.i32[4], ", body, "}"}
  local i = 0
  check(load(function() i = i + 1 return pieces[i] end)())
  local two = load("return function(A) for i = 0, 3 do A[i] = 2 end end", "=same")()
  local three = load("return function(A) for i = 0, 3 do A[i] = 3 end end", "=same")()
  t.eq(p.same(tide.kernel {A = i32[4], two}, A)[0], 2)
  t.eq(p.same(tide.kernel {A = i32[4], three}, A)[0], 3)
end)

t.test("several functions on one line, alike but for their code", function()
  local a, b = tide.kernel {A = i32[4], function(A) A[0] = 1 end}, tide.kernel {A = i32[4], function(A) A[0] = 2 end}
  t.eq({p.same(a, A)[0], p.same(b, A)[0]}, {1, 2})
  local f, g = function(x) return x + 1 end, function(x) return x * 3 end
  t.eq(p.same(tide.kernel {A = i32[4], function(A) A[0] = f(A[1]) A[1] = g(A[1]) end}, A):table(), {3, 6, 3, 4})
  local many = {"return {"}
  for n = 1, 40 do many[#many + 1] = ("function(A) A[%d] = %d end,"):format(n % 4, n) end
  many = load(table.concat(many) .. "}", "=many")()
  for n = 1, 40 do t.eq(p.same(tide.kernel {A = i32[4], many[n]}, A)[n % 4], n) end
  local inner = load "return function(A) return function(A) A[0] = 14 end, #A end"()""
  t.eq(p.same(tide.kernel {A = i32[4], inner}, A)[0], 14)
  local path = file("one_line.lua", "#!/usr/bin/env tide\nlocal tide = require 'tide' "
    .. "return tide.kernel {A = tide.i32[4], function(A) A[0] = 5 end}, "
    .. "tide.kernel {A = tide.i32[4], function(A) A[0] = 6 end}")
  local five, six = dofile(path)
  t.eq({p.same(five, A)[0], p.same(six, A)[0]}, {5, 6})
  local out = shell.session("a = tide.kernel {A = i32[1], function(A) A[0] = 7 end} "
    .. "local b = tide.kernel {A = i32[1], function(A) A[0] = 8 end}\na\nb\n")
  t.has(out, "a = tide.kernel {\n  A = i32[1],\n  function(A)\n    A[0] = 7\n")
  t.has(out, "b = tide.kernel {\n  A = i32[1],\n  function(A)\n    A[0] = 8\n")
end)

t.test("tide.globals makes tide's names global, and leaves those that are there", function()
  local path = file("with_globals.lua", 'i8 = "mine"\nrequire "tide.globals"\n'
    .. "k = kernel {A = i32[N or 4], function(A) for i, j in grid(2, 2) do A[2 * i + j] = i end end}\n"
    .. "print(i8, schedule(k):loops()[2], tide.kernel == kernel)\n")
  t.eq(shell.output(shell.quote(shell.program) .. " " .. shell.quote(path) .. " 2>&1"),
    "mine\tj\ttrue\n")
  t.has(shell.output(shell.quote(shell.program) .. " - 2>&1 <<'end'\nA = i8[4]\nend"),
    "help: did you mean 'tide.i8'? (`require \"tide.globals\"` makes it global)")
end)

t.test("files, modules, dofile, loadfile, environments", function()
  local text = head .. "return tide.kernel {A = tide.i32[4], " .. body .. "}\n"
  local path = file("kernel_module.lua", text)
  check(dofile(path))
  check(loadfile(path)())
  check(loadfile(path, "t", {require = require})())
  local folder = path:match "^(.*)/"
  package.path = folder .. "/?.lua;" .. package.path
  check(require "kernel_module")
  local env = setmetatable({COUNT = 4}, {__index = {require = require}})
  check(load(head .. "return tide.kernel {A = tide.i32[COUNT], function(A) for i = 0, COUNT - 1 do "
    .. "A[i] = A[i] * 2 + 1 end end}", "=env", "t", env)())
end)

t.test("an error in a file of any line ends names the line, and draws it alone", function()
  local lines = {"local tide = require 'tide'", "", "return tide.kernel {", "  A = tide.i32[4],",
    "  function(A)", "    A[0] = 1", "    A[4] = 2", "  end,", "}"}
  for name, ending in pairs {lf = "\n", crlf = "\r\n", cr = "\r", lfcr = "\n\r"} do
    local path = file("ends_" .. name .. ".lua", table.concat(lines, ending))
    local e = t.fails(function() dofile(path) end,
      {code = "index-range", file = path, line = 7, col = 7})
    t.has(tostring(e), "\n     7 |     A[4] = 2\n       |       ^\n")
    local bare = t.fails(function() dofile(file("bare_" .. name .. ".lua",
      table.concat({"local tide = require 'tide'", "local x = 1", "return tide.kernel {x}"}, ending))) end)
    t.eq({bare.line, bare.col}, {3, 13})
  end
end)

t.test("CRLF, a byte order mark, tabs, no final newline, #!", function()
  local text = head ..
    "local N = 4\nreturn tide.kernel {\n\tA = tide.i32[N], -- é\n\tfunction(A)\n"
    .. "\t\tfor i = 0, N - 1 do\n\t\t\tA[i] = A[i] * 2 + 1\n\t\tend\n\tend,\n}"
  check(dofile(file("crlf.lua", (text:gsub("\n", "\r\n")))))
  check(dofile(file("bom.lua", "\xEF\xBB\xBF" .. text)))
  check(dofile(file("bang.lua", "#!/usr/bin/env tide\n" .. text)))
  check(dofile(file("both.lua", "\xEF\xBB\xBF#!tide\r\n" .. text)))
  check(dofile(file("cr.lua", (text:gsub("\n", "\r")))))
end)

t.test("bytes that are no UTF-8, and long strings that look like code", function()
  check(load(head ..
    "-- \xff\xfe\xc0 function(A) end\nlocal s = '\xff\x80' .. [==[function(A) A[0] = 9 end]==]\n"
    .. "return tide.kernel {A = tide.i32[4], " .. body .. "}")())
end)

t.test("a line of a megabyte", function()
  local blanks = (" "):rep(1 << 20)
  check(load(head .. "return tide.kernel {A = tide.i32[4], " .. blanks .. body .. "}")())
  local e = t.fails(function()
    load(head .. "return tide.kernel {A = tide.i32[4], " .. blanks ..
      "function(A) A[0] = nosuch end}", "=wide")()
  end, {code = "undefined", line = 2})
  t.ok(#tostring(e) < 2000)
end)

t.test("several functions on a line", function()
  local f, g = function(A) A[0] = 1 end, function(A, B) A[0] = 2 end
  t.eq(p.same(tide.kernel {A = i32[4], f}, A)[0], 1)
  t.eq(p.same(tide.kernel {A = i32[4], B = i32[4], g}, A, A)[0], 2)
  local x, y = 5, 6
  local h, k = function(A) A[0] = x end, function(A) A[0] = y end
  t.eq(p.same(tide.kernel {A = i32[4], h}, A)[0], 5)
  t.eq(p.same(tide.kernel {A = i32[4], k}, A)[0], 6)
end)

t.test("coroutines, methods, string.dump", function()
  local co = coroutine.wrap(function()
    local k = tide.kernel {A = i32[4], function(A) for i = 0, 3 do A[i] = A[i] * 2 + 1 end end}
    coroutine.yield(k)
    local f = function(A) for i = 0, 3 do A[i] = A[i] * 2 + 1 end end
    coroutine.yield(f)
  end)
  check(co())
  check(tide.kernel {A = i32[4], co()})
  local object = {}
  function object.f(A) for i = 0, 3 do A[i] = A[i] * 2 + 1 end end
  check(tide.kernel {A = i32[4], object.f})
  check(tide.kernel {A = i32[4], load(string.dump(object.f))})
end)

t.test("names of kernels", function()
  local function names() return tide.kernel {A = i32[4], function(A) A[0] = 1 end} end
  local list = {tide.kernel {A = i32[4], function(A) A[0] = 1 end}}
  local a, b = names(), (tide.kernel {A = i32[4], function(A) A[0] = 1 end})
  t.eq(a.name, "names")
  t.eq(list[1].name, "kernel")
  t.ok(b.name)
  t.eq(tide.kernel {name = "given", A = i32[4], function(A) A[0] = 1 end}.name, "given")
end)

t.test("a deleted file", function()
  local path = file("gone.lua", head .. "return tide.kernel, function(A) A[0] = 7 end")
  local make, f = dofile(path)
  os.remove(path)
  t.eq(p.same(make {A = i32[4], f}, A)[0], 7)
end)

p.done()
