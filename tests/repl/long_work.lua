-- long_work.lua - every operation of interp/base/work.def, each made long: at a terminal it says what it does, how far
-- it is and for how long it has run; Ctrl-C stops it; the session goes on.
-- [slow]
local t = require "tap"
local screen = require "screen"
local shell = require "shell"
local tide = require "tide"
local quote, program = shell.quote, shell.program

screen.need()

local PATIENCE = 60 -- seconds
local home = t.tmp "long"
shell.plant(home, {})

-- A compiler that hangs while the file `hang` is there.
shell.write(home .. "/hang.sh",
  ("#!/bin/sh\n[ ! -e %s/hang ] || exec sleep 1000\nexec cc \"$@\"\n"):format(quote(home)))
shell.output("chmod +x " .. quote(home .. "/hang.sh"))

-- What each operation is made long with: `setup` runs first, then the inputs one by one; by the name of work.def's
-- entry.
local works = {
  CAPTURE = { setup = "many = {} for i = 1, 3000000 do many[i] = i end;",
    "tide.kernel {x = i32[1], function(x) for _, v in ipairs(many) do x[0] = x[0] + v end end}" },
  LEGALITY = { "s:parallel 'i'", "s:can('parallel', 'i')" },
  SEARCH = { says = "stopped by Ctrl-C, the best so far is kept",
    "tide.schedule(grids):search {pes = 90, steps = 1000000}" },
  VERIFY = { "tide.verify(big, big:as 'other')" },
  SIMULATE = { setup = "step = require 'tide.step' long = step.graph(function() step.load(i8[60000000][8], " ..
    "{tile = {1, 8}}):store(i8[60000000][8]) end);", "long:simulate {depth = 2, pmu = 64}" },
  RUN = { "big(i32[1](0))", "big:build {target = 'cpu', tier = 'tcc'}(i32[1](0))", "big:native(i32[1](0))" },
  REFERENCE = { "big:reference(i32[1](0))" },
  CHECK = { "d:check()", "d:depths()" },
  ESTIMATE = { "d:estimate()", "d:rates()" },
  BUILD = { setup = "h = big:build {target = 'hls'};", "h:write 'hls'" },
  CHILD = { shows = "hang.sh", setup = "m = tide.kernel {x = i32[1], function(x) x[0] = 1 end}:build {" ..
    "target = 'cpu', tier = 'cc'} io.open('hang', 'w'):close();", "m(i32[1](0))" },
  TENSOR = { setup = "x, line = i8[1000][1000][1000](0), i8[2000000000](0);", "random(i8[2000][2000][500], 1)",
    "i8[100000][30000](1)", "x:set(1)", "x:transpose():copy()", "x:equal(x)", "x + x", "tide.reduce(x, '+', 0)",
    "tide.reduce(line, '+', 0)", "i16[1000][1000][1000](x)", "x:table()", "tide.state(i8[100000][30000], 1)",
    "tide.matmul(i8[4000][4000](0), i8[4000][4000](0))" },
  FILE = { setup = "x = i8[1000][1000][1000](0);", "x:transpose():save '/dev/null'" },
  DOCUMENT = { "!" .. quote(program) .. " doc " .. quote(home) .. "/l.md" },
}
shell.write(home .. "/l.md", "```lua\nlocal x = 1\n```\n\n```lua\nwhile true do end\n```\n")

local term = screen.open(("cd %s && exec env TIDE_HISTORY= TIDE_INIT= TIDE_CC=hang.sh PATH=%s:$PATH %s"):format(
  quote(home), quote(home), quote(program)), 150)
assert(term:wait "tide>")

-- Types an input and waits for what the prompt answers at last.
local marks = 0
local function run(input)
  marks = marks + 1
  term:type(input, "Enter")
  term:type(("print('mark' .. %d)"):format(marks), "Enter")
  local ok, text = term:wait("mark" .. marks, PATIENCE)
  t.ok(ok, text)
