-- stensors.lua - T2SP's constructs on T2S Funcs: chains of Stensors and the directives that they print, scatter and
-- gather up and down, Funcs computed in loops of others, caches of several levels, tasks that need no start; each
-- proved and run, and refused beside an accepted twin. [slow]
local t = require "tap"
local tide = require "tide"
local t2s = require "tide.t2s"
local i32, f32 = tide.i32, tide.f32
local Param, Const, Var, Func, assume = t2s.Param, t2s.Const, t2s.Var, t2s.Func, t2s.assume
local DRAM, SRAM, REG, FIFO, DOUBLE = t2s.DRAM, t2s.SRAM, t2s.REG, t2s.FIFO, t2s.DOUBLE

-- A product tiled twice, its elements along `space`; map gives the rest of the mapping.
local function product(map, prefix)
  local q = prefix or ""
  local A, B = Param(("%sA %sB"):format(q, q), f32, 2)
  local I, J, K = Param "I J K"
  local II, JJ, KK, III, JJJ, KKK = Const "II JJ KK III JJJ KKK"
  local i, j, k, ii, jj, kk, iii, jjj, kkk = Var((("i j k ii jj kk iii jjj kkk"):gsub("%a+", q .. "%0")))
  local C = Func(q .. "C", f32)
  C[i][j] = 0
  C[i][j] = C[i][j] + A[i][k] * B[k][j]
  C:set_bounds(i, 0, I, j, 0, J, k, 0, K)
  assume.divisible(I, II, II, III, J, JJ, JJ, JJJ, K, KK, KK, KKK)
  C:tile(i, j, k, ii, jj, kk, iii, jjj, kkk, II, JJ, KK, III, JJJ, KKK):unroll(ii, jj)
  map {C = C, A = A, B = B, i = i, j = j, k = k, ii = ii, jj = jj, kk = kk, iii = iii, jjj = jjj, kkk = kkk}
  return C, q
end

local sizes = {II = 4, JJ = 4, KK = 4, III = 2, JJJ = 2, KKK = 2}

local function chains(v)
  v.C:feed(v.A >> DRAM "load":out(v.kkk) >> FIFO(256) >> SRAM "feed":scope(v.k):out(v.kkk, v.ii))
  v.C:feed(v.B >> DRAM "fetch":out(v.kkk) >> SRAM "give":scope(v.k):out(v.kkk, v.jj) >> FIFO(16))
  v.C:drain(v.C >> REG "collect":out(v.jj) >> FIFO(8) >> DRAM "unload")
end

t.test("chains of Stensors are SGEMM's array", function()
  local C = product(chains)
  local net, verdict = t2s.design(C, sizes)
  t.has(tostring(verdict), "proved: strict, all sizes")
  local r = t2s.report(net)
  t.eq(r.channels, 18)
  t.eq(r.pes.C_pe, 4)
  t.eq(r.pes.feed, 2)
  t.eq(r.buffers, 4)
  t.has(tostring(net), "depth = 256")
  t.has(tostring(net), "depth = 16")
  local a, b, c = tide.random(f32[8][12], 1), tide.random(f32[12][4], 2), f32[8][4](0)
  net {A = a, B = b, C = c, I = 8, J = 4, K = 12}
  t.ok(c:allclose(tide.matmul(a, b)))
end)

t.test("renamed, of other tiles", function()
  local C, q = product(chains, "q")
  local net = t2s.design(C, {II = 6, JJ = 4, KK = 2, III = 3, JJJ = 2, KKK = 1})
  local a, b, c = tide.random(f32[6][4], 1), tide.random(f32[4][8], 2), f32[6][8](0)
  net {[q .. "A"] = a, [q .. "B"] = b, [q .. "C"] = c, I = 6, J = 8, K = 4}
  t.ok(c:allclose(tide.matmul(a, b)))
end)

