-- N08: a convolution of 3 x 3 over an image of bytes, stride 1 and 2: the host sends the rows of the halo twice, a row
-- of results at a time.
-- Run: tide examples/npu/conv.lua [HEIGHT WIDTH CHANNELS]     (default 16 32 8)
-- [slow]
local here = (arg[0] or ""):match "^(.*/)" or "./"
package.path = here .. "?.lua;" .. package.path
local show, tide = require "show", require "tide"
local i8, i32, grid = tide.i8, tide.i32, tide.grid
local h, w, c = tonumber(arg[1] or 16), tonumber(arg[2] or 32), tonumber(arg[3] or 8)

for stride = 1, 2 do
  local high, wide = (h - 1) * stride + 3, (w - 1) * stride + 4
  local conv = tide.design(function(d)
    d.conv = tide.task {
      map = {4}, x = i8[high][wide][c], f = i8[3][3][c], y = i32[h][w]:layout "S0R",
      function(x, f, y, p)
        local taps = i8[3][3][c]()
        for u, v, q in grid(3, 3, c) do taps[u][v][q] = f[u][v][q] end
        for i in grid(h // 4) do
          local rows, out = i8[3][wide][c](), i32[w](0)
          for u, j, q in grid(3, wide, c) do rows[u][j][q] = x[(p * (h // 4) + i) * stride + u][j][q] end
          for j, u, v, q in grid(w, 3, 3, c) do
            out[j] = out[j] + i32(rows[u][j * stride + v][q]) * i32(taps[u][v][q])
          end
          for j in grid(w) do y[i][j] = out[j] end
        end
      end,
    }
  end)
  local s = tide.schedule(conv)
  local _, filter = s:isolate "conv:taps"
  s:coalesce(filter, {axis = 0}):isolate "conv:rows"
  s:isolate "conv:out"
  show("stride " .. stride, s, {i8[high][wide][c], i8[3][3][c], i32[h][w]})
end

--> stride 1 ...
--> stride 2 ...
