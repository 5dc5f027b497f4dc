/* exact.h - any finite scalar as sign, magnitude and binary point: what casts, comparisons and
 * divisions work on. */
#ifndef TD_IR_NUM_EXACT_H
#define TD_IR_NUM_EXACT_H

#include "ir/num/num.h"

/* mag * 2^-f, negative if neg. */
typedef struct TdExact {
  bool neg;
  uint64_t mag;
  int f;
} TdExact;

typedef enum { TD_ROUND_FLOOR, TD_ROUND_CEIL, TD_ROUND_ZERO, TD_ROUND_EVEN } TdRound;

/* Shifts of a word by any n >= 0. */
uint64_t td_exact_shl(uint64_t x, int n);
uint64_t td_exact_shr(uint64_t x, int n);

/* Whether a scalar of type t can be negative: int, fixed, index. */
bool td_exact_is_signed(const TdType *t);
/* The value v of type t; a float must be finite. */
TdExact td_exact_of(const TdType *t, uint64_t v);
/* x with at most f bits after the point. */
TdExact td_exact_round(TdExact x, int f, TdRound how);
/* Negative, 0, positive as a < b, a == b, a > b. */
int td_exact_compare(TdExact a, TdExact b);
/* floor(a * 2^k / b) modulo 2^64, for b not 0, where a.mag * 2^k is less than 2^64. Points do not
 * count. */
uint64_t td_exact_quotient(TdExact a, TdExact b, int k);
/* x, which has no more bits after the point than t, as a value of t (not a float) of at most 64
 *bits; outside says whether t does not hold it, and then it wraps or saturates. In wider types it
 *wraps. */
uint64_t td_exact_value(const TdType *t, TdExact x, bool saturate, bool *outside);
/* The value of float type t nearest to x, ties to even. */
double td_exact_float(const TdType *t, TdExact x);

#endif
