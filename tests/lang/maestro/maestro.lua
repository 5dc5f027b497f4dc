-- DataMaestro: systems, what a nest and orders give in registers and addresses, cycles, data. Figures are those of the
-- paper's evaluation system as it is described; each refusal has a twin that is accepted and differs in one fact.
local tide = require "tide"
local maestro = require "tide.maestro"
local t = require "tap"

local i8, i16, i32, grid, reduction = tide.i8, tide.i16, tide.i32, tide.grid, tide.reduction

local function gemm(M, N, K, T, S)
  T, S = T or i8, S or i32
  return tide.kernel {
    name = "gemm", A = T[M][K], B = T[K][N], C = S[M][N], D = S[M][N],
    function(A, B, C, D)
      for m, n in grid(M, N) do
        local acc = C[m][n]
        for k in reduction(K) do acc = acc + A[m][k] * B[k][n] end
        D[m][n] = acc
      end
    end,
  }
end

local blocked = {
  A = "m k -> m/8 k/8 m%8 k%8", B = "k n -> n/8 k/8 n%8 k%8", C = "m n -> m/8 n/8 m%8 n%8",
  D = "m n -> m/8 n/8 m%8 n%8",
}

-- Options of a job of a product, with other fields.
local function options(more)
  local o = { m = "m", n = "n", k = "k", order = blocked }
  for k, v in pairs(more or {}) do o[k] = v end
  return o
end

-- A system like the reference with streamers A and B of one depth, all others of another.
local function deep(arbiter, depth, others)
  local ext, function_of = maestro.ext, { A = "reader", B = "reader" }
  local o = { arbiter = arbiter }
  for name, kind in pairs(function_of) do
    o[name] = maestro[kind] { lanes = { 8 }, loops = name == "A" and 6 or 3, depth = depth }
  end
  o.C = maestro.reader { lanes = { 8, 4 }, loops = 3, depth = others, mask = true, ext = { ext.broadcast(256, 2048) } }
  o.D = maestro.writer { lanes = { 8, 4 }, loops = 3, depth = others, shares = "C" }
  return maestro.reference(o)
end

local function cycles(arbiter, mode, depth, others)
  return deep(arbiter, depth, others):compile(gemm(64, 64, 64), options { mode = mode }):simulate()
end

