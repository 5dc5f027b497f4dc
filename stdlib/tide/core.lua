-- exp, log, sin, cos and tanh of f32, f16 and bf16 in integers alone, as functions for kernels: what hardware without
-- cores for them is built of (`math = "core"` of a build), to at most 2 units in the last place.
--   local core = require "tide.core"
--   local exp = core.of("exp", tide.f32)
--   local k = tide.kernel {x = tide.f32[8], function(x) for i = 0, 7 do x[i] = exp(x[i]) end end}
-- A word is taken apart, its argument reduced as a fixed-point number, a polynomial evaluated by Horner's rule on 32
-- bits, and the result normalised, rounded to nearest and packed.
local tide = require "tide"

local i16, i32, i64, u8, u16, u32, u64 = tide.i16, tide.i32, tide.i64, tide.u8, tide.u16, tide.u32, tide.u64
local bitcast, bits, select, asr = tide.bitcast, tide.bits, tide.select, tide.asr

---@class tide.core
local core = {}

-- Coefficients times 2^30, the highest power first, through the Chebyshev nodes of the interval: of e^r, |r| <= 0.35;
-- ln(1 + t) / t, -0.293 <= t <= 0.415; tanh(x) / x by x^2 <= 1/4; 1 / (1 + e), e <= 0.368; sin(pi/2 f) / f and
-- cos(pi/2 f) by f^2 <= 1/4. The second columns are for fractions of at most 10 bits.
local wide = {
  exp = {1497010, 8993486, 44738894, 178954182, 536870917, 1073741867, 1073741824},
  log = {
    70570689, -124777141, 128268282, -133367370, 152603239, -178955784, 214775595, -268436126, 357913612, -536870906,
    1073741825,
  },
  tanh = {-7099596, 22842593, -57867409, 143160926, -357913842, 1073741824},
  inverse = {-292006752, 721723887, -978624905, 1058598192, -1072389836, 1073681385, -1073740780, 1073741821},
  sin = {-4941520, 85555982, -693598003, 1686629708},
  cos = {970263, -22398329, 272375233, -1324675869, 1073741824},
}
local narrow = {
  exp = {44967445, 180327178, 536863939, 1073699951, 1073741824},
  log = {125175639, -199436335, 220390485, -267579969, 357701644, -536880335, 1073742927},
  tanh = {-47666340, 141625896, -357838252, 1073741235},
  inverse = {-404361350, 850654971, -1035370322, 1070607170, -1073645522, 1073741334},
  sin = {83702249, -693424111, 1686627290},
  cos = {-21913093, 272299393, -1324672075, 1073741794},
}
local ln2_40, ln2_54, log2e_16 = 762123384786, 12486629536330718, 94548
-- Bits of 2/pi behind 64 zeros.
local two_over_pi = {
  0, 0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561, 0xb7246e3a,
}

-- A format: its type, the word's, bits of the fraction M and exponent E, the bias B; exponents from which e^x is 0 or
-- infinite; the polynomials.
local formats = {
  f32 = {type = tide.f32, word = u32, M = 23, E = 8, B = 127, top = 7, poly = wide},
  f16 = {type = tide.f16, word = u16, M = 10, E = 5, B = 15, top = 5, poly = narrow},
  bf16 = {type = tide.bf16, word = u16, M = 7, E = 8, B = 127, top = 7, poly = narrow},
}

-- Coefficients c, of 30 fraction bits, at r, of 32.
local function horner(c, r)
  local sum = i32(0)
  for _, v in ipairs(c) do sum = i32(v + asr(sum * r, 32)) end
  return sum
end

-- v ~= 0 shifted up until bit 63 is set, and by how much.
local shifts = {32, 16, 8, 4, 2, 1}
local function normalise(v)
  local high, up = u64(v), u8(0)
  for _, n in ipairs(shifts) do
    local low = bits(high, 64 - n, 64) == 0
    high = select(low, u64(high << n), high)
    up = u8(select(low, up + n, up))
  end
  return high, up
end

