-- verify.lua - how fast programs are proved equal, beside PEQC: its authors' run logs of PolyBench
-- MINI (statements and seconds of both programs, elapsed seconds; 0.25 to 0.35 M statements/s).
-- A statement here is an assignment that runs, of which two programs are compared: the original, and
-- one whose innermost loop is split. PEQC counts what loops do too, about 3.2 for each of ours.
local tide = require "tide"
local b = require "bench"
local polybench = require "polybench"
local f32, u64, grid = tide.f32, tide.u64, tide.grid

local PEQC = 0.30e6 -- statements per second

local cases = {
  {"gemm", mini = {M = 20, N = 25, K = 30}, peqc = 0.69, large = {M = 256, N = 256, K = 256},
    count = function(z) return z.M * z.N * (z.K + 1) end},
  {"jacobi-2d", mini = {S = 20, N = 30}, peqc = 2.34, large = {S = 100, N = 250},
    count = function(z) return 2 * z.S * (z.N - 2) ^ 2 end},
  {"cholesky", mini = {N = 40}, peqc = 0.46, large = {N = 400},
    count = function(z) return z.N * (z.N - 1) * (z.N - 2) // 6 + z.N * (z.N - 1) + z.N end},
  {"heat-3d", mini = {S = 20, N = 10}, peqc = 3.29, large = {S = 100, N = 40},
    count = function(z) return 2 * z.S * (z.N - 2) ^ 3 end},
  {"floyd-warshall", mini = {N = 60}, peqc = 5.56, large = {N = 300},
    count = function(z) return z.N ^ 3 end},
}

-- A kernel with its innermost loop split.
local function schedule(name, z, factor)
  local s = tide.schedule((polybench.make(name, {size = z})))
  local loops = s:loops()
  s:split(loops[#loops], factor)
  return s
end

-- Milliseconds to prove s the same program.
local function prove(n, s)
  return b.median(n, function() assert(s:verify() == "strict") end)
end

-- What the process held at most, in bytes.
local function peak()
  for line in io.lines "/proc/self/status" do
    local kib = line:match "^VmHWM:%s*(%d+)"
    if kib then return kib * 1024 end
  end
end

-- Two schedules of a product of n x n matrices.
local function product(n)
  local gemm = tide.kernel {A = f32[n][n], B = f32[n][n], C = f32[n][n], function(A, B, C)
    for i, j in grid(n, n) do
      for k = 0, n - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
    end
  end}
  local s = tide.schedule(gemm)
  s:split("j", 32)
  s:reorder("j_o", "i")
  return s
end

-- A product of n x n matrices whose last element starts at term `from` of its sum.
local function short_sum(n, from)
  local last = n - 1
  return tide.kernel {A = f32[n][n], B = f32[n][n], C = f32[n][n], function(A, B, C)
    for i, j in grid(n, n) do
      for k = 0, n - 1 do
        if i < last or j < last or k >= from then C[i][j] = C[i][j] + A[i][k] * B[k][j] end
      end
    end
  end}
end

-- The rates of all cases; `least` is how many times PEQC's they should be.
local function rates(least)
  for _, c in ipairs(cases) do
    local s = schedule(c[1], c.large, 32)
    prove(1, s)
    local rate = 2 * c.count(c.large) / prove(5, s) * 1e3
    b.row(("%s: %.0f M statements/s"):format(c[1], rate / 1e6), rate / PEQC, "x", least, "PEQC 1", "least")
  end
end

-- The part that runs again where there is no compiler.
if arg[1] == "in memory" then
  rates(300)
  local s = product(256)
  b.row("verify two gemm 256^3, strict", prove(5, s), "ms", 500)
  return b.done "proofs in process, by libtcc"
end

rates(1000)
b.done "proofs, compiled by cc: times the statements per second of PEQC"
local tide_path = arg[-1]
assert(os.execute(("TIDE_CC=/nonexistent/cc '%s' tests/bench/verify.lua 'in memory'"):format(tide_path)))

for _, c in ipairs(cases) do
  local s = schedule(c[1], c.mini, 4)
  local ms = prove(9, s)
  b.row(("%s: %.2f ms"):format(c[1], ms), c.peqc * 1e3 / ms, "x", 200, ("PEQC %.2f s"):format(c.peqc), "least")
end
b.done "whole calls of verify, PolyBench MINI: times as fast as PEQC"

-- Milliseconds of a step at the prompt, with the check that is on there.
local function prompt_step(n)
  local input = os.tmpname()
  local f = assert(io.open(input, "w"))
  f:write(([[
gemm = tide.kernel {A = f32[%d][%d], B = f32[%d][%d], C = f32[%d][%d], function(A, B, C)
  for i, j in grid(%d, %d) do
    for k = 0, %d - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
  end
end}
s = tide.schedule(gemm)
before = os.clock() s:split("i", 8) print("took", (os.clock() - before) * 1e3)
s
]]):gsub("%%d", n))
  f:close()
  local p <close> = assert(io.popen(("'%s' -i <'%s' 2>&1"):format(tide_path, input)))
  local text = p:read "a"
  os.remove(input)
  return tonumber(text:match "took%s+([%d.]+)")
end

b.row("a step of gemm 128^3 at the prompt, proved as is the default there", prompt_step(128), "ms", 100)
b.row("one of gemm 512^3, which is not", prompt_step(512), "ms", 10)
b.done "checks at the prompt"

-- The fingerprints of a product by hand, called as Tide calls foreign kernels.
local object = os.tmpname()
assert(os.execute(("cc -O3 -march=native -shared -fPIC -o '%s' tests/bench/by_hand.c -lm"):format(object)))
local by_hand = tide.extern {library = object, symbol = "fingers", A = u64[512][512][2],
  B = u64[512][512][2], C = u64[512][512][2]}
local A, B = tide.random(u64[512][512][2], 1), tide.random(u64[512][512][2], 2)
local C = tide.random(u64[512][512][2], 3)
by_hand(A, B, C)
local once = b.median(5, function() by_hand(A, B, C) end)
local before, small = peak(), product(256)
b.row("verify two gemm 256^3, strict", prove(9, small), "ms", 250, "PEQC ~770 s")
local large = product(512)
local ms = prove(5, large)
b.row(("verify two gemm 512^3 (%.0f ms), times by hand"):format(ms), ms / (2 * once), "x", 1.3)
local arrays = 3 * 512 ^ 2 * 16
b.row("its memory, times the fingerprints' arrays", (peak() - before) / arrays, "x", 3)
b.row("two of 256^3 that differ in one term, told which element", b.median(5, function()
  assert(not tide.verify(short_sum(256, 0), short_sum(256, 1)))
end), "ms", 1000)
os.remove(object)
b.done "core figures"
