/* span.h - what is known of an index expression or condition without data: an interval, and what
 * keeps it from being a number. */
#ifndef TD_ANALYSIS_RANGE_SPAN_H
#define TD_ANALYSIS_RANGE_SPAN_H

#include "ir/ir.h"

/* Every value from lo to hi is possible for all that is known. INT64_MIN and INT64_MAX stand for
 * "no bound". A bool is 0 or 1. */
typedef struct TdSpan {
  int64_t lo, hi;
  uint64_t loops; /* loops whose variable would have to be known to know more, one bit each */
  bool data;      /* depends on data */
} TdSpan;

/* Where the values of symbols come from: a VAR, or a LOAD with the spans of its indices. */
typedef struct TdSpanEnv {
  const TdUnit *unit; /* whose sizes hold */
  TdSpan (*look)(void *ud, const TdExpr *e, const TdSpan *index);
  void *ud;
} TdSpanEnv;

/* The one value v. */
TdSpan td_span_const(int64_t v);
/* Some value of scalar type t that depends on data. */
TdSpan td_span_data(const TdType *t);
/* Whether x is one value. */
bool td_span_is_one(TdSpan x);
/* What is known of a value that is x or y. */
TdSpan td_span_join(TdSpan x, TdSpan y);
/* x converted to scalar type t. */
TdSpan td_span_cast(const TdType *t, const TdType *from, TdSpan x);
/* The span of a scalar expression. */
TdSpan td_span_of(const TdSpanEnv *env, const TdExpr *e);

/* Sums and products that stop at "no bound"; the operands are not negative. */
int64_t td_span_plus(int64_t x, int64_t y);
int64_t td_span_times(int64_t x, int64_t y);

#endif
