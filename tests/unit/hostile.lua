-- hostile.lua - what goes wrong around a session leaves it as it was: run by hostile_test.c.
-- Each attempt is made in one session, beside names that were there before. It must give the error
-- it should; then the schedule's program is the very same object, the names hold what they held, no
-- temporary file is left, and the session goes on.
-- luacheck: globals program limit setenv thorough sanitized
local t = require "tap"
local shell = require "shell"
local tide = require "tide"
local i32, i64, grid = tide.i32, tide.i64, tide.grid

local folder = os.tmpname()
os.remove(folder)
shell.output("mkdir -p -m 700 " .. shell.quote(folder .. "/cache"))
setenv("TMPDIR", folder)
setenv("TIDE_CACHE", folder .. "/cache")

-- Temporary files: all but what the cache keeps on purpose.
local function leftovers()
  return (shell.output(("cd %s && find . -mindepth 1 ! -name cache ! -path './cache/*.so' ! -path " ..
    "'./cache/*.hls' ! -path './cache/*.cc' ! -path './given*'"):format(shell.quote(folder))))
end

local gemm = tide.kernel {
  A = i32[6][5], B = i32[5][4], C = i32[6][4],
  function(A, B, C)
    for i, j in grid(6, 4) do
      for k = 0, 4 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
    end
  end,
}
local s = tide.schedule(gemm):split("i", 2)
local A, B = tide.random(i32[6][5], 1), tide.random(i32[5][4], 2)
local want = i32[6][4](0)
gemm(A, B, want)

-- The names and what they hold.
local function state()
  return {program(s), tostring(s), s:log(), tostring(gemm), A:table(), B:table(), leftovers()}
end

-- Whether the session works: a step, a proof and a run.
local function check_alive()
  local f = s:fork():reorder("k", "j")
  t.eq((f:verify()), "strict")
  local C = i32[6][4](0)
  s(A, B, C)
  t.ok(C:equal(want), "a run gives what it gave")
end

-- States that attempt() fails with an error of these fields, after which all is as it was.
local function unharmed(name, fields, attempt)
  t.test(name, function()
    local before = state()
    local e = t.fails(attempt, fields)
    for _, what in ipairs {"memory", "lua", "files", "space", "work"} do limit(what) end
    collectgarbage()
    t.eq(state(), before)
    check_alive()
    return e
  end)
end

-- Files of the user, by what they hold; they may stay.
local function given(name, text)
  local path = folder .. "/given_" .. name
  shell.write(path, text)
  return path
end

-- Memory

-- What takes memory of every kind: each is tried with less and less of it.
local appetites = {
  capture = function()
    return tide.kernel {X = i32[8][8], function(X)
      for i, j in grid(8, 8) do X[i][j] = X[i][j] * i + j end
    end}
  end,
  load = function() return load("return {" .. ("{1, 'a'},"):rep(300) .. "}") end,
  step = function() return s:fork():split("k", 2):unroll("k_i") end,
  verify = function() return s:fork():buffer_at("A", "j"):verify() end,
  print = function() return tostring(s:fork():unroll("k", {replace = true})) end,
  run = function() s:fork():reorder("k", "j")(A, B, i32[6][4](0)) end,
  reference = function() s:reference(A, B, i32[6][4](0)) end,
  emit = function() return s:build {target = "hls", tool = false}.source end,
  tensors = function() return (tide.random(i32[40][40], 3) + 1):transpose():table() end,
  estimate = function() return s:fork():pipeline("j"):estimate() end,
}

-- Makes the attempt with ever more of a resource until it succeeds; returns how often it failed.
local function starve(what, step, attempt)
  local failed = 0
  for n = 0, 1 << 30, step do
    collectgarbage()
    limit(what, n)
    local passed, e = pcall(attempt)
    limit(what)
    if passed then return failed end
    failed = failed + 1
    local code = type(e) == "table" and e.code or e
    if code ~= "memory" and code ~= "not enough memory" then error(e, 0) end
  end
end

for _, name in ipairs {"capture", "step", "verify", "print", "run", "reference", "emit", "tensors",
  "estimate", "load"} do
  t.test("too little memory: " .. name, function()
    local before = state()
    local core = starve("memory", thorough and 32 or 1500, appetites[name])
    local lua = starve("lua", thorough and 8 or 100, appetites[name])
    print(("# %s: failed %d times for the core, %d for Lua"):format(name, core, lua))
    t.ok(name == "load" or core > 0, "the core never lacked memory")
    t.ok(lua > 0, "Lua never lacked memory")
    collectgarbage()
    t.eq(state(), before)
    check_alive()
  end)
