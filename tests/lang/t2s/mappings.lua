-- [slow]
-- mappings.lua - T2S directives as steps: SGEMM's array with feeders, collectors, double buffers and host stages, at
-- drawn names and sizes, proved and run; and directives that are refused, each beside an accepted twin.
local t = require "tap"
local tide = require "tide"
local t2s = require "tide.t2s"
local studies = require "t2s_studies"
local f32, i32 = tide.f32, tide.i32
local Param, Const, Var, Func = t2s.Param, t2s.Const, t2s.Var, t2s.Func
local sgemm, convolution = studies.sgemm, studies.convolution

local small = {lo = -8, hi = 8}

-- Runs a design of SGEMM at sizes and states what it computes.
local function check_product(net, q, I, J, K)
  local a, b, c = tide.random(f32[I][K], 1, small), tide.random(f32[K][J], 2, small), f32[I][J](0)
  net {[q .. "A"] = a, [q .. "B"] = b, [q .. "C"] = c, I = I, J = J, K = K}
  t.ok(c:equal(tide.matmul(a, b)))
end

t.test("SGEMM: proved for all sizes, run at several", function()
  local C, q = sgemm {}
  local net, verdict = t2s.design(C, {II = 4, JJ = 4, KK = 4, III = 2, JJJ = 2, KKK = 2})
  t.has(tostring(verdict), "proved: strict, all sizes")
  for _, z in ipairs {{8, 8, 8}, {4, 12, 8}, {8, 4, 16}} do check_product(net, q, z[1], z[2], z[3]) end
  t.fails(function() check_product(net, q, 6, 8, 8) end, {kind = "illegal"})
end)

t.test("SGEMM as HLS C++, and with a clock; depths of 1 suffice", function()
  local net = t2s.design((sgemm {}), {II = 4, JJ = 4, KK = 4, III = 2, JJJ = 2, KKK = 2}):at {I = 8, J = 8, K = 8}
  local a, b, want = tide.random(f32[8][8], 3, small), tide.random(f32[8][8], 4, small), f32[8][8](0)
  want:set(tide.matmul(a, b))
  for _, target in ipairs {{target = "hls"}, {target = "cpu", timed = true}} do
    local c = f32[8][8](0)
    net:build(target)(a, b, c)
    t.ok(c:equal(want), target.target)
  end
  for stream, depth in pairs(net:depths()) do t.eq(depth, 1, stream) end
end)

t.test("SGEMM without divisible sizes: clamps, proved, the definition's bits, cycles as if tiles were whole", function()
  for n, c in ipairs {{II = 4, JJ = 4, KK = 4, III = 2, JJJ = 2, KKK = 2},
    {II = 6, JJ = 2, KK = 3, III = 3, JJJ = 1, KKK = 3}} do
    local C, q = sgemm {clamped = true, prefix = n > 1 and "qq" or nil}
    local net, verdict = t2s.design(C, c)
    t.has(tostring(verdict), "proved: strict, all sizes")
    for _, z in ipairs {{7, 10, 9}, {1, 1, 1}, {3, 5, 4}, {8, 8, 8}, {13, 2, 5}} do
      local I, J, K = table.unpack(z)
      local a, b = tide.random(f32[I][K], 1), tide.random(f32[K][J], 2)
      local got, want, timed = f32[I][J](0), f32[I][J](0), f32[I][J](0)
      net {[q .. "A"] = a, [q .. "B"] = b, [q .. "C"] = got}
      t2s.kernel(C, c) {[q .. "A"] = a, [q .. "B"] = b, [q .. "C"] = want}
      t.ok(got:equal(want), table.concat(z, " x "))
      local m = net:at {I = I, J = J, K = K}:build {target = "cpu", timed = true}
      m(a, b, timed)
      t.ok(timed:equal(want) and m.report.cycles > 0)
    end
  end
  local whole = t2s.design((sgemm {}), {II = 4, JJ = 4, KK = 4, III = 2, JJJ = 2, KKK = 2})
  local part = t2s.design((sgemm {clamped = true}), {II = 4, JJ = 4, KK = 4, III = 2, JJJ = 2, KKK = 2})
  local cycles = {}
  for k, at in ipairs {whole:at {I = 8, J = 12, K = 12}, part:at {I = 7, J = 10, K = 9}} do
    local m = at:build {target = "cpu", timed = true}
    local args = {}
    for n, p in ipairs(at.params) do args[n] = tide.random(p.type, n) end
    m(table.unpack(args))
    cycles[k] = m.report.cycles
  end
  t.ok(cycles[2] <= 1.05 * cycles[1], ("%d, and %d of whole tiles"):format(cycles[2], cycles[1]))
end)

