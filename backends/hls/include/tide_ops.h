/* tide_ops.h - arithmetic of Tide for which C++ has no operator: written beside a kernel that uses
 * it, for synthesis as for simulation. */
#ifndef TIDE_OPS_H
#define TIDE_OPS_H

#include "ap_fixed.h"
#include "ap_int.h"
#include "hls_half.h"
#include "hls_math.h"
#include <stdint.h>

namespace tide {

/* Quotient and remainder by floor, in a type that holds the operands and the result; 0 where b is
 * 0. */
template <class T> T floor_div(T a, T b) {
  if (b == 0) return 0;
  const T q = a / b, r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? T(q - 1) : q;
}
template <class T> T floor_mod(T a, T b) {
  if (b == 0) return 0;
  const T r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? T(r + b) : r;
}

/* Shifts of an x of W bits; a count beyond them, or below 0, moves every bit out. */
template <int W, class T, class N> T shift_left(T x, N n) {
  return n >= 0 && n < W ? T(x << int(n)) : T(0);
}
template <int W, class T, class N> T shift_right(T x, N n) {
  if (n >= 0 && n < W) return T(x >> int(n));
  return x < 0 ? T(x >> (W - 1)) : T(0);
}

/* x, of W bits, with those of v in place of bits lo to hi - 1. */
template <int W, class T, class V> T with_bits(T x, uint64_t lo, uint64_t hi, V v) {
  const int top = hi < uint64_t(W) ? int(hi) : W;
  if (lo < uint64_t(top)) x.range(top - 1, int(lo)) = v;
  return x;
}

/* The word of a fixed-point number, and the number of a word. */
template <int W, int I> ap_int<W> raw(const ap_fixed<W, I> &x) {
  return ap_int<W>(x.range());
}
template <int W, int I> ap_uint<W> raw(const ap_ufixed<W, I> &x) {
  return ap_uint<W>(x.range());
}
template <class T, class V> T of_raw(V v) {
  T x;
  x.range() = v;
  return x;
}

/* v / 2^F rounded up, for a signed v that has a bit to spare. */
template <class R, int F, class T> R ceil_shift(T v) {
  const T down = T(-v) >> F;
  return R(-down);
}

/* |x| in a type that holds it, and the lesser and the greater of two. */
template <class R, class T> R magnitude(T x) {
  return x < 0 ? R(-x) : R(x);
}
template <class T> T min(T a, T b) {
  return b < a ? b : a;
}
template <class T> T max(T a, T b) {
  return a < b ? b : a;
}

/* The bits of a float, all NaNs alike, and the float of bits. */
inline uint32_t word_of(float x) {
  union {
    float value;
    uint32_t bits;
  } u = {x};
  return x != x ? 0x7fc00000u : u.bits;
}
inline uint64_t word_of(double x) {
  union {
    double value;
    uint64_t bits;
  } u = {x};
  return x != x ? 0x7ff8000000000000u : u.bits;
}
inline float float_of(uint32_t bits) {
  union {
    uint32_t bits;
    float value;
  } u = {bits};
  return u.value;
}
inline double double_of(uint64_t bits) {
  union {
    uint64_t bits;
    double value;
  } u = {bits};
  return u.value;
}

/* NaN if either is; of two zeros -0 is the lesser. */
template <class F> F float_min(F a, F b) {
  if (a != a || a < b) return a;
  return a == b && word_of(a) > word_of(b) ? a : b;
}
template <class F> F float_max(F a, F b) {
  if (a != a || a > b) return a;
  return a == b && word_of(a) < word_of(b) ? a : b;
}

/* a - floor(a / b) * b. */
template <class F> F float_mod(F a, F b) {
  const F r = hls::fmod(a, b);
  return (r < 0 && b > 0) || (r > 0 && b < 0) ? r + b : r;
}

/* x in fewer bits, with an odd last one where it is inexact, so that rounding to still fewer bits
 * rounds x. */
inline double sticky(uint64_t x) {
  const uint64_t low = x & 0x7ff, high = x - low;
  if (x >> 53 == 0 || low == 0) return double(x);
  return double(high | 0x800);
}
inline double sticky(int64_t x) {
  return x < 0 ? -sticky(0 - uint64_t(x)) : sticky(uint64_t(x));
}
inline float sticky(double x) {
  const float nearest = float(x);
  const double back = nearest;
  if (back == x || x != x) return nearest;
  const bool above = (back > x) == (x > 0);
  return float_of((word_of(nearest) - above) | 1);
}

/* bf16: the upper half of a float. The value of a word, the word nearest to a value, and a value
 * rounded to one. */
inline float bf16_value(ap_uint<16> word) {
  return float_of(uint32_t(word) << 16);
}
inline ap_uint<16> bf16_word(float x) {
  const uint32_t bits = word_of(x);
  return ap_uint<16>(x != x ? bits >> 16 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline float bf16(float x) {
  return bf16_value(bf16_word(x));
}

/* The word of a half, and the half of a word. */
inline ap_uint<16> half_word(half h) {
  const float x = h;
  const uint32_t bits = word_of(x), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
  if (x != x) return ap_uint<16>(0x7e00);
  if (rest >= 0x7f800000) return ap_uint<16>(sign | 0x7c00);
  if (rest < 0x38800000) return ap_uint<16>(sign | uint32_t(float_of(rest) * 16777216.0f));
  return ap_uint<16>(sign | (rest - 0x38000000) >> 13);
}
inline half half_of(ap_uint<16> word) {
  const uint32_t bits = uint32_t(word), rest = bits & 0x7fff, sign = bits >> 15 << 31;
  float x = float(rest) * 5.9604644775390625e-08f;
  if (rest >= 0x400) x = float_of((rest << 13) + 0x38000000);
  if (rest >= 0x7c00) x = float_of(0x7f800000 | rest << 13);
  return half(float_of(word_of(x) | sign));
}

/* x toward zero in T, of W bits and signed if S, kept to its range; NaN is 0. */
template <class T, int W, bool S, class F> T to_integer(F x) {
  const int n = W - S;
  const uint64_t half_range = uint64_t(1) << (n > 0 ? n - 1 : 0);
  const uint64_t most = n > 0 ? 2 * (half_range - 1) + 1 : 0;
  const F end = n > 0 ? F(half_range) * 2 : F(1);
  if (x != x) return T(0);
  if (x >= end) return T(most);
  if (!S) return x > 0 ? T(uint64_t(x)) : T(0);
  return x <= -end ? T(-1 - int64_t(most)) : T(int64_t(x));
}

/* x times a power of two as a whole number, by floor, or to the nearest and ties to even. */
inline double whole_floor(double x, double scale) {
  const double y = x * scale;
  return y == 0 && x < 0 ? -1 : hls::floor(y);
}
inline double whole_even(double x, double scale) {
  const double y = x * scale, down = hls::floor(y), rest = y - down;
  const bool odd = down - 2 * hls::floor(down / 2) > 0.5;
  return rest > 0.5 || (rest == 0.5 && odd) ? down + 1 : down;
}

} // namespace tide

#endif
