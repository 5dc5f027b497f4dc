-- demo.lua - examples/02_gemm.lua at other sizes: its table says what was printed above it.
local t = require "tap"
local shell = require "shell"
local tide = require "tide"

local here, program = shell.here, shell.program

-- Runs the demo in a folder of its own; returns what it prints and the folder.
local function demo(words)
  local folder = t.tmp("demo " .. words)
  shell.plant(folder, {})
  local text, status = shell.output(("cd %s && %s %s %s 2>&1"):format(shell.quote(folder), shell.quote(program),
    shell.quote(here .. "/examples/02_gemm.lua"), words))
  t.eq(status, 0, text)
  return text, folder
end

-- The rows of the table, {call =, level =, changed =}, made from what was printed for each step.
local function steps_of(text)
  local rows = {}
  for line in text:match "^(.-)\nt:reorder":gmatch "[^\n]+" do
    local call, level = line:match "^s:(.*)", line:match "^  proved: (%a+)"
    if call then rows[#rows + 1] = {call = call, changed = 0} end
    local row = rows[#rows] or {}
    row.level = level or row.level
    if line:find "^[-+] " then row.changed = row.changed + 1 end
  end
  return rows
end

local function table_of(text)
  local rows = {}
  for line in text:match "\nstep [^\n]*\n(.*)$":gmatch "[^\n]+" do
    local call, level, changed = line:match "^(.-) +%d+%.%d%d ms  (%a+) +(%d+)$"
    rows[#rows + 1] = {call = call, level = level, changed = tonumber(changed)}
  end
  return rows
end

local tables = {}
for _, words in ipairs {"33 20 7 5", "6 5 4 2"} do
  t.test("the demo at " .. words, function()
    local text, folder = demo(words)
    local rows = table_of(text)
    t.eq(rows, steps_of(text))
    t.ok(#rows >= 9, "rows")
    tables[#tables + 1] = rows
    t.ok(text:find 'refused: element S%[%d+%]%[%d+%], i and j swap i = %d+, j = %d+ and i = %d+, j = %d+\n', text)
    local M, N, K, seed = words:match "(%d+) (%d+) (%d+) (%d+)"
    t.has(text, ("CPU run of %s x %s x %s equals the native run and the reference"):format(M, N, K))
    t.has(text, ("gives the same %d numbers"):format(M * N))
    local A = tide.load(folder .. "/build/02_gemm/A.npy", tide.i8[tonumber(M)][tonumber(K)])
    t.ok(A:equal(tide.random(A.type, tonumber(seed))), "the seed makes the inputs")
    t.ok(shell.read(folder .. "/build/02_gemm/kernel.cpp"), "HLS C++ is written")
  end)
end

t.test("other sizes have another table", function()
  t.eq({tables[1][1].call, tables[2][1].call}, {'split("i", 8)', 'split("i", 2)'})
end)

t.done()
