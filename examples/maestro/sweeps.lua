-- DataMaestro: what single parameters of the evaluation system do. A 64^3 product by mode, arbiter and depth of the
-- FIFOs (Fig. 6's system); latency of the memory; the systems of Table I as settings of this one, on kernels of the
-- kinds of Fig. 10, in cycles of the system with everything.
-- Run: tide examples/maestro/sweeps.lua
-- [slow]
local tide, maestro = require "tide", require "tide.maestro"
local i8, i32, grid, reduction = tide.i8, tide.i32, tide.grid, tide.reduction
local ext = maestro.ext

-- A system: depth of A and B, of the others, memory latency, loops of A and B, modes, extensions or none.
local function system(o)
  o = o or {}
  local turn = not o.plain and { ext.transpose(8, 8, i8) } or nil
  local loops = o.loops or 6
  return maestro.reference {
    arbiter = o.arbiter or "round_robin",
    memory = maestro.memory { banks = 32, word = 8, rows = o.rows or 512, latency = o.latency or 1,
      modes = o.modes or { fima = 32, gima16 = 16, gima8 = 8 } },
    A = maestro.reader { lanes = { 8 }, loops = loops, depth = o.depth or 8, ext = turn },
    B = maestro.reader { lanes = { 8 }, loops = math.min(loops, 3), depth = o.depth or 8, ext = turn },
    C = maestro.reader { lanes = { 8, 4 }, loops = 3, depth = o.others or 2, mask = true,
      ext = { ext.broadcast(256, 2048) } },
    D = maestro.writer { lanes = { 8, 4 }, loops = 3, depth = o.others or 2, shares = "C" },
    E = maestro.writer { lanes = { 8 }, loops = 3, depth = o.others or 2 },
  }
end

local function gemm(M, N, K, turned)
  local k = tide.kernel {
    name = "gemm", A = i8[M][K], B = i8[K][N], C = i32[M][N], D = i32[M][N],
    function(A, B, C, D)
      for m, n in grid(M, N) do
        local acc = C[m][n]
        for k in reduction(K) do acc = acc + A[m][k] * B[k][n] end
        D[m][n] = acc
      end
    end,
  }
  return k, { m = "m", n = "n", k = "k", order = {
    A = turned and "m k -> k/8 m/8 k%8 m%8" or "m k -> m/8 k/8 m%8 k%8", B = "k n -> n/8 k/8 n%8 k%8",
    C = "m n -> m/8 n/8 m%8 n%8", D = "m n -> m/8 n/8 m%8 n%8",
  } }
end

local function conv(OH, OW, CI, CO, R, s)
  local H, W = s * (OH - 1) + R, s * (OW - 1) + R
  local k = tide.kernel {
    name = "conv", I = i8[H][W][CI], F = i8[CO][R][R][CI], B = i32[CO], O = i32[OH][OW][CO],
    function(I, F, B, O)
      for oy, ox, co in grid(OH, OW, CO) do
        local acc = B[co]
        for ky, kx, ci in reduction(R, R, CI) do acc = acc + I[oy * s + ky][ox * s + kx][ci] * F[co][ky][kx][ci] end
        O[oy][ox][co] = acc
      end
    end,
  }
  return k, { m = "ox", n = "co", k = "ci", loops = { "oy", "ox", "co", "ci", "ky", "kx" }, order = {
    I = "y x c -> c/8 y x c%8", F = "n y x c -> n/8 c/8 y x n%8 c%8", B = "n -> n", O = "y x n -> n/8 y x n%8",
  } }
end

-- The report of a kernel with options o, and mode.
local function run(sys, kernel, o, mode)
  o.mode = mode
  local ok, job = pcall(sys.compile, sys, kernel, o)
  return ok and job:simulate() or nil, job
end

print "64^3, cycles and part of the MAC window, by depth of A and B (others 2, from depth 2 on)"
for _, mode in ipairs { "fima", "gima16", "gima8" } do
  local row = {}
  for _, depth in ipairs { 1, 2, 3, 4, 8, 16 } do
    local r = run(system { depth = depth, others = math.min(depth, 2) }, gemm(64, 64, 64))
    local k, o = gemm(64, 64, 64)
    r = run(system { depth = depth, others = math.min(depth, 2) }, k, o, mode) or r
    row[#row + 1] = ("%d: %d (%.1f)"):format(depth, r.cycles, 100 * r.utilisation)
  end
  print(("  %-7s %s"):format(mode, table.concat(row, "  ")))
end

print "64^3, by latency of the memory (depth 8)"
for _, mode in ipairs { "fima", "gima8" } do
  local row = {}
  for latency = 1, 4 do
    local k, o = gemm(64, 64, 64)
    local r = run(system { latency = latency }, k, o, mode)
    row[#row + 1] = ("%d: %d (%.1f)"):format(latency, r.cycles, 100 * r.utilisation)
  end
  print(("  %-7s %s"):format(mode, table.concat(row, "  ")))
end

local kernels = {
  { "gemm 64 64 64", gemm, { 64, 64, 64 } }, { "gemm 128 32 128", gemm, { 128, 32, 128 } },
  { "transposed 64 64 64", gemm, { 64, 64, 64, true } }, { "conv 8x8 32 32 3 1", conv, { 8, 8, 32, 32, 3, 1 } },
  { "conv 8x8 32 32 3 2", conv, { 8, 8, 32, 32, 3, 2 } }, { "conv 8x8 64 64 1 1", conv, { 8, 8, 64, 64, 1, 1 } },
}
local settings = {
  { "everything", {}, "best" }, { "one mode", { modes = { fima = 32 } }, "fima" },
  { "no prefetch", { depth = 1, others = 1 }, "best" }, { "no extension", { plain = true }, "best" },
  { "4 loops", { loops = 4 }, "best" }, { "3 loops", { loops = 3 }, "best" }, { "2 loops", { loops = 2 }, "best" },
  { "2 loops, one mode, no prefetch", { loops = 2, depth = 1, others = 1, modes = { fima = 32 } }, "fima" },
}
print "Cycles of a setting over those of the whole system (-: it cannot run the kernel); the paper has 1.05 to 21.39"
io.write(("  %-32s"):format "")
for _, k in ipairs(kernels) do io.write((" %20s"):format(k[1])) end
print()
local base = {}
for _, s in ipairs(settings) do
  io.write(("  %-32s"):format(s[1]))
  for _, k in ipairs(kernels) do
    local kernel, o = k[2](table.unpack(k[3]))
    local r = run(system(s[2]), kernel, o, s[3])
    base[k[1]] = base[k[1]] or r.cycles
    io.write((" %20s"):format(r and ("%.2f"):format(r.cycles / base[k[1]]) or "-"))
  end
  print()
end
