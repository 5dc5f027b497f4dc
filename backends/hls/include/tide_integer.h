/* tide_integer.h - an integer of W bits: storage, conversions, bits; operators are in ap_int.h. */
#ifndef TIDE_INTEGER_H
#define TIDE_INTEGER_H

#include "tide_wide.h"
#include <stdio.h>
#include <stdlib.h>
#include <type_traits>

namespace tide_hls {

using tide_wide::word;
template <int W, bool S> class integer;

/* The narrowest built-in integer of at least W bits (64 for wider ones). */
template <int W, bool S>
using builtin = std::conditional_t<
    W <= 8, std::conditional_t<S, int8_t, uint8_t>,
    std::conditional_t<W <= 16, std::conditional_t<S, int16_t, uint16_t>,
                       std::conditional_t<W <= 32, std::conditional_t<S, int32_t, uint32_t>,
                                          std::conditional_t<S, int64_t, uint64_t>>>>;

/* Ends the run unless [lo, hi] are bits of a word of `width` bits. */
inline void check_range(int hi, int lo, int width) {
  if (0 <= lo && lo <= hi && hi < width) return;
  fflush(stdout);
  fprintf(stderr, "bits %d to %d of a word of %d bits\n", hi, lo, width);
  exit(3);
}

/* One bit of an integer that the caller keeps alive: reads as bool, can be assigned. */
template <int W, bool S> class bit {
public:
  bit(integer<W, S> &owner, int position) : of(&owner), at(position) {}
  bit(const bit &) = default;
  operator bool() const { return of->test(at); }
  bit &operator=(bool v) {
    of->insert(at, at, v);
    return *this;
  }
  bit &operator=(const bit &v) { return *this = static_cast<bool>(v); }
  template <class T> bit &operator=(const T &v) { return *this = static_cast<bool>(v); }

private:
  integer<W, S> *of;
  int at;
};

/* Bits hi..lo of an integer that the caller keeps alive: reads as an unsigned number, can be
 * assigned. */
template <int W, bool S> class slice {
public:
  slice(integer<W, S> &owner, int high, int low) : of(&owner), hi(high), lo(low) {}
  slice(const slice &) = default;
  integer<W, false> get() const { return of->part(hi, lo); }
  operator uint64_t() const { return get().to_uint64(); }
  int to_int() const { return get().to_int(); }
  uint64_t to_uint64() const { return get().to_uint64(); }
  int length() const { return hi - lo + 1; }
  slice &operator=(const slice &v) { return *this = v.get(); }
  template <class T> slice &operator=(const T &v) {
    of->insert(hi, lo, integer<W, false>(v));
    return *this;
  }

private:
  integer<W, S> *of;
  int hi, lo;
};

/* Digits of an integer as text. */
template <int W> class text {
public:
  text(integer<W, false> magnitude, bool negative, int base) : start(sizeof buffer - 1) {
    buffer[start] = '\0';
    char *first = tide_wide::digits(buffer + start, magnitude.w, magnitude.words, base);
    if (negative) *--first = '-';
    start = static_cast<int>(first - buffer);
  }
  const char *c_str() const { return buffer + start; }
  operator const char *() const { return c_str(); }

private:
  char buffer[W + 2];
  int start;
};

/* W bits, signed if S, in the fewest 64-bit words; the top word is kept extended by sign or zeros,
 * so that an integer of at most 64 bits is one machine word that holds its value. Programs keep to
 * W <= 1024; results of operators may be wider. */
template <int W, bool S> class integer {
  static_assert(W >= 1, "an integer has at least one bit");

public:
  static constexpr int width = W;
  static constexpr bool is_signed = S;
  static constexpr int words = tide_wide::words_for(W);
  using native = builtin<W, S>;

  constexpr integer() : w{} {}

  /* From any built-in number: integers modulo 2^W, floats toward zero first (NaN and infinities are
   * 0). */
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  constexpr integer(T v) : w{} {
    if constexpr (std::is_floating_point_v<T>) {
      take(tide_wide::decode(static_cast<double>(v)));
    } else {
      w[0] = static_cast<word>(v);
      for (int i = 1; i < words; ++i) w[i] = v < T{0} ? ~word{0} : 0;
      trim();
    }
  }

  /* From another integer, modulo 2^W. */
  template <int W2, bool S2> constexpr integer(const integer<W2, S2> &x) : w{} {
    for (int i = 0; i < words; ++i) w[i] = x.at(i);
    trim();
  }
  template <int W2, bool S2> integer(const slice<W2, S2> &x) : integer(x.get()) {}
  template <int W2, bool S2> integer(const bit<W2, S2> &x) : integer(static_cast<bool>(x)) {}

  /* From digits in `base` (2..36) with an optional '-', modulo 2^W. */
  explicit integer(const char *digits, int base = 10) : w{} {
    const bool minus = *digits == '-';
    integer<W, false> sum;
    for (const char *p = digits + minus; *p != '\0'; ++p) {
      const int digit = *p <= '9' ? *p - '0' : (*p | 0x20) - 'a' + 10;
      sum = sum * integer<7, true>(base) + integer<7, true>(digit);
    }
    *this = minus ? integer(-sum) : integer(sum);
  }

  /* From the `words` lowest words of a number. */
  static constexpr integer of_words(const word *v) {
    integer r;
    for (int i = 0; i < words; ++i) r.w[i] = v[i];
    r.trim();
    return r;
  }

  static integer lowest() { return S ? integer(1).shifted_left(W - 1) : integer(); }
  static integer highest() { return ~lowest(); }

  /* Word i of the number extended without end. */
  constexpr word at(int i) const { return i < words ? w[i] : negative() ? ~word{0} : 0; }
  constexpr bool negative() const { return S && w[words - 1] >> 63 != 0; }
  constexpr bool nonzero() const {
    for (int i = 0; i < words; ++i)
      if (w[i] != 0) return true;
    return false;
  }
  /* |x|, which always fits. */
  integer<W, false> magnitude() const {
    return negative() ? integer<W, false>(-*this) : integer<W, false>(*this);
  }

  constexpr operator native() const { return static_cast<native>(w[0]); }
  constexpr explicit operator bool() const { return nonzero(); }
  explicit operator double() const { return to_double(); }
  explicit operator float() const { return to_float(); }
  bool to_bool() const { return nonzero(); }
  int to_int() const { return static_cast<int>(w[0]); }
  unsigned to_uint() const { return static_cast<unsigned>(w[0]); }
  long to_long() const { return static_cast<long>(w[0]); }
  unsigned long to_ulong() const { return static_cast<unsigned long>(w[0]); }
  int64_t to_int64() const { return static_cast<int64_t>(w[0]); }
  uint64_t to_uint64() const { return w[0]; }
  double to_double() const { return scaled_by<double>(0); }
  float to_float() const { return scaled_by<float>(0); }
  text<W> to_string(int base = 10) const { return text<W>(magnitude(), negative(), base); }

  /* x * 2^exp to the nearest, ties to even. */
  template <class F> F scaled_by(int exp) const {
    const tide_wide::scaled m = tide_wide::leading(magnitude().w, words);
    const double r = __builtin_ldexp(static_cast<double>(static_cast<F>(m.sig)), m.exp + exp);
    return static_cast<F>(negative() ? -r : r);
  }

  /* Bits, readable and assignable; bits beyond the word read as its extension in test and
   * any_below. */
  bool test(int i) const { return at(i / 64) >> (i % 64) & 1; }
  bool any_below(int n) const { return n >= W ? nonzero() : tide_wide::any_below(w, n); }
  bit<W, S> operator[](int i) { return check_range(i, i, W), bit<W, S>(*this, i); }
  bool operator[](int i) const { return check_range(i, i, W), test(i); }
  slice<W, S> range(int hi, int lo) { return check_range(hi, lo, W), slice<W, S>(*this, hi, lo); }
  slice<W, S> range() { return range(W - 1, 0); }
  slice<W, S> operator()(int hi, int lo) { return range(hi, lo); }
  integer<W, false> range(int hi, int lo) const { return part(hi, lo); }
  integer<W, false> range() const { return *this; }
  integer<W, false> operator()(int hi, int lo) const { return part(hi, lo); }
  int length() const { return W; }

  /* Bits hi..lo as a number. */
  integer<W, false> part(int hi, int lo) const {
    check_range(hi, lo, W);
    return integer<W, false>(*this).shifted_left(W - 1 - hi).shifted_right(W - 1 - hi + lo);
  }

  /* Replaces bits hi..lo by the lowest bits of v. */
  void insert(int hi, int lo, const integer<W, false> &v) {
    check_range(hi, lo, W);
    tide_wide::insert(w, v.w, lo, hi - lo + 1, words);
    trim();
  }

  /* The W bits as an unsigned number, and the number with these bits. */
  integer<W, false> bits() const { return *this; }
  static integer from_bits(const integer<W, false> &v) { return v; }

  /* x << by in W bits, x >> by with zeros or the sign; by >= 0. */
  constexpr integer shifted_left(int by) const {
    integer r;
    if constexpr (words == 1)
      r.w[0] = by < W ? w[0] << by : 0;
    else
      tide_wide::shift(r.w, w, by, 0, words);
    r.trim();
    return r;
  }
  constexpr integer shifted_right(int by) const {
    integer r;
    const int most = by < 63 ? by : 63;
    if constexpr (words == 1 && S)
      r.w[0] = static_cast<word>(static_cast<int64_t>(w[0]) >> most);
    else if constexpr (words == 1)
      r.w[0] = by < W ? w[0] >> most : 0;
    else
      tide_wide::shift(r.w, w, -by, at(words), words);
    return r;
  }

  template <class T> integer &operator+=(const T &v) { return *this = *this + v; }
  template <class T> integer &operator-=(const T &v) { return *this = *this - v; }
  template <class T> integer &operator*=(const T &v) { return *this = *this * v; }
  template <class T> integer &operator/=(const T &v) { return *this = *this / v; }
  template <class T> integer &operator%=(const T &v) { return *this = *this % v; }
  template <class T> integer &operator&=(const T &v) { return *this = *this & v; }
  template <class T> integer &operator|=(const T &v) { return *this = *this | v; }
  template <class T> integer &operator^=(const T &v) { return *this = *this ^ v; }
  template <class T> integer &operator<<=(const T &v) { return *this = *this << v; }
  template <class T> integer &operator>>=(const T &v) { return *this = *this >> v; }
  integer &operator++() { return *this += 1; }
  integer &operator--() { return *this -= 1; }
  integer operator++(int) {
    const integer old = *this;
    return ++*this, old;
  }
  integer operator--(int) {
    const integer old = *this;
    return --*this, old;
  }

  word w[words];

  /* Extends the top word from bit W - 1 again after its upper bits became anything. */
  constexpr void trim() {
    if constexpr (W % 64 != 0) {
      constexpr int pad = 64 - W % 64;
      const word up = w[words - 1] << pad;
      if constexpr (S)
        w[words - 1] = static_cast<word>(static_cast<int64_t>(up) >> pad);
      else
        w[words - 1] = up >> pad;
    }
  }

private:
  /* Becomes the integer part of x modulo 2^W. */
  void take(const tide_wide::scaled &x) {
    const int cut = x.exp < 0 ? (x.exp > -63 ? -x.exp : 63) : 0;
    const integer<W, false> whole = integer<W, false>(x.sig >> cut) << (x.exp < 0 ? 0 : x.exp);
    *this = x.negative ? integer(-whole) : integer(whole);
  }
};

} // namespace tide_hls

#endif
