/* headers_test.cpp - the number types of the HLS headers against the test's own arithmetic; prints
 * TAP. g++ -std=c++17 -O1 -Ibackends/hls/include tests/backend/hls/headers_test.cpp && ./a.out */
#include "big.h"
#include "ap_fixed.h"
#include "hls_half.h"
#include "hls_math.h"
#include "hls_vector.h"
#include "tide_bf16.h"
#include "tide_bits.h"

#include <cmath>
#include <utility>

using tide_hls::fixed;

/* ---- ap_int ---- */

static constexpr int widths[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 128, 1000};
static constexpr int n_widths = 17;

/* The documented widths: `more` extra bits beside the wider operand, one again if the wider is
 * unsigned and the other signed. */
static int joined(int w1, bool s1, int w2, bool s2, int more) {
  if (s1 == s2) return std::max(w1, w2) + more;
  const int u = s1 ? w2 : w1, s = s1 ? w1 : w2;
  return (u >= s ? u + 1 : s) + more;
}

/* What an operator gives: the type and the value. */
struct Result {
  const char *op;
  int w;
  bool s;
  Big v;
};
template <class R> static Result result(const char *op, const R &x) {
  return {op, R::width, R::is_signed, big(x)};
}

static void compare(const Result &got, const Result &want) {
  check(got.w == want.w && got.s == want.s, "%s: %d bits, not %d", want.op, got.w, want.w);
  check(got.v == want.v, "%s in %d bits: %s, not %s", want.op, want.w, hex(got.v).c_str(),
        hex(want.v).c_str());
}
template <class R>
static void expect(const char *op, const R &got, const Big &want, int w, bool s) {
  compare(result(op, got), {op, w, s, want});
}

/* q and r divide a by b: a = q b + r, r below b in magnitude and of the sign of a; 0 if b is. */
static void expect_division(const Result &q, const Result &r, const Result &a, const Result &b) {
  check(q.w == a.w + b.s && q.s == (a.s || b.s), "/: %d by %d bits in %d", a.w, b.w, q.w);
  check(r.w == std::min(a.w, b.w + (a.s && !b.s)) && r.s == a.s, "%%: %d by %d bits in %d", a.w,
        b.w, r.w);
  if (b.v.zero()) return check(q.v.zero() && r.v.zero(), "division by 0");
  const bool small = order_magnitude(r.v, b.v) < 0 && (r.v.zero() || r.v.neg == a.v.neg);
  check(small && q.v * b.v + r.v == a.v, "%s divided by %s", hex(a.v).c_str(), hex(b.v).c_str());
}

/* The six comparisons, each a bit from == up to >=, and what they must be for an order. */
template <class A, class B> static int comparisons(const A &x, const B &y) {
  return (x == y) | (x != y) << 1 | (x < y) << 2 | (x <= y) << 3 | (x > y) << 4 | (x >= y) << 5;
}
static void expect_order(int got, int order) {
  const int want = comparisons(order, 0);
  check(got == want, "comparisons %02x, not %02x", static_cast<unsigned>(got),
        static_cast<unsigned>(want));
}

/* The operators of two whose results follow from a formula, on x and y. */
template <class A, class B> static std::vector<Result> computed(const A &x, const B &y) {
  A z = x;
  z += y;
  z -= 1;
  return {result("+", x + y), result("-", x - y), result("*", x * y),   result("&", x & y),
          result("|", x | y), result("^", x ^ y), result("<<", x << y), result(">>", x >> y),
          result("=", A(y)),  result("+=", z)};
}

