/* fire.h - the second contract of hardware: a pipeline that stalls as a whole, as HLS makes them.
 * What a task does in one cycle of its schedule happens together, or not at all, and what it does
 * later waits with it. Values are those of the run; only cycles differ, and that it may hang where
 * gets and puts that latch one by one do not. */
#ifndef TD_EVAL_TIME_FIRE_H
#define TD_EVAL_TIME_FIRE_H

#include "eval/time/clock.h"

/* The cycles in which a stream moved its tokens by this contract. */
typedef struct TdFireLine {
  const int64_t *put, *got;
  size_t nput, ngot;
} TdFireLine;

/* What n tasks do by the deeds of their clocks, on wires by number. The cycles of a run that ends,
 * or who waits for ever, for which stream; line[i] (or NULL) what wire i did until then. */
TdTimedFire td_fire(TdArena *a, const TdClock *const *task, size_t n, const TdWire *const *wire,
                    size_t nwire, TdFireLine *line);

#endif
