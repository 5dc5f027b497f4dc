/* reliance.h - the symbolic indices that a run relies on to be in range: what data decide there no
 * run can check. */
#ifndef TD_EVAL_RELIANCE_H
#define TD_EVAL_RELIANCE_H

#include "eval/domain.h"

/* A symbolic index that is relied on to be one of 0 .. extent - 1. */
typedef struct TdReliance {
  TdValue index;
  int64_t extent;
  bool certain; /* no symbolic condition was around it */
  const TdExpr *e;
} TdReliance;

/* Those of a run, one of each index; empty when all zero. */
typedef struct TdReliances {
  TD_VEC(TdReliance) of;
  TdMap place; /* index -> its place in `of` + 1 */
} TdReliances;

/* Adds r; of two of one index stays the smaller extent, and that one was certain. */
void td_reliance_note(TdArena *a, TdReliances *s, TdReliance r);

/* One of `second` that asks for more than `first` does, so that a run that relies on it may stop at
 * an index out of range where the other does not; NULL if there is none. */
const TdReliance *td_reliance_beyond(const TdReliances *second, const TdReliances *first);

#endif
