-- compiler_ends.lua - a compiler under way ends, with all that it started, when Tide is ended by a signal, leaves, or
-- has a job stopped.
-- [slow]
local t = require "tap"
local shell = require "shell"
local quote = shell.quote

-- A compiler that hangs in a child that takes no notice of SIGTERM for half a minute; the processes of both are in
-- `pids`.
local folder = t.tmp "compiler"
shell.plant(folder, {cc = ([[
#!/bin/sh
[ "$1" != --version ] || exec cc --version
sh -c 'trap "" TERM HUP; for i in $(seq 300); do sleep 0.1; done' &
echo $$ $! >%s/new
mv %s/new %s/pids
wait
]]):format(quote(folder), quote(folder), quote(folder))})
os.execute("chmod +x " .. quote(folder) .. "/cc")

-- The inputs of a session with that compiler and a cache of its own; the shell's command.
local function session(inputs)
  shell.plant(folder .. "/cache", {})
  os.remove(folder .. "/pids")
  shell.write(folder .. "/inputs", inputs)
  return ("cd %s; (exec env --default-signal=QUIT TIDE_INIT= TIDE_CC=./cc TIDE_CACHE=./cache %s -i " ..
    "<inputs) >said 2>&1 & exec 2>ended; "):format(quote(folder), quote(shell.program))
end

-- Waits, 10 s at most, until a command succeeds; whether it did.
local function wait_until(command)
  return os.execute(("n=0; until %s; do n=$((n + 1)); [ $n -lt 200 ] || exit 1; sleep 0.05; done"):format(command))
end

-- Runs a session, does something once its compiler is under way, and looks that nothing of it is left.
local function ends(name, inputs, act)
  t.test(name, function()
    os.execute(session(inputs) .. "until [ -e pids ] || ! kill -0 $! ; do sleep 0.05; done; " .. (act or ":"))
    local shell_pid, child = t.ok(shell.read(folder .. "/pids"), shell.read(folder .. "/said")):match "(%d+) (%d+)"
    t.ok(wait_until(("! kill -0 %s 2>%s/gone"):format(child, quote(folder))), "the compiler's child lives")
    t.ok(wait_until(("! kill -0 %s 2>%s/gone"):format(shell_pid, quote(folder))), "the compiler lives")
  end)
end

local compile = "tide.kernel {x = tide.i32[1], function(x) x[0] = 1 end}:build {target = 'cpu', tier = 'cc'}" ..
  "(tide.i32[1]())\n"
for _, name in ipairs {"TERM", "HUP", "QUIT"} do
  ends("SIG" .. name .. " while a compiler is waited for", compile, "kill -" .. name .. " $!; wait $!")
end
ends("the third Ctrl-C, while a compiler works beside the calls", [[
m = tide.kernel {x = tide.i32[1], function(x) for i = 0, 30 do x[0] = x[0] + 1 end end}:build {target = 'cpu'}
while not io.open('pids') do m(tide.i32[1](0)) end ("a"):rep(40):find((".-"):rep(40) .. "b")
]], "for i in 1 2 3; do sleep 0.3; kill -INT $!; done; wait $!")
ends("os.exit while a compiler works beside the calls", [[
m = tide.kernel {x = tide.i32[1], function(x) for i = 0, 30 do x[0] = x[0] + 1 end end}:build {target = 'cpu'}
while not io.open('pids') do m(tide.i32[1](0)) end os.exit(0)
]])
ends("a job that is stopped", ":job " .. compile .. "while not io.open('pids') do end\n:stop 1\n")
ends("a session that ends before its job", ":job " .. compile .. "while not io.open('pids') do end\nos.exit(0)\n")
t.done()
