/* ap_int.h - ap_int<W>, ap_uint<W> and their operators, with the documented result widths. */
#ifndef TIDE_AP_INT_H
#define TIDE_AP_INT_H

#include "tide_integer.h"

namespace tide_hls {

/* The integer that an operand counts as, and the conversion to it; undefined for what is no integer
 * operand. */
template <class T, class = void> struct operand;

template <int W, bool S> struct operand<integer<W, S>> {
  using type = integer<W, S>;
  static constexpr bool arbitrary = true;
};
template <int W, bool S> struct operand<slice<W, S>> {
  using type = integer<W, false>;
  static constexpr bool arbitrary = true;
};
template <int W, bool S> struct operand<bit<W, S>> {
  using type = integer<1, false>;
  static constexpr bool arbitrary = true;
};
template <class T> struct operand<T, std::enable_if_t<std::is_integral_v<T>>> {
  using type =
      integer<std::is_same_v<T, bool> ? 1 : 8 * static_cast<int>(sizeof(T)), std::is_signed_v<T>>;
  static constexpr bool arbitrary = false;
};
template <class T> using operand_t = typename operand<T>::type;

constexpr int wider(int a, int b) {
  return a > b ? a : b;
}

/* The result types of an operator between A and B; empty unless both are operands and one is of
 * ours. */
template <class A, class B, class = void> struct results {};
template <class A, class B>
struct results<A, B, std::enable_if_t<(operand<A>::arbitrary || operand<B>::arbitrary)>> {
  using a = operand_t<A>;
  using b = operand_t<B>;
  static constexpr bool any_signed = a::is_signed || b::is_signed;
  static constexpr int join =
      wider(a::width + (b::is_signed && !a::is_signed), b::width + (a::is_signed && !b::is_signed));
  static constexpr int rest = b::width + (a::is_signed && !b::is_signed);
  using sum = integer<join + 1, any_signed>;
  using difference = integer<join + 1, true>;
  using product = integer<a::width + b::width, any_signed>;
  using quotient = integer<a::width + b::is_signed, any_signed>;
  using remainder = integer<(a::width < rest ? a::width : rest), a::is_signed>;
  using logic = integer<join, any_signed>;
  using left = a;
  using flag = bool;
};

/* The lowest N words of an integer, extended. */
template <int N> struct extended {
  word w[N];
  template <class A> explicit extended(const A &a) {
    for (int i = 0; i < N; ++i) w[i] = a.at(i);
  }
};

/* a op b in the result type R, for an Op that commutes with truncation. */
template <class R, class Op, class A, class B> inline R combine(const A &a, const B &b) {
  R r;
  if constexpr (R::words == 1)
    r.w[0] = Op::one(a.at(0), b.at(0));
  else
    Op::many(r.w, extended<R::words>(a).w, extended<R::words>(b).w, R::words);
  r.trim();
  return r;
}

/* -1, 0 or 1 as a is below, equal to or above b in value, whatever their signs. */
template <class A, class B> inline int compare(const A &a, const B &b) {
  constexpr int n = tide_wide::words_for(wider(A::width + !A::is_signed, B::width + !B::is_signed));
  if constexpr (n == 1)
    return a.to_int64() < b.to_int64() ? -1 : a.to_int64() > b.to_int64();
  else
    return tide_wide::compare(extended<n>(a).w, extended<n>(b).w, n);
}

/* Quotient and remainder of the magnitudes; both are 0 when b is 0. */
template <class A, class B> struct division {
  integer<A::width, false> quotient, remainder;
  division(const A &a, const B &b) {
    constexpr int n = wider(A::words, B::words);
    if (!b.nonzero()) return;
    if constexpr (n == 1) {
      quotient = a.magnitude().w[0] / b.magnitude().w[0];
      remainder = a.magnitude().w[0] % b.magnitude().w[0];
    } else {
      word q[n], r[n];
      tide_wide::divide(q, r, extended<n>(a.magnitude()).w, extended<n>(b.magnitude()).w, n);
      quotient = quotient.of_words(q);
      remainder = remainder.of_words(r);
    }
  }
};

/* x in the type R, negated if so asked. */
template <class R, class X> inline R signed_as(const X &x, bool negate) {
  return negate ? R(-x) : R(x);
}

template <class R, class A, class B> inline R quotient(const A &a, const B &b) {
  return signed_as<R>(division<A, B>(a, b).quotient, a.negative() != b.negative());
}
template <class R, class A, class B> inline R remainder(const A &a, const B &b) {
  return signed_as<R>(division<A, B>(a, b).remainder, a.negative());
}

/* A shift count as an int; counts beyond any width come out as 2^20 of the same sign. */
template <class N> inline int shift_count(const N &n) {
  constexpr int limit = 1 << 20;
  if constexpr (N::width <= 20)
    return n.to_int();
  else if (compare(n, integer<32, true>(limit)) > 0)
    return limit;
  else
    return compare(n, integer<32, true>(-limit)) < 0 ? -limit : n.to_int();
}

/* a * 2^by in a's own width; a negative count shifts the other way. */
template <class A> inline A shifted(const A &a, int by) {
  return by < 0 ? a.shifted_right(-by) : a.shifted_left(by);
}

#define TIDE_BINARY(op, kind, expression)                                                          \
  template <class A, class B>                                                                      \
  inline typename results<A, B>::kind operator op(const A &left, const B &right) {                 \
    using R = typename results<A, B>::kind;                                                        \
    const operand_t<A> a(left);                                                                    \
    const operand_t<B> b(right);                                                                   \
    return expression;                                                                             \
  }
TIDE_BINARY(+, sum, (combine<R, tide_wide::add>(a, b)))
TIDE_BINARY(-, difference, (combine<R, tide_wide::sub>(a, b)))
TIDE_BINARY(*, product, (combine<R, tide_wide::mul>(a, b)))
TIDE_BINARY(&, logic, (combine<R, tide_wide::bit_and>(a, b)))
TIDE_BINARY(|, logic, (combine<R, tide_wide::bit_or>(a, b)))
TIDE_BINARY(^, logic, (combine<R, tide_wide::bit_xor>(a, b)))
TIDE_BINARY(/, quotient, quotient<R>(a, b))
TIDE_BINARY(%, remainder, remainder<R>(a, b))
TIDE_BINARY(<<, left, R(shifted(a, shift_count(b))))
TIDE_BINARY(>>, left, R(shifted(a, -shift_count(b))))
TIDE_BINARY(==, flag, R{compare(a, b) == 0})
TIDE_BINARY(!=, flag, R{compare(a, b) != 0})
TIDE_BINARY(<, flag, R{compare(a, b) < 0})
TIDE_BINARY(<=, flag, R{compare(a, b) <= 0})
TIDE_BINARY(>, flag, R{compare(a, b) > 0})
TIDE_BINARY(>=, flag, R{compare(a, b) >= 0})
#undef TIDE_BINARY

/* -x: as wide as a signed x, one bit wider than an unsigned one; always signed. */
template <int W, bool S> inline integer<W + !S, true> operator-(const integer<W, S> &x) {
  return combine<integer<W + !S, true>, tide_wide::sub>(integer<1, false>(), x);
}
template <int W, bool S> inline integer<W, S> operator~(const integer<W, S> &x) {
  return combine<integer<W, S>, tide_wide::bit_xor>(integer<1, true>(-1), x);
}
template <int W, bool S> inline integer<W, S> operator+(const integer<W, S> &x) {
  return x;
}

} // namespace tide_hls

template <int W> using ap_int = tide_hls::integer<W, true>;
template <int W> using ap_uint = tide_hls::integer<W, false>;

#endif
