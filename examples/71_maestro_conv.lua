-- 71_maestro_conv: a convolution of 5 x 5, stride 2, 12 x 16 pixels, without im2col (DataMaestro, Fig. 3): the
-- address pattern of the kernel itself, the bias through the broadcaster, a mode for each streamer.
-- Run: tide examples/71_maestro_conv.lua [OH OW CIN COUT R STRIDE]
local tide, maestro = require "tide", require "tide.maestro"
local i8, i32, grid, reduction = tide.i8, tide.i32, tide.grid, tide.reduction
local OH, OW, CI, CO = tonumber(arg[1] or 12), tonumber(arg[2] or 16), tonumber(arg[3] or 16), tonumber(arg[4] or 24)
local R, step = tonumber(arg[5] or 5), tonumber(arg[6] or 2)
local H, W = step * (OH - 1) + R, step * (OW - 1) + R

local layer = tide.kernel {
  image = i8[H][W][CI], weights = i8[CO][R][R][CI], bias = i32[CO], out = i32[OH][OW][CO],
  function(image, weights, bias, out)
    for y, x, f in grid(OH, OW, CO) do
      local sum = bias[f]
      for r, s, c in reduction(R, R, CI) do
        sum = sum + image[y * step + r][x * step + s][c] * weights[f][r][s][c]
      end
      out[y][x][f] = sum
    end
  end,
}

local function options(mode)
  return {
    m = "x", n = "f", k = "c", loops = { "y", "x", "f", "c", "r", "s" }, mode = mode,
    order = {
      image = "y x c -> c/8 y x c%8", weights = "n y x c -> n/8 c/8 y x n%8 c%8", bias = "n -> n",
      out = "y x n -> n/8 y x n%8",
    },
  }
end

local sys = maestro.reference { arbiter = "round_robin" }
for _, mode in ipairs { "fima", "gima16", "gima8", "best" } do
  local ok, r = pcall(function() return sys:compile(layer, options(mode)):simulate() end)
  print(mode, ok and ("%d cycles, %.1f %%, %d accesses"):format(r.cycles, 100 * r.utilisation, r.accesses) or r.message)
end

local job = sys:compile(layer, options "best")
print(job)
local image, weights = tide.random(i8[H][W][CI], 1), tide.random(i8[CO][R][R][CI], 2)
local bias, out, want = tide.random(i32[CO], 3), i32[OH][OW][CO](0), i32[OH][OW][CO](0)
job:run { image = image, weights = weights, bias = bias, out = out }
layer:native(image, weights, bias, want)
assert(out:equal(want))
print "the streamers' results are the kernel's"

-- Refused: sums that leave the array before they are done.
local o = options "fima"
o.loops = { "y", "x", "c", "f", "r", "s" }
local ok, why = pcall(sys.compile, sys, layer, o)
assert(not ok and why.code == "maestro-stationary")
print(why.message)
print(why.help)
