-- [slow] build.lua - what the Makefile builds and builds again, in a small tree with a space in its path.
local t = require "tap"
local shell = require "shell"
local quote = shell.quote

local root = t.tmp "a tree"

local primitive = [[
#include "rewrite/prim.h"
const TdPrim td_prim_%s = {"%s"};
]]

shell.plant(root, {
  ["Makefile"] = shell.read "Makefile",
  ["VERSION"] = "1.2.3\n",
  ["interp/base/a.h"] = "int td_a_get(void);\n",
  ["interp/base/a.c"] = '#include "base/a.h"\nint td_a_get(void) { return 7; }\n',
  ["interp/base/b.c"] = "int td_b_get(void);\nint td_b_get(void) { return 8; }\n",
  ["interp/ir/a.c"] = '#include "ir/twin.h"\nint td_twin_get(void) { return 9; }\n',
  ["interp/ir/twin.h"] = "int td_twin_get(void);\n",
  ["interp/rewrite/prim.h"] = "#include <stddef.h>\ntypedef struct { const char *name; } TdPrim;\n"
    .. "extern const TdPrim *const td_prims[];\n",
  ["interp/rewrite/prim.c"] = '#include "gen/prims.gen.h"\n'
    .. "const TdPrim *const td_prims[] = TD_PRIMS;\n",
  ["interp/rewrite/loop/one.c"] = primitive:format("one", "one"),
  ["interp/main.c"] = [[
#include <stdio.h>
#include "base/a.h"
#include "gen/version.h"
#include "ir/twin.h"
#include "rewrite/prim.h"
int main(void) {
  printf("%s %d%d", TIDE_VERSION, td_a_get(), td_twin_get());
#ifdef TIDE_NO_TCC
  printf(" no-tcc");
#endif
  for (int i = 0; td_prims[i]; i++) printf(" %s", td_prims[i]->name);
  return 0;
}
]],
  ["stdlib/targets/x.lua"] = "return 1\n",
  ["backends/hls/include/y.h"] = "\n",
})

-- Runs make in the tree from another folder; returns what it prints and the files it compiled.
local function make(arguments)
  local out, status = shell.output(("cd / && env -i PATH=\"$PATH\" make -C %s LIBS= LUA_LIBS= " ..
    "%s 2>&1"):format(quote(root), arguments or ""))
  t.eq(status, 0, out)
  local compiled = {}
  for file in out:gmatch "\ncc (%S+)" do compiled[#compiled + 1] = file:match "[^/]+$" end
  table.sort(compiled)
  return out, compiled
end

-- What the program in the tree prints.
local function tide() return (shell.output(quote(root .. "/tide"))) end

-- Gives a file a newer time.
local function touch(path) shell.output("touch " .. quote(root .. "/" .. path)) end

t.test("builds everything, from another folder, under a path with a space", function()
  local _, compiled = make()
  t.eq(compiled, {"a.c", "a.c", "b.c", "main.c", "one.c", "prim.c"})
  t.eq(tide(), "1.2.3 79 one")
end)

t.test("a second make builds nothing", function()
  local out, compiled = make()
  t.eq(compiled, {})
  t.ok(not out:find "\n[alc][rdc] ", out)
end)

t.test("a touched source is compiled alone, a header's users with it", function()
  touch "interp/base/b.c"
  t.eq(select(2, make()), {"b.c"})
  touch "interp/base/a.h"
  t.eq(select(2, make()), {"a.c", "main.c"})
end)

t.test("a new primitive enters the table and compiles nothing else", function()
  shell.write(root .. "/interp/rewrite/loop/another.c", primitive:format("another", "another"))
  t.eq(select(2, make()), {"another.c", "prim.c"})
  t.eq(tide(), "1.2.3 79 another one")
end)

t.test("a removed source leaves the library", function()
  os.remove(root .. "/interp/base/b.c")
  t.eq(select(2, make()), {})
  local members = shell.output("ar t " .. quote(root .. "/build/release/libtide.a"))
  t.has(members, "a.o")
  t.ok(not members:find "b.o", members)
end)

t.test("a new version compiles only what names it", function()
  shell.write(root .. "/VERSION", "1.2.4\n")
  t.eq(select(2, make()), {"main.c"})
  t.eq(tide(), "1.2.4 79 another one")
end)

t.test("other flags build again: TCC=0", function()
  t.eq(#select(2, make "TCC=0"), 6)
  t.eq(tide(), "1.2.4 79 no-tcc another one")
  t.eq(#select(2, make()), 6)
  t.eq(tide(), "1.2.4 79 another one")
end)

t.test("configurations have folders of their own", function()
  make "CONFIG=hostile CFLAGS=-O0"
  t.ok(shell.read(root .. "/build/hostile/tide"))
  t.eq(select(2, make()), {})
end)

t.test("so makes a shared object", function()
  make "so"
  t.has(shell.output("nm -D " .. quote(root .. "/tide.so")), "td_a_get")
end)

-- The files below a folder, by path.
local function files_below(folder)
  local files = {}
  for path in shell.output(("cd %s && find . -type f | LC_ALL=C sort"):format(quote(folder)))
    :gmatch "[^\n]+" do files[#files + 1] = path end
  return files
end

t.test("install and uninstall honour DESTDIR and PREFIX, spaces too", function()
  local stage = t.tmp "st age"
  shell.output("mkdir -p " .. quote(stage))
  local to = ("DESTDIR=%s PREFIX='/o pt'"):format(quote(stage))
  make("install " .. to)
  t.eq(files_below(stage), {"./o pt/bin/tide", "./o pt/lib/lua/5.4/tide.so",
    "./o pt/share/tide/backends/hls/include/y.h", "./o pt/share/tide/stdlib/targets/x.lua"})
  make("uninstall " .. to)
  t.eq(files_below(stage), {})
end)

t.test("help names every target", function()
  local out = make "help"
  for name in ("all so kernel demo test test-full lint san bench docs install uninstall fresh fuzz " ..
    "hostile clean help"):gmatch "%S+" do t.has(out, "\n  " .. name .. " ") end
end)

t.test("clean removes what was built", function()
  make "clean"
  t.eq(shell.read(root .. "/tide"), nil)
  t.eq(shell.read(root .. "/build/gen/version.h"), nil)
end)

t.done()
