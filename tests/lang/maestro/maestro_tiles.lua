-- DataMaestro: loops that are no multiple of the array. Orders get room for whole tiles, and say so; what stands beyond
-- the last iteration never counts, or the kernel is refused.
-- [slow]
local tide, maestro = require "tide", require "tide.maestro"
local t = require "tap"
local i8, i16, i32, grid, reduction, ext = tide.i8, tide.i16, tide.i32, tide.grid, tide.reduction, maestro.ext

-- A system whose array is n x n x n of T.
local function system(n, T)
  local word = n == 2 and 4 or 8
  local words = n * n * T.bits // 8 // word
  local tile = n * n * 4 // word
  return maestro.system {
    memory = maestro.memory { banks = 16, word = word, rows = 256 },
    array = maestro.array { m = n, n = n, k = n, a = T, b = T, acc = i32 },
    A = maestro.reader { lanes = n == 2 and { 2, 2 } or { words }, loops = 6, depth = 4 },
    B = maestro.reader { lanes = { words }, loops = 5, depth = 4 },
    C = maestro.reader { lanes = { tile }, loops = 4, depth = 2, mask = true,
      ext = { ext.broadcast(n * 32, n * n * 32) } },
    D = maestro.writer { lanes = { tile }, loops = 4, depth = 2, shares = "C" },
  }
end

local systems = { { 2, i32, system(2, i32) }, { 4, i16, system(4, i16) }, { 8, i8, system(8, i8) } }

-- Whether a job leaves in `result` what the kernel leaves there.
local function same(sys, kernel, o, args, result)
  local job, got, want = sys:compile(kernel, o), {}, {}
  for name, v in pairs(args) do got[name], want[name] = v:copy(), v:copy() end
  job:run(got)
  kernel(want)
  return got[result]:equal(want[result]), job
end

local function gemm(T, M, N, K)
  return tide.kernel { name = "gemm", A = T[M][K], B = T[K][N], D = i32[M][N], function(A, B, D)
    for m, n in grid(M, N) do
      local acc = i32(0)
      for k in reduction(K) do acc = acc + A[m][k] * B[k][n] end
      D[m][n] = acc
    end
  end }, { A = tide.random(T[M][K], M), B = tide.random(T[K][N], N + 10), D = tide.random(i32[M][N], 7) }
end

t.test("products of all sizes from 1 to 9, in rows of blocks", function()
  for _, s in ipairs(systems) do
    local n, T, sys = table.unpack(s)
    local wrong = 0
    local orders = { A = ("m k -> k/%d m k%%%d"):format(n, n), B = ("k n -> k/%d n k%%%d"):format(n, n),
      D = ("m n -> n/%d m n%%%d"):format(n, n) }
    for M, N, K in grid(9, 9, 9) do
      local kernel, args = gemm(T, M + 1, N + 1, K + 1)
      local order = (M + N + K) % 2 == 0 and orders or nil
      if not same(sys, kernel, { m = "m", n = "n", k = "k", order = order }, args, "D") then wrong = wrong + 1 end
    end
    t.eq(wrong, 0, n)
  end
end)

t.test("vectors of all sizes, as rows or as columns", function()
  for _, s in ipairs(systems) do
    local n, T, sys = table.unpack(s)
    for N, K in grid(9, 9) do
      N, K = N + 1, K + 1
      local kernel = tide.kernel { name = "gemv", x = T[K], B = T[N][K], y = i32[N], function(x, B, y)
        for j in grid(N) do
          local acc = i32(0)
          for k in reduction(K) do acc = acc + B[j][k] * x[k] end
          y[j] = acc
        end
      end }
      local order = { x = "k -> k", B = ("n k -> n/%d k/%d n%%%d k%%%d"):format(n, n, n, n), y = "n -> n" }
      local args = { x = tide.random(T[K], 3), B = tide.random(T[N][K], 4), y = i32[N](0) }
      local rows = same(sys, kernel, { n = "j", k = "k", order = order }, args, "y")
      local columns = same(sys, kernel, { m = "j", k = "k", order = order }, args, "y")
      if not rows or not columns then t.ok(false, ("%d: %d %d"):format(n, N, K)) end
    end
    t.ok(true)
  end
end)