-- What is common to the functions of a format.
local function parts(f)
  local M, E, B, word = f.M, f.E, f.B, f.word
  local infinite, none = ((1 << E) - 1) << M, ((1 << E) * 2 - 1) << (M - 1)
  local p = {infinite = infinite, none = none, one = B << M}

  -- Of a word: sign, the bits beside it, exponent field, significand.
  function p.split(x)
    local w = bitcast(word, x)
    local e = u8(bits(w, M, M + E))
    local m = u32(bits(w, 0, M) + select(e == 0, 0, 1 << M))
    return u8(bits(w, M + E, M + E + 1)), word(bits(w, 0, M + E)), e, m
  end

  -- The word of v 2^(e - 63), v with bit 63 set, rounded to nearest, below the least exponent too; or infinity.
  function p.pack(v, e)
    local field = i16(e + B)
    local none = field < -M
    local below = u8(select(field < 1 and not none, 1 - field, 0))
    local kept = u32(select(none, 0, u64(v) >> u8(62 - M + below)))
    local base = u32(u16(select(field > 1, field - 1, 0))) << M
    local out = base + (kept >> 1) + (kept & 1)
    return u32(select(out > infinite, infinite, out))
  end

  -- A word with a sign as a number.
  function p.number(sign, w) return bitcast(f.type, word(u32(sign) << (M + E) | w)) end
  return p
end

-- x = m 2^(e - B - M) below 2^top, as n and r of 32 fraction bits: x = n ln 2 + r, |r| <= 0.35.
local function reduce(f, m, e)
  local gap = i16(f.B + f.top - 1 - e)
  local q = u64(m << (39 - f.M + f.top)) >> u8(select(gap > 63, 63, select(gap < 0, 0, gap)))
  local n = u16(u64(u32(q >> 30) * u32(log2e_16) + u32(1 << 25)) >> 26)
  return n, i32(asr(i64(i64(q) - i64(n * u64(ln2_40))), 8))
end

local make = {}

function make.exp(f)
  local p, c, big = parts(f), f.poly.exp, f.B + f.top
  return function(x)
    local sign, size, e, m = p.split(x)
    local n, r = reduce(f, m, e)
    local y = u64(u32(horner(c, i32(select(sign == 1, -r, r)))) << 32)
    local low = bits(y, 62, 64) == 0
    local at = select(sign == 1, -n, n) - select(low, 1, 0)
    local out = p.pack(select(low, u64(y << 2), u64(y << 1)), at)
    local far = select(sign == 1, 0, p.infinite)
    return p.number(0, select(size > p.infinite, p.none, select(e >= big, far, out)))
  end
end

function make.log(f)
  local p, c = parts(f), f.poly.log
  return function(x)
    local sign, size, e, m = p.split(x)
    local v, up = normalise(m)
    local high = u32(v >> 32)
    local above = high > 3037000500 -- the square root of 2
    local k = i16(select(e == 0, 1, e) - up + (63 - f.M - f.B) + select(above, 1, 0))
    local t = i32(i64(high) * select(above, 1, 2) - (1 << 32))
    local sum = i64(asr(i64(t * horner(c, t)), 8) + i64(i64(k) * i64(ln2_54)))
    local n, by = normalise(u64(select(sum < 0, -sum, sum)))
    local out = select(sum == 0, 0, p.pack(n, 9 - by))
    local bad = size > p.infinite or sign == 1 and size ~= 0
    local ends = size == 0 or size == p.infinite
    local minus = size == 0 or sum < 0 and not bad and not ends
    return p.number(select(minus, 1, 0), select(bad, p.none, select(ends, p.infinite, out)))
  end
end

-- Words of two_over_pi from bit 32 i on, for each i that the format asks for.
local function windows(f)
  local list, t = {}, two_over_pi
  for i = 0, (62 + (1 << f.E) - f.B - f.M) >> 5 do list[i + 1] = {i, t[i + 1], t[i + 2], t[i + 3], t[i + 4]} end
  return list
end

