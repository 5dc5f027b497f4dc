-- DataMaestro: random kernels, orders, systems and modes. Jobs compute what the kernels do in plain Lua; no word is
-- lost or read twice; a job never takes fewer cycles than its array or its banks need.
local tide = require "tide"
local maestro = require "tide.maestro"
local t = require "tap"

local i8, i16, i32, grid, reduction = tide.i8, tide.i16, tide.i32, tide.grid, tide.reduction
local times, seed = require "campaign".range(1)
local state = 20259 + seed

-- A random integer from lo to hi, the same on every machine.
local function roll(lo, hi)
  state = (state * 1103515245 + 12345) % 2147483648
  return lo + (state >> 8) % (hi - lo + 1)
end

local function pick(list) return list[roll(1, #list)] end

-- A system whose array is m x n x k of T with sums of i32, on words of `word` bytes; nil where words do not divide.
local function random_system(T)
  local m, n, k, word = 1 << roll(1, 3), 1 << roll(1, 3), 1 << roll(1, 3), pick { 4, 8, 16 }
  local bytes = T.bits // 8
  local a, b, c = m * k * bytes // word, n * k * bytes // word, m * n * 4 // word
  if a < 1 or b < 1 or c < 1 or a > 64 or b > 64 or c > 64 or word < bytes or k * bytes < word or n * 4 < word then
    return nil
  end
  local banks = pick { 16, 32, 64 }
  local depth, latency = roll(1, 6), roll(1, 4)
  return maestro.system {
    arbiter = pick { "round_robin", "priority" },
    memory = maestro.memory { banks = banks, word = word, rows = 1024, latency = latency,
      modes = { all = banks, half = banks // 2, quarter = banks // 4 } },
    array = maestro.array { m = m, n = n, k = k, a = T, b = T, acc = i32 },
    A = maestro.reader { lanes = { a }, loops = 8, depth = depth, addr_depth = roll(1, 4) },
    B = maestro.reader { lanes = { b }, loops = 8, depth = roll(1, 6), cut = pick { "pipe", "full" } },
    C = maestro.reader { lanes = { c }, loops = 8, depth = roll(1, 3), mask = true },
    D = maestro.writer { lanes = { c }, loops = 8, depth = roll(1, 3), shares = pick { "C", false } or nil },
  }, m, n, k
end

-- Runs one kernel both ways and looks at its report.
local function check(sys, k, o, args, result)
  local job, got, want = sys:compile(k, o), {}, {}
  for name, v in pairs(args) do got[name], want[name] = v:copy(), v:copy() end
  local r = job:run(got)
  k:native(want)
  t.ok(got[result]:equal(want[result]), tostring(job))
  local busiest, accesses = 0, 0
  for _, n in ipairs(r.banks) do busiest, accesses = math.max(busiest, n), accesses + n end
  local words = 0
  for _, name in ipairs { "A", "B", "C", "D" } do
    for _ in job:addresses(name) do words = words + 1 end
  end
  t.eq({ accesses, r.accesses }, { words, words })
  t.ok(r.cycles > r.fires and r.cycles > busiest and r.window >= r.fires, r.cycles)
end

local function modes() return { A = pick { "all", "half", "quarter" }, B = pick { "all", "half" }, C = "all",
  D = pick { "all", "quarter" } } end

-- Whether f does without a refusal that another mode or order would not meet.
local function unless_refused(f)
  local ok, e = pcall(f)
  local code = not ok and type(e) == "table" and e.code
  if not ok and code ~= "maestro-memory" and code ~= "maestro-overlap" and code ~= "maestro-lanes" then error(e, 0) end
  return ok
end

t.test("products: batches, sizes that are no multiples, orders of blocks, of loops", function()
  local done = 0
  for _ = 1, 60 * times do
    local T = pick { i8, i16 }
    local sys, m, n, k = random_system(T)
    if sys then
      local P, M, N, K = roll(1, 3), roll(1, 3 * m), roll(1, 3 * n), roll(1, 3 * k)
      local batched = tide.kernel {
        name = "batched", A = T[P][M][K], B = T[P][K][N], D = i32[P][M][N],
        function(A, B, D)
          for p, i, j in grid(P, M, N) do
            local acc = i32(0)
            for l in reduction(K) do acc = acc + A[p][i][l] * B[p][l][j] end
            D[p][i][j] = acc
          end
        end,
      }
      local o = {
        m = "i", n = "j", k = "l", mode = modes(),
        loops = pick { { "p", "i", "j", "l" }, { "i", "p", "j", "l" }, { "j", "i", "p", "l" } },
        order = {
          A = pick { ("p m k -> p m/%d k/%d m%%%d k%%%d"):format(m, k, m, k),
            ("p m k -> k/%d m/%d p m%%%d k%%%d"):format(k, m, m, k) },
          B = ("p k n -> n/%d p k/%d n%%%d k%%%d"):format(n, k, n, k),
          D = ("p m n -> p n/%d m/%d m%%%d n%%%d"):format(n, m, m, n),
        },
      }
      done = done + (unless_refused(function()
        check(sys, batched, o, { A = tide.random(T[P][M][K], roll(1, 99)), B = tide.random(T[P][K][N], roll(1, 99)),
          D = i32[P][M][N](0) }, "D")
      end) and 1 or 0)
    end
  end
  t.ok(done > 15, done)
end)

t.test("convolutions: stride, dilation, groups", function()
  local done = 0
  for _ = 1, 40 * times do
    local sys, m, n, k = random_system(i8)
    if sys then
      local G, OH, OW, CI, CO = roll(1, 2), roll(1, 4), roll(1, 2) * m, roll(1, 2) * k, roll(1, 2) * n
      local R, S, step, dil = roll(1, 3), roll(1, 3), roll(1, 3), roll(1, 2)
      local H, W = step * (OH - 1) + dil * (R - 1) + 1, step * (OW - 1) + dil * (S - 1) + 1
      local conv = tide.kernel {
        name = "conv", I = i8[G][H][W][CI], F = i8[G][CO][R][S][CI], O = i32[G][OH][OW][CO],
        function(I, F, O)
          for g, y, x, f in grid(G, OH, OW, CO) do
            local acc = i32(0)
            for r, s, c in reduction(R, S, CI) do
              acc = acc + I[g][y * step + r * dil][x * step + s * dil][c] * F[g][f][r][s][c]
            end
            O[g][y][x][f] = acc
          end
        end,
      }
      local o = {
        m = "x", n = "f", k = "c", mode = modes(), loops = pick { { "g", "y", "x", "f", "c", "r", "s" },
          { "f", "g", "y", "x", "r", "s", "c" }, { "g", "f", "x", "y", "s", "c", "r" } },
        order = {
          I = pick { ("g y x c -> g c/%d y x c%%%d"):format(k, k), "g y x c -> g y x c" },
          F = ("g n y x c -> g n/%d c/%d y x n%%%d c%%%d"):format(n, k, n, k),
          O = pick { ("g y x n -> g n/%d y x n%%%d"):format(n, n), ("g y x n -> n/%d g y x n%%%d"):format(n, n) },
        },
      }
      done = done + (unless_refused(function()
        check(sys, conv, o, { I = tide.random(i8[G][H][W][CI], roll(1, 99)),
          F = tide.random(i8[G][CO][R][S][CI], roll(1, 99)), O = i32[G][OH][OW][CO](0) }, "O")
      end) and 1 or 0)
    end
  end
  t.ok(done > 10, done)
end)

t.done()