t.test("what they stand for is printed, and is the same design", function()
  local C = product(chains)
  local text = t2s.directives(C, sizes)
  for _, line in ipairs {
    "C:isolate_producer_chain(A, load, feed)", "load:remove(jj, jjj)", "feed:unroll(ii)", "feed:relay(A, {1})",
    "feed:buffer(A, k, t2s.DOUBLE)", "load:set_min_depth(A, feed, 256)", "C:relay(A, {0, 1})",
    "C:isolate_consumer_chain(C, unload, collect)", "collect:unroll(jj)", "collect:relay(C, {-1})",
    "C:relay(C, {-1, 0})", "give:set_min_depth(B, C, 16)", 'local load, feed, fetch, give, unload, collect = t2s.Func',
  } do t.has(text, line) end
  local own = product(function(v)
    local env = setmetatable({t2s = t2s}, {__index = v})
    local lines = text:gsub("C:tile%b()\n", ""):gsub("C:unroll%b()\n", "")
    assert(load(lines, "=directives", "t", env))()
  end)
  t.eq(tostring(t2s.design(own, sizes)):gsub("%-%-@[^\n]*", ""),
    (tostring(t2s.design(C, sizes)):gsub("%-%-@[^\n]*", "")))
end)

local function refused(name, map, code)
  t.test(name, function()
    local e = t.fails(function() t2s.schedule((product(map)), sizes) end, {code = code or "t2s-stensor"})
    t.ok(e.line and e.line > 0, "the line of the directive")
  end)
end

refused("a scope outside that of the stage before it", function(v)
  v.C:feed(v.A >> SRAM "far":scope(v.k) >> SRAM "near":scope(v.i))
end)
refused("a scope of a loop that is not there", function(v) v.C:feed(v.A >> SRAM "far":scope(Var "z")) end)
refused("lanes along two loops", function(v) v.C:feed(v.A >> SRAM "far":out(v.kkk, v.kk)) end)
refused("a FIFO before any stage", function(v) v.C:feed(v.A >> FIFO(4) >> SRAM "far") end)
refused("two stages of a name", function(v) v.C:feed(v.A >> SRAM "far" >> SRAM "far") end)
refused("a chain that begins with nothing", function(v) v.C:feed(SRAM "far" >> SRAM "near") end)
refused("a chain that is none", function(v) v.C:feed(v.A) end)
refused("a drain of what is read", function(v) v.C:drain(v.A >> REG "out") end)
refused("a FIFO with a scope", function(v) v.C:feed(v.A >> SRAM "far" >> FIFO(4):scope(v.k)) end)
refused("a stage without a name", function(v) v.C:feed(v.A >> SRAM(4)) end)

-- A doubled vector on M elements; map gives the chains.
local function doubled(map)
  local a, N, M, i, j, A = Param("a", i32, 1), Param "N", Const "M", Var "i", Var "j", Func("A", i32)
  A[i] = 2 * a[i]
  A:set_bounds(i, 0, N)
  assume.divisible(N, M)
  A:tile(i, j, M):unroll(j)
  map(A, a, i, j)
  return A
end

-- Proves a design of a doubled vector and runs it.
local function check_doubled(A, M, channels)
  local net, verdict = t2s.design(A, {M = M})
  t.has(tostring(verdict), "proved: strict, all sizes")
  t.eq(t2s.report(net).channels, channels)
  local x, y = tide.random(i32[3 * M], 1, {lo = -9, hi = 9}), i32[3 * M](0)
  net {a = x, A = y}
  for n = 0, 3 * M - 1 do t.eq(y[n], 2 * x[n]) end
  return net
end

t.test("scatter and gather, up and down", function()
  for _, way in ipairs {t2s.UP, t2s.DOWN} do
    local far, near = Func "far near"
    check_doubled(doubled(function(A, a, _, j) A:isolate_producer_chain(a, near):scatter(near, j, way) end), 8, 8)
    check_doubled(doubled(function(A, a, _, j) A:isolate_producer_chain(a, far, near):scatter(a, j, way) end), 3, 4)
    check_doubled(doubled(function(A, _, _, j) A:isolate_consumer_chain(A, near):gather(A, j, way) end), 5, 5)
    check_doubled(doubled(function(A, _, _, j)
      A:isolate_consumer_chain(A, far, near)
      near:unroll(j):gather(A, j, way)
    end), 4, 8)
  end
  local near = Func "near"
  local A = doubled(function(A, a, _, j) A:isolate_producer_chain(a, near):scatter(near, j, t2s.DOWN) end)
  t.has(t2s.directives(A, {M = 4}), "A:relay(a, {-1})")
end)

