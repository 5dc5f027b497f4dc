/* streams.h - the checks of a design when it is made: ends, counts, order, shared arguments,
 * layouts. Nothing is run on data. */
#ifndef TD_STREAMS_H
#define TD_STREAMS_H

#include "affine/access.h"

/* Whether nothing is wrong with the design that is q's root unit, as far as can be told; else d
   tells what: "producers", "consumers", "no-producer", "no-consumer", "stream-range", "imbalance",
   "deadlock", "race", "pending-sum", "layout-mismatch". *open (may be NULL) becomes what is left to
   the run and why, or NULL when all was decided. Strings are owned by q->arena. */
bool td_streams_check(const TdAsk *q, const char **open, TdDiag *d);

#endif
