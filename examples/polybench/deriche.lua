-- deriche: a recursive edge filter, along rows and then columns (PolyBench 4.2.1, medley).
-- Run: tide examples/polybench/deriche.lua [mini, small or medium]
local tide, suite = require "tide", require "suite"
local grid = tide.grid

local case = {
  name = "deriche",
  extents = "W H",
  tiny = "6 5", mini = "64 64", small = "192 128", medium = "720 480",
  large = "4096 2160",
}

function case.kernel(T, z)
  local W, H = z.W, z.H
  local alpha = 0.25
  local k = (1.0 - math.exp(-alpha)) * (1.0 - math.exp(-alpha)) /
    (1.0 + 2.0 * alpha * math.exp(-alpha) - math.exp(2.0 * alpha))
  local a1, a2 = k, k * math.exp(-alpha) * (alpha - 1.0)
  local a3, a4 = k * math.exp(-alpha) * (alpha + 1.0), -k * math.exp(-2.0 * alpha)
  local b1, b2 = 2.0 ^ -alpha, -math.exp(-2.0 * alpha)
  local deriche = tide.kernel {img = T[W][H], out = T[W][H], y1 = T[W][H], y2 = T[W][H],
    function(img, out, y1, y2)
      for i = 0, W - 1 do
        local ym1, ym2, xm1 = T(0), T(0), T(0)
        for j = 0, H - 1 do
          y1[i][j] = a1 * img[i][j] + a2 * xm1 + b1 * ym1 + b2 * ym2
          xm1 = img[i][j]
          ym2 = ym1
          ym1 = y1[i][j]
        end
      end
      for i = 0, W - 1 do
        local yp1, yp2, xp1, xp2 = T(0), T(0), T(0), T(0)
        for j = H - 1, 0, -1 do
          y2[i][j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2
          xp2 = xp1
          xp1 = img[i][j]
          yp2 = yp1
          yp1 = y2[i][j]
        end
      end
      for i, j in grid(W, H) do out[i][j] = y1[i][j] + y2[i][j] end
      for j = 0, H - 1 do
        local tm1, ym1, ym2 = T(0), T(0), T(0)
        for i = 0, W - 1 do
          y1[i][j] = a1 * out[i][j] + a2 * tm1 + b1 * ym1 + b2 * ym2
          tm1 = out[i][j]
          ym2 = ym1
          ym1 = y1[i][j]
        end
      end
      for j = 0, H - 1 do
        local tp1, tp2, yp1, yp2 = T(0), T(0), T(0), T(0)
        for i = W - 1, 0, -1 do
          y2[i][j] = a3 * tp1 + a4 * tp2 + b1 * yp1 + b2 * yp2
          tp2 = tp1
          tp1 = out[i][j]
          yp2 = yp1
          yp1 = y2[i][j]
        end
      end
      for i, j in grid(W, H) do out[i][j] = y1[i][j] + y2[i][j] end
    end}
  return deriche
end

suite.show(case)
return case

--> deriche: the schedule computes what its kernel does, and plain Lua
--> u280 at 300 MHz: ... cycles...
