/* fire.h - the second contract of hardware: a pipeline that stalls as a whole, as HLS makes them.
 * What a task does in one cycle of its schedule happens together, or not at all, and what it does
 * later waits with it. Values are those of the run; only cycles differ, and that it may hang where
 * gets and puts that latch one by one do not. */
#ifndef TD_EVAL_TIME_FIRE_H
#define TD_EVAL_TIME_FIRE_H

#include "eval/time/clock.h"
#include "eval/time/offchip.h"

/* The cycles in which a stream moved its tokens by this contract. */
typedef struct TdFireLine {
  const int64_t *put, *got;
  size_t nput, ngot;
} TdFireLine;

/* When a task ended by it, and what it waited for. */
typedef struct TdFireTask {
  int64_t end, stalled;
  TD_VEC(TdTimedStall) stall;
  TD_VEC(TdTimedWait) wait;
} TdFireTask;

/* A run: what n tasks do by the deeds of their clocks, on wires by number, and the memory that they
 * ask (or NULL). */
typedef struct TdFireRun {
  const TdClock *const *task;
  size_t n;
  const TdWire *const *wire;
  size_t nwire;
  const TdOffchip *memory;
  /* Filled, where they are not NULL: what each wire did, and each task. */
  TdFireLine *line;
  TdFireTask *told;
  int64_t requests; /* filled: of the memory */
} TdFireRun;

/* The cycles of a run that ends, or who waits for ever, for which stream. */
TdTimedFire td_fire(TdArena *a, TdFireRun *run);

#endif
