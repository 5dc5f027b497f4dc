-- 25_daisy_chain: an output-stationary array fed and drained by daisy chains (Dato, appendix A), on any multiple of its
-- tile, timed cycle by cycle.
-- Run: tide examples/25_daisy_chain.lua [M N K ROWS COLUMNS]     (default 64 64 64 4 4)
-- The paper: 1024 1024 1024 16 16.
-- Words hold one element for each row (or column); drain j sends its own first, then what comes from its left.
local tide = require "tide"
local i8, task, grid = tide.i8, tide.task, tide.grid
local M, N, K = tonumber(arg[1] or 64), tonumber(arg[2] or 64), tonumber(arg[3] or 64)
local R, S = tonumber(arg[4] or 4), tonumber(arg[5] or 4)

assert(M % R == 0 and N % S == 0, "whole tiles only")
local tiles = M // R * (N // S)

-- Words from memory into the chains, and from each link of a chain its own element into the array.
local function feeders(d, a, b)
  local word_A, word_B = d:stream(i8[R], { R, depth = 4 }), d:stream(i8[S], { S, depth = 4 })
  d.load_A = task {
    A = i8[M * K // R][R], -- A[mt * K + k]: column k of tile row mt
    function(A)
      for mt, _, k in grid(M // R, N // S, K, "words") do word_A[0]:put(A[mt * K + k]) end
    end,
  }
  d.load_B = task {
    B = i8[K * N // S][S],
    function(B)
      for _, nt, k in grid(M // R, N // S, K, "words") do word_B[0]:put(B[nt * K + k]) end
    end,
  }
  d.feed_A = task {
    map = { R },
    function(i)
      for _ in grid(tiles * K, "words") do
        local word = word_A[i]:get()
        a[i][0]:put(word[i])
        if i < R - 1 then word_A[i + 1]:put(word) end
      end
    end,
  }
  d.feed_B = task {
    map = { S },
    function(j)
      for _ in grid(tiles * K, "words") do
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
      for _ in grid(tiles) do
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
      for _ in grid(tiles) do
        out[j]:put(up[R - 1][j]:get())
        if j > 0 then
          for _ in grid(j) do out[j]:put(out[j - 1]:get()) end
        end
      end
    end,
  }
  d.store_C = task {
    C = i8[M * N // R][R], -- C[mt * N + n]: column n of tile row mt
    function(C)
      for mt, nt, n in grid(M // R, N // S, S) do
        C[mt * N + nt * S + S - 1 - n]:set(out[S - 1]:get())
      end
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
for _, loop in ipairs { "load_A:words/k", "load_B:words/k", "feed_A:words", "feed_B:words", "pe:k" } do
  s:pipeline(loop)
end

local A, B, C = tide.random(i8[M * K // R][R], 1), tide.random(i8[K * N // S][S], 2), i8[M * N // R][R](0)
local timed = s:build { target = "cpu", timed = true }
timed(A, B, C)
for _, m in ipairs { 0, M // 2, M - 1 } do
  for n in grid(N) do
    local sum = 0
    for k in grid(K) do sum = sum + A[m // R * K + k][m % R] * B[n // S * K + k][n % S] end
    assert(C[m // R * N + n][m % R] == i8(sum))
  end
end
print("rows compared with plain Lua: equal")

local report = timed.report
print(report)
print(("%d multiplications on %d elements: one in %.3f cycles of each"):format(M * N * K, R * S,
  report.cycles * R * S / (M * N * K)))

--> rows compared with plain Lua: equal
--> ...
--> 262144 multiplications on 16 elements: one in 1....
