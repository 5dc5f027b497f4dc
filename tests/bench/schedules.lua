-- schedules.lua - what schedules gain on the CPU, from the IR that also goes to hardware: kernels of PolyBench
-- at LARGE against their source order, and a product of 1024 x 1024 in f32 against OpenBLAS, on one core. Times of
-- both sides are taken in turn, so that what else the machine does slows both.
local tide = require "tide"
local b = require "bench"
local polybench = require "polybench"
local f32, grid = tide.f32, tide.grid

-- The median times of some functions, run in turn n times on the arguments that the last one makes, in time that is
-- not counted; nor is the first round.
local function in_turn(n, functions, arguments)
  local times = {}
  for round = 0, n do
    for i, f in ipairs(functions) do
      local own = arguments()
      times[i] = times[i] or {}
      times[i][round] = b.once(function() f(table.unpack(own)) end)
    end
  end
  for i, list in ipairs(times) do times[i] = b.spread(list) end
  return table.unpack(times)
end

-- Writes out the rows of a tile, in the loop and in the copies of its buffer.
local function rows_apart(s, loop)
  for _, name in ipairs(s:loops()) do
    if name == loop or name == loop .. "_init" or name == loop .. "_back" then s:unroll(name, {replace = true}) end
  end
end

-- A product `array` = `array` + `left` x `right`, nested i, j, k: tiles of m x n in registers, and panels of
-- `right` next to each other in memory. With a depth, so many rows of it at a time, and columns of `left`.
local function tile(s, nest, m, n, depth)
  local i, j, k = table.unpack(nest.loops)
  local _, j_o, j_i = s:split(j, n, {tail = "cut"})
  local _, i_o, i_i = s:split(i, m, {tail = "perfect"})
  if depth then
    local _, k_o, k_i = s:split(k, depth, {tail = "perfect"})
    s:reorder(k_o, j_o, i_o, k_i, i_i, j_i):buffer_at(nest.left, k_o)
  else
    s:reorder(j_o, i_o, k, i_i, j_i)
  end
  s:buffer_at(nest.array, i_o)
  s:buffer_at(nest.right, j_o)
  rows_apart(s, i_i)
end

local large = {
  ["2mm"] = function(s)
    for n, nest in ipairs {{array = "tmp", right = "B"}, {array = "D", right = "C"}} do
      nest.loops = {"i#" .. n, "j#" .. n, "k#" .. n}
      s:reorder(nest.loops[3], nest.loops[2])
      tile(s, nest, 4, 32)
    end
  end,
  ["3mm"] = function(s)
    for n, nest in ipairs {{array = "E", right = "B"}, {array = "F", right = "D"}, {array = "G", right = "F"}} do
      nest.loops = {"i#" .. n, "j#" .. n, "k#" .. n}
      s:reorder(nest.loops[3], nest.loops[2])
      tile(s, nest, 4, 32)
    end
  end,
  -- The triangle in whole tiles of 8 x 24, and what is left at its two sides; 200 products of each sum at a time.
  correlation = function(s)
    s:reorder("i#1", "j#1"):reorder("i#2", "j#2"):reorder("k", "j#4", "i#4")
    local _, k_o, k_i = s:split("k", 200, {tail = "perfect"})
    local _, i_o, i_i = s:split("i#4", 8, {tail = "cut"})
    s:reorder(k_o, i_o, "j#4", k_i, i_i)
    local _, j_o, j_i = s:split("j#4", 24, {tail = "cut"})
    s:reorder(j_o, k_i, i_i, j_i):reorder(j_o, i_o):buffer_at("corr", i_o)
    rows_apart(s, i_i)
    s:split("i_3", 8):reorder("j_6", "i_3_i")
  end,
}

