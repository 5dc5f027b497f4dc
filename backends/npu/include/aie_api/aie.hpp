/* aie.hpp - as much of aie_api as the kernels that Tide writes use, for compilers of this machine:
 * vectors, loads and stores, sums of products of blocks. The NPU's own header takes its place
 * there. */
#ifndef TIDE_AIE_API_HPP
#define TIDE_AIE_API_HPP

#include <stddef.h>
#include <string.h>

/* As in memory: the upper half of a float. */
struct bfloat16 {
  unsigned short bits;
};

namespace aie {

/* The value of an element, and back: integers wrap, floats round to nearest even. */
template <typename T> inline long long tide_value(T x) { return x; }
inline float tide_value(float x) { return x; }
inline float tide_value(bfloat16 x) {
  unsigned u = (unsigned)x.bits << 16;
  float f;
  memcpy(&f, &u, sizeof f);
  return f;
}

template <typename T> struct tide_sum {
  typedef long long type;
};
template <> struct tide_sum<float> {
  typedef float type;
};
template <> struct tide_sum<bfloat16> {
  typedef float type;
};

/* The modes of a core. */
enum class rounding_mode { floor, conv_even };
enum class saturation_mode { none, saturate };
inline rounding_mode tide_rounding = rounding_mode::floor;
inline saturation_mode tide_saturation = saturation_mode::none;
inline void set_rounding(rounding_mode m) { tide_rounding = m; }
inline void set_saturation(saturation_mode m) { tide_saturation = m; }

/* The next size of an integer. */
template <typename T> struct tide_up;
template <> struct tide_up<signed char> {
  typedef short type;
};
template <> struct tide_up<unsigned char> {
  typedef unsigned short type;
};
template <> struct tide_up<short> {
  typedef int type;
};
template <> struct tide_up<unsigned short> {
  typedef unsigned type;
};

template <typename T, unsigned N> struct vector {
  T at[N];

  auto unpack() const {
    vector<typename tide_up<T>::type, N> v;
    for (unsigned i = 0; i < N; i++) v.at[i] = at[i];
    return v;
  }
};

/* A load or store goes to a multiple of its size, or of 32 bytes: low bits of an address are lost.
 */
template <typename T> inline T *tide_aligned(T *p, size_t bytes) {
  return (T *)((size_t)p & ~(size_t)((bytes < 32 ? bytes : 32) - 1));
}

template <unsigned N, typename T> inline vector<T, N> load_unaligned_v(const T *p) {
  vector<T, N> v;
  memcpy(v.at, p, sizeof v.at);
  return v;
}

template <unsigned N, typename T> inline vector<T, N> load_v(const T *p) {
  return load_unaligned_v<N>(tide_aligned(p, N * sizeof(T)));
}

template <typename T, unsigned N> inline void store_unaligned_v(T *p, const vector<T, N> &v) {
  memcpy(p, v.at, sizeof v.at);
}

template <typename T, unsigned N> inline void store_v(T *p, const vector<T, N> &v) {
  store_unaligned_v(tide_aligned(p, N * sizeof(T)), v);
}

template <typename T, unsigned N> inline vector<T, N> broadcast(T x) {
  vector<T, N> v;
  for (unsigned i = 0; i < N; i++) v.at[i] = x;
  return v;
}

template <typename To, typename T, unsigned N>
inline vector<To, N> vector_cast(const vector<T, N> &v) {
  static_assert(sizeof(To) == sizeof(T), "of one size");
  vector<To, N> w;
  memcpy(w.at, v.at, sizeof w.at);
  return w;
}

/* ---- element by element ---- */

/* Integers wrap. */
template <typename T> inline T tide_wrap(unsigned long long x) { return (T)x; }
inline float tide_max(float a, float b) {
  return a < b ? b : b < a ? a : a != b ? a + b : a != 0 ? a : a + b;
}
inline float tide_min(float a, float b) {
  return a < b ? a : b < a ? b : a != b ? a + b : a != 0 ? a : -(-a - b);
}
template <typename T> inline T tide_max(T a, T b) { return a < b ? b : a; }
template <typename T> inline T tide_min(T a, T b) { return a < b ? a : b; }
inline float tide_add(float a, float b) { return a + b; }
inline float tide_sub(float a, float b) { return a - b; }
template <typename T> inline T tide_add(T a, T b) {
  return tide_wrap<T>((unsigned long long)a + (unsigned long long)b);
}
template <typename T> inline T tide_sub(T a, T b) {
  return tide_wrap<T>((unsigned long long)a - (unsigned long long)b);
}
inline float tide_neg(float a) { return -a; }
template <typename T> inline T tide_neg(T a) { return tide_sub(T(0), a); }

#define TIDE_PAIR(name)                                                                            \
  template <typename T, unsigned N>                                                                \
  inline vector<T, N> name(const vector<T, N> &a, const vector<T, N> &b) {                         \
    vector<T, N> v;                                                                                \
    for (unsigned i = 0; i < N; i++) v.at[i] = tide_##name(a.at[i], b.at[i]);                      \
    return v;                                                                                      \
  }
TIDE_PAIR(add)
TIDE_PAIR(sub)
TIDE_PAIR(max)
TIDE_PAIR(min)
#undef TIDE_PAIR

template <typename T, unsigned N> inline vector<T, N> neg(const vector<T, N> &a) {
  vector<T, N> v;
  for (unsigned i = 0; i < N; i++) v.at[i] = tide_neg(a.at[i]);
  return v;
}

inline float tide_abs(float a) { return __builtin_fabsf(a); }
template <typename T> inline T tide_abs(T a) { return a < 0 ? tide_neg(a) : a; }
template <typename T, unsigned N> inline vector<T, N> abs(const vector<T, N> &a) {
  vector<T, N> v;
  for (unsigned i = 0; i < N; i++) v.at[i] = tide_abs(a.at[i]);
  return v;
}

template <typename T, unsigned N> inline vector<T, N> upshift(const vector<T, N> &a, int by) {
  vector<T, N> v;
  for (unsigned i = 0; i < N; i++) v.at[i] = tide_wrap<T>((unsigned long long)a.at[i] << by);
  return v;
}

template <unsigned N> struct mask {
  bool at[N];
};

#define TIDE_COMPARE(name, op)                                                                     \
  template <typename T, unsigned N>                                                                \
  inline mask<N> name(const vector<T, N> &a, const vector<T, N> &b) {                              \
    mask<N> m;                                                                                     \
    for (unsigned i = 0; i < N; i++) m.at[i] = a.at[i] op b.at[i];                                 \
    return m;                                                                                      \
  }
TIDE_COMPARE(eq, ==)
TIDE_COMPARE(neq, !=)
TIDE_COMPARE(lt, <)
TIDE_COMPARE(le, <=)
#undef TIDE_COMPARE

/* Of two vectors the second where the mask is set. */
template <typename T, unsigned N>
inline vector<T, N> select(const vector<T, N> &a, const vector<T, N> &b, const mask<N> &m) {
  vector<T, N> v;
  for (unsigned i = 0; i < N; i++) v.at[i] = m.at[i] ? b.at[i] : a.at[i];
  return v;
}

#define TIDE_REDUCE(name)                                                                          \
  template <typename T, unsigned N> inline T reduce_##name(const vector<T, N> &v) {                \
    T x = v.at[0];                                                                                 \
    for (unsigned i = 1; i < N; i++) x = tide_##name(x, v.at[i]);                                  \
    return x;                                                                                      \
  }
