-- 40_ffn: a two-layer feed-forward network, bottom-up from templates: each layer comes with its schedule, the network
-- joins them by streams of elements (Allo, PLDI 2024, Fig. 4).
-- Run: tide examples/40_ffn.lua [M D H]     (default 4 6 8: rows, features, hidden units)
local tide = require "tide"
local nn = require "tide.nn"
local f32 = tide.f32
local M, D, H = tonumber(arg[1] or 4), tonumber(arg[2] or 6), tonumber(arg[3] or 8)

local up = nn.linear({ M = M, K = D, N = H, T = f32 }, "up")
local act = nn.gelu({ shape = { M, H }, T = f32 }, "act")
local down = nn.linear({ M = M, K = H, N = D, T = f32 }, "down")

local ffn = tide.kernel {
  X = f32[M][D], W1 = f32[D][H], b1 = f32[H], W2 = f32[H][D], b2 = f32[D], Y = f32[M][D],
  function(X, W1, b1, W2, b2, Y)
    local h, a = f32[M][H](), f32[M][H]()
    up(X, W1, b1, h)
    act(h, a)
    down(a, W2, b2, Y)
  end,
}

local s = tide.schedule(ffn)
for _, layer in ipairs { up, act, down } do s:compose(nn.schedule(layer)) end
s:dataflow():relay("h", "act"):relay("a", "down")
print(s:graph())
print(select(2, s:verify()))

-- The same in plain Lua, on nested lists.
local function linear(X, W, b)
  local Y = {}
  for i, row in ipairs(X) do
    Y[i] = {}
    for j, sum in ipairs(b) do
      for k, x in ipairs(row) do sum = sum + x * W[k][j] end
      Y[i][j] = sum
    end
  end
  return Y
end

local function gelu(X)
  for _, row in ipairs(X) do
    for j, x in ipairs(row) do row[j] = x / 2 * (1 + tide.tanh(0.7978845608 * (x + 0.044715 * x ^ 3))) end
  end
  return X
end

local x = {}
for i, p in ipairs(ffn.params) do x[i] = tide.random(p.type, i) end
local X, W1, b1, W2, b2 = x[1]:table(), x[2]:table(), x[3]:table(), x[4]:table(), x[5]:table()
local want = tide.tensor(f32[M][D], linear(gelu(linear(X, W1, b1)), W2, b2))
s(table.unpack(x))
assert(x[6]:allclose(want))
print("the network and plain Lua agree")

local slow, fast = tide.schedule(ffn):estimate().cycles, s:estimate().cycles
print(("%d cycles as written, %d as scheduled"):format(slow, fast))
assert(fast < slow)

local hls = s:build { target = "hls" }
hls:write "build/ffn"
x[6]:set(0)
hls(table.unpack(x))
assert(x[6]:allclose(want))
print("so does its HLS C++")

--> ffn: 3 nodes, 6 ports, 2 streams, 64 tokens
--> ...
--> proved: strict...
--> the network and plain Lua agree
--> ... cycles as written, ... as scheduled
--> so does its HLS C++
