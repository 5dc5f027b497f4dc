-- The steps of DataMaestro's ablation (Fig. 7) as systems and kernels: what each adds, and what it costs without.
local tide, maestro = require "tide", require "tide.maestro"
local i8, i32, grid, reduction = tide.i8, tide.i32, tide.grid, tide.reduction

local steps = {
  -- Depth of A and B, of the others; cycles of a tile that is transposed or unfolded before; what there is then.
  { name = "1 baseline", depth = 1, others = 1, pass = 2, full = true },
  { name = "2 prefetch", depth = 8, others = 2, pass = 1, full = true },
  { name = "3 transposer", depth = 8, others = 2, pass = 1, full = true, transposer = true },
  { name = "4 broadcast", depth = 8, others = 2, pass = 1, transposer = true },
  { name = "5 implicit im2col", depth = 8, others = 2, transposer = true, implicit = true },
  { name = "6 best mode", depth = 8, others = 2, transposer = true, implicit = true, mode = "one" },
  { name = "6' mode per stream", depth = 8, others = 2, transposer = true, implicit = true, mode = "best" },
  { name = "7 priority, fima", depth = 8, others = 2, transposer = true, implicit = true, arbiter = "priority" },
  { name = "8 both", depth = 8, others = 2, transposer = true, implicit = true, mode = "best", arbiter = "priority" },
}

-- Memory of the paper, or with so many rows that what is unfolded fits too: banks and modes are the same.
local function memory(rows)
  return maestro.memory { banks = 32, word = 8, rows = rows, modes = { fima = 32, gima16 = 16, gima8 = 8 } }
end

local function system(step, rows)
  local ext = maestro.ext
  local turn = step.transposer and { ext.transpose(8, 8, i8) } or nil
  return maestro.reference {
    memory = memory(rows), arbiter = step.arbiter or "round_robin",
    A = maestro.reader { lanes = { 8 }, loops = 6, depth = step.depth, ext = turn },
    B = maestro.reader { lanes = { 8 }, loops = 3, depth = step.depth, ext = turn },
    C = maestro.reader { lanes = { 8, 4 }, loops = 3, depth = step.others, mask = true,
      ext = { ext.broadcast(256, 2048) } },
    D = maestro.writer { lanes = { 8, 4 }, loops = 3, depth = step.others, shares = "C" },
    E = maestro.writer { lanes = { 8 }, loops = 3, depth = step.others },
  }
end

-- A product; C is a value for each result, or one for each column.
local function gemm(M, N, K, full)
  if full then
    return tide.kernel {
      name = "gemm", A = i8[M][K], B = i8[K][N], C = i32[M][N], D = i32[M][N],
      function(A, B, C, D)
        for m, n in grid(M, N) do
          local acc = C[m][n]
          for k in reduction(K) do acc = acc + A[m][k] * B[k][n] end
          D[m][n] = acc
        end
      end,
    }
  end
  return tide.kernel {
    name = "gemm", A = i8[M][K], B = i8[K][N], C = i32[N], D = i32[M][N],
    function(A, B, C, D)
      for m, n in grid(M, N) do
        local acc = C[n]
        for k in reduction(K) do acc = acc + A[m][k] * B[k][n] end
        D[m][n] = acc
      end
    end,
  }
end

local function conv(w)
  local OH, OW, H, W, CI, CO, R, s = w.OH, w.OW, w.H, w.W, w.Cin, w.Cout, w.R, w.s
  return tide.kernel {
    name = "conv", A = i8[H][W][CI], B = i8[CO][R][R][CI], C = i32[CO], D = i32[OH][OW][CO],
    function(A, B, C, D)
      for oy, ox, co in grid(OH, OW, CO) do
        local acc = C[co]
        for ky, kx, ci in reduction(R, R, CI) do
          acc = acc + A[oy * s + ky][ox * s + kx][ci] * B[co][ky][kx][ci]
        end
        D[oy][ox][co] = acc
      end
    end,
  }
end

-- The kernel of a workload at a step, its options, and the tiles that a pass before it moves.
local function job_of(w, step)
  if w.group == "V" and step.implicit then
    return conv(w), {
      m = "ox", n = "co", k = "ci", loops = { "oy", "ox", "co", "ci", "ky", "kx" },
      order = { A = "y x c -> c/8 y x c%8", B = "n y x c -> n/8 c/8 y x n%8 c%8", C = "n -> n",
        D = "y x n -> n/8 y x n%8" },
    }, 0
  end
  local M, N, K = w.M or w.OH * w.OW, w.N or w.Cout, w.K or w.R * w.R * w.Cin
  local turned = w.group == "T" and step.transposer
  local moved = (w.group == "T" and not turned) or w.group == "V"
  return gemm(M, N, K, step.full or false), {
    m = "m", n = "n", k = "k", order = {
      A = turned and "m k -> k/8 m/8 k%8 m%8" or "m k -> m/8 k/8 m%8 k%8", B = "k n -> n/8 k/8 n%8 k%8",
      C = step.full and "m n -> m/8 n/8 m%8 n%8" or "n -> n", D = "m n -> m/8 n/8 m%8 n%8",
    },
  }, moved and M * K // 64 or 0
end

-- The report of the mode of all streamers that takes the fewest cycles.
local function best_of_one(sys, kernel, o)
  local best
  for _, mode in ipairs { "fima", "gima16", "gima8" } do
    o.mode = mode
    local r = sys:compile(kernel, o):simulate()
    if not best or r.cycles < best.cycles then best = r end
  end
  return best
end

--- Runs workload w at a step; rows: of the memory (512 are the paper's). Returns the part of the MAC window, passes
--- included, in which the array multiplies; of all cycles; accesses; cycles.
function steps.run(w, step, rows)
  local kernel, o, tiles = job_of(w, step)
  rows = rows or w.group == "V" and not step.implicit and 8192 or 512
  local sys = system(step, rows)
  local r
  if step.mode == "one" then
    r = best_of_one(sys, kernel, o)
  else
    o.mode = step.mode or "fima"
    r = sys:compile(kernel, o):simulate()
  end
  local passes = tiles * (step.pass or 0)
  return r.fires / (r.window + passes), r.fires / (r.cycles + passes), r.accesses + 16 * tiles, r.cycles + passes
end

return steps
