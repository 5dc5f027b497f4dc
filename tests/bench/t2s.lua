-- t2s.lua - mappings of T2S on the clock: operations of the definition / (elements x lanes x cycles of the whole run,
-- fill and drain too), on an ideal device and on a U280, with what the elements wait for. A loop that `vectorize`
-- names counts as one lane as long as the report says that no step does it. Beside each is the figure that is asked of
-- it, for both devices, and where it comes from.
-- Run: LUA_PATH='tests/?.lua;;' ./tide tests/bench/t2s.lua [WHAT] [K of SGEMM] [SCALE of VGG-16]
-- WHAT: all, sgemm, vgg, capsule, pairs, align, batch, merge, spmv, ladder, time, lines    (default all, 8192, 16)
local studies = require "t2s_studies"
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

-- Runs a design with a clock and prints its figure beside `asked`; returns the cycles on each device. `less`: cycles
-- that are told apart.
local function measure(what, asked, net, args, work, lanes, task, less)
  local cycles = {}
  for n, device in ipairs {"ideal", "u280"} do
    local timed = net:build {target = "cpu", timed = true, device = n > 1 and device or nil}
    timed(table.unpack(args))
    local r = timed.report
    cycles[n] = r.cycles - (less or 0)
    print(("%-36s %-5s %9d cycles  %5.1f %% of %d lanes, fill %d, drain %d   (%s)"):format(what, device, cycles[n],
      100 * work / lanes / cycles[n], lanes, r.fill, r.drain, asked))
    print(rows_of(r, task))
  end
  return cycles
end

