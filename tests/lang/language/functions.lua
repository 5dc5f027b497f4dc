-- Lua functions inside kernels, kernels called by kernels, templates, state, constants.
local tide = require "tide"
local t = require "tap"
local p = require "programs"
local i8, i16, i32, i64, f32, f64 = tide.i8, tide.i16, tide.i32, tide.i64, tide.f32, tide.f64

local N = 8
local A = tide.random(i8[N], 9)

-- What a kernel over A makes of eight zeros; the function itself gives the plain Lua answer.
local function check(fn)
  local k = tide.kernel {A = i8[N], B = i32[N], fn}
  local want = i32[N](0)
  fn(A, want)
  local got = select(2, p.same(k, A, i32[N](0)))
  t.ok(got:equal(want), tostring(got) .. tostring(want) .. tostring(k))
  return k
end

local function sign(x) if x > 0 then return 1 elseif x < 0 then return -1 else return 0 end end
local function swap(x, y) return y, x end
local function clamp(x, lo, hi) return math.min(math.max(x, lo), hi) end
local function store(B, i, x) B[i] = x end
local scale = 3
local function affine(x) local y = x * scale return y + 1 end

t.test("functions with one result, many, none", function()
  check(function(A, B)
    for i = 0, 3 do B[i] = sign(A[i]) + affine(A[i]) end
    local x, y = swap(A[0], A[1])
    B[4], B[5] = swap(x, y)
    B[6] = (swap(x, y))
    store(B, 7, clamp(A[3] * 2, -10, 10))
    local a, b, c = A[0], swap(A[1], A[2])
    store(B, 0, a + b * c)
    store(B, swap(A[5], 1), 4)
  end)
end)

t.test("functions that read, loop and branch", function()
  local function sum(A, lo, hi)
    local s = i32(0)
    for i = lo, hi - 1 do --@ pipeline(1)
      s = s + A[i]
    end
    return s
  end
  local function most(A) local m = i32(-1000) for i = 0, #A - 1 do m = math.max(m, A[i]) end
    return m, #A end
  local k = check(function(A, B)
    B[0] = sum(A, 0, N) - sum(A, 2, 5)
    for i = 1, 3 do B[i] = sum(A, 0, i) + i end
    B[4], B[5] = most(A)
    if most(A) > 5 then B[6] = 1 end
    while sum(B, 6, 8) < 20 do B[7] = B[7] + 3 end
  end)
  t.has(tostring(k), "--@ pipeline(1)")
end)

t.test("closures, functions as arguments and in tables", function()
  local function add(k) return function(x) return x + k end end
  local function twice(f) return function(x) return f(f(x)) end end
  local ops = {inc = add(1), far = twice(twice(add(3))), list = {add(5), twice(add(7))}}
  local function apply(f, x) return f(x) end
  check(function(A, B)
    B[0] = ops.inc(A[0])
    B[1] = ops.far(A[1])
    for k, f in ipairs(ops.list) do B[k + 1] = f(A[k]) end
    B[4] = apply(ops.inc, apply(ops.far, A[2]))
  end)
end)

t.test("each function has its own upvalues, sizes and names", function()
  local K = 3
  local function far(i) local N = i * K return N end
  local M = 5
  local module = (function() local M = 2 return function(x) local y = x * M return y + M end end)()
  local k = check(function(A, B)
    local y, K = A[0], A[1]
    for i = 0, M - 1 do B[i] = far(i) + module(A[i]) + y end
    B[7] = K
  end)
  t.eq(k.sizes, {M = 5})
end)

local axpy = tide.kernel {a = i32, X = i32[4], Y = i32[4], function(a, X, Y)
  for i = 0, 3 do Y[i] = Y[i] + a * X[i] end
end}

t.test("kernels: views and scalars as arguments, the same twice, nested", function()
  local both = tide.kernel {X = i32[2][4], Y = i32[4], function(X, Y)
    axpy(2, X[0], Y)
    axpy(3, X[1], Y)
  end}
  local k = tide.kernel {X = i32[2][4], Y = i32[8], function(X, Y)
    both(X, Y:slice({0, 4}))
    both(X, Y:slice({1, 8, 2}))
    axpy(Y[0], i32[4](X[0] + X[1]), Y:slice {4, 8})
    for i = 0, 1 do axpy(i, X[i], X[1 - i]) end
  end}
  local X, Y = tide.random(i32[2][4], 3, {lo = -9, hi = 9}), tide.random(i32[8], 4, {lo = -9, hi =
    9})
  local x, y = X:copy(), Y:copy()
  local function plain(a, X, Y) for i = 0, 3 do Y[i] = Y[i] + a * X[i] end end
  for _, part in ipairs {{0, 4}, {1, 8, 2}} do
    plain(2, x[0], y:slice(part))
    plain(3, x[1], y:slice(part))
  end
  plain(y[0], x[0] + x[1], y:slice {4, 8})
  for i = 0, 1 do plain(i, x[i], x[1 - i]) end
  local gx, gy = p.same(k, X, Y)
  t.ok(gx:equal(x) and gy:equal(y), tostring(gy) .. tostring(y))
end)

