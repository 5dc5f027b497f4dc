/* exact.c - finite scalars as sign, magnitude and binary point. */
#include "ir/num/exact.h"

#include <math.h>

#include "ir/num/float.h"

uint64_t td_exact_shl(uint64_t x, int n) {
  return n < 64 ? x << n : 0;
}

uint64_t td_exact_shr(uint64_t x, int n) {
  return n < 64 ? x >> n : 0;
}

bool td_exact_is_signed(const TdType *t) {
  return td_type_is_signed(t) || t->kind == TD_T_INDEX;
}

/* A finite double, all of it. */
static TdExact exact_of_double(double x) {
  int e;
  double m = frexp(fabs(x), &e);
  return (TdExact){signbit(x) != 0, (uint64_t)ldexp(m, 53), 53 - e};
}

TdExact td_exact_of(const TdType *t, uint64_t v) {
  if (t->kind == TD_T_FLOAT) return exact_of_double(td_num_double(v));
  bool neg = td_exact_is_signed(t) && v >> 63;
  return (TdExact){neg, neg ? 0 - v : v, t->f};
}

TdExact td_exact_round(TdExact x, int f, TdRound how) {
  if (x.f <= f) return x;
  int n = x.f - f;
  uint64_t kept = td_exact_shr(x.mag, n);
  uint64_t cut = x.mag - td_exact_shl(kept, n), half = td_exact_shl(1, n - 1);
  bool away = false;
  switch (how) {
  case TD_ROUND_FLOOR: away = x.neg && cut; break;
  case TD_ROUND_CEIL: away = !x.neg && cut; break;
  case TD_ROUND_ZERO: break;
  case TD_ROUND_EVEN: away = half && (cut > half || (cut == half && kept & 1)); break;
  }
  return (TdExact){x.neg, kept + away, f};
}

/* The sign of a.mag * 2^-a.f - b.mag * 2^-b.f. */
static int compare_magnitudes(TdExact a, TdExact b) {
  if (a.f < b.f) return -compare_magnitudes(b, a);
  uint64_t whole = td_exact_shr(a.mag, a.f - b.f);
  if (whole != b.mag) return whole < b.mag ? -1 : 1;
  return td_exact_shl(whole, a.f - b.f) != a.mag;
}

int td_exact_compare(TdExact a, TdExact b) {
  if (a.neg != b.neg) return a.neg ? -1 : 1;
  return a.neg ? compare_magnitudes(b, a) : compare_magnitudes(a, b);
}

uint64_t td_exact_quotient(TdExact a, TdExact b, int k) {
  uint64_t n = k < 0 ? td_exact_shr(a.mag, -k) : td_exact_shl(a.mag, k);
  bool inexact = n % b.mag || (k < 0 && td_exact_shl(n, -k) != a.mag);
  uint64_t q = n / b.mag;
  return a.neg == b.neg ? q : 0 - (q + inexact);
}

/* The largest magnitude that t has on one side of 0. */
static uint64_t limit_of(const TdType *t, bool neg) {
  if (!td_exact_is_signed(t)) return neg ? 0 : t->w < 64 ? ((uint64_t)1 << t->w) - 1 : UINT64_MAX;
  uint64_t least = t->w <= 64 ? (uint64_t)1 << (t->w - 1) : UINT64_MAX;
  return neg ? least : least - 1;
}

uint64_t td_exact_value(const TdType *t, TdExact x, bool saturate, bool *outside) {
  uint64_t limit = limit_of(t, x.neg);
  *outside = t->w <= 64 && x.mag > td_exact_shr(limit, t->f - x.f);
  uint64_t mag = *outside && saturate ? limit : td_exact_shl(x.mag, t->f - x.f);
  return td_num_wrap(t, x.neg ? 0 - mag : mag);
}

double td_exact_float(const TdType *t, TdExact x) {
  TdFloatFormat format = td_num_float_format(t);
  int bits = 0;
  while (bits < 64 && x.mag >> bits) bits++;
  int last = format.precision - bits + x.f, least = format.top + format.precision - 2;
  x = td_exact_round(x, last < least ? last : least, TD_ROUND_EVEN);
  double r = ldexp((double)x.mag, -x.f);
  if (r >= ldexp(1, format.top + 1)) r = INFINITY;
  return x.neg ? -r : r;
}
