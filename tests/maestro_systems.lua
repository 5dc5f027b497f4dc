-- Random systems of tide.maestro whose text there is Verilog for, and jobs of them.
local tide, maestro = require "tide", require "tide.maestro"
local i8, i16, i32, grid, reduction, ext = tide.i8, tide.i16, tide.i32, tide.grid, tide.reduction, maestro.ext

local random = {}

--- A generator of integers from lo to hi, the same on every machine; and of elements of lists.
function random.new(seed)
  local state = seed
  local function roll(lo, hi)
    state = (state * 1103515245 + 12345) % 2147483648
    return lo + (state >> 8) % (hi - lo + 1)
  end
  return roll, function(list) return list[roll(1, #list)] end
end

--- A system with an array of T, and m, n, k of it.
function random.system(roll, pick, T)
  local m, n, k, word = 1 << roll(0, 2), 1 << roll(0, 2), 1 << roll(1, 3), pick { 4, 8 }
  local bytes = T.bits // 8
  local a, b, c, e = m * k * bytes // word, n * k * bytes // word, m * n * 4 // word, m * n // word
  if a < 1 or b < 1 or c < 1 or e < 1 or k * bytes < word or n * 4 < word then
    return random.system(roll, pick, T)
  end
  local banks, pipes = pick { 4, 8, 16 }, roll(1, 4) == 1
  local out, into = pipes and "pipe" or "full", pipes and "full" or pick { "pipe", "full" }
  return maestro.system {
    arbiter = pick { "round_robin", "priority" },
    memory = maestro.memory { banks = banks, word = word, rows = 256, latency = roll(1, 4),
      modes = { all = banks, half = banks // 2, one = 1 } },
    array = maestro.array { m = m, n = n, k = k, a = T, b = T, acc = i32, lanes = pick { 1, 2, 64 } },
    A = maestro.reader { lanes = { a }, loops = roll(4, 8), depth = roll(1, 6), addr_depth = roll(1, 4),
      cut = { data = into, addr = pick { "pipe", "full" } } },
    B = maestro.reader { lanes = { b }, loops = 5, depth = roll(1, 6), cut = { data = into } },
    C = maestro.reader { lanes = { c }, loops = 4, depth = roll(1, 3), mask = true, cut = { data = into },
      ext = { ext.broadcast(n * 32, m * n * 32) } },
    D = maestro.writer { lanes = { c }, loops = 4, depth = roll(1, 3), shares = pick { "C", false } or nil,
      cut = { data = out } },
    E = maestro.writer { lanes = { e }, loops = 4, depth = roll(1, 3), cut = { data = out } },
  }, m, n, k
end

--- A product with sums that begin with elements, a bias or zeros, or end in the quantiser; its arguments.
function random.product(roll, kind, T, M, N, K)
  local f
  local args = { A = tide.random(T[M][K], roll(1, 99)), B = tide.random(T[K][N], roll(1, 99)), D = i32[M][N](0) }
  if kind == "full" then
    args.C = tide.random(i32[M][N], 3)
    f = tide.kernel { name = "g", A = T[M][K], B = T[K][N], C = i32[M][N], D = i32[M][N], function(A, B, C, D)
      for m, n in grid(M, N) do
        local acc = C[m][n]
        for k in reduction(K) do acc = acc + A[m][k] * B[k][n] end
        D[m][n] = acc
      end
    end }
  elseif kind == "bias" then
    args.C = tide.random(i32[N], 3)
    f = tide.kernel { name = "g", A = T[M][K], B = T[K][N], C = i32[N], D = i32[M][N], function(A, B, C, D)
      for m, n in grid(M, N) do
        local acc = C[n]
        for k in reduction(K) do acc = acc + A[m][k] * B[k][n] end
        D[m][n] = acc
      end
    end }
  elseif kind == "zero" then
    f = tide.kernel { name = "g", A = T[M][K], B = T[K][N], D = i32[M][N], function(A, B, D)
      for m, n in grid(M, N) do
        local acc = i32(0)
        for k in reduction(K) do acc = acc + A[m][k] * B[k][n] end
        D[m][n] = acc
      end
    end }
  else
    local mult, shift, out = roll(1, 100), roll(8, 14), roll(-5, 5)
    args.D = i8[M][N](0)
    f = tide.kernel { name = "g", A = T[M][K], B = T[K][N], D = i8[M][N], function(A, B, D)
      for m, n in grid(M, N) do
        local acc = i32(0)
        for k in reduction(K) do acc = acc + A[m][k] * B[k][n] end
        D[m][n] = i8(tide.max(-128, tide.min(127, tide.asr(acc * i16(mult), shift) + out)))
      end
    end }
  end
  return f, args
end

random.kinds = { "full", "bias", "zero", "quantised" }

return random