/* The same by the test's own arithmetic; the bits of a & b are counted, those of | and ^ follow. */
static std::vector<Result> wanted(const Result &a, const Result &b) {
  const bool s = a.s || b.s;
  const int logic = joined(a.w, a.s, b.w, b.s, 0), sum = joined(a.w, a.s, b.w, b.s, 1);
  const Big ua = wrap(a.v, logic, false), ub = wrap(b.v, logic, false);
  Big both;
  for (size_t i = 0; i < ua.m.size(); ++i) both.m.push_back(ua.digit(i) & ub.digit(i));
  both = tidy(both);
  const bool far = order_magnitude(b.v, 2000) > 0;
  const int by = (b.v.neg ? -1 : 1) * (far ? 2000 : static_cast<int>(b.v.digit(0)));
  return {{"+", sum, s, a.v + b.v},
          {"-", sum, true, a.v - b.v},
          {"*", a.w + b.w, s, a.v * b.v},
          {"&", logic, s, wrap(both, logic, s)},
          {"|", logic, s, wrap(ua + ub - both, logic, s)},
          {"^", logic, s, wrap(ua + ub - both - both, logic, s)},
          {"<<", a.w, a.s, wrap(scale(a.v, by), a.w, a.s)},
          {">>", a.w, a.s, wrap(scale(a.v, -by), a.w, a.s)},
          {"=", a.w, a.s, wrap(b.v, a.w, a.s)},
          {"+=", a.w, a.s, wrap(a.v + b.v - 1, a.w, a.s)}};
}

template <class A, class B> static void binary(const Big &a, const Big &b) {
  const A x = make<A>(a);
  const B y = make<B>(b);
  const Result ra{"a", A::width, A::is_signed, a}, rb{"b", B::width, B::is_signed, b};
  const std::vector<Result> got = computed(x, y), want = wanted(ra, rb);
  for (size_t i = 0; i < want.size(); ++i) compare(got[i], want[i]);
  expect_division(result("/", x / y), result("%", x % y), ra, rb);
  expect_order(comparisons(x, y), order(a, b));
}

template <class A, class B> static void binary_all() {
  for (const Big &a : values(A::width, A::is_signed))
    for (const Big &b : values(B::width, B::is_signed)) binary<A, B>(a, b);
}

template <int W1, int W2> static void binary_signs() {
  binary_all<ap_int<W1>, ap_int<W2>>();
  binary_all<ap_int<W1>, ap_uint<W2>>();
  binary_all<ap_uint<W1>, ap_int<W2>>();
  binary_all<ap_uint<W1>, ap_uint<W2>>();
}

/* Each width with itself and with two others, another two for each. */
template <size_t... K> static void binary_widths(std::index_sequence<K...>) {
  (binary_signs<widths[K], widths[K]>(), ...);
  (binary_signs<widths[K], widths[(5 * K + 3) % n_widths]>(), ...);
  (binary_signs<widths[K], widths[(7 * K + 11) % n_widths]>(), ...);
}
static void test_binary() {
  binary_widths(std::make_index_sequence<n_widths>());
}

/* The double that is nearest to a, by the C library's reading of hexadecimal digits. */
static double nearest_double(const Big &a) {
  return strtod(hex(a).c_str(), nullptr);
}

template <class A> static void unary(const Big &a) {
  const A x = make<A>(a);
  const int w = A::width;
  const bool s = A::is_signed;
  expect("-x", -x, wrap(-a, w + !s, true), w + !s, true);
  expect("~x", ~x, wrap(-a - 1, w, s), w, s);
  expect("+x", +x, a, w, s);
  for (int by : {0, 1, w - 1, w, w + 1, 63, 64, 5000, -3}) {
    expect("<< int", x << by, wrap(scale(a, by), w, s), w, s);
    expect(">> int", x >> by, wrap(scale(a, -by), w, s), w, s);
  }
  expect("+ int", x + -5, a - 5, joined(w, s, 32, true, 1), true);
  expect("int8 *", static_cast<signed char>(-128) * x, a * -128, w + 8, true);
  expect("- u64", x - ~0ull, a - power(64) + 1, joined(w, s, 64, false, 1), true);
  expect("& bool", x & true, Big(wrap(a, 1, false)), joined(w, s, 1, false, 0), s);
  expect_order(comparisons(x, ap_int<64>(INT64_MIN)), order(a, INT64_MIN));
  A up = x, down = x;
  expect("x++", up++, a, w, s);
  expect("--x", --down, wrap(a - 1, w, s), w, s);
  expect("after x++", up, wrap(a + 1, w, s), w, s);
  check(!x == a.zero() && x.to_bool() != a.zero() && (x ? true : false) != a.zero(), "truth");
  check(big(integer<64, true>(x.to_int64())) == wrap(a, 64, true), "to_int64");
  check(big(integer<64, false>(x.to_uint64())) == wrap(a, 64, false), "to_uint64");
  check(big(integer<32, true>(x.to_int())) == wrap(a, 32, true), "to_int");
  check(x.to_double() == nearest_double(a), "to_double of %s", hex(a).c_str());
  check(x.to_float() == strtof(hex(a).c_str(), nullptr), "to_float of %s", hex(a).c_str());
}