t.test("scatter and gather that are refused", function()
  local near = Func "near"
  local function schedule(map) return function() t2s.schedule(doubled(map), {M = 4}) end end
  t.fails(schedule(function(A, a, i) A:isolate_producer_chain(a, near):scatter(near, i) end), {code = "t2s-relay"})
  t.fails(schedule(function(A, a, _, j) A:isolate_producer_chain(a, near):scatter(near, j, "LEFT") end),
    {code = "t2s-relay"})
  t.fails(schedule(function(A, a, _, j) A:isolate_producer_chain(a, near):scatter(near, j):scatter(a, j) end),
    {code = "t2s-relay"})
  t.fails(schedule(function(A, _, _, j) A:scatter(A, j) end), {code = "t2s-relay"})
  schedule(function(A, a, _, j) A:isolate_producer_chain(a, near):scatter(near, j) end)()
end)

-- A product of tiles with a mapping of its first operand.
local function cached(map)
  local A, B = Param("A B", i32, 2)
  local I, J, K = Param "I J K"
  local II, JJ, KK = Const "II JJ KK"
  local i, j, k, ii, jj, kk = Var "i j k ii jj kk"
  local C, far, near = Func("C far near", i32)
  C[i][j] = 0
  C[i][j] = C[i][j] + A[i][k] * B[k][j]
  C:set_bounds(i, 0, I, j, 0, J, k, 0, K)
  assume.divisible(I, II, J, JJ, K, KK)
  C:tile(i, j, k, ii, jj, kk, II, JJ, KK):unroll(jj)
  map {C = C, A = A, B = B, far = far, near = near, i = i, j = j, k = k, ii = ii, jj = jj, kk = kk}
  return C
end

local function check_cached(map, buffers)
  local net, verdict = t2s.design(cached(map), {II = 4, JJ = 3, KK = 2})
  t.has(tostring(verdict), "proved: strict, all sizes")
  local small = {lo = -9, hi = 9}
  local a, b, c = tide.random(i32[8][4], 1, small), tide.random(i32[4][6], 2, small), i32[8][6](0)
  net {A = a, B = b, C = c}
  t.ok(c:equal(tide.matmul(a, b)))
  if buffers then t.eq(t2s.report(net).buffers, buffers) end
end

t.test("caches of two and three levels, in one stage and along a chain", function()
  for two = 0, 3 do
    local x, y = two % 2 > 0 and DOUBLE or nil, two > 1 and DOUBLE or nil
    check_cached(function(v)
      v.C:isolate_producer_chain(v.A, v.far, v.near):relay(v.A, {1})
      v.near:buffer(v.A, v.k, x):buffer(v.A, v.i, y)
      v.far:remove(v.j)
    end, (x and 1 or 0) + (y and 1 or 0))
  end
  check_cached(function(v)
    v.C:isolate_producer_chain(v.A, v.far, v.near):relay(v.A, {1})
    v.near:buffer(v.A, v.i, DOUBLE):buffer(v.A, v.k):buffer(v.A, v.ii, DOUBLE)
  end, 2)
  check_cached(function(v)
    v.C:feed(v.A >> DRAM "load" >> SRAM "c":scope(v.i) >> SRAM "b":scope(v.k) >> REG "a":scope(v.ii))
    v.C:feed(v.B >> SRAM "w":scope(v.j):out(v.jj)):drain(v.C >> REG "out")
  end)
  t.fails(function()
    t2s.schedule(cached(function(v)
      v.C:isolate_producer_chain(v.A, v.far, v.near)
      v.near:buffer(v.A, v.i):buffer(v.A, v.i, DOUBLE)
    end), {II = 4, JJ = 3, KK = 2})
  end, {code = "t2s-buffer"})
end)

