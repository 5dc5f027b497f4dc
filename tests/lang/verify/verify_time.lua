-- The time that a comparison may take: wherever it is when that is up, it ends as not decided, and the session goes on.
-- [slow]
local tide = require "tide"
local t = require "tap"
local shell = require "shell"
local i32 = tide.i32

-- The text of a kernel that stores n, and does something before; and the kernel.
local function text_of(n, before)
  return ("tide.kernel {name = 'k', x = tide.i32[1], R = tide.i32[5000], function(x, R) %s x[0] = %d end}"):format(
    before or "", n)
end
local function stores(n, before) return load("local tide = require 'tide' return " .. text_of(n, before))() end

-- By the evaluator, which is the first for short programs; on fingerprints compiled in memory; and, for what does
-- much, by the system's compiler.
local forever = "local i = tide.i32(0) while i < 10 do x[0] = x[0] + 1 end"
local much = "for i, j, k in tide.grid(100000, 100000, 1000) do x[0] = x[0] * 3 + 1 end"
local before = {
  {"short", forever},
  {"long", "for r = 0, 4999 do R[r] = r end " .. forever},
  {"much", much},
}

-- States that a verdict is that of a time that was up.
local function is_late(seconds, level, verdict)
  t.eq(level, nil)
  t.has(tostring(verdict), ("not decided: limit of time: %g s"):format(seconds))
  t.has(tostring(verdict), ("{seconds = %g}"):format(seconds * 10))
end

for _, case in ipairs(before) do
  t.test("what does not end is not decided when its time is up: " .. case[1], function()
    local one, other = stores(1, case[2]), stores(1, case[2])
    is_late(0.2, tide.verify(one, other, {seconds = 0.2}))
    is_late(0.3, tide.schedule(one):verify {seconds = 0.3})
  end)
end

t.test("afterwards the session goes on, and what fits into its time has a verdict", function()
  t.eq(tide.verify(stores(1), stores(1), {seconds = 100}), "strict")
  t.eq(tide.verify(stores(1), stores(1), {seconds = math.huge}), "strict")
  t.has(tostring(select(2, tide.verify(stores(1), stores(2)))), "differs: x[0]")
  local x, R = i32[1](0), i32[5000](0)
  stores(7)(x, R)
  t.eq(x[0], 7)
end)

t.test("the time is that of all numbers that are drawn together", function()
  local waits = tide.kernel {m = i32, x = i32[1], function(m, x)
    local i = m
    while i < 100 do x[0] = x[0] + 1 end
  end}
  is_late(0.2, tide.verify(waits, waits, {seconds = 0.2, concrete = {"m"}}))
end)

t.test("a time is a number above 0", function()
  for _, wrong in ipairs {0, -1, 0 / 0, "1", {}} do
    local ok, e = pcall(tide.verify, stores(1), stores(1), {seconds = wrong})
    t.eq(ok, false)
    t.eq(e.code, "argument")
    t.has(tostring(e), "seconds is a number above 0, not ")
  end
end)

local tools = t.tmp "tools"
shell.plant(tools, {hanging = "#!/bin/sh\nexec sleep 1000\n"})
shell.output("chmod +x " .. shell.quote(tools .. "/hanging"))

t.test("a compiler that is waited for is stopped when the time is up", function()
  local script = shell.write(t.tmp "waits.lua", ("local tide = require 'tide' local k = %s\n" ..
    "print(tide.verify(k, k, {seconds = 0.5})) print 'on'"):format(text_of(1, much)))
  local text, status = shell.output(("PATH=%s:$PATH TIDE_CC=hanging %s %s 2>&1"):format(shell.quote(tools),
    shell.quote(shell.program), shell.quote(script)))
  t.has(text, "not decided: limit of time: 0.5 s")
  t.has(text, "\non\n")
  t.eq(status, 0)
end)

t.test("the check of a step at the prompt ends, the step stays", function()
  local text = shell.session(("k = %s\ns = tide.schedule(k);\ns:unroll('r', 2)\n1 + 1\n"):format(
    text_of(1, before[2][2])))
  t.has(text, "unroll(2)")
  t.ok(not text:find "proved", text)
  t.has(text, "2\n")
end)

t.done()
