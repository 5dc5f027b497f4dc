-- [slow] Ctrl-C at the prompt stops whatever runs; the same session goes on.
local t = require "tap"
local screen = require "screen"
local shell = require "shell"
screen.need()

-- A compiler that hangs while the file `hang` is there.
local hang = t.tmp "hang"
local tools = t.tmp "tools"
shell.plant(tools, { hanging = ("#!/bin/sh\n[ ! -e %s ] || sleep 1000\nexec cc \"$@\"\n"):format(shell.quote(hang)) })
os.execute("chmod +x " .. shell.quote(tools) .. "/hanging")

local term = screen.open(("env TIDE_HISTORY= TIDE_CC=hanging PATH=%s:$PATH %s"):format(shell.quote(tools), arg[-1]))
assert(term:wait "tide>")

-- Runs the demo, small, with sizes that tell its result from the last one's.
local function run_demo(n)
  term:type(("arg = {4, %d, 5} dofile 'examples/02_gemm.lua'"):format(n), "Enter")
  local ok, text = term:wait(("gives the same %d numbers"):format(4 * n), 60)
  t.ok(ok, text)
  t.ok(term:wait('unroll("j_i")', 5), "the table")
end

-- Starts an input that does not end, presses Ctrl-C, then runs the demo in the same session.
local n = 2
local function stops(name, input)
  t.test(name, function()
    n = n + 1
    term:type(input, "Enter")
    os.execute "sleep 0.4"
    term:type("", "C-c")
    local ok, text = term:wait("interrupted", 5)
    t.ok(ok, text)
    os.remove(hang)
    run_demo(n)
    term:type("", "C-l")
  end)
end

stops("a Lua loop", "while true do end")
stops("a loop under pcall", "while true do pcall(function() while true do end end) end")
stops("a coroutine under pcall", "coroutine.wrap(function() while true do pcall(error) end end)()")
stops("a resumed coroutine", "coroutine.resume(coroutine.create(function() while true do end end))")
term:type("big = tide.kernel { x = i32[1], function(x) for i, j, k in grid(100000, 100000, 1000) do " ..
  "x[0] = x[0] * 3 + 1 end end }", "Enter")
stops("an emitted kernel", "big(i32[1](0))")
for name, loop in pairs {
  ["a loop of 2^62 iterations"] = "for i = 0, 1 << 62 do x[i & 3] = x[i & 3] + 1 end",
  ["one of 2^61, by steps of 2"] = "for i = 0, 1 << 62, 2 do x[i & 3] = x[i & 3] + 1 end",
  ["one that may end before"] = "for i = 0, 1 << 62 do x[i & 3] = 1 if x[0] == 2 then break end end",
  ["one as long as an argument says"] = "for i = 0, n do x[i & 3] = x[i & 3] + 1 end",
} do
  term:type("long = tide.kernel {x = i32[4], n = index, function(x, n) " .. loop .. " end}", "Enter")
  stops(name, "long(i32[4](0), 1 << 62)")
end
stops("a reference run", "big:reference(i32[1](0))")
stops("verify", "tide.verify(big, big:as 'other')")

term:type("package.path = 'examples/npu/?.lua;' .. package.path; p = require 'product';", "Enter")
term:type("function npu(n) return p.mapped(p.with(p.kinds[1], {M = n, N = n, K = n}), 'dma') end;", "Enter")
stops("a search for an NPU", "tide.schedule(npu(4096)):search {device = 'npu1', reassociate = true}")
stops("a build for an NPU", "npu(4096):build {target = 'npu', tool = false}")
term:type("x = tide.i16[2048][2048](1); m = npu(2048):build {target = 'npu', tool = false};", "Enter")
term:type("print('is ' .. (m and 'built'))", "Enter")
t.ok(term:wait("is built", 20), "built")
stops("a run of an NPU", "m(x, x, tide.i16[2048][2048](0))")

shell.write(hang, "")
term:type("small = tide.kernel {x = i32[1], function(x) x[0] = 1 end}:build {target = 'cpu', tier = 'cc'}", "Enter")
stops("a compiler", "small(i32[1]())")

