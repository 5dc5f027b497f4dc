/* stp_arrival.h - which values of a graph depend on the order in which elements arrive. */
#ifndef TD_STP_ARRIVAL_H
#define TD_STP_ARRIVAL_H

#include "step/stp_graph.h"

/* An order that timing decides, and the first node at which it shows: a store, an output of the
 * graph, or a sum of floats in that order. */
typedef struct TdStpArrival {
  const TdStpNode *source, *shows;
} TdStpArrival;

typedef struct TdStpArrivals {
  TD_VEC(TdStpArrival) at;
} TdStpArrivals;

/* Those of g, in order of the nodes that decide; in arena a. */
TdStpArrivals td_stp_arrival_of(TdArena *a, const TdStpGraph *g);

#endif