end

-- Starts an input, sees its line of progress, stops it, and sees the session go on.
local function stops(input, name, far, says)
  term:type("", "C-l")
  term:type(input, "Enter")
  local text, seen
  for _ = 1, PATIENCE * 10 do
    text = term:text()
    seen = text:match(name:gsub("%p", "%%%0") .. "[^\n]-  %d+ s[^\n]*%(Ctrl%-C stops it%)")
    if seen and seen:find(far) then break end
    shell.output "sleep 0.1"
  end
  term:type("", "C-c")
  local ok, after = term:wait(says or "interrupted", PATIENCE)
  t.ok(seen and seen:find(far), input .. "\n" .. text:gsub("\n+", "\n"))
  text = input .. "\n" .. after:gsub("\n+", "\n")
  t.ok(ok, text)
  t.ok(not text:find("Ctrl-C stops it", 1, true), text)
  run "1 + 1"
end

-- How far an operation says it is, as a pattern of its line.
local far = { steps = "%d million steps", part = "%d+ of %d+", time = " s" }

t.test("the session has what the operations take", function()
  local lines = {}
  for n = 1, 2000 do
    lines[n] = ("A[(i * 7 + %d) // 7][(j * %d + i %% %d) %% 89] = A[(i * 9 + j %% 9) // 9][(i + j * %d) %% 89]"):format(
      n % 7, n % 5 + 3, n % 6 + 2, n % 11 + 2)
  end
  shell.write(home .. "/wide.lua", ([[
local tide = require "tide"
return tide.kernel {A = tide.i32[97][89], function(A) for i, j in tide.grid(64, 64) do %s end end}
]]):format(table.concat(lines, " ")))
  run("big = tide.kernel {x = i32[1], function(x) for i, j, k in grid(100000, 100000, 1000) do " ..
    "x[0] = x[0] * 3 + 1 end end};")
  run "wide = dofile 'wide.lua' s = tide.schedule(wide);"
  -- Bounds that take long to follow: the number of steps that are followed has a limit.
  local terms = {}
  for n = 1, 60 do terms[n] = ("i %% %d"):format(n + 1) end
  local loops = ("for i = 0, 99999999 do for j = 0, (%s) %% 7 do"):format(table.concat(terms, " + "))
  shell.write(home .. "/design.lua", ([[
local tide = require "tide"
return tide.design(function(d)
  local Z = d:stream(tide.i32, {depth = 2})
  d.a = tide.task {function() %s Z:put(i) end end end}
  d.b = tide.task {B = tide.i32[1], function(B) %s B[0] = Z:get() end end end}
end, {check = false})
]]):format(loops, loops))
  run "d = dofile 'design.lua';"
  shell.write(home .. "/grids.lua", [[
local tide = require "tide"
return tide.design(function(d)
  local Y, Z = d:stream(tide.i32, {96}), d:stream(tide.i32, {96})
  d.a = tide.task {map = {96}, A = tide.i32[96]:layout "S0", function(A, i) Y[i]:put(A[0]) end}
  d.b = tide.task {map = {96}, function(i) Z[i]:put(Y[i]:get() * 2) end}
  d.c = tide.task {map = {96}, B = tide.i32[96]:layout "S0", function(B, i) B[0] = Z[i]:get() end}
end)
]])
  run "grids = dofile 'grids.lua';"
end)

for _, w in ipairs(tide.registry().work) do
  local work = works[w.id]
  t.test(("%s: %s"):format(w.id, w.where), function()
    t.ok(work, "interp/base/work.def has an operation without a test")
    if work.setup then run(work.setup) end
    for _, input in ipairs(work) do stops(input, work.shows or w.name, far[w.how], work.says) end
    os.remove(home .. "/hang")
    run "m, h, x, line = nil; collectgarbage();"
  end)
end

term:close()
t.done()
