-- energy.lua - report.energy: counts of operators and bits by task against counts by hand, in every tier; the table
-- of energies, its sums, and the user's.
local t = require "tap"
local tide = require "tide"
local energy = require "tide.energy"
local i8, i32, f32 = tide.i8, tide.i32, tide.f32

local function near(got, want, what)
  t.ok(math.abs(got - want) < 1e-6 * (1 + math.abs(want)), what or got .. " " .. want)
end

local function product(M, N, K)
  return tide.kernel {A = f32[M][K], B = f32[K][N], C = f32[M][N], name = "product", function(A, B, C)
    local b = f32[K][N](0)
    for k = 0, K - 1 do
      for j = 0, N - 1 do b[k][j] = B[k][j] end
    end
    for i = 0, M - 1 do
      for j = 0, N - 1 do
        local s = f32(0)
        for k = 0, K - 1 do s = s + A[i][k] * b[k][j] end
        C[i][j] = s
      end
    end
  end}
end

t.test("a kernel: products, sums, bits of memories on the chip and off it are those of its loops", function()
  for _, size in ipairs {{4, 4, 8}, {3, 5, 7}, {1, 2, 1}} do
    local M, N, K = table.unpack(size)
    for _, device in ipairs {"ideal", "rtl", "zcu104", "u280"} do
      local m = tide.schedule(product(M, N, K)):build {target = "cpu", timed = true, device = device}
      m(tide.random(f32[M][K], 1), tide.random(f32[K][N], 2), f32[M][N](0))
      local e = m.report.energy
      local c = e.counts
      t.eq({c["mul f32"], c["add f32"]}, {M * N * K, M * N * K}, device)
      t.eq(c.dram, 32 * (M * N * K + K * N + M * N), "A each time, B once, C once")
      t.eq(c["ram " .. 4 * K * N], 32 * (2 * K * N + M * N * K), "zeros, B, and each read")
      local by = energy.tables[({u280 = "fpga_hbm2", zcu104 = "fpga"})[device] or "asic45"]
      near(e.operations, M * N * K * (by["mul f32"] + by["add f32"]))
      near(e.dram, c.dram * by.dram)
      near(e.ram, c["ram " .. 4 * K * N] * by["ram 8192"])
      near(e.total, e.operations + e.registers + e.ram + e.dram)
      local r = m.report
      t.ok(rawequal(r.energy, r.energy), "made once")
    end
  end
end)

local function chain(n)
  return tide.design(function(d)
    local Z = d:stream(i8[4], {depth = 2})
    local Y = d:stream(i32, {depth = 2})
    d.read = tide.task {A = i8[n][4], function(A)
      for i = 0, n - 1 do Z:put(A[i]) end
    end}
    d.work = tide.task {function()
      for _ = 0, n - 1 do
        local v = Z:get()
        local s = i32(0)
        for k = 0, 3 do s = s + v[k] * v[k] end
        Y:put(s)
      end
    end}
    d.write = tide.task {B = i32[n], function(B)
      for i = 0, n - 1 do B[i] = Y:get() // 3 end
    end}
  end)
end

t.test("a design: by task, the same compiled and evaluated; what has no row is told", function()
  for _, n in ipairs {5, 64} do
    local first
    for _, tier in ipairs {"auto", "tcc", "cc"} do
      local m = tide.schedule(chain(n)):build {target = "cpu", timed = true, device = "u280", tier = tier}
      m(tide.random(i8[n][4], 1), i32[n](0))
      local e = m.report.energy
      t.eq(e.tasks.read.counts.dram, 32 * n)
      t.eq({e.tasks.read.counts.fifo, e.tasks.work.counts.fifo, e.tasks.write.counts.fifo}, {32 * n, 64 * n, 32 * n})
      t.eq(e.tasks.work.counts["mul i8"], 4 * n)
      t.eq(e.tasks.write.counts["div i32"], n)
      t.eq(e.unknown["div i32"], n)
      t.has(tostring(e), ("%d x div i32"):format(n))
      local sum = 0
      for _, x in ipairs(e.tasks) do sum = sum + x.total end
      near(e.total, sum)
      first = first or e.counts
      t.eq(e.counts, first, tier)
    end
  end
end)

