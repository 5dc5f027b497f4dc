-- [slow]
-- npu_gemm.lua - tide.npu: contracts of kernels, the steps that lead a product to an NPU, times by events, the search
-- for a schedule and for tile sizes.
local t = require "tap"
local tide = require "tide"
local npu = require "tide.npu"
local i8, i16, i32, bf16, f32, task, grid = tide.i8, tide.i16, tide.i32, tide.bf16, tide.f32, tide.task, tide.grid

-- M x N x K in tiles of m x n x k; z.T factors (z.B those of Y, if others), z.R sums.
local function product(z)
  local T, R = z.T or i16, z.R or i32
  return function(M, N, K, m, n, k)
    return tide.design(function(d)
      d.mul = task {
        map = {K // k, M // m, N // n}, X = T[M][K]:layout "S1S0", Y = (z.B or T)[K][N]:layout "S0S2",
        Z = R[M][N]:layout "S1S2",
        function(X, Y, Z) Z:set(tide.allreduce(tide.matmul(X, Y, {acc = R}), "+")) end,
      }
    end)
  end
end

-- The steps of a product on a mesh of P x Q cores, or (z.row) on one row of them, by hand.
local function by_hand(d, z)
  local s = tide.schedule(d):bundle("mul", {axis = 0}):chain("mul", "mul_allreduce")
  if z.I and z.I > 1 and not z.row then s:bundle("mul", {axis = 0, factor = z.I}) end
  if z.J and z.J > 1 then s:bundle("mul", {axis = 1, factor = z.J}) end
  if z.row then s:bundle("mul", {axis = 0}) end
  local _, nest = s:expand "mul_part"
  s:collapse("mul_part", {reassociate = true})
  local mm = npu.matmul {m = z.m, n = z.n, k = z.k, A = z.T or i16, B = z.B or z.T or i16, C = z.R or i32,
    device = z.device}
  if z.contract then mm = z.contract(mm, z) end
  local _, name, a, b, c = s:inject(nest, mm)
  t.ok(name:find "^matmul_", name)
  s:hoist(c, "x"):collapse "acc"
  local _, x_in = s:isolate(a)
  local _, y_in = s:isolate(b)
  local _, z_out = s:isolate(c, {depth = 1})
  if z.row then
    s:coalesce(x_in, {axis = 0}):isolate("B_1_s", {place = "mem"}):isolate("C_1_s", {place = "mem", depth = 1})
    return s:place("mul", {0, 2}, {by = {{1, 0}}})
  end
  s:coalesce(x_in, {axis = 1}):coalesce(y_in, {axis = 0}):coalesce(z_out, {axis = 0})
  return s:place("mul", {0, 2}, {by = {{0, 1}, {1, 0}}})
end

-- States that the build gives the bits of tide.matmul. Returns it.
local function same(s, z)
  local M, N, K, T, R = z.M, z.N, z.K, z.T or i16, z.R or i32
  local m = s:build {target = "npu", device = z.device}
  local X, Y, Z = tide.random(T[M][K], 1), tide.random((z.B or T)[K][N], 2), R[M][N](0)
  m(X, Y, Z)
  t.ok(Z:equal(tide.matmul(X, Y, {acc = R})), "other bits")
  return m
end

t.test("orders of copies may be layouts as values", function()
  local z = {M = 32, N = 32, K = 24, m = 8, n = 16, k = 8, I = 2, J = 1}
  local function of(x) return by_hand(product(x)(x.M, x.N, x.K, x.m, x.n, x.k), x):build {target = "npu"} end
  local text = of(z).source
  function z.contract(mm)
    local env = {tide = tide, name = mm.name, m = z.m, n = z.n, k = z.k, T = i16,
      a = tide.layout(i16[z.m][z.k], "m k -> m/4 k/4 m%4 k%4"),
      b = tide.layout(i16[z.k][z.n], "k n -> k/4 n/4 k%4 n%4"),
      c = tide.layout(i32[z.m][z.n], "m n -> m/4 n/4 m%4 n%4")}
    return load([[return tide.kernel {
      name = name,
      A = T[m // 4][k // 4][4][4], --@ order(a)
      B = T[k // 4][n // 4][4][4], --@ order(b)
      C = tide.i32[m // 4][n // 4][4][4], --@ order(c)
      function(A, B, C)
        for mo, no, ko, mi, ni, ki in tide.grid(m // 4, n // 4, k // 4, 4, 4, 4) do
          C[mo][no][mi][ni] = C[mo][no][mi][ni] + A[mo][ko][mi][ki] * B[ko][no][ki][ni]
        end
      end,
    }]], "=values", "t", env)()
  end
  t.eq(of(z).source, text)
end)

for name, z in pairs {
  ["i16, 2 x 2 cores"] = {M = 32, N = 32, K = 24, m = 8, n = 16, k = 8, I = 2, J = 1},
  ["i8, 4 x 2 cores"] = {M = 64, N = 64, K = 32, m = 16, n = 32, k = 16, T = i8},
  ["i8 x i4"] = {M = 16, N = 32, K = 96, m = 8, n = 16, k = 32, I = 1, J = 1, T = i8, B = tide.int(4)},
  ["i16 on npu2, 1 x 4"] = {M = 8, N = 64, K = 16, m = 8, n = 16, k = 4, device = "npu2"},
} do
  t.test("a product by hand: " .. name, function()
    local s = by_hand(product(z)(z.M, z.N, z.K, z.m, z.n, z.k), z)
    local m = same(s, z)
    t.eq(m.steps, "")
    t.has(m.files["kernels.cc"], "tide_mmul<")
    local _, moves = m.source:gsub("dma_memcpy_nd", "")
    t.ok(moves <= 3 * z.M // z.m * (z.N // z.n), moves .. " transfers")
    t.has(tostring(m.report), "calibrated model, 1.0 GHz")
    t.eq(m.report.cycles, m:simulate().cycles)
    t.ok(m.report.utilisation > 0 and m.report.utilisation < 1, "utilisation")
  end)
end

t.test("blocks in the order of a library go through memory in rows", function()
  local z = {M = 64, N = 64, K = 64, m = 16, n = 16, k = 16, I = 2, J = 2}
  local m = same(by_hand(product(z)(64, 64, 64, 16, 16, 16), z), z)
  local _, moves = m.source:gsub("dma_memcpy_nd", "")
  t.eq(moves, 3 * 2 * 2, "transfers")
  for line in m.source:gmatch "[^\n]*dma_memcpy_nd[^\n]*" do t.has(line, "16][") end
  t.has(m.source, "<size = 4, stride = 64>")
end)

t.test("a wider sum takes longer, less work less", function()
  local function cycles(K)
    local z = {M = 32, N = 32, K = K, m = 16, n = 16, k = 16}
    return by_hand(product(z)(z.M, z.N, z.K, z.m, z.n, z.k), z):build {target = "npu"}:simulate().cycles
  end
  local one, four = cycles(64), cycles(256)
  t.ok(four > 2 * one and four < 5 * one, one .. " and " .. four)
end)

t.test("contracts: what a core multiplies", function()
  t.fails(function() npu.matmul {m = 8, n = 8, k = 8, A = i32, B = i32, C = i32} end, {code = "npu-type"})
  t.fails(function() npu.matmul {m = 6, n = 8, k = 8, A = i16, B = i16, C = i32} end, {code = "npu-shape"})
  local none = {code = "device"}
  t.fails(function() npu.matmul {m = 8, n = 8, k = 8, A = i16, B = i16, C = i32, device = "npu3"} end, none)
  npu.matmul {m = 8, n = 8, k = 8, A = i16, B = i16, C = i32}
  local mm = npu.matmul {m = 4, n = 4, k = 8, A = bf16, B = bf16, C = f32}
  local A, B, C = tide.random(bf16[1][1][4][8], 1), tide.random(bf16[1][1][8][4], 2), f32[1][1][4][4](0)
  mm(A, B, C)
  local sum = f32(0)
  for k in grid(8) do sum = sum + f32(A[0][0][1][k]) * f32(B[0][0][k][2]) end
  t.eq(C[0][0][1][2], sum)
end)

t.test("contracts that are kernels: they run", function()
  local x = tide.random(f32[4][8], 1)
  local most, sum, by, w = f32[4](), f32[4](), f32[4](), f32[4][8]()
  npu.init_softmax {r = 4}(most, sum)
  npu.online_softmax {r = 4, c = 8, T = f32}(x, w, most, sum, by)
  local all = 0
  for c in grid(8) do all = all + w[2][c] end
  t.ok(math.abs(all - sum[2]) < 1e-5, "the sum")
  npu.rescale {r = 4, c = 8}(by, w)
  npu.scale {n = 4, T = f32}(2.0, sum)
  local y = f32[4][8]()
  npu.layernorm {r = 4, c = 8, T = f32}(x, f32[8](1), f32[8](0), y)
  local mean = 0
  for c in grid(8) do mean = mean + y[1][c] end
  t.ok(math.abs(mean) < 1e-5, "the mean")
  local g = f32[8]()
  npu.gelu {n = 8, T = f32}(x[0], g)
  local v = i32[4](0)
  npu.gemv {m = 4, n = 8, T = i8, acc = i32}(tide.random(i8[4][8], 3), tide.random(i8[8], 4), v)
  local p = i32[3][3][2](0)
  npu.conv {h = 5, w = 5, c = 3, f = 2, k = 3, T = i8, acc = i32}(tide.random(i8[5][5][3], 5),
    tide.random(i8[2][3][3][3], 6), p)
end)

t.test("the search finds what is no slower than by hand, by ordinary steps", function()
  local z = {M = 64, N = 64, K = 32, m = 16, n = 16, k = 16}
  local d = product(z)(z.M, z.N, z.K, z.m, z.n, z.k)
  local hand = by_hand(d, z):build {target = "npu"}:simulate().cycles
  local s = tide.schedule(d)
  t.eq(s:search {device = "npu1", reassociate = true}, s)
  local m = same(s, z)
  t.ok(m:simulate().cycles <= hand, ("%d and %d"):format(m:simulate().cycles, hand))
  t.has(s:log(), "s:place(")
  t.eq(tostring(load(s:log())(d)), tostring(s))
end)
t.test("the search on fewer columns, and of what is no product", function()
  local z = {M = 32, N = 16, K = 16, m = 8, n = 16, k = 8}
  local d = product(z)(z.M, z.N, z.K, z.m, z.n, z.k)
  same(tide.schedule(d):search {device = "npu1_1col", reassociate = true}, {M = 32, N = 16, K = 16})
  local axpy = tide.design(function(e)
    e.go = task {map = {4}, x = i32[64]:layout "S0", y = i32[64]:layout "S0",
      function(x, y) for i in grid(16) do y[i] = x[15 - i] + x[i] * 3 end end}
  end)
  local s = tide.schedule(axpy):search {device = "npu1"}
  local a, b, x = tide.random(i32[64], 1), tide.random(i32[64], 1), tide.random(i32[64], 2)
  axpy(x, a)
  s:build {target = "npu"}(x, b)
  t.ok(a:equal(b), "other bits")
end)
t.test("a search that finds nothing, or is asked for what is not there", function()
  local d = tide.design(function(e)
    e.go = task {x = i32[8], y = i32[1], function(x, y) y[0] = x[x[0] % 8] end}
    e.more = task {w = i32[1 << 16], i = i32[1], z = i32[1], function(w, i, z) z[0] = w[i[0] % 65536] end}
  end)
  t.fails(function() tide.schedule(d):search {device = "npu1"} end, {code = "infeasible"})
  local z = {M = 8, N = 8, K = 8, m = 4, n = 4, k = 4}
  local p = product(z)(8, 8, 8, 4, 4, 4)
  t.fails(function() tide.schedule(p):search {device = "npu1", pes = 3} end, {code = "option"})
  t.fails(function() tide.schedule(p):search {device = "u280", reassociate = true} end, {code = "device"})
  tide.schedule(p):search {device = "npu1", reassociate = true}
end)

t.test("tile sizes", function()
  local best = npu.tune(product {}, {64, 64, 64}, {m = {16, 24}, n = {16}, k = {8, 32}}, {device = "npu1"})
  t.eq({best.m, best.n, best.tried}, {16, 16, 4})
  t.eq(best.k, 32)
  t.ok(best.report.utilisation > 0, "no report")
  t.has(best.schedule:log(), "s:inject(")
  t.fails(function() npu.tune(product {}, {64, 64, 64}, {m = {60}, n = {16}, k = {8}}) end, {code = "infeasible"})
end)

t.test("files run, and are timed, on their own", function()
  local z = {M = 32, N = 32, K = 24, m = 8, n = 16, k = 8, I = 2, J = 1}
  local built = by_hand(product(z)(32, 32, 24, 8, 16, 8), z):build {target = "npu"}
  local folder = t.tmp "npu_open"
  built:write(folder)
  local m = npu.open(folder)
  t.eq(m.report, nil)
  local X, Y, Z = tide.random(i16[32][24], 1), tide.random(i16[24][32], 2), i32[32][32](0)
  m(X, Y, Z)
  t.ok(Z:equal(tide.matmul(X, Y)), "other bits")
  t.eq(m:simulate().cycles, built:simulate().cycles)
  t.eq(m.report.cycles, built:simulate().cycles)
  t.has(built.files.Makefile, "--target=aie2-none-unknown-elf")
  t.fails(function() m(X, Y) end, {code = "npu-text"})
  t.fails(function() npu.open(folder .. "/none") end, {code = "npu-files"})
  t.ok(os.remove(folder .. "/kernels.cc"))
  t.fails(function() npu.open(folder) end, {code = "npu-files"})
end)
t.test("a text whose device has no such number", function()
  local z = {M = 8, N = 16, K = 8, m = 8, n = 16, k = 8}
  local folder = t.tmp "npu_number"
  by_hand(product(z)(16, 32, 16, 8, 16, 8), z):build {target = "npu"}:write(folder)
  local shell = require "shell"
  local path = folder .. "/design.generic.mlir"
  local text = shell.read(path)
  npu.open(folder)
  shell.write(path, (text:gsub("device = 4", "device = 77")))
  t.fails(function() npu.open(folder) end, {code = "npu-text"})
end)

t.test("two texts of one design, and the version that they are for", function()
  local z = {M = 8, N = 64, K = 16, m = 8, n = 16, k = 4, device = "npu2"}
  local shell = require "shell"
  local folder = t.tmp "npu_texts"
  local s = by_hand(product(z)(8, 64, 16, 8, 16, 4), z)
  s:build {target = "npu", device = "npu2"}:write(folder)
  local function with(name, from, to)
    local path = folder .. "/" .. name
    local text = shell.read(path)
    local changed, n = text:gsub(from, to, 1)
    t.eq(n, 1)
    shell.write(path, changed)
    local ok, e = pcall(npu.open, folder)
    shell.write(path, text)
    return ok and "opened" or tostring(e)
  end
  t.has(with("design.mlir", "stack_size = 1024", "stack_size = 2048"), "are not the same design")
  t.has(with("design.mlir", "Produce", "Produces"), "'Produces' is no port")
  t.has(with("design.generic.mlir", "dialect v1.3", "dialect v1.0"), "device 8 is another one in other versions")
  t.eq(with("design.mlir", "dialect v1.3", "dialect v1.3, read by hand"), "opened")
  t.has(with("design.mlir", "module {", "module {{"), "design.mlir:2:9")
  local old = s:build {target = "npu", device = "npu2", dialect = "v1.0"}
  t.has(old.source, "aiex.runtime_sequence @sequence(")
  old:write(folder)
  npu.open(folder)
  t.fails(function() s:build {target = "npu", dialect = "v2"} end, {code = "option-value"})
end)

-- The model's times of a product of 2048^3 on `rows` x 4 cores.
local function times(T, R, n, rows)
  local z = {M = 2048, N = 2048, K = 2048, m = 64, n = n, k = 64, T = T, R = R, I = 32 // rows, J = 2048 // n // 4}
  z.row = rows == 1
  local m = by_hand(product(z)(2048, 2048, 2048, 64, n, 64), z):build {target = "npu"}
  local _, ops = m.source:gsub("aiex%.npu", "")
  t.ok(ops <= 800, ops .. " operations in the sequence")
  return m:simulate()
end

t.test("what the model was fitted to, and what it was not: products of 2048^3", function()
  local wide = times(i16, i16, 64, 4)
  local function near(name, x, y, most) t.ok(math.abs(x - y) < most, ("%s: %.2f"):format(name, x)) end
  near("i16", 100 * wide.utilisation, 75, 2)
  near("i8", 100 * times(i8, i8, 128, 4).utilisation, 61.6, 2)
  near("bf16", 100 * times(bf16, f32, 64, 4).utilisation, 47.6, 3)
  local row = times(i16, i16, 64, 1).cycles
  near("2 x 4", row / times(i16, i16, 64, 2).cycles, 1.97, 0.1)
  near("4 x 4", row / wide.cycles, 3.67, 0.1)
end)

t.test("sums as short as their factors wrap", function()
  for _, z in ipairs {{T = i8, R = i8, m = 8, n = 16, k = 16}, {T = i16, R = i16, m = 8, n = 8, k = 4}} do
    z.M, z.N, z.K, z.I, z.J = z.m * 4, z.n * 2, z.k * 3, 2, 1
    same(by_hand(product(z)(z.M, z.N, z.K, z.m, z.n, z.k), z), z)
  end
  t.fails(function() npu.matmul {m = 8, n = 8, k = 8, A = bf16, B = bf16, C = bf16} end, {code = "npu-type"})
end)

t.done()
