-- 41_mlp: a perceptron of three layers in 8-bit integers: products tile by tile on systolic arrays, between them a
-- template of one's own (Allo, PLDI 2024, section 5.3); rows go on as they are made. A constraint that is violated is
-- refused by name.
-- Run: tide examples/41_mlp.lua [M D H O P]     (default 4 6 8 4 2: rows, features, hidden units, classes, side of the
-- arrays, which divides M, H and O)
local tide = require "tide"
local systolic, template = require "tide.systolic", require "tide.template"
local i8, i32, grid = tide.i8, tide.i32, tide.grid
local M, D, H = tonumber(arg[1] or 4), tonumber(arg[2] or 6), tonumber(arg[3] or 8)
local O, P = tonumber(arg[4] or 4), tonumber(arg[5] or 2)

-- Sums back to activations: negative ones are 0, the others are divided by 2^shift, and saturate.
local activate = template {
  name = "activate", summary = "Y = max(X, 0) / 2^shift, saturated.",
  kernel = function(M, N, T, shift)
    local out, by = T:with { overflow = "saturate" }, { shift }
    return tide.kernel {
      name = "activate", X = i32[M][N], Y = T[M][N],
      function(X, Y)
        for i, j in grid(M, N) do Y[i][j] = out(tide.asr(tide.max(X[i][j], 0), by[1])) end
      end,
    }
  end,
  schedule = function(s) s:pipeline "j" end,
  M = template.size "rows", N = template.size "columns", T = template.type("of activations", i8),
  shift = template.count "binary places that go", where = { "is_integer(T) and T.bits <= 16", "shift < 32" },
}

local function product(name, N, K) return systolic.gemm({ M = M, N = N, K = K, pm = P, pn = P }, name) end
local first, second, third = product("first", H, D), product("second", H, H), product("third", O, H)
local half, whole = activate({ M = M, N = H, shift = 6 }, "half"), activate({ M = M, N = H, shift = 7 }, "whole")

local mlp = tide.kernel {
  X = i8[M][D], W1 = i8[D][H], W2 = i8[H][H], W3 = i8[H][O], Y = i32[M][O],
  function(X, W1, W2, W3, Y)
    local s1, s2, a1, a2 = i32[M][H](), i32[M][H](), i8[M][H](), i8[M][H]()
    first(X, W1, s1)
    half(s1, a1)
    second(a1, W2, s2)
    whole(s2, a2)
    third(a2, W3, Y)
  end,
}

local s = tide.schedule(mlp)
for _, layer in ipairs { first, half, second, whole, third } do s:compose(systolic.schedule(layer)) end
for _, layer in ipairs { first, second } do -- rows leave an array as rows, not as tiles
  local name = layer.name
  s:buffer_at(name .. ":C", name .. ":m"):pipeline(name .. ":ci_back")
end
s:dataflow() -- whole matrices between tasks
local matrices = s:fork()
s:relay("s1", "half"):relay("a1", "second"):relay("s2", "whole"):relay("a2", "third") -- element by element
print(s:graph())
print(select(2, s:verify()))

local x, copies = {}, {}
for i, p in ipairs(mlp.params) do
  x[i] = tide.random(p.type, i)
  copies[i] = x[i]:copy()
end
s(table.unpack(x))
mlp:native(table.unpack(copies))
assert(x[5]:equal(copies[5]))
print("the network and plain Lua agree")

-- Cycles by a run with a clock.
local function cycles(schedule)
  local timed = schedule:build { target = "cpu", timed = true }
  timed(table.unpack(x))
  return timed.report.cycles
end
local slow, fast = cycles(matrices), cycles(s)
print(("%d cycles with whole matrices between layers, %d with streams"):format(slow, fast))
assert(fast < slow)

local hls = s:build { target = "hls" }
hls:write "build/mlp"
x[5]:set(0)
hls(table.unpack(x))
assert(x[5]:equal(copies[5]))
print("so does its HLS C++")

print(select(2, pcall(systolic.gemm, { M = 10, N = 4, K = 3 })).message)

--> mlp: 5 nodes...
--> ...
--> proved: strict...
--> the network and plain Lua agree
--> ... cycles with whole matrices between layers, ... with streams
--> so does its HLS C++
--> constraint `M % pm == 0` of template gemm: M = 10, pm = 4
