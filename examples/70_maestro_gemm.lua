-- 70_maestro_gemm: a product of 48 x 80 x 128 through streamers and an array of 4 x 8 x 16 (DataMaestro, section IV, at
-- another size, memory and array): registers from the kernel and an order, modes of addressing swept, bits compared.
-- Run: tide examples/70_maestro_gemm.lua [M N K]
local tide, maestro = require "tide", require "tide.maestro"
local i8, i32, grid, reduction = tide.i8, tide.i32, tide.grid, tide.reduction
local M, N, K = tonumber(arg[1] or 48), tonumber(arg[2] or 80), tonumber(arg[3] or 128)

local scores = tide.kernel {
  Q = i8[M][K], T = i8[N][K], S = i32[M][N], -- rows of both are contiguous: S = Q times T transposed
  function(Q, T, S)
    for q, t in grid(M, N) do
      local sum = i32(0)
      for d in reduction(K) do sum = sum + Q[q][d] * T[t][d] end
      S[q][t] = sum
    end
  end,
}

local sys = maestro.system {
  arbiter = "round_robin",
  memory = maestro.memory { banks = 64, word = 8, rows = 256, modes = { all = 64, half = 32, quarter = 16 } },
  array = maestro.array { m = 4, n = 8, k = 16, a = i8, b = i8, acc = i32 },
  A = maestro.reader { lanes = { 8 }, loops = 4, depth = 4 },
  B = maestro.reader { lanes = { 16 }, loops = 3, depth = 4 },
  C = maestro.reader { lanes = { 16 }, loops = 2, depth = 2, mask = true },
  D = maestro.writer { lanes = { 16 }, loops = 2, depth = 2, shares = "C" },
}

local function options(mode)
  return {
    m = "q", n = "t", k = "d", mode = mode,
    order = { Q = "q d -> q/4 d/16 q%4 d%16", T = "t d -> t/8 d/16 t%8 d%16", S = "q t -> q/4 t/8 q%4 t%8" },
  }
end

for _, mode in ipairs { "all", "half", "quarter", "best" } do
  local r = sys:compile(scores, options(mode)):simulate()
  print(("%-8s %5d cycles, %5.1f %% of the MAC window, conflicts %s"):format(mode, r.cycles, 100 * r.utilisation,
    r.conflicts))
end

local job = sys:compile(scores, options "best")
print(job)

local Q, T, S, want = tide.random(i8[M][K], 1), tide.random(i8[N][K], 2), i32[M][N](0), i32[M][N](0)
job:run { Q = Q, T = T, S = S }
scores:native(Q, T, want)
assert(S:equal(want))
print "the streamers' results are the kernel's"

-- Refused: rows of T by columns have no 16 contiguous elements for a word.
local o = options "all"
o.order.T = "t d -> d t"
local ok, why = pcall(sys.compile, sys, scores, o)
assert(not ok and why.code == "maestro-word")
print(why.message)
print("help: " .. why.help)