t.test("a call: sizes by name, assumptions, arguments that are apart", function()
  local C, q = sgemm {apart = true}
  local c = {II = 4, JJ = 4, KK = 4, III = 2, JJJ = 2, KKK = 2}
  local net, kernel = t2s.design(C, c), t2s.kernel(C, c)
  for _, f in ipairs {net, kernel} do
    local function run(I, more)
      local args = {[q .. "A"] = f32[I][8](1), [q .. "B"] = f32[8][8](1), [q .. "C"] = f32[I][8](0)}
      for k, v in pairs(more or {}) do args[k] = v end
      f(args)
      return true
    end
    t.ok(run(8) and run(8, {I = 8, K = 8}) and run(12, {I = 12}))
    t.fails(function() run(8, {I = 12}) end, {code = "argument-type"})
    t.fails(function() run(8, {Q = 8}) end, {code = "argument"})
    t.fails(function() run(6) end, {code = "assume", kind = "illegal"})
    local x = f32[8][16](1)
    local left, right = x:slice({0, 8}, {0, 8}), x:slice({0, 8}, {8, 16})
    t.ok(run(8, {[q .. "A"] = left, [q .. "B"] = right}))
    t.fails(function() run(8, {[q .. "A"] = left, [q .. "B"] = left}) end, {code = "overlap"})
    t.fails(function() run(8, {[q .. "A"] = left, [q .. "B"] = x:slice({0, 8}, {4, 12})}) end, {code = "overlap"})
  end
  local D = sgemm {}
  local both = f32[8][8](1)
  t2s.design(D, c) {A = both, B = both, C = f32[8][8](0)}
end)

t.test("SGEMM renamed, tiles of other shapes, drawn", function()
  local state = 7
  local function draw(n)
    state = (state * 1103515245 + 12345) % 2147483648
    return state // 65536 % n + 1
  end
  for seed = 1, 4 do
    local z = {III = draw(2), JJJ = draw(3), KKK = draw(2)}
    z.II, z.JJ, z.KK = z.III * (1 + draw(2)), z.JJJ * (1 + draw(2)), z.KKK * (1 + draw(2))
    local C, q = sgemm {prefix = ("ab"):rep(seed), single = seed % 2 == 0, drain = seed > 2 and 1 or -1}
    check_product(t2s.design(C, z), q, z.II * draw(3), z.JJ * draw(2), z.KK * draw(3))
  end
end)

t.test("one Func, two sets of constants", function()
  local C, q = sgemm {}
  local one = t2s.design(C, {II = 4, JJ = 4, KK = 4, III = 2, JJJ = 2, KKK = 2})
  local two = t2s.design(C, {II = 6, JJ = 2, KK = 2, III = 3, JJJ = 1, KKK = 1})
  check_product(one, q, 8, 8, 8)
  check_product(two, q, 12, 4, 6)
end)

