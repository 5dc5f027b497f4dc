/* ends.h - who holds the ends of each stream: one producing and one consuming instance. */
#ifndef TD_ANALYSIS_NET_ENDS_H
#define TD_ANALYSIS_NET_ENDS_H

#include "analysis/net/traffic.h"

/* The instances of a channel's own design at its ends; TD_TRAFFIC_NONE: nobody. Streams that nobody
 * touches are dropped. */
typedef struct TdEnds {
  uint32_t producer, consumer;
} TdEnds;

/* The ends of each channel of n, owned by a; NULL, with d filled ("producers", "consumers",
 * "no-producer", "no-consumer"), when they are not one each. */
const TdEnds *td_ends_of(TdArena *a, const TdTraffic *n, TdDiag *d);

#endif
