/* tide_wide.h - two's complement arithmetic on little-endian arrays of 64-bit words. */
#ifndef TIDE_WIDE_H
#define TIDE_WIDE_H

#include "tide_host.h"
#include <stdint.h>
#include <string.h>

namespace tide_wide {

using word = uint64_t;
__extension__ typedef unsigned __int128 dword;

/* Words that hold so many bits. */
constexpr int words_for(int bits) {
  return (bits + 63) / 64;
}

/* The lowest `count` bits set; count is 0..64. */
constexpr word ones(int count) {
  return count == 0 ? 0 : ~word{0} >> (64 - count);
}

/* Each operator: `one` on a single word, `many` on n words modulo 2^(64 n). r may be a or b, save
 * in mul. */
struct add {
  static word one(word a, word b) { return a + b; }
  static void many(word *r, const word *a, const word *b, int n) {
    word carry = 0;
    for (int i = 0; i < n; ++i) {
      const dword t = dword{a[i]} + b[i] + carry;
      r[i] = static_cast<word>(t);
      carry = static_cast<word>(t >> 64);
    }
  }
};

struct sub {
  static word one(word a, word b) { return a - b; }
  static void many(word *r, const word *a, const word *b, int n) {
    word borrow = 0;
    for (int i = 0; i < n; ++i) {
      const dword t = dword{a[i]} - b[i] - borrow;
      r[i] = static_cast<word>(t);
      borrow = static_cast<word>(t >> 64) & 1;
    }
  }
};

struct mul {
  static word one(word a, word b) { return a * b; }
  static void many(word *r, const word *a, const word *b, int n) {
    memset(r, 0, static_cast<size_t>(n) * sizeof *r);
    for (int i = 0; i < n; ++i) {
      word carry = 0;
      for (int j = 0; i + j < n; ++j) {
        const dword t = dword{a[i]} * b[j] + r[i + j] + carry;
        r[i + j] = static_cast<word>(t);
        carry = static_cast<word>(t >> 64);
      }
    }
  }
};

template <class Op> struct wordwise {
  static void many(word *r, const word *a, const word *b, int n) {
    for (int i = 0; i < n; ++i) r[i] = Op::one(a[i], b[i]);
  }
};
struct bit_and : wordwise<bit_and> {
  static word one(word a, word b) { return a & b; }
};
struct bit_or : wordwise<bit_or> {
  static word one(word a, word b) { return a | b; }
};
struct bit_xor : wordwise<bit_xor> {
  static word one(word a, word b) { return a ^ b; }
};

/* The 64 bits from bit `at` up: zeros below bit 0, `fill` beyond the n words. */
inline word window(const word *a, int n, int at, word fill) {
  const int first = at >> 6, bits = at & 63;
  auto get = [=](int i) { return i < 0 ? word{0} : i < n ? a[i] : fill; };
  return bits == 0 ? get(first) : get(first) >> bits | get(first + 1) << (64 - bits);
}

/* r = a * 2^by, by of either sign; bits from beyond the n words are `fill`. r is not a. */
inline void shift(word *r, const word *a, int by, word fill, int n) {
  for (int i = 0; i < n; ++i) r[i] = window(a, n, 64 * i - by, fill);
}

/* Replaces the `count` bits of r from bit lo up by the lowest bits of v; both have n words. */
inline void insert(word *r, const word *v, int lo, int count, int n) {
  for (int i = lo / 64; i <= (lo + count - 1) / 64; ++i) {
    const int from = lo > 64 * i ? lo : 64 * i;
    const int to = lo + count < 64 * i + 64 ? lo + count : 64 * i + 64;
    const word mask = ones(to - from) << (from - 64 * i);
    const word bits = window(v, n, from - lo, 0) << (from - 64 * i);
    r[i] = (r[i] & ~mask) | (bits & mask);
  }
}

/* Whether a < b as unsigned numbers. */
inline bool less(const word *a, const word *b, int n) {
  for (int i = n - 1; i >= 0; --i)
    if (a[i] != b[i]) return a[i] < b[i];
  return false;
}

/* -1, 0 or 1 as a is below, equal to or above b, as signed numbers. */
inline int compare(const word *a, const word *b, int n) {
  const int64_t x = static_cast<int64_t>(a[n - 1]), y = static_cast<int64_t>(b[n - 1]);
  if (x != y) return x < y ? -1 : 1;
  return less(a, b, n) ? -1 : less(b, a, n);
}

/* Whether any of the lowest `count` bits is set; count is 0..64 n. */
inline bool any_below(const word *a, int count) {
  for (int i = 0; i < count / 64; ++i)
    if (a[i] != 0) return true;
  return count % 64 != 0 && (a[count / 64] & ones(count % 64)) != 0;
}

/* The position of the highest set bit plus one; 0 of zero. */
inline int length(const word *a, int n) {
  for (int i = n - 1; i >= 0; --i)
    if (a[i] != 0) return 64 * i + 64 - __builtin_clzll(a[i]);
  return 0;
}

/* q = a / b and r = a % b of unsigned numbers, bit by bit; b is not 0, nothing overlaps. */
inline void divide(word *q, word *r, const word *a, const word *b, int n) {
  memset(q, 0, static_cast<size_t>(n) * sizeof *q);
  memset(r, 0, static_cast<size_t>(n) * sizeof *r);
  for (int at = length(a, n) - 1; at >= 0; --at) {
    for (int i = n - 1; i > 0; --i) r[i] = r[i] << 1 | r[i - 1] >> 63;
    r[0] = r[0] << 1 | (a[at / 64] >> (at % 64) & 1);
    if (less(r, b, n)) continue;
    sub::many(r, r, b, n);
    q[at / 64] |= word{1} << (at % 64);
  }
}

/* A number sig * 2^exp, or its negative. */
struct scaled {
  word sig;
  int exp;
  bool negative;
};

/* The 64 leading bits of the unsigned a; the last one also stands for every bit that is cut off, so
 * that rounding the result to fewer than 63 bits rounds a. */
inline scaled leading(const word *a, int n) {
  const int cut = length(a, n) - 64;
  if (cut <= 0) return {a[0], 0, false};
  return {window(a, n, cut, 0) | word{any_below(a, cut)}, cut, false};
}

/* The exact value of d; NaN is 0, an infinity is 2^65536. */
inline scaled decode(double d) {
  word bits;
  memcpy(&bits, &d, sizeof bits);
  const int field = static_cast<int>(bits >> 52 & 0x7ff);
  const word fraction = bits & ones(52);
  const bool negative = bits >> 63 != 0;
  if (field == 0x7ff) return {word{fraction == 0}, 65536, negative};
  if (field == 0) return {fraction, -1074, negative};
  return {fraction | word{1} << 52, field - 1075, negative};
}

/* Writes the unsigned a in `base` (2..36) so that it ends before `end`; returns its first digit.
 * Clears a. */
inline char *digits(char *end, word *a, int n, int base) {
  do {
    dword rest = 0;
    for (int i = n - 1; i >= 0; --i) {
      rest = rest << 64 | a[i];
      a[i] = static_cast<word>(rest / static_cast<unsigned>(base));
      rest %= static_cast<unsigned>(base);
    }
    *--end = "0123456789abcdefghijklmnopqrstuvwxyz"[static_cast<int>(rest)];
  } while (length(a, n) != 0);
  return end;
}

} // namespace tide_wide

#endif
