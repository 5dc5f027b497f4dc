/* ap_fixed.h - ap_fixed, ap_ufixed: fixed point, exact operators, quantised assignment. */
#ifndef TIDE_AP_FIXED_H
#define TIDE_AP_FIXED_H

#include "ap_int.h"

/* What happens to bits below the last one: toward plus infinity or even at a tie; down (default),
 * toward zero. */
enum ap_q_mode { AP_RND, AP_RND_CONV, AP_TRN, AP_TRN_ZERO };
/* What happens to values beyond the range: clamped, or taken modulo 2^W (default). */
enum ap_o_mode { AP_SAT, AP_WRAP };

namespace tide_hls {

/* x / 2^d as a whole number, rounded as Q says; d >= 0. */
template <ap_q_mode Q, int W, bool S>
inline integer<W + 1, S> quantised(const integer<W, S> &x, int d) {
  const integer<W + 1, S> down = x.shifted_right(d);
  bool up = false;
  if constexpr (Q == AP_TRN_ZERO) up = x.negative() && x.any_below(d);
  if constexpr (Q == AP_RND) up = d > 0 && x.test(d - 1);
  if constexpr (Q == AP_RND_CONV)
    up = d > 0 && x.test(d - 1) && (x.any_below(d - 1) || down.test(0));
  return up ? integer<W + 1, S>(down + 1) : down;
}

/* x in the integer type R, as O says where it does not fit. */
template <ap_o_mode O, class R, class X> inline R fitted(const X &x) {
  if constexpr (O == AP_SAT) {
    if (compare(x, R::highest()) > 0) return R::highest();
    if (compare(x, R::lowest()) < 0) return R::lowest();
  }
  return R(x);
}

/* The value raw * 2^(I - W), for a raw word of W bits; I may be negative or exceed W. */
template <int W, int I, bool S, ap_q_mode Q = AP_TRN, ap_o_mode O = AP_WRAP> class fixed {
public:
  static constexpr int width = W;
  static constexpr int iwidth = I;
  static constexpr int fraction = W - I;
  static constexpr bool is_signed = S;
  using word_type = integer<W, S>;

  constexpr fixed() = default;

  /* From another format, any integer, or a float (NaN is 0, infinities are beyond any range). */
  template <int W2, int I2, bool S2, ap_q_mode Q2, ap_o_mode O2>
  fixed(const fixed<W2, I2, S2, Q2, O2> &x) {
    constexpr int d = fixed<W2, I2, S2>::fraction - fraction;
    if constexpr (d > 0)
      raw = fitted<O, word_type>(quantised<Q>(x.raw, d));
    else
      raw = fitted<O, word_type>(integer<W2 - d, S2>(x.raw).shifted_left(-d));
  }
  template <class T, class N = operand_t<T>>
  fixed(const T &x) : fixed(fixed<N::width, N::width, N::is_signed>::of_raw(N(x))) {}
  fixed(double x) { take(tide_wide::decode(x)); }
  fixed(float x) : fixed(static_cast<double>(x)) {}

  static fixed of_raw(const word_type &v) {
    fixed r;
    r.raw = v;
    return r;
  }

  double to_double() const { return raw.template scaled_by<double>(-fraction); }
  float to_float() const { return raw.template scaled_by<float>(-fraction); }
  int to_int() const { return integer<32, true>(*this).to_int(); }
  int64_t to_int64() const { return integer<64, true>(*this).to_int64(); }
  uint64_t to_uint64() const { return integer<64, false>(*this).to_uint64(); }

  /* To an integer type: toward zero, then modulo 2^W2. */
  template <int W2, bool S2> operator integer<W2, S2>() const {
    return fixed<W2, W2, S2, AP_TRN_ZERO, AP_WRAP>(*this).raw;
  }
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  explicit operator T() const {
    if constexpr (std::is_same_v<T, bool>)
      return raw.nonzero();
    else if constexpr (std::is_floating_point_v<T>)
      return raw.template scaled_by<T>(-fraction);
    else
      return static_cast<T>(operand_t<T>(*this));
  }

  /* Bits of the raw word, readable and assignable. */
  slice<W, S> range(int hi, int lo) { return raw.range(hi, lo); }
  slice<W, S> range() { return raw.range(); }
  slice<W, S> operator()(int hi, int lo) { return raw.range(hi, lo); }
  bit<W, S> operator[](int i) { return raw[i]; }
  integer<W, false> range(int hi, int lo) const { return raw.part(hi, lo); }
  integer<W, false> range() const { return raw.bits(); }
  integer<W, false> operator()(int hi, int lo) const { return raw.part(hi, lo); }
  bool operator[](int i) const { return raw[i]; }
  int length() const { return W; }

  integer<W, false> bits() const { return raw.bits(); }
  static fixed from_bits(const integer<W, false> &v) { return of_raw(v); }

  template <class T> fixed &operator+=(const T &v) { return *this = *this + v; }
  template <class T> fixed &operator-=(const T &v) { return *this = *this - v; }
  template <class T> fixed &operator*=(const T &v) { return *this = *this * v; }
  template <class T> fixed &operator<<=(const T &v) { return *this = *this << v; }
  template <class T> fixed &operator>>=(const T &v) { return *this = *this >> v; }

  word_type raw;

private:
  /* Becomes x: what lies below the last bit is quantised, what lies W bits above it only counts as
   * overflow. */
  void take(const tide_wide::scaled &x) {
    const integer<54, true> sig =
        x.negative ? -integer<53, false>(x.sig) : integer<54, true>(x.sig);
    const int up = x.exp + fraction;
    if (up < 0)
      raw = fitted<O, word_type>(quantised<Q>(sig, -up));
    else
      raw = fitted<O, word_type>(integer<W + 54, true>(sig).shifted_left(up < W ? up : W));
  }
};

/* The fixed-point format that an operand counts as; integers have no fraction. */
template <class T, class = void> struct fixed_operand;
template <int W, int I, bool S, ap_q_mode Q, ap_o_mode O>
struct fixed_operand<fixed<W, I, S, Q, O>> {
  using type = fixed<W, I, S>;
  static constexpr bool is_fixed = true;
};
template <class T> struct fixed_operand<T, std::enable_if_t<(operand_t<T>::width > 0)>> {
  using type = fixed<operand_t<T>::width, operand_t<T>::width, operand_t<T>::is_signed>;
  static constexpr bool is_fixed = false;
};

/* How A and B meet: raw words with the longer fraction, and the format of an integer result; empty
 * unless both are operands and one is fixed. */
template <class A, class B, class = void> struct meeting {};
template <class A, class B>
struct meeting<A, B, std::enable_if_t<(fixed_operand<A>::is_fixed || fixed_operand<B>::is_fixed)>> {
  using a = typename fixed_operand<A>::type;
  using b = typename fixed_operand<B>::type;
  static constexpr int fraction = wider(a::fraction, b::fraction);
  using wide_a = fixed<a::iwidth + fraction, a::iwidth, a::is_signed>;
  using wide_b = fixed<b::iwidth + fraction, b::iwidth, b::is_signed>;
  using flag = bool;
  template <class R, int F> using format = fixed<R::width, R::width - F, R::is_signed>;
  using aligned = results<typename wide_a::word_type, typename wide_b::word_type>;
  using sum = format<typename aligned::sum, fraction>;
  using difference = format<typename aligned::difference, fraction>;
  using product = format<typename results<typename a::word_type, typename b::word_type>::product,
                         a::fraction + b::fraction>;
};

#define TIDE_FIXED(op, kind, format, expression)                                                   \
  template <class A, class B>                                                                      \
  inline typename meeting<A, B>::kind operator op(const A &left, const B &right) {                 \
    using M = meeting<A, B>;                                                                       \
    const auto a = typename M::format##a(left).raw;                                                \
    const auto b = typename M::format##b(right).raw;                                               \
    return expression;                                                                             \
  }
TIDE_FIXED(+, sum, wide_, M::sum::of_raw(a + b))
TIDE_FIXED(-, difference, wide_, M::difference::of_raw(a - b))
TIDE_FIXED(*, product, , (M::product::of_raw(a * b)))
TIDE_FIXED(==, flag, wide_, compare(a, b) == 0)
TIDE_FIXED(!=, flag, wide_, compare(a, b) != 0)
TIDE_FIXED(<, flag, wide_, compare(a, b) < 0)
TIDE_FIXED(<=, flag, wide_, compare(a, b) <= 0)
TIDE_FIXED(>, flag, wide_, compare(a, b) > 0)
TIDE_FIXED(>=, flag, wide_, compare(a, b) >= 0)
#undef TIDE_FIXED

/* -x: in the format of a signed x, one integer bit more than an unsigned one; always signed. */
template <int W, int I, bool S, ap_q_mode Q, ap_o_mode O>
inline fixed<W + !S, I + !S, true> operator-(const fixed<W, I, S, Q, O> &x) {
  return fixed<W + !S, I + !S, true>::of_raw(-x.raw);
}
template <int W, int I, bool S, ap_q_mode Q, ap_o_mode O>
inline fixed<W, I, S> operator+(const fixed<W, I, S, Q, O> &x) {
  return fixed<W, I, S>::of_raw(x.raw);
}

/* The raw word shifted in its own format. */
template <int W, int I, bool S, ap_q_mode Q, ap_o_mode O, class N, class = operand_t<N>>
inline fixed<W, I, S> operator<<(const fixed<W, I, S, Q, O> &x, const N &n) {
  return fixed<W, I, S>::of_raw(x.raw << n);
}
template <int W, int I, bool S, ap_q_mode Q, ap_o_mode O, class N, class = operand_t<N>>
inline fixed<W, I, S> operator>>(const fixed<W, I, S, Q, O> &x, const N &n) {
  return fixed<W, I, S>::of_raw(x.raw >> n);
}

} // namespace tide_hls

template <int W, int I, ap_q_mode Q = AP_TRN, ap_o_mode O = AP_WRAP>
using ap_fixed = tide_hls::fixed<W, I, true, Q, O>;
template <int W, int I, ap_q_mode Q = AP_TRN, ap_o_mode O = AP_WRAP>
using ap_ufixed = tide_hls::fixed<W, I, false, Q, O>;

#endif
