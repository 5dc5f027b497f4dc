-- [slow] warnings.lua - no warning of gcc or clang in any C file of the tree; what a file shall warn of is
-- shown to be warned of.
local t = require "tap"
local shell = require "shell"

local FLAGS = "-std=c11 -D_POSIX_C_SOURCE=200809L -Iinterp -I. -Ibuild -I/usr/include/lua5.4 -fsyntax-only " ..
  "-Wall -Wextra -Wpedantic -Wshadow -Wconversion"

-- What a compiler says of files.
local function said(compiler, files)
  return shell.output(("echo '%s' | xargs -d '\\n' -n 20 -P 2 %s %s 2>&1"):format(files, compiler, FLAGS))
end

local files = shell.output "ls interp/*.c interp/*/*.c backends/*.c backends/*/*.c repl/*.c tests/*/*.c"
files = files:gsub("%s+$", "")
local kernel = shell.output "ls repl/jupyter/*.c":gsub("%s+$", "")
local has_headers = shell.output [[printf '#include <%s>\n' zmq.h jansson.h openssl/evp.h |
  gcc -fsyntax-only -xc - 2>&1]] == ""

for _, compiler in ipairs {"gcc", "clang"} do
  t.test(compiler .. " has nothing to say", function() t.eq(said(compiler, files), "") end)
  if has_headers then
    t.test(compiler .. " has nothing to say of the Jupyter kernel", function() t.eq(said(compiler, kernel), "") end)
  else
    t.skip(compiler .. " on the Jupyter kernel", "libzmq3-dev, libjansson-dev or libssl-dev is not installed")
  end
  t.test(compiler .. " would say it", function()
    local file = t.tmp "narrow.c"
    shell.write(file, "int narrow(unsigned x);\nint narrow(unsigned x) { return x; }\n")
    t.has(said(compiler .. " -Wsign-conversion", file), "narrow.c:2")
  end)
end

t.done()
