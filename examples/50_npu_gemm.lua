-- 50_npu_gemm: Dato's Fig. 7 on an NPU: as it stands, with the build's own steps; with kernels of the cores and each
-- operand sent once, by hand; by search. All give the bits of the CPU, from the text of the build.
-- Run: tide examples/50_npu_gemm.lua [M N K m n k]     (default 128 128 64 16 16 16; tiles are m x n x k)
-- [slow]
local tide = require "tide"
local npu = require "tide.npu"
local i16, i32, task = tide.i16, tide.i32, tide.task
local M, N, K = tonumber(arg[1] or 128), tonumber(arg[2] or 128), tonumber(arg[3] or 64)
local m, n, k = tonumber(arg[4] or 16), tonumber(arg[5] or 16), tonumber(arg[6] or 16)

local product = tide.design(function(d)
  d.gemm = task {
    map = {K // k, M // m, N // n},
    A = i16[M][K]:layout "S1S0", B = i16[K][N]:layout "S0S2", C = i32[M][N]:layout "S1S2",
    function(A, B, C) C:set(tide.allreduce(tide.matmul(A, B), "+")) end,
  }
end)

-- The product on at most 4 x 4 cores, each of which makes its share of the tiles of C.
local function folded()
  local s = tide.schedule(product):bundle("gemm", {axis = 0}):chain("gemm", "gemm_allreduce")
  if M // m > 4 then s:bundle("gemm", {axis = 0, factor = M // m // 4}) end
  if N // n > 4 then s:bundle("gemm", {axis = 1, factor = N // n // 4}) end
  return s
end

-- With the instructions of the cores: tiles in the order that they multiply, which memory tiles make on the way; sums
-- stay in the core; A goes to a row of cores at once, B to a column.
local function by_hand()
  local s = folded()
  local _, nest = s:expand "gemm_part"
  s:collapse("gemm_part", {reassociate = true})
  local _, _, a, b, c = s:inject(nest, npu.matmul {m = m, n = n, k = k, A = i16, B = i16, C = i32})
  s:hoist(c, "x"):collapse "acc"
  local axis = {1, 0, 0}
  for i, copy in ipairs {a, b, c} do
    local _, host = s:isolate(copy, {depth = i == 3 and 1 or 2})
    s:coalesce(host, {axis = axis[i]})
  end
  return s:place("gemm", {0, 2}, {by = {{0, 1}, {1, 0}}})
end

local A, B, want = tide.random(i16[M][K], 1), tide.random(i16[K][N], 2), i32[M][N](0)
product(A, B, want)

-- Builds a schedule, runs it from its text, and says what its model tells.
local function show(name, s)
  local build = s:build {target = "npu", tool = false}
  local C = i32[M][N](0)
  build(A, B, C)
  assert(C:equal(want), "other bits")
  local _, transfers = build.source:gsub("dma_memcpy_nd", "")
  local r = build:simulate()
  print(("%-9s %d cores, %d transfers, %d cycles, %.1f %% of the peak"):format(name, #r.tasks, transfers, r.cycles,
    100 * r.utilisation))
  return r
end

local plain = show("as it is", folded())
local hand = show("by hand", by_hand())
local found = show("found", tide.schedule(product):search {device = "npu1", reassociate = true})
assert(hand.cycles < plain.cycles and found.cycles <= hand.cycles)

--> as it is  16 cores, ... transfers, ... cycles, ... % of the peak
--> by hand   16 cores, ... transfers, ... cycles, ... % of the peak
--> found     ...% of the peak
