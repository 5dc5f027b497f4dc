/* tide_data.h - elements in files, for test benches: one on each line, row-major. Integers, the
 * words of fixed point and of bf16 are decimal; those of more than 64 bits and floats, as the words
 * of their format, are hexadecimal; a boolean is 0 or 1. */
#ifndef TIDE_DATA_H
#define TIDE_DATA_H

#include "tide_ops.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace tide {

/* A line of a file. */
struct Line {
  char text[300];
};

/* A word of more than 64 bits: 16 digits for each 64 of them. */
template <int W> Line words_line(const ap_uint<W> &x) {
  Line l;
  int at = snprintf(l.text, sizeof l.text, "0x");
  for (int i = (W + 63) / 64; i-- > 0;)
    at += snprintf(l.text + at, sizeof l.text - size_t(at), "%016" PRIx64,
                   uint64_t(ap_uint<64>(ap_uint<W>(x >> (64 * i))).to_uint64()));
  return l;
}

/* An element as a line. */
template <int W> Line line_of(const ap_int<W> &x) {
  Line l;
  if (W > 64) return words_line<W>(ap_uint<W>(x));
  snprintf(l.text, sizeof l.text, "%" PRId64, int64_t(x.to_int64()));
  return l;
}
template <int W> Line line_of(const ap_uint<W> &x) {
  Line l;
  if (W > 64) return words_line<W>(x);
  snprintf(l.text, sizeof l.text, "%" PRIu64, uint64_t(x.to_uint64()));
  return l;
}
template <int W, int I> Line line_of(const ap_fixed<W, I> &x) {
  return line_of(raw(x));
}
template <int W, int I> Line line_of(const ap_ufixed<W, I> &x) {
  return line_of(raw(x));
}
inline Line hexadecimal(uint64_t word, int digits) {
  Line l;
  snprintf(l.text, sizeof l.text, "0x%0*" PRIx64, digits, word);
  return l;
}
inline Line line_of(half x) {
  return hexadecimal(half_word(x).to_uint64(), 4);
}
inline Line line_of(float x) {
  return hexadecimal(word_of(x), 8);
}
inline Line line_of(double x) {
  return hexadecimal(word_of(x), 16);
}
inline Line line_of(int64_t x) {
  return line_of(ap_int<64>(x));
}
inline Line line_of(bool x) {
  return line_of(ap_uint<1>(x));
}

/* The number that a line holds, modulo 2^64. */
inline uint64_t number_of(const char *s) {
  return *s == '-' ? 0 - strtoull(s + 1, NULL, 10) : strtoull(s, NULL, 0);
}

/* An element from its number. */
template <int W> void take(ap_int<W> &x, uint64_t v) {
  x = ap_int<W>(v);
}
template <int W> void take(ap_uint<W> &x, uint64_t v) {
  x = ap_uint<W>(v);
}
template <int W, int I> void take(ap_fixed<W, I> &x, uint64_t v) {
  x.range() = ap_uint<W>(v);
}
template <int W, int I> void take(ap_ufixed<W, I> &x, uint64_t v) {
  x.range() = ap_uint<W>(v);
}
inline void take(half &x, uint64_t v) {
  x = half_of(ap_uint<16>(v));
}
inline void take(float &x, uint64_t v) {
  x = float_of(uint32_t(v));
}
inline void take(double &x, uint64_t v) {
  x = double_of(v);
}
inline void take(int64_t &x, uint64_t v) {
  x = int64_t(v);
}
inline void take(bool &x, uint64_t v) {
  x = v != 0;
}

/* An element from its line. */
template <class T> void take_line(T &x, const char *s) {
  take(x, number_of(s));
}
template <int W> ap_uint<W> word_of_line(const char *s) {
  ap_uint<W> x = 0;
  for (s += 2; *s; s++) {
    ap_uint<W> digit = *s <= '9' ? *s - '0' : *s - 'a' + 10;
    x = (x << 4) | digit;
  }
  return x;
}
template <int W> void take_line(ap_int<W> &x, const char *s) {
  if (W > 64)
    x = word_of_line<W>(s);
  else
    take(x, number_of(s));
}
template <int W> void take_line(ap_uint<W> &x, const char *s) {
  if (W > 64)
    x = word_of_line<W>(s);
  else
    take(x, number_of(s));
}

/* Calls f(x) on each element of an array of any rank, in order. */
template <class T, class F> void each(T &x, F f) {
  f(x);
}
template <class T, size_t N, class F> void each(T (&x)[N], F f) {
  for (size_t i = 0; i < N; i++) each(x[i], f);
}

/* The files FOLDER/NAME.dat. Reading ends the program where a file is missing or too short. */
class Data {
public:
  explicit Data(const char *folder_) : folder(folder_) {}

  template <class T> void read(const char *name, T &x) {
    FILE *f = open(name, "r");
    if (f == NULL) fail(name, "cannot be read");
    each(x, [&](auto &e) {
      Line l;
      if (fscanf(f, "%299s", l.text) != 1) fail(name, "is too short");
      take_line(e, l.text);
    });
    fclose(f);
  }
  /* The same of a file that may be missing. */
  template <class T> void read_if_there(const char *name, T &x) {
    FILE *f = open(name, "r");
    if (f == NULL) return;
    fclose(f);
    read(name, x);
  }

  template <class T> void write(const char *name, T &x) {
    FILE *f = open(name, "w");
    if (f == NULL) fail(name, "cannot be written");
    each(x, [&](auto &e) { fprintf(f, "%s\n", line_of(e).text); });
    if (fclose(f) != 0) fail(name, "cannot be written");
  }

  /* Counts the elements of x that differ from the file, and shows the first of them. */
  template <class T> long compare(const char *name, T &x) {
    FILE *f = open(name, "r");
    if (f == NULL) fail(name, "cannot be read");
    long at = 0, wrong = 0;
    each(x, [&](auto &e) {
      Line want, got = line_of(e);
      if (fscanf(f, "%299s", want.text) != 1) fail(name, "is too short");
      if (strcmp(want.text, got.text) != 0 && wrong++ < 8)
        printf("%s: element %ld is %s, not %s\n", name, at, got.text, want.text);
      at++;
    });
    fclose(f);
    printf("%s: %ld of %ld elements are right\n", name, at - wrong, at);
    return wrong;
  }

private:
  FILE *open(const char *name, const char *mode) {
    snprintf(path, sizeof path, "%s/%s.dat", folder, name);
    return fopen(path, mode);
  }
  [[noreturn]] void fail(const char *, const char *what) {
    fprintf(stderr, "%s %s\n", path, what);
    exit(2);
  }

  const char *folder;
  char path[4096];
};

} // namespace tide

#endif
