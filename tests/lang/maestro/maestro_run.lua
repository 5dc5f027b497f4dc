-- DataMaestro: what a run tells, what can be told without one, jobs that overlap, orders that are solved, images.
local tide, maestro = require "tide", require "tide.maestro"
local t = require "tap"
local i8, i32, grid, reduction = tide.i8, tide.i32, tide.grid, tide.reduction

local function gemm(M, N, K)
  return tide.kernel {
    name = "gemm", A = i8[M][K], B = i8[K][N], C = i32[M][N], D = i32[M][N],
    function(A, B, C, D)
      for m, n in grid(M, N) do
        local acc = C[m][n]
        for k in reduction(K) do acc = acc + A[m][k] * B[k][n] end
        D[m][n] = acc
      end
    end,
  }
end

local function arguments(M, N, K)
  return { A = tide.random(i8[M][K], 1), B = tide.random(i8[K][N], 2), C = tide.random(i32[M][N], 3), D = i32[M][N](0) }
end

local function options(more)
  local o = { m = "m", n = "n", k = "k" }
  for k, v in pairs(more or {}) do o[k] = v end
  return o
end

t.test("the law is within a hundredth of the run", function()
  for _, c in ipairs { { 64, 64, 64 }, { 128, 64, 128 }, { 16, 128, 64 }, { 32, 32, 512 }, { 8, 24, 32 } } do
    for _, mode in ipairs { "fima", "gima16", "gima8" } do
      local job = maestro.reference():compile(gemm(table.unpack(c)), options { mode = mode })
      local r, p = job:simulate(), job:predict()
      t.ok(math.abs(p.cycles / r.cycles - 1) < 0.01, ("%s: %d, law %g"):format(mode, r.cycles, p.cycles))
      t.ok(p.exact == (c[1] * c[2] // 64 <= 24))
    end
  end
end)

t.test("what a run tells: stalls, words in FIFOs, waves", function()
  local job = maestro.reference():compile(gemm(64, 64, 64), options { mode = "fima" })
  local r, sum = job:simulate(), 0
  for _, n in pairs(r.stalls) do sum = sum + n end
  t.eq(sum, r.cycles - r.fires)
  t.ok(r.most.A <= 8 and r.most.A > 0 and r.occupancy.A <= 8 * r.cycles, r.most.A)
  local w = job:timed()
  t.eq(w.cycles, r.cycles)
  t.eq(w.tasks.array.busy, r.fires)
  t.eq(w.streams.D.tokens, 64)
  t.has(w:vcd(), "$enddefinitions")
  t.has(w:timeline(40), "array")
end)

t.test("jobs that overlap take fewer cycles, and sums wait for those before", function()
  local small = maestro.memory { banks = 32, word = 8, rows = 64, modes = { fima = 32, gima8 = 8 } }
  for _, c in ipairs { { 64, 56, 64 }, { 8, 8, 2048 }, { 40, 24, 512 } } do
    local function cycles(overlap)
      local job = maestro.reference { memory = small }:compile(gemm(table.unpack(c)), options { overlap = overlap })
      t.ok(#job.jobs > 1)
      local r = job:simulate()
      return r.cycles, r.fires, #job.jobs
    end
    local apart, fires, jobs = cycles(nil)
    local together, same = cycles(true)
    t.eq(same, fires)
    t.ok(together <= apart - jobs and together > fires, ("%d, %d"):format(together, apart))
  end
end)

t.test("orders are solved: no worse than those that fit, and they print as what reproduces them", function()
  local H, C, N = 17, 16, 16
  local k = tide.kernel {
    name = "pointwise", I = i8[H][H][C], F = i8[N][C], O = i32[8][8][N],
    function(I, F, O)
      for y, x, n in grid(8, 8, N) do
        local acc = i32(0)
        for c in reduction(C) do acc = acc + I[2 * y][2 * x][c] * F[n][c] end
        O[y][x][n] = acc
      end
    end,
  }
  local sys = maestro.reference()
  local o = { m = "x", n = "n", k = "c", mode = "fima", loops = { "y", "x", "n", "c" } }
  local plain = sys:compile(k, o):simulate()
  o.order = "best"
  local job = sys:compile(k, o)
  local r = job:simulate()
  t.ok(r.cycles < plain.cycles, ("%d, %d"):format(r.cycles, plain.cycles))
  local again = { m = "x", n = "n", k = "c", loops = o.loops, order = job.solved.order, mode = job.solved.mode,
    base = job.solved.base }
  t.eq(sys:compile(k, again):simulate().cycles, r.cycles)
  t.has(tostring(job.solved), "order = { F = \"d0 d1 -> ")
  local got, want = i32[8][8][N](0), i32[8][8][N](0)
  local I, F = tide.random(i8[H][H][C], 1), tide.random(i8[N][C], 2)
  job:run { I = I, F = F, O = got }
  k:native(I, F, want)
  t.ok(got:equal(want))
  local one = sys:compile(k, { m = "x", n = "n", k = "c", loops = o.loops, mode = "fima", order = { I = "best" } })
  t.ok(one:simulate().cycles <= plain.cycles)
  t.eq(select(2, pcall(sys.compile, sys, k, { m = "x", order = "worst" })).code, "maestro-order")
end)

t.test("images: the words to write before a job starts, and the registers of the array", function()
  local sys = maestro.reference()
  local job, args = sys:compile(gemm(16, 8, 8), options()), arguments(16, 8, 8)
  local image, first = job:image(args), job:stream "A"
  t.eq(#image, 16 + 8 + 64)
  local at = {}
  for _, w in ipairs(image) do at[w.address] = w.word end
  local k = 0
  for a in job:addresses "A" do
    if k == 8 then break end
    local bytes = { at[a]:byte(1, 8) }
    for i = 1, 8 do
      local v = args.A[k][i - 1]
      t.eq(bytes[i], v % 256)
    end
    k = k + 1
  end
  t.ok(first)
  local work = {}
  for _, r in ipairs(job.work) do work[r.name] = r.value end
  t.eq({ work.steps, work.tiles, work.with_c, work.path }, { 1, 2, 1, 0 })
  t.eq(job.work[1].number, job.csr[#job.csr].number + 3)
end)

t.done()