template <class A> static void text(const Big &a) {
  const A x = make<A>(a);
  for (int base : {2, 10, 16}) {
    const std::string s = x.to_string(base).c_str();
    Big r;
    for (char c : s)
      if (c != '-') r = r * base + (c <= '9' ? c - '0' : c - 'a' + 10);
    check((s[0] == '-' ? -r : r) == a && big(A(s.c_str(), base)) == a, "text %s", s.c_str());
  }
}

template <class A> static void bits(const Big &a) {
  const int w = A::width;
  const A x = make<A>(a);
  for (int i = 0; i < 24; ++i) {
    const int p = static_cast<int>(rnd() % static_cast<unsigned>(w)),
              q = static_cast<int>(rnd() % static_cast<unsigned>(w));
    const int hi = std::max(p, q), lo = std::min(p, q), n = hi - lo + 1;
    const Big part = wrap(floor_shift(a, lo), n, false), in = random_big(n);
    A y = x;
    check(big(x.range(hi, lo)) == part && big(y(hi, lo).get()) == part, "read of bits %d to %d", hi,
          lo);
    y.range(hi, lo) = make<integer<1000, true>>(in);
    check(big(y) == wrap(a + (wrap(in, n, false) - part) * power(lo), w, A::is_signed),
          "bits %d to %d", hi, lo);
    y = x;
    const bool bit = wrap(floor_shift(a, p), 1, false).odd();
    check(x[p] == bit && y[p] == bit, "bit %d", p);
    y[p] = !bit;
    check(big(y) == wrap(bit ? a - power(p) : a + power(p), w, A::is_signed), "set bit %d", p);
    y = x;
    y[p] = x[q];
    y(lo, lo) = y[hi];
    check(y[lo] == y[hi] && (y.range(lo, lo) ^ y[hi]) == 0, "copy of bit %d", hi);
  }
  check(tide_hls::from_bits<A>(tide_hls::bits_of(x)) == x &&
            big(tide_hls::bits_of(x)) == wrap(a, w, false),
        "bits_of");
}

/* d truncated, as a Big. */
static Big truncated(double d) {
  int e;
  const Big m = static_cast<long long>(std::ldexp(std::frexp(std::fabs(d), &e), 53));
  const Big r = scale(m, e - 53);
  return d < 0 ? -r : r;
}

template <class A> static void from_double() {
  for (int i = 0; i < 200; ++i) {
    const double d = std::ldexp(static_cast<double>(static_cast<int64_t>(rnd())),
                                static_cast<int>(rnd() % 1100) - 164);
    expect("from double", A(d), wrap(truncated(d), A::width, A::is_signed), A::width, A::is_signed);
    const float f = static_cast<float>(static_cast<int32_t>(rnd())) / 65536.0f;
    expect("from float", A(f), wrap(truncated(f), A::width, A::is_signed), A::width, A::is_signed);
  }
  for (double d : {double(NAN), double(INFINITY), -double(INFINITY), 0.0, -0.99, 5e-324})
    expect("from double", A(d), Big(0), A::width, A::is_signed);
}