for _, name in ipairs {"2mm", "3mm", "correlation"} do
  local k, args = polybench.make(name, {size = "large"})
  local s = tide.schedule(k)
  large[name](s)
  local plain, fast = k:build {target = "cpu", tier = "cc"}, s:build {target = "cpu", tier = "cc"}
  local function own_arguments()
    local own = {}
    for i, v in ipairs(args) do own[i] = type(v) == "userdata" and v:copy() or v end
    return own
  end
  local want, got = own_arguments(), own_arguments()
  plain(table.unpack(want))
  fast(table.unpack(got))
  for i, v in ipairs(want) do assert(type(v) ~= "userdata" or got[i]:equal(v), name) end
  local slow, quick = in_turn(5, {plain, fast}, own_arguments)
  b.row(("%s LARGE over its source order, %.0f ms"):format(name, quick), slow / quick, "x", 5, nil, true)
end

local N = 1024
local gemm = tide.kernel {A = f32[N][N], B = f32[N][N], C = f32[N][N], function(A, B, C)
  for i, j in grid(N, N) do
    for k = 0, N - 1 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
  end
end}

-- OpenBLAS as an extern, or nil where it is not installed.
local function openblas(object)
  local probe = "echo 'int main(void) { return 0; }' | cc -x c - -o '%s' -lopenblas 2>&1"
  local cc = "cc -O2 -shared -fPIC tests/bench/openblas.c -o '%s' -ldl"
  local pipe = io.popen(probe:format(object))
  pipe:read "a"
  if not pipe:close() then return nil end
  assert(os.execute(cc:format(object)))
  return tide.extern {library = object, symbol = "openblas", A = f32[N][N], B = f32[N][N], C = f32[N][N]}
end

-- What multiplying and adding in registers reaches: as two instructions (contract = "off"), or as one ("fast").
local function peak(object, contract)
  local cc = "cc -O3 -march=native -mprefer-vector-width=512 -ffp-contract=%s -shared -fPIC tests/bench/peak.c -o '%s'"
  assert(os.execute(cc:format(contract, object)))
  local f, x = tide.extern {library = object, symbol = "peak", out = f32[32]}, tide.random(f32[32], 4)
  return function() f(x) end
end
local PEAK = 2 * 16 * 16 * 2 ^ 20 / 1e6 -- what a call of it does, in 10^6 operations

-- What is in the way of the strict product, from the speeds of the peaks, OpenBLAS and the product in GFlop/s.
local function strict_bound(apart, at_once, best, ours)
  return ([[strict code multiplies and adds in two instructions, which in registers alone reach
  %.0f GFlop/s where fma, which OpenBLAS uses, reaches %.0f: at most %.0f %% of OpenBLAS. The product
  reaches %.0f %% of that.]]):format(apart, at_once, 100 * apart / best, 100 * ours / apart)
end

local object, apart, at_once = os.tmpname(), os.tmpname(), os.tmpname()
local peer = openblas(object)
if peer then
  local function product(fma)
    local s = tide.schedule(gemm)
    tile(s, {array = "C", left = "A", right = "B", loops = {"i", "j", "k"}}, 4, 64, 256)
    if fma then s:fma() end
    return s:build {target = "cpu", tier = "cc"}
  end
  local A, B = tide.random(f32[N][N], 1), tide.random(f32[N][N], 2)
  local C = f32[N][N](0)
  local strict, fused = product(false), product(true)
  local best, once, twice, two, one = in_turn(15, {peer, fused, strict, peak(apart, "off"), peak(at_once, "fast")},
    function() return {A, B, C} end)
  local speed = 2 * N ^ 3 / 1e6
  b.row(("gemm 1024 f32, strict: %.0f GFlop/s"):format(speed / twice), 100 * best / twice, "%", 65,
    ("OpenBLAS %.0f GFlop/s"):format(speed / best), true)
  b.why(strict_bound(PEAK / two, PEAK / one, speed / best, speed / twice))
  b.row(("gemm 1024 f32, after fma: %.0f GFlop/s"):format(speed / once), 100 * best / once, "%", 85, nil, true)
else
  print "gemm: OpenBLAS is not installed, so there is no peer (./setup bench)"
end
for _, file in ipairs {object, apart, at_once} do os.remove(file) end
b.done "schedules on the CPU, one core"
