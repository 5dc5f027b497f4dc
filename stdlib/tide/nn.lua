-- Layers of neural networks as templates, each with its schedule. Rows of a matrix are tokens, columns features; images
-- are height x width x channels, which is the order in which layers hand them on as streams.
--   local nn = require "tide.nn"
--   local layer = nn.linear {M = 8, K = 16, N = 4}     -- a kernel
--   local s = nn.schedule(layer)                       -- optimised
local tide = require "tide"
local elementwise = require "tide.elementwise"
local steps = require "tide.steps"
local template = require "tide.template"

local grid, reduction, max, exp, tanh, sqrt = tide.grid, tide.reduction, tide.max, tide.exp, tide.tanh, tide.sqrt
local f32 = tide.f32
local size, scalar = template.size, template.type
local pipeline, banks = steps.pipeline, steps.banks

---@class tide.nn
local nn = template.library "tide.nn"

-- What many templates have in common.
local rows, columns = size "rows", size "columns"
local real, only_real = scalar("of the elements", f32), { "is_float(T)" }
local unroll = size("elements of a row computed side by side", 1)

-- Products of matrices: C = C + A B and Y = X W + b.

local function gemm(M, N, K, T, acc)
  return tide.kernel {
    name = "gemm", A = T[M][K], B = T[K][N], C = acc[M][N],
    function(A, B, C)
      for i, j in grid(M, N) do
        for k in reduction(K) do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
      end
    end,
  }
end

local function linear(M, N, K, T, acc)
  return tide.kernel {
    name = "linear", X = T[M][K], W = T[K][N], b = acc[N], Y = acc[M][N],
    function(X, W, b, Y)
      for i in grid(M) do
        for c in grid(N) do Y[i][c] = b[c] end
        for j in grid(N) do
          for k in reduction(K) do Y[i][j] = Y[i][j] + X[i][k] * W[k][j] end
        end
      end
    end,
  }
end

-- A row of the result at a time: its sums, in a buffer that `before` fills and `after` empties, do not wait for each
-- other. Each row of X, in a buffer too, is read once, so that it may come as a stream.
local function by_rows(s, X, weights, result, factor, before, after)
  s:reorder("k", "j"):buffer_at(X, "i")
  local _, row = s:buffer_at(result, "i")
  pipeline(s, "k_init", before, "j", after)
  steps.unroll(s, "j", factor)
  banks(s, weights, 1, factor)
  banks(s, row, 0, factor)
end

nn.gemm = template {
  name = "gemm", summary = "C = C + A B, a row of C at a time.", kernel = gemm,
  schedule = function(s, unroll) by_rows(s, "A", "B", "C", unroll, "j_init", "j_back") end,
  M = rows, N = columns, K = size "terms of a sum", T = template.factors, acc = template.sums, unroll = unroll,
  where = { template.numbers, template.sums_hold, "N % unroll == 0" },
}

nn.linear = template {
  name = "linear", summary = "Y = X W + b, a row of Y at a time.", kernel = linear,
  schedule = function(s, unroll) by_rows(s, "X", "W", "Y", unroll, "c", "c_back") end,
  M = rows, N = columns, K = size "terms of a sum", T = template.factors, acc = template.sums, unroll = unroll,
  where = { template.numbers, template.sums_hold, "N % unroll == 0" },
}

local function gemv(M, K, T, acc)
  return tide.kernel {
    name = "gemv", A = T[M][K], x = T[K], y = acc[M],
    function(A, x, y)
      for j in grid(M) do y[j] = 0 end
      for i in grid(M) do
        for k in reduction(K) do y[i] = y[i] + A[i][k] * x[k] end
      end
    end,
  }
end

