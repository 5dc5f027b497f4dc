-- layer_cases.lua - each template of stdlib at three shapes and two types, beside what it computes in
-- plain Lua.
--   for _, c in ipairs(require "layer_cases") do .. end
-- c: {name = "nn.gemm", template =, shapes = {{M = 4, ..}, ..}, types = {{T = i8}, ..}, result = "C",
-- want = function(p, x) .. end}: the nested list that tensor c.result must hold, from the parameters
-- and the nested lists of arguments by name; c.exact: whether floats must agree to the last bit.
local tide = require "tide"
local nn, systolic, quant = require "tide.nn", require "tide.systolic", require "tide.quant"
local i4, i8, i16, i32 = tide.int(4), tide.i8, tide.i16, tide.i32
local f16, f32, f64 = tide.f16, tide.f32, tide.f64

local cases = {}

-- The list of f(1) to f(n).
local function list(n, f)
  local l = {}
  for i = 1, n do l[i] = f(i) end
  return l
end

-- A list of lists.
local function matrix(m, n, f)
  return list(m, function(i) return list(n, function(j) return f(i, j) end) end)
end

-- The sum of f(1) to f(n).
local function sum(n, f)
  local s = 0
  for i = 1, n do s = s + f(i) end
  return s
end

local function add(name, shapes, types, result, want, exact)
  local library, key = name:match "(%w+)%.([%w_]+)"
  local of = {nn = nn, systolic = systolic, quant = quant}
  cases[#cases + 1] = {name = name, template = of[library][key], shapes = shapes, types = types,
    result = result, want = want, exact = exact}
end

-- f at each index of a shape of one to three extents, elements coming from lists of that shape.
local function map(shape, f, ...)
  local x = {...}
  if #shape == 0 then return f(...) end
  return list(shape[1], function(i)
    return map({table.unpack(shape, 2)}, f, x[1][i], x[2] and x[2][i])
  end)
end

-- An integer cut to what fits type T.
local function saturate(T, v)
  local half = 1 << T.bits - 1
  return math.max(-half, math.min(v, half - 1))
end

