-- Ctrl-C at the prompt stops whatever runs; the same session goes on.
package.path = "tests/?.lua;" .. package.path
local t = require "tap"
local screen = require "screen"
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

t.test("Ctrl-D leaves with the terminal as it was", function()
  term:type("", "C-l", "C-d")
  os.execute "sleep 0.3"
  t.ok(not term:text():find("tide>", 1, true), "the prompt is gone")
end)
term:close()
t.done()