t.test("GeMM-64, 32-bit results: cycles of each mode and arbiter, depths 8 and 1", function()
  local found = {}
  for _, mode in ipairs { "fima", "gima16", "gima8" } do
    for _, arbiter in ipairs { "round_robin", "priority" } do
      found[#found + 1] = cycles(arbiter, mode, 8, 2).cycles
    end
    found[#found + 1] = cycles("round_robin", mode, 1, 1).cycles
  end
  t.eq(found, { 585, 520, 1543, 647, 523, 1161, 523, 523, 1033 })
  local r = cycles("round_robin", "fima", 8, 2)
  t.eq(r.fires, 512)
  t.eq(r.accesses, 64 * 8 * 16 + 64 * 64)
end)

t.test("a FIFO of four words hides all that can be hidden", function()
  local u = {}
  for _, depth in ipairs { 1, 2, 4, 8, 16 } do u[depth] = cycles("round_robin", "fima", depth, 2).utilisation end
  t.ok(math.abs(u[1] - 0.33) < 0.01 and math.abs(u[2] - 0.66) < 0.02, u[2])
  t.eq({ u[4], u[16] }, { u[8], u[8] })
end)

-- The results of a job and of plain Lua.
local function agrees(job, k, args, result)
  local got, want = {}, {}
  for name, v in pairs(args) do got[name], want[name] = v:copy(), v:copy() end
  job:run(got)
  k:native(want)
  t.ok(got[result]:equal(want[result]), result)
end

local function product_arguments(M, N, K, T, S)
  T, S = T or i8, S or i32
  return { A = tide.random(T[M][K], 1), B = tide.random(T[K][N], 2), C = tide.random(S[M][N], 3), D = S[M][N](0) }
end

t.test("a product is the kernel's, in every mode", function()
  for _, mode in ipairs { "fima", "gima16", "gima8", "nima", "best" } do
    local k = gemm(24, 32, 16)
    agrees(maestro.reference():compile(k, options { mode = mode }), k, product_arguments(24, 32, 16), "D")
  end
end)

t.test("sizes that are no multiple of the array: orders that pad", function()
  local k = gemm(13, 11, 21)
  local job = maestro.reference():compile(k, options { mode = "gima8" })
  agrees(job, k, product_arguments(13, 11, 21), "D")
  t.eq(job:simulate().fires, 2 * 2 * 3)
end)

t.test("an order may be a layout as a value", function()
  local function job(order)
    local all = {}
    for name, text in pairs(blocked) do all[name] = text end
    all.A = order
    return maestro.reference():compile(gemm(40, 24, 72), options {order = all})
  end
  local by_text, by_value = job(blocked.A), job(tide.layout(i8[40][72], blocked.A))
  t.eq(by_value.csr, by_text.csr)
  t.eq(by_value:simulate().cycles, by_text:simulate().cycles)
  t.ok(not pcall(job, tide.layout(i8[48][72], blocked.A)))
end)

t.test("operands that arrive turned round take the transposer", function()
  local k = gemm(16, 24, 32)
  local job = maestro.reference():compile(k, options {
    mode = "gima8", order = {
      A = "m k -> k/8 m/8 k%8 m%8", B = "k n -> k n", C = "m n -> m/8 n/8 m%8 n%8", D = blocked.D,
    },
  })
  t.eq(job:stream "A".ext, { "transpose" })
  t.eq(job:stream "B".ext, { "transpose" })
  agrees(job, k, product_arguments(16, 24, 32), "D")
end)

t.test("sums in the result itself; vectors; orders that nobody gave", function()
  local k = tide.kernel {
    name = "update", A = i8[16][32], B = i8[32][24], C = i32[16][24],
    function(A, B, C)
      for m, n, kk in grid(16, 24, 32) do C[m][n] = C[m][n] + A[m][kk] * B[kk][n] end
    end,
  }
  local job = maestro.reference():compile(k, { m = "m", n = "n", k = "kk" })
  t.eq(job:stream "C".base, job:stream "D".base)
  agrees(job, k, { A = tide.random(i8[16][32], 1), B = tide.random(i8[32][24], 2),
    C = tide.random(i32[16][24], 3) }, "C")
  local gemv = tide.kernel {
    name = "gemv", W = i8[40][32], x = i8[32], y = i32[40],
    function(W, x, y)
      for n in grid(40) do
        local acc = i32(0)
        for kk in reduction(32) do acc = acc + W[n][kk] * x[kk] end
        y[n] = acc
      end
    end,
  }
  local args = { W = tide.random(i8[40][32], 1), x = tide.random(i8[32], 2), y = i32[40](0) }
  agrees(maestro.reference():compile(gemv, { m = "n", k = "kk" }), gemv, args, "y")
  agrees(maestro.reference():compile(gemv, { n = "n", k = "kk", order = { y = "n -> n/8 n%8" } }), gemv, args, "y")
end)

t.test("what is too large is split: rows and columns, then sums that go on through C", function()
  local small = maestro.memory { banks = 32, word = 8, rows = 64, modes = { fima = 32, gima8 = 8 } }
  local sys = maestro.reference { memory = small }
  for _, c in ipairs { { 64, 56, 64, 4 }, { 8, 8, 2048, 4 }, { 16, 16, 32, 1 } } do
    local M, N, K, jobs = table.unpack(c)
    local k = gemm(M, N, K)
    local job = sys:compile(k, { m = "m", n = "n", k = "k" })
    t.eq(job.jobs and #job.jobs or 1, jobs, tostring(job))
    agrees(job, k, product_arguments(M, N, K), "D")
    local r = job:simulate()
    t.eq(r.fires, ((M + 7) // 8) * ((N + 7) // 8) * (K // 8))
  end
end)

t.test("Figs. 3 and 4: a 4 x 4 x 4 product of blocks on 2 x 2 x 2", function()
  local sys = maestro.system {
    memory = maestro.memory { banks = 8, word = 4, rows = 64, modes = { fima = 8 } },
    array = maestro.array { m = 2, n = 2, k = 2, a = i32, b = i32, acc = i32 },
    A = maestro.reader { lanes = { 2, 2 }, loops = 6, depth = 4 },
    B = maestro.reader { lanes = { 2, 2 }, loops = 3, depth = 4 },
    C = maestro.reader { lanes = { 2, 2 }, loops = 3, depth = 2 },
    D = maestro.writer { lanes = { 2, 2 }, loops = 3, depth = 2, shares = "C" },
  }
  local k = gemm(4, 4, 4, i32, i32)
  local job = sys:compile(k, {
    m = "m", n = "n", k = "k", order = {
      A = "m k -> m/2 k/2 m%2 k%2", B = "k n -> n/2 k/2 n%2 k%2", C = "m n -> m/2 n/2 m%2 n%2",
      D = "m n -> m/2 n/2 m%2 n%2",
    },
  })
  t.eq(tostring(job:stream "A"),
    "A: lanes 2 x 2 by 4, 8; (2, 16) (2, 0) (2, 32), innermost first; base 0, fima")
  local want, got = {}, {}
  for m = 0, 1 do
    for _ = 0, 1 do
      for kk = 0, 1 do
        for lane = 0, 3 do want[#want + 1] = (m * 2 + kk) * 16 + lane * 4 end
      end
    end
  end
  for a in job:addresses "A" do got[#got + 1] = a end
  t.eq(got, want)
  agrees(job, k, product_arguments(4, 4, 4, i32, i32), "D")
end)

local function conv(OH, OW, Cin, Cout, R, s, T, S)
  T, S = T or i8, S or i32
  local H, W = s * (OH - 1) + R, s * (OW - 1) + R
  return tide.kernel {
    name = "conv", I = T[H][W][Cin], F = T[Cout][R][R][Cin], bias = S[Cout], O = S[OH][OW][Cout],
    function(I, F, bias, O)
      for oy, ox, co in grid(OH, OW, Cout) do
        local acc = bias[co]
        for ky, kx, ci in reduction(R, R, Cin) do
          acc = acc + I[oy * s + ky][ox * s + kx][ci] * F[co][ky][kx][ci]
        end
        O[oy][ox][co] = acc
      end
    end,
  }, {
    I = tide.random(T[H][W][Cin], 1), F = tide.random(T[Cout][R][R][Cin], 2), bias = tide.random(S[Cout], 3),
    O = S[OH][OW][Cout](0),
  }
end

-- Options of a convolution on blocks of b elements, with other fields.
local function conv_options(b, more)
  local o = {
    m = "ox", n = "co", k = "ci", loops = { "oy", "ox", "co", "ci", "ky", "kx" },
    order = {
      I = ("y x c -> c/%d y x c%%%d"):format(b, b), F = ("n y x c -> n/%d c/%d y x n%%%d c%%%d"):format(b, b, b, b),
      bias = "n -> n", O = ("y x n -> n/%d y x n%%%d"):format(b, b),
    },
  }
  for k, v in pairs(more or {}) do o[k] = v end
  return o
end

t.test("Fig. 3: a convolution's six loops, the bias by the broadcaster", function()
  for s = 1, 2 do
    local k, args = conv(6, 16, 24, 16, 3, s)
    local job = maestro.reference():compile(k, conv_options(8, { mode = "fima" }))
    local a, H, W = job:stream "A", s * 5 + 3, s * 15 + 3
    t.eq({ a.bounds, a.strides, a.lane_strides },
      { { 3, 3, 3, 2, 2, 6 }, { 8, 8 * W, 8 * W * H, 0, 64 * s, 8 * W * s }, { 8 * s } })
    local b, c = job:stream "B", job:stream "C"
    t.eq({ b.bounds, b.strides }, { { 54, 12, 1 }, { 64, 0, 0 } })
    t.eq({ c.mask, c.ext, c.strides[1] }, { 15, { "broadcast" }, 32 })
    agrees(job, k, args, "O")
  end
end)

t.test("Fig. 3 (d): C/2 H W C2 on 2 x 2 x 2", function()
  local sys = maestro.system {
    memory = maestro.memory { banks = 8, word = 8, rows = 128, modes = { fima = 8, gima4 = 4 } },
    array = maestro.array { m = 2, n = 2, k = 2, a = i32, b = i32, acc = i32 },
    A = maestro.reader { lanes = { 2 }, loops = 6, depth = 4 },
    B = maestro.reader { lanes = { 2 }, loops = 3, depth = 4 },
    C = maestro.reader { lanes = { 2 }, loops = 3, depth = 2, mask = true, ext = { maestro.ext.broadcast(64, 128) } },
    D = maestro.writer { lanes = { 2 }, loops = 3, depth = 2, shares = "C" },
  }
  local k, args = conv(4, 4, 4, 4, 3, 1, i32, i32)
  local o = conv_options(2)
  o.order.O = "y x n -> n/2 y x n%2"
  local job = sys:compile(k, o)
  t.eq({ job:stream "A".bounds, job:stream "A".strides }, { { 3, 3, 2, 2, 2, 4 }, { 8, 48, 288, 0, 16, 48 } })
  agrees(job, k, args, "O")
end)

t.test("a mode for each streamer where one for all loses cycles", function()
  local k = conv(8, 16, 32, 16, 3, 2)
  local sys, least = maestro.reference(), math.huge
  for _, mode in ipairs { "fima", "gima16", "gima8" } do
    least = math.min(least, sys:compile(k, conv_options(8, { mode = mode })):simulate().cycles)
  end
  local best = sys:compile(k, conv_options(8, { mode = "best" })):simulate()
  t.ok(best.utilisation >= 0.99 and best.cycles <= least, best.utilisation)
  local all = maestro.sweep(sys, k, conv_options(8, { modes = { "fima", "gima8" } }))
  t.ok(#all > 8 and all[1].report.cycles <= all[#all].report.cycles)
end)

-- A product whose sums become 8 bits: (sum * mult >> shift) + 3, within limits.
local function quantised(M, N, K, mult, shift)
  return tide.kernel {
    name = "quantised", A = i8[M][K], B = i8[K][N], C = i32[N], D = i8[M][N],
    function(A, B, C, D)
      for m, n in grid(M, N) do
        local acc = C[n]
        for k in reduction(K) do acc = acc + A[m][k] * B[k][n] end
        D[m][n] = i8(tide.max(-128, tide.min(127, tide.asr(acc * i16(mult), shift) + 3)))
      end
    end,
  }
end

t.test("results of 8 bits through the quantiser", function()
  local order = { A = blocked.A, B = blocked.B, C = "n -> n", D = blocked.D }
  local found = {}
  for _, arbiter in ipairs { "round_robin", "priority" } do
    for _, mode in ipairs { "gima8", "gima16" } do
      found[#found + 1] = deep(arbiter, 8, 2):compile(quantised(64, 64, 64, 77, 9),
        options { order = order, mode = mode }):simulate().cycles
    end
  end
  t.eq({ found[1], found[3], found[4] }, { 520, 520, 520 })
  for _, c in ipairs { { 24, 16, 40, 77, 12 }, { 9, 13, 16, 1, 1 }, { 8, 8, 8, 30000, 16 } } do
    local M, N, K, mult, shift = table.unpack(c)
    local k = quantised(M, N, K, mult, shift)
    agrees(maestro.reference():compile(k, { m = "m", n = "n", k = "k" }), k, {
      A = tide.random(i8[M][K], 1), B = tide.random(i8[K][N], 2),
      C = tide.random(i32[N], 3, { lo = -40000, hi = 40000 }),
      D = i8[M][N](0) }, "D")
  end
end)

t.test("registers: 63 to write, and what they would do", function()
  local sys = maestro.reference()
  local job = sys:compile(gemm(64, 64, 64), options { mode = "gima8" })
  t.eq(#job.csr, 63)
  t.eq({ job.csr[1].name, job.csr[1].number, job.csr[63].name }, { "A.base_lo", 960, "start" })
  local r = sys:decode(job.csr)
  for _, name in ipairs { "A", "B", "C", "D" } do t.eq(tostring(r[name]), tostring(job:stream(name))) end
  t.eq(r.E, nil)
  local values = {}
  for i, x in ipairs(job.csr) do values[i] = x.value end
  t.ok(sys:decode(values))
  values[1] = values[1] + 4
  local ok, e = pcall(sys.decode, sys, values)
  t.ok(not ok and e.code == "maestro-csr")
  t.has(e.message, "A.base is 4: no address of a word")
  values[63] = nil
  t.has(select(2, pcall(sys.decode, sys, values)).message, "62 values, and the system has 63 registers")
end)

t.test("a stride-2 layer whose result fills its banks is split where that loses fewer cycles", function()
  local k, args = conv(16, 16, 16, 32, 3, 2)
  local sys = maestro.reference()
  local job = sys:compile(k, conv_options(8, { mode = "best" }))
  t.ok(job:simulate().utilisation >= 0.99, tostring(job))
  agrees(job, k, args, "O")
end)

-- The code and message of the error that f raises.
local function refusal(f)
  local ok, e = pcall(f)
  t.ok(not ok, "it is accepted")
  t.ok(type(e) == "table", tostring(e))
  return e
end

t.test("systems are refused by field", function()
  local function memory(o)
    local m = { banks = 8, word = 8, rows = 16, modes = { all = 8 } }
    for k, v in pairs(o or {}) do m[k] = v end
    return m
  end
  local function build(m, more)
    local s = { memory = maestro.memory(memory(m)), X = maestro.reader { lanes = { 2 }, loops = 1, depth = 2 } }
    for k, v in pairs(more or {}) do s[k] = v end
    return maestro.system(s)
  end
  t.ok(build())
  for text, m in pairs {
    ["memory.banks: 12"] = { banks = 12 }, ["memory.word: 64"] = { word = 64 }, ["memory.rows: 0"] = { rows = 0 },
    ["memory.latency: 5"] = { latency = 5 }, ["memory.modes.odd"] = { modes = { odd = 3 } },
    ["memory.modes.all"] = { modes = { all = 16 } }, ["memory.rows"] = { rows = 1 << 27, banks = 128 },
  } do
    local e = refusal(function() build(m) end)
    t.eq(e.code, "maestro-field")
    t.has(e.message, text)
  end
  local function pair(o) return { Y = maestro.writer { lanes = { 2 }, loops = 1, depth = 2, shares = o } } end
  t.ok(build(nil, pair "X"))
  t.has(refusal(function() build(nil, pair "Z") end).message, "Y.shares: there is no other streamer 'Z'")
  t.has(refusal(function()
    build(nil, {
      X = maestro.reader { lanes = { 2 }, loops = 1, depth = 2, shares = "Y" }, Y = pair "X".Y,
    })
  end).message, "shares: ")
  local many = maestro.reader { lanes = { 3, 5, 7 }, loops = 1, depth = 2 }
  t.has(refusal(function() build(nil, { X = many }) end).message,
    "X.lanes: 105 channels")
  local function wide(n) return { X = maestro.reader { lanes = { 2 }, loops = 1, depth = 2,
    ext = { maestro.ext.broadcast(64, 64 * n), maestro.ext.transpose(4, 8, i8) } } } end
  t.ok(build(nil, wide(4)))
  t.has(refusal(function() build(nil, wide(3)) end).message, "X.ext[2]: transpose behind 192 bits")
end)

t.test("a pipe that would close a ready loop is refused with its path", function()
  local function cut(words) return maestro.reference {
    D = maestro.writer { lanes = { 8, 4 }, loops = 3, depth = 2, shares = "C", cut = words } } end
  t.ok(cut "full")
  local e = refusal(function() cut "pipe" end)
  t.eq(e.code, "maestro-field")
  t.has(e.message, "D accepts, so the array moves, so A is popped, so A requests")
end)

t.done()
