/* tide_bits.h - the bits of any scalar as a number, and back. */
#ifndef TIDE_BITS_H
#define TIDE_BITS_H

#include "ap_int.h"
#include <string.h>

namespace tide_hls {

/* The built-in word as wide as T. */
template <class T> using word_of = builtin<8 * static_cast<int>(sizeof(T)), false>;

/* The bits of x, lowest first, as an unsigned integer of the width of its type. */
template <class T, class = std::enable_if_t<!std::is_arithmetic_v<T>>>
inline auto bits_of(const T &x) {
  using N = operand_t<decltype(x.bits())>;
  return N(x.bits());
}
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>, class U = word_of<T>>
inline operand_t<U> bits_of(T x) {
  U bits;
  memcpy(&bits, &x, sizeof x);
  return bits;
}

/* The value of type T that has the lowest bits of v. */
template <class T, class V> inline T from_bits(const V &v) {
  if constexpr (std::is_same_v<T, bool>) {
    return (v & 1) != 0;
  } else if constexpr (std::is_arithmetic_v<T>) {
    const word_of<T> bits = operand_t<word_of<T>>(v);
    T x;
    memcpy(&x, &bits, sizeof x);
    return x;
  } else {
    return T::from_bits(decltype(T().bits())(v));
  }
}

} // namespace tide_hls

#endif
