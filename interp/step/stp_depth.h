/* stp_depth.h - what depth of its streams ends a graph that stops. */
#ifndef TD_STP_DEPTH_H
#define TD_STP_DEPTH_H

#include "step/stp_run.h"

/* Adds to the diagnostic of a graph that stopped the least depth of all streams that say none at
 * which it ends with the control of this run. */
void td_stp_depth_tell(TdArena *a, TdStpGraph *g, const TdStpOptions *o, const TdStpCalls *calls,
                       TdDiag *d);

#endif
