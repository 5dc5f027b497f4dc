-- N07: a matrix turned round on its way: elements of 4 bytes by the DMA alone; bytes are no words, so the DMA is
-- refused, and a core turns them.
-- Run: tide examples/npu/transpose.lua [N]     (default 64)
local here = (arg[0] or ""):match "^(.*/)" or "./"
package.path = here .. "?.lua;" .. package.path
local show, tide = require "show", require "tide"
local grid = tide.grid
local n = tonumber(arg[1] or 64)
local m = n // 4

-- Parts of m columns, a core each: B = 3 A, turned round by whoever fills a.
local function turned(T)
  return tide.design(function(d)
    d.turn = tide.task {map = {4}, A = T[n][n]:layout "RS0", B = T[n][n]:layout "S0R", function(A, B)
      local a, b = T[m][n](), T[m][n]()
      for i, j in grid(m, n) do a[i][j] = A[j][i] end
      for i, j in grid(m, n) do b[i][j] = T(a[i][j] * 3) end
      for i, j in grid(m, n) do B[i][j] = b[i][j] end
    end}
  end)
end

-- The same, with columns as they are brought to the core first.
local function turned_by_core(T)
  return tide.design(function(d)
    d.turn = tide.task {map = {4}, A = T[n][n]:layout "RS0", B = T[n][n]:layout "S0R", function(A, B)
      local a, b = T[n][m](), T[m][n]()
      for j, i in grid(n, m) do a[j][i] = A[j][i] end
      for i, j in grid(m, n) do b[i][j] = T(a[j][i] * 3) end
      for i, j in grid(m, n) do B[i][j] = b[i][j] end
    end}
  end)
end

local i8, i32 = tide.i8, tide.i32
show("i32, by the DMA", turned(i32), {i32[n][n], i32[n][n]})
local ok, e = pcall(function() return turned(i8):build {target = "npu", tool = false} end)
assert(not ok)
print("i8, by the DMA: " .. tostring(e):match "error: [^\n]*")
show("i8, by the core", turned_by_core(i8), {i8[n][n], i8[n][n]})

--> i32, by the DMA ...
--> i8, by the DMA: error: ...[npu-dma]
--> i8, by the core ...