nn.gemv = template {
  name = "gemv", summary = "y = A x, a column of A at a time.", kernel = gemv,
  schedule = function(s, unroll)
    s:reorder("k", "i")
    pipeline(s, "j", "i")
    steps.unroll(s, "i", unroll)
    banks(s, "A", 0, unroll)
    banks(s, "y", 0, unroll)
  end,
  M = rows, K = size "terms of a sum", T = template.factors, acc = template.sums,
  unroll = size("rows computed side by side", 1),
  where = { template.numbers, template.sums_hold, "M % unroll == 0" },
}

-- Functions of rows.

local function softmax(M, N, T)
  return tide.kernel {
    name = "softmax", X = T[M][N], Y = T[M][N],
    function(X, Y)
      for i in grid(M) do
        local peak, sum, e = X[i][0], T(0), T[N]()
        for p in reduction(N) do peak = max(peak, X[i][p]) end
        for j in grid(N) do e[j] = exp(X[i][j] - peak) end
        for k in reduction(N) do sum = sum + e[k] end
        for y in grid(N) do Y[i][y] = e[y] / sum end
      end
    end,
  }
end

nn.softmax = template {
  name = "softmax", summary = "Y[i] = exp(X[i] - max) / sum, each row by itself.", kernel = softmax,
  schedule = function(s)
    s:buffer_at("X", "i")
    pipeline(s, "p_init", "p", "j", "k", "y")
  end,
  M = rows, N = columns, T = real, where = only_real,
}

local function layernorm(M, N, T)
  return tide.kernel {
    name = "layernorm", X = T[M][N], g = T[N], b = T[N], Y = T[M][N],
    function(X, g, b, Y)
      for i in grid(M) do
        local mean, variance = T(0), T(0)
        for j in reduction(N) do mean = mean + X[i][j] end
        mean = mean / N
        for k in reduction(N) do variance = variance + (X[i][k] - mean) * (X[i][k] - mean) end
        local scale = 1 / sqrt(variance / N + 1e-5)
        for y in grid(N) do Y[i][y] = (X[i][y] - mean) * scale * g[y] + b[y] end
      end
    end,
  }
end

nn.layernorm = template {
  name = "layernorm", summary = "Y[i] = (X[i] - mean) / sqrt(variance + 1e-5) g + b, each row by itself.",
  kernel = layernorm,
  schedule = function(s)
    s:buffer_at("X", "i")
    pipeline(s, "j_init", "j", "k", "y")
  end,
  M = rows, N = columns, T = real, where = only_real,
}
-- Attention: for each head, Y = softmax(Q K^T / sqrt(d)) V, where d features belong to a head. Numbers in a table are
-- not sizes with names: the places of a head in a row are affine in its number.
local function attention(L, D, heads, causal, T)
  local g = { D = D, d = D // heads, heads = heads, scale = 1 / math.sqrt(D // heads) }
  local softmax_rows = nn.softmax { M = L, N = L, T = T }
  return tide.kernel {
    name = "attention", Q = T[L][g.D], K = T[L][g.D], V = T[L][g.D], Y = T[L][g.D],
    function(Q, K, V, Y)
      for h in grid(g.heads) do
        local score, weight = T[L][L](), T[L][L]()
        for i, j in grid(L, L) do
          local sum = T(0)
          for k in reduction(g.d) do sum = sum + Q[i][g.d * h + k] * K[j][g.d * h + k] end
          sum = sum * g.scale
          if causal and j > i then sum = T(-math.huge) end
          score[i][j] = sum
        end
        softmax_rows(score, weight)
        for r in grid(L) do
          local total = T[g.d](0)
          for v in grid(g.d) do
            for l in reduction(L) do total[v] = total[v] + weight[r][l] * V[l][g.d * h + v] end
          end
          for y in grid(g.d) do Y[r][g.d * h + y] = total[y] end
        end
      end
    end,
  }, softmax_rows
end

nn.attention = template {
  name = "attention", summary = "Y = softmax(Q K^T / sqrt(D / heads)) V for each head.", kernel = attention,
  schedule = function(s, D, heads)
    banks(s, "Q", 1, D // heads)
    banks(s, "K", 1, D // heads)
    s:reorder("l", "v")
    pipeline(s, "j", "v", "y")
  end,
  L = size "tokens", D = size "features", heads = size("heads", 1),
  causal = template.flag("whether a token sees only those up to itself", false), T = real,
  where = { "is_float(T)", "D % heads == 0" },
}

-- Functions of elements.

local element = scalar("of the elements", f32)

nn.relu = elementwise {
  name = "relu", summary = "Y = max(X, 0).", inputs = 1, T = element, where = { "is_number(T)" },
  of = function() return function(x) return max(x, 0) end end,
}

nn.gelu = elementwise {
  name = "gelu", summary = "Y = X (1 + tanh(sqrt(2 / pi) (X + 0.044715 X^3))) / 2.", inputs = 1, T = element,
  where = only_real, of = function()
    return function(x) return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))) end
  end,
}

