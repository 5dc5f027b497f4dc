-- Ctrl-C at the prompt stops whatever runs; the same session goes on.
package.path = "tests/?.lua;" .. package.path
local t = require "tap"
local screen = require "screen"
local shell = require "shell"
if not screen.available() then
  t.skip_all "tmux is not installed"
  return
end

local term = screen.open("env TIDE_HISTORY= " .. arg[-1])
assert(term:wait "tide>")

-- Starts an input that does not end, presses Ctrl-C, then computes something.
local n = 0
local function stops(name, input)
  t.test(name, function()
    n = n + 1
    term:type(input, "Enter")
    os.execute "sleep 0.4"
    term:type("", "C-c")
    t.ok(term:wait("interrupted", 5), "it says interrupted")
    term:type(("print('go' .. 'es on %d')"):format(n), "Enter")
    local ok, text = term:wait(("goes on %d"):format(n), 5)
    t.ok(ok, text)
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
stops("a reference run", "big:reference(i32[1](0))")
stops("verify", "tide.verify(big, big:as 'other')")

local source = t.tmp "foreign.c"
shell.write(source, [[
void hang(int *x) { for (;;) x[0]++; }
void crash(int *x) { x[0] = *(volatile int *)8; }
]])

-- Types what makes `name` a foreign function.
local function declare(name)
  term:type(("%s = tide.extern {source = '%s', symbol = '%s', x = i32[1]}"):format(name, source, name), "Enter")
end

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
  t.ok(term:wait("the foreign function crashed", 5), term:text())
  term:type("print('and' .. ' alive')", "Enter")
  t.ok(term:wait("and alive", 5), term:text())
  term:type("", "C-l")
end)

t.test("Ctrl-D leaves with the terminal as it was", function()
  term:type("", "C-l", "C-d")
  os.execute "sleep 0.3"
  t.ok(not term:text():find("tide>", 1, true), "the prompt is gone")
end)
term:close()
t.done()
