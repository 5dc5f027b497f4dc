/* travel.h - sums whose parts travel from instance to instance by streams. */
#ifndef TD_ANALYSIS_NET_TRAVEL_H
#define TD_ANALYSIS_NET_TRAVEL_H

#include "ir/ir.h"

/* What tells whether a tensor operation gives an instance's own part of a sum over the axis. */
typedef bool (*TdTravelIsPart)(void *ud, const TdExpr *e, int axis);

/* Whether each sum over the axis of the map that a task of the design stores in an argument is
 * complete there: the part of each instance along the axis went into it once, by its own hands or
 * in tokens. Decided instance by instance at the design's sizes; false where it cannot be told. */
bool td_travel_complete(TdArena *a, const TdProg *p, const TdUnit *design, const TdRun *run,
                        int axis, TdTravelIsPart is_part, void *ud);

#endif