template <class A> static void one_type() {
  for (const Big &a : values(A::width, A::is_signed)) {
    unary<A>(a);
    bits<A>(a);
    text<A>(a);
  }
  from_double<A>();
}
template <size_t... K> static void one_widths(std::index_sequence<K...>) {
  (one_type<ap_int<widths[K]>>(), ...);
  (one_type<ap_uint<widths[K]>>(), ...);
}
static void test_unary() {
  one_widths(std::make_index_sequence<n_widths>());
}

static void test_bit_casts() {
  check(tide_hls::bits_of(1.0f) == 0x3f800000 && tide_hls::bits_of(-2.0) == 0xc000000000000000,
        "float to bits");
  check(tide_hls::from_bits<float>(ap_uint<32>(0xc0490fdb)) < -3.14f, "bits to float");
  check(tide_hls::from_bits<double>(tide_hls::bits_of(0.1)) == 0.1, "double there and back");
  check(tide_hls::bits_of(half(1.0f)) == 0x3c00 &&
            tide_hls::from_bits<half>(ap_uint<16>(0xc000)) == -2.0f,
        "half");
  check(tide_hls::bits_of(ap_fixed<8, 4>(-0.5)) == 0xf8, "fixed to bits");
  check(tide_hls::from_bits<ap_fixed<8, 4>>(ap_uint<8>(0x7f)).to_double() == 7.9375,
        "bits to fixed");
  check(ap_int<8>(half(-3.75)) == -3 && ap_uint<4>(tide_bf16(300.0)) == 12, "half to integer");
  check(ap_fixed<8, 4>(half(-3.75)).to_double() == -3.75, "half to fixed");
  check(tide_hls::bits_of(static_cast<signed char>(-1)) == 255 &&
            tide_hls::from_bits<int>(ap_uint<32>(~0u)) == -1,
        "int");
}

/* ---- ap_fixed ---- */

/* a / 2^d (d of either sign) as the modes say, in w bits. */
static Big quantise(const Big &a, int d, ap_q_mode q, ap_o_mode o, int w, bool s) {
  Big r = scale(a, -d);
  if (d > 0) {
    const int tie = order(a - r * power(d), power(d - 1));
    const bool lost = !(r * power(d) == a);
    if (q == AP_TRN_ZERO && a.neg && lost) r = r + 1;
    if (q == AP_RND && tie >= 0) r = r + 1;
    if (q == AP_RND_CONV && (tie > 0 || (tie == 0 && r.odd()))) r = r + 1;
  }
  const Big top = power(w - s) - 1, low = s ? -power(w - 1) : Big(0);
  if (o == AP_WRAP) return wrap(r, w, s);
  return order(r, top) > 0 ? top : order(r, low) < 0 ? low : r;
}

template <class A, class B> static void assign(const Big &a, ap_q_mode q, ap_o_mode o) {
  const A x = A::of_raw(make<typename A::word_type>(a));
  const Big got = big(B(x).raw),
            want = quantise(a, A::fraction - B::fraction, q, o, B::width, B::is_signed);
  check(got == want, "fixed<%d,%d> %s to <%d,%d> mode %d/%d: %s, not %s", A::width, A::iwidth,
        hex(a).c_str(), B::width, B::iwidth, q, o, hex(got).c_str(), hex(want).c_str());
  const double d = std::ldexp(static_cast<double>(static_cast<int64_t>(rnd()) >> rnd() % 60),
                              -static_cast<int>(rnd() % 70));
  int e;
  const Big m = static_cast<long long>(std::ldexp(std::frexp(d, &e), 53));
  check(big(B(d).raw) == quantise(m, 53 - e - B::fraction, q, o, B::width, B::is_signed),
        "fixed<%d,%d>(%a)", B::width, B::iwidth, d);
}

