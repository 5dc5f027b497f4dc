/* reliance.h - the symbolic operands that a run relies on not to fault: indices in range, divisors
 * that are not 0, counts that are not negative. What data decide there no run can check. */
#ifndef TD_EVAL_RELIANCE_H
#define TD_EVAL_RELIANCE_H

#include "eval/value/domain.h"

/* What is relied on. */
typedef enum { TD_RELY_INDEX, TD_RELY_DIVISOR, TD_RELY_COUNT } TdRely;

/* A symbolic value that is relied on: an index to be one of 0 .. extent - 1. */
typedef struct TdReliance {
  TdRely kind;
  TdValue value;
  int64_t extent;
  bool certain; /* no symbolic condition was around it */
  TdLoc loc;
} TdReliance;

/* Those of a run, one of each kind and value; empty when all zero. */
typedef struct TdReliances {
  TD_VEC(TdReliance) of;
  TdMap place; /* kind and value -> its place in `of` + 1 */
} TdReliances;

/* Adds r; of two of one value stays the smaller extent, and that one was certain. */
void td_reliance_note(TdArena *a, TdReliances *s, TdReliance r);

/* One of `second` that asks for more than `first` does, so that a run that relies on it may stop by
 * a fault where the other does not; NULL if there is none. */
const TdReliance *td_reliance_beyond(const TdReliances *second, const TdReliances *first);

#endif
