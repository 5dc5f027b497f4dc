-- search.lua - the search for T2S mappings: it equals brute force on three-deep nests, finds each mapping of a
-- convolution in one dimension, is no worse than mappings by hand, takes lanes, buffers and several Funcs, keeps to its
-- limits, prints lines that give the same design, tunes constants, and takes
-- plain kernels, whose definition it prints. [slow]
local t = require "tap"
local tide = require "tide"
local t2s = require "tide.t2s"
local i32, f32, select, grid = tide.i32, tide.f32, tide.select, tide.grid
local Param, Const, Var, Func, assume = t2s.Param, t2s.Const, t2s.Var, t2s.Func, t2s.assume

-- A product of matrices with names of a prefix; map gives directives.
local function product(map)
  local A, B = Param("A B", i32, 2)
  local I, J, K = Param "I J K"
  local i, j, k, C = Var "i", Var "j", Var "k", Func("C", i32)
  C[i][j] = 0
  C[i][j] = C[i][j] + A[i][k] * B[k][j]
  C:set_bounds(i, 0, I, j, 0, J, k, 0, K)
  if map then map {C = C, A = A, B = B, I = I, J = J, K = K, i = i, j = j, k = k} end
  return C
end

-- Cycles of a design of a product at sizes.
local function cycles(C, z)
  local net = t2s.design(C, {}, {check = false}):at(z)
  local m = net:build {target = "cpu", timed = true}
  m(i32[z.I][z.K](1), i32[z.K][z.J](1), i32[z.I][z.J](0))
  return m.report.cycles, t2s.report(net).ports
end

t.test("a product: brute force over tiles and ways of operands finds nothing better", function()
  local z = {I = 4, J = 4, K = 3}
  for _, ports in ipairs {16, 8, 6} do
    local best = math.maxinteger
    for _, p in ipairs {1, 2, 4} do
      for _, q in ipairs {1, 2, 4} do
        for bits = 0, 7 do
          local two = p > 1 and q > 1
          local space, fits = p * q, p * q > 1 and p * q <= 4
          if fits then
            local ok, C = pcall(product, function(v)
              local ii, jj, fa, fb, dr = Var "ii", Var "jj", Func "fa", Func "fb", Func "dr"
              if p > 1 then assume.divisible(v.I, p) end
              if q > 1 then assume.divisible(v.J, q) end
              if two then v.C:tile(v.i, v.j, ii, jj, p, q):unroll(ii, jj)
              elseif p > 1 then v.C:tile(v.i, ii, p):unroll(ii)
              else v.C:tile(v.j, jj, q):unroll(jj) end
              if bits & 1 > 0 and q > 1 then
                v.C:isolate_producer_chain(v.A, fa):relay(v.A, two and {0, 1} or {1})
                if two then fa:unroll(ii) end
              end
              if bits & 2 > 0 and p > 1 then
                v.C:isolate_producer_chain(v.B, fb):relay(v.B, two and {1, 0} or {1})
                if two then fb:unroll(jj) end
              end
              if bits & 4 > 0 then
                v.C:isolate_consumer_chain(v.C, dr):relay(v.C, two and {-1, 0} or {-1})
                if two then dr:unroll(jj):relay(v.C, {-1}) end
              end
            end)
            local done, n, used = pcall(cycles, C, z)
            if ok and done and used <= ports then best = math.min(best, n) end
          end
          if space == 0 then break end
        end
      end
    end
    local r = t2s.search(product(), {pes = 4, ports = ports, at = z})
    t.eq(r.ended, "all")
    t.ok(r.cycles <= best, ("%d ports: %d, by hand %d"):format(ports, r.cycles, best))
    t.ok(r.ports <= ports and r.pes <= 4)
    t.has(tostring(r.verdict), "proved: strict")
  end
end)

-- A recurrence in three dimensions.
local function cells()
  local i, j, k, N, A = Var "i", Var "j", Var "k", Param "N", Func("A", i32)
  A[i][j][k] = select(i:eq(0), j, select(j:eq(0), i, select(k:eq(0), 1,
    A[i - 1][j][k] + A[i][j - 1][k] + A[i][j][k - 1])))
  A:set_bounds(i, 0, N, j, 0, N, k, 0, N)
  return A, {i, j, k}