t.test("convolutions of all widths, with a bias", function()
  for _, s in ipairs(systems) do
    local n, T, sys = table.unpack(s)
    for OW = 1, 9 do
      for _, x in ipairs { { 3, 2, 1, 1, 1 }, { 1, 5, 9, 3, 1 }, { 2, 9, 3, 2, 2 }, { 2, 4, 7, 3, 2 } } do
        local OH, CI, CO, R, step = table.unpack(x)
        local H, W = step * (OH - 1) + R, step * (OW - 1) + R
        local kernel = tide.kernel { name = "conv", I = T[H][W][CI], F = T[CO][R][R][CI], b = i32[CO],
          O = i32[OH][OW][CO], function(I, F, b, O)
            for y, x, f in grid(OH, OW, CO) do
              local acc = b[f]
              for r, q, c in reduction(R, R, CI) do
                acc = acc + I[y * step + r][x * step + q][c] * F[f][r][q][c]
              end
              O[y][x][f] = acc
            end
          end }
        local order = { I = ("y x c -> c/%d y x c%%%d"):format(n, n), b = "n -> n",
          F = ("n y x c -> n/%d c/%d y x n%%%d c%%%d"):format(n, n, n, n),
          O = ("y x n -> n/%d y x n%%%d"):format(n, n) }
        local ok, job = same(sys, kernel, { m = "x", n = "f", k = "c", order = order,
          loops = { "y", "x", "f", "c", "r", "q" } }, { I = tide.random(T[H][W][CI], 5),
          F = tide.random(T[CO][R][R][CI], 10), b = tide.random(i32[CO], 3), O = i32[OH][OW][CO](0) }, "O")
        if not ok then t.ok(false, tostring(job)) end
      end
    end
    t.ok(true)
  end
end)

t.test("the width is told, and so is the text that says it", function()
  local sys = maestro.reference()
  local function job(order)
    local kernel = gemm(i8, 7, 16, 16)
    return sys:compile(kernel, { m = "m", n = "n", k = "k", order = { A = "m k -> m/8 k/8 m%8 k%8", D = order } })
  end
  t.has(job("m n -> n/8 m n%8").note, [[D "m n -> n/8 m%8 n%8"]])
  t.has(tostring(job "m n -> n/8 m n%8"), "with room for whole tiles")
  t.ok(not job("m n -> n/8 m%8 n%8").note)
end)

-- Rows and columns that overlap: what stands behind the last step of one is a step of another.
local function overlapping(K)
  return tide.kernel { name = "correlate", A = i32[16], B = i32[16], D = i32[2][2], function(A, B, D)
    for m, n in grid(2, 2) do
      local acc = i32(0)
      for k in reduction(K) do acc = acc + A[m + k] * B[n + k] end
      D[m][n] = acc
    end
  end }, { A = tide.random(i32[16], 1), B = tide.random(i32[16], 2), D = i32[2][2](0) }
end

t.test("iterations too many multiply zeros, or the kernel is refused", function()
  local sys = maestro.system {
    memory = maestro.memory { banks = 16, word = 4, rows = 64 },
    array = maestro.array { m = 2, n = 2, k = 2, a = i32, b = i32, acc = i32 },
    A = maestro.reader { lanes = { 2, 2 }, loops = 4, depth = 2 },
    B = maestro.reader { lanes = { 2, 2 }, loops = 4, depth = 2 },
    D = maestro.writer { lanes = { 4 }, loops = 4, depth = 2 },
  }
  local o = { m = "m", n = "n", k = "k", order = { A = "x -> x", B = "x -> x", D = "m n -> m n" } }
  local kernel, args = overlapping(4)
  t.ok((same(sys, kernel, o, args, "D")))
  t.fails(function() sys:compile(overlapping(3), o) end, { code = "maestro-pads" })
end)

