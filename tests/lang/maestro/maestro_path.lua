-- DataMaestro: words that go from a reader to a writer past the array, through extensions: pooling, sums of two,
-- rescaling, another order in memory. Results are the kernels'; each refusal has a twin that is accepted.
local tide, maestro, core = require "tide", require "tide.maestro", require "tide.maestro.core"
local t = require "tap"
local i8, i16, i32, grid, reduction = tide.i8, tide.i16, tide.i32, tide.grid, tide.reduction
local ext, int = maestro.ext, tide.int

-- A reader R and a writer W of 8 channels of 8 bytes.
local function path(reads, writes, more)
  local o = {
    memory = maestro.memory { banks = 16, word = 8, rows = 512, modes = { all = 16, half = 8 } },
    R = maestro.reader { lanes = { 8 }, loops = 6, depth = 4, ext = reads },
    W = maestro.writer { lanes = { 8 }, loops = 6, depth = 2, ext = writes },
  }
  for k, v in pairs(more or {}) do o[k] = v end
  return maestro.system(o)
end

local function agrees(sys, k, o, args, result)
  local got, want = {}, {}
  for name, v in pairs(args) do got[name], want[name] = v:copy(), v:copy() end
  local job = sys:compile(k, o or {})
  local r = job:run(got)
  k:native(want)
  t.ok(got[result]:equal(want[result]), tostring(job))
  return r, job
end

-- The greatest of windows of R x S, `s` apart.
local function pooling(H, W, C, R, S, s, first)
  local OH, OW = (H - R) // s + 1, (W - S) // s + 1
  return tide.kernel {
    name = "pool", I = i8[H][W][C], O = i8[OH][OW][C],
    function(I, O)
      for y, x, c in grid(OH, OW, C) do
        local acc = i8(first or -128)
        for a, b in reduction(R, S) do acc = tide.max(acc, I[s * y + a][s * x + b][c]) end
        O[y][x][c] = acc
      end
    end,
  }, { I = tide.random(i8[H][W][C], 1), O = i8[OH][OW][C](0) }
end

local blocks = { I = "y x c -> c/8 y x c%8", O = "y x c -> c/8 y x c%8" }

t.test("pooling by maxpool: a window of any size, stride and order", function()
  local k, args = pooling(8, 16, 16, 2, 2, 2)
  local r, job = agrees(path { ext.maxpool() }, k, { order = blocks }, args, "O")
  t.eq({ job:stream "R".bounds, r.fires }, { { 2, 16, 1, 1, 1, 1 }, 8 })
  k, args = pooling(10, 10, 8, 3, 3, 1)
  agrees(path { ext.maxpool() }, k, { order = blocks }, args, "O")
  k, args = pooling(5, 5, 64, 3, 2, 1)
  agrees(path { ext.maxpool() }, k, nil, args, "O")
  agrees(path { ext.transpose(8, 8, i8), ext.maxpool() }, k, nil, args, "O")
end)

local function sum(T, S, M, N)
  return tide.kernel {
    name = "sum", A = T[M][N], B = T[M][N], O = S[M][N],
    function(A, B, O)
      for y, x in grid(M, N) do O[y][x] = S(A[y][x] + B[y][x]) end
    end,
  }, { A = tide.random(T[M][N], 1), B = tide.random(T[M][N], 2), O = S[M][N](0) }
end

t.test("sums of two operands, on their bits or on 32", function()
  local k, args = sum(i8, i8, 16, 24)
  local _, job = agrees(path { ext.add(i8) }, k, nil, args, "O")
  t.eq({ job:stream "R".bounds[1], job:stream "R".strides[1] }, { 2, 16 * 24 })
  k, args = sum(i8, i32, 8, 40)
  agrees(path { ext.add_wide() }, k, nil, args, "O")
  k, args = sum(i16, i32, 8, 32)
  agrees(path { ext.add_wide(i16) }, k, nil, args, "O")
  k, args = sum(i32, i32, 4, 20)
  agrees(path({ ext.add(i32) }, nil, { R = maestro.reader { lanes = { 2, 4 }, loops = 3, depth = 1,
    ext = { ext.add(i32) } } }), k, { order = { A = "m n -> n m", B = "m n -> n m", O = "m n -> n m" } }, args, "O")
end)

local function rescaled(M, N, zp, mult, shift, out)
  return tide.kernel {
    name = "rescaled", A = i32[M][N], O = i8[M][N],
    function(A, O)
      for y, x in grid(M, N) do
        O[y][x] = i8(tide.max(-128, tide.min(127,
          tide.asr((A[y][x] - zp) * int(24)(mult) + (1 << (shift - 1)), shift) + out)))
      end
    end,
  }, { A = tide.random(i32[M][N], 3, { lo = -40000, hi = 40000 }), O = i8[M][N](0) }
end

