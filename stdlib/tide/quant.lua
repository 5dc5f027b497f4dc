-- Layers of quantised networks in integers alone, as templates with their schedules: activations of 8 bits, weights of
-- 4, two to a byte (W4A8). A template says what its integers stand for.
--   local quant = require "tide.quant"
--   local k = quant.linear {M = 8, K = 64, N = 256, shift = 12}
--   local s = quant.schedule(k)
local tide = require "tide"
local elementwise = require "tide.elementwise"
local steps = require "tide.steps"
local template = require "tide.template"

local grid, reduction, max, min = tide.grid, tide.reduction, tide.max, tide.min
local i8, i16, i32, u8, u16, u32, i4 = tide.i8, tide.i16, tide.i32, tide.u8, tide.u16, tide.u32, tide.int(4)
local size, count = template.size, template.count
local pipeline, banks = steps.pipeline, steps.banks

---@class tide.quant
local quant = template.library "tide.quant"

local rows, columns = size "rows", size "columns"
local activations = template.type("of the activations", i8)
local narrow = "is_integer(T) and T.signed and T.bits <= 16"

-- T as the type of a result that saturates.
local function saturating(T) return T:with { overflow = "saturate" } end

-- x / 2^n, rounded to the nearest integer, halves up.
local function scaled(x, n) return tide.asr(x + (1 << n >> 1), n) end

