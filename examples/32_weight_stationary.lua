-- 32_weight_stationary: weights stay in the array, activations move right, sums move down; any M, N, K on any array,
-- timed with a memory of 64 bytes a cycle and 100 cycles of latency.
-- Run: tide examples/32_weight_stationary.lua [M N K ROWS COLUMNS]     (default 64 32 32 4 4)
-- Row i holds row kt * R + i of B for a tile of N; the weights of the next tile come down while this one is used.
local tide = require "tide"
local i8, i32, task, grid = tide.i8, tide.i32, tide.task, tide.grid
local M, N, K = tonumber(arg[1] or 64), tonumber(arg[2] or 32), tonumber(arg[3] or 32)
local R, S = tonumber(arg[4] or 4), tonumber(arg[5] or 4)
local KT, NT = (K + R - 1) // R, (N + S - 1) // S

-- Rows of A to the left border, word by word along a chain; what is outside A is 0.
local function activations(d, a)
  local word = d:stream(i8[R], { R, depth = 4 })
  d.load_A = task {
    A = i8[M][K], --@ bytes_per_cycle(64) latency(100)
    function(A)
      for _, kt, m in grid(NT, KT, M, "words") do
        local w = i8[R](0)
        for i in grid(R, "lane") do
          if kt * R + i < K then w[i] = A[m][kt * R + i] end
        end
        word[0]:put(w)
      end
    end,
  }
  d.feed = task {
    map = { R },
    function(i)
      for _ in grid(NT * KT * M, "words") do
        local w = word[i]:get()
        a[i][0]:put(w[i])
        if i < R - 1 then word[i + 1]:put(w) end
      end
    end,
  }
end

-- A register beside each element: it passes on the weights of those below and keeps its own, one tile ahead.
local function weights(d, w)
  local down = d:stream(i8, { R, S })
  d.load_B = task {
    B = i8[K][N], --@ bytes_per_cycle(64) latency(100)
    function(B)
      for nt, kt, i in grid(NT, KT, R, "rows") do
        for j in grid(S, "lane") do
          local b = i8(0)
          if kt * R + i < K and nt * S + j < N then b = B[kt * R + i][nt * S + j] end
          down[0][j]:put(b)
        end
      end
    end,
  }
  d.hold = task {
    map = { R, S },
    function(i, j)
      for _ in grid(NT * KT) do
        w[i][j]:put(down[i][j]:get())
        for _ in grid(R - 1 - i) do down[i + 1][j]:put(down[i][j]:get()) end
      end
    end,
  }
end

local function elements(d, a, w, sum)
  d.pe = task {
    map = { R, S },
    function(i, j)
      for _ in grid(NT * KT) do
        local b = w[i][j]:get()
        for _ in grid(M, "m") do
          local x, above = a[i][j]:get(), i32(0)
          if i > 0 then above = sum[i - 1][j]:get() end
          sum[i][j]:put(above + x * b)
          if j < S - 1 then a[i][j + 1]:put(x) end
        end
      end
    end,
  }
end

-- Sums over the tiles of K at the lower border; rows of C gather on their way right.
local function results(d, sum)
  local row = d:stream(i32[S], { S })
  d.add = task {
    map = { S },
    function(j)
      local part = i32[M]()
      for _, kt, m in grid(NT, KT, M, "rows") do
        local s = sum[R - 1][j]:get()
        if kt > 0 then s = i32(s + part[m]) end
        part[m] = s
        if kt == KT - 1 then
          local c = i32[S](0)
          if j > 0 then c:set(row[j - 1]:get()) end
          c[j] = s
          row[j]:put(c)
        end
      end
    end,
  }
  d.store_C = task {
    C = i32[M][N], --@ bytes_per_cycle(64)
    function(C)
      for nt, m in grid(NT, M, "rows") do
        local c = row[S - 1]:get()
        for j in grid(S, "lane") do
          if nt * S + j < N then C[m][nt * S + j] = c[j] end
        end
      end
    end,
  }
end

local top = tide.design(function(d)
  local a, w, sum = d:stream(i8, { R, S }), d:stream(i8, { R, S }), d:stream(i32, { R, S })
  activations(d, a)
  weights(d, w)
  elements(d, a, w, sum)
  results(d, sum)
end)

local s = tide.schedule(top)
for _, loop in ipairs { "load_A:words/m", "feed:words", "load_B:rows/i", "pe:m", "add:rows/m", "store_C:rows/m" } do
  s:pipeline(loop)
end

local A, B, C = tide.random(i8[M][K], 1), tide.random(i8[K][N], 2), i32[M][N](0)
local timed = s:build { target = "cpu", timed = true }
timed(A, B, C)
assert(C:equal(tide.matmul(A, B)))
print("compared with tide.matmul: equal")

local report = timed.report
print(report)
print(("%d bodies; %.1f %% of the loading is hidden"):format(s:graph().bodies,
  math.max(0, 100 - 100 * report.tasks["pe[0][0]"].starts / report.tasks.load_A.busy)))

-- The same array behind streamers of a banked memory (DataMaestro) in place of its three tasks that load and store.
if R % 4 == 0 and S <= 4 then
  local maestro = require "tide.maestro"
  local front = maestro.front(s, {
    memory = maestro.memory { banks = 16, word = 4, rows = 1 << 14, modes = { all = 16, four = 4 } }, mode = "four",
    A = maestro.reader { lanes = { R // 4 }, loops = 4, depth = 4 },   -- a word of R activations
    B = maestro.reader { lanes = { 1 }, loops = 4, depth = 4 },
    C = maestro.writer { lanes = { S }, loops = 4, depth = 2 },
  })
  local streamed, D = front:build { target = "cpu", timed = true }, i32[M][N](0)
  streamed(A, B, D)
  assert(D:equal(C))
  print(front)
  print(("behind streamers: %d cycles, %s words lost to conflicts"):format(streamed.report.cycles,
    tostring(streamed.memory.conflicts)))
end

--> compared with tide.matmul: equal
--> ...fill 1..., drain ...
--> ...
--> 13 bodies; 97... % of the loading is hidden
--> A: lanes 1 by 0; (64, 32) (8, 4) (8, 0), innermost first; base 0, four; ...
--> ...
--> behind streamers: 4... cycles, ...