t.test("a tile of the size of the one around it, in space: an axis of one PE", function()
  for n, z in ipairs {{II = 8, JJ = 2, KK = 4, III = 4, JJJ = 2, KKK = 2}, {II = 3, JJ = 4, KK = 3, III = 3, JJJ = 2,
    KKK = 3}, {II = 2, JJ = 3, KK = 2, III = 2, JJJ = 3, KKK = 1},
    {II = 1, JJ = 1, KK = 2, III = 1, JJJ = 1, KKK = 2}} do
    for _, clamped in ipairs {false, true} do
      local C, q = sgemm {clamped = clamped, prefix = ("q"):rep(n)}
      local net, verdict = t2s.design(C, z)
      t.has(tostring(verdict), "proved: strict, all sizes")
      check_product(net, q, 2 * z.II, 3 * z.JJ, 2 * z.KK)
      if clamped then check_product(net, q, z.II + 1, 2 * z.JJ + 1, 5) end
    end
  end
end)

-- Arguments by name of a convolution at a stride and sizes.
local function images(q, S, z)
  local list = {[q .. "relu"] = i32[z.Nof][z.Noy][z.Nox](0), [q .. "bias"] = tide.random(i32[z.Nof], 3, small),
    [q .. "weight"] = tide.random(i32[z.Nof][z.Nif][z.Nky][z.Nkx], 2, small),
    [q .. "input"] = tide.random(i32[z.Nif][(z.Noy - 1) * S + z.Nky][(z.Nox - 1) * S + z.Nkx], 1, small)}
  for k, v in pairs(z) do list[k] = v end
  return list
end

-- Runs a design of a convolution at sizes and states what it computes.
local function check_convolution(relu, q, c, ...)
  local net, verdict = t2s.design(relu, c)
  t.has(tostring(verdict), "proved: strict")
  for _, z in ipairs {...} do
    local got, want = images(q, c.S, z), images(q, c.S, z)
    net(got)
    t2s.kernel(relu, c)(want)
    t.ok(got[q .. "relu"]:equal(want[q .. "relu"]))
  end
  return net
end

t.test("convolution and ReLU: proved, run, counted", function()
  local relu, q = convolution {}
  local net = check_convolution(relu, q, {S = 1, Tof = 4, Toy = 4, Pof = 2, Poy = 2, Pox = 2},
    {Nof = 4, Noy = 4, Nox = 4, Nif = 2, Nky = 3, Nkx = 3})
  local r = t2s.report(net)
  t.eq(r.pes.i_feed, 1)
  t.eq(r.channels, 3 * 8 + 4 + 2, "inputs, weights and sums of 8 PEs, biases of 4, two loaders")
end)

t.test("convolution and ReLU renamed, at another shape and stride", function()
  local relu, q = convolution {prefix = "q"}
  check_convolution(relu, q, {S = 2, Tof = 6, Toy = 2, Pof = 3, Poy = 2, Pox = 1},
    {Nof = 6, Noy = 4, Nox = 3, Nif = 3, Nky = 2, Nkx = 3})
end)

