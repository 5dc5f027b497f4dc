-- 43_gpt2_block: a block of GPT-2 with weights of 4 bits, two to a byte, and activations of 8 (W4A8), in integers
-- alone: layers from templates, composed bottom-up with their schedules into tasks that run side by side (Allo,
-- PLDI 2024, section 8.3). It agrees with plain Lua bit by bit; so does the same block that takes a token at a time and
-- keeps the keys and values of those before, as a model does that writes text.
-- Run: tide examples/43_gpt2_block.lua [L D HEADS]     (default 3 8 2: tokens, features, heads)
-- [slow]
local tide = require "tide"
local quant = require "tide.quant"
local i4, i8, i16, i32, u16 = tide.int(4), tide.i8, tide.i16, tide.i32, tide.u16
local L, D, heads = tonumber(arg[1] or 3), tonumber(arg[2] or 8), tonumber(arg[3] or 2)
local H, SHIFT = 4 * D, 16

-- Random weights of K x N: as rows of numbers, and as the tensors that a layer reads.
local function weights(K, N, seed)
  local rows = tide.random(i4[K][N], seed):table()
  local scale = math.floor(65536 * 32 / (184 * math.sqrt(K))) -- products come out as large as what went in
  return { rows = rows, W = quant.pack(rows), b = tide.random(i32[N], seed + 1, { lo = -2000, hi = 2000 }),
    m = tide.random(u16[N], seed + 2, { lo = scale // 2, hi = scale }) }
end

local function norm(seed)
  return { g = tide.random(i16[D], seed, { lo = 24, hi = 40 }), b = tide.random(i8[D], seed + 1, { lo = -4, hi = 4 }) }
end

local n1, n2 = norm(1), norm(3)
local qkv, proj = weights(D, 3 * D, 10), weights(D, D, 20)
local up, down = weights(D, H, 30), weights(H, D, 40)
local score = math.floor(math.log(math.sqrt(D // heads), 2)) + 4 -- 16 x 16 x sqrt(d) stands for 1

-- The block for M tokens a call, around this attention: the kernel, and its schedule.
local function build(M, attention)
  local function linear(name, K, N) return quant.linear({ M = M, K = K, N = N, shift = SHIFT }, name) end
  local layer = {
    norm1 = quant.layernorm({ M = M, N = D }, "norm1"), qkv = linear("qkv", D, 3 * D), attention = attention,
    proj = linear("proj", D, D), join1 = quant.add({ shape = { M, D } }, "join1"),
    norm2 = quant.layernorm({ M = M, N = D }, "norm2"), up = linear("up", D, H),
    gelu = quant.gelu { shape = { M, H } }, down = linear("down", H, D),
    join2 = quant.add({ shape = { M, D } }, "join2"),
  }
  local block = tide.kernel {
    X = i8[M][D], Y = i8[M][D],
    function(X, Y)
      local a, q, c, o, r = i8[M][D](), i8[M][3 * D](), i8[M][D](), i8[M][D](), i8[M][D]()
      local e, u, v, w = i8[M][D](), i8[M][H](), i8[M][H](), i8[M][D]()
      layer.norm1(X, n1.g, n1.b, a)
      layer.qkv(a, qkv.W, qkv.b, qkv.m, q)
      layer.attention(q, c)
      layer.proj(c, proj.W, proj.b, proj.m, o)
      layer.join1(X, o, r)
      layer.norm2(r, n2.g, n2.b, e)
      layer.up(e, up.W, up.b, up.m, u)
      layer.gelu(u, v)
      layer.down(v, down.W, down.b, down.m, w)
      layer.join2(r, w, Y)
    end,
  }
  local s = tide.schedule(block)
  for _, name in ipairs { "norm1", "qkv", "attention", "proj", "join1", "norm2", "up", "gelu", "down", "join2" } do
    s:compose(quant.schedule(layer[name]))
  end
  s:dataflow() -- a task for each layer; activations that come in the order in which they are read go one by one
  s:relay("a", "qkv"):relay("o", "join1"):relay("e", "up"):relay("u", "gelu"):relay("v", "down"):relay("w", "join2")
  return block, s
end

local block, s = build(L, quant.attention { L = L, D = D, heads = heads, shift = score, causal = true })
print(s:graph())
print(select(2, s:verify()))

-- The block in plain Lua: rows are lists of integers, weights are not packed.

local function saturate(v) return math.max(-128, math.min(v, 127)) end

-- f of each row, or of the elements of two of them.
local function map(X, f)
  local Y = {}
  for i, row in ipairs(X) do Y[i] = f(row, i) end
  return Y
end
local function add(X, Y)
  return map(X, function(row, i) return map(row, function(x, j) return saturate(x + Y[i][j]) end) end)
end

local function layernorm(X, p)
  local g, b = p.g:table(), p.b:table()
  return map(X, function(row)
    local sum, squares = 0, 0
    for _, x in ipairs(row) do sum = sum + x end
    local mean = sum // D
    for _, x in ipairs(row) do squares = squares + (x - mean) ^ 2 end
    local deviation = math.max(math.floor(math.sqrt(squares // D)), 1)
    return map(row, function(x, j) return saturate((x - mean) * g[j] // deviation + b[j]) end)
  end)
end

local function multiply(X, p)
  local b, m = p.b:table(), p.m:table()
  return map(X, function(row)
    return map(b, function(sum, j)
      for k, x in ipairs(row) do sum = sum + x * p.rows[k][j] end
      return saturate((sum * m[j] + (1 << SHIFT - 1)) // (1 << SHIFT))
    end)
  end)
end

-- What token i takes from those up to itself in the head whose features begin after `from`: sums by feature.
local function attend(X, i, from)
  local d, e, peak, total, sums = D // heads, {}, math.mininteger, 0, {}
  for j = 1, i do
    e[j] = 0
    for k = from + 1, from + d do e[j] = e[j] + X[i][k] * X[j][D + k] end
    peak = math.max(peak, e[j])
  end
  for j = 1, i do
    e[j] = math.floor(65535 * math.exp(-math.min(peak - e[j] >> score, 255) / 16) + 0.5)
    total = total + e[j]
  end
  for c = 1, d do
    sums[c] = 0
    for j = 1, i do sums[c] = sums[c] + (e[j] * 127 + total // 2) // total * X[j][2 * D + from + c] end
  end
  return sums
end

local function attention(X)
  return map(X, function(_, i)
    local row = {}
    for from = 0, D - 1, D // heads do
      for _, sum in ipairs(attend(X, i, from)) do row[#row + 1] = (sum + 63) // 127 end
    end
    return row
  end)
end

local function gelu(X)
  return map(X, function(row)
    return map(row, function(x)
      local v = x / 16
      return saturate(math.floor(8 * v * (1 + tide.tanh(0.7978845608028654 * (v + 0.044715 * v ^ 3))) + 0.5))
    end)
  end)
end

local X, Y = tide.random(i8[L][D], 5), i8[L][D]()
local x = X:table()
local r = add(x, multiply(attention(multiply(layernorm(x, n1), qkv)), proj))
local want = tide.tensor(i8[L][D], add(r, multiply(gelu(multiply(layernorm(r, n2), up)), down)))
s(X, Y)
assert(Y:equal(want))
print("the block and plain Lua agree bit by bit")

local slow, fast = tide.schedule(block):estimate().cycles, s:estimate().cycles
print(("%d cycles as written, %d as scheduled"):format(slow, fast))
assert(fast < slow)

local hls = s:build { target = "hls" }
hls:write "build/gpt2_block"
Y:set(0)
hls(X, Y)
assert(Y:equal(want))
print("so does its HLS C++")

local _, step = build(1, quant.cached_attention { L = L, D = D, heads = heads, shift = score })
print(select(2, step:verify()))
local step_hls = step:build { target = "hls" }
for i = 0, L - 1 do
  local token, y, z = X:slice({ i, i + 1 }, {}), i8[1][D](), i8[1][D]()
  step(token, y)
  step_hls(token, z)
  assert(y:equal(want:slice({ i, i + 1 }, {})) and z:equal(y))
end
print(("token by token too, %d cycles each"):format(step:estimate().cycles))

--> block: 10 nodes...
--> ...
--> proved: strict...
--> the block and plain Lua agree bit by bit
--> ... cycles as written, ... as scheduled
--> so does its HLS C++
--> proved: strict...
--> token by token too, ... cycles each
