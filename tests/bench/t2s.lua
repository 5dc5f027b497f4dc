-- t2s.lua - mappings of T2S on the clock: operations of the definition / (elements x lanes x cycles of the whole run,
-- fill and drain too), on an ideal device and on a U280, with what the elements wait for. A loop that `vectorize`
-- names counts as one lane as long as the report says that no step does it.
-- Run: LUA_PATH='tests/?.lua;;' ./tide tests/bench/t2s.lua [K of SGEMM] [SCALE of VGG-16]    (default 256, 16)
local tide = require "tide"
local t2s = require "tide.t2s"
local f32, i32 = tide.f32, tide.i32

-- The lines of a report about tasks of that name.
local function rows_of(report, name)
  local out = {}
  for line in tostring(report):gmatch "[^\n]+" do
    if line:match("^" .. name .. "%f[%W]") and #out < 2 then out[#out + 1] = "    " .. line end
  end
  return table.concat(out, "\n")
end

-- Runs a design with a clock and prints its figure; returns the cycles on each device.
local function measure(what, net, args, work, lanes, task)
  local cycles = {}
  for n, device in ipairs {"ideal", "u280"} do
    local timed = net:build {target = "cpu", timed = true, device = n > 1 and device or nil}
    timed(table.unpack(args))
    local r = timed.report
    cycles[n] = r.cycles
    print(("%-30s %-5s %9d cycles  %5.1f %% of %d lanes, fill %d, drain %d"):format(what, device, r.cycles,
      100 * work / lanes / r.cycles, lanes, r.fill, r.drain))
    print(rows_of(r, task))
  end
  return cycles
end

-- How many lanes an element has: those of a vectorised loop count if a step makes them.
local function lanes_of(net, lanes)
  for _, x in ipairs(t2s.report(net).left) do
    if x.what:find "^C:vectorize" then return 1 end
  end
  return lanes
end

-- The paper's array of P x P elements, P x P sums in each, tiles of 64 along the sum.
local function sgemm(K, P, lanes)
  local A, B = t2s.Param("A B", f32, 2)
  local I, J, S = t2s.Param "I J S"
  local i, j, k, ii, jj, kk, iii, jjj, kkk = t2s.Var "i j k ii jj kk iii jjj kkk"
  local C = t2s.Func("C", f32)
  C[i][j] = 0
  C[i][j] = C[i][j] + A[i][k] * B[k][j]
  C:set_bounds(i, 0, I, j, 0, J, k, 0, S)
  t2s.assume.divisible(I, P * P, J, P * P, S, 64)
  C:tile(i, j, k, ii, jj, kk, iii, jjj, kkk, P * P, P * P, 64, P, P, lanes)
  local A_load, A_feed, B_load, B_feed, C_coll, C_unld = t2s.Func "A_load A_feed B_load B_feed C_coll C_unld"
  C:isolate_producer_chain(A, A_load, A_feed):isolate_producer_chain(B, B_load, B_feed)
  C:isolate_consumer_chain(C, C_unld, C_coll)
  C:unroll(ii, jj):relay(A, {0, 1}):relay(B, {1, 0}):relay(C, {-1, 0})
  A_load:remove(jjj, jj)
  B_load:remove(iii, ii)
  A_feed:unroll(ii):relay(A, {1}):buffer(A, ii, t2s.DOUBLE)
  B_feed:unroll(jj):relay(B, {1}):buffer(B, jj, t2s.DOUBLE)
  C_coll:remove(k, kk, kkk):unroll(jj):relay(C, {-1})
  if lanes > 1 then
    for _, f in ipairs {C, A_load, A_feed, B_load, B_feed} do f:vectorize(kkk) end
  end
  local net = t2s.design(C, {}, {check = false})
  local M = 2 * P * P
  local width = lanes_of(net, lanes)
  measure(("SGEMM %d x %d x %d"):format(M, M, K), net:at {I = M, J = M, S = K},
    {tide.random(f32[M][K], 1), tide.random(f32[K][M], 2), f32[M][M](0)}, M * M * K, P * P * width, "C_pe")
end

-- {channels out, channels in, width} of VGG-16's layers.
local vgg = {{64, 3, 224}, {64, 64, 224}, {128, 64, 112}, {128, 128, 112}, {256, 128, 56}, {256, 256, 56},
  {256, 256, 56}, {512, 256, 28}, {512, 512, 28}, {512, 512, 28}, {512, 512, 14}, {512, 512, 14}, {512, 512, 14}}

-- One design of a convolution and a ReLU at all layers, channels and widths divided by a number.
local function convolution(scale)
  local input, weight, bias = t2s.Param("input", i32, 3), t2s.Param("weight", i32, 4), t2s.Param("bias", i32, 1)
  local Nof, Noy, Nox, Nif = t2s.Param "Nof Noy Nox Nif"
  local no, y, x, ni, ky, kx, nooo, xx = t2s.Var "no y x ni ky kx nooo xx"
  local conv, relu, i_feed, w_feed = t2s.Func "conv relu i_feed w_feed"
  conv[no][y][x] = 0
  conv[no][y][x] = conv[no][y][x] + input[ni][y + ky][x + kx] * weight[no][ni][ky][kx]
  relu[no][y][x] = tide.max(conv[no][y][x] + bias[no], 0)
  conv:set_bounds(no, 0, Nof, y, 0, Noy, x, 0, Nox, ni, 0, Nif, ky, 0, 3, kx, 0, 3)
  relu:set_bounds(no, 0, Nof, y, 0, Noy, x, 0, Nox)
  t2s.assume.divisible(Nof, 4, Nox, 2)
  for _, f in ipairs {conv, relu} do
    f:tile(no, nooo, 4):tile(x, xx, 2):reorder(xx, nooo, x, y, no):unroll(xx, nooo)
  end
  conv:isolate_producer_chain(input, i_feed):isolate_producer_chain(weight, w_feed)
  conv:relay(input, {0, 1}):relay(weight, {1, 0})
  i_feed:unroll(xx)
  w_feed:unroll(nooo)
  local net = t2s.design(relu, {}, {check = false})
  local work, cycles = 0, {0, 0}
  for n, layer in ipairs(vgg) do
    local o, c, w = math.max(layer[1] // scale, 4), math.max(layer[2] // scale, 1), math.max(layer[3] // scale, 2)
    w = w + w % 2
    local z = {Nof = o, Nif = c, Noy = w, Nox = w}
    local args = {tide.random(i32[c][w + 2][w + 2], 1), tide.random(i32[o][c][3][3], 2), tide.random(i32[o], 3),
      i32[o][w][w](0)}
    local got = measure(("VGG-16 layer %d / %d"):format(n, scale), net:at(z), args, o * w * w * c * 9, 8, "relu_no_1")
    if n > 1 then
      work, cycles[1], cycles[2] = work + o * w * w * c * 9, cycles[1] + got[1], cycles[2] + got[2]
    end
  end
  print(("layers 2 to 13 together: %.1f %% ideal, %.1f %% u280"):format(100 * work / 8 / cycles[1],
    100 * work / 8 / cycles[2]))
end

local K = math.tointeger(tonumber(arg[1] or 256))
sgemm(K, 4, 1)
sgemm(K, 8, 1)
sgemm(K, 8, 8)
convolution(math.tointeger(tonumber(arg[2] or 16)))