t.test("a buffer of a Func's own result: collected for a loop, then stored; in a loop that it has", function()
  local c = {S = 1, Tof = 4, Toy = 4, Pof = 2, Poy = 2, Pox = 2}
  local z = {Nof = 4, Noy = 4, Nox = 4, Nif = 2, Nky = 3, Nkx = 3}
  local relu, q = convolution {kept = function(v) return v.y end}
  local net = check_convolution(relu, q, c, z, {Nof = 8, Noy = 8, Nox = 6, Nif = 1, Nky = 2, Nkx = 3})
  local r = t2s.report(net)
  t.eq({r.channels, r.pes.relu_buffer, #r.left}, {34, 1, 0})
  t.has(tostring(net), "local relu_y = i32[4][4][Nox]()")
  relu, q = convolution {prefix = "w", clamped = true, kept = function(v) return v.no end}
  check_convolution(relu, q, c, {Nof = 5, Noy = 7, Nox = 3, Nif = 2, Nky = 3, Nkx = 3})
  local e = t.fails(function() t2s.design((convolution {kept = function(v) return v.ni end}), c) end,
    {code = "t2s-buffer"})
  t.has(e.message, "has no loop ni")
  relu, q = convolution {prefix = "v", read = true}
  net = check_convolution(relu, q, c, z)
  t.eq(t2s.report(net).left[1].what, "vconv:buffer(vconv, vy)", "another Func reads it")
end)

t.test("a buffer of a Func's own result, DOUBLE: one bank is stored while the other fills", function()
  local c = {S = 1, Tof = 4, Toy = 4, Pof = 2, Poy = 2, Pox = 2}
  local z = {Nof = 8, Noy = 16, Nox = 6, Nif = 1, Nky = 1, Nkx = 1}
  local cycles = {}
  for n, double in ipairs {false, true} do
    local relu, q = convolution {kept = function(v) return v.y end, double = double and t2s.DOUBLE or nil}
    local net = check_convolution(relu, q, c, {Nof = 4, Noy = 8, Nox = 4, Nif = 2, Nky = 3, Nkx = 3}, z)
    local r = t2s.report(net)
    t.eq({r.channels, r.pes.relu_buffer_drain, #r.left}, {34, double and 1 or nil, 0})
    local timed, list = net:at(z):build {target = "cpu", timed = true}, images(q, c.S, z)
    timed(list.input, list.weight, list.bias, list.relu)
    cycles[n] = timed.report.cycles
  end
  t.ok(cycles[2] < cycles[1], ("%d < %d"):format(cycles[2], cycles[1]))
end)

t.test("convolution and ReLU without divisible sizes: clamps, proved, run below and above tiles", function()
  for n, c in ipairs {{S = 1, Tof = 4, Toy = 4, Pof = 2, Poy = 2, Pox = 2},
    {S = 2, Tof = 6, Toy = 2, Pof = 3, Poy = 2, Pox = 1}} do
    local relu, q = convolution {clamped = true, prefix = n > 1 and "z" or nil}
    check_convolution(relu, q, c, {Nof = 5, Noy = 7, Nox = 3, Nif = 2, Nky = 3, Nkx = 3},
      {Nof = 1, Noy = 1, Nox = 1, Nif = 1, Nky = 3, Nkx = 3}, {Nof = 9, Noy = 3, Nox = 5, Nif = 2, Nky = 3, Nkx = 2})
  end
end)

t.test("SGEMM's channels", function()
  for _, z in ipairs {{4, 4, 18}, {6, 4, 25}, {4, 8, 34}, {4, 2, 10}} do
    local C = sgemm {}
    local r = t2s.report(t2s.design(C, {II = z[1], JJ = z[2], KK = 4, III = 2, JJJ = 2, KKK = 2}))
    t.eq(r.channels, z[3])
    t.eq(r.memory, 3)
  end
end)

local function refused_convolution(name, code, o)
  t.test(name, function()
    local relu = convolution(o)
    local e = t.fails(function() t2s.schedule(relu, {S = 1, Tof = 4, Toy = 4, Pof = 2, Poy = 2, Pox = 2}) end,
      {code = code})
    t.ok(e.line and e.line > 0)
  end)
end

refused_convolution("a Func that sums along a space loop, which another reads", "t2s-unroll", {summed = true})
refused_convolution("a loop removed that the input depends on", "t2s-remove", {used = true})

t.test("Funcs that meet in other orders: sums are handed over all at once, and the report says why", function()
  local relu, q = convolution {turned = true}
  local net = check_convolution(relu, q, {S = 1, Tof = 4, Toy = 4, Pof = 2, Poy = 2, Pox = 2},
    {Nof = 4, Noy = 4, Nox = 4, Nif = 2, Nky = 3, Nkx = 3})
  local left = t2s.report(net).left
  t.eq(left[1].what, "conv to relu by channels")
  t.has(left[1].why, "is written before")
end)

t.test("a buffer of one element is handed over by a stream", function()
  local C, q = sgemm {}
  check_product(t2s.design(C, {II = 4, JJ = 2, KK = 1, III = 2, JJJ = 1, KKK = 1}), q, 8, 4, 3)
end)

-- A pipeline of M PEs, w fed to the first; the channel between them and its feeder holds at least n tokens.
local function pipeline(n, from, to, vectorize)
  local x, w, N, M, i, j = Param("x", i32, 2), Param("w", i32, 1), Param "N", Const "M", Var "i j"
  local y, feed = Func("y feed", i32)
  local funcs = {y = y, feed = feed}
  y[i] = 0
  y[i] = y[i] + x[i][j] * w[j]
  y:set_bounds(i, 0, M, j, 0, N):isolate_producer_chain(w, feed):unroll(i):relay(w, {1})
  for name in (vectorize or ""):gmatch "%a+" do funcs[name]:vectorize(j) end
  funcs[from]:set_min_depth(w, funcs[to], n)
  return y
end

t.test("set_min_depth is a floor", function()
  local s = t2s.schedule(pipeline(7, "feed", "y"), {M = 3})
  t.has(tostring(s), "depth = 7")
  t.has(tostring(t2s.schedule(pipeline(1, "feed", "y"), {M = 3})), "depth = 2")
  t.fails(function() t2s.schedule(pipeline(7, "y", "y"), {M = 3}) end, {code = "t2s-depth"})
end)

t.test("vectorize: tokens of lanes where both ends have them, else told why not", function()
  local c = {M = 3, N = 4}
  local net = t2s.design(pipeline(1, "feed", "y", "feed y"), c)
  t.has(tostring(net), "d:stream(i32[4], {3, depth = 2})")
  t.eq(#t2s.report(net).left, 0)
  for names, what in pairs {["y"] = "y:vectorize(j)", ["feed"] = "feed:vectorize(j)"} do
    local left = t2s.report(t2s.design(pipeline(1, "feed", "y", names), c)).left
    t.eq(#left, 1)
    t.eq(left[1].what, what)
    t.has(left[1].why, "both ends")
  end
  local e = t.fails(function() t2s.schedule(pipeline(1, "feed", "y", "y"), {M = 3}) end, {code = "t2s-vectorize"})
  t.ok(e.line > 0)
  t.fails(function() t2s.schedule(pipeline(1, "feed", "y", "y y"), c) end, {code = "t2s-vectorize"})
end)

t.test("SGEMM with lanes: tokens in all channels that load, proved, HLS C++, faster", function()
  local c, z, cycles = {II = 4, JJ = 4, KK = 8, III = 2, JJJ = 2, KKK = 4}, {I = 8, J = 8, K = 16}, {}
  for _, lanes in ipairs {false, true} do
    local C = sgemm {lanes = lanes}
    local net, verdict = t2s.design(C, c)
    t.has(tostring(verdict), "proved: strict, all sizes")
    local r = t2s.report(net)
    t.eq(r.channels, 18)
    t.eq(#r.left, 0)
    local _, tokens = tostring(net):gsub("d:stream%(f32%[4%], {[^b]-}%)", "")
    t.eq(tokens, lanes and 4 or 0)
    local a, b, got = tide.random(f32[8][16], 1, small), tide.random(f32[16][8], 2, small), f32[8][8](0)
    for _, target in ipairs {{target = "hls"}, {target = "cpu", timed = true}} do
      got = f32[8][8](0)
      local m = net:at(z):build(target)
      m(a, b, got)
      t.ok(got:equal(tide.matmul(a, b)))
      if target.timed then cycles[#cycles + 1] = m.report.cycles end
    end
  end
  t.ok(cycles[2] < cycles[1], table.concat(cycles, " "))
  local left = t2s.report(t2s.design((sgemm {lanes = true, clamped = true}), c)).left
  t.eq(#left, 5)
  for _, l in ipairs(left) do t.ok(#l.why > 0) end
end)

t.test("reorder of a stage: its order of elements, or refused", function()
  local c = {II = 4, JJ = 4, KK = 4, III = 2, JJJ = 2, KKK = 2}
  local function with(order) return (sgemm {order = order}) end
  t2s.schedule(with(function(v) return {v.jj, v.jjj, v.iii} end), c)
  t2s.schedule(with(function(v) return {v.jjj, v.ii} end), c)
  t.fails(function() t2s.schedule(with(function(v) return {v.iii, v.jjj} end), c) end,
    {code = "t2s-reorder", kind = "unsupported"})
  t.fails(function() t2s.schedule(with(function(v) return {v.jj, v.kk} end), c) end, {code = "t2s-reorder"})
end)

local function refused(name, code, o)
  t.test(name, function()
    local z = {II = 4, JJ = 4, KK = 4, III = 2, JJJ = 2, KKK = 2}
    z.II = o.II or 4
    local C = sgemm(o)
    local e = t.fails(function() t2s.schedule(C, z) end, {code = code})
    t.ok(e.line and e.line > 0, "the line of the directive")
  end)
end

refused("remove of a loop that the operand depends on", "t2s-remove", {removed = function(v) return v.ii end})
refused("a relay with too few numbers", "t2s-relay", {right = {1}})
refused("a relay by two PEs", "t2s-relay", {right = {0, 2}})
refused("a relay that goes nowhere", "t2s-relay", {right = {0, 0}})
refused("a reduction in space", "reassociation", {space = function(v) return {v.ii, v.kk} end})
refused("a loop that is not there", "t2s-remove", {plain = true})

t.test("a Const without a value", function()
  local C = sgemm {}
  t.fails(function() t2s.schedule(C, {II = 4}) end, {code = "t2s-const"})
end)

t.test("a pipeline of one axis, without host stages or buffers", function()
  for _, by in ipairs {1, -1} do
    local x, w, N, M, i, j = Param("x", i32, 2), Param("w", i32, 1), Param "N", Const "M", Var "i j"
    local y, feed = Func("y feed", i32)
    y[i] = 0
    y[i] = y[i] + x[i][j] * w[j]
    y:set_bounds(i, 0, M, j, 0, N)
    y:isolate_producer_chain(w, feed):unroll(i):relay(w, {by})
    local net = t2s.design(y, {M = 3})
    local X, W, Y = tide.random(i32[3][5], 1, small), tide.random(i32[5], 2, small), i32[3](0)
    net {x = X, w = W, y = Y}
    for r = 0, 2 do
      local sum = 0
      for c = 0, 4 do sum = sum + X[r][c] * W[c] end
      t.eq(Y[r], sum)
    end
  end
end)

t.test("externs", function()
  local y = pipeline(1, "feed", "y")
  y:define_extern(tide.kernel {p = tide.stream(i32), o = tide.stream(i32), function(p, o) o:put(p:get()) end})
  t.fails(function() t2s.schedule(y, {M = 3}) end, {code = "t2s-extern", kind = "unsupported"})
end)

t.test("a line buffer of windows with gaps: nothing is kept, which the report tells", function()
  for S = 1, 4 do
    local X, W, N = Param("X", i32, 2), Param("W", i32, 2), Param "N"
    local n, k, nn, m = Var "n k nn m"
    local Y, load, feed = Func("Y", i32), Func "load feed"
    Y[n][m] = 0
    Y[n][m] = Y[n][m] + X[n * S + k][m] * W[k][m]
    Y:set_bounds(n, 0, N, m, 0, 4, k, 0, 3)
    t2s.assume.divisible(N, 2)
    Y:tile(n, nn, 2):reorder(m, nn, n):unroll(m):isolate_producer_chain(X, load, feed)
    feed:buffer(X, n):linebuffer(X, nn)
    local net, verdict = t2s.design(Y)
    t.has(tostring(verdict), "proved: strict, all sizes")
    local left = t2s.report(net).left
    t.eq({#left, left[1] and left[1].what}, S < 3 and {0} or {1, "feed:linebuffer(X, nn)"})
    for size = 2, 6, 2 do
      local list = {X = tide.random(i32[(size - 1) * S + 3][4], 1, small), W = tide.random(i32[3][4], 2, small),
        N = size, Y = i32[size][4](0)}
      net(list)
      local got = list.Y:copy()
      t2s.kernel(Y)(list)
      t.ok(got:equal(list.Y))
    end
  end
end)

t.done()