-- A convolution of i8; its arguments.
local function convolution(OH, OW, CI, CO, R, step)
  local H, W = step * (OH - 1) + R, step * (OW - 1) + R
  return tide.kernel { name = "conv", I = i8[H][W][CI], F = i8[CO][R][R][CI], b = i32[CO], O = i32[OH][OW][CO],
    function(I, F, b, O)
      for y, x, f in grid(OH, OW, CO) do
        local acc = b[f]
        for r, q, c in reduction(R, R, CI) do acc = acc + I[y * step + r][x * step + q][c] * F[f][r][q][c] end
        O[y][x][f] = acc
      end
    end }, { I = tide.random(i8[H][W][CI], 5), F = tide.random(i8[CO][R][R][CI], 10), b = tide.random(i32[CO], 3),
    O = i32[OH][OW][CO](0) }
end

-- The evaluation system with channels in two dimensions.
local function flat(w, h)
  return maestro.reference {
    A = maestro.reader { lanes = { w, h }, loops = 6, depth = 8 },
    C = maestro.reader { lanes = { 4, w, h }, loops = 3, depth = 2, mask = true, ext = { ext.broadcast(256, 2048) } },
    D = maestro.writer { lanes = { 4, w, h }, loops = 3, depth = 2, shares = "C" },
    E = maestro.writer { lanes = { w, h }, loops = 3, depth = 2 },
  }
end

t.test("two loops across m: tiles of lines and pixels", function()
  for _, x in ipairs { { 28, 28, 8, 8, 1, 1 }, { 7, 6, 16, 16, 3, 1 }, { 5, 9, 8, 8, 3, 2 }, { 3, 3, 9, 5, 2, 1 } } do
    local kernel, args = convolution(table.unpack(x))
    for _, shape in ipairs { { 4, 2 }, { 2, 4 } } do
      local w, h = table.unpack(shape)
      local ok, job = same(flat(w, h), kernel, { m = ("y%%%d x%%%d"):format(h, w), n = "f", k = "c",
        loops = { "y", "x", "f", "c", "r", "q" } }, args, "O")
      t.ok(ok, tostring(job))
    end
  end
  local kernel = convolution(28, 28, 8, 8, 1, 1)
  local o = { m = "x", n = "f", k = "c", loops = { "y", "x", "f", "c", "r", "q" } }
  local line = flat(4, 2):compile(kernel, o):simulate().fires
  o.m = "y%2 x%4"
  t.eq(flat(4, 2):compile(kernel, o):simulate().fires / line, 7 / 8)
end)