local statement = "A[(i * 7 + %d) // 7][(j * %d + i %% %d) %% 89] = A[(i * 9 + j %% 9) // 9][(i + j * %d) %% 89]"
shell.write(t.tmp "pairs.lua", ([[
local lines = {}
for n = 1, 2000 do lines[n] = ("%s"):format(n %% 7, n %% 5 + 3, n %% 6 + 2, n %% 11 + 2) end
return load(("return tide.kernel {A = i32[97][89], function(A) for i, j in grid(64, 64) do %%s end end}"):format(
  table.concat(lines, " ")))()
]]):format(statement))
term:type(("s = tide.schedule(dofile '%s');"):format(t.tmp "pairs.lua"), "Enter")
os.execute "sleep 0.5"
stops("the proof of millions of pairs", "s:parallel 'i'")

local source = t.tmp "foreign.c"
shell.write(source, [[
#include <stdlib.h>
void hang(int *x) { for (;;) x[0]++; }
void crash(int *x) { x[0] = *(volatile int *)8; }
void leave(int *x) { exit(x[0] + 3); }
]])

-- Types what makes `name` a foreign function.
local function declare(name, process)
  term:type(("%s = tide.extern {source = '%s', symbol = '%s', process = %s, x = i32[1]}"):format(name, source, name,
    process or "false"), "Enter")
end

t.test("in a function that C calls back: raised when C has returned, and the next call sorts", function()
  for _, process in ipairs {"false", "true"} do
    term:type("sort = tide.extern {library = 'libc.so.6', symbol = 'qsort', process = " .. process ..
      ", tide.void(i32[3], u64, u64, i32(i32[1], i32[1]))}", "Enter")
    term:type("calls = 0; v = tide.tensor(i32[3], {3, 1, 2})", "Enter")
    term:type("sort(v, 3, 4, function(a, b) calls = calls + 1; while true do end end)", "Enter")
    os.execute "sleep 0.4"
    term:type("", "C-c")
    t.ok(term:wait("interrupted", 5), term:text())
    term:type("sort(v, 3, 4, function(a, b) return a[0] - b[0] end)", "Enter")
    term:type("print('calls' .. calls, v)", "Enter")
    t.ok(term:wait("calls1", 5) and term:wait("i32[3] {1, 2, 3}", 5), term:text())
    term:type("", "C-l")
  end
end)

t.test("foreign code that hangs is left by the second Ctrl-C", function()
  declare "hang"
  term:type("hang(i32[1](0))", "Enter")
  os.execute "sleep 0.4"
  term:type("", "C-c")
  os.execute "sleep 0.2"
  t.ok(not term:text():find("interrupted", 1, true), "the first asks")
  term:type("", "C-c")
  t.ok(term:wait("interrupted", 5), "the second leaves")
  term:type("print('still' .. ' here')", "Enter")
  t.ok(term:wait("still here", 5), term:text())
  term:type("", "C-l")
end)

t.test("foreign code that crashes is an error at the prompt", function()
  declare "crash"
  term:type("crash(i32[1](0))", "Enter")
  t.ok(term:wait("the foreign function 'crash' crashed", 5), term:text())
  term:type("print('and' .. ' alive')", "Enter")
  t.ok(term:wait("and alive", 5), term:text())
  term:type("", "C-l")
end)

t.test("foreign code that exits is an error at the prompt, in a process of its own", function()
  declare("leave", "true")
  term:type("leave(i32[1](0))", "Enter")
  t.ok(term:wait("ended its process with status 3", 5), term:text())
  term:type("print('alive' .. ' as well')", "Enter")
  t.ok(term:wait("alive as well", 5), term:text())
  term:type("", "C-l")
end)

t.test("Ctrl-D leaves with the terminal as it was", function()
  term:type("", "C-l", "C-d")
  os.execute "sleep 0.3"
  t.ok(not term:text():find("tide>", 1, true), "the prompt is gone")
end)
term:close()
t.done()
