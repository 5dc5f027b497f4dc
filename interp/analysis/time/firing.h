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

/* firing_host.c: makes the times of tasks of p on the host, which are in `times`, those of a
 * machine that is ready at once: a cycle a token. */
void td_firing_host(TdArena *a, const TdProg *p, const TdTimes *times);

#endif