--- Two weights of 4 bits a byte: the tensor u8[K][N // 2] of the list of rows of weights, each -8 to 7.
function quant.pack(weights)
  local bytes = {}
  for k, row in ipairs(weights) do
    bytes[k] = {}
    for j = 1, #row, 2 do bytes[k][#bytes[k] + 1] = (row[j] & 15) | (row[j + 1] & 15) << 4 end
  end
  return tide.tensor(u8[#bytes][#bytes[1]], bytes)
end

quant.linear = template {
  name = "linear", summary = "Y = (X W + b) m / 2^shift, rounded and saturated; two weights of 4 bits are a byte of W.",
  kernel = function(M, K, N, shift, T)
    local out = saturating(T)
    return tide.kernel {
      name = "linear", X = T[M][K], W = u8[K][N // 2], b = i32[N], m = u16[N], Y = T[M][N],
      function(X, W, b, m, Y)
        for i in grid(M) do
          local sum = i32[N]()
          for c in grid(N) do sum[c] = b[c] end
          for j in grid(N // 2) do
            for k in reduction(K) do
              local low = tide.bitcast(i4, tide.bits(W[k][j], 0, 4))
              local high = tide.bitcast(i4, tide.bits(W[k][j], 4, 8))
              sum[2 * j] = sum[2 * j] + X[i][k] * low
              sum[2 * j + 1] = sum[2 * j + 1] + X[i][k] * high
            end
          end
          for y in grid(N) do Y[i][y] = out(scaled(sum[y] * m[y], shift)) end
        end
      end,
    }
  end,
  schedule = function(s, unroll)
    s:reorder("k", "j"):buffer_at("X", "i")
    pipeline(s, "k_init", "c", "j", "y")
    steps.unroll(s, "j", unroll)
    banks(s, "sum", 0, 2 * unroll)
    banks(s, "W", 1, unroll)
  end,
  M = rows, K = size "terms of a sum", N = columns, shift = count "2^shift divides sums times m", T = activations,
  unroll = size("bytes of weights used side by side", 1), where = { narrow, "N % (2 * unroll) == 0", "shift < 32" },
}

quant.layernorm = template {
  name = "layernorm",
  summary = "Y[i] = (X[i] - mean) g / deviation + b, saturated; mean and quotient are rounded down.",
  kernel = function(M, N, T)
    local out, n = saturating(i8), { N } -- a number, not the name of a size
    return tide.kernel {
      name = "layernorm", X = T[M][N], g = i16[N], b = i8[N], Y = i8[M][N],
      function(X, g, b, Y)
        for i in grid(M) do
          local sum, squares, root = i32(0), tide.i64(0), u32(0)
          for j in reduction(N) do sum = sum + X[i][j] end
          local mean = i32(sum // n[1])
          for k in reduction(N) do squares = squares + (X[i][k] - mean) * (X[i][k] - mean) end
          local variance = tide.u64(squares // n[1])
          for bit in reduction(16) do
            local more = u32(root + (u32(32768) >> bit))
            if more * more <= variance then root = more end
          end
          for y in grid(N) do Y[i][y] = out((X[i][y] - mean) * g[y] // i32(max(root, 1)) + b[y]) end
        end
      end,
    }
  end,
  schedule = function(s)
    s:buffer_at("X", "i")
    pipeline(s, "j_init", "j", "k", "bit", "y")
  end,
  M = rows, N = columns, T = activations, where = { narrow },
}

-- The elements of a function of the integers 0 to n - 1 that fit T, as a table.
local function lookup(T, n, f)
  local list = {}
  for i = 1, n do list[i] = f(i - 1) end
  return tide.tensor(T[n], list)
end

--- exp(-i / 16) in units of 1 / 65535, for i = 0 to 255: what softmax reads.
function quant.exp_table()
  return lookup(u16, 256, function(i) return math.floor(65535 * math.exp(-i / 16) + 0.5) end)
end

quant.softmax = template {
  name = "softmax", summary = "Y[i] = 127 exp((X[i] - max) / 2^(shift + 4)) / sum, rounded; exp is read from a table.",
  kernel = function(M, N, shift)
    local exp_of, to = quant.exp_table(), { shift }
    return tide.kernel {
      name = "softmax", X = i32[M][N], Y = i8[M][N],
      function(X, Y)
        for i in grid(M) do
          local peak, sum, e = X[i][0], u32(0), u16[N]()
          for p in reduction(N) do peak = max(peak, X[i][p]) end
          for j in grid(N) do e[j] = exp_of[min(tide.asr(peak - X[i][j], to[1]), 255)] end
          for k in reduction(N) do sum = sum + e[k] end
          for y in grid(N) do Y[i][y] = i8((e[y] * 127 + (sum >> 1)) // sum) end
        end
      end,
    }
  end,
  schedule = function(s)
    s:buffer_at("X", "i")
    pipeline(s, "p_init", "p", "j", "k", "y")
  end,
  M = rows, N = columns, shift = count "2^(shift + 4) stands for 1 in X",
}

local element = template.type("of the elements", i8)

-- GELU of an integer that stands for a sixteenth of it, as such an integer.
local function gelu(x)
  local v = x / 16
  return math.floor(8 * v * (1 + tide.tanh(0.7978845608028654 * (v + 0.044715 * v ^ 3))) + 0.5)
end

--- The table that gelu reads for elements of type T: of each x that T holds, from the least on.
function quant.gelu_table(T)
  local half = 1 << T.bits - 1
  return lookup(T, 2 * half, function(i) return math.min(gelu(i - half), half - 1) end)
end

quant.gelu = elementwise {
  name = "gelu", summary = "Y = 16 GELU(X / 16), rounded, read from a table.", inputs = 1, T = element,
  where = { "is_integer(T) and T.signed and T.bits <= 8" }, of = function(T)
    local gelu_of, half = quant.gelu_table(T), 1 << T.bits - 1
    return function(x) return gelu_of[x + half] end
  end,
}

quant.add = elementwise {
  name = "add", summary = "Y = A + B, saturated: the join of a residual connection.", inputs = 2, T = element,
  where = { narrow }, of = function(T)
    local out = saturating(T)
    return function(a, b) return out(a + b) end
  end,
}

-- What a token must not see has the score -2^30, which exp must take for nothing.
local masked = "shift <= 20"

-- Numbers in a table are not sizes with names, so that the places of a head in a row are affine in its number.
quant.attention = template {
  name = "attention",
  summary = "Y = softmax(Q K^T) V / 127 for each head, rounded; a row of X is D queries, D keys and D values.",
  kernel = function(L, D, heads, shift, causal)
    local g, softmax = { D = D, d = D // heads, heads = heads }, quant.softmax { M = L, N = L, shift = shift }
    return tide.kernel {
      name = "attention", X = i8[L][3 * g.D], Y = i8[L][g.D],
      function(X, Y)
        for h in grid(g.heads) do
          local score, weight = i32[L][L](), i8[L][L]()
          for i, j in grid(L, L) do
            local sum = i32(0)
            for k in reduction(g.d) do sum = i32(sum + X[i][g.d * h + k] * X[j][g.D + g.d * h + k]) end
            if causal and j > i then sum = -(1 << 30) end
            score[i][j] = sum
          end
          softmax(score, weight)
          for r in grid(L) do
            local total = i32[g.d](0)
            for v in grid(g.d) do
              for l in reduction(L) do total[v] = total[v] + weight[r][l] * X[l][2 * g.D + g.d * h + v] end
            end
            for y in grid(g.d) do Y[r][g.d * h + y] = i8((total[y] + 63) // 127) end
          end
        end
      end,
    }, softmax
  end,
  schedule = function(s, D, heads)
    banks(s, "X", 1, D // heads)
    s:reorder("l", "v")
    pipeline(s, "j", "v", "y")
  end,
  L = size "tokens", D = size "features", heads = size("heads", 1), shift = count "2^(shift + 4) stands for 1 in Q K^T",
  causal = template.flag("whether a token sees only those up to itself", false),
  where = { "D % heads == 0", masked },
}

-- The state: keys and values of L tokens, a token in each row, and how many calls there were, of which those beyond L
-- count as L to 2 L - 1: token `seen` is in row `seen`, or L rows before.
quant.cached_attention = template {
  name = "cached_attention",
  summary = "attention of the next token, a row of X, to itself and those of the calls before: the last L tokens.",
  kernel = function(L, D, heads, shift)
    local g, softmax = { D = D, d = D // heads, heads = heads, L = L }, quant.softmax { M = 1, N = L, shift = shift }
    local keys, values, seen = tide.state(i8[L][D], 0), tide.state(i8[L][D], 0), tide.state(i32[1], 0)
    return tide.kernel {
      name = "cached_attention", X = i8[1][3 * g.D], Y = i8[1][g.D],
      function(X, Y)
        local now = seen[0]
        local row = tide.select(now < g.L, now, now - g.L)
        for c in grid(g.D) do
          keys[row][c] = X[0][g.D + c]
          values[row][c] = X[0][2 * g.D + c]
        end
        for h in grid(g.heads) do
          local score, weight, total = i32[1][g.L](), i8[1][g.L](), i32[g.d](0)
          for j in grid(g.L) do
            local sum = i32(0)
            for k in reduction(g.d) do sum = i32(sum + X[0][g.d * h + k] * keys[j][g.d * h + k]) end
            if j > now then sum = -(1 << 30) end
            score[0][j] = sum
          end
          softmax(score, weight)
          for v in grid(g.d) do
            for l in reduction(g.L) do total[v] = total[v] + weight[0][l] * values[l][g.d * h + v] end
          end
          for y in grid(g.d) do Y[0][g.d * h + y] = i8((total[y] + 63) // 127) end
        end
        seen[0] = tide.select(now < 2 * g.L - 1, now + 1, g.L)
      end,
    }, softmax
  end,
  schedule = function(s, D, heads)
    for _, array in ipairs { "X", "keys" } do banks(s, array, 1, D // heads) end
    s:reorder("l", "v")
    pipeline(s, "c", "j", "v", "y")
  end,
  L = size "tokens that stay", D = size "features", heads = size("heads", 1),
  shift = count "2^(shift + 4) stands for 1 in Q K^T", where = { "D % heads == 0", masked },
}

return quant