t.test("rescaling on either side, alone or behind sums", function()
  for _, c in ipairs { { 5, 70000, 25, 3 }, { -9, 1, 1, -7 }, { 0, 8000000, 31, 0 } } do
    local zp, mult, shift, out = table.unpack(c)
    local k, args = rescaled(16, 16, zp, mult, shift, out)
    agrees(path { ext.rescale() }, k, nil, args, "O")
    agrees(path(nil, { ext.rescale() }), k, nil, args, "O")
  end
  local mean = tide.kernel {
    name = "mean", I = i8[4][8][64], O = i8[64],
    function(I, O)
      for c in grid(64) do
        local acc = i32(0)
        for a, b in reduction(4, 8) do acc = acc + I[a][b][c] end
        O[c] = i8(tide.max(-128, tide.min(127, tide.asr(acc * int(24)(1 << 20) + (1 << 24), 25))))
      end
    end,
  }
  local args = { I = tide.random(i8[4][8][64], 4), O = i8[64](0) }
  agrees(path({ ext.add_wide() }, { ext.rescale() }), mean, nil, args, "O")
  agrees(path { ext.add_wide(), ext.rescale() }, mean, nil, args, "O")
end)

t.test("another order in memory is a job with its cost", function()
  local k = tide.kernel { name = "copy", I = i8[16][64], O = i8[16][64], function(I, O)
    for y, x in grid(16, 64) do O[y][x] = I[y][x] end
  end }
  local args = { I = tide.random(i8[16][64], 5), O = i8[16][64](0) }
  local r = agrees(path(), k, { order = { I = "y x -> y x", O = "y x -> x/8 y x%8" } }, args, "O")
  local same = agrees(path(), k, nil, args, "O")
  t.ok(r.cycles > same.cycles and same.fires == 16, r.cycles)
  t.eq(r.accesses, 2 * 16 * 8)
end)

t.test("relayout: between layers whose orders differ, as a job; orders are texts or layouts", function()
  local sys, T = path(), i8[8][8][32]
  local from, to = "y x c -> y x c", tide.layout(T, "y x c -> c/8 y x c%8")
  local job = maestro.relayout(sys, T, from, to)
  local I, O = tide.random(T, 6), T(0)
  local r = job:run { I = I, O = O }
  t.ok(O:equal(I))
  t.ok(r.cycles > 32 and r.fires == 32, r.cycles)
  t.eq(maestro.relayout(sys, i8[128], "x -> x", "x -> x"):simulate().fires, 2)
  local five = "a b c d e -> a b c d e"
  t.eq(select(2, pcall(maestro.relayout, sys, i8[2][2][2][2][8], five, five)).code, "maestro-order")
end)

local function refused(code, sys, k, o, ...)
  local ok, e = pcall(sys.compile, sys, k, o or {})
  t.ok(not ok, "it is accepted")
  t.eq(type(e) == "table" and e.code, code, tostring(e))
  for _, text in ipairs { ... } do t.has(tostring(e), text) end
end

t.test("sizes that are no multiple of a word: the result's order gets room, and what is not touched stays", function()
  local both = path({ ext.maxpool(), ext.add(i8) }, nil, {
    W = maestro.writer { lanes = { 8 }, loops = 6, depth = 2, from = "R" },
    S = maestro.reader { lanes = { 8 }, loops = 6, depth = 2, ext = { ext.rescale() } },
    Z = maestro.writer { lanes = { 8 }, loops = 6, depth = 2, from = "S" } })
  for H, W, C in grid(3, 4, 9) do
    H, W, C = 2 * H + 2, 2 * W + 3, 3 * C + 1
    local k, args = pooling(H, W, C, 2, 2, 2)
    agrees(both, k, C % 2 == 0 and { order = blocks } or nil, args, "O")
    k, args = sum(i8, i8, H, C)
    agrees(both, k, nil, args, "O")
    k, args = rescaled(H, C, 3, 7, 4, 1)
    agrees(both, k, nil, args, "O")
  end
  local function part(n, from)
    return tide.kernel { name = "part", I = i8[64], O = i8[64], function(I, O)
      for x in grid(n) do O[x + 3] = I[x + from] end
    end }, { I = tide.random(i8[64], 1), O = tide.random(i8[64], 2) }
  end
  local k, args = part(20, 1)
  local _, job = agrees(path(), k, nil, args, "O")
  t.has(job.note, "of tensors only what the loops touch")
  k, args = part(61, 0)
  agrees(path(), k, nil, args, "O")
  local function along(far)
    return tide.kernel { name = "along", I = i8[72], function(I)
      for x in grid(64) do I[x] = I[x + far] end
    end }
  end
  t.ok(path():compile(along(0), {}))
  refused("maestro-kernel", path(), along(8), nil, "'I' is read where other iterations write it")
end)

