-- DataMaestro: what a system cannot do, said with the streamer, the loop or digit, and what would fit; each beside a
-- twin that is accepted and differs in one fact.
local tide = require "tide"
local maestro = require "tide.maestro"
local core = require "tide.maestro.core"
local t = require "tap"

local i8, i16, i32, grid, reduction = tide.i8, tide.i16, tide.i32, tide.grid, tide.reduction

-- A product of 16 x 16 x 16 whose kernel and options are changed by `change`.
local function job(change)
  local o = {
    m = "m", n = "n", k = "k", order = {
      A = "m k -> m/8 k/8 m%8 k%8", B = "k n -> n/8 k/8 n%8 k%8", C = "m n -> m/8 n/8 m%8 n%8",
      D = "m n -> m/8 n/8 m%8 n%8",
    },
  }
  local T, kernel = i8, nil
  if change then kernel, T = change(o) end
  T = T or i8
  kernel = kernel or tide.kernel {
    name = "gemm", A = T[16][16], B = T[16][16], C = i32[16][16], D = i32[16][16],
    function(A, B, C, D)
      for m, n in grid(16, 16) do
        local acc = C[m][n]
        for k in reduction(16) do acc = acc + A[m][k] * B[k][n] end
        D[m][n] = acc
      end
    end,
  }
  return maestro.reference():compile(kernel, o)
end

-- States that the change is refused with this code and these words.
local function refused(code, change, ...)
  local ok, e = pcall(job, change)
  t.ok(not ok, "accepted")
  t.eq(e.code, code, tostring(e))
  for _, text in ipairs { ... } do t.has(tostring(e), text) end
end

t.test("the twin of all", function() t.ok(job()) end)

t.test("words that are not contiguous", function()
  refused("maestro-word", function(o) o.order.C = "m n -> n m" end, "streamer C",
    "order = {C = \"m n -> m/8 n/8 m%8 n%8\"}")
  t.ok(job(function(o) o.order.A = "m k -> m k" end))
end)

t.test("channels that no one stride fills", function()
  refused("maestro-lanes", function(o) o.order.D = "m n -> m/8 n/4 m%8 n%4" end, "streamer D", "digit (")
  t.ok(job(function(o) o.order.A = "m k -> m:24 k" end))
end)

t.test("an order without room for what goes across the array", function()
  local function size(M, rows)
    return function(o)
      o.order.A = ("m k -> k/8 m%s k%%8"):format(rows or "")
      return tide.kernel {
        name = "gemm", A = i8[M][16], B = i8[16][16], C = i32[M][16], D = i32[M][16],
        function(A, B, C, D)
          for m, n in grid(M, 16) do
            local acc = C[m][n]
            for k in reduction(16) do acc = acc + A[m][k] * B[k][n] end
            D[m][n] = acc
          end
        end,
      }
    end
  end
  t.ok(not job(size(24)).note)
  t.eq(job(size(20)).note, [[with room for whole tiles A "m k -> k/8 m%24 k%8"]])
  refused("maestro-carry", size(20, "%20"), "streamer A", "loop 'm' carries out of 'm%20'", "m/8")
end)

t.test("loops that keep no sum in the array", function()
  refused("maestro-stationary", function(o) o.loops = { "k", "m", "n" } end, "loop 'm' is inside of 'k'",
    'loops = {"m", "n", "k"}')
  t.ok(job(function(o) o.loops = { "n", "m", "k" } end))
  refused("maestro-loop", function(o) o.loops = { "m", "k" } end, "loops lacks 'n'")
  refused("maestro-loop", function(o) o.m = "i" end, "no loop 'i'", "m, n, k")
  refused("maestro-spatial", function(o) o.m = "k" end, "m = 'k' reduces")
end)

t.test("types, orders, modes and bases", function()
  refused("maestro-type", function() return nil, i16 end, "'A' is i16, and the array takes i8")
  refused("maestro-order", function(o) o.order.A = "m k -> m/8 k/8 m%8" end, "the parts of 'k' do not make it up")
  refused("maestro-order", function(o) o.order.X = "m k -> m k" end, "no parameter 'X'")
  refused("maestro-order", function(o) o.order.A = "m k -> m:8 k" end, "take 16 bytes each, and stand 8 apart")
  refused("maestro-mode", function(o) o.mode = "gima4" end, "no mode 'gima4'")
  refused("maestro-base", function(o) o.base = { A = 4 } end, "streamer A", "no multiple of a word of 8 bytes")
  refused("maestro-overlap", function(o) o.base = { A = 4096, B = 4104 } end, "lies on 'A' of streamer A")
  refused("maestro-memory", function(o) o.base = { A = 131072 } end, "a memory of 131072")
  t.ok(job(function(o) o.base, o.mode = { A = 4096, B = 4096 + 256 }, "gima8" end))
end)

