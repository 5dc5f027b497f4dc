-- verilog.lua - Verilog builds: the time to write texts, a call in Icarus, cells and clock of kernels, estimates beside
-- yosys' cells.
local b = require "bench"
local tide = require "tide"
local i8, i16, i32, task, grid = tide.i8, tide.i16, tide.i32, tide.task, tide.grid

local function array(P, K)
  local d = tide.design(function(d)
    local x, y = d:stream(i8, {P, P + 1}, {depth = 2}), d:stream(i8, {P + 1, P}, {depth = 2})
    d.feed_a = task {map = {P}, A = i8[P][K], function(A, i) for k in grid(K) do x[i][0]:put(A[i][k]) end end}
    d.feed_b = task {map = {P}, B = i8[K][P], function(B, j) for k in grid(K) do y[0][j]:put(B[k][j]) end end}
    d.pe = task {map = {P, P}, C = i32[P][P],
      function(C, i, j)
        local c = i32(0)
        for _ in grid(K, "k") do
          local u, v = x[i][j]:get(), y[i][j]:get()
          c = c + u * v
          if j < P - 1 then x[i][j + 1]:put(u) end
          if i < P - 1 then y[i + 1][j]:put(v) end
        end
        C[i][j] = c
      end}
  end)
  return tide.schedule(d):pipeline "pe:k":pipeline "feed_a:k":pipeline "feed_b:k"
end

-- Wall seconds of f.
local function wall(f)
  local function now()
    local p <close> = assert(io.popen "date +%s%N")
    return p:read "n" / 1e9
  end
  local from = now()
  f()
  return now() - from
end

for _, q in ipairs {{16, 4}, {64, 4}} do
  local s = array(q[1], q[2])
  b.row(("an array of %d x %d as text"):format(q[1], q[1]), b.once(function() s:build {target = "verilog"} end), "ms",
    q[1] == 64 and 50 or nil)
end

do
  local P, K = 4, 64
  local m = array(P, K):build {target = "verilog", sim = "icarus", check = false}
  local args = {tide.random(i8[P][K], 1), tide.random(i8[K][P], 2), i32[P][P](0)}
  m(table.unpack(args))
  b.row("a call of 4 x 4, K = 64, in Icarus", wall(function() m(table.unpack(args)) end), "s", 0.5)
end

if os.execute "command -v verilator >/dev/null" then
  local P, K = 16, 16384
  local m = array(P, K):build {target = "verilog", sim = "verilator", check = false, seconds = 600}
  local args = {tide.random(i8[P][K], 1), tide.random(i8[K][P], 2), i32[P][P](0)}
  local first = wall(function() m(table.unpack(args)) end)
  local again = wall(function() m(table.unpack(args)) end)
  b.row("16 x 16 compiled by Verilator, if it was not kept", first - again, "s", 10)
  b.row("a call of it with K = 16384, files and all", m.report.cycles / again / 1e6, "Mcycle/s", 1.0, nil, true)
end

-- Kernels whose cells are compared: the estimate at rtl beside synth_xilinx.
local kernels = {
  gemm = [[tide.schedule(tide.kernel {A = i8[8][8], B = i8[8][8], C = i32[8][8], function(A, B, C)
    for i, j in grid(8, 8) do for k = 0, 7 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end end
  end}):pipeline "k"]],
  conv = [[tide.schedule(tide.kernel {x = i8[10][10], w = i8[3][3], y = i32[8][8], function(x, w, y)
    for i, j in grid(8, 8) do for p, q in grid(3, 3) do y[i][j] = y[i][j] + x[i + p][j + q] * w[p][q] end end
  end}):pipeline "q"]],
  fir = [[tide.schedule(tide.kernel {x = i16[64], h = i16[8], y = i32[56], function(x, h, y)
    for n = 0, 55 do for k = 0, 7 do y[n] = y[n] + x[n + k] * h[k] end end
  end}):pipeline "k"]],
  sort = [[tide.schedule(tide.kernel {x = i16[16], function(x)
    for i = 0, 14 do for j = 0, 14 do
      local a, c = x[j], x[j + 1]
      x[j] = tide.min(a, c)
      x[j + 1] = tide.max(a, c)
    end end
  end})]],
  dot = [[tide.schedule(tide.kernel {x = i16[32], y = i16[32], z = i32[1], function(x, y, z)
    for k = 0, 31 do z[0] = z[0] + x[k] * y[k] end
  end}):pipeline "k"]],
  scan = [[tide.schedule(tide.kernel {x = i16[32], z = i32[32], function(x, z)
    local s = i32(0)
    for k = 0, 31 do
      s = s + x[k]
      z[k] = s
    end
  end})]],
  clip = [[tide.schedule(tide.kernel {x = i16[6][5], z = i16[6][5], function(x, z)
    for i, j in grid(6, 5) do z[i][j] = tide.min(tide.max(x[i][j] + 9, -100), 100) end
  end}):pipeline "j"]],
  product = [[tide.schedule(tide.kernel {A = i8[12][10], x = i8[10], y = i32[12], function(A, x, y)
    for i, j in grid(12, 10) do y[i] = y[i] + A[i][j] * x[j] end
  end})]],
}
local errors = {ff = {}, lut = {}, dsp = {}}
for _, name in ipairs {"gemm", "conv", "fir", "sort", "dot", "scan", "clip", "product"} do
  local s = load("local tide, i8, i16, i32, grid = ... return " .. kernels[name])(tide, i8, i16, i32, grid)
  local c = s:build {target = "verilog", seconds = 300}:cost {flow = "xilinx"}
  local ice = s:build {target = "verilog", device = "ice40", seconds = 300}:cost {flow = "ice40", pnr = true}
  b.row(name .. ": LUT4 of ice40", ice.lut, "cells", nil, ("%.0f MHz, %d FF"):format(ice.mhz, ice.ff))
  for kind, list in pairs(errors) do
    list[#list + 1] = 100 * math.abs(c.estimate[kind] - c[kind]) / math.max(c[kind], 1)
  end
end
for _, kind in ipairs {"dsp", "ff", "lut"} do
  local median, _, worst = b.spread(errors[kind])
  b.row(("estimate of %s, off by (median)"):format(kind), median, "%", kind == "dsp" and 0 or 25,
    ("worst %.0f %%"):format(worst))
end
b.done "Verilog"