-- A blur in two Funcs; map gives the mapping.
local function blur(map)
  local a, H, W, y, x, yy, T = Param("a", i32, 2), Param "H", Param "W", Var "y", Var "x", Var "yy", Const "T"
  local row, out = Func("row out", i32)
  row[y][x] = a[y][x] + a[y][x + 1] + a[y][x + 2]
  out[y][x] = row[y][x] + 2 * row[y + 1][x] + row[y + 2][x]
  row:set_bounds(y, 0, H + 2, x, 0, W)
  out:set_bounds(y, 0, H, x, 0, W)
  assume.divisible(H, T)
  out:tile(y, yy, T):unroll(yy)
  map(row, out, {y = y, x = x, yy = yy})
  return out
end

t.test("a Func computed in a loop of the one that reads it", function()
  for _, at in ipairs {"x", "y", "yy"} do
    local out = blur(function(row, out, v) row:compute_at(out, v[at]) end)
    local net, verdict = t2s.design(out, {T = 3})
    t.has(tostring(verdict), "proved: strict, all sizes")
    t.eq(t2s.report(net).pes.out_pe, 3)
    t.has(tostring(net), at == "x" and "local row = i32[3]()" or at == "y" and "local row = i32[3][W]()"
      or "local row = i32[H + 2][W]()", "no more is kept than an iteration needs")
    local a, got, want = tide.random(i32[8][6], 1, {lo = 0, hi = 9}), i32[6][4](0), i32[6][4](0)
    net {a = a, out = got}
    t2s.kernel(out, {T = 3}) {a = a, out = want}
    t.ok(got:equal(want))
  end
end)

t.test("compute_at that is refused", function()
  local function schedule(map) return function() t2s.schedule(blur(map), {T = 3}) end end
  t.fails(schedule(function(row, out) row:compute_at(out, Var "z") end), {code = "t2s-compute"})
  t.fails(schedule(function(row, _, v) row:compute_at(row, v.x) end), {code = "t2s-compute"})
  t.fails(schedule(function(row, out, v) row:compute_at(out, v.x):unroll(v.x) end), {code = "t2s-compute"})
  t.fails(schedule(function(row, out, v) row:compute_at(out, v.x):compute_at(out, v.y) end), {code = "t2s-compute"})
end)

t.test("chains around a Func that is in no space: tasks, channels, memory channels", function()
  for producers = 0, 3 do
    for consumers = producers == 0 and 1 or 0, 2 do
      for _, place in ipairs {false, t2s.HOST} do
        local a, M, i, A, f, c = Param("a", i32, 1), Param "M", Var "i", Func("A", i32), {}, {}
        A[i] = 2 * a[i]
        A:set_bounds(i, 0, M)
        for n = 1, producers do f[n] = Func("f" .. n, n == 1 and place or nil) end
        for n = 1, consumers do c[n] = Func("c" .. n, n == 1 and place or nil) end
        if producers > 0 then A:isolate_producer_chain(a, table.unpack(f)) end
        if consumers > 0 then A:isolate_consumer_chain(A, table.unpack(c)) end
        local net, verdict = t2s.design(A)
        t.has(tostring(verdict), "proved: strict, all sizes")
        local r = t2s.report(net)
        t.eq(r.channels + r.memory, producers + consumers)
        t.eq(r.memory, place and (producers > 0 and 1 or 0) + (consumers > 0 and 1 or 0) or 0)
      end
    end
  end
end)

t.test("which tasks need no start", function()
  local a, N, i, j, A = Param("a", i32, 1), Const "N", Var "i", Var "j", Func("A", i32)
  local load, pass, keep, drain = Func "load pass keep drain"
  A[i][j] = 2 * a[i] + j
  A:set_bounds(i, 0, N, j, 0, 3):isolate_producer_chain(a, load, keep, pass):isolate_consumer_chain(A, drain)
  keep:buffer(a)
  local r = t2s.report(t2s.design(A, {N = 4}))
  t.eq(r.autorun.pass, true)
  t.has(r.autorun.load, "the tensor a")
  t.has(r.autorun.drain, "the tensor A")
  t.has(r.autorun.keep, "the buffer")
  local M, B = Param "M", Func("B", i32)
  B[i] = 2 * a[i]
  B:set_bounds(i, 0, M):isolate_producer_chain(a, load, pass)
  t.has(t2s.report(t2s.design(B)).autorun.pass, "depends on M")
end)

t.done()
