/* aie.hpp - as much of aie_api as the kernels that Tide writes use, for compilers of this machine:
 * vectors, loads and stores, sums of products of blocks. The NPU's own header takes its place
 * there. */
#ifndef TIDE_AIE_API_HPP
#define TIDE_AIE_API_HPP

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

template <typename T, unsigned N> struct vector {
  T at[N];
};

template <unsigned N, typename T> inline vector<T, N> load_v(const T *p) {
  vector<T, N> v;
  memcpy(v.at, p, sizeof v.at);
  return v;
}

template <typename T, unsigned N> inline void store_v(T *p, const vector<T, N> &v) {
  memcpy(p, v.at, sizeof v.at);
}

template <typename T, unsigned N> inline vector<T, N> broadcast(T x) {
  vector<T, N> v;
  for (unsigned i = 0; i < N; i++) v.at[i] = x;
  return v;
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
