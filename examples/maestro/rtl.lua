-- DataMaestro: the 260 workloads of workloads.lua as jobs of the reference system's Verilog in Verilator: every cycle
-- is held against the model, and the totals are counted.
-- Run: tide examples/maestro/rtl.lua [EVERY] [MODE]   (EVERY n-th workload, default 13; MODE, default gima8)
-- [slow]
local here = (arg[0] or ""):match "^(.*/)" or "./"
package.path = here .. "?.lua;" .. package.path
local tide, maestro = require "tide", require "tide.maestro"
local workloads = require "workloads"
local i8, i32, grid, reduction = tide.i8, tide.i32, tide.grid, tide.reduction
local every, mode = tonumber(arg[1] or 13), arg[2] or "gima8"

local function gemm(w)
  local M, N, K = w.M, w.N, w.K
  return tide.kernel { name = "gemm", A = i8[M][K], B = i8[K][N], C = i32[N], D = i32[M][N], function(A, B, C, D)
    for m, n in grid(M, N) do
      local acc = C[n]
      for k in reduction(K) do acc = acc + A[m][k] * B[k][n] end
      D[m][n] = acc
    end
  end }, { m = "m", n = "n", k = "k", mode = mode, order = {
    A = w.group == "T" and "m k -> k/8 m/8 k%8 m%8" or "m k -> m/8 k/8 m%8 k%8", B = "k n -> n/8 k/8 n%8 k%8",
    C = "n -> n", D = "m n -> m/8 n/8 m%8 n%8",
  } }
end

local function conv(w)
  local OH, OW, H, W, CI, CO, R, s = w.OH, w.OW, w.H, w.W, w.Cin, w.Cout, w.R, w.s
  return tide.kernel {
    name = "conv", A = i8[H][W][CI], B = i8[CO][R][R][CI], C = i32[CO], D = i32[OH][OW][CO],
    function(A, B, C, D)
      for oy, ox, co in grid(OH, OW, CO) do
        local acc = C[co]
        for ky, kx, ci in reduction(R, R, CI) do acc = acc + A[oy * s + ky][ox * s + kx][ci] * B[co][ky][kx][ci] end
        D[oy][ox][co] = acc
      end
    end,
  }, { m = "ox", n = "co", k = "ci", loops = { "oy", "ox", "co", "ci", "ky", "kx" }, mode = mode, order = {
    A = "y x c -> c/8 y x c%8", B = "n y x c -> n/8 c/8 y x n%8 c%8", C = "n -> n", D = "y x n -> n/8 y x n%8",
  } }
end

local sys = maestro.reference()
local m = sys:build { target = "verilog", sim = "verilator" }
local jobs, cycles, equal = 0, 0, 0
for i = 1, #workloads, every do
  local w = workloads[i]
  local kernel, o = (w.group == "V" and conv or gemm)(w)
  local job = sys:compile(kernel, o)
  local want, got = job:simulate().cycles, m:run(job).cycles
  jobs, cycles, equal = jobs + 1, cycles + got, equal + (want == got and 1 or 0)
  if want ~= got then print(i, w.group, want, got) end
end
print(("%d jobs, %d cycles; %d have the model's, and in every cycle its grants, banks, words and products"):format(
  jobs, cycles, equal))