-- Arguments of a design, random, the last one zeros.
local function drawn(net)
  local args = {}
  for n, p in ipairs(net.params) do args[n] = n < #net.params and tide.random(p.type, n) or p.type(0) end
  return args
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
  measure(("SGEMM %d x %d x %d"):format(M, M, K), ">= 97.8, u280 >= 91; T2SP 97", net:at {I = M, J = M, S = K},
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
    local got = measure(("VGG-16 layer %d / %d"):format(n, scale), "together", net:at(z), args, o * w * w * c * 9, 8,
      "relu_no_1")
    if n > 1 then
      work, cycles[1], cycles[2] = work + o * w * w * c * 9, cycles[1] + got[1], cycles[2] + got[2]
    end
  end
  print(("layers 2 to 13 together: %.1f %% ideal, %.1f %% u280   (>= 98; T2SP 99)"):format(100 * work / 8 / cycles[1],
    100 * work / 8 / cycles[2]))
end

-- A design at sizes, not proved here: the tests do.
local function made(F, consts, sizes)
  local net = t2s.design(F, consts, {check = false})
  return sizes and net:at(sizes) or net
end

local all = {}

function all.sgemm(K)
  sgemm(K, 8, 8)
end

function all.vgg(_, scale)
  convolution(scale)
end

function all.capsule()
  local z = {H = 6, V = 6, O = 16, C = 8, KX = 3, KY = 3}
  local net = made(studies.capsule(), {OO = 8}, z)
  measure("capsule convolution 6 x 6 x 16, 8 in", ">= 96; T2SP 96", net, drawn(net),
    z.H * z.V * z.O * 16 * z.C * z.KX * z.KY * 4, 32, "Q_pe")
end

function all.pairs()
  for _, n in ipairs {32, 256} do
    local net = made(studies.pairs {most = n, depth = 32}, {II = 8, JJ = 8}, {B = n, I = 64, J = 64})
    measure(("PairHMM, %d pairs 64 x 64"):format(n), ">= 95; T2SP 95", net, drawn(net), n * 64 * 64, 64, "Y_pe")
  end
end

function all.batch()
  for _, n in ipairs {32, 256} do
    local size = n > 32 and 64 or 128
    local net = made(studies.batch {most = n, depth = 32}, {II = 8, JJ = 8}, {B = n, I = size, J = size})
    measure(("Smith-Waterman, %d pairs %d x %d"):format(n, size, size), ">= 99; by hand u280 71, 256 pairs 99.9", net,
      drawn(net), n * size * size, 64, "A_pe")
  end
end

function all.align()
  local net = made(studies.align {}, {II = 8, JJ = 8, MAX_J = 256}, {I = 64, J = 256})
  local strings = {tide.random(i32[64], 1, {lo = 0, hi = 4}), tide.random(i32[256], 2, {lo = 0, hi = 4}), i32[1](0)}
  measure("Smith-Waterman, one pair 64 x 256", ">= 95 % of 1 / (8 + h); by hand 1.9", net, strings, 64 * 256, 64,
    "driver")
end

function all.merge()
  for _, o in ipairs {{what = "stream by stream", asked = "51"}, {turns = true, what = "round robin", asked = ">= 94"},
    {each = function(_, m) return m end, what = "a loader each", asked = "99, u280 33"}} do
    local net = made(studies.tree(o), {L = 4, S = 256}, {input_tokens = 256})
    local rows = tide.random(i32[16][256], 1)
    for s = 0, 15 do
      local row = rows[s]:table()
      table.sort(row)
      rows[s]:set(tide.tensor(i32[256], row))
    end
    measure("merge sort 16 x 256, " .. o.what, o.asked, net, {rows, i32[4096](0)}, 4096, 1, "loader")
  end
end

function all.spmv()
  local a = studies.rows("", 4096, 8, 32, 64, 1)
  local net = made(studies.spmv {}, {LANES = 8, BANKS = 8}, {T = 4096, R = a.R, x_0 = 64})
  print(("SpMV: %d cycles before the sums for y = 0, %d behind them to store it, told apart"):format(a.R + 1, a.R + 1))
  measure("SpMV, 8 slots, 4096 steps", ">= 95 of 8 elements; by hand 28 with y", net, {a.v, a.x, a.at, a.len, a.sum},
    8 * 4096, 8, "sum_pe[0]", 2 * (a.R + 1))
end

-- The array of SGEMM with what is loaded: step 0 all that is read, 1 what buffers do not keep, scattered, 2 and results
-- that are gathered.
local function step_of(step)
  local A, B = t2s.Param("A B", f32, 2)
  local I, J, S = t2s.Param "I J S"
  local i, j, k, ii, jj, kk, iii, jjj, kkk = t2s.Var "i j k ii jj kk iii jjj kkk"
  local C = t2s.Func("C", f32)
  C[i][j] = 0
  C[i][j] = C[i][j] + A[i][k] * B[k][j]
  C:set_bounds(i, 0, I, j, 0, J, k, 0, S)
  t2s.assume.divisible(I, 64, J, 64, S, 64)
  C:tile(i, j, k, ii, jj, kk, iii, jjj, kkk, 64, 64, 64, 8, 8, 8)
  local A_load, A_feed, B_load, B_feed, C_coll, C_unld = t2s.Func "A_load A_feed B_load B_feed C_coll C_unld"
  C:unroll(ii, jj):relay(A, {0, 1}):relay(B, {1, 0}):vectorize(kkk)
  if step < 2 then
    C:isolate_consumer_chain(C, C_unld)
    C_unld:remove(k, kk, kkk):unroll(ii, jj)
  end
  if step == 0 then
    C:isolate_producer_chain(A, A_load):isolate_producer_chain(B, B_load)
    A_load:unroll(ii):vectorize(kkk)
    B_load:unroll(jj):vectorize(kkk)
    return C
  end
  C:isolate_producer_chain(A, A_load, A_feed):isolate_producer_chain(B, B_load, B_feed)
  A_load:remove(jjj, jj):vectorize(kkk)
  B_load:remove(iii, ii):vectorize(kkk)
  A_feed:unroll(ii):relay(A, {1}):buffer(A, ii, t2s.DOUBLE):vectorize(kkk)
  B_feed:unroll(jj):relay(B, {1}):buffer(B, jj, t2s.DOUBLE):vectorize(kkk)
  if step == 2 then
    C:isolate_consumer_chain(C, C_unld, C_coll):relay(C, {-1, 0})
    C_coll:remove(k, kk, kkk):unroll(jj):relay(C, {-1})
  end
  return C
end

function all.ladder()
  local per_cycle, last = 128, nil
  for step = 0, 2 do
    local net = made(step_of(step), {}, {I = 64, J = 64, S = 256})
    local args, timed = drawn(net), net:build {target = "cpu", timed = true}
    timed(table.unpack(args))
    local moved = net:build {target = "cpu", timed = true, memory = {model = "slots", request = 4}}
    moved(table.unpack(args))
    local bytes = moved.report.memory.bytes
    local cycles = math.max(timed.report.cycles, bytes // per_cycle)
    print(("SGEMM 64 x 64 x 256, %s: %d cycles, %d bytes at %d a cycle%s"):format(
      ({[0] = "loaded as read", "remove, buffer, scatter", "gather"})[step], cycles, bytes, per_cycle,
      last and (", %.2f x   (%s)"):format(last / cycles, step == 1 and "3.3 +- 25 %" or "1.35 +- 0.1") or ""))
    last = cycles
  end
end

function all.time()
  local function proved(what, F, consts)
    local start = os.clock()
    local _, verdict = t2s.design(F, consts)
    print(("%-30s %5.2f s to a proved design   (<= %d)  %s"):format(what, os.clock() - start,
      what:find "16 x 16" and 2 or 1, verdict))
  end
  local small = {II = 4, JJ = 4, KK = 4, III = 2, JJJ = 2, KKK = 2}
  proved("Smith-Waterman", studies.align {}, {II = 4, JJ = 4, MAX_J = 16})
  proved("SGEMM", studies.sgemm {}, small)
  proved("convolution and ReLU", studies.convolution {kept = function(v) return v.y end},
    {S = 1, Tof = 4, Toy = 4, Pof = 2, Poy = 2, Pox = 2})
  proved("SpMV", studies.spmv {}, {LANES = 4, BANKS = 2})
  proved("merge sort", studies.tree {}, {L = 3, S = 4})
  proved("SGEMM, 16 x 16 elements", studies.sgemm {lanes = true},
    {II = 32, JJ = 32, KK = 4, III = 2, JJJ = 2, KKK = 2})
end

-- The lines of an example's definition and mapping: from its first name to what runs it, neither empty nor a comment.
local function lines_of(name)
  local n, counts, inside, mapped = 0, false, false, false
  for line in io.lines("examples/" .. name .. ".lua") do
    counts = counts or line:find "Param%("
    inside = inside or line:find "kernel {"
    mapped = mapped or line:find ":unroll%("
    if mapped and (line:find "^%-%-" or line:find "^local ") then break end
    if counts and not inside and line:find "%S" and not line:find "^%-%-" then n = n + 1 end
    if line:find "^}" then inside = false end
  end
  return n
end

function all.lines()
  for _, x in ipairs {{"80_t2s_smith_waterman", 14}, {"82_t2s_sgemm", 22}, {"83_t2s_conv_relu", 22},
    {"84_t2s_spmv", 17}, {"81_t2s_merge_sort", 11}} do
    print(("%-24s %3d lines without kernels   (%d)"):format(x[1], lines_of(x[1]), x[2]))
  end
  for _, P in ipairs {2, 16} do
    local c = {II = 8 * P, JJ = 8 * P, KK = 64, III = 8, JJJ = 8, KKK = 8}
    local net = t2s.design(studies.sgemm {lanes = true}, c, {check = false})
    local hls = net:at {I = 16 * P, J = 16 * P, K = 128}:build {target = "hls"}
    print(("SGEMM on %2d x %2d: %d lines of design, %d of HLS C++"):format(P, P,
      select(2, tostring(net):gsub("\n", "")), select(2, hls.source:gsub("\n", ""))))
  end
end

local what, order = arg[1] or "all", {"sgemm", "vgg", "capsule", "pairs", "batch", "align", "merge", "spmv", "ladder",
  "time", "lines"}
for _, name in ipairs(order) do
  if what == "all" or what == name then
    all[name](math.tointeger(tonumber(arg[2] or 8192)), math.tointeger(tonumber(arg[3] or 16)))
  end
end
