-- 33_packed_array: sums stay in the array, operands move in words of V elements along k, of which an element multiplies
-- all in a cycle; any M, N, K on any array, timed with a memory of 64 bytes a cycle and 100 cycles of latency.
-- Run: tide examples/33_packed_array.lua [M N K ROWS COLUMNS V]     (default 32 32 128 4 4 4)
-- Memory holds operands in the order in which they move: tile by tile, a word of each of its rows (or columns).
local tide = require "tide"
local i8, i32, task, grid = tide.i8, tide.i32, tide.task, tide.grid
local M, N, K = tonumber(arg[1] or 32), tonumber(arg[2] or 32), tonumber(arg[3] or 128)
local R, S, V = tonumber(arg[4] or 4), tonumber(arg[5] or 4), tonumber(arg[6] or 4)
local MT, NT, KT = (M + R - 1) // R, (N + S - 1) // S, (K + V - 1) // V

-- Words from memory along chains; each link of a chain takes its own and passes on the rest.
local function feeders(d, a, b)
  local word_A, word_B = d:stream(i8[R][V], { R, depth = 4 }), d:stream(i8[S][V], { S, depth = 4 })
  d.load = task {
    A = i8[MT * KT][R][V], --@ bytes_per_cycle(64) latency(100)
    B = i8[NT * KT][S][V], --@ bytes_per_cycle(64) latency(100)
    function(A, B)
      for mt, nt, k in grid(MT, NT, KT, "words") do
        word_A[0]:put(A[mt * KT + k])
        word_B[0]:put(B[nt * KT + k])
      end
    end,
  }
  d.feed_A = task {
    map = { R },
    function(i)
      for _ in grid(MT * NT * KT, "words") do
        local w = word_A[i]:get()
        a[i][0]:put(w[i])
        if i < R - 1 then word_A[i + 1]:put(w) end
      end
    end,
  }
  d.feed_B = task {
    map = { S },
    function(j)
      for _ in grid(MT * NT * KT, "words") do
        local w = word_B[j]:get()
        b[0][j]:put(w[j])
        if j < S - 1 then word_B[j + 1]:put(w) end
      end
    end,
  }
end

local function elements(d, a, b, c)
  d.pe = task {
    map = { R, S },
    function(i, j)
      for _ in grid(MT * NT) do
        local sum = i32(0)
        for _ in grid(KT, "k") do
          local x, y = a[i][j]:get(), b[i][j]:get()
          for v in grid(V, "lane") do sum = sum + x[v] * y[v] end
          if j < S - 1 then a[i][j + 1]:put(x) end
          if i < R - 1 then b[i + 1][j]:put(y) end
        end
        c[i][j]:put(sum)
      end
    end,
  }
end

-- Columns of a tile to memory along a chain: drain j sends its own first, then those from its left.
local function drains(d, c)
  local column = d:stream(i32[R], { S })
  d.drain = task {
    map = { S },
    function(j)
      for _ in grid(MT * NT) do
        local own = i32[R]()
        for i in grid(R, "row") do own[i] = c[i][j]:get() end
        column[j]:put(own)
        for _ in grid(j) do column[j]:put(column[j - 1]:get()) end
      end
    end,
  }
  d.store = task {
    C = i32[MT][NT][S][R], --@ bytes_per_cycle(64)
    function(C)
      for mt, nt, j in grid(MT, NT, S, "columns") do C[mt][nt][S - 1 - j]:set(column[S - 1]:get()) end
    end,
  }
end

local top = tide.design(function(d)
  local a, b, c = d:stream(i8[V], { R, S }), d:stream(i8[V], { R, S }), d:stream(i32, { R, S })
  feeders(d, a, b)
  elements(d, a, b, c)
  drains(d, c)
end)

local s = tide.schedule(top)
for _, loop in ipairs { "load:words/k", "feed_A:words", "feed_B:words", "pe:k", "drain:row", "store:columns/j" } do
  s:pipeline(loop)
end

-- The rows of X (or with `columns` its columns) in tiles of P words of V, 0 beyond the last.
local function packed(X, P, columns)
  local rows, depth = X.shape[columns and 2 or 1], X.shape[columns and 1 or 2]
  local T = (rows + P - 1) // P
  local words = i8[T * KT][P][V](0)
  for r, k in grid(rows, depth) do
    words[r // P * KT + k // V][r % P][k % V] = columns and X[k][r] or X[r][k]
  end
  return words
end

local A, B, C = tide.random(i8[M][K], 1), tide.random(i8[K][N], 2), i32[MT][NT][S][R](0)
local timed = s:build { target = "cpu", timed = true }
timed(packed(A, R), packed(B, S, true), C)
local want = tide.matmul(A, B)
for m, n in grid(M, N) do assert(C[m // R][n // S][n % S][m % R] == want[m][n]) end
print("compared with tide.matmul: equal")

local report = timed.report
print(report)
print(("%d bodies; %.1f %% of the loading is hidden"):format(s:graph().bodies,
  math.max(0, 100 - 100 * report.tasks["pe[0][0]"].starts / report.tasks.load.busy)))

-- The same array behind streamers of a banked memory (DataMaestro): one task that loads two arguments becomes two of
-- them; the columns of a tile, which come from the last to the first, are one word.
if R * V % 8 == 0 and S * V % 8 == 0 and R * S <= 128 then
  local maestro = require "tide.maestro"
  local front = maestro.front(s, {
    memory = maestro.memory { banks = 16, word = 8, rows = 1 << 14, modes = { all = 16, four = 4 } }, mode = "four",
    A = maestro.reader { lanes = { R * V // 8 }, loops = 4, depth = 4 },
    B = maestro.reader { lanes = { S * V // 8 }, loops = 4, depth = 4 },
    C = maestro.writer { lanes = { R * S // 2 }, loops = 4, depth = 2 },
  })
  local streamed, D = front:build { target = "cpu", timed = true }, i32[MT][NT][S][R](0)
  streamed(packed(A, R), packed(B, S, true), D)
  assert(D:equal(C))
  print(front)
  print(("behind streamers: %d cycles, %s words lost to conflicts"):format(streamed.report.cycles,
    tostring(streamed.memory.conflicts)))
end

--> compared with tide.matmul: equal
--> ...fill 1..., drain ...
--> ...
--> 12 bodies; ...
--> A: lanes 2 by 8; (32, 16) (8, 0) (8, 512), innermost first; base 0, four; ...
--> ...
--> behind streamers: 2... cycles, ...
