-- DataMaestro, section IV-D: an estimate of where the energy of a 64^3 product goes, from what a run counts: words of
-- the banks, products, words and addresses through the FIFOs of each streamer. Energies are those of tide.energy for
-- 45 nm; clocks, wires and the host are not counted, so shares are to be read as an order of magnitude.
-- Run: tide examples/maestro/energy.lua [M N K]     (default 64 64 64)
local tide, maestro, energy = require "tide", require "tide.maestro", require "tide.energy"
local i8, i32, grid, reduction = tide.i8, tide.i32, tide.grid, tide.reduction
local M, N, K = tonumber(arg[1] or 64), tonumber(arg[2] or 64), tonumber(arg[3] or 64)
local pj = energy.tables.asic45

local gemm = tide.kernel {
  name = "gemm", A = i8[M][K], B = i8[K][N], C = i32[M][N], D = i32[M][N],
  function(A, B, C, D)
    for m, n in grid(M, N) do
      local acc = C[m][n]
      for k in reduction(K) do acc = acc + A[m][k] * B[k][n] end
      D[m][n] = acc
    end
  end,
}
local sys = maestro.reference { arbiter = "priority" }
local job = sys:compile(gemm, { m = "m", n = "n", k = "k", mode = "best" })
local r = job:simulate()

local WORD, ADDRESS, COUNTER = 64, 14, 32 + 17     -- bits: a word, its place, the two counters of a loop
local parts, order, sum = {}, {}, 0
local function add(name, n)
  if not parts[name] then order[#order + 1] = name end
  parts[name], sum = (parts[name] or 0) + n, sum + n
end
for _, one in ipairs(job.jobs or { job }) do
  local report = one:simulate()
  for name, words in pairs(report.access) do
    local s = one:stream(name)
    local channels = 1
    for _, n in ipairs(s.lanes) do channels = channels * n end
    local vectors = words / channels
    add("banks", words * WORD * pj["ram 8192"])
    -- Each word and each address is written once and read once; a tick of the AGU moves one loop's counters, or two.
    add("streamers", words * 2 * (WORD + ADDRESS) * pj.register + vectors * 2 * COUNTER * pj.register
      + words * pj["add i32"])
  end
  local macs = report.fires * 512
  add("array", macs * (pj["mul i8"] + pj["add i32"]) + report.fires * 2 * 2 * 512 * pj.register
    + report.fires * 64 * 32 * pj.register)
end
print(("%d x %d x %d: %d cycles, %d words; estimated %.1f nJ"):format(M, N, K, r.cycles, r.accesses, sum / 1000))
for _, name in ipairs { "array", "banks", "streamers" } do
  print(("  %-10s %5.1f %%"):format(name, 100 * parts[name] / sum))
end
print "  the paper's five streamers take 15.06 % of the power of its system, the host included"

--> 64 x 64 x 64: 520 cycles, 12288 words; estimated ... nJ
-->   array ...
-->   banks ...
-->   streamers ...
-->   the paper's five streamers take 15.06 % of the power of its system, the host included
