/* clock.h - how long a design takes, from its text. */
#ifndef TD_NPU_CLOCK_H
#define TD_NPU_CLOCK_H

#include "backends/npu/machine.h"
#include "eval/time/timed.h"

/* When things happen in a machine that has not run and knows its kernels' costs; owned by a. NULL
 * with the machine's diagnostic filled: it does not end. */
const TdTimed *td_npu_clock(TdArena *a, TdNpuMachine *x);

#endif
