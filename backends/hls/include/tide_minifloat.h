/* tide_minifloat.h - floats of 16 bits: stored narrow, computed in float and rounded. */
#ifndef TIDE_MINIFLOAT_H
#define TIDE_MINIFLOAT_H

#include "tide_host.h"
#include <stdint.h>
#include <string.h>
#include <type_traits>

namespace tide_hls {

template <int W, bool S> class integer;

/* IEEE layout: sign, E <= 8 bits of exponent, M bits of fraction, 16 bits in all. */
template <int E, int M> class minifloat {
  static_assert(1 + E + M == 16 && E <= 8, "a minifloat is 16 bits and fits in a float");
  static constexpr int bias = (1 << (E - 1)) - 1;
  static constexpr uint64_t infinity = ((uint64_t{1} << E) - 1) << M;
  uint16_t word = 0;

public:
  constexpr minifloat() = default;

  /* From any built-in number: the nearest, ties to even; beyond the range an infinity; NaN stays a
   * quiet NaN. */
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  minifloat(T x) : word(round(static_cast<double>(x))) {}

  /* The value, which a float holds exactly. */
  operator float() const {
    const uint32_t sign = static_cast<uint32_t>(word >> 15) << 31;
    const uint32_t exponent = word >> M & ((1u << E) - 1), fraction = word & ((1u << M) - 1);
    uint32_t bits = sign | (exponent + (127 - bias)) << 23 | fraction << (23 - M);
    if (exponent == (1u << E) - 1) bits = sign | 0xffu << 23 | fraction << (23 - M);
    if (exponent == 0) return subnormal(fraction, sign != 0);
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
  }

  /* To ap_int and ap_uint, as a float. */
  template <int W, bool S> operator integer<W, S>() const {
    return integer<W, S>(static_cast<float>(*this));
  }

  uint16_t bits() const { return word; }
  static minifloat from_bits(uint16_t bits) {
    minifloat r;
    r.word = bits;
    return r;
  }

  minifloat &operator+=(minifloat y) { return *this = *this + y; }
  minifloat &operator-=(minifloat y) { return *this = *this - y; }
  minifloat &operator*=(minifloat y) { return *this = *this * y; }
  minifloat &operator/=(minifloat y) { return *this = *this / y; }

private:
  /* fraction * 2^(1 - bias - M), exact: only the last product can be subnormal. */
  static float subnormal(uint32_t fraction, bool negative) {
    constexpr float step = 1.0f / static_cast<float>(uint64_t{1} << (bias - 1) / 2);
    constexpr float rest = 1.0f / static_cast<float>(uint64_t{1} << (bias - 1 - (bias - 1) / 2));
    const float x = static_cast<float>(fraction) / static_cast<float>(1 << M) * step * rest;
    return negative ? -x : x;
  }

  /* The word nearest to x; a carry out of the fraction is the next exponent, as in the layout. */
  static uint16_t round(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
    const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1), sign = bits >> 63 << 15;
    if (exponent == 1024 && fraction != 0)
      return static_cast<uint16_t>(sign | infinity | uint64_t{1} << (M - 1) | fraction >> (52 - M));
    const int above = exponent > 1 - bias ? exponent - (1 - bias) : 0;
    const int below = exponent < 1 - bias ? 1 - bias - exponent : 0;
    const int cut = 52 - M + (below < M + 2 ? below : M + 2);
    const uint64_t full = fraction | uint64_t{1} << 52, half = uint64_t{1} << (cut - 1);
    const uint64_t kept = full >> cut, lost = full & (2 * half - 1);
    const bool up = lost > half || (lost == half && (kept & 1) != 0);
    const uint64_t result = (static_cast<uint64_t>(above) << M) + kept + up;
    return static_cast<uint16_t>(sign | (result < infinity ? result : infinity));
  }
};

/* Operators between two of one type round their float result; mixed with float they are float's
 * own. */
template <int E, int M> inline minifloat<E, M> operator+(minifloat<E, M> x, minifloat<E, M> y) {
  return static_cast<float>(x) + static_cast<float>(y);
}
template <int E, int M> inline minifloat<E, M> operator-(minifloat<E, M> x, minifloat<E, M> y) {
  return static_cast<float>(x) - static_cast<float>(y);
}
template <int E, int M> inline minifloat<E, M> operator*(minifloat<E, M> x, minifloat<E, M> y) {
  return static_cast<float>(x) * static_cast<float>(y);
}
template <int E, int M> inline minifloat<E, M> operator/(minifloat<E, M> x, minifloat<E, M> y) {
  return static_cast<float>(x) / static_cast<float>(y);
}
template <int E, int M> inline minifloat<E, M> operator-(minifloat<E, M> x) {
  return minifloat<E, M>::from_bits(static_cast<uint16_t>(x.bits() ^ 0x8000u));
}

} // namespace tide_hls

#endif