end

unharmed("more than there can be", {kind = "limit", code = "memory"}, function()
  return i64[1 << 30][1 << 30](0)
end)

if not sanitized then
  unharmed("more than the process may have", {kind = "limit", code = "memory"}, function()
    limit("space", 64 << 20)
    return i64[1 << 28](0)
  end)
end

unharmed("too little work", {kind = "limit", code = "budget"}, function()
  limit("work", 2000)
  for _ = 1, 1000 do s:fork():split("j", 2):verify() end
end)

-- Files

-- Compiles and runs a program that is not in the cache; it does enough work to be compiled well.
local fresh = 0
local function compile(target, tier)
  fresh = fresh + 1
  local n, N = fresh, 3000
  local k = tide.kernel {X = i32[16], name = "fresh", function(X)
    for i, j in grid(N, N) do X[(i + j) % 16] = X[(i + j) % 16] * 3 + n end
  end}
  k:build {target = target, tier = tier}(i32[16](0))
end

-- Without the look before them, GMP or libtcc would end the process here.
if not sanitized then
  local hard = tide.kernel {X = i32[97][89], function(X)
    for i, j in grid(64, 64) do X[(i * 7 + j % 5) // 7 + j // 9 * 2][(j * 3 + i % 4) % 89] = i end
  end}
  unharmed("no room for proofs", {kind = "limit", code = "memory"}, function()
    limit("space", 16 << 20)
    tide.schedule(hard):can("parallel", "i")
  end)
  unharmed("no room for the compiler in memory", {kind = "limit", code = "memory"}, function()
    limit("space", 16 << 20)
    compile("cpu", "tcc")
  end)
end

-- Does as compile, under a trouble that set() makes.
local function compile_under(set, target, tier)
  set()
  local passed, e = pcall(compile, target, tier)
  limit "files"
  for _, v in ipairs {"TIDE_CC", "TIDE_CXX"} do setenv(v) end
  setenv("TIDE_CACHE", folder .. "/cache")
  if not passed then error(e, 0) end
end

-- The same trouble for both compilers.
local function both(name, fields, set)
  unharmed(name .. ": hls", fields, function() compile_under(set, "hls") end)
  unharmed(name .. ": cpu", fields, function() compile_under(set, "cpu", "cc") end)
end

both("no room for the source", {kind = "usage", code = "cache"}, function() limit("files", 100) end)
both("no room for what is compiled", {kind = "usage", code = "cache"}, function()
  limit("files", 8 << 10)
end)
both("a cache that is no folder", {kind = "usage", code = "cache"}, function()
  setenv("TIDE_CACHE", "/dev/full")
end)

local disk = folder .. "/given_disk"
shell.output("mkdir -p " .. shell.quote(disk))
local _, mounted = shell.output(("mount -t tmpfs -o size=64k,mode=700 none %s 2>/dev/null"):format(
  shell.quote(disk)))
if mounted == 0 then
  both("a disk that is full", {kind = "usage", code = "cache"}, function()
    setenv("TIDE_CACHE", disk)
    if not io.open(disk .. "/filler") then
      shell.output(("head -c 1M /dev/zero >%s/filler 2>/dev/null"):format(shell.quote(disk)))
    end
  end)
  t.test("nothing is left on the full disk", function()
    t.eq(shell.output(("ls %s | grep -v '[.]cc$'"):format(shell.quote(disk))), "filler\n")
  end)
  shell.output("umount " .. shell.quote(disk))
else
  t.skip("a disk that is full", "needs the right to mount")
end

both("no compiler", {kind = "usage", code = "no-compiler"}, function()
  setenv("TIDE_CC", "no-such-compiler")
  setenv("TIDE_CXX", "no-such-compiler")
end)
both("a compiler that refuses", {kind = "bug", code = "compiler-failed", match = "note: line %d+ of it: "},
  function()
    setenv("TIDE_CC", "cc -Dtd_reset=int")
    setenv("TIDE_CXX", "g++ -Dmain=int")
  end)

if pcall(compile, "cpu", "tcc") then
  t.test("where the compiler is missing or cannot write, programs are compiled in memory", function()
    local before = state()
    compile_under(function() setenv("TIDE_CC", "no-such-compiler") end, "cpu")
    compile_under(function() setenv("TIDE_CACHE", "/dev/full") end, "cpu")
    compile_under(function() limit("files", 100) end, "cpu")
    t.eq(state(), before)
    check_alive()
  end)
end

A:save(folder .. "/given_whole.npy")
local whole = shell.read(folder .. "/given_whole.npy")
for name, text in pairs {
  ["npy-header"] = whole:gsub("'descr'", "'desc'", 1),
  ["npy-data"] = whole:sub(1, -5),
  ["npy-format"] = "PK" .. whole,
} do
  unharmed("a corrupt file: " .. name, {kind = "usage", match = "given_"}, function()
    return tide.load(given(name .. ".npy", text), i32[6][5])
  end)
end
unharmed("a tensor saved on a full disk", {kind = "usage", code = "npy-write"}, function()
  limit("files", 64)
  A:save(folder .. "/partial.npy")
end)

unharmed("a page on a full disk", {kind = "usage", code = "write", match = "page.html"}, function()
  limit("files", 64)
  s:html(folder .. "/page.html")
end)
unharmed("a build on a full disk", {kind = "usage", code = "write", match = "kernel"}, function()
  limit("files", 64)
  s:build {target = "hls", tool = false}:write(folder)
end)
t.test("a file that cannot be written whole stays as it was", function()
  local path = given("page.html", "old\n")
  shell.output("chmod 640 " .. shell.quote(path))
  limit("files", 64)
  local passed = pcall(s.html, s, path)
  limit "files"
  t.eq({passed, shell.read(path)}, {false, "old\n"})
  s:html(path)
  t.has(shell.read(path), "</html>")
  t.eq(shell.output("stat -c %a " .. shell.quote(path)), "640\n")
  local link = folder .. "/given_link"
  shell.output(("ln -s %s %s"):format(shell.quote(path), shell.quote(link)))
  shell.write(path, "old\n")
  s:html(link)
  t.has(shell.read(path), "</html>")
end)

t.test("a source that was deleted is still known", function()
  local path = given("kernel.lua", "return function(X) for i = 0, 3 do X[i] = i end end\n")
  local f = dofile(path)
  os.remove(path)
  local k, X = tide.kernel {X = i32[4], name = "gone", f}, i32[4](9)
  k(X)
  t.eq(X:table(), {0, 1, 2, 3})
  local e = t.fails(function() tide.kernel {X = i32[2], f} end, {code = "index-range", file = path, line = 1})
  t.has(tostring(e), "for i = 0, 3 do X[i] = i end")
end)

unharmed("a foreign source that was deleted", {kind = "usage", code = "foreign-file"}, function()
  local path = given("deleted.c", "void f(int *x) { x[0] = 1; }\n")
  local f = tide.extern {source = path, symbol = "f", x = i32[4]}
  os.remove(path)
  f(i32[4](0))
end)
unharmed("a foreign source that is wrong", {kind = "usage", code = "foreign-source", match = "line 2 of it"},
  function()
    local path = given("wrong.c", "void f(int *x) {\n  x[0] = ; }\n")
    tide.extern {source = path, symbol = "f", x = i32[4]}(i32[4](0))
  end)
unharmed("a foreign source without the function", {kind = "usage", code = "no-symbol"}, function()
  local path = given("lacking.c", "void g(int *x) { x[0] = 1; }\n")
  tide.extern {source = path, symbol = "f", x = i32[4]}(i32[4](0))
end)

-- Crashes

local crashing = given("crash.c", [[
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static volatile int zero;
static int deep(volatile int *x, int n) {
  volatile char frame[4096];
  frame[0] = (char)n;
  return n < 0 ? x[0] : deep(x, n + 1) + frame[0];
}
void crash(int *x, int how) {
  x[0] = 1;
  switch (how) {
  case 0: return;
  case 1: *(volatile int *)8 = 1; break;
  case 2: x[1] = x[3] / zero; break;
  case 3: abort(); break;
  case 4: raise(SIGBUS); break;
  case 5: raise(SIGILL); break;
  case 6: x[1] = deep(x, 0); break;
  }
}
]])
local object = folder .. "/given_crash.so"
t.eq(shell.output(("cc -O0 -shared -fPIC -o %s %s 2>&1"):format(shell.quote(object), shell.quote(crashing))), "")

-- Foreign code that ends when it is loaded, as the environment says: f(kind, tier) each time from a file of its own.
local constructor = [[
#include <stdlib.h>
__attribute__((constructor)) static void start(void) {
  const char *how = getenv("TIDE_TEST_CRASH");
  if (!how) return;
  if (*how == 'a') abort();
  exit(8);
}
void f(int *x) { x[0] = 5; } // %s
]]
local function check_loading(kind, tier, how, fields)
  local name = ("%s, %s, %s"):format(kind, tier, how)
  local place = ("constructor_%s_%s_%s"):format(kind, tier, how)
  local source = given(place .. ".c", constructor:format(name))
  local loaded = ("%s/given_%s.so"):format(folder, place)
  t.eq(shell.output(("cc -shared -fPIC -o %s %s 2>&1"):format(shell.quote(loaded), shell.quote(source))), "")
  local f = kind == "library" and tide.extern {library = loaded, symbol = "f", x = i32[4]}
    or tide.extern {source = source, symbol = "f", x = i32[4]}
  local k = tide.kernel {x = i32[4], name = "loads", function(x) f(x) end}
  unharmed("foreign code that ends when it is loaded: " .. name, fields, function()
    setenv("TIDE_TEST_CRASH", how)
    local passed, e = pcall(k:build {target = "cpu", tier = tier}, i32[4](0))
    setenv "TIDE_TEST_CRASH"
    if not passed then error(e, 0) end
  end)
  t.test("and is loaded once it does not: " .. name, function()
    local x = i32[4](0)
    k:build {target = "cpu", tier = tier}(x)
    t.eq(x[0], 5)
  end)
end

for _, options in ipairs {{"library", "tcc"}, {"library", "cc"}, {"source", "cc"}} do
  local kind, tier = options[1], options[2]
  check_loading(kind, tier, "abort",
    {kind = "illegal", code = "crash", match = "crashed %(SIGABRT.* when it was loaded"})
end

t.test("compiled programs that were cut short in the cache are compiled again", function()
  local function run(target)
    local x = i32[4](0)
    local k = tide.kernel {x = i32[4], name = "cut", function(x) x[0] = 77 end}
    k:build {target = target, tier = target == "cpu" and "cc" or nil}(x)
    t.eq(x[0], 77)
  end
  run "cpu"
  local function cut(what, bytes)
    collectgarbage()
    shell.output(("cd %s/cache && for f in *.%s; do head -c %d $f >../cut && mv ../cut $f; done"):format(
      shell.quote(folder), what, bytes))
  end
  for _, bytes in ipairs {0, 100, 4096, 9000} do
    cut("so", bytes)
    run "cpu"
  end
  run "hls"
  cut("hls", 0)
  run "hls"
end)

-- The three ways to foreign code: in memory, by the system's compiler, of a library.
local ways = {
  ["in memory"] = {{source = crashing}, 1},
  ["compiled"] = {{source = crashing}, 1 << 12},
  ["of a library"] = {{library = object}, 1},
}
local ends = {"SIGSEGV", "SIGFPE", "SIGABRT", "SIGBUS", "SIGILL", "SIGSEGV"}
for way, road in pairs(ways) do
  local options, N = road[1], road[2]
  local crash = options.source and tide.extern {source = crashing, symbol = "crash", x = i32[4], how = i32}
    or tide.extern {library = object, symbol = "crash", x = i32[4], how = i32}
  local k = tide.kernel {x = i32[4], how = i32, name = "caller", function(x, how)
    local sum = i32[N](0)
    for i in grid(N) do --@ parallel
      for j in grid(N) do sum[i] = sum[i] + j end
    end
    x[0] = sum[N - 1]
    crash(x, how)
  end}
  for number, told in ipairs(ends) do
    if not (sanitized and number == 6) then
      unharmed(("an end %s: %s, %d"):format(way, told, number),
        {kind = "illegal", code = "crash", match = told},
        function() k(i32[4](0), number) end)
    end
  end
  t.test("the same function goes on after its crashes: " .. way, function()
    local x = i32[4](0)
    k(x, 0)
    t.eq(x[0], 1)
    local e = t.fails(function() k(x, 1) end, {code = "crash"})
    t.eq(e.file:match "[^/]+$", "hostile.lua")
    t.has(tostring(e), "    crash(x, how)\n")
    local here = t.fails(function() crash(x, 2) end, {code = "crash"})
    t.has(tostring(here), " crash(x, 2) end, {code")
  end)
end

shell.output("rm -rf " .. shell.quote(folder))
t.done()
