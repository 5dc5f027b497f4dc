-- 25_daisy_chain: an output-stationary array fed and drained by daisy chains (Dato, appendix A), for any M, N, K, timed
-- cycle by cycle with a memory of 64 bytes a cycle and 100 cycles of latency.
-- Run: tide examples/25_daisy_chain.lua [M N K ROWS COLUMNS]     (default 64 64 64 4 4)
-- The paper: 1024 1024 1024 16 16.
-- Words hold one element for each row (or column); drain j sends its own first, then what comes from
-- its left. Against the listing: words have as many lanes as the array has rows, 8 bits each; no wire crosses it.
local tide = require "tide"
local i8, task, grid = tide.i8, tide.task, tide.grid
local M, N, K = tonumber(arg[1] or 64), tonumber(arg[2] or 64), tonumber(arg[3] or 64)
local R, S = tonumber(arg[4] or 4), tonumber(arg[5] or 4)
local MT, NT = (M + R - 1) // R, (N + S - 1) // S

-- Words from memory into the chains, and from each link of a chain its own element into the array.
local function feeders(d, a, b)
  local word_A, word_B = d:stream(i8[R], { R, depth = 4 }), d:stream(i8[S], { S, depth = 4 })
  d.load = task {
    A = i8[MT * K][R], --@ bytes_per_cycle(64) latency(100)
    B = i8[NT * K][S], --@ bytes_per_cycle(64) latency(100)
    function(A, B)
      for mt, nt, k in grid(MT, NT, K, "words") do
        word_A[0]:put(A[mt * K + k]) -- column k of tile row mt
        word_B[0]:put(B[nt * K + k])
      end
    end,
  }
  d.feed_A = task {
    map = { R },
    function(i)
      for _ in grid(MT * NT * K, "words") do
        local word = word_A[i]:get()
        a[i][0]:put(word[i])
        if i < R - 1 then word_A[i + 1]:put(word) end
      end
    end,
  }
  d.feed_B = task {
    map = { S },
    function(j)
      for _ in grid(MT * NT * K, "words") do
        local word = word_B[j]:get()
        b[0][j]:put(word[j])
        if j < S - 1 then word_B[j + 1]:put(word) end
      end
    end,
  }
end

-- The array: sums stay, both operands move on; at the end of a tile sums go down, a column a word.
local function elements(d, a, b, up)
  d.pe = task {
    map = { R, S },
    function(i, j)
      for _ in grid(MT * NT) do
        local c, column = i8(0), i8[R](0)
        for _ in grid(K, "k") do
          local x, y = a[i][j]:get(), b[i][j]:get()
          c = c + x * y
          if j < S - 1 then a[i][j + 1]:put(x) end
          if i < R - 1 then b[i + 1][j]:put(y) end
        end
        if i > 0 then column:set(up[i - 1][j]:get()) end
        column[i] = c
        up[i][j]:put(column)
      end
    end,
  }
end

-- The chain that takes the columns to memory.
local function drains(d, up)
  local out = d:stream(i8[R], { S, depth = 4 })
  d.drain = task {
    map = { S },
    function(j)
      for _ in grid(MT * NT) do
        out[j]:put(up[R - 1][j]:get())
        if j > 0 then
          for _ in grid(j) do out[j]:put(out[j - 1]:get()) end
        end
      end
    end,
  }
  d.store_C = task {
    C = i8[MT][NT][S][R], --@ bytes_per_cycle(64)
    function(C)
      for mt, nt, n in grid(MT, NT, S) do C[mt][nt][S - 1 - n]:set(out[S - 1]:get()) end
    end,
  }
end

local top = tide.design(function(d)
  local a, b = d:stream(i8, { R, S }), d:stream(i8, { R, S })
  local up = d:stream(i8[R], { R, S })
  feeders(d, a, b)
  elements(d, a, b, up)
  drains(d, up)
end)

local s = tide.schedule(top)
for _, loop in ipairs { "load:words/k", "feed_A:words", "feed_B:words", "pe:k" } do
  s:pipeline(loop)
end

local A, B, C = tide.random(i8[MT * K][R], 1), tide.random(i8[NT * K][S], 2), i8[MT][NT][S][R](0)
local timed = s:build { target = "cpu", timed = true }
timed(A, B, C)
for mt, nt in grid(MT, NT) do
  local product = tide.matmul(B:slice({ nt * K, nt * K + K }, {}):transpose(), A:slice({ mt * K, mt * K + K }, {}))
  assert(C[mt][nt]:equal(i8[S][R](product)))
end
print("compared with tide.matmul: equal")

local report, products = timed.report, MT * R * NT * S * K
print(report)
print(("%d bodies; %.1f %% of the loading is hidden"):format(s:graph().bodies,
  math.max(0, 100 - 100 * report.tasks["pe[0][0]"].starts / report.tasks.load.busy)))
print(("%d multiplications on %d elements: one in %.3f cycles of each"):format(products, R * S,
  report.cycles * R * S / products))

--> compared with tide.matmul: equal
--> ...fill ..., drain ...
--> ...
--> 14 bodies; ...
--> 262144 multiplications on 16 elements: one in 1....
