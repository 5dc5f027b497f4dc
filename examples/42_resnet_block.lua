-- 42_resnet_block: the basic block of a residual network from templates: Y = relu(X + conv(pad(relu(conv(pad(X)))))),
-- convolutions by line and window buffers, layers side by side as tasks that hand on element by element.
-- Run: tide examples/42_resnet_block.lua [H W C]     (default 5 6 3: height, width, channels)
local tide = require "tide"
local nn = require "tide.nn"
local f32 = tide.f32
local H, W, C = tonumber(arg[1] or 5), tonumber(arg[2] or 6), tonumber(arg[3] or 3)

local function layers(n)
  return nn.pad2d({ H = H, W = W, C = C }, "pad" .. n),
    nn.conv2d({ H = H + 2, W = W + 2, C = C, R = 3, S = 3, O = C, T = f32 }, "conv" .. n),
    nn.relu({ shape = { H, W, C } }, "relu" .. n)
end
local pad1, conv1, relu1 = layers(1)
local pad2, conv2, relu2 = layers(2)
local join = nn.add({ shape = { H, W, C } }, "join")

local block = tide.kernel {
  X = f32[H][W][C], F1 = f32[3][3][C][C], F2 = f32[3][3][C][C], Y = f32[H][W][C],
  function(X, F1, F2, Y)
    local p1, p2 = f32[H + 2][W + 2][C](), f32[H + 2][W + 2][C]()
    local c1, r1, c2, sum = f32[H][W][C](), f32[H][W][C](), f32[H][W][C](), f32[H][W][C]()
    pad1(X, p1)
    conv1(p1, F1, c1)
    relu1(c1, r1)
    pad2(r1, p2)
    conv2(p2, F2, c2)
    join(X, c2, sum)
    relu2(sum, Y)
  end,
}

local s = tide.schedule(block)
for _, layer in ipairs { pad1, conv1, relu1, pad2, conv2, join, relu2 } do s:compose(nn.schedule(layer)) end
s:dataflow() -- whole images between tasks
local images = s:fork()
for _, hand in ipairs { { "p1", "conv1" }, { "c1", "relu1" }, { "r1", "pad2" }, { "p2", "conv2" }, { "c2", "join" },
  { "sum", "relu2" } } do
  s:relay(hand[1], hand[2]) -- element by element
end
print(s:graph())
print(select(2, s:verify()))

-- Convolution by F of an image in a frame of zeros, in plain Lua on nested lists; f of each sum.
local function conv(X, F, f)
  local Y = {}
  for p = 1, H do
    Y[p] = {}
    for q = 1, W do
      Y[p][q] = {}
      for o = 1, C do
        local sum = 0
        for r, row in ipairs(F) do
          for v, taps in ipairs(row) do
            local line = X[p + r - 2]
            for c, x in ipairs(line and line[q + v - 2] or {}) do sum = sum + x * taps[c][o] end
          end
        end
        Y[p][q][o] = f(sum, p, q, o)
      end
    end
  end
  return Y
end

local x = {}
for i, p in ipairs(block.params) do x[i] = tide.random(p.type, i) end
local X, F1, F2 = x[1]:table(), x[2]:table(), x[3]:table()
local hidden = conv(X, F1, function(sum) return math.max(sum, 0) end)
local want = tide.tensor(f32[H][W][C], conv(hidden, F2, function(sum, p, q, o)
  return math.max(sum + X[p][q][o], 0)
end))
s(table.unpack(x))
assert(x[4]:allclose(want))
print("the block and plain Lua agree")

-- Cycles by a run with a clock.
local function cycles(schedule)
  local timed = schedule:build { target = "cpu", timed = true }
  timed(table.unpack(x))
  return timed.report.cycles
end
local slow, whole, fast = cycles(tide.schedule(block)), cycles(images), cycles(s)
print(("%d cycles as written, %d with whole images between layers, %d with streams"):format(slow, whole, fast))
assert(fast < whole and fast < slow)

local hls = s:build { target = "hls" }
hls:write "build/resnet_block"
x[4]:set(0)
hls(table.unpack(x))
assert(x[4]:allclose(want))
print("so does its HLS C++")

--> block: 7 nodes...
--> ...
--> proved: strict...
--> the block and plain Lua agree
--> ... cycles as written, ... with whole images between layers, ... with streams
--> so does its HLS C++
