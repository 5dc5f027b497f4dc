-- N15: a pipeline of four cores above each other: neighbours share memory, so no DMA is between them.
-- Run: tide examples/npu/pipeline.lua [ROWS N]     (default 32 64)
local here = (arg[0] or ""):match "^(.*/)" or "./"
package.path = here .. "?.lua;" .. package.path
local show, tide = require "show", require "tide"
local i32, grid = tide.i32, tide.grid
local rows, n = tonumber(arg[1] or 32), tonumber(arg[2] or 64)

local line = tide.design(function(d)
  local S = d:stream(i32[n], {3, block = true})
  d.first = tide.task {A = i32[rows][n], function(A)
    for i in grid(rows) do
      local a, o = i32[n](), S[0]:slot()
      for j in grid(n) do a[j] = A[i][j] end
      for j in grid(n) do o[j] = a[j] * 2 end
      S[0]:put(o)
    end
  end}
  d.middle = tide.task {map = {2}, function(p)
    for _ in grid(rows) do
      local x, o = S[p]:get(), S[p + 1]:slot()
      for j in grid(n) do o[j] = x[n - 1 - j] + p end
      S[p + 1]:put(o)
    end
  end}
  d.last = tide.task {B = i32[rows][n], function(B)
    for i in grid(rows) do
      local x, b = S[2]:get(), i32[n]()
      for j in grid(n) do b[j] = x[j] * 3 end
      for j in grid(n) do B[i][j] = b[j] end
    end
  end}
end)
local s = tide.schedule(line)
s:place("first", {1, 2}):place("middle", {1, 3}, {by = {{0, 1}}}):place("last", {1, 5})
show("a column", s, {i32[rows][n], i32[rows][n]})
local apart = tide.schedule(line)
apart:place("first", {0, 2}):place("middle", {1, 4}, {by = {{1, 1}}}):place("last", {3, 3})
show("apart, by DMA", apart, {i32[rows][n], i32[rows][n]})

--> a column ...
--> apart, by DMA ...
