-- words.lua - words of more than 64 bits: moved, cut, put together, & | ~; checked runs, calls, HLS and
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
  local runs = {call = k, reference = function(...) k:reference(...) end,
    hls = tide.schedule(k):build {target = "hls"}}
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

t.done()
