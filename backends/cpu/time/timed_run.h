/* timed_run.h - programs that run with a clock: the schedule of a device, and runs that follow it.
 * */
#ifndef TD_CPU_TIME_TIMED_RUN_H
#define TD_CPU_TIME_TIMED_RUN_H

#include "backends/cpu/cpu.h"
#include "eval/time/offchip.h"
#include "eval/time/timed.h"

/* A program ready to run with a clock, with its states. */
typedef struct TdClocked TdClocked;

typedef struct TdClockedOptions {
  const char *device; /* whose operation times count: "ideal", "u280" */
  bool trace;         /* keep all events, however slow that is */
  const char *ready;  /* when the ends outside are, by streams of the top (eval/time/ready.h) */
  const TdOffchip *memory; /* what answers for arguments; NULL: the schedule says when */
  TdCpuOptions cpu;
  bool host; /* stages on the host take the device's time, too: a text has them as modules */
} TdClockedOptions;

/* p made ready, owned by a; NULL with d filled when its times cannot be known. */
TdClocked *td_timed_run_new(TdArena *a, const TdProg *p, const TdClockedOptions *o, TdDiag *d);
/* Runs it; false with d filled when it fails, as runs without a clock do. */
bool td_timed_run_call(TdClocked *c, const TdCallArg *arg, size_t narg, TdDiag *d);
void td_timed_run_reset(TdClocked *c);
/* What the last run told; NULL: there was none. It stays until the next run. */
const TdTimed *td_timed_run_report(const TdClocked *c);

#endif
