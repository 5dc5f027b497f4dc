/* big.h - whole numbers without bound: the tests' own arithmetic, to and from integer<W, S>. */
#ifndef TIDE_TEST_BIG_H
#define TIDE_TEST_BIG_H

#include "ap_int.h"
#include "tap.h"
#include <algorithm>
#include <string>
#include <vector>

using tide_hls::integer;

/* Sign and magnitude in 32-bit digits, lowest first, without leading zeros; zero has no sign. */
struct Big {
  bool neg = false;
  std::vector<uint32_t> m;
  Big() = default;
  Big(long long v) : neg(v < 0) {
    for (uint64_t u = v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v); u != 0;
         u >>= 32)
      m.push_back(static_cast<uint32_t>(u));
  }
  uint32_t digit(size_t i) const { return i < m.size() ? m[i] : 0; }
  bool zero() const { return m.empty(); }
  bool odd() const { return digit(0) % 2 != 0; }
};

static Big tidy(Big x) {
  while (!x.m.empty() && x.m.back() == 0) x.m.pop_back();
  if (x.m.empty()) x.neg = false;
  return x;
}

/* The order of the magnitudes: negative, 0 or positive. */
static int order_magnitude(const Big &a, const Big &b) {
  for (size_t i = std::max(a.m.size(), b.m.size()); i-- > 0;)
    if (a.digit(i) != b.digit(i)) return a.digit(i) < b.digit(i) ? -1 : 1;
  return 0;
}

static Big operator-(Big a) {
  a.neg = !a.neg;
  return tidy(a);
}

/* a + b, where the digits of b are added to or taken from those of the larger a. */
static Big operator+(const Big &a, const Big &b) {
  if (order_magnitude(a, b) < 0) return b + a;
  Big r;
  r.neg = a.neg;
  int64_t carry = 0;
  for (size_t i = 0; i <= a.m.size(); ++i) {
    const int64_t t =
        int64_t{a.digit(i)} + (a.neg == b.neg ? int64_t{b.digit(i)} : -int64_t{b.digit(i)}) + carry;
    r.m.push_back(static_cast<uint32_t>(t & 0xffffffff));
    carry = t >> 32;
  }
  return tidy(r);
}
static Big operator-(const Big &a, const Big &b) {
  return a + -b;
}

static Big operator*(const Big &a, const Big &b) {
  Big r;
  r.neg = a.neg != b.neg;
  r.m.assign(a.m.size() + b.m.size(), 0);
  for (size_t i = 0; i < a.m.size(); ++i) {
    uint64_t carry = 0;
    for (size_t j = 0; i + j < r.m.size(); ++j) {
      const uint64_t t = uint64_t{a.m[i]} * b.digit(j) + r.m[i + j] + carry;
      r.m[i + j] = static_cast<uint32_t>(t);
      carry = t >> 32;
    }
  }
  return tidy(r);
}

static int order(const Big &a, const Big &b) {
  const Big d = a - b;
  return d.zero() ? 0 : d.neg ? -1 : 1;
}
static bool operator==(const Big &a, const Big &b) {
  return a.neg == b.neg && a.m == b.m;
}

static Big power(int n) {
  Big r;
  r.m.assign(static_cast<size_t>(n / 32 + 1), 0);
  r.m.back() = 1u << n % 32;
  return r;
}

/* floor(a / 2^n), by dropping bits of the magnitude. */
static Big floor_shift(const Big &a, int n) {
  Big r;
  const size_t skip = static_cast<size_t>(n / 32);
  for (size_t i = skip; i < a.m.size(); ++i)
    r.m.push_back(static_cast<uint32_t>((uint64_t{a.digit(i + 1)} << 32 | a.m[i]) >> n % 32));
  r = tidy(r);
  if (!a.neg) return r;
  const bool lost = !(r * power(n) == -a);
  return -(lost ? r + 1 : r);
}

/* a * 2^n, floored for a negative n. */
static Big scale(const Big &a, int n) {
  return n >= 0 ? a * power(n) : floor_shift(a, -n);
}

/* The number of w bits, signed if s, that equals a modulo 2^w. */
static Big wrap(const Big &a, int w, bool s) {
  const Big r = a - floor_shift(a, w) * power(w);
  return s && order(r, power(w - 1)) >= 0 ? r - power(w) : r;
}

/* The number in n words, two's complement if s; and the lowest n words of a number. */
static Big from_words(const uint64_t *w, int n, bool s) {
  Big r;
  for (int i = 0; i < 2 * n; ++i) r.m.push_back(static_cast<uint32_t>(w[i / 2] >> 32 * (i % 2)));
  r = tidy(r);
  return s && order(r, power(64 * n - 1)) >= 0 ? r - power(64 * n) : r;
}
static void to_words(uint64_t *w, int n, const Big &v) {
  const Big r = wrap(v, 64 * n, false);
  for (size_t i = 0; i < static_cast<size_t>(n); ++i)
    w[i] = r.digit(2 * i) | uint64_t{r.digit(2 * i + 1)} << 32;
}

/* The number that x represents, read off its words; and the integer that v is modulo 2^W. */
template <int W, bool S> Big big(const integer<W, S> &x) {
  return from_words(x.w, x.words, S);
}
template <class T> T make(const Big &v) {
  uint64_t w[T::words];
  to_words(w, T::words, v);
  return T::of_words(w);
}

/* Signed hexadecimal digits, as strtod reads them. */
static std::string hex(const Big &x) {
  std::string s = x.neg ? "-0x0" : "0x0";
  char digits[9];
  for (size_t i = x.m.size(); i-- > 0;) {
    snprintf(digits, sizeof digits, "%08x", x.m[i]);
    s += digits;
  }
  return s;
}

/* A number of random length below w bits, of either sign. */
static Big random_big(int w) {
  Big r;
  for (int i = 0; i <= w / 32; ++i) r.m.push_back(static_cast<uint32_t>(rnd() >> 20));
  r = floor_shift(tidy(r), static_cast<int>(rnd() % static_cast<unsigned>(w + 32)));
  return rnd() % 2 != 0 ? -r : r;
}

/* Boundary and random values of w bits. */
static std::vector<Big> values(int w, bool s) {
  std::vector<Big> v;
  for (const Big &x :
       {Big(0), Big(1), Big(-1), Big(2), power(w - 1), power(w - 1) - 1, power(w / 2), Big(-7)})
    v.push_back(wrap(x, w, s));
  /* Beside the middle of two doubles and of two floats, by a bit that is far below. */
  for (int digits : {53, 24})
    if (w > 64) v.push_back(power(w - 2) + power(w - 2 - digits) + 1);
  for (int i = 0; i < 5; ++i) v.push_back(wrap(random_big(w), w, s));
  return v;
}

#endif