template <class A, class B, ap_q_mode Q, ap_o_mode O> static void assign_mode() {
  using T = fixed<B::width, B::iwidth, B::is_signed, Q, O>;
  for (const Big &a : values(A::width, A::is_signed)) assign<A, T>(a, Q, O);
  /* Ties and their neighbours, where A has bits below B. */
  for (int i = -5; i < 6 && A::fraction > B::fraction; ++i) {
    const Big near = scale(Big(2 * (i / 3) + 1), A::fraction - B::fraction - 1) + (i % 3);
    assign<A, T>(wrap(near, A::width, A::is_signed), Q, O);
  }
  const double inf = INFINITY;
  check(big(T(inf).raw) == (O == AP_SAT ? big(T::word_type::highest()) : Big(0)), "from infinity");
  check(T(-inf).raw == (O == AP_SAT ? T::word_type::lowest() : typename T::word_type(0)),
        "from -infinity");
  check(big(T(std::nan("")).raw).zero(), "from NaN");
}

template <class A, class B> static void fixed_modes() {
  assign_mode<A, B, AP_TRN, AP_WRAP>();
  assign_mode<A, B, AP_TRN, AP_SAT>();
  assign_mode<A, B, AP_TRN_ZERO, AP_WRAP>();
  assign_mode<A, B, AP_TRN_ZERO, AP_SAT>();
  assign_mode<A, B, AP_RND, AP_WRAP>();
  assign_mode<A, B, AP_RND, AP_SAT>();
  assign_mode<A, B, AP_RND_CONV, AP_WRAP>();
  assign_mode<A, B, AP_RND_CONV, AP_SAT>();
}

/* The result has the format of i integer bits and f fraction bits, signed if s, and the raw word
 * want. */
template <class R>
static void expect_fixed(const char *op, const R &got, const Big &want, int i, int f, bool s) {
  check(R::iwidth == i && R::fraction == f && R::is_signed == s, "%s: format <%d,%d>", op, R::width,
        R::iwidth);
  check(big(got.raw) == want, "%s: %s, not %s", op, hex(big(got.raw)).c_str(), hex(want).c_str());
}

template <class A, class B> static void fixed_operators(const Big &a, const Big &b) {
  const A x = A::of_raw(make<typename A::word_type>(a));
  const B y = B::of_raw(make<typename B::word_type>(b));
  const int fa = A::fraction, fb = B::fraction, f = std::max(fa, fb);
  const bool s = A::is_signed || B::is_signed;
  const int i = joined(A::iwidth, A::is_signed, B::iwidth, B::is_signed, 1);
  const Big wa = scale(a, f - fa), wb = scale(b, f - fb);
  expect_fixed("+", x + y, wa + wb, i, f, s);
  expect_fixed("-", x - y, wa - wb, i, f, true);
  expect_fixed("*", x * y, a * b, A::iwidth + B::iwidth, fa + fb, s);
  expect_order(comparisons(x, y), order(wa, wb));
  const int fi = std::max(fa, 0);
  const Big five = scale(5, fi), in = scale(a, fi - fa);
  expect_fixed("int -", 5 - x, five - in, joined(A::iwidth, A::is_signed, 32, true, 1), fi, true);
  expect_order(comparisons(x, ap_int<8>(5)), order(in, five));
  expect_fixed("-x", -x, wrap(-a, A::width + !A::is_signed, true), A::iwidth + !A::is_signed, fa,
               true);
  expect_fixed("<<", x << 2, wrap(a * 4, A::width, A::is_signed), A::iwidth, fa, A::is_signed);
  expect_fixed(">>", x >> 2, floor_shift(a, 2), A::iwidth, fa, A::is_signed);
  const Big towards_zero = a.neg ? -scale(-a, -fa) : scale(a, -fa);
  check(big(ap_int<20>(x)) == wrap(towards_zero, 20, true) &&
            big(ap_int<64>(x.to_int64())) == wrap(towards_zero, 64, true),
        "to integer");
  check(x.to_double() == std::ldexp(nearest_double(a), -fa), "to_double");
  check(big(x.range(A::width - 1, 0)) == wrap(a, A::width, false), "range");
  A z = x;
  z.range(0, 0) = !x[0];
  check(z.range().get() == (x.range() ^ 1), "range assigned");
}

/* Format number K of a fixed random list: mostly narrow words, the point anywhere from far left to
 * far right. */