t.test("energies of the user stand in for those of the table", function()
  local m = tide.schedule(chain(5)):build {target = "cpu", timed = true, device = "rtl"}
  m(tide.random(i8[5][4], 1), i32[5](0))
  local e = m.report.energy
  local x = e:by {["div i32"] = 7, dram = 1, source = "measured"}
  near(x.operations, e.operations + 5 * 7)
  near(x.dram, e.counts.dram)
  t.eq({next(x.unknown), x.source, e.counts.dram}, {nil, "measured", x.counts.dram})
  near(e:by({["mul i8"] = 1}).operations - e.operations, 5 * 4 * (1 - .2), "the row of the width")
  for _, wrong in ipairs {{mul = 1}, {["mul 8"] = 1}, {[1] = 2}, {dram = "1"}, {dram = -1}} do
    t.ok(not pcall(e.by, e, wrong))
  end
  t.ok(pcall(e.by, e, {dram = 0}))
end)

t.test("a kernel with a clock is left to the evaluator; in a design it is compiled", function()
  local s = tide.schedule(product(2, 2, 2))
  for _, tier in ipairs {"tcc", "cc"} do
    t.fails(function()
      s:build({target = "cpu", timed = true, tier = tier})(f32[2][2](1), f32[2][2](1), f32[2][2](0))
    end, {code = "timed-kernel", match = "product, a kernel, runs with a clock in the evaluator only"})
  end
  s:build({target = "cpu", timed = true})(f32[2][2](1), f32[2][2](1), f32[2][2](0))
  local streams = tide.kernel {Z = tide.stream(i32), function(Z) Z:put(1) end}
  t.fails(function() tide.schedule(streams):build({target = "cpu", tier = "tcc"})({}) end, {code = "no-streams"})
end)

t.test("the energy is of the last run", function()
  local m = tide.schedule(chain(5)):build {target = "cpu", timed = true}
  m(tide.random(i8[5][4], 1), i32[5](0))
  local old = m.report
  m(tide.random(i8[5][4], 2), i32[5](0))
  t.fails(function() return old.energy end, {code = "old-report"})
  t.ok(m.report.energy.total > 0)
end)

t.test("a roofline: products by byte and by cycle under the roof of multipliers and memory", function()
  local plot, shell = require "tide.plot", require "shell"
  local n = 64
  local scale = tide.kernel {A = tide.f32[n], B = tide.f32[n], function(A, B)
    for i = 0, n - 1 do B[i] = A[i] * 3.0 end
  end}
  local m = tide.schedule(scale):pipeline("i"):build {target = "cpu", timed = true, device = "u280"}
  m(tide.f32[n](1), tide.f32[n](0))
  local text, rows = plot.roofline({scale = m.report}, {bytes_per_cycle = 4, multipliers = 2})
  local row = rows[1]
  t.eq({row.name, row.intensity, row.rate}, {"scale", n / (2 * 4 * n), n / m.report.cycles})
  t.eq({row.roof, row.bound, row.share}, {0.5, "memory", row.rate / 0.5})
  t.ok(#text > 0)
  rows = select(2, plot.roofline({a = m.report, b = m.report}, {bytes_per_cycle = 1000}))
  t.eq({#rows, rows[1].bound, rows[1].roof, rows[2].name}, {2, "multipliers", 1, "b"})
  local path = t.tmp "roof.svg"
  plot.roofline(m.report, {bytes_per_cycle = 4, file = path, title = "scale"})
  if (select(2, shell.output "command -v gnuplot >/dev/null")) == 0 then
    t.has(shell.read(path), "products per byte")
  end
  for _, o in ipairs {{}, {bytes_per_cycle = 0}, {bytes_per_cycle = "4"}} do
    t.ok(not pcall(plot.roofline, m.report, o))
  end
  t.ok(not pcall(plot.roofline, scale, {bytes_per_cycle = 4}))
end)

t.done()