end

t.test("a recurrence in three dimensions: brute force over projections", function()
  local r = t2s.search((cells()), {pes = 9, at = {N = 3}})
  t.eq(r.ended, "all")
  local best = math.maxinteger
  for bits = 1, 6 do
    local A, vars = cells()
    local space = {}
    for n = 1, 3 do
      if bits >> (n - 1) & 1 > 0 then space[#space + 1] = vars[n] end
    end
    A:space_time_transform(table.unpack(space))
    local m = t2s.design(A, {N = 3}):build {target = "cpu", timed = true}
    m(i32[3][3][3](0))
    best = math.min(best, m.report.cycles)
  end
  t.ok(r.cycles <= best, ("%d, by hand %d"):format(r.cycles, best))
  t.has(tostring(r), "A:space_time_transform(")
end)

-- A convolution in one dimension.
local function convolution()
  local x, w, M, Q, c, q = Param("x", i32, 1), Param("w", i32, 1), Param "M", Param "Q", Var "c", Var "q"
  local z = Func("z", i32)
  z[c][q] = select(q:eq(0), 0, z[c][q - 1]) + x[c + q] * w[q]
  z:set_bounds(c, 0, M, q, 0, Q)
  return z, {z = z, c = c, q = q, M = M, Q = Q, t2s = t2s}
end

t.test("a convolution in one dimension: each of the four mappings", function()
  for _, size in ipairs {{16, 5}, {7, 3}} do
    local M, Q = size[1], size[2]
    local r = t2s.search((convolution()), {pes = M + Q - 1, at = {M = M, Q = Q}})
    local found = {}
    for _, x in ipairs(r.all) do
      if x.matrix then
        local m = x.matrix
        found[("%d %d, %d %d: %d, %d"):format(m[1][1], m[1][2], m[2][1], m[2][2], x.pes, x.steps)] = true
      end
    end
    local all = M + Q - 1
    for _, want in ipairs {"1 0, 1 1: " .. M .. ", " .. all, "0 1, 1 1: " .. Q .. ", " .. all,
      "1 1, 0 1: " .. all .. ", " .. Q, "1 0, 0 1: " .. M .. ", " .. Q} do
      t.ok(found[want], want)
    end
  end
end)

t.test("the lines of each mapping give its design", function()
  local r = t2s.search((convolution()), {pes = 20, at = {M = 16, Q = 5}})
  for n, x in ipairs(r.all) do
    local _, env = convolution()
    env.t2s = t2s
    assert(load(x.lines:gsub("local net, verdict", "net, verdict"), "=lines", "t", env))()
    t.has(tostring(env.verdict), "proved", x.lines)
    local got = t2s.report(env.net)
    t.eq(got.channels, x.channels, x.lines)
    if n == 1 then t.eq(tostring(env.net):gsub("%-%-@[^\n]*", ""), (tostring(r.design):gsub("%-%-@[^\n]*", ""))) end
  end
end)

t.test("constants of a mapping as it is written", function()
  local I, II, a, i, ii, B = Param "I", Const "II", Param("a", i32, 1), Var "i", Var "ii", Func("B", i32)
  B[i] = a[i] * 3
  B:set_bounds(i, 0, I)
  assume.divisible(I, II)
  B:tile(i, ii, II):unroll(ii)
  local r = t2s.search(B, {consts = {II = {2, 4, 8}}, at = {I = 32}})
  t.eq(r.consts.II, 8)
  t.eq(#r.all, 3)
  t.has(tostring(r), "t2s.design(B, {II = 8})")
  t.eq(t2s.search(B, {consts = {II = {2, 4, 8}}, at = {I = 32}, pes = 4}).consts.II, 4)
  t.eq(t2s.search(B, {consts = {II = {2, 5, 8}}, at = {I = 32}, bytes_per_cycle = 1}).cycles, 256)
end)

-- Cycles of a design of a Func at sizes.
local function cycles_of(F, consts, z)
  local k, x = t2s.kernel(F, consts):at(z), t2s.design(F, consts, {check = false}):at(z)
  local m, args = x:build {target = "cpu", timed = true}, {}
  for n, q in ipairs(k.params) do args[n] = q.type(0) end
  m(table.unpack(args))
  return m.report.cycles
end

-- Whether the lines of a result give its design; the names that they use are in env.
local function same_design(r, env)
  env.t2s = t2s
  assert(load(r.lines:gsub("local net, verdict", "net, verdict"), "=lines", "t", env))()
  t.has(tostring(env.verdict), "proved: strict")
  local function text(net) return (tostring(net):gsub("%-%-@[^\n]*", "")) end
  t.eq(text(env.net), text(r.design))
end

-- Mappings by hand, as the listings have them; each beside the definition without one.
local hands = {
  {name = "SGEMM with lanes", pes = 4, lanes = 4, at = {I = 4, J = 4, K = 16}, consts = {}, make = function(map)
    local env
    local C = product(function(v) env = v end)
    if map then
      local ii, jj, kk, fa, fb, dr = Var "ii", Var "jj", Var "kk", Func "fa", Func "fb", Func "dr"
      assume.divisible(env.I, 2, env.J, 2, env.K, 4)
      C:tile(env.i, env.j, ii, jj, 2, 2):tile(env.k, kk, 4):unroll(ii, jj):vectorize(kk)
      C:isolate_producer_chain(env.A, fa):relay(env.A, {0, 1}):isolate_producer_chain(env.B, fb):relay(env.B, {1, 0})
      fa:unroll(ii):vectorize(kk)
      fb:unroll(jj):vectorize(kk)
      C:isolate_consumer_chain(C, dr):relay(C, {-1, 0})
      dr:unroll(jj)
    end
    return C, env
  end},
  {name = "a convolution", pes = 4, at = {O = 2, W = 4, N = 2, Q = 3}, consts = {}, make = function(map)
    local x, w = Param("x", i32, 2), Param("w", i32, 3)
    local O, W, N, Q, o, c, n, q = Param "O", Param "W", Param "N", Param "Q", Var "o", Var "c", Var "n", Var "q"
    local Y = Func("Y", i32)
    Y[o][c] = 0
    Y[o][c] = Y[o][c] + x[n][c + q] * w[o][n][q]
    Y:set_bounds(o, 0, O, c, 0, W, n, 0, N, q, 0, Q)
    if map then
      local oo, cc, fx, fw = Var "oo", Var "cc", Func "fx", Func "fw"
      assume.divisible(O, 2, W, 2)
      Y:tile(o, c, oo, cc, 2, 2):unroll(oo, cc):isolate_producer_chain(x, fx):relay(x, {1, 0})
      Y:isolate_producer_chain(w, fw):relay(w, {0, 1})
      fx:unroll(cc)
      fw:unroll(oo)
    end
    return Y, {Y = Y, x = x, w = w, O = O, W = W, N = N, Q = Q, o = o, c = c, n = n, q = q}
  end},
  {name = "GEMV", pes = 4, at = {I = 8, K = 6}, consts = {}, make = function(map)
    local A, x, I, K, i, k, y = Param("A", f32, 2), Param("x", f32, 1), Param "I", Param "K", Var "i", Var "k",
      Func("y", f32)
    y[i] = 0
    y[i] = y[i] + A[i][k] * x[k]
    y:set_bounds(i, 0, I, k, 0, K)
    if map then
      local ii, feed, drain = Var "ii", Func "feed", Func "drain"
      assume.divisible(I, 4)
      y:tile(i, ii, 4):unroll(ii):isolate_producer_chain(x, feed):isolate_consumer_chain(y, drain)
      y:relay(x, {1}):relay(y, {-1})
    end
    return y, {y = y, A = A, x = x, I = I, K = K, i = i, k = k}
  end},
}

for _, h in ipairs(hands) do
  t.test("no worse than by hand at as many elements: " .. h.name, function()
    local by_hand = cycles_of((h.make(true)), h.consts, h.at)
    local F, env = h.make(false)
    local r = t2s.search(F, {pes = h.pes, lanes = h.lanes, at = h.at, steps = 400})
    t.ok(r.cycles <= by_hand, ("%d, by hand %d"):format(r.cycles, by_hand))
    t.ok(r.pes <= h.pes)
    same_design(r, env)
  end)
end

-- A sum of windows and what is made of it, each with tiles of its own; env has the names.
local function two(p, q)
  local x, w, N, K, n, k = Param("x", i32, 1), Param("w", i32, 1), Param "N", Param "K", Var "n", Var "k"
  local c, r = Func("c r", i32)
  c[n] = 0
  c[n] = c[n] + x[n + k] * w[k]
  r[n] = tide.max(c[n], 0)
  c:set_bounds(n, 0, N, k, 0, K)
  r:set_bounds(n, 0, N)
  for f, tile in pairs {[c] = p, [r] = q} do
    if tile > 1 then
      local nn = Var "nn"
      assume.divisible(N, tile)
      f:tile(n, nn, tile):unroll(nn)
    end
  end
  return r, {c = c, r = r, x = x, w = w, N = N, K = K, n = n, k = k}
end

t.test("Funcs that others read: brute force over the tiles of both finds nothing better", function()
  local z = {N = 8, K = 5}
  local best = math.maxinteger
  for _, p in ipairs {1, 2, 4} do
    for _, q in ipairs {1, 2, 4} do
      local F = two(p, q)
      if p + q <= 5 and p * q > 1 then best = math.min(best, cycles_of(F, {}, z)) end
    end
  end
  local F, env = two(1, 1)
  local r = t2s.search(F, {pes = 5, at = z})
  t.eq(r.ended, "all")
  t.ok(r.cycles <= best and r.pes <= 5, ("%d on %d, by hand %d"):format(r.cycles, r.pes, best))
  same_design(r, env)
end)

t.test("buffers: what is sent again is kept where the memory is slow, and only there", function()
  local z = {I = 4, J = 4, K = 4}
  local fast = t2s.search(product(), {pes = 2, at = z})
  t.eq(fast.lines:find("remove", 1, true), nil)
  local env
  local C = product(function(v) env = v end)
  local slow = t2s.search(C, {pes = 2, at = z, bytes_per_cycle = 4})
  t.has(slow.lines, "_load:remove(")
  t.has(slow.lines, ":buffer(")
  same_design(slow, env)
  local best = math.maxinteger
  for _, x in ipairs(slow.all) do
    if not x.lines:find("remove", 1, true) then best = math.min(best, x.cycles) end
  end
  t.ok(slow.cycles < best, ("%d, without %d"):format(slow.cycles, best))
  local none = t2s.search(product(), {pes = 2, at = z, bytes_per_cycle = 4, buffers = 0})
  for _, x in ipairs(none.all) do t.eq(x.buffers, 0) end
end)

t.test("a limit cuts the search short, and it says so", function()
  local r = t2s.search(product(), {pes = 4, steps = 40, at = {I = 4, J = 4, K = 2}})
  t.eq(r.ended, "steps")
  t.has(tostring(r), "more steps may find better")
  t.eq(tostring(t2s.search(product(), {pes = 4, steps = 40, at = {I = 4, J = 4, K = 2}})), tostring(r))
  t.eq(t2s.search(product(), {pes = 4, at = {I = 4, J = 4, K = 2}}).ended, "all")
end)

local M, N, K = tide.size "M", tide.size "N", tide.size "K"

-- Plain kernels, and how their definition goes.
local kernels = {
  {"gemm", function()
    return tide.kernel {A = f32[M][K], B = f32[K][N], C = f32[M][N], function(A, B, C)
      for i, j in grid(M, N) do
        local acc = f32(0)
        for k in grid(K) do acc = acc + A[i][k] * B[k][j] end
        C[i][j] = acc
      end
    end}
  end, {M = 4, N = 4, K = 3}, "C[i][j] = C[i][j] + (A[i][k] * B[k][j])"},
  {"convolution", function()
    return tide.kernel {X = i32[2][6][5], W = i32[2][2][3][2], Y = i32[2][4][4], function(X, W, Y)
      for o, y, x in grid(2, 4, 4) do
        Y[o][y][x] = 0
        for c, p, q in grid(2, 3, 2) do Y[o][y][x] = Y[o][y][x] + X[c][y + p][x + q] * W[o][c][p][q] end
      end
    end}
  end, {}, "X[c][y + p][x + q]"},
  {"stencil", function()
    return tide.kernel {A = i32[M + 2], B = i32[M], function(A, B)
      for i = 1, M do B[i - 1] = (A[i - 1] + A[i] * 2 + A[i + 1]) // 4 end
    end}
  end, {M = 8}, "B[i] = ((A[i] + (A[i + 1] * 2)) + A[i + 2]) // 4"},
  {"Smith-Waterman", function()
    return tide.kernel {T = i32[M], S = i32[N], B = i32[M][N], function(T, S, B)
      local H = i32[M + 1][N + 1](0)
      for i = 1, M do
        for j = 1, N do
          local s = i32(-1)
          if T[i - 1] == S[j - 1] then s = 2 end
          H[i][j] = tide.max(0, tide.max(H[i - 1][j - 1] + s, tide.max(H[i - 1][j] - 1, H[i][j - 1] - 1)))
          B[i - 1][j - 1] = H[i][j]
        end
      end
    end}
  end, {M = 8, N = 4}, "B:set_bounds(i, 0, M, j, 0, N)"},
  {"prefix sums with an edge", function()
    return tide.kernel {X = i32[M][N], Y = i32[M][N], function(X, Y)
      for i, j in grid(M, N) do
        if i == 0 or j == 0 then Y[i][j] = X[i][j] else Y[i][j] = Y[i - 1][j - 1] + X[i][j] end
      end
    end}
  end, {M = 4, N = 6}, "t2s.select(i:eq(0) | j:eq(0), X[i][j], Y[i - 1][j - 1] + X[i][j])"},
}

for _, x in ipairs(kernels) do
  t.test("a plain kernel: " .. x[1], function()
    local text, F = t2s.definition(x[2]())
    t.has(text, x[4])
    t.ok((tide.verify(t2s.kernel(F), x[2]())))
    local r = t2s.search(x[2](), {pes = 4, at = x[3]})
    t.has(tostring(r.verdict), "proved: strict")
    t.has(tostring(r), x[4])
    local env = setmetatable({}, {__index = _G})
    assert(load(r.lines:gsub("local net, verdict", "net, verdict"), "=lines", "t", env))()
    t.eq(tostring(env.net):gsub("%-%-@[^\n]*", ""), (tostring(r.design):gsub("%-%-@[^\n]*", "")))
  end)
end

for name, make in pairs {
  ["an element that stays under a condition"] = function()
    return tide.kernel {A = i32[M], B = i32[M], function(A, B)
      for i = 0, M - 1 do if A[i] > 0 then B[i] = A[i] end end
    end}
  end,
  ["elements in an order of their own"] = function()
    return tide.kernel {A = i32[M], B = i32[M], function(A, B) for i = 0, M - 1 do B[i * 3 % M] = A[i] end end}
  end,
  ["a while loop"] = function()
    return tide.kernel {A = i32[M], B = i32[M], function(A, B)
      for i = 0, M - 1 do
        local x = A[i]
        while x > 9 do x = x - 3 end
        B[i] = x
      end
    end}
  end,
  ["a result that is not the last parameter"] = function()
    return tide.kernel {B = i32[M], A = i32[M], function(B, A) for i = 0, M - 1 do B[i] = A[i] end end}
  end,
} do
  t.test("no definition: " .. name, function()
    t.fails(function() t2s.search(make(), {pes = 4, at = {M = 8}}) end, {code = "t2s-lift", kind = "unsupported"})
  end)
end

t.test("what a search refuses", function()
  local z = {I = 4, J = 4, K = 2}
  local function fails(options, C)
    t.fails(function() t2s.search(C or product(), options) end, {code = "t2s-search"})
  end
  fails {at = z}
  fails {pes = 0, at = z}
  fails {pes = 4, at = {I = 4, J = 4}}
  fails {pes = 4, at = z, port = 3}
  fails {pes = 4, at = z, lanes = 0}
  fails {pes = 4, at = z, buffers = -1}
  fails {pes = 4, at = z, ports = 1}
  fails {consts = {II = {}}, at = z}
  fails({pes = 4, at = z}, product(function(v) v.C:unroll(v.i) end))
  t2s.search(product(), {pes = 4, at = z, ports = 12})
end)

t.done()