-- sin (add 0) or cos (add 1) by quadrants: x 2/pi to 94 bits behind the point, of which the upper 62 are kept.
local function circle(f, add)
  local p, M, B, word = parts(f), f.M, f.B, f.word
  local least, last, part = B - 13, (1 << f.E) - 1, windows(f)
  return function(x)
    local sign, size, e, m = p.split(x)
    local from = u16(select(e < least, least, e) + (62 - B - M))
    local a, b, c, d = u32(0), u32(0), u32(0), u32(0)
    for _, w in ipairs(part) do
      local here = from >> 5 == w[1]
      a = u32(select(here, w[2], a))
      b = u32(select(here, w[3], b))
      c = u32(select(here, w[4], c))
      d = u32(select(here, w[5], d))
    end
    local by = u8(bits(from, 0, 5))
    local w2 = u32(u64(u64(a << 32) | b) << by >> 32)
    local w1 = u32(u64(u64(b << 32) | c) << by >> 32)
    local w0 = u32(u64(u64(c << 32) | d) << by >> 32)
    local turn = u64(u64(u32(m * w2) << 32) + u64(m * w1) + u32(u64(m * w0) >> 32) + u64(1 << 61))
    local q = u8(bits(turn, 62, 64) + add)
    local off = i64(i64(bits(turn, 0, 62)) - (1 << 61))
    local gap = u64(select(off < 0, -off, off)) -- of 62 fraction bits
    local n, up = normalise(gap)
    local near = u32(gap >> 30)
    local square = i32(near * near >> 32)
    local across = bits(q, 0, 1) == 1
    local sine = u64(u32(n >> 32) * u32(horner(f.poly.sin, square)))
    local v, more = normalise(select(across, u64(u32(horner(f.poly.cos, square)) << 32), sine))
    local out = p.pack(v, select(across, 1, 3 - up) - more)
    local minus = u8(bits(q, 1, 2) ~ select(off < 0 and not across, 1, 0))
    local tiny, bad = e < least, e == last
    if add == 0 then
      out = word(select(tiny, size, out))
      minus = u8(select(tiny, sign, minus ~ sign))
    else
      out = word(select(tiny, p.one, out))
      minus = u8(select(tiny, 0, minus))
    end
    return p.number(select(bad, 0, minus), select(bad, p.none, out))
  end
end

function make.sin(f) return circle(f, 0) end
function make.cos(f) return circle(f, 1) end

-- Below 1/2 x times a polynomial of x^2; else 2 / (1 + e^(-2x)) - 1.
function make.tanh(f)
  local p, M, B = parts(f), f.M, f.B
  return function(x)
    local sign, size, e, m = p.split(x)
    local low = e < B - 1
    local gap = i16(B - 2 - e)
    local near = u32(u64(m << (30 - M)) >> u8(select(gap < 0, 0, select(gap > 31, 31, gap))))
    local product = u64(m * u32(horner(f.poly.tanh, i32(near * near >> 32))))
    local n, r = reduce(f, m, i16(e + 1))
    local power = i32(u64(u32(horner(f.poly.exp, i32(-r))) << 2) >> u8(select(n > 40, 40, n)))
    local far = u64(u32(u32(horner(f.poly.inverse, power)) * 2 - (1 << 30)) << 33)
    local v, more = normalise(select(low, product, far))
    local out = p.pack(v, select(low, e + (33 - M - B), 0) - more)
    local word = select(e >= B + 4, p.one, select(e < B - 13, size, out))
    local bad = size > p.infinite
    return p.number(select(bad, 0, sign), select(bad, p.none, word))
  end
end

--- Whether there is a function of that name, for some type.
function core.is_known(name) return make[name] ~= nil end

--- The function of a name for numbers of type T, for kernels; nil where there is none.
function core.of(name, T)
  local f = formats[tostring(T)]
  return f and make[name] and make[name](f)
end

local kernels = {}

--- A kernel that stores it of x[0] to y[0]: one for each name and type.
function core.kernel(name, T)
  local id = ("core_%s_%s"):format(name, T)
  local of = not kernels[id] and core.of(name, T)
  if of then
    kernels[id] = tide.kernel {name = id, x = T[1], y = T[1], function(x, y) y[0] = of(x[0]) end}
  end
  return kernels[id]
end

return core
