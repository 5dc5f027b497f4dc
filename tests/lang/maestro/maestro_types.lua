-- DataMaestro: arrays of other types. Sums that round or saturate are made in the kernel's order, or refused.
local tide, maestro = require "tide", require "tide.maestro"
local t = require "tap"
local grid, reduction, i8, i32 = tide.grid, tide.reduction, tide.i8, tide.i32

local function system(T, S, m, n, k)
  local function words(count, type) return count * type.bits // 64 end
  return maestro.system {
    memory = maestro.memory { banks = 16, word = 8, rows = 512, modes = { all = 16 } },
    array = maestro.array { m = m, n = n, k = k, a = T, b = T, acc = S },
    A = maestro.reader { lanes = { words(m * k, T) }, loops = 6, depth = 4 },
    B = maestro.reader { lanes = { words(n * k, T) }, loops = 6, depth = 4 },
    C = maestro.reader { lanes = { words(m * n, S) }, loops = 4, depth = 2, mask = true },
    D = maestro.writer { lanes = { words(m * n, S) }, loops = 4, depth = 2, shares = "C" },
  }
end

local function product(T, S, M, N, K, L)
  return tide.kernel {
    name = "product", A = T[L][M][K], B = T[L][K][N], D = S[M][N],
    function(A, B, D)
      for m, n in grid(M, N) do
        local acc = S(0)
        for l, k in reduction(L, K) do acc = acc + S(A[l][m][k]) * S(B[l][k][n]) end
        D[m][n] = acc
      end
    end,
  }, { A = tide.random(T[L][M][K], 1), B = tide.random(T[L][K][N], 2), D = S[M][N](0) }
end

local function agrees(sys, k, o, args)
  local want = args.D:copy()
  sys:compile(k, o):run(args)
  k { A = args.A, B = args.B, D = want } -- the reference run: native code may fuse products and sums
  t.ok(args.D:equal(want))
end

t.test("bf16 and f32 accumulate in order", function()
  local k, args = product(tide.bf16, tide.f32, 8, 12, 16, 2)
  agrees(system(tide.bf16, tide.f32, 4, 4, 4), k, { m = "m", n = "n", k = "k" }, args)
  k, args = product(tide.f32, tide.f32, 6, 6, 24, 1)
  agrees(system(tide.f32, tide.f32, 2, 2, 8), k, { m = "m", n = "n", k = "k" }, args)
end)

t.test("sums that saturate, in order", function()
  local S = tide.i16:with { overflow = "saturate" }
  local sys = system(i8, S, 4, 4, 8)
  local k, args = product(i8, S, 8, 8, 16, 4)
  agrees(sys, k, { m = "m", n = "n", k = "k" }, args)
  local o = { m = "m", n = "n", k = "k", loops = { "m", "n", "k", "l" } }
  local ok, e = pcall(sys.compile, sys, k, o)
  t.ok(not ok and e.code == "maestro-sums", e)
end)

local function code(f, ...)
  local ok, e = pcall(f, ...)
  return not ok and e.code, tostring(e)
end

t.test("another order of sums that round is refused, of integers not", function()
  local o = { m = "m", n = "n", k = "k", loops = { "m", "n", "k", "l" } }
  local f32 = system(tide.f32, tide.f32, 4, 4, 4)
  local function compile(T, S, K, options)
    return (T == tide.f32 and f32 or system(T, S, 4, 4, 8)):compile((product(T, S, 8, 8, K, 2)), options)
  end
  local c, text = code(compile, tide.f32, tide.f32, 16, o)
  t.eq(c, "maestro-sums")
  t.has(text, "loop 'l' comes behind 'k'")
  t.ok(compile(i8, i32, 16, o))
  o.loops = nil
  t.ok(compile(tide.f32, tide.f32, 16, o))
  c, text = code(compile, tide.f32, tide.f32, 14, o)
  t.eq(c, "maestro-sums")
  t.has(text, "products of zeros")
  t.ok(compile(i8, i32, 14, o))
  o.k = "l"
  c, text = code(compile, tide.f32, tide.f32, 16, o)
  t.eq(c, "maestro-sums", text)
end)

t.test("sums in parts keep the order, or are refused", function()
  local k, args = product(tide.f32, tide.f32, 8, 8, 1024, 1)
  local sys = system(tide.f32, tide.f32, 4, 4, 4)
  local job = sys:compile(k, { m = "m", n = "n", k = "k" })
  t.ok(#job.jobs > 1, tostring(job))
  agrees(sys, k, { m = "m", n = "n", k = "k" }, args)
end)

t.done()
