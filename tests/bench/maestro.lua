-- maestro.lua - DataMaestro on one core: GeMM-64 to the cycle, the 260 workloads at each step, networks, the model's
-- pace with data and without, a job compiled, the system's text in Verilator, flip-flops and the streamers' share.
package.path = "examples/maestro/?.lua;" .. package.path
local tide, maestro = require "tide", require "tide.maestro"
local workloads, steps = require "workloads", require "steps"
local b = require "bench"
local shell = require "shell"
local i8, i32, grid, reduction = tide.i8, tide.i32, tide.grid, tide.reduction

local function gemm(n)
  return tide.kernel { name = "gemm", A = i8[n][n], B = i8[n][n], C = i32[n][n], D = i32[n][n], function(A, B, C, D)
    for i, j in grid(n, n) do
      local acc = C[i][j]
      for k in reduction(n) do acc = acc + A[i][k] * B[k][j] end
      D[i][j] = acc
    end
  end }
end

local blocked = { A = "m k -> m/8 k/8 m%8 k%8", B = "k n -> n/8 k/8 n%8 k%8", C = "m n -> m/8 n/8 m%8 n%8",
  D = "m n -> m/8 n/8 m%8 n%8" }

local function options(mode) return { m = "i", n = "j", k = "k", mode = mode, order = blocked } end

-- Cycles of the paper's product; the target is what the facts of the microarchitecture give.
for _, case in ipairs {
  { "round_robin", "fima", 585 }, { "round_robin", "gima8", 523 }, { "round_robin", "gima16", 647 },
  { "priority", "fima", 520 }, { "priority", "gima16", 523 }, { "priority", "gima8", 523 },
} do
  local arbiter, mode, cycles = table.unpack(case)
  local r = maestro.reference { arbiter = arbiter }:compile(gemm(64), options(mode)):simulate()
  b.row(("GeMM-64, %s, %s"):format(arbiter, mode), r.cycles, "cycles", cycles)
  assert(r.cycles == cycles)
end

-- The 260 workloads, step by step.
local mean = {}
local whole = b.once(function()
  for k, step in ipairs(steps) do
    local sum, n = {}, {}
    for _, w in ipairs(workloads) do
      sum[w.group], n[w.group] = (sum[w.group] or 0) + steps.run(w, step), (n[w.group] or 0) + 1
    end
    for group, v in pairs(sum) do mean[group .. k] = 100 * v / n[group] end
  end
end)
b.row(("%d workloads at %d steps"):format(#workloads, #steps), whole / 1000, "s", 30)
for k, step in ipairs(steps) do
  if step.mode then
    for _, group in ipairs { "G", "T", "V" } do
      b.row(("%s: MAC window of %s"):format(step.name, group), mean[group .. k], "%",
        step.mode == "best" and 99.9 or group == "V" and 93 or 100,
        "paper " .. (group == "V" and "92.03" or "100"), true)
    end
  end
end

-- A convolution of four groups, its kernel's elements two apart.
local grouped = tide.kernel { name = "grouped", I = i8[12][12][4][16], F = i8[4][16][3][3][16], O = i32[8][8][4][16],
  function(I, F, O)
    for y, x, g, f in grid(8, 8, 4, 16) do
      local acc = i32(0)
      for r, q, c in reduction(3, 3, 16) do acc = acc + I[y + 2 * r][x + 2 * q][g][c] * F[g][f][r][q][c] end
      O[y][x][g][f] = acc
    end
  end }
b.row("groups and dilation: MAC window", 100 * maestro.reference():compile(grouped, { m = "x", n = "f", k = "c",
  mode = "best", loops = { "y", "x", "g", "f", "r", "q", "c" } }):simulate().utilisation, "%", 99.9, nil, true)

-- The model's pace, the compiler's, and runs with data.
local sys, one = maestro.reference { arbiter = "priority" }, gemm(64)
local job = sys:compile(one, options "gima8")
local args = { A = tide.random(i8[64][64], 1), B = tide.random(i8[64][64], 2), C = i32[64][64](0), D = i32[64][64](0) }
local cycles = job:simulate().cycles
b.row("model without data", cycles / b.median(9, function() job:simulate() end) / 1000, "Mcycle/s", 1.2, nil, true)
b.row("model with data", cycles / b.median(9, function() job:run(args) end) / 1000, "Mcycle/s", 1.2, nil, true)
b.row("a job compiled and checked", b.median(9, function() sys:compile(one, options "gima8") end), "ms", 5)

-- Networks: a line of examples/maestro/networks.lua each.
local start = os.time()
local text = shell.output(("'%s' examples/maestro/networks.lua"):format(arg[-1]))
b.row("four networks, five runs", os.time() - start, "s", 10)
local line = "([%w%-/, ]-) +([%d.]+) +([%d.]+) +([%d.]+) +([%d.]+) +%d+ +([%d.]+)\n"
for name, stall, tot, mac, behind, paper in text:gmatch(line) do
  b.row(name .. ": U_stall", tonumber(stall), "%", 99.9, "paper " .. paper, true)
  b.row(name .. ": U_tot", tonumber(tot), "%", 99.5, nil, true)
  b.row(name .. ": U_tot, jobs overlap", tonumber(behind), "%", 99.9, nil, true)
  b.row(name .. ": U_mac", tonumber(mac), "%", name == "ResNet-18" and 90 or nil, nil, true)
end

-- Verilog: built and run by Verilator, cells by yosys.
if shell.output "command -v verilator" ~= "" then
  local build = maestro.reference():build { sim = "verilator", check = false }
  job = build.system:compile(gemm(80), options "gima8")
  local jobs, from = {}, os.time()
  build:run(build.system:compile(one, options "gima8"))
  b.row("Verilator builds the system and runs GeMM-64", os.time() - from, "s", 25)
  for k = 1, 400 do jobs[k] = job end
  from = os.time()
  local n = build:chain(jobs).cycles
  b.row("its pace", n / (os.time() - from) / 1e6, "Mcycle/s", 0.24, nil, true)
end
if shell.output "command -v yosys" ~= "" then
  text = shell.output(("'%s' examples/maestro/area.lua"):format(arg[-1]))
  b.row("AGU of 6 loops and 8 channels", tonumber(text:match "with its queues: (%d+) flip%-flops"), "FF", 1400)
  b.row("streamers beside the products, cells", tonumber(text:match "products: ([%d.]+) %%"), "%", nil,
    "paper 6.43, with memory")
end
b.done "DataMaestro"
