/* slice_out.h - a program cut down to the iterations that one element of its result depends on. */
#ifndef TD_DRIVE_SLICE_OUT_H
#define TD_DRIVE_SLICE_OUT_H

#include "backends/cpu/twin/twin.h"

/* One element of a result: where it is, and what the whole program leaves there. */
typedef struct TdCutGoal {
  unsigned param;
  int64_t index; /* row-major */
  TdFingerprint want;
  uint64_t seed;
  const TdTwinArg *arg; /* one entry a parameter, as in the run that gave `want` */
  size_t narg;
} TdCutGoal;

/* p, in store `into` (new, the caller's), with each loop of constant bounds halved as long as one
 * half alone leaves `want` in the element: equal fingerprints are equal expressions, so the element
 * is computed as in p, by fewer iterations. Other elements are not what they were. */
const TdProg *td_slice_out(TdArena *a, TdStore *into, const TdProg *p, const TdCutGoal *goal);

#endif
