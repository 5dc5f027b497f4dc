-- 83_t2s_conv_relu: a convolution and a ReLU as two arrays, one behind the other (T2S, Fig. 8): a line buffer, weights
-- that stay, results handed on from PE to PE by streams.
-- Run: tide examples/83_t2s_conv_relu.lua
local tide = require "tide"
local t2s = require "tide.t2s"
local i32, max = tide.i32, tide.max
local Param, Const, Var, Func, assume = t2s.Param, t2s.Const, t2s.Var, t2s.Func, t2s.assume

local input, weight, bias = Param("input", i32, 3), Param("weight", i32, 4), Param("bias", i32, 1)
local Nof, Noy, Nox, Nif, Nky, Nkx = Param "Nof Noy Nox Nif Nky Nkx"
local S, Tof, Toy, Pof, Poy, Pox   = Const "S Tof Toy Pof Poy Pox"
local no, y, x, ni, ky, kx   = Var "no y x ni ky kx"
local noo, yy, xx, nooo, yyy = Var "noo yy xx nooo yyy"
local conv, relu = Func "conv relu"

conv[no][y][x] = 0
conv[no][y][x] = conv[no][y][x] + input[ni][y * S + ky][x * S + kx] * weight[no][ni][ky][kx]
relu[no][y][x] = max(conv[no][y][x] + bias[no], 0)
conv:set_bounds(no, 0, Nof, y, 0, Noy, x, 0, Nox, ni, 0, Nif, ky, 0, Nky, kx, 0, Nkx)
relu:set_bounds(no, 0, Nof, y, 0, Noy, x, 0, Nox)
assume.divisible(Nof, Tof, Tof, Pof, Noy, Toy, Toy, Poy, Nox, Pox)
for _, f in ipairs { conv, relu } do
  f:tile(no, y, noo, yy, nooo, yyy, Tof, Toy, Pof, Poy):tile(x, xx, Pox)
   :reorder(xx, nooo, yyy, yy, x, noo, y, no)
end

local i_load, i_feed, w_load, w_feed, b_feed = Func "i_load i_feed w_load w_feed b_feed"
relu:isolate_producer_chain(bias, b_feed)
conv:isolate_producer_chain(input, i_load, i_feed)
    :isolate_producer_chain(weight, w_load, w_feed)
relu:unroll(xx, nooo):relay(bias, { 1, 0 }):buffer(relu, y)
conv:unroll(xx, nooo, yyy):relay(input, { 0, 1, 0 }):relay(weight, { 1, 0, 0 })
i_load:remove(noo, nooo)
i_feed:buffer(input, y):linebuffer(input, yy)
w_load:remove(y, x, yy, xx, yyy)
w_feed:buffer(weight, no)

-- Runs one mapping at a shape, against the definition.
local function run(c, z)
  local net, verdict = t2s.design(relu, c)
  local small = { lo = -8, hi = 8 }
  local rows, columns = (z.Noy - 1) * c.S + z.Nky, (z.Nox - 1) * c.S + z.Nkx
  local got, want = i32[z.Nof][z.Noy][z.Nox](0), i32[z.Nof][z.Noy][z.Nox](0)
  local function args(out)
    local list = { input = tide.random(i32[z.Nif][rows][columns], 1, small), bias = tide.random(i32[z.Nof], 3, small),
      weight = tide.random(i32[z.Nof][z.Nif][z.Nky][z.Nkx], 2, small), relu = out }
    for k, v in pairs(z) do list[k] = v end
    return list
  end
  net(args(got))
  t2s.kernel(relu, c)(args(want))
  assert(got:equal(want))
  print(("%d channels: %s"):format(t2s.report(net).channels, verdict))
end

run({ S = 1, Tof = 4, Toy = 4, Pof = 2, Poy = 2, Pox = 2 }, { Nof = 4, Noy = 4, Nox = 4, Nif = 2, Nky = 3, Nkx = 3 })
run({ S = 1, Tof = 6, Toy = 4, Pof = 3, Poy = 2, Pox = 2 }, { Nof = 6, Noy = 8, Nox = 4, Nif = 1, Nky = 2, Nkx = 3 })
run({ S = 2, Tof = 6, Toy = 2, Pof = 3, Poy = 2, Pox = 1 }, { Nof = 6, Noy = 4, Nox = 3, Nif = 3, Nky = 2, Nkx = 3 })
run({ S = 1, Tof = 4, Toy = 2, Pof = 2, Poy = 1, Pox = 3 }, { Nof = 8, Noy = 4, Nox = 6, Nif = 2, Nky = 1, Nkx = 2 })
