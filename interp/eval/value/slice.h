/* slice.h - what is known of symbolic words: bits that were put in come out again, and so does a
 * value that was cast to bits of its own width; of a choice between words both are looked at. */
#ifndef TD_EVAL_VALUE_SLICE_H
#define TD_EVAL_VALUE_SLICE_H

#include "eval/value/domain.h"

/* How symbolic values of a domain were made, as far as that matters. The user sets the first four
 * members. */
typedef struct TdSlices {
  TdArena *arena;
  TdSession *session;
  const TdDomain *domain;
  void *self;
  TdMap made, known;
} TdSlices;

/* The value of x, an operator with a symbolic operand: what follows from how its operands were
 * made, or else the domain's. */
TdValue td_slice_apply(TdSlices *s, const TdApply *x);

#endif