t.test("options of another kind, or of streamers that are not there", function()
  local function option(code, key, v, match)
    local other = job().options
    local o = {}
    for k, x in pairs(other) do o[k] = x end
    o[key] = v
    t.fails(function() maestro.reference():compile(job().kernel, o) end, { code = code, match = match })
  end
  option("maestro-field", "m", 5, "compile.m: a string")
  option("maestro-loop", "loops", "m", "compile.loops: a table")
  option("maestro-order", "order", 5, "compile.order: a string or table")
  option("maestro-mode", "mode", 5, "compile.mode: a string or table")
  option("maestro-mode", "mode", { A = 5 }, "the name of a mode")
  option("maestro-mode", "mode", { Q = "fima" }, "no streamer 'Q'")
  option("maestro-base", "base", { Q = 8 }, "no streamer 'Q'")
  option("maestro-field", "overlap", "yes", "compile.overlap: a boolean")
  option("maestro-field", "ext", { A = "relu" }, "a list of names of kernels")
  t.ok(job(function(o) o.mode, o.base, o.overlap, o.ext = { A = "fima" }, { A = 8 }, true, { A = {} } end))
  local function system(o) t.fails(function() maestro.system(o) end, { code = "maestro-field" }) end
  system(nil)
  system { memory = 5 }
  system { memory = maestro.memory { banks = 8, word = 8, rows = 8 }, array = "8x8x8" }
  system { memory = maestro.memory { banks = 8, word = 8, rows = 8 },
    ["a b"] = maestro.reader { lanes = { 1 }, loops = 1, depth = 1 } }
  system { memory = maestro.memory { banks = 8, word = 8, rows = 8 },
    [1] = maestro.reader { lanes = { 1 }, loops = 1, depth = 1 } }
  t.fails(function() maestro.reader { lanes = { 1 }, loops = 1, depth = 1, ext = 5 } end, { code = "maestro-field" })
end)

t.test("a base on another mode's rows", function()
  refused("maestro-overlap", function(o) o.mode, o.base = { A = "fima", B = "gima8" }, { A = 0, B = 0 } end,
    "in mode gima8")
  t.ok(job(function(o) o.mode, o.base = { A = "fima", B = "gima8", C = "gima8", D = "gima8" },
    { A = 0, B = 32768 + 512, C = 65536 + 512, D = 98304 + 512 } end))
end)

-- A kernel of one statement in the middle, with an index or a value of its own.
local function depthwise(shared)
  return tide.kernel {
    name = "depthwise", A = i8[16][16][16], B = i8[16][16], D = i32[16][16],
    function(A, B, D)
      for x, c in grid(16, 16) do
        local acc = i32(0)
        for k in reduction(16) do
          if shared then acc = acc + A[x][c][k] * B[c][k] else acc = acc + A[x][0][k] * B[c][k] end
        end
        D[x][c] = acc
      end
    end,
  }
end

t.test("a loop that moves both factors", function()
  local function change(shared)
    return function(o)
      o.m, o.n, o.order = "x", "c", { A = "x c k -> c x/8 k/8 x%8 k%8", B = "c k -> c/8 k/8 c%8 k%8",
        D = "x c -> x/8 c/8 x%8 c%8" }
      return depthwise(shared)
    end
  end
  t.ok(job(change(false)))
  refused("maestro-role", change(true), "loop 'c' goes across n", "moves both 'A' and 'B'")
end)

