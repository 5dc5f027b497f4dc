-- The options and verbs of the command line: what they print, where, and the exit status.
local t = require "tap"
local shell = require "shell"

-- What the program prints on standard output with these arguments, on standard error, and its
-- exit status.
local function run(arguments)
  local path = t.tmp "errors"
  local text, status = shell.output(("%s %s 2>%s </dev/null"):format(shell.quote(arg[-1]), arguments,
    shell.quote(path)))
  return text, shell.read(path), status
end

t.test("-h and --help print the options and verbs", function()
  local short, errors, status = run "-h"
  t.eq({errors, status}, {"", 0})
  t.eq({run "--help"}, {short, "", 0})
  for _, word in ipairs {"-e code", "-l mod", "-v --version", "-h --help", "doc", "check script", "init"} do
    t.has(short, "\n  " .. word)
  end
end)

t.test("what is no option, or lacks its value, is a usage error with the same list", function()
  local list = run "-h"
  for arguments, said in pairs {["--helf"] = "no option '--helf'", ["-z"] = "no option '-z'",
    ["-iv"] = "no option '-iv'", ["-e"] = "'-e' takes code", ["-l"] = "'-l' takes mod"} do
    local text, errors, status = run(arguments)
    t.eq({text, status}, {"", 2})
    t.eq(errors, "tide: " .. said .. "\n" .. list)
  end
end)

t.test("-E ignores each of Tide's variables", function()
  local names, values = {}, {}
  for _, v in ipairs(require "tide".registry().environment) do
    if v.name:find "^TIDE_" then
      names[#names + 1] = ("os.getenv '%s'"):format(v.name)
      values[#values + 1] = v.name .. "=1"
    end
  end
  t.ok(#names > 2)
  local command = ("env %s %s %%s -e %s"):format(table.concat(values, " "), shell.quote(arg[-1]),
    shell.quote("print(" .. table.concat(names, ", ") .. ")"))
  t.eq(shell.output(command:format ""), ("1\t"):rep(#names - 1) .. "1\n")
  t.eq(shell.output(command:format "-E"), ("nil\t"):rep(#names - 1) .. "nil\n")
end)

t.test("every verb that is listed is there", function()
  for verb in run "-h":gmatch "\n  (%l+) " do
    t.eq(type(require "tide.tool.cli"[verb]), "function", verb)
  end
end)

t.test("-v names the version, the commit, Lua and the libraries with their versions", function()
  local text, errors, status = run "-v"
  t.eq({errors, status}, {"", 0})
  t.eq({run "--version"}, {text, "", 0})
  local version = assert(shell.read "VERSION"):match "%S+"
  t.ok(text:find("^Tide " .. version:gsub("%.", "%%.") .. "[ %x]*  Lua 5%.4%.%d+  isl 0%.%d+"), text)
  local linked = shell.output("ldd " .. shell.quote(arg[-1]))
  if linked:find "libgmp" then t.ok(text:find "  GMP %d+%.%d+", text) end
  local tcc = shell.output "tcc -v 2>/dev/null":match "version (%S+)"
  if tcc and text:find "libtcc" then t.has(text, "  libtcc " .. tcc) end
end)

t.test("calls of C go through libffi; none of the C library's ways out is Tide's own, nor GMP's memory", function()
  local file = shell.quote(arg[-1])
  t.has(shell.output("ldd " .. file), "libffi.so")
  local text = shell.output("nm " .. file)
  local defined, wanted = {}, {}
  for kind, name in text:gmatch " (%a) ([%w_]+)" do (kind == "U" and wanted or defined)[name] = true end
  t.eq({defined.main, defined.td_ctx_new}, {true, true}, "its own functions are in the table")
  for _, name in ipairs {"exit", "_exit", "_Exit", "quick_exit", "abort", "pthread_exit", "thrd_exit", "pthread_create",
    "execve", "malloc", "free", "realloc", "dlopen"} do t.eq(defined[name], nil, name) end
  t.eq(text:find("__gmp_set_memory_functions", 1, true), nil)
end)

t.test("output that is lost is a failure", function()
  for _, arguments in ipairs {"-v", "-h", "doc", "-e 'print(1)'", "-e 'print(1) os.exit()'",
    "-e 'print(1) os.exit(true, true)'"} do
    local text, status = shell.output(("%s %s 2>&1 >/dev/full"):format(shell.quote(arg[-1]), arguments))
    t.eq({text, status}, {"tide: not all of the output could be written\n", 1}, arguments)
  end
end)

t.test("with descriptors closed, what is printed goes into no file, and what is read fails", function()
  local file = t.tmp "given"
  local script = ("f = io.open(%q, 'w') print('printed') io.stdout:flush() f:write('written') f:close()"):format(file)
  for closed, want in pairs {[">&-"] = 1, ["2>&-"] = 0, ["<&-"] = 0, ["<&- >&- 2>&-"] = 1} do
    local _, status = shell.output(("%s -e %s %s"):format(shell.quote(arg[-1]), shell.quote(script), closed))
    t.eq({shell.read(file), status}, {"written", want}, closed)
  end
  local text, status = shell.output(("%s - 2>&1 <&-"):format(shell.quote(arg[-1])))
  t.eq({text, status}, {"cannot read stdin\n", 1})
end)

t.test("a parent that ignores its children does not make Tide lose its own", function()
  local source = t.tmp "wrong.c"
  shell.write(source, "void f(int *x) { x[0] = ; }\n")
  local script = ("print(os.execute 'exit 3') tide.extern {source = %q, symbol = 'f', x = i32[1]}(i32[1]())"):format(
    source)
  for _, ignored in ipairs {"CHLD", "HUP"} do
    local text, status = shell.output(("trap '' %s; exec %s -e %s 2>&1"):format(ignored, shell.quote(arg[-1]),
      shell.quote(script)))
    t.eq(status, 1)
    t.has(text, "nil\texit\t3\n")
    t.has(text, "wrong.c:1: ")
  end
end)

t.test("a file that is not there is told by its name", function()
  for _, arguments in ipairs {"/no/such.lua", "check /no/such.lua", "doc /no/such.md"} do
    local text, errors, status = run(arguments)
    t.eq({text, status}, {"", 1}, arguments)
    t.ok(errors:find "^[%w ]*:? ?[%w ]*/no/such%.%a+: No such file or directory\n$", errors)
  end
end)

t.done()