TIDE_REDUCE(add)
TIDE_REDUCE(max)
TIDE_REDUCE(min)
#undef TIDE_REDUCE

/* ---- accumulators ---- */

} // namespace aie

struct acc32 {
  typedef int tide_type;
};
struct acc64 {
  typedef long long tide_type;
};
struct accfloat {
  typedef float tide_type;
};

namespace aie {

/* A value as a lane of type T, `by` bits lower, as the modes say. */
template <typename T> inline T tide_lower(long long x, int by) {
  long long whole = x >> by, rest = x - (long long)((unsigned long long)whole << by);
  long long half = by ? 1LL << (by - 1) : 0;
  bool up = tide_rounding == rounding_mode::conv_even && by &&
            (rest > half || (rest == half && (whole & 1)));
  whole += up;
  if (tide_saturation == saturation_mode::saturate) {
    const long long most = T(-1) < T(0) ? (1LL << (8 * sizeof(T) - 1)) - 1
                                        : (long long)(~0ULL >> (64 - 8 * sizeof(T)));
    const long long least = T(-1) < T(0) ? -most - 1 : 0;
    whole = whole > most ? most : whole < least ? least : whole;
  }
  return (T)whole;
}
template <typename T> inline T tide_lower(float x, int) { return x; }
template <> inline bfloat16 tide_lower<bfloat16>(float x, int) {
  unsigned u;
  memcpy(&u, &x, sizeof u);
  if (x == x && tide_rounding == rounding_mode::conv_even) u += 0x7FFF + (u >> 16 & 1);
  bfloat16 b = {(unsigned short)(u >> 16)};
  return b;
}

template <typename A, unsigned N> struct accum {
  typename A::tide_type at[N];

  template <typename T> void from_vector(const vector<T, N> &v, int by) {
    for (unsigned i = 0; i < N; i++) {
      auto x = tide_value(v.at[i]);
      if constexpr (sizeof(x) == sizeof(float)) at[i] = x;
      else at[i] = (typename A::tide_type)((unsigned long long)x << by);
    }
  }

  template <typename T> vector<T, N> to_vector(int by = 0) const {
    vector<T, N> v;
    for (unsigned i = 0; i < N; i++) {
      if constexpr (sizeof(tide_value(T())) == sizeof(float)) v.at[i] = tide_lower<T>((float)at[i], by);
      else v.at[i] = tide_lower<T>((long long)at[i], by);
    }
    return v;
  }
};

template <typename T> struct tide_accum {
  typedef acc32 type;
};
template <> struct tide_accum<int> {
  typedef acc64 type;
};
template <> struct tide_accum<float> {
  typedef accfloat type;
};
template <> struct tide_accum<bfloat16> {
  typedef accfloat type;
};

template <typename A, typename T, unsigned N>
inline accum<A, N> mac(const accum<A, N> &sum, const vector<T, N> &x, const vector<T, N> &y) {
  accum<A, N> a;
  for (unsigned i = 0; i < N; i++) {
    auto p = tide_value(x.at[i]) * tide_value(y.at[i]);
    a.at[i] = tide_add(sum.at[i], (typename A::tide_type)p);
  }
  return a;
}

template <typename T, unsigned N>
inline accum<typename tide_accum<T>::type, N> mul(const vector<T, N> &x, const vector<T, N> &y) {
  accum<typename tide_accum<T>::type, N> a;
  for (unsigned i = 0; i < N; i++)
    a.at[i] = (typename tide_accum<T>::type::tide_type)(tide_value(x.at[i]) * tide_value(y.at[i]));
  return a;
}

/* Zeros, of an accumulator or of a vector. */
template <typename T, unsigned N> struct tide_zeros {
  typedef vector<T, N> type;
};
template <unsigned N> struct tide_zeros<acc32, N> {
  typedef accum<acc32, N> type;
};
template <typename T, unsigned N> inline typename tide_zeros<T, N>::type zeros() {
  typename tide_zeros<T, N>::type z;
  for (unsigned i = 0; i < N; i++) z.at[i] = 0;
  return z;
}

template <typename F, unsigned N> inline vector<F, N> to_float(const vector<int, N> &v, int by) {
  vector<F, N> w;
  for (unsigned i = 0; i < N; i++) w.at[i] = (float)v.at[i] / (float)(1LL << by);
  return w;
}

/* Sums of products of blocks r x s and s x t, row-major. */
template <unsigned r, unsigned s, unsigned t, typename A, typename B> struct mmul {
  static constexpr unsigned size_A = r * s, size_B = s * t, size_C = r * t;
  typename tide_sum<A>::type at[size_C];

  template <typename C> mmul(const vector<C, size_C> &start) {
    for (unsigned i = 0; i < size_C; i++) at[i] = (typename tide_sum<A>::type)start.at[i];
  }

  void mac(const vector<A, size_A> &a, const vector<B, size_B> &b) {
    for (unsigned i = 0; i < r; i++)
      for (unsigned k = 0; k < s; k++)
        for (unsigned j = 0; j < t; j++)
          at[i * t + j] += tide_value(a.at[i * s + k]) * tide_value(b.at[k * t + j]);
  }

  template <typename T> vector<T, size_C> to_vector() const {
    vector<T, size_C> v;
    for (unsigned i = 0; i < size_C; i++) v.at[i] = (T)at[i];
    return v;
  }
};

} // namespace aie

#endif