t.test("what no path does is refused", function()
  local k = pooling(8, 16, 16, 2, 2, 2)
  t.ok(path { ext.maxpool() }:compile(k, { order = blocks }))
  refused("maestro-path", path { ext.add(i8) }, k, { order = blocks }, "extensions that it takes: maxpool", "R to W")
  refused("maestro-path", path { ext.maxpool(i16) }, k, { order = blocks }, "maxpool")
  refused("maestro-path", maestro.reference(), k, { order = blocks }, "no writer takes words from a reader")
  refused("maestro-init", path { ext.maxpool() }, (pooling(8, 16, 16, 2, 2, 2, 0)), { order = blocks },
    "it begins with a value that counts")
  local odd = pooling(8, 15, 3, 2, 2, 2)
  t.ok(path { ext.maxpool() }:compile(odd, { order = { O = "y x c -> y x c" } }))
  refused("maestro-lanes", path { ext.maxpool() }, odd, { order = { O = "y x c -> y%4 x%7 c%3" } },
    "whole parts of the result")
  refused("maestro-beats", path { ext.maxpool() }, (pooling(16, 32, 8, 16, 16, 16)), { order = blocks }, "255 words")
  local two = sum(i8, i8, 16, 64)
  t.ok(path { ext.add(i8) }:compile(two, {}))
  refused("maestro-order", path { ext.add(i8) }, two, { order = { A = "m n -> m n", B = "m n -> n/8 m n%8" } },
    "have the same order")
  local one = path({ ext.add(i8) }, nil, { R = maestro.reader { lanes = { 8 }, loops = 1, depth = 2,
    ext = { ext.add(i8) } } })
  local ok, e = pcall(core.compile, one.core, two, {})
  t.ok(not ok and e.code == "maestro-loops" and tostring(e):find("no loop is left", 1, true), e)
  t.eq(#one:compile(two, {}).jobs, 16)
  local twice = tide.kernel { name = "twice", A = i8[64], O = i8[64], function(A, O)
    for x in grid(64) do O[x] = A[x] end
    for x in grid(64) do O[x] = A[x] end
  end }
  refused("maestro-kernel", path(), twice, nil, "no statement adds a product")
  local q = rescaled(16, 16, 0, 7, 4, 0)
  t.ok(path { ext.rescale() }:compile(q, {}))
  local floor = tide.kernel { name = "q", A = i32[16], O = i8[16], function(A, O)
    for x in grid(16) do O[x] = i8(tide.max(-128, tide.min(127, tide.asr(A[x] * i16(7), 4)))) end
  end }
  refused("maestro-store", path { ext.rescale() }, floor, nil, "1 << shift - 1")
end)

t.test("paths and their extensions are refused by field", function()
  local function field(text, ...)
    local ok, e = pcall(path, ...)
    t.ok(not ok, "it is accepted")
    t.eq(e.code, "maestro-field")
    t.has(e.message, text)
  end
  t.ok(path({ ext.add(i32) }, { ext.rescale() }))
  field("R.ext[1]: add behind 512 bits: its elements", { ext.add(tide.f32) })
  field("W.ext[1]: a writer has no broadcast", nil, { ext.broadcast(256, 512) })
  local wide = { W = maestro.writer { lanes = { 8 }, loops = 2, depth = 2, from = "R" },
    R = maestro.reader { lanes = { 4 }, loops = 2, depth = 2 } }
  field("W.from: words of 512 bits, and those of 'R' have 256", nil, nil, wide)
  local piped = { W = maestro.writer { lanes = { 8 }, loops = 2, depth = 2, cut = "pipe" } }
  field("W.cut: \"pipe\" closes a loop", nil, nil, piped)
  piped.R = maestro.reader { lanes = { 8 }, loops = 2, depth = 2, cut = "full" }
  t.ok(path(nil, nil, piped))
  field("W.from: there is no other streamer 'X'", nil, nil,
    { W = maestro.writer { lanes = { 8 }, loops = 2, depth = 2, from = "X" } })
  t.eq(select(2, pcall(ext.rescale, { to = i32, efficient = true })).code, "maestro-field")
  t.ok(ext.rescale { from = i8, to = i32 })
end)

t.test("a queue that is full: by its cut it accepts when it is popped, or not", function()
  local k = tide.kernel { name = "copy", I = i8[32][64], O = i8[32][64], function(I, O)
    for y, x in grid(32, 64) do O[y][x] = I[y][x] end
  end }
  local function cycles(reads, writes)
    local sys = path(nil, nil, {
      R = maestro.reader { lanes = { 8 }, loops = 2, depth = 2, cut = reads },
      W = maestro.writer { lanes = { 8 }, loops = 2, depth = 1, cut = writes },
    })
    return sys:compile(k, { mode = "half" }):simulate().cycles
  end
  local full, piped = cycles("full", "full"), cycles("full", "pipe")
  t.ok(piped < full, ("%d, %d"):format(piped, full))
  t.ok(cycles("pipe", "full") <= full)
end)

t.done()
