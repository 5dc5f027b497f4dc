/* timed.h - what a run with a clock tells: cycles, what each task did in them, what each stream
 * held. The same for runs of the evaluator and compiled ones. */
#ifndef TD_EVAL_TIME_TIMED_H
#define TD_EVAL_TIME_TIMED_H

#include "ir/times.h"

/* Why a task did not go on. */
typedef enum {
  TD_STALL_EMPTY,
  TD_STALL_FULL,
  TD_STALL_MEETING,
  TD_STALL_MEMORY, /* of a graph of STeP: off-chip */
  TD_STALLS
} TdStall;
/* Their names: "empty". */
extern const char *const td_timed_stalls[TD_STALLS];

/* Cycles that a task lost at a stream (its number), or in an allreduce (stream UINT32_MAX). */
typedef struct TdTimedStall {
  uint32_t stream;
  TdStall why;
  int64_t cycles;
} TdTimedStall;

/* One such wait, if the run kept them. */
typedef struct TdTimedWait {
  int64_t from, cycles;
  TdStall why;
} TdTimedWait;

typedef struct TdTimedTask {
  const char *name, *run; /* "pe[0][1]", "pe" */
  int64_t begin, end;     /* first cycle, and the one after the last */
  int64_t busy;           /* cycles in which it ran; the others it stalled, or was not called */
  int64_t stalled;
  const TdTimedStall *stall; /* in the order in which they first happened */
  size_t nstall;
  int64_t multiplies, multipliers; /* done, and those it has side by side */
  int64_t starts;                  /* cycle in which the first begins, if there is one */
  const TdTimedWait *wait;
  size_t nwait;
  const int64_t *work; /* how much of each kind of the run */
} TdTimedTask;

typedef struct TdTimedStream {
  const char *name;
  int64_t depth, tokens, most; /* most: tokens in it at the end of a cycle */
  const int64_t *put, *got;    /* cycles of all tokens, if the run kept them */
  const uint64_t *token;       /* and their hashes (td_timed_mix); 0: not known. NULL: of none */
  const uint64_t *taken;       /* the same where they are got; NULL: as they were put */
  size_t nput, ngot;
  int64_t beats;
  bool block;
} TdTimedStream;

/* The same run where pipelines stall as a whole (fire.h), if events were kept: its cycles, or the
 * task that waits for ever at a stream. */
typedef struct TdTimedFire {
  bool known, hangs;
  int64_t cycles;
  size_t task, stream;
  TdStall why;
} TdTimedFire;

/* What a memory off the chip was asked; NULL model: it took the cycles of the schedule. */
typedef struct TdTimedMemory {
  const char *model;
  int64_t requests, bytes;
} TdTimedMemory;

typedef struct TdTimed {
  const char *design, *target;
  int64_t cycles;
  double
      utilisation; /* of multipliers, or if there are none of tasks: what of the cycles is used */
  int64_t fill, drain; /* cycles before all tasks that multiply do, and after one no longer does */
  const TdTimedTask *task;
  size_t ntask;
  const TdTimedTask *part; /* of a simulation that is one task: its tasks, when they run */
  size_t npart;
  const TdTimedStream *stream;
  size_t nstream;
  const char *const *kind; /* of work (TdTimes) */
  size_t nkind;
  /* Of the second contract: known from the start with a memory, else asked for by
   * td_timed_fire, of `events` (NULL: none were kept). */
  TdTimedFire fire;
  struct TdFireRun *events;
  TdTimedMemory memory;
  bool kept;    /* waits and the cycles of tokens */
  uint64_t run; /* number of the run, of the program's runs with a clock */
} TdTimed;

/* The hash of a token after one more of its elements, of type e. */
uint64_t td_timed_mix(uint64_t hash, const TdType *e, uint64_t value);
/* The least depth at which no put of this run would have waited for a place; 0: that is not kept,
 * or buffers are handed over, which are held for a while. */
int64_t td_timed_room(const TdTimedStream *s);
/* The run by the second contract, worked out in a from the events that were kept. */
TdTimedFire td_timed_fire(TdArena *a, const TdTimed *t);
/* Fills what sums up the tasks: cycles, utilisation, fill and drain. */
void td_timed_sum(TdTimed *t);
/* timed_print.c: a table of tasks and streams; by run and array where there are many. */
void td_timed_print(TdText *out, const TdTimed *t);

#endif
