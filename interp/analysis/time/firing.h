/* firing.h - when statements happen on a target, as runs with a clock take it: the schedule of
 * sched.h, statement by statement. */
#ifndef TD_ANALYSIS_TIME_FIRING_H
#define TD_ANALYSIS_TIME_FIRING_H

#include "analysis/time/sched.h"
#include "ir/times.h"

/* The times of all that p's root reaches, on target t; owned by a. NULL with d filled when they
 * cannot be known. */
const TdTimes *td_firing_times(TdAffine *affine, TdArena *a, const TdProg *p, const TdTarget *t,
                               TdDiag *d);

#endif
