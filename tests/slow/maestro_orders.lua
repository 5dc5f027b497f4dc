-- DataMaestro: modes and places that are solved against all there are on 8 banks, orders against their permutations;
-- 200 drawn shapes that are not among the 260 workloads.
package.path = "examples/maestro/?.lua;" .. package.path
local t = require "tap"
local random = require "maestro_systems"
local times, seed = require "campaign".range(1)
local tide, maestro = require "tide", require "tide.maestro"
local steps, workloads = require "steps", require "workloads"
local i8, i32, grid, reduction = tide.i8, tide.i32, tide.grid, tide.reduction

local BANKS, WORD, ROWS, EACH = 8, 8, 512, 128 -- EACH: rows for each streamer, so that none lies on another
local banks_of = { all = 8, half = 4, one = 1 }

local function system(depth)
  return maestro.system {
    memory = maestro.memory { banks = BANKS, word = WORD, rows = ROWS, modes = banks_of },
    array = maestro.array { m = 2, n = 2, k = 8, a = i8, b = i8, acc = i32 },
    A = maestro.reader { lanes = { 2 }, loops = 5, depth = depth }, B = maestro.reader { lanes = { 2 }, loops = 4,
      depth = depth }, D = maestro.writer { lanes = { 2 }, loops = 4, depth = 2 },
  }
end

local function product(M, N, K)
  return tide.kernel { name = "product", A = i8[M][K], B = i8[K][N], D = i32[M][N], function(A, B, D)
    for m, n in grid(M, N) do
      local acc = i32(0)
      for k in reduction(K) do acc = acc + A[m][k] * B[k][n] end
      D[m][n] = acc
    end
  end }
end

-- Every place that streamer number i may have: a mode, a group, rows of its own.
local function places(i)
  local list = {}
  for _, mode in ipairs { "all", "half", "one" } do
    local banks = banks_of[mode]
    for group = 0, BANKS // banks - 1 do
      list[#list + 1] = { mode = mode, base = banks * WORD * (group * ROWS + i * EACH) }
    end
  end
  return list
end

-- The fewest cycles of all choices of places in an order, and the shortest MAC window.
local function least(sys, k, order)
  local best, window = math.huge, math.huge
  for _, a in ipairs(places(0)) do
    for _, b in ipairs(places(1)) do
      for _, d in ipairs(places(2)) do
        local ok, job = pcall(sys.compile, sys, k, { m = "m", n = "n", k = "k", order = order,
          mode = { A = a.mode, B = b.mode, D = d.mode }, base = { A = a.base, B = b.base, D = d.base } })
        if not ok then error(job, 0) end
        local r = job:simulate()
        best, window = math.min(best, r.cycles), math.min(window, r.window)
      end
    end
  end
  return best, window
end

-- Whether what was solved is no worse; a job that was split for its MAC window has more cycles around it.
local function holds(job, best, window)
  local r = job:simulate()
  local text = ("%d, %d; the best: %d, %d"):format(r.cycles, r.window, best, window)
  t.ok(job.jobs and r.window <= window or r.cycles <= best, text)
end

local fitting = { A = "m k -> m/2 k/8 m%2 k%8", B = "k n -> n/2 k/8 n%2 k%8", D = "m n -> m/2 n/2 m%2 n%2" }

t.test("modes and places: as few cycles as the best of all 1,331 choices", function()
  for _, x in ipairs { { 4, 6, 16, 4 }, { 6, 4, 32, 1 }, { 8, 2, 8, 3 } } do
    local M, N, K, depth = table.unpack(x)
    local sys, k = system(depth), product(M, N, K)
    local job = sys:compile(k, { m = "m", n = "n", k = "k", order = fitting, mode = "best" })
    holds(job, least(sys, k, fitting))
  end
end)

t.test("orders: as few cycles as the best of all permutations of blocks, in all places", function()
  local sys, k, best, window = system(4), product(4, 4, 16), math.huge, math.huge
  for _, a in ipairs { fitting.A, "m k -> k/8 m/2 m%2 k%8" } do
    for _, b in ipairs { fitting.B, "k n -> k/8 n/2 n%2 k%8" } do
      local cycles, shortest = least(sys, k, { A = a, B = b, D = fitting.D })
      best, window = math.min(best, cycles), math.min(window, shortest)
    end
  end
  local job = sys:compile(k, { m = "m", n = "n", k = "k", order = "best", mode = "best" })
  holds(job, best, window)
end)

-- A shape whose operands fit a quarter of the memory, as those of the 260 do.
local function draw(roll, pick)
  local w = { group = pick { "G", "T", "V" } }
  if w.group == "V" then
    w.R, w.s, w.OH, w.OW = pick { 1, 2, 3, 4, 5 }, roll(1, 2), roll(2, 20), 8 * roll(1, 3)
    w.Cin, w.Cout, w.H, w.W = 8 * roll(1, 9), 8 * roll(1, 9), w.s * w.OH + w.R - 1, w.s * w.OW + w.R - 1
    local most = math.max(w.H * w.W * w.Cin, w.Cin * w.Cout * w.R * w.R, w.OH * w.OW * w.Cout * 4)
    return most <= 32768 and w.Cin * w.R * w.R >= 64 and w or draw(roll, pick)
  end
  w.M, w.N, w.K = 8 * roll(1, 20), 8 * roll(1, 20), 8 * roll(8, 70)
  return math.max(w.M * w.K, w.N * w.K, 4 * w.M * w.N) <= 32768 and w or draw(roll, pick)
end

local function text_of(w)
  return w.group == "V" and ("V %dx%d %d->%d, %dx%d, %d"):format(w.OH, w.OW, w.Cin, w.Cout, w.R, w.R, w.s)
    or ("%s %d %d %d"):format(w.group, w.M, w.N, w.K)
end

t.test("200 drawn shapes: at least 99 % of the MAC window, 99.9 on average", function()
  local roll, pick = random.new(31 + seed)
  local known, sum, step = {}, 0, nil
  for _, w in ipairs(workloads) do known[text_of(w)] = true end
  for _, s in ipairs(steps) do step = s.name:find "per stream" and s or step end
  for _ = 1, 200 * times do
    local w = draw(roll, pick)
    while known[text_of(w)] do w = draw(roll, pick) end
    local u = steps.run(w, step)
    t.ok(u >= 0.99, ("%s: %.4f"):format(text_of(w), u))
    sum = sum + u
  end
  t.ok(sum / (200 * times) >= 0.999, sum / (200 * times))
end)

t.done()
