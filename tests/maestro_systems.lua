-- Random systems of tide.maestro whose text there is Verilog for, and jobs of them.
local tide, maestro = require "tide", require "tide.maestro"
local i8, i16, i32, grid, reduction, ext = tide.i8, tide.i16, tide.i32, tide.grid, tide.reduction, maestro.ext
local task = tide.task

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

--- A memory of words of so many bytes, for streamers in front of a design.
function random.memory(word, banks)
  return maestro.memory { banks = banks or 8, word = word, rows = 512, modes = { all = banks or 8, half = 4, one = 1 } }
end

--- A design that moves the elements of I to O through two streams; what is put and stored is up to the caller.
function random.copy_design(T, n, put, store)
  return tide.design(function(d)
    local z, y = d:stream(T, { depth = 4 }), d:stream(T, { depth = 4 })
    d.load = task { I = T[n], function(I)
      for i in grid(n) do put(z, I, i) end
    end }
    d.mid = task { function()
      for _ in grid(n) do y:put(z:get()) end
    end }
    d.store = task { O = T[n], function(O)
      for i in grid(n) do store(O, y, i) end
    end }
  end)
end

--- A product on an array of R x S elements, operands in words of V along k; zeros beyond M, N, K.
function random.array_design(M, N, K, R, S, V)
  local MT, NT, KT = (M + R - 1) // R, (N + S - 1) // S, (K + V - 1) // V
  return tide.design(function(d)
    local wa, wb, wc = d:stream(i8[R][V], { depth = 3 }), d:stream(i8[S][V], { depth = 3 }), d:stream(i32[S])
    d.load_A = task { A = i8[M][K], function(A)
      for mt, _, kt in grid(MT, NT, KT) do
        local w = i8[R][V](0)
        for r, v in grid(R, V) do
          if mt * R + r < M and kt * V + v < K then w[r][v] = A[mt * R + r][kt * V + v] end
        end
        wa:put(w)
      end
    end }
    d.load_B = task { B = i8[K][N], function(B)
      for _, nt, kt in grid(MT, NT, KT) do
        local w = i8[S][V](0)
        for s, v in grid(S, V) do
          if nt * S + s < N and kt * V + v < K then w[s][v] = B[kt * V + v][nt * S + s] end
        end
        wb:put(w)
      end
    end }
    d.pe = task { function()
      for _ in grid(MT * NT) do
        local sum = i32[R][S](0)
        for _ in grid(KT) do
          local a, b = wa:get(), wb:get()
          for r, s, v in grid(R, S, V) do sum[r][s] = sum[r][s] + a[r][v] * b[s][v] end
        end
        for r in grid(R) do wc:put(sum:slice(r)) end
      end
    end }
    d.store = task { C = i32[M][N], function(C)
      for mt, nt, r in grid(MT, NT, R) do
        local c = wc:get()
        for s in grid(S) do
          if mt * R + r < M and nt * S + s < N then C[mt * R + r][nt * S + s] = c[s] end
        end
      end
    end }
  end)
end

--- Streamers in front of such an array, of any sizes, words and modes, and its arguments; raises what is refused.
function random.front(roll, pick)
  local R, S, V = 1 << roll(0, 2), 1 << roll(0, 2), 1 << roll(0, 2)
  local M, N, K = roll(1, 12), roll(1, 12), roll(1, 16)
  local word = pick { 4, 4, 8 }
  local function lanes(bytes) return { math.max(1, bytes // word) } end
  return maestro.front(random.array_design(M, N, K, R, S, V), {
    memory = random.memory(word), mode = pick { "all", "half", "one" },
    A = maestro.reader { lanes = lanes(R * V), loops = 6, depth = roll(1, 4) },
    B = maestro.reader { lanes = lanes(S * V), loops = 6, depth = roll(1, 4), cut = pick { "pipe", "full" } },
    C = maestro.writer { lanes = lanes(S * 4), loops = 6, depth = roll(1, 3), cut = pick { "pipe", "full" } },
  }), tide.random(i8[M][K], 1), tide.random(i8[K][N], 2), i32[M][N](7)
end

return random
