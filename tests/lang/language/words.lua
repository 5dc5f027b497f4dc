-- [slow] words.lua - words of more than 64 bits: moved, cut, put together, & | ~; checked runs, calls, HLS and
-- verification agree with bytes.
local t = require "tap"
local tide = require "tide"
local u8, u64, i64 = tide.u8, tide.u64, tide.i64

local N = 25 -- bytes of a word
local W = tide.uint(8 * N)

-- A kernel of bytes that packs A and B into words, makes f of them, and takes that apart into C.
local function on_words(f)
  return tide.kernel {A = u8[N], B = u8[N], C = u8[N], name = "words", function(A, B, C)
    local x, y = W(0), W(0)
    for i = 0, N - 1 do
      x = tide.with_bits(x, 8 * i, 8 * i + 8, A[i])
      y = tide.with_bits(y, 8 * i, 8 * i + 8, B[i])
    end
    local z = f(x, y)
    for i = 0, N - 1 do C[i] = tide.bits(z, 8 * i, 8 * i + 8) end
  end}
end

-- States that k makes of bytes a and b what want(a, b, i) says of byte i, in all runs.
local function check(k, want)
  local A, B = tide.random(u8[N], 1), tide.random(u8[N], 2)
  local s = tide.schedule(k)
  local runs = {call = k, reference = function(...) k:reference(...) end, hls = s:build {target = "hls"}}
  for _, tier in ipairs {"tcc", "cc"} do runs[tier] = s:build {target = "cpu", tier = tier} end
  for name, run in pairs(runs) do
    local C = u8[N](0)
    run(A, B, C)
    for i = 0, N - 1 do t.eq(C[i], want(A, B, i) & 255, name .. ", byte " .. i) end
  end
  t.eq(tostring(load(tostring(k))()), tostring(k))
end

