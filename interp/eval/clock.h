/* clock.h - the timing model of designs, and the clock that each task of a run carries. Values and
   times are independent: a run follows its own order, and its clocks tell when each thing happens
   (ir.md 4.3). Kahn networks are determinate, so these times are the least solution of

     base     when cycle 0 of the schedule is: of straight code, or of an iteration. A task is a
              rigid pipe: what delays one operation shifts all that come after it. Iterations of a
              pipelined loop begin II apart from base to base.
     get      >= base + from of its firing, the get before it in the firing, the get before it on
   its stream + B, and the put of its token + B - 1 + latency of the stream start    >= base + at of
   the firing, the end (B - 1 later) of its gets, and done of the same firing F + 1 iterations back
   + 1; F = ceil(L / II). base follows it. put      >= start + L, the put before it in the firing,
   done of the firing before, the put before it on its stream + B, and the get of the token `depth`
   places earlier + B done     the end of its last put, at least start + L and done of the firing
   before

   A firing is gets that follow each other, what is computed of them, and the puts that follow;
   from, at and L are those of ir/times.h. B are the beats of a token: one, or elements / lanes. A
   token is visible the cycle after its last beat (latency 1), its place is free again the cycle
   after its last beat was got.

   Straight code ends `length` cycles after its base, a pipelined loop as long after the base of its
   last iteration, and both not before their last put is done. What comes next begins then, so
   without waiting a task takes just the cycles of the estimate. A wait is charged to the operation
   whose term decided; cycles = busy + stalled for each task.

   A block stream is two streams: full buffers, and free ones; slot gets from, and the end of the
   scope of what was got puts to the latter. An allreduce ends the cycle after its last part came. A
   design that is called starts with the call, which lasts until its last task has ended. */
#ifndef TD_CLOCK_H
#define TD_CLOCK_H

#include "eval/timed.h"

/* In place of a stream's number: none, an allreduce. */
#define TD_CLOCK_NOWHERE UINT32_MAX

/* Cycles of what happened last at one end of a stream: `cap` of them, of n so far. */
typedef struct TdPast {
  int64_t *at;
  int64_t cap, n;
} TdPast;

/* Events that a run may still keep: the waits of tasks, the cycles of tokens. */
typedef struct TdKeep {
  int64_t left; /* below 0: some were not kept */
} TdKeep;

/* The clock of one stream. */
typedef struct TdWire {
  TdPast put, got, freed; /* freed: buffers of a block stream that were given back */
  int64_t claims;         /* places taken for tokens to come */
  int64_t last_put, last_got, last_claim;
  int64_t beats, latency, most; /* most: tokens in it at the end of a cycle */
  uint32_t number;
  bool block, outside; /* outside: its other end is always ready */
  TdKeep *keep;        /* NULL: nothing */
  TD_VEC(int64_t) every_put;
  TD_VEC(int64_t) every_got;
} TdWire;

typedef enum { TD_FIRING_IDLE, TD_FIRING_GETS, TD_FIRING_PUTS } TdFiringPhase;

/* What made something late. */
typedef struct TdCause {
  uint32_t stream;
  TdStall why;
} TdCause;

/* The clock of a task. */
typedef struct TdClock {
  TdArena *arena;
  const TdTimes *times;
  int64_t now;         /* when what comes next may begin, while nothing runs */
  int64_t begin, from; /* of the first call, and of this one */
  int64_t life;        /* cycles of earlier calls */
  const TdTime *leaf;  /* straight code or pipelined loop that runs, or NULL */
  size_t region;       /* depth of the cursor stack at the loop that the pipeline runs for; or 0 */
  int64_t iteration;   /* of the pipeline; -1: none yet */
  int64_t base;
  uint32_t firing;
  TdFiringPhase phase;
  int64_t at, end;     /* last get or put of this firing, and when all of them are over */
  int64_t start, done; /* of this firing; of the last one that has ended */
  int64_t *waiting;    /* done of earlier iterations' firings */
  int64_t room;
  TdCause late, held; /* of the last get that waited; of the last put that did */
  TD_VEC(TdTimedStall) stall;
  TD_VEC(TdTimedWait) wait;
  bool called;
  TdKeep *keep; /* NULL: nothing */
  int64_t stalled, multiplies, multipliers;
} TdClock;

/* Starts a call of the task at a cycle; then ends it. */
void td_clock_start(TdClock *c, int64_t cycle);
void td_clock_stop(TdClock *c);
/* Before a statement: what runs ends unless s is part of it, and what s begins begins. */
void td_clock_before(TdClock *c, const TdStmt *s);
/* Enters a loop as cursor number `depth`; returns what its iterations are given to, or NULL. */
const TdTime *td_clock_enter(TdClock *c, const TdStmt *loop, size_t depth);
/* Begins iteration n (from 0) of what td_clock_enter returned; and leaves it. */
void td_clock_iterate(TdClock *c, const TdTime *loop, uint64_t n);
void td_clock_leave(TdClock *c, size_t depth);
/* Ends what runs, unless it is a pipelined loop; the cycle then. */
int64_t td_clock_close(TdClock *c);
/* Waits until a cycle, stalled or not. */
void td_clock_await(TdClock *c, int64_t cycle, bool stalls);

/* A token moves; each end in the order in which its task does it. get: the buffer of a block stream
   is held, or free again; slot: takes a place for a token to come; put: into a place that was
   taken, or one that it takes; free: the scope of a buffer ends. */
void td_clock_get(TdClock *c, TdWire *w, bool held);
void td_clock_slot(TdClock *c, TdWire *w);
void td_clock_put(TdClock *c, TdWire *w, bool taken);
void td_clock_free(TdClock *c, TdWire *w);

/* A stream of so many tokens, as s says: before anything happened. */
void td_clock_open(TdArena *a, TdWire *w, int64_t depth);
void td_clock_empty(TdWire *w);

#endif
