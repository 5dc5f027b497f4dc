/* effort.h - what an iteration of a leaf does: operators, and bits through registers, FIFOs,
 * memories on the chip and off it. */
#ifndef TD_ANALYSIS_TIME_EFFORT_H
#define TD_ANALYSIS_TIME_EFFORT_H

#include "analysis/time/trace.h"
#include "ir/times.h"

/* Adds `times` times what trace t does, which keeps so many bits in registers, to the work of
 * `to`, one of out's; `called`: of a kernel that is called, whose arguments are its caller's. */
void td_effort_note(TdArena *a, TdTimes *out, TdTime *to, const TdTrace *t, int64_t registers,
                    int64_t times, bool called);

#endif
