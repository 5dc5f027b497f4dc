/* streams.h - the checks of a design when it is made: ends, counts, order, shared arguments,
 * layouts. Nothing is run on data. */
#ifndef TD_ANALYSIS_NET_STREAMS_H
#define TD_ANALYSIS_NET_STREAMS_H

#include "affine/access.h"

/* What is left to the run and why; NULL when it was decided. Owned by the arena of the question. */
typedef struct TdStreamsOpen {
  const char *order;  /* of gets and puts */
  const char *shared; /* who touches which element */
} TdStreamsOpen;

/* Whether nothing is wrong with the design that is q's root unit, as far as can be told; else d
 * tells what: "producers", "consumers", "no-producer", "no-consumer", "stream-range", "imbalance",
 * "deadlock", "race", "pending-sum", "layout-mismatch". Fills *open (may be NULL). */
bool td_streams_check(const TdAsk *q, TdStreamsOpen *open, TdDiag *d);
/* The same of ends, counts and the order of tasks only, followed for a short time. */
bool td_streams_order(const TdAsk *q, TdDiag *d);

#endif