nn.add = elementwise {
  name = "add", summary = "Y = A + B, which wraps: the join of a residual connection.", inputs = 2, T = element,
  where = { "is_number(T)" },
  of = function() return function(a, b) return a + b end end,
}

-- Images: height x width x channels. Windows of R x S places lie `stride` apart and cover the image.

local windows_fit = { "R <= H and S <= W", "(H - R) % stride == 0 and (W - S) % stride == 0" }
local height, width, channels = size "height of X", size "width of X", size "channels of X"
local R, S = size "height of a window", size "width of a window"
local stride = size("places from window to window", 1)

-- How windows lie in an image, as numbers: fields of a table are not sizes with names, so that no guard stays behind
-- where the last window ends with the image.
local function geometry(H, W, R, S, stride)
  return { H = H, W = W, R = R, S = S, P = (H - R) // stride + 1, Q = (W - S) // stride + 1, by = stride }
end

local function conv2d(H, W, C, R, S, O, stride, T, acc)
  local g = geometry(H, W, R, S, stride)
  return tide.kernel {
    name = "conv2d", X = T[g.H][g.W][C], F = T[g.R][g.S][C][O], Y = acc[g.P][g.Q][O],
    function(X, F, Y)
      for p, q in grid(g.P, g.Q) do
        for o in grid(O) do
          local sum = acc(0)
          for r, v, c in reduction(g.R, g.S, C) do
            sum = acc(sum + X[g.by * p + r][g.by * q + v][c] * F[r][v][c][o])
          end
          Y[p][q][o] = sum
        end
      end
    end,
  }
end

-- Reads each element of the image once, row after row, so that it may come as a stream. Where windows overlap, the rows
-- of a window wait in a line buffer, its places in a window buffer of registers, which move on by one channel per
-- cycle; where they do not, what one reads is loaded before it. Returns the array that windows are read from, and its
-- dimension of channels, if there are several: a window of one row, or of one column, has one dimension less.
local function by_windows(s, H, W, C, R, S, stride)
  local X, places, _ = "X", { 0, 1 }, nil
  if stride < R and R < H then
    _, X = s:reuse_at(X, "p")
  elseif R > 1 then
    _, X = s:buffer_at(X, "p")
  end
  if R > 1 then s:partition(X, 0) end
  if stride < S and S < W then
    _, X = s:reuse_at(X, "q")
    if R == 1 then places = { 0 } end
    s:partition(X, places)
  elseif R > 1 then
    banks(s, X, 1, S > 1 and max(stride, S) or 1)
  else
    _, X = s:buffer_at(X, "q")
    places = S > 1 and { 0 } or {}
    if S > 1 then s:partition(X, places) end
  end
  for _, loop in ipairs(s:loops()) do
    if loop:find(C > 1 and "^c_" or "^[qv]_") then s:pipeline(loop) end
  end
  return X, C > 1 and #places or nil
end

nn.conv2d = template {
  name = "conv2d", summary = "Convolution: all products of a window side by side, a channel of the result per cycle.",
  kernel = conv2d,
  schedule = function(s, H, W, C, R, S, stride)
    local window, channel = by_windows(s, H, W, C, R, S, stride)
    if channel then s:partition(window, channel) end
    s:partition("F", { 0, 1, 2 }):pipeline "o"
  end,
  H = height, W = width, C = channels, R = R, S = S, O = size "channels of Y", stride = stride,
  T = template.factors, acc = template.sums,
  where = { template.numbers, template.sums_hold, table.unpack(windows_fit) },
}
-- The template of a fold over each window and channel: Y = last(f over x, from the first element on).
local function pool(name, summary, kernel, where)
  return template {
    name = name, summary = summary, kernel = kernel,
    schedule = function(s, H, W, C, R, S, stride)
      by_windows(s, H, W, C, R, S, stride)
      s:pipeline "c"
    end,
    H = height, W = width, C = channels, R = R, S = S, stride = size("places from window to window", 2),
    T = element, where = { windows_fit[1], windows_fit[2], where },
  }
end

nn.maxpool2d = pool("maxpool2d", "The greatest of each window.", function(H, W, C, R, S, stride, T)
  local g = geometry(H, W, R, S, stride)
  return tide.kernel {
    name = "maxpool2d", X = T[g.H][g.W][C], Y = T[g.P][g.Q][C],
    function(X, Y)
      for p, q, c in grid(g.P, g.Q, C) do
        local peak = X[g.by * p][g.by * q][c]
        for r, v in reduction(g.R, g.S) do peak = max(peak, X[g.by * p + r][g.by * q + v][c]) end
        Y[p][q][c] = peak
      end
    end,
  }
end, "is_number(T)")

nn.avgpool2d = pool("avgpool2d", "The mean of each window.", function(H, W, C, R, S, stride, T)
  local g = geometry(H, W, R, S, stride)
  return tide.kernel {
    name = "avgpool2d", X = T[g.H][g.W][C], Y = T[g.P][g.Q][C],
    function(X, Y)
      for p, q, c in grid(g.P, g.Q, C) do
        local sum = T(0)
        for r, v in reduction(g.R, g.S) do sum = sum + X[g.by * p + r][g.by * q + v][c] end
        Y[p][q][c] = sum / (g.R * g.S)
      end
    end,
  }
end, "is_float(T)")

nn.batchnorm2d = template {
  name = "batchnorm2d", summary = "Y = (X - mean) / sqrt(variance + 1e-5) g + b, by the numbers of each channel.",
  kernel = function(H, W, C, T)
    return tide.kernel {
      name = "batchnorm2d", X = T[H][W][C], mean = T[C], variance = T[C], g = T[C], b = T[C], Y = T[H][W][C],
      function(X, mean, variance, g, b, Y)
        local scale = T[C]()
        for k in grid(C) do scale[k] = g[k] / sqrt(variance[k] + 1e-5) end
        for p, q, c in grid(H, W, C) do Y[p][q][c] = (X[p][q][c] - mean[c]) * scale[c] + b[c] end
      end,
    }
  end,
  schedule = function(s) pipeline(s, "k", "c") end,
  H = height, W = width, C = channels, T = real, where = only_real,
}

nn.pad2d = template {
  name = "pad2d", summary = "The image in a frame of zeros: `before` rows and columns of them, and `after`.",
  kernel = function(H, W, C, before, after, T)
    return tide.kernel {
      name = "pad2d", X = T[H][W][C], Y = T[before + H + after][before + W + after][C],
      function(X, Y)
        for p, q, c in grid(before + H + after, before + W + after, C) do
          local x = T(0)
          if p >= before and p < before + H and q >= before and q < before + W then x = X[p - before][q - before][c] end
          Y[p][q][c] = x
        end
      end,
    }
  end,
  schedule = function(s) s:pipeline "c" end,
  H = height, W = width, C = channels, before = template.count("zeros above and to the left", 1),
  after = template.count("zeros below and to the right", 1), T = element, where = { "T ~= bool" },
}

return nn
