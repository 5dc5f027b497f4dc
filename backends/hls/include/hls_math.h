/* hls_math.h - the C library's mathematics under hls::, for float, double and 16-bit floats. */
#ifndef TIDE_HLS_MATH_H
#define TIDE_HLS_MATH_H

#include "hls_half.h"
#include <cmath>

namespace hls {

/* A 16-bit float is computed in float and rounded. */
#define TIDE_MATH(name, function)                                                                  \
  inline float name(float x) {                                                                     \
    return std::function(x);                                                                       \
  }                                                                                                \
  inline double name(double x) {                                                                   \
    return std::function(x);                                                                       \
  }                                                                                                \
  template <int E, int M> inline tide_hls::minifloat<E, M> name(tide_hls::minifloat<E, M> x) {     \
    return std::function(static_cast<float>(x));                                                   \
  }
TIDE_MATH(sqrt, sqrt)
TIDE_MATH(exp, exp)
TIDE_MATH(log, log)
TIDE_MATH(sin, sin)
TIDE_MATH(cos, cos)
TIDE_MATH(tanh, tanh)
TIDE_MATH(floor, floor)
TIDE_MATH(ceil, ceil)
TIDE_MATH(abs, fabs)
#undef TIDE_MATH

/* The remainder of x / y that has the sign of x. */
inline float fmod(float x, float y) {
  return std::fmod(x, y);
}
inline double fmod(double x, double y) {
  return std::fmod(x, y);
}

/* p + z with an odd last bit where it is inexact, so that rounding it to fewer bits rounds the
 * exact sum. */
inline double sum_to_odd(double p, double z) {
  const double sum = p + z, back = sum - p, lost = (p - (sum - back)) + (z - back);
  uint64_t bits;
  memcpy(&bits, &sum, sizeof bits);
  if ((lost < 0 || lost > 0) && bits % 2 == 0) bits = (lost > 0) == (sum > 0) ? bits + 1 : bits - 1;
  double odd;
  memcpy(&odd, &bits, sizeof odd);
  return odd;
}

/* x * y + z, rounded once; the product of 16-bit floats is exact in double. */
inline float fma(float x, float y, float z) {
  return std::fma(x, y, z);
}
inline double fma(double x, double y, double z) {
  return std::fma(x, y, z);
}
template <int E, int M>
inline tide_hls::minifloat<E, M> fma(tide_hls::minifloat<E, M> x, tide_hls::minifloat<E, M> y,
                                     tide_hls::minifloat<E, M> z) {
  return sum_to_odd(static_cast<double>(x) * static_cast<double>(y), static_cast<double>(z));
}

} // namespace hls

#endif