t.test("a word moves as it is", function()
  check(on_words(function(x) return x end), function(a, _, i) return a[i] end)
end)
t.test("& | ~ of words", function()
  check(on_words(function(x, y) return (x & y) | (~x & ~y) end),
    function(a, b, i) return ~(a[i] ~ b[i]) end)
  check(on_words(function(x, y) return x ~ y end), function(a, b, i) return a[i] ~ b[i] end)
end)
t.test("a choice of words", function()
  check(on_words(function(x, y) return tide.select(tide.bits(x, 0, 1) == 0, x, y) end),
    function(a, b, i) return a[0] & 1 == 0 and a[i] or b[i] end)
end)
t.test("slices across pieces", function()
  check(on_words(function(x, y) return tide.with_bits(y, 36, 164, tide.bits(x, 60, 188)) end),
    function(a, b, i)
      local byte = 0
      for k = 0, 7 do
        local at = 8 * i + k
        local from, bit = b, at
        if at >= 36 and at < 164 then from, bit = a, at + 24 end
        byte = byte | (from[bit // 8] >> (bit % 8) & 1) << k
      end
      return byte
    end)
end)
t.test("casts up and down", function()
  check(on_words(function(x) return W(u64(x)) end), function(a, _, i) return i < 8 and a[i] or 0 end)
  check(on_words(function(x) return W(tide.int(200)(i64(u64(x)))) end),
    function(a, _, i) return i < 8 and a[i] or a[7] >> 7 == 1 and 255 or 0 end)
end)

t.test("arrays, constants, states and tokens of words", function()
  local swap = tide.kernel {A = u8[2][N], B = u8[2][N], function(A, B)
    local T = W[2](0)
    for r = 0, 1 do
      for i = 0, N - 1 do T[r] = tide.with_bits(T[r], 8 * i, 8 * i + 8, A[r][i]) end
    end
    local first = T[0]
    T[0] = T[1]
    T[1] = first
    for r = 0, 1 do
      for i = 0, N - 1 do B[r][i] = tide.bits(T[r], 8 * i, 8 * i + 8) end
    end
  end}
  local A, B = tide.random(u8[2][N], 3), u8[2][N](0)
  swap(A, B)
  for i = 0, N - 1 do t.eq({B[0][i], B[1][i]}, {A[1][i], A[0][i]}) end
  local kept = tide.state(W[1], 0)
  local delay = tide.kernel {A = u8[N], B = u8[N], function(A, B)
    for i = 0, N - 1 do B[i] = tide.bits(kept[0], 8 * i, 8 * i + 8) end
    for i = 0, N - 1 do kept[0] = tide.with_bits(kept[0], 8 * i, 8 * i + 8, A[i]) end
  end}
  local x, y, out = tide.random(u8[N], 4), tide.random(u8[N], 5), u8[N](0)
  delay(x, out)
  t.eq(out:table(), u8[N](0):table())
  delay(y, out)
  t.eq(out:table(), x:table())
  local d = tide.design(function(d)
    local Z = d:stream(W, {depth = 2})
    d.send = tide.task {A = u8[N], function(A)
      local w = W(0)
      for i = 0, N - 1 do w = tide.with_bits(w, 8 * i, 8 * i + 8, A[i]) end
      Z:put(w)
    end}
    d.take = tide.task {B = u8[N], function(B)
      local w = Z:get()
      for i = 0, N - 1 do B[i] = tide.bits(w, 8 * i, 8 * i + 8) end
    end}
  end)
  d(x, out)
  t.eq(out:table(), x:table())
end)

-- A kernel that puts words of type W together, f of which it takes apart again, 63 bits at a time.
local function apart(W, bits, f)
  local n = (bits - 1) // 63
  local top = 63 * n
  return tide.kernel {A = u64[3][n + 1], B = u64[n + 1], C = i64[1], name = "apart", function(A, B, C)
    local P = W[3](0)
    for r = 0, 2 do
      for i = 0, n - 1 do P[r] = W(tide.with_bits(P[r], 63 * i, 63 * i + 63, A[r][i])) end
      P[r] = W(tide.with_bits(P[r], top, bits, A[r][n]))
    end
    local y = W(f(P, A[0][0]))
    C[0] = i64(y)
    for i = 0, n - 1 do B[i] = tide.bits(y, 63 * i, 63 * i + 63) end
    B[n] = tide.bits(y, top, bits)
  end}, {u64[3][n + 1], u64[n + 1], i64[1]}
end

t.test("words of many widths in all tiers, beside checked runs", function()
  for case = 1, 48 do
    local bits = 65 + case * 149 % 960
    local lo, width = case * 31 % (bits - 1), 0
    width = 1 + case * 53 % (bits - lo)
    local to = case * 17 % (bits - width + 1)
    local W = case % 2 == 0 and tide.int(bits) or tide.uint(bits)
    local made = {
      function(P) return P[0] & ~P[1] end,
      function(P) return P[0] ~ P[1] | P[2] end,
      function(P, a) return tide.select(a > 99, P[0], P[1]) end,
      function(P) return tide.with_bits(P[0], to, to + width, tide.bits(P[1], lo, lo + width)) end,
      function(P) return tide.bits(P[2], lo, lo + width) end,
      function(_, a) return tide.i8(a) end,
    }
    local k, types = apart(W, bits, made[case % #made + 1])
    local runs = {function(...) k:reference(...) end, tide.schedule(k):build {target = "cpu", tier = "tcc"}}
    if case % 8 == 0 then runs[3] = tide.schedule(k):build {target = "cpu", tier = "cc"} end
    local want
    for n, run in ipairs(runs) do
      local args = {tide.random(types[1], case), types[2](0), types[3](0)}
      run(table.unpack(args))
      want = want or args
      t.ok(args[2]:equal(want[2]) and args[3]:equal(want[3]), ("case %d, run %d"):format(case, n))
    end
  end
end)

t.test("a constant of words; slices whose width has a name", function()
  local ones, V = W[2](-1), 24
  local k = tide.kernel {A = u8[N], name = "of_constant", function(A)
    for i = 0, N // 3 - 1 do
      local v = tide.bits(ones[i % 2], V * i, V * i + V)
      A[i] = v >> 16
    end
  end}
  local a, b = u8[N](0), u8[N](0)
  tide.schedule(k):build {target = "cpu", tier = "tcc"}(a)
  k:reference(b)
  t.eq({a:table(), a[0]}, {b:table(), 255})
end)

t.test("what goes in comes out: verified", function()
  local function copy(order)
    return tide.kernel {A = tide.i8[N], B = tide.i8[N], name = "copy", function(A, B)
      local x = W(0)
      for i = 0, N - 1 do x = tide.with_bits(x, 8 * i, 8 * i + 8, u8(A[i])) end
      for i = 0, N - 1 do
        if order == 1 then
          B[i] = tide.i8(tide.bits(x, 8 * i, 8 * i + 8))
        else
          B[N - 1 - i] = tide.i8(tide.bits(x, 8 * i, 8 * i + 8))
        end
      end
    end}
  end
  local plain = tide.kernel {A = tide.i8[N], B = tide.i8[N], name = "copy", function(A, B)
    for i = 0, N - 1 do B[i] = A[i] end
  end}
  t.eq(tide.verify(plain, copy(1)), "strict")
  local level, verdict = tide.verify(plain, copy(2))
  t.eq(level, nil)
  t.has(tostring(verdict), "differs:")
end)

-- A design whose instances store, each in its row, what all of them make of A by op.
local function all_of(T, operand, op)
  return load(([[
    local tide = require "tide"
    return tide.design(function(d)
      d.each = tide.task {map = {3}, A = %s[3][2]:layout "S0R", B = tide.i64[3][2]:layout "S0R", function(A, B)
        B:set(tide.allreduce(%s, "%s"))
      end}
    end)]]):format(T, operand, op), "=all")
end

t.test("an allreduce of more than 64 bits is refused but for & | ~ of words", function()
  local given = {{21, 1}, {20, 2}, {1, 3}}
  local function check(operand, op, want)
    local d = all_of("tide.i64", operand, op)()
    local runs = {call = d, reference = function(...) d:reference(...) end}
    for _, tier in ipairs {"tcc", "cc"} do runs[tier] = d:build {target = "cpu", tier = tier} end
    for name, run in pairs(runs) do
      local B = tide.i64[3][2](0)
      run(tide.tensor(tide.i64[3][2], given), B)
      t.eq(B:table()[1], want, name)
    end
  end
  check("A", "+", {42, 6})
  check("tide.i64[1][2](A + A)", "+", {84, 12})
  check("tide.i64[1][2](A * A)", "max", {441, 9})
  for _, op in ipairs {"+", "*", "min", "max"} do
    t.fails(all_of("tide.i64", "A + A", op), {kind = "usage", code = "too-wide"}, "needs more than 64 bits")
    t.fails(all_of("tide.int(67)", "A", op), {kind = "usage", code = "too-wide"}, "needs more than 64 bits")
  end
  t.fails(all_of("tide.i64", "A + A", "|"), {kind = "usage", code = "too-wide"})
  for _, op in ipairs {"&", "|", "~"} do t.ok(all_of("tide.int(67)", "A", op)()) end
end)

t.test("an index that a cast cuts to 64 bits is the number that it is", function()
  local function passes(index)
    return load(([[
      local tide = require "tide"
      local i32, i64 = tide.i32, tide.i64
      return tide.design(function(d)
        local Z = d:stream(i32, {4, depth = 2})
        d.a = tide.task {map = {4}, function(p) Z[%s]:put(p * 3) end}
        d.b = tide.task {map = {4}, B = i32[4], function(B, p) B[p] = Z[p]:get() end}
      end)]]):format(index), "=passes")
  end
  for _, index in ipairs {"i32(p * i64(1) + 0)", "i32(i64(p) + 1) - 1", "i32(tide.bits(tide.int(80)(p), 0, 3))"} do
    local d, B = passes(index)(), tide.i32[4](0)
    d(B)
    t.eq(B:table(), {0, 3, 6, 9}, index)
  end
  t.fails(passes "i32(p * i64(0) + 1)", {code = "producers"})
  local k = load([[local tide = require "tide"
    return tide.kernel {B = tide.i32[4], function(B)
      for p = 0, 3 do B[tide.i32((tide.i64(p) << 60) << 10)] = p end
    end}]])()
  for _, run in ipairs {k, function(...) k:reference(...) end} do
    local B = tide.i32[4](7)
    run(B)
    t.eq(B:table(), {3, 7, 7, 7})
  end
end)

t.test("wide words of a view are copied whole", function()
  local X = tide.uint(130)
  local ones, top = tide.kernel {W = X[4], function(W)
    for i = 0, 3 do W[i] = ~X(0) end
  end}, tide.kernel {W = X[2], B = u64[2], function(W, B)
    for i = 0, 1 do B[i] = tide.bits(W[i], 66, 130) end
  end}
  local W, part, B = X[4](0), X[2](0), u64[2](0)
  ones(W)
  part:set(W:slice({0, 4, 2}))
  top(part, B)
  t.eq(B:table(), {-1, -1})
end)

t.done()