t.test("kernels that are no sum of products", function()
  local function table_index(use)
    return function(o)
      o.order = { A = "m k -> m/8 k/8 m%8 k%8", D = "m n -> m/8 n/8 m%8 n%8", B = "k n -> n/8 k/8 n%8 k%8" }
      return tide.kernel {
        name = "gather", A = i8[16][16], B = i8[16][16], T = i32[16], D = i32[16][16],
        function(A, B, T, D)
          for m, n in grid(16, 16) do
            local acc = i32(0)
            for k in reduction(16) do
              if use then acc = acc + A[T[m]][k] * B[k][n] else acc = acc + A[m][k] * B[k][n] end
            end
            D[m][n] = acc
          end
        end,
      }
    end
  end
  t.ok(job(table_index(false)))
  refused("maestro-access", table_index(true), "'A': index 0 is not affine")
  refused("maestro-path", function(o)
    o.order = nil
    return tide.kernel { name = "copy", A = i8[16], D = i8[16], function(A, D)
      for i in grid(16) do D[i] = A[i] end
    end }
  end, "no statement adds a product")
  refused("maestro-init", function(o)
    o.order = { A = o.order.A, B = o.order.B, D = o.order.D }
    return tide.kernel { name = "one", A = i8[16][16], B = i8[16][16], D = i32[16][16], function(A, B, D)
      for m, n in grid(16, 16) do
        local acc = i32(1)
        for k in reduction(16) do acc = acc + A[m][k] * B[k][n] end
        D[m][n] = acc
      end
    end }
  end, "a number that is not 0")
end)

t.test("what is stored is the sum, or the quantiser's 8 bits of it", function()
  local function stores(f)
    return function(o)
      o.order = nil
      return tide.kernel { name = "q", A = i8[16][16], B = i8[16][16], D = i8[16][16], function(A, B, D)
        for m, n in grid(16, 16) do
          local acc = i32(0)
          for k in reduction(16) do acc = acc + A[m][k] * B[k][n] end
          D[m][n] = f(acc)
        end
      end }
    end
  end
  t.ok(job(stores(function(x) return i8(tide.min(127, tide.max(-128, tide.asr(x * 3, 4)))) end)))
  refused("maestro-store", stores(function(x) return i8(tide.asr(x * 3, 4)) end), "no limits of its type")
  refused("maestro-store", stores(function(x) return i8(tide.min(127, tide.max(-128, x))) end), "shifts right")
  refused("maestro-store", stores(function(x) return i8(tide.min(127, tide.max(-128, tide.asr(x * 9, 4)))) end),
    "mult is at most")
end)

-- A product whose results have a multiplier and a shift for each column, or what `by` says.
local function channels(N, by, mult, shift)
  return tide.kernel { name = "q", A = i8[16][16], B = i8[16][N], D = i8[16][N], function(A, B, D)
    for m, n in grid(16, N) do
      local acc = i32(0)
      for k in reduction(16) do acc = acc + A[m][k] * B[k][n] end
      D[m][n] = i8(tide.min(127, tide.max(-128, by(acc, mult, shift, m, n))))
    end
  end }
end
local function by_column(acc, mult, shift, _, n) return tide.asr(acc * mult[n], shift[n]) - 3 end

