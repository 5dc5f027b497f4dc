-- resume.lua - a session that was killed is replayed by `tide --resume`: by SIGKILL, by a library's exit or abort, by a
-- crash; one that ends by itself leaves no journal; the journal is bounded, and off by a setting.
local t = require "tap"
local shell = require "shell"
local quote, program = shell.quote, shell.program

local home = t.tmp "resume"
shell.plant(home, {
  ["end.c"] = "#include <stdlib.h>\nint leave(int how) { if (how == 1) exit(7); if (how == 2) abort(); " ..
    "if (how == 3) _Exit(0); return how; }\n",
})
shell.output(("cd %s && cc -shared -fPIC -o end.so end.c"):format(quote(home)))

-- What a session in `home` with these options prints for these inputs, and its exit status.
local function session(inputs, options, journal)
  shell.write(home .. "/inputs", inputs)
  return shell.output(("cd %s && env TIDE_INIT= TIDE_HISTORY=%s/h TIDE_JOURNAL=%s %s -i %s <inputs 2>&1"):format(
    quote(home), quote(home), quote(journal or home .. "/journal"), quote(program), options or ""))
end
local function journals() return tonumber((shell.output(("ls %s/journal 2>/dev/null | wc -l"):format(quote(home))))) end
local function resume(inputs) return session(inputs or "print('kept', x, #log)\n", "--resume") end

local begin = [[
x = 5
log = {}
k = tide.kernel {A = i32[4], function(A)
  for i = 0, 3 do A[i] = A[i] + i end
end}
s = tide.schedule(k);
s:unroll "i"
nil + 1
:set trace on
log[1] = x
]]
local killing = "os.execute('kill -KILL $PPID')\n"

t.test("a session that ends by itself leaves nothing", function()
  for _, way in ipairs {"", ":quit\n", "os.exit(3)\n", "coroutine.wrap(function() os.exit(0) end)()\n"} do
    session(begin .. way)
    t.eq(journals(), 0, way)
  end
  local text, status = resume()
  t.eq(status, 1)
  t.has(text, "no session was killed that could be resumed")
end)

t.test("SIGKILL: the inputs that succeeded run again, in order; the one under way is told", function()
  session(begin .. killing)
  t.eq(journals(), 1)
  local text = resume "print('kept', x, #log, s)\nx = 6\n"
  t.has(text, "tide> x = 5\n")
  t.has(text, "  ..>   for i = 0, 3 do A[i] = A[i] + i end\n")
  t.ok(not text:find("nil + 1", 1, true), "what failed does not run again")
  t.has(text, "killed while it ran this, which is not run again:)\ntide> os.execute('kill -KILL $PPID')\n")
  t.has(text, "kept\t5\t1\t")
  t.has(text, "--@ unroll")
  t.eq(journals(), 0, "it ended by itself")
end)

t.test("a resumed session that is killed is resumed whole", function()
  session(begin .. killing)
  resume("x = 7\n" .. killing)
  t.eq(journals(), 1)
  t.has(resume(), "kept\t7\t1")
end)

t.test("a library that exits, aborts or crashes the session", function()
  local f = "f = tide.extern {library = './end.so', symbol = 'leave', i32(i32)}\n"
  for how = 1, 3, 2 do
    local _, status = session(begin .. f .. "x = 8\nf(" .. how .. ")\nx = 9\n")
    t.eq(status, how == 1 and 7 or 0)
    t.eq(journals(), 1, how)
    t.has(resume(), "kept\t8\t1")
  end
  local text = session(begin .. f .. "f(2)\nx = 9\nprint('alive', x)\n")
  t.has(text, "can no longer be trusted")
  t.has(text, "alive\t9")
  for _, signal in ipairs {"TERM", "HUP", "SEGV", "ABRT"} do
    session(begin .. ("os.execute('kill -%s $PPID')\n"):format(signal))
    t.has(resume(), "kept\t5\t1", signal)
  end
end)

t.test("off by a setting, and by the environment", function()
  session(begin .. ":set journal off\nx = 1\n" .. killing)
  t.eq(journals(), 0)
  session(begin .. killing, nil, "")
  t.eq(journals(), 0)
end)

t.test("it never grows past a limit, and says so", function()
  local long = ("y = '%s'\n"):format(("a"):rep(300000))
  local text = session(begin .. long:rep(5) .. "x = 11\n" .. killing)
  t.has(text, "the journal is full")
  t.ok(tonumber((shell.output(("du -sb %s/journal | cut -f1"):format(quote(home))))) < 1200000)
  text = resume "print('kept', x, #y)\n"
  t.has(text, "its journal was full then")
  t.has(text, "kept\t5\t300000")
  for _ = 1, 12 do session("x = 1\n" .. killing) end
  t.eq(journals(), 8, "journals of killed sessions")
end)

t.done()