-- Places of the window of an image at p, q, in channel c, as a list.
local function window(z, X, p, q, c)
  local by, l = z.stride or 2, {}
  for r = 1, z.R do
    for v = 1, z.S do l[#l + 1] = X[by * (p - 1) + r][by * (q - 1) + v][c] end
  end
  return l
end

-- A result of f(p, q, c) for each window of an image, of `channels` channels.
local function windows(z, channels, f)
  local by = z.stride or 2
  return list((z.H - z.R) // by + 1, function(p)
    return matrix((z.W - z.S) // by + 1, channels, function(q, c) return f(p, q, c) end)
  end)
end

local products, reals = {{T = i8}, {T = f32}}, {{T = f32}, {T = f64}}

local function product(z, A, B, i, j) return sum(z.K, function(k) return A[i][k] * B[k][j] end) end

local gemms = {{M = 4, N = 6, K = 5}, {M = 1, N = 2, K = 1, unroll = 2}, {M = 3, N = 8, K = 7, unroll = 4}}
add("nn.gemm", gemms, products, "C", function(z, x)
  return matrix(z.M, z.N, function(i, j) return x.C[i][j] + product(z, x.A, x.B, i, j) end)
end)
add("nn.linear", gemms, products, "Y", function(z, x)
  return matrix(z.M, z.N, function(i, j) return x.b[j] + product(z, x.X, x.W, i, j) end)
end)
add("nn.gemv", {{M = 4, K = 5}, {M = 1, K = 1}, {M = 6, K = 7, unroll = 3}}, products, "y",
  function(z, x)
    return list(z.M, function(i) return sum(z.K, function(k) return x.A[i][k] * x.x[k] end) end)
  end)

-- exp(x - max) / sum of a list of numbers.
local function softmax(x)
  local peak = math.max(table.unpack(x))
  local total = sum(#x, function(i) return math.exp(x[i] - peak) end)
  return list(#x, function(i) return math.exp(x[i] - peak) / total end)
end

local row_shapes = {{M = 4, N = 6}, {M = 1, N = 1}, {M = 3, N = 9}}
add("nn.softmax", row_shapes, reals, "Y", function(z, x)
  return list(z.M, function(i) return softmax(x.X[i]) end)
end)
add("nn.layernorm", row_shapes, reals, "Y", function(z, x)
  return list(z.M, function(i)
    local mean = sum(z.N, function(j) return x.X[i][j] end) / z.N
    local variance = sum(z.N, function(j) return (x.X[i][j] - mean) ^ 2 end) / z.N
    return list(z.N, function(j)
      return (x.X[i][j] - mean) / math.sqrt(variance + 1e-5) * x.g[j] + x.b[j]
    end)
  end)
end)
add("nn.attention", {{L = 4, D = 6, heads = 2}, {L = 1, D = 1}, {L = 5, D = 4, heads = 2, causal = true}},
  {{T = f32}, {T = f16}}, "Y", function(z, x)
    local heads = z.heads or 1
    local d = z.D // heads
    local function weights(i, from)
      return softmax(list(z.causal and i or z.L, function(j)
        return sum(d, function(k) return x.Q[i][from + k] * x.K[j][from + k] end) / math.sqrt(d)
      end))
    end
    return matrix(z.L, z.D, function(i, c)
      local w = weights(i, (c - 1) // d * d)
      return sum(#w, function(j) return w[j] * x.V[j][c] end)
    end)
  end)

local shapes = {{shape = {7}}, {shape = {3, 4}}, {shape = {2, 1, 5}}}
add("nn.relu", shapes, {{T = f32}, {T = i8}}, "Y", function(z, x)
  return map(z.shape, function(v) return math.max(v, 0) end, x.X)
end)
add("nn.gelu", shapes, reals, "Y", function(z, x)
  return map(z.shape, function(v)
    local e = math.exp(2 * math.sqrt(2 / math.pi) * (v + 0.044715 * v ^ 3))
    return 0.5 * v * (1 + (e - 1) / (e + 1))
  end, x.X)
end)
add("nn.add", shapes, {{T = f32}, {T = i16}}, "Y", function(z, x)
  return map(z.shape, function(a, b)
    return math.type(a) == "integer" and (a + b + 32768) % 65536 - 32768 or a + b
  end, x.A, x.B)
end)

add("nn.conv2d", {{H = 6, W = 7, C = 2, R = 3, S = 3, O = 4, stride = 1},
  {H = 5, W = 7, C = 3, R = 3, S = 3, O = 2, stride = 2}, {H = 3, W = 5, C = 2, R = 1, S = 1, O = 3, stride = 2},
  {H = 5, W = 5, C = 2, R = 1, S = 3, O = 2, stride = 1}, {H = 5, W = 5, C = 2, R = 3, S = 1, O = 2, stride = 1}},
  products, "Y", function(z, x)
    return windows(z, z.O, function(p, q, o)
      return sum(z.C, function(c)
        local in_window = window(z, x.X, p, q, c)
        return sum(#in_window, function(n)
          return in_window[n] * x.F[(n - 1) // z.S + 1][(n - 1) % z.S + 1][c][o]
        end)
      end)
    end)
  end)
local pools = {{H = 6, W = 4, C = 2, R = 2, S = 2}, {H = 5, W = 7, C = 3, R = 3, S = 3, stride = 2},
  {H = 3, W = 4, C = 1, R = 3, S = 1, stride = 1}, {H = 2, W = 5, C = 2, R = 1, S = 2, stride = 1}}
add("nn.maxpool2d", pools, {{T = f32}, {T = i8}}, "Y", function(z, x)
  return windows(z, z.C, function(p, q, c) return math.max(table.unpack(window(z, x.X, p, q, c))) end)
end)
add("nn.avgpool2d", pools, reals, "Y", function(z, x)
  return windows(z, z.C, function(p, q, c)
    local w = window(z, x.X, p, q, c)
    return sum(#w, function(n) return w[n] end) / #w
  end)
end)
add("nn.batchnorm2d", {{H = 2, W = 3, C = 2}, {H = 1, W = 1, C = 1}, {H = 3, W = 2, C = 5}}, reals, "Y",
  function(z, x)
    return list(z.H, function(p)
      return matrix(z.W, z.C, function(q, c)
        return (x.X[p][q][c] - x.mean[c]) / math.sqrt(x.variance[c] + 1e-5) * x.g[c] + x.b[c]
      end)
    end)
  end)
add("nn.pad2d", {{H = 2, W = 3, C = 2}, {H = 3, W = 1, C = 1, before = 2, after = 0},
  {H = 1, W = 1, C = 3, before = 0, after = 2}}, {{T = f32}, {T = i8}}, "Y", function(z, x)
    local before, after = z.before or 1, z.after or 1
    return list(before + z.H + after, function(p)
      return matrix(before + z.W + after, z.C, function(q, c)
        local line = x.X[p - before]
        return line and line[q - before] and line[q - before][c] or 0
      end)
    end)
  end)

local function accumulated(z, x)
  return matrix(z.M, z.N, function(i, j) return x.C[i][j] + product(z, x.A, x.B, i, j) end)
end
add("systolic.array", {{M = 3, N = 4, K = 5}, {M = 1, N = 1, K = 1}, {M = 4, N = 2, K = 7}}, products, "C",
  accumulated)
add("systolic.gemm", {{M = 8, N = 4, K = 5}, {M = 6, N = 4, K = 3, pm = 3, pn = 2},
  {M = 2, N = 3, K = 1, pm = 1, pn = 3}}, products, "C", function(z, x)
    return matrix(z.M, z.N, function(i, j) return product(z, x.A, x.B, i, j) end)
  end)
add("systolic.gemv", {{M = 4, K = 5}, {M = 1, K = 1}, {M = 3, K = 8}}, products, "y", function(z, x)
  return list(z.M, function(i) return x.y[i] + sum(z.K, function(k) return x.A[i][k] * x.x[k] end) end)
end)

-- v / 2^n rounded to the nearest integer, halves up.
local function scaled(v, n) return math.floor(v / (1 << n) + 0.5) end

add("quant.linear", {{M = 3, K = 5, N = 4, shift = 20}, {M = 1, K = 1, N = 2, shift = 0},
  {M = 2, K = 9, N = 8, shift = 18, unroll = 2}}, {{T = i8}, {T = i16}}, "Y", function(z, x)
    local function weight(k, j)
      local v = x.W[k][(j + 1) // 2] >> (j % 2 == 1 and 0 or 4) & 15
      return v < 8 and v or v - 16
    end
    return matrix(z.M, z.N, function(i, j)
      local s = x.b[j] + sum(z.K, function(k) return x.X[i][k] * weight(k, j) end)
      return saturate(z.T, scaled(s * x.m[j], z.shift))
    end)
  end)
add("quant.layernorm", {{M = 3, N = 6}, {M = 1, N = 1}, {M = 2, N = 16}}, {{T = i8}, {T = i16}}, "Y",
  function(z, x)
    return list(z.M, function(i)
      local mean = sum(z.N, function(j) return x.X[i][j] end) // z.N
      local variance = sum(z.N, function(j) return (x.X[i][j] - mean) ^ 2 end) // z.N
      local root = math.max(math.floor(math.sqrt(variance)), 1)
      return list(z.N, function(j)
        return saturate(i8, (x.X[i][j] - mean) * x.g[j] // root + x.b[j])
      end)
    end)
  end)

-- Weights, of which 127 are a whole, of a list of integers of which 2^(shift + 4) are 1.
local function integer_softmax(x, shift)
  local peak, exp_of = math.max(table.unpack(x)), quant.exp_table()
  local e = list(#x, function(i) return exp_of[math.min(peak - x[i] >> shift, 255)] end)
  local total = sum(#x, function(i) return e[i] end)
  return list(#x, function(i) return (e[i] * 127 + total // 2) // total end)
end

add("quant.softmax", {{M = 3, N = 4, shift = 2}, {M = 1, N = 1, shift = 0}, {M = 2, N = 9, shift = 5}}, {{}},
  "Y", function(z, x)
    return list(z.M, function(i) return integer_softmax(x.X[i], z.shift) end)
  end)
add("quant.gelu", shapes, {{T = i8}, {T = i4}}, "Y", function(z, x)
  return map(z.shape, function(v)
    local e = math.exp(2 * math.sqrt(2 / math.pi) * (v / 16 + 0.044715 * (v / 16) ^ 3))
    return saturate(z.T, math.floor(v / 2 * (1 + (e - 1) / (e + 1)) + 0.5))
  end, x.X)
end)
add("quant.add", shapes, {{T = i8}, {T = i16}}, "Y", function(z, x)
  return map(z.shape, function(a, b) return saturate(z.T, a + b) end, x.A, x.B)
end)
-- What a token, whose row holds its query, key and value, takes from those of the rows that it sees.
function cases.attend(z, row, seen)
  local heads = z.heads or 1
  local d = z.D // heads
  return list(z.D, function(c)
    local from = (c - 1) // d * d
    local w = integer_softmax(list(#seen, function(j)
      return sum(d, function(k) return row[from + k] * seen[j][z.D + from + k] end)
    end), z.shift)
    return (sum(#w, function(j) return w[j] * seen[j][2 * z.D + c] end) + 63) // 127
  end)
end

add("quant.attention", {{L = 4, D = 6, heads = 2, shift = 6}, {L = 1, D = 1, shift = 0},
  {L = 5, D = 4, heads = 2, shift = 8, causal = true}}, {{}}, "Y", function(z, x)
    return list(z.L, function(i)
      return cases.attend(z, x.X[i], {table.unpack(x.X, 1, z.causal and i or z.L)})
    end)
  end)
-- its first token; layers.lua goes on
add("quant.cached_attention", {{L = 3, D = 6, heads = 2, shift = 6}, {L = 1, D = 1, shift = 0},
  {L = 4, D = 4, shift = 9}}, {{}}, "Y", function(z, x) return {cases.attend(z, x.X[1], x.X)} end)

-- Random arguments of a kernel, small where its sums are integers.
function cases.arguments(kernel, seed)
  local args = {}
  for i, p in ipairs(kernel.params) do
    local range = p.type.elem == i32 and {lo = -1000, hi = 1000} or p.name == "variance" and {lo = 0, hi = 1} or nil
    args[i] = tide.random(p.type, seed + i, range)
  end
  return args
end

-- The parameters of a case: a shape with types.
function cases.join(shape, types)
  local z = {}
  for k, v in pairs(shape) do z[k] = v end
  for k, v in pairs(types) do z[k] = v end
  return z
end

return cases
