-- The figures of the prompt, on a terminal: start, a key in a long input, Ctrl-C, a million lines, big values.
local b = require "bench"
local screen = require "screen"
local shell = require "shell"

if not screen.available() then
  print "prompt: tmux is not installed"
  return
end

-- Runs a Python program that drives ./tide through a pseudo-terminal; returns the figures that it prints by name.
local function drive(script)
  local path = os.tmpname()
  shell.write(path, script)
  local figures = {}
  for name, value in shell.output(("python3 %s %s"):format(path, shell.quote(arg[-1]))):gmatch "(%S+) ([%d.]+)" do
    figures[name] = tonumber(value)
  end
  os.remove(path)
  return figures
end

local figures = drive [=[
import fcntl, os, pty, resource, select, signal, statistics, struct, sys, termios, time

def start():
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TERM='xterm', TIDE_HISTORY='', TIDE_INIT='')
        os.execv(sys.argv[1], [sys.argv[1]])
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', 50, 100, 0, 0))
    return pid, fd

def until(fd, text, seconds=60):
    seen, end = b'', time.monotonic() + seconds
    while text not in seen:
        if time.monotonic() > end: raise SystemExit('no %r in %r' % (text, seen[-2000:]))
        if select.select([fd], [], [], 1)[0]: seen = seen[-4096:] + os.read(fd, 65536)
    return seen

def drain(fd):
    while select.select([fd], [], [], 0.05)[0]: os.read(fd, 65536)

def stop(pid, fd):
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(fd)

times = []
for _ in range(9):
    before = time.monotonic()
    pid, fd = start()
    until(fd, b'tide>')
    times.append((time.monotonic() - before) * 1e3)
    stop(pid, fd)
print('start', statistics.median(times))

pid, fd = start()
until(fd, b'tide>')
def run(text, wanted): os.write(fd, text.encode() + b'\r'); return until(fd, wanted.encode())

lines = (b'  local x%d = {%d, "text", f(%d)} -- line\n' % (i, i, i) for i in range(200))
os.write(fd, b'\x1b[200~do\n' + b''.join(lines) + b'\x1b[201~')
drain(fd)
times = []
for i in range(50):
    before = time.monotonic()
    os.write(fd, b'q')
    select.select([fd], [], [])
    os.read(fd, 65536)
    times.append((time.monotonic() - before) * 1e3)
    drain(fd)
print('key', statistics.median(times))
os.write(fd, b'\x03')
drain(fd)

def interrupt(code):
    os.write(fd, code.encode() + b'\r')
    time.sleep(0.4)
    drain(fd)
    before = time.monotonic()
    os.write(fd, b'\x03')
    until(fd, b'interrupted')
    took = (time.monotonic() - before) * 1e3
    drain(fd)
    return took

run('big = tide.kernel {x = i32[1], function(x) ' +
    'for i, j in grid(100000, 100000) do x[0] = x[0] * 3 + 1 end end}', 'tide>')
drain(fd)
print('lua', interrupt('while true do end'))
print('pcall', interrupt('coroutine.wrap(function() while true do pcall(function() while true do end end) end end)()'))
print('emitted', interrupt('big(i32[1](0))'))
print('evaluator', interrupt('big:reference(i32[1](0))'))
print('tensor', interrupt('random(i8[2000][2000][500], 1)'))

before = time.monotonic()
run('for i = 1, 1000000 do print(i) end print("all" .. " there")', 'all there')
print('million', (time.monotonic() - before) * 1e3)
status = open('/proc/%d/status' % pid).read()
print('memory', int(status.split('VmRSS:')[1].split()[0]) / 1024)

def echo(code):
    drain(fd)
    before = time.monotonic()
    run(code, '\x1b[?2004h')
    return (time.monotonic() - before) * 1e3

run('x = i8[1000][1000][1000]();', 'tide>')
print('tensor_echo', statistics.median(echo('x') for _ in range(5)))
drain(fd)
run('d = tide.design(function(d) for i = 0, 4095 do ' +
    'd["t" .. i] = tide.task {x = i8[1], function(x) local _ = x[0] end} end end, {check = false});',
    '\x1b[?2004h')
print('design_echo', statistics.median(echo('d') for _ in range(5)))
stop(pid, fd)
]=]

for _, row in ipairs {
  { "start", "start to the prompt", "ms", 20 }, { "key", "a key to the screen, 200 lines of input", "ms", 5 },
  { "lua", "Ctrl-C in Lua", "ms", 50 }, { "pcall", "Ctrl-C in a coroutine under pcall", "ms", 50 },
  { "emitted", "Ctrl-C in compiled code", "ms", 50 }, { "evaluator", "Ctrl-C in the evaluator", "ms", 50 },
  { "tensor", "Ctrl-C in a loop of C", "ms", 50 }, { "million", "1,000,000 lines of output", "ms" },
  { "memory", "memory at most, after them", "MB", 100 },
  { "tensor_echo", "echo of a tensor of 10^9 elements", "ms", 50 },
  { "design_echo", "echo of a design of 4,096 tasks", "ms", 50 },
} do b.row(row[2], figures[row[1]] or math.huge, row[3], row[4]) end
b.done "prompt"