t.test("a multiplier and shift for each channel", function()
  local function tables(N, change)
    local mult, shift = i16[N](0), i8[N](0)
    for n = 0, N - 1 do mult[n], shift[n] = change and 3 + n or 5, change and 8 + n % 3 or 9 end
    return mult, shift
  end
  local function compile(N, by, change)
    local sys = maestro.reference()
    return sys:compile(channels(N, by or by_column, tables(N, change)), { m = "m", n = "n", k = "k" })
  end
  for _, N in ipairs { 3, 8, 16, 24, 29, 64 } do
    local job = compile(N, nil, true)
    t.eq(job.jobs and #job.jobs, N > 8 and (N + 7) // 8 or nil)
    local A, B, D, want = tide.random(i8[16][16], 1), tide.random(i8[16][N], 2), i8[16][N](0), i8[16][N](0)
    job:run(A, B, D)
    channels(N, by_column, tables(N, true))(A, B, want)
    t.ok(D:equal(want), N)
    t.eq((job.jobs or { job })[1].core ~= nil, true)
  end
  t.eq(compile(24).jobs, nil, "the same in all tiles")
  local whole = { m = "m", n = "n", k = "k" }
  local ok, why = pcall(core.compile, maestro.reference().core, channels(16, by_column, tables(16, true)), whole)
  t.ok(not ok and why.code == "maestro-columns", why)
  t.has(tostring(why), "a job for each 8 iterations of 'n'")
  local function fails(by, text)
    local ok, e = pcall(compile, 16, by, true)
    t.ok(not ok and e.code == "maestro-store", e)
    t.has(tostring(e), text)
  end
  fails(function(acc, mult, _, m) return tide.asr(acc * mult[m], 9) end, "a value for each 'm'")
  fails(function(acc, mult, _, _, n) return tide.asr(acc * mult[n], 0) end, "a shift from 1")
  fails(function(acc, mult, _, _, n) return tide.asr(acc * mult[n], 4) end, "mult is at most")
  t.ok(compile(16, function(acc, mult, _, _, n) return tide.asr(acc * mult[n], 9) end, true))
end)

-- The same, by what a call is given; T: of the multipliers, by: the index of a column's.
local function given(N, T, by)
  return tide.kernel { name = "given", A = i8[16][16], B = i8[16][N], mult = T[N + 1], shift = i8[N], D = i8[16][N],
    function(A, B, mult, shift, D)
      for m, n in grid(16, N) do
        local acc = i32(0)
        for k in reduction(16) do acc = acc + A[m][k] * B[k][n] end
        D[m][n] = i8(tide.max(-128, tide.min(127, tide.asr(acc * mult[by(m, n)], shift[n]))))
      end
    end }
end
local function of_column(_, n) return n end

t.test("multipliers and shifts are arguments", function()
  local sys, o = maestro.reference(), { m = "m", n = "n", k = "k" }
  for i, N in ipairs { 3, 8, 17, 40 } do
    local T = i % 2 == 0 and i16 or i32
    local k, mult, shift = given(N, T, of_column), T[N + 1](0), i8[N](0)
    local job = sys:compile(k, o)
    t.eq(job.jobs and #job.jobs, N > 8 and (N + 7) // 8 or nil)
    for run = 1, 2 do
      for n = 0, N - 1 do mult[n], shift[n] = (run * 7 + n * 5) % 120, 8 + (n + run) % 4 end
      local A, B, D, want = tide.random(i8[16][16], run), tide.random(i8[16][N], 2), i8[16][N](0), i8[16][N](0)
      k(A, B, mult, shift, want)
      job:run { A = A, B = B, mult = mult, shift = shift, D = D }
      t.ok(D:equal(want), N)
      t.eq(#(job.jobs or { job })[1]:registers { A = A, B = B, mult = mult, shift = shift, D = D } > 10, true)
    end
  end
  local job = sys:compile(given(8, i16, of_column), o)
  t.fails(function() return job.work end, { code = "maestro-job", match = "argument 'mult'" })
  local args = { A = tide.random(i8[16][16], 1), B = tide.random(i8[16][8], 2), mult = i16[9](5), shift = i8[8](9),
    D = i8[16][8](0) }
  job:run(args)
  args.shift[7] = 0
  t.fails(function() job:run(args) end, { code = "maestro-store", match = "column 7, mult 5 and shift 0" })
  args.shift[7], args.mult[2] = 9, 257
  t.fails(function() job:run(args) end, { code = "maestro-store", match = "column 2, mult 257 and shift 9" })
  t.fails(function() job:registers(args) end, { code = "maestro-store", match = "column 2" })
  args.mult[2] = 256
  job:run(args)
  t.fails(function() sys:compile(given(8, i16, function(_, n) return n + 1 end), o) end, { code = "maestro-store" })
  t.fails(function() sys:compile(given(16, i16, function(m) return m end), o) end,
    { code = "maestro-store", match = "a value for each 'm'" })
end)

t.test("systems that lack what a kernel needs", function()
  local k = tide.kernel { name = "g", A = i8[8][8], B = i8[8][8], D = i32[8][8], function(A, B, D)
    for m, n in grid(8, 8) do
      local acc = i32(0)
      for k in reduction(8) do acc = acc + A[m][k] * B[k][n] end
      D[m][n] = acc
    end
  end }
  local o = { m = "m", n = "n", k = "k" }
  local A = maestro.reader { lanes = { 8 }, loops = 3, depth = 2 }
  local function system(more)
    local s = { memory = maestro.memory { banks = 8, word = 8, rows = 64 }, A = A, B = A }
    for key, v in pairs(more) do s[key] = v end
    return maestro.system(s)
  end
  local array, D = maestro.array { m = 8, n = 8, k = 8, a = i8, b = i8, acc = i32 },
    maestro.writer { lanes = { 32 }, loops = 2, depth = 2 }
  t.eq(system { array = array, D = D }:compile(k, o):simulate().fires, 1)
  t.eq(select(2, pcall(function() system { array = array }:compile(k, o) end)).code, "maestro-streamer")
  t.eq(select(2, pcall(function() system { D = D }:compile(k, o) end)).code, "maestro-array")
end)

t.test("counters count up, loops have bounds", function()
  local function kernel(back, triangle)
    return function(o)
      o.order = nil
      return tide.kernel { name = "g", A = i8[16][16], B = i8[16][16], D = i32[16][16], function(A, B, D)
        for m, n in grid(16, 16) do
          local acc = i32(0)
          if triangle then
            for k = 0, m do acc = acc + A[m][k] * B[k][n] end
          elseif back then
            for k = 0, 15 do acc = acc + A[15 - m][k] * B[k][n] end
          else
            for k = 0, 15 do acc = acc + A[m][k] * B[k][n] end
          end
          D[m][n] = acc
        end
      end }
    end
  end
  t.ok(job(kernel(false, false)))
  refused("maestro-bound", kernel(false, true), "loop 'k'")
  local function backwards(o)
    local k = kernel(true, false)(o)
    o.m, o.n, o.order = nil, "n", { A = "m k -> m k" }
    return k
  end
  refused("maestro-negative", backwards, "streamer A", "counters cannot count down")
end)

t.test("a loop that runs no iteration", function()
  local function size(M, N, K)
    return function(o)
      o.order = nil
      return tide.kernel { name = "g", A = i8[16][16], B = i8[16][16], D = i32[16][16], function(A, B, D)
        for m, n in grid(M, N) do
          local acc = i32(0)
          for k in reduction(K) do acc = acc + A[m][k] * B[k][n] end
          D[m][n] = acc
        end
      end }
    end
  end
  t.ok(job(size(1, 1, 1)))
  refused("maestro-empty", size(0, 1, 1), "loop 'm' runs no iteration")
  refused("maestro-empty", size(1, 0, 1), "loop 'n' runs no iteration")
  refused("maestro-empty", size(1, 1, 0), "loop 'k' runs no iteration")
  local function copy(n)
    local sys = maestro.system {
      memory = maestro.memory { banks = 4, word = 8, rows = 16, modes = { all = 4 } },
      R = maestro.reader { lanes = { 1 }, loops = 1, depth = 2 },
      W = maestro.writer { lanes = { 1 }, loops = 1, depth = 2 },
    }
    return sys:compile(tide.kernel { name = "copy", I = i8[16], O = i8[16], function(I, O)
      for x in grid(n) do O[x] = I[x] end
    end }, {})
  end
  t.ok(copy(16))
  t.eq(select(2, pcall(copy, 0)).code, "maestro-empty")
end)

t.test("a word of which two streamers would have a half each", function()
  local function based(c)
    return function(o)
      o.order, o.base = nil, { A = 0, B = 1024, D = 2048, C = c }
      return tide.kernel { name = "g", A = i8[8][8], B = i8[8][8], C = i32[8][8], D = i32[8][8],
        function(A, B, C, D)
          for m, n in grid(8, 8) do
            local acc = C[m][n]
            for k in reduction(8) do acc = acc + A[m][k] * B[k][n] end
            D[m][n] = acc
          end
        end }
    end
  end
  t.ok(job(based(2048 + 256)))
  refused("maestro-overlap", based(2048 + 256 - 8), "lies on")
  refused("maestro-base", based(2048 + 256 - 4), "no multiple of a word")
end)

t.test("more temporal loops than a streamer has", function()
  local function order(text)
    return function(o) o.order.B = text end
  end
  t.ok(job(order "k n -> n/8 k/8 n%8 k%8"))
  local sys = maestro.reference { B = maestro.reader { lanes = { 8 }, loops = 1, depth = 8 } }
  local k = tide.kernel {
    name = "gemm", A = i8[16][16], B = i8[16][16], D = i32[16][16],
    function(A, B, D)
      for m, n in grid(16, 16) do
        local acc = i32(0)
        for kk in reduction(16) do acc = acc + A[m][kk] * B[kk][n] end
        D[m][n] = acc
      end
    end,
  }
  local o = { m = "m", n = "n", k = "kk", order = {
    A = "m k -> m/8 k/8 m%8 k%8", B = "k n -> n/8 k/8 n%8 k%8", D = "m n -> m/8 n/8 m%8 n%8" } }
  local ok, e = pcall(core.compile, sys.core, k, o)
  t.ok(not ok)
  t.eq(e.code, "maestro-loops")
  t.has(tostring(e), "streamer B: 'B' needs 2 temporal loops, and it has 1")
  t.eq(#sys:compile(k, o).jobs, 2) -- a part of m needs one less
end)

t.done()
