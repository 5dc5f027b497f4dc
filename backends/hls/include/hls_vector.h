/* hls_vector.h - hls::vector<T, N>: N values that move as one. */
#ifndef TIDE_HLS_VECTOR_H
#define TIDE_HLS_VECTOR_H

#include "tide_host.h"
#include <stddef.h>

namespace hls {

/* Assignment is element by element; a new vector is filled with one value, T() unless given. */
template <class T, size_t N> class vector {
public:
  static constexpr size_t size() { return N; }
  vector() : element{} {}
  vector(const T &value) {
    for (T &e : element) e = value;
  }
  T &operator[](size_t i) { return element[i]; }
  const T &operator[](size_t i) const { return element[i]; }
  T *begin() { return element; }
  T *end() { return element + N; }
  const T *begin() const { return element; }
  const T *end() const { return element + N; }
  bool operator==(const vector &v) const {
    for (size_t i = 0; i < N; ++i)
      if (!(element[i] == v.element[i])) return false;
    return true;
  }
  bool operator!=(const vector &v) const { return !(*this == v); }

private:
  T element[N];
};

} // namespace hls

#endif
