-- N12: two designs in one host program: a product, then a step that scales it; what is between them stays on the
-- device's side.
-- Run: tide examples/npu/launches.lua [N]     (default 32)
local here = (arg[0] or ""):match "^(.*/)" or "./"
package.path = here .. "?.lua;" .. package.path
local show, tide = require "show", require "tide"
local i16, i32, grid, task = tide.i16, tide.i32, tide.grid, tide.task
local n = tonumber(arg[1] or 32)
local h = n // 2

local product = tide.design(function(d)
  d.mm = task {map = {2, 2}, A = i16[n][n]:layout "S0R", B = i16[n][n]:layout "RS1", C = i32[n][n]:layout "S0S1",
    function(A, B, C)
      local o = i32[h][h]()
      o:set(tide.matmul(A, B, {acc = i32}))
      for i, j in grid(h, h) do C[i][j] = o[i][j] end
    end}
end)
local scaled = tide.design(function(d)
  d.scale = task {map = {2}, X = i32[n][n]:layout "S0R", by = i32, Y = i32[n][n]:layout "S0R", function(X, by, Y)
    for i, j in grid(h, n) do Y[i][j] = X[i][j] * by end
  end}
end)
local both = tide.kernel {A = i16[n][n], B = i16[n][n], by = i32, Y = i32[n][n], function(A, B, by, Y)
  local t = i32[n][n]()
  product(A, B, t)
  scaled(t, by, Y)
end}
local m = show("two launches", both, {i16[n][n], i16[n][n], 3, i32[n][n]})
print(select(2, m.source:gsub("aiex?%.[%w_.]*configure[^\n]*", "")) .. " launches in the text")

--> two launches ...
--> 2 launches in the text
