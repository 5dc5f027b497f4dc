-- figures.lua - the figures of the prompt as counts and ratios, which do not depend on how busy the machine is:
-- instructions to start and for a key, and echoes that cost the same whatever the size of the value. Times: make bench.
-- [slow]
local t = require "tap"
local callgrind = require "callgrind"
local screen = require "screen"
local session = require "tide.session"
local shell = require "shell"
local quote = shell.quote

local PER_MS = 2000000 -- instructions that a slow core does in a millisecond

local log = t.tmp "callgrind"
local missing = callgrind.missing() or not screen.available() and "tmux is not installed"
if not missing then
  t.test("from the start to the first answer: 20 ms of a slow core", function()
    local path = t.tmp "input"
    shell.write(path, "6 * 7\n")
    t.eq(shell.output(("env TIDE_INIT= %s -i <%s"):format(callgrind.command(quote(arg[-1]), log), quote(path))), "42\n")
    local n = callgrind.count(log)
    t.ok(n > 100000 and n < 20 * PER_MS, n)
  end)

  -- What a session does whose input has that many lines and gets that many keys, one by one.
  local function editing(lines, keys)
    local term = screen.open("env TIDE_HISTORY= TIDE_INIT= " .. callgrind.command(quote(arg[-1]), log), 80, 24)
    t.ok(term:wait("tide>", 60), "no prompt")
    term:paste("do\n" .. ("  local x = {1, 'text', f(2)} -- line\n"):rep(lines) .. "q")
    t.ok(term:wait("..> q", 60), term:text())
    for i = 1, keys do
      term:type "q"
      t.ok(term:wait("..> " .. ("q"):rep(i + 1), 20), term:text())
    end
    term:type("", "C-c", "C-d")
    for _ = 1, 200 do
      if callgrind.count(log) then break end
      shell.output "sleep 0.05"
    end
    term:close()
    local n = t.ok(callgrind.count(log))
    os.remove(log)
    return n
  end

  t.test("a key in an input of 200 lines: 5 ms of a slow core", function()
    local n = (editing(200, 12) - editing(200, 2)) // 10
    t.ok(n > 1000 and n < 5 * PER_MS, n)
  end)
else
  t.skip("instructions to start and for a key", missing)
end

-- The least processor time that an input takes, in seconds.
local function least(input)
  local best = math.huge
  for _ = 1, 15 do
    local before = os.clock()
    for _ = 1, 5 do t.ok(session.run(input).ok) end
    best = math.min(best, os.clock() - before)
  end
  return best
end

session.open()

t.test("the echo of a tensor of 10^9 elements costs what that of 10^3 does", function()
  assert(session.run "small, big = i8[10][10][10](), i8[1000][1000][1000]();".ok)
  local ratio = least "big" / least "small"
  t.ok(ratio < 4, ratio)
end)

t.test("the echo of a design of 4096 tasks costs what that of 256 does", function()
  assert(session.run [[
function tasks(n)
  return tide.design(function(d)
    for i = 1, n do d["t" .. i] = tide.task {x = i8[1], function(x) local _ = x[0] end} end
  end, {check = false})
end
few, many = tasks(256), tasks(4096);]].ok)
  local ratio = least "many" / least "few"
  t.ok(ratio < 4, ratio)
end)

t.done()