static constexpr unsigned mix(unsigned k) {
  return (k * 2654435761u ^ k * 40503u << 7) >> 8;
}
template <unsigned K> struct format {
  static constexpr int w = 1 + static_cast<int>(mix(2 * K + 1) % (K % 5 == 0 ? 90 : 33));
  static constexpr int i = static_cast<int>(mix(2 * K + 2) % static_cast<unsigned>(w + 12)) - 6;
  using type = fixed<w, i, mix(K + 77) % 2 == 0>;
};

template <unsigned K> static void fixed_pair() {
  using A = typename format<K>::type;
  using B = typename format<K + 100>::type;
  fixed_modes<A, B>();
  for (const Big &a : values(A::width, A::is_signed))
    for (const Big &b : values(B::width, B::is_signed)) fixed_operators<A, B>(a, b);
}
template <unsigned... K> static void fixed_pairs(std::integer_sequence<unsigned, K...>) {
  (fixed_pair<K>(), ...);
}
static void test_fixed() {
  fixed_pairs(std::make_integer_sequence<unsigned, 30>());
}

/* ---- 16-bit floats ---- */

/* The value of the bits without sign, by the definition of the layout; infinity counts as the next
 * power of 2. */
template <int E, int M> static double value_of(unsigned bits) {
  const int exponent = static_cast<int>(bits >> M), bias = (1 << (E - 1)) - 1;
  const unsigned fraction = bits & ((1u << M) - 1);
  return exponent == 0 ? std::ldexp(fraction, 1 - bias - M)
                       : std::ldexp(fraction | 1u << M, exponent - bias - M);
}

/* The bits nearest to d, found between neighbours in the list of all values. */
template <int E, int M> static unsigned nearest_bits(double d) {
  unsigned low = 0, high = ((1u << E) - 1) << M;
  const double x = std::fabs(d);
  const unsigned sign = std::signbit(d) ? 0x8000 : 0, top = high;
  if (x >= value_of<E, M>(top)) return sign | top;
  while (high - low > 1) {
    const unsigned at = (low + high) / 2;
    (value_of<E, M>(at) <= x ? low : high) = at;
  }
  const double middle = (value_of<E, M>(low) + value_of<E, M>(high)) / 2;
  return sign | (x < middle || (x == middle && low % 2 == 0) ? low : high);
}

template <int E, int M> static void all_values() {
  using F = tide_hls::minifloat<E, M>;
  const unsigned infinity = ((1u << E) - 1) << M;
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const F x = F::from_bits(static_cast<uint16_t>(bits));
    const float f = x;
    const unsigned m = bits & 0x7fff;
    if (m > infinity) {
      check(std::isnan(f) && std::isnan(static_cast<float>(F(f))), "%04x is NaN", bits);
      continue;
    }
    const double want = m == infinity ? double(INFINITY) : value_of<E, M>(m);
    check(static_cast<double>(f) == (bits > 0x7fff ? -want : want) &&
              std::signbit(f) == (bits > 0x7fff),
          "%04x to float", bits);
    check(F(f).bits() == bits && F(static_cast<double>(f)).bits() == bits &&
              (-x).bits() == (bits ^ 0x8000),
          "%04x back", bits);
  }
}

template <int E, int M> static void random_values() {
  using F = tide_hls::minifloat<E, M>;
  for (int i = 0; i < 1000000; ++i) {
    const uint32_t word = static_cast<uint32_t>(rnd() >> 16);
    float f;
    memcpy(&f, &word, sizeof f);
    if (i % 2 != 0)
      f = static_cast<float>(
          std::ldexp(static_cast<int32_t>(word), static_cast<int>(word % 44) - 60));
    if (std::isnan(f))
      check(std::isnan(static_cast<float>(F(f))), "NaN stays NaN");
    else
      check(F(f).bits() == nearest_bits<E, M>(f), "rounding of %a", static_cast<double>(f));
  }
  /* Just beside the middle of two values, closer than a float could tell. */
  for (unsigned bits = 0; bits < (((1u << E) - 1) << M); bits += 7) {
    const double middle = (value_of<E, M>(bits) + value_of<E, M>(bits + 1)) / 2;
    check(F(middle * (1 + 1e-14)).bits() == bits + 1 && F(middle * (1 - 1e-14)).bits() == bits,
          "beside %a", middle);
    check(F(middle).bits() == bits + bits % 2, "tie %a", middle);
  }
}

