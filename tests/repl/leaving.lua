-- leaving.lua - every way out of the prompt, and every stop, leaves the terminal as it was found and the history kept:
-- Ctrl-D, :quit, os.exit, signals while editing and while running, crashes, job control.
-- [slow]
local t = require "tap"
local screen = require "screen"
local shell = require "shell"
local quote, program = shell.quote, shell.program

screen.need "bash"

local home = t.tmp "leaving"
shell.plant(home, {})

-- ASan, where the program is built with it, leaves the signals to the program.
local asan = "ASAN_OPTIONS=handle_segv=0:handle_sigbus=0:handle_sigfpe=0"

-- A shell with job control whose terminal is kept byte by byte in home/bytes.
local term = screen.open(("cd %s && exec env TERM=screen %s TIDE_HISTORY=%s TIDE_INIT= PS1='sh> ' " ..
  "bash --norc --noprofile -i"):format(quote(home), asan, quote(home .. "/history")), 100)
assert(term:wait "sh>")
term:keep(home .. "/bytes")

-- Runs a line of the shell and waits until it is done.
local count = 0
local function sh(line)
  count = count + 1
  term:type(line, "Enter")
  term:type(("echo done$((%d + 0))"):format(count), "Enter")
  local ok, text = term:wait("done" .. count .. "\n", 20)
  t.ok(ok, text)
end

-- The settings of the terminal, and whether pastes are still marked, as the last escape code says.
local function settings() return (shell.output("stty -a -F " .. quote(term:device()))) end
local function marks_pastes() return shell.read(home .. "/bytes"):match "^.*\27%[%?2004([hl])" == "h" end

-- A shell that leaves the terminal as the program left it, unlike one with job control.
shell.write(home .. "/run",
  "trap : INT\n" .. quote(program) .. " && how=well || how=\"with $?\"\nstty -a > after\necho left $how\n")

-- Opens the prompt and gives it an input; returns its process.
local function enter(input)
  term:type("", "C-l")
  term:type("sh run", "Enter")
  t.ok(term:wait "tide>", term:text())
  term:type(input, "Enter")
  t.ok(term:wait(input, 10), term:text())
  return t.ok(shell.output(("pgrep -P $(pgrep -P %d)"):format(term:process())):match "%d+")
end

-- Waits until the shell says how the program left.
local function left(how)
  local ok, text = term:wait("left " .. how, 20)
  t.ok(ok, text)
end

sh "bind 'set enable-bracketed-paste off'; stty -a > before"

local n = 0
-- Enters, leaves in a way, and looks at the terminal and the history.
local function way(name, how, leave)
  t.test(name, function()
    n = n + 1
    local input = ("kept_%d = %d"):format(n, n)
    leave(enter(input))
    left(how)
    t.eq(shell.read(home .. "/after"), shell.read(home .. "/before"))
    t.ok(not marks_pastes())
    t.has(shell.read(home .. "/history"), input)
  end)
end

local function type_in(text, ...)
  local keys = { ... }
  return function() term:type(text, table.unpack(keys)) end
end

-- Types text, waits until it is there, and sends the program a signal.
local function signal(name, text, ...)
  local keys = { ... }
  return function(pid)
    term:type(text, table.unpack(keys))
    t.ok(term:wait(text, 10), term:text())
    if keys[1] then shell.output "sleep 0.3" end
    shell.output("kill -" .. name .. " " .. pid)
  end
end

way("Ctrl-D", "well", type_in("", "C-d"))
way(":quit", "well", type_in(":quit", "Enter"))
way("os.exit(3)", "with 3", type_in("os.exit(3)", "Enter"))
way("os.exit(true, true) closes the state", "well", type_in("os.exit(true, true)", "Enter"))
way("os.exit in a coroutine under pcall", "with 4",
  type_in("coroutine.wrap(function() pcall(os.exit, 4) end)()", "Enter"))
for name, number in pairs { TERM = 15, HUP = 1, QUIT = 3, ABRT = 6, SEGV = 11, BUS = 7, FPE = 8, ILL = 4 } do
  way("SIG" .. name .. " while editing", "with " .. 128 + number, signal(name, "half an inp"))
end
for name, number in pairs { TERM = 15, HUP = 1, SEGV = 11 } do
  way("SIG" .. name .. " while an input runs", "with " .. 128 + number, signal(name, "while true do end", "Enter"))
end
way("the third Ctrl-C, where nothing else stops it", "with 130", function()
  term:type("('a'):rep(40):find(('.-'):rep(40) .. 'b')", "Enter")
  for _ = 1, 3 do
    shell.output "sleep 0.3"
    term:type("", "C-c")
  end
end)

t.test("a terminal that was not restored is seen: nobody catches SIGKILL", function()
  local pid = enter "x = 1"
  shell.output("kill -KILL " .. pid)
  left "with 137"
  t.ok(shell.read(home .. "/after") ~= shell.read(home .. "/before"))
  t.ok(marks_pastes())
  sh "stty sane; printf '\\033[?2004l'; stty -a > before"
end)

local function edits()
  term:type "'goes ' .. 'on'"
  t.ok(term:wait("tide> 'goes ' .. 'on'", 10), term:text())
end
local function goes_on()
  t.ok(term:wait("'goes ' .. 'on'", 10), term:text())
  term:type("", "Enter")
  t.ok(term:wait('"goes on"', 10), term:text())
end
local function runs()
  term:type("while true do end", "Enter")
  shell.output "sleep 0.3"
end
local function is_stopped()
  term:type("", "C-c")
  t.ok(term:wait("interrupted", 10), term:text())
  edits()
  goes_on()
end

-- Waits until a process has that state, "T": stopped.
local function wait_state(pid, state)
  for _ = 1, 200 do
    if shell.output("ps -o state= -p " .. pid):find(state) then return end
    shell.output "sleep 0.05"
  end
  t.ok(false, "the process is not " .. state)
end

for what, x in pairs { ["while editing"] = { edits, goes_on }, ["while an input runs"] = { runs, is_stopped } } do
  t.test("SIGTSTP from outside " .. what .. ", and SIGCONT", function()
    local pid = enter "x = 1"
    x[1]()
    shell.output("kill -TSTP " .. pid)
    wait_state(pid, "T")
    t.eq(settings(), shell.read(home .. "/before"))
    t.ok(not marks_pastes())
    shell.output("kill -CONT " .. pid)
    x[2]()
    term:type("", "C-d")
    left "well"
  end)
  t.test("Ctrl-Z " .. what .. ", and fg", function()
    enter "x = 1"
    x[1]()
    term:type("", "C-z")
    local ok, text = term:wait("Stopped", 20)
    t.ok(ok, text)
    t.ok(not marks_pastes())
    sh "true"
    term:type("fg", "Enter")
    shell.output "sleep 0.3"
    x[2]()
    term:type("", "C-d")
    left "well"
  end)
end

term:close()
t.done()
