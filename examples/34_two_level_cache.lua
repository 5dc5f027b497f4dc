-- 34_two_level_cache: an output-stationary array behind two levels of memory. Level 2 holds P row tiles of A and P
-- column tiles of B, so each element of A is read N / (P COLUMNS) times from memory; level 1 holds a row of A beside
-- each row of the array for the P tiles it is used in. Matrices lie row by row; any M, N, K on any array; a memory of
-- 64 bytes a cycle and 100 cycles of latency.
-- Run: tide examples/34_two_level_cache.lua [M N K ROWS COLUMNS P]     (default 32 32 64 4 4 2)
local tide = require "tide"
local i8, i32, task, grid = tide.i8, tide.i32, tide.task, tide.grid
local M, N, K = tonumber(arg[1] or 32), tonumber(arg[2] or 32), tonumber(arg[3] or 64)
local R, S, P = tonumber(arg[4] or 4), tonumber(arg[5] or 4), tonumber(arg[6] or 2)
local W = 64                                        -- bytes that move at once in memory and level 2
local MB, NB = (M + P * R - 1) // (P * R), (N + P * S - 1) // (P * S)
local KW, NW = (K + W - 1) // W, (P * S + W - 1) // W

-- Level 2: blocks of A and B, each filled while the one before it is used; what is outside A and B is 0.
local function level_2(d, block_A, block_B)
  d.load_A = task {
    A = i8[M][K], --@ bytes_per_cycle(64) latency(100)
    function(A)
      for mb, _ in grid(MB, NB, "block") do
        local to = block_A:slot()
        for r, w in grid(P * R, KW, "rows") do
          for v in grid(W, "lane") do
            local x = i8(0)
            if mb * P * R + r < M and w * W + v < K then x = A[mb * P * R + r][w * W + v] end
            to[r][w * W + v] = x
          end
        end
        block_A:put(to)
      end
    end,
  }
  d.load_B = task {
    B = i8[K][N], --@ bytes_per_cycle(64) latency(100)
    function(B)
      for _, nb in grid(MB, NB, "block") do
        local to = block_B:slot()
        for k, w in grid(K, NW, "rows") do
          for v in grid(W, "lane") do
            local x = i8(0)
            if w * W + v < P * S and nb * P * S + w * W + v < N then x = B[k][nb * P * S + w * W + v] end
            to[k][w * W + v] = x
          end
        end
        block_B:put(to)
      end
    end,
  }
end

-- Level 1 of A: a row for each row of the array, which reads it once for each tile of B.
local function rows_of_A(d, block_A, a)
  local row = d:stream(i8[KW * W], { R, block = true })
  d.cut_A = task {
    function()
      for _ in grid(MB * NB) do
        local from = block_A:get()
        for p, i in grid(P, R, "row") do
          local to = row[i]:slot()
          for w in grid(KW, "words") do
            for v in grid(W, "lane") do to[w * W + v] = from[p * R + i][w * W + v] end
          end
          row[i]:put(to)
        end
      end
    end,
  }
  d.feed_A = task {
    map = { R },
    function(i)
      for _ in grid(MB * NB * P) do
        local from = row[i]:get()
        for _, k in grid(P, K, "words") do a[i][0]:put(from[k]) end
      end
    end,
  }
end

-- Columns of B as words along a chain.
local function columns_of_B(d, block_B, b)
  local word = d:stream(i8[S], { S, depth = 4 })
  d.cut_B = task {
    function()
      for _ in grid(MB * NB) do
        local from = block_B:get()
        for _, p, k in grid(P, P, K, "words") do word[0]:put(from:slice(k, { p * S, p * S + S })) end
      end
    end,
  }
  d.feed_B = task {
    map = { S },
    function(j)
      for _ in grid(MB * NB * P * P * K, "words") do
        local w = word[j]:get()
        b[0][j]:put(w[j])
        if j < S - 1 then word[j + 1]:put(w) end
      end
    end,
  }
end

local function elements(d, a, b, c)
  d.pe = task {
    map = { R, S },
    function(i, j)
      for _ in grid(MB * NB * P * P) do
        local sum = i32(0)
        for _ in grid(K, "k") do
          local x, y = a[i][j]:get(), b[i][j]:get()
          sum = sum + x * y
          if j < S - 1 then a[i][j + 1]:put(x) end
          if i < R - 1 then b[i + 1][j]:put(y) end
        end
        c[i][j]:put(sum)
      end
    end,
  }
end

-- Rows of a tile gather column by column on their way to memory.
local function results(d, c)
  local line = d:stream(i32[S], { S })
  d.gather = task {
    map = { S },
    function(j)
      for _, i in grid(MB * NB * P * P, R, "rows") do
        local r = i32[S](0)
        if j > 0 then r:set(line[j - 1]:get()) end
        r[j] = c[i][j]:get()
        line[j]:put(r)
      end
    end,
  }
  d.store_C = task {
    C = i32[M][N], --@ bytes_per_cycle(64)
    function(C)
      for mb, nb, p, q, i in grid(MB, NB, P, P, R, "rows") do
        local r = line[S - 1]:get()
        for j in grid(S, "lane") do
          if (mb * P + p) * R + i < M and (nb * P + q) * S + j < N then
            C[(mb * P + p) * R + i][(nb * P + q) * S + j] = r[j]
          end
        end
      end
    end,
  }
end

local top = tide.design(function(d)
  local block_A, block_B = d:stream(i8[P * R][KW * W], { block = true }), d:stream(i8[K][NW * W], { block = true })
  local a, b, c = d:stream(i8, { R, S }), d:stream(i8, { R, S }), d:stream(i32, { R, S })
  level_2(d, block_A, block_B)
  rows_of_A(d, block_A, a)
  columns_of_B(d, block_B, b)
  elements(d, a, b, c)
  results(d, c)
end)

local s = tide.schedule(top)
for _, loop in ipairs {
  "load_A:rows/w", "load_B:rows/w", "cut_A:words", "feed_A:words/k", "cut_B:words/k", "feed_B:words", "pe:k",
  "gather:rows/i", "store_C:rows/i",
} do
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

--> compared with tide.matmul: equal
--> ...fill ..., drain ...
--> ...
--> 14 bodies; ...
