-- counts.lua - what the core costs in instructions, which no other work on the machine changes (callgrind): to start,
-- to capture, to decide, to simulate. `make bench` has the seconds.
-- [slow]
local t = require "tap"
local callgrind = require "callgrind"
local shell = require "shell"

if callgrind.missing() then return t.skip_all(callgrind.missing()) end

local MILLION = 1000000
-- A compiler for a processor that valgrind knows, whose code does not follow the model.
local CC = shell.output "uname -m":find "x86_64" and "cc -mtune=generic -mno-avx512f" or "cc"

-- Millions of instructions of a script, or of what runs in some of its functions, and what it says.
local function cost(text, within)
  local path, log = t.tmp "script.lua", t.tmp "callgrind"
  shell.write(path, text)
  local command = ("%s %s"):format(shell.quote(arg[-1]), shell.quote(path))
  local said, status = shell.output(("TIDE_CC='%s' %s 2>&1"):format(CC, callgrind.command(command, log, within)))
  t.eq(status, 0, said)
  return callgrind.count(log) / MILLION, said
end

-- States that a cost, which is shown, is at most so much.
local function at_most(what, millions, most)
  print(("# %s: %.2f million instructions, at most %g"):format(what, millions, most))
  t.ok(millions <= most, ("%s: %.2f million instructions"):format(what, millions))
end

local empty

t.test("to start", function()
  empty = cost ""
  at_most("an empty script", empty, 3)
end)

-- A script that captures a kernel of n statements.
local function capture(n)
  local lines = {"local tide = require 'tide'\nreturn tide.kernel {A = tide.i32[1000], function(A)\n"}
  for i = 0, n - 1 do lines[#lines + 1] = ("  A[%d] = A[%d] * 3 + %d\n"):format(i % 1000, i * 7 % 1000, i) end
  lines[#lines + 1] = "end}\n"
  return table.concat(lines)
end

t.test("to capture: in proportion to the statements", function()
  local thousand = cost(capture(1000)) - empty
  at_most("1,000 statements", thousand, 60)
  at_most("4,000 statements, of those", (cost(capture(4000)) - empty) / thousand, 5)
end)

-- A script that makes schedules of PolyBench's kernels and, unless `can` is false, asks whether loops may change.
local function ask(can)
  return ([[
local tide = require "tide"
local polybench, asked = require "polybench", 0
for n = 1, #polybench.names, 4 do
  local s = tide.schedule(polybench.make(polybench.names[n], {size = "medium"}))
  local loops = s:loops()
  for i, loop in ipairs(loops) do
    local function can(...) return %s and s:can(...) end
    can("parallel", loop)
    asked = asked + 1
    if loops[i + 1] then
      can("reorder", loops[i + 1], loop)
      can("fuse", loop, loops[i + 1])
      asked = asked + 2
    end
  end
end
io.stderr:write("asked ", asked, "\n")
]]):format(can)
end

t.test("to decide, for all sizes", function()
  local without = cost(ask(false))
  local with, said = cost(ask(true))
  local asked = tonumber(said:match "asked (%d+)")
  t.ok(asked > 60, "questions")
  at_most(("the mean of %d questions"):format(asked), (with - without) / asked, 4)
end)

-- A script that runs a systolic array so often.
local function run(times, clock)
  return ([[
local tide = require "tide"
local i8, i32, P, K, T = tide.i8, tide.i32, 8, 64, 8
local array = require "systolic_array"(P, K, T)
local A, B, C = tide.random(i8[P][K], 1), tide.random(i8[K][P], 2), i32[P][P](0)
local m = tide.schedule(array):pipeline("pe:k"):build {target = "cpu", tier = "cc", timed = %s}
for _ = 1, %d do m(A, B, C) end
assert(C:equal(tide.matmul(A, B)))
]]):format(clock, times)
end

-- Millions of instructions of five runs of a program that is compiled already.
local function five_runs(clock)
  cost(run(1, clock))
  return cost(run(6, clock)) - cost(run(1, clock))
end

t.test("to simulate: a clock costs little more than what it times", function()
  local ratio = five_runs(true) / five_runs(false)
  print(("# a run with a clock: %.2f times one without, at most 2.4"):format(ratio))
  t.ok(ratio > 1 and ratio <= 2.4, ratio)
end)

-- Millions of instructions of a kernel of PolyBench, emitted or by hand: of what libffi calls. To
-- callgrind that is a part of libffi without a name, as libffi calls on a stack that it has moved.
local function suite(name, by_hand)
  return (cost(([[
local polybench, reference = require "polybench", require "reference"
local z = {size = "medium"}
local k, args = polybench.make("%s", z)
local f = %s and reference.kernel("%s", z) or k:build {target = "cpu", tier = "cc"}
f(table.unpack(args))
reference.close()
]]):format(name, by_hand, name), {"td_ffi_call"}))
end

t.test("emitted code: by hand the same loops take as many, to 5 % in the mean and 20 % each", function()
  local log, names = 0, {"gemm", "2mm", "atax", "jacobi-2d", "cholesky", "correlation"}
  for _, name in ipairs(names) do
    local ratio = suite(name, false) / suite(name, true)
    print(("# %s: %.3f times the instructions by hand, at most 1.2"):format(name, ratio))
    t.ok(ratio > 0.5 and ratio <= 1.2, name .. ": " .. ratio)
    log = log + math.log(ratio)
  end
  t.ok(math.exp(log / #names) <= 1.05, "geometric mean: " .. math.exp(log / #names))
end)

t.done()