template <int E, int M> static void small_arithmetic() {
  using F = tide_hls::minifloat<E, M>;
  for (int i = 0; i < 100000; ++i) {
    const F x = F::from_bits(static_cast<uint16_t>(rnd() >> 30)),
            y = F::from_bits(static_cast<uint16_t>(rnd() >> 30));
    const double a = static_cast<double>(x), b = static_cast<double>(y);
    auto same = [&](F got, double want, const char *op) {
      const bool good = std::isnan(want) ? std::isnan(static_cast<float>(got))
                                         : got.bits() == nearest_bits<E, M>(want);
      check(good, "%a %s %a", a, op, b);
    };
    same(x + y, a + b, "+");
    same(x - y, a - b, "-");
    same(x * y, a * b, "*");
    same(x / y, a / b, "/");
    same(hls::sqrt(x), std::sqrt(a), "sqrt");
    same(hls::fma(x, y, F(0)), a * b + 0.0, "fma");
    check((x < y) == (a < b) && (x == y) == (a == b), "%a compared with %a", a, b);
  }
  const double u = std::ldexp(1, -M), t = std::ldexp(1, -13);
  check(hls::fma(F(1.5), F(1 + u), F(t)).bits() == nearest_bits<E, M>(1.5 * (1 + u) + t),
        "fma rounds once");
}

static void test_half() {
  all_values<5, 10>(), random_values<5, 10>(), small_arithmetic<5, 10>();
}
static void test_bf16() {
  all_values<8, 7>(), random_values<8, 7>(), small_arithmetic<8, 7>();
  /* Products in the middle of two values, odd below and even below: a term decides that no double
   * sum holds. */
  const tide_bf16 x = 1.5, y = 1 + std::ldexp(1, -7), tiny = std::ldexp(1, -100);
  check(hls::fma(x, y, -tiny).bits() == x.bits() + 1 && hls::fma(x, y, tiny).bits() == x.bits() + 2,
        "fma");
  const tide_bf16 v = 1.25, w = 1 + std::ldexp(1, -6);
  check(hls::fma(v, w, -tiny).bits() == v.bits() + 2 && hls::fma(v, w, tiny).bits() == v.bits() + 3,
        "fma");
  check(hls::fma(-v, w, tiny).bits() == (-v).bits() + 2 &&
            hls::fma(-v, w, -tiny).bits() == (-v).bits() + 3,
        "fma");
}
static void test_math() {
  check(hls::sqrt(2.0) == std::sqrt(2.0) && hls::exp(1.0f) == std::exp(1.0f) &&
            hls::log(3.0) == std::log(3.0),
        "sqrt exp log");
  check(hls::sin(1.0f) == std::sin(1.0f) && hls::cos(1.0) == std::cos(1.0) &&
            hls::tanh(0.5f) == std::tanh(0.5f),
        "sin cos tanh");
  check(hls::floor(-1.5) == -2 && hls::ceil(half(1.25)) == 2 && hls::abs(half(-3)) == 3 &&
            hls::fma(2.0, 3.0, 1.0) == 7,
        "rest");
  hls::vector<ap_int<8>, 4> v(3), w;
  w = v;
  w[2] = -1;
  check(w != v && w[1] == 3 && w[2] == -1 && v[2] == 3 && v.size() == 4, "vector");
}

int main() {
  run("ap_int: operators of two, over widths and signs", test_binary);
  run("ap_int: operators of one, shifts, conversions, bits, text", test_unary);
  run("bits of a value and back", test_bit_casts);
  run("ap_fixed: formats, quantisation, overflow", test_fixed);
  run("half: conversions and arithmetic", test_half);
  run("bf16: conversions and arithmetic", test_bf16);
  run("mathematics and vectors", test_math);
  return finish();
}