t.test("two loops across k: pixels and channels of a word, where few channels are", function()
  for _, x in ipairs { { 8, 8, 3, 8, 7, 2 }, { 5, 16, 4, 9, 3, 2 }, { 4, 8, 1, 8, 5, 8 }, { 4, 8, 2, 8, 4, 4 } } do
    local kernel, args = convolution(table.unpack(x))
    local c = x[3] == 3 and 4 or x[3]
    local ok, job = same(maestro.reference(), kernel, { m = "x", n = "f", k = ("q%%%d c%%%d"):format(8 // c, c),
      loops = { "y", "x", "f", "c", "r", "q" } }, args, "O")
    t.ok(ok, tostring(job))
  end
  local kernel, args = convolution(8, 8, 3, 8, 7, 2)
  local o = { m = "y%2 x%4", n = "f", k = "q%2 c%4", loops = { "y", "x", "f", "c", "r", "q" } }
  local ok, job = same(flat(4, 2), kernel, o, args, "O")
  t.ok(ok, tostring(job))
  t.eq(job.core and job:simulate().fires, 8 * 7 * 4)
end)

t.test("parts of loops that do not fill the array; words that begin inside of others", function()
  local sys, kernel = maestro.reference(), convolution(8, 8, 4, 8, 3, 2)
  local o = { m = "x", n = "f", k = "q%2 c%4", loops = { "y", "x", "f", "c", "r", "q" } }
  t.ok(sys:compile(kernel, o))
  t.fails(function() sys:compile((convolution(8, 8, 4, 8, 3, 1)), o) end,
    { code = "maestro-word", match = "words begin inside of others" })
  local function refused(key, text, match)
    local other = { m = o.m, n = o.n, k = o.k, loops = o.loops, [key] = text }
    t.fails(function() sys:compile(kernel, other) end, { code = "maestro-spatial", match = match })
  end
  refused("k", "q%2 c%2", "no two parts of loops that fill the array")
  refused("k", "q%2 c%4 r%1", "no two parts of loops that fill the array")
  refused("n", "y%2 f%4", "one loop goes across n")
  refused("k", "y%2 c%4", "k = 'y' does not reduce")
end)

-- A product of the first `M` rows, columns and steps of larger tensors.
local function corner(M)
  return tide.kernel { name = "corner", A = i8[16][16], B = i8[16][16], D = i32[16][16], function(A, B, D)
    for m, n in grid(M, M) do
      local acc = i32(0)
      for k in reduction(M) do acc = acc + A[m + 1][k + 1] * B[k][n] end
      D[m][n + 1] = acc
    end
  end }
end

t.test("parts of larger tensors: what stands beside them stays", function()
  local sys = maestro.reference()
  for _, M in ipairs { 5, 8, 11, 15 } do
    local ok, job = same(sys, corner(M), { m = "m", n = "n", k = "k" }, { A = tide.random(i8[16][16], 1),
      B = tide.random(i8[16][16], 2), D = tide.random(i32[16][16], 3) }, "D")
    t.ok(ok, tostring(job))
  end
end)

t.test("one tensor as two operands", function()
  local sys = maestro.system {
    memory = maestro.memory { banks = 16, word = 8, rows = 64 },
    array = maestro.array { m = 4, n = 8, k = 8, a = i8, b = i8, acc = i32 },
    A = maestro.reader { lanes = { 4 }, loops = 4, depth = 2 },
    B = maestro.reader { lanes = { 8 }, loops = 4, depth = 2 },
    D = maestro.writer { lanes = { 16 }, loops = 4, depth = 2 },
  }
  local kernel = tide.kernel { name = "gram", A = i8[16][12], D = i32[16][16], function(A, D)
    for m, n in grid(16, 16) do
      local acc = i32(0)
      for k in reduction(12) do acc = acc + A[m][k] * A[n][k] end
      D[m][n] = acc
    end
  end }
  local ok, job = same(sys, kernel, { m = "m", n = "n", k = "k" }, { A = tide.random(i8[16][12], 1),
    D = i32[16][16](0) }, "D")
  t.ok(ok, tostring(job))
end)

t.test("results that other iterations read", function()
  local sys = maestro.reference()
  local function kernel(far)
    return tide.kernel { name = "chain", A = i8[16][8], B = i8[8][8], D = i32[17][8], function(A, B, D)
      for m, n in grid(16, 8) do
        local acc = D[m][n]
        for k in reduction(8) do acc = acc + A[m][k] * B[k][n] end
        D[m + far][n] = acc
      end
    end }
  end
  local o = { m = "m", n = "n", k = "k" }
  t.ok((same(sys, kernel(0), o, { A = tide.random(i8[16][8], 1), B = tide.random(i8[8][8], 2),
    D = tide.random(i32[17][8], 3) }, "D")))
  t.fails(function() sys:compile(kernel(1), o) end, { code = "maestro-kernel", match = "'D' is read where other" })
end)

t.done()