t.test("templates: kernels of one name and different sizes", function()
  local function fill(n, v)
    return tide.kernel {X = i32[n], function(X) for i = 0, n - 1 do X[i] = v + i end end}
  end
  local a, b, c = fill(3, 10), fill(5, 20), fill(3, 10)
  local k = tide.kernel {X = i32[12], function(X)
    a(X:slice {0, 3})
    b(X:slice {3, 8})
    c(X:slice {8, 11})
  end}
  t.eq(p.same(k, i32[12](0)):table(), {10, 11, 12, 20, 21, 22, 23, 24, 10, 11, 12, 0})
  t.eq(a.name, "fill")
  t.has(tostring(k), "fill_1")
end)

t.test("instances: k:as", function()
  local count = tide.state(i32[1], 0)
  local tick = tide.kernel {X = i32[1], function(X)
    count[0] = count[0] + 1
    X[0] = count[0]
  end}
  local other = tick:as "other"
  local k = tide.kernel {X = i32[4], function(X)
    tick(X:slice {0, 1})
    other(X:slice {1, 2})
    tick(X:slice {2, 3})
  end}
  t.eq(p.foreign(k, i32[4](0)):table(), {1, 1, 2, 0})
  local X = i32[4](0)
  k:reset()
  k(X)
  k(X)
  t.eq(X:table(), {3, 2, 4, 0})
  k:reset()
  k(X)
  t.eq(X:table(), {1, 1, 2, 0})
  t.has(tostring(k), "local other = ")
end)

t.test("state starts at its fill and lasts", function()
  local s, v = tide.state(i16[2][2], 7), tide.state(f32[3], tide.tensor(f32[3], {1, 2.5, -1}))
  local k = tide.kernel {X = i32[3], Y = f32[3], function(X, Y)
    s[1][0] = s[1][0] + 1
    X[0], X[1] = s[1][0], s[0][1]
    v[2] = v[2] * 2
    Y:set(v)
  end}
  local X, Y = p.foreign(k, i32[3](0), f32[3](0))
  t.eq(X:table(), {8, 7, 0})
  t.eq(Y:table(), {1.0, 2.5, -2.0})
end)

t.test("constants: small ones in the text, large ones as arguments", function()
  local taps_1 = tide.tensor(i8[2], {1, -2})
  local taps = tide.random(i8[10][10], 1)
  local words = tide.tensor(tide.u64[2], {-1, 5})
  local wide = tide.tensor(tide.fixed(64, 10)[2], {1, 2})
  local again = {taps = tide.tensor(f64[3], {0.1, math.huge, -0.0})}
  local k = tide.kernel {B = i64[4], F = f64[3], function(B, F)
    for i = 0, 1 do B[0] = B[0] + taps[i][9 - i] * taps_1[i] end
    B[1] = i64(words[0] >> 60) + i64(words[1])
    B[2] = i64(wide[1])
    F:set(again.taps)
  end}
  t.eq(select("#", k:constants()), 1)
  local B, F = p.foreign(k, i64[4](0), f64[3](0))
  t.eq(B:table(), {taps[0][9] - 2 * taps[1][8], 20, 2, 0})
  t.eq(F:table(), {0.1, math.huge, -0.0})
end)

t.test("kernels in tables, from methods, from modules", function()
  local lib = {}
  function lib:make(n) self.n = n return tide.kernel {X = i32[n], function(X) X[0] = n end} end
  lib.k = lib:make(2)
  t.eq(lib.k.name, "make")
  local set = {first = tide.kernel {X = i32[2], function(X) X[0] = 1 end}}
  t.eq(set.first.name, "first")
  lib.q = tide.kernel {name = "called", X = i32[2], function(X) X[0] = 1 end}
  t.eq(lib.q.name, "called")
  local k = tide.kernel {X = i32[2], Y = i32[2], function(X, Y)
    lib.k(X)
    set.first(Y)
    lib.q(Y)
  end}
  local X, Y = p.same(k, i32[2](0), i32[2](0))
  t.eq({X[0], Y[0]}, {2, 1})
end)

t.test("an array that is passed twice: the error stands at the call", function()
  local k = tide.kernel {X = i32[2], Y = i32[2], function(X, Y) X[0] = Y[0] + 1 end}
  local A, defined = i32[2](0), debug.getinfo(1, "l").currentline - 1
  for _, run in ipairs {k, function(...) k:reference(...) end, k:build {target = "cpu", tier = "tcc"}} do
    local e = t.fails(function() run(A, A) end, {code = "overlap"})
    t.ok(e.line > defined, tostring(e))
    t.has(tostring(e), "declared here")
    run(A, i32[2](0))
  end
end)

t.test("a scalar argument becomes its parameter's type as a store does: no float is cut in silence", function()
  local k = tide.kernel {X = i32[1], n = i32, x = tide.f32, function(X, n, x) X[0] = n + i32(x) end}
  local A = i32[1](0)
  for _, run in ipairs {k, function(...) k:reference(...) end, function(...) k:native(...) end} do
    t.fails(function() run(A, 1.5, 2) end, {code = "needs-cast"})
    t.fails(function() run(A, true, 2) end, {code = "needs-cast"})
    run(A, 1, 2)
    t.eq(A[0], 3)
    run(A, 1, 2.5)
    t.eq(A[0], 3)
  end
  local copy = tide.kernel {Z = tide.stream(i32), A = i32[2], function(Z, A) for i = 0, 1 do A[i] = Z:get() end end}
  t.fails(function() copy({1, 2.5}, i32[2](0)) end, {kind = "usage"})
  copy({1, 2}, i32[2](0))
end)

p.done()
