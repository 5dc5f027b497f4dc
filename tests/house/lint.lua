-- lint.lua - tests/lint.lua finds what it is for: a small tree that breaks its rules once each.
local t = require "tap"
local shell = require "shell"

local root = t.tmp "a tree"

local prim = [[
/* loop_bare.c - a primitive without words. */
#include "rewrite/prim.h"

const TdPrim td_prim_bare = {.name = "bare", .summary = ""};
]]

-- A function of n lines.
local function long(name, n)
  return ("/* Long. */\nstatic int %s(int x) {\n%s  return x;\n}\n"):format(name,
    ("  x++;\n"):rep(n - 3))
end

-- A function that is one switch of n lines.
local function switch(name, n)
  return ("/* Switch. */\nstatic int %s(int x) {\n  switch (x) {\n%s  }\n  return x;\n}\n"):format(
    name, ("  case 1: return 1;\n"):rep(n - 5))
end

shell.plant(root, {
  ["CONTRIBUTING.md"] = "`base < ir < affine < analysis, eval < rewrite, step < backends, bind`\n",
  ["docs/house.md"] = "`interp/base` has a, `interp/gone.c` b\n",
  ["interp/base/up.c"] = "/* up.c */\n#include \"ir/ir.h\"\n",
  ["interp/base/good.h"] = "/* Good. */\nint td_good_get(int x);\nint td_other_get(int x);\n\n" ..
    "int td_good_bare(int x);\n",
  ["interp/base/good.c"] = [[
/* good.c - "malloc(1)" and "/tmp/x" are nothing */
#include "base/good.h"
#include <isl/set.h>
#include <curl.h>

int td_good_get(int x) { return x; }
int td_other_get(int x) { return x; }
int td_good_hidden(int x) { return x; }
int td_good_listed(int x) { return x; }
static int *memory(int x) { return malloc(x); /* free(x) */ }
static struct {
  int n;
} table[1];
]] .. long("sixty", 60) .. long("sixty_one", 61) .. switch("choice", 90) ..
    "/* " .. ("-"):rep(110) .. " */\n",
  ["interp/base/good.def"] = "COMMAND(td_good_listed)\n",
  ["interp/ir/ir.h"] = "#include \"ir/loop.h\"\n",
  ["interp/ir/loop.h"] = "#include \"ir/ir.h\"\n",
  ["interp/ir/nowhere.c"] = "#include \"ir/nowhere.h\"\n#include <lua.h>\n",
  ["interp/analysis/maker.c"] = "const TdProg *p = td_prog_new(s, u, 1);\nuse(td_prog_root(p));\n",
  ["interp/frontend/eyes.c"] = "#include \"rewrite/prim.h\"\n",
  ["interp/rewrite/prim.h"] = "typedef struct TdPrim TdPrim;\n",
  ["interp/rewrite/loop/bare.c"] = prim,
  ["interp/rewrite/loop/empty.c"] = prim,
  ["backends/cpu/cpu.c"] = "#include \"hls/hls.h\"\n#include \"backends/hls/hls.h\"\n"
    .. "#include \"ir/ir.h\"\n",
  ["backends/hls/hls.h"] = "/* hls.h */\n",
  ["interp/base/diag.c"] = [[
/* Sets. */
static int set(int *d, const char *code, int loc) { return *d + *code + loc; }
/* Uses. */
static int use(int *d) {
  return set(d, d ? "is-tested" : "not-tested", f(1, 2)) + set(d, "by-line", 1) + set(d, "limit", 2);
}
]],
  ["tests/reject/by-file.lua"] = "-- by-file.lua\nreturn nil + 1\n",
  ["tests/lang/x.lua"] = "local unused = 'is-tested'\n" ..
    'print("limits by-line:7", "illegal limit")\n' .. ("-- line\n"):rep(600),
  ["NOTES.md"] = "see /" .. "tmp/x and /" .. "work/x\n" .. ("w "):rep(61) .. "\n| " .. ("t "):rep(62) ..
    "|\n```\n" .. ("c "):rep(63) .. "\n```\n",
  [".clang-format"] = shell.read ".clang-format",
  [".luacheckrc"] = shell.read ".luacheckrc",
})

local out = shell.output(("cd %s && ln -s %s/tests/lint.lua %s/tests/lint %s/tests/shell.lua " ..
  "tests && lua5.4 tests/lint.lua 2>&1"):format(shell.quote(root), shell.quote(shell.here),
  shell.quote(shell.here), shell.quote(shell.here)))

-- A test that lint says each text of a list.
local function says(name, texts)
  t.test(name, function()
    for _, text in ipairs(texts) do t.has(out, text) end
  end)
end

-- A test that lint says none of them.
local function is_silent(name, texts)
  t.test(name, function()
    for _, text in ipairs(texts) do t.ok(not out:find(text, 1, true), text .. " in:\n" .. out) end
  end)
end

says("layers", {"interp/base/up.c:2: base does not see ir",
  "interp/base/good.c:3: base does not include <isl/set.h>",
  "interp/base/good.c:4: <curl.h> is neither",
  'interp/ir/nowhere.c:1: "ir/nowhere.h" is not in the tree',
  "interp/ir/nowhere.c:2: ir does not include <lua.h>",
  "interp/frontend/eyes.c:1: frontend does not see rewrite",
  "backends/cpu/cpu.c:2: backends/cpu does not see backends/hls"})
says("answers", {"interp/analysis/maker.c:1: analysis makes no program"})
is_silent("a question", {"maker.c:2: analysis"})
says("cycles", {"include cycle: interp/ir/ir.h -> interp/ir/loop.h -> interp/ir/ir.h"})
says("names", {"exports td_other_get, which is not its noun",
  "interp/base/good.c:8: td_good_hidden is in no header"})
is_silent("good names", {"exports td_good_get", "td_good_listed", "exports table",
  "exports td_prim"})
says("heads", {"interp/base/good.h:5: td_good_bare has no comment above it, or above its group",
  "interp/ir/ir.h:1: does not open with a line that says its purpose"})
is_silent("a group has one head", {"td_good_get has no comment", "td_other_get has no comment"})
says("budgets", {"tests/lang/x.lua:602: 602 lines, at most 600", "sixty_one has 61 lines",
  "116 columns, at most 100", "NOTES.md:2: 122 columns, at most 120"})
is_silent("within the budget", {"sixty has", "choice has", "NOTES.md:3", "NOTES.md:5"})
says("memory", {"interp/base/good.c:10: malloc outside base"})
is_silent("memory in comments and strings", {"good.c:1: malloc", "free outside"})
says("paths", {"NOTES.md:1: names a path of one machine: /" .. "tmp/",
  "NOTES.md:1: names a path of one machine: /" .. "work/"})
says("primitives", {"loop/bare.c:1: the primitive lacks .summary",
  "loop/bare.c:1: the primitive lacks .legal", "has no tests/prim/bare.lua",
  "loop/empty.c:1: defines const TdPrim td_prim_bare, not td_prim_empty"})
is_silent("a name", {"lacks .name"})
says("the house", {"docs/house.md:1: interp/gone.c is not in the tree"})
says("codes", {"interp/base/diag.c:5: no test names the code not-tested"})
is_silent("codes that are tested", {"code is-tested", "code by-line", "code limit"})
says("tools", {"interp/base/good.c:", "not as clang-format leaves it",
  "tests/lang/x.lua:1: (W211) unused variable 'unused'"})
is_silent("refused programs may be wrong", {"by-file.lua:"})
says("the closing line", {" passed, "})
t.done()
