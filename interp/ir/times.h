/* times.h - when the operations of a program happen on a target: facts about statements that
 * analysis/firing.c finds and every run with a clock follows. docs/timing.md; eval/clock.h says
 * what they mean. */
#ifndef TD_TIMES_H
#define TD_TIMES_H

#include "ir/unit.h"

/* Gets that follow each other and none of which needs another to know whether or where, what is
 * computed of them, and the puts that follow: one of those of a piece of straight code or an
 * iteration of a pipelined loop, in program order. All of it is a cycle of the schedule, counted
 * from the start of the iteration. */
typedef struct TdFiring {
  int64_t from, at; /* in which its gets may begin, and in which it starts */
  int64_t latency;  /* from its start to its first put; all values are there then */
  /* Pipelined, with puts: results on their way or in front of the put unit at most (credits; 0: no
   * bound), and their place in TdClock.waiting. */
  int64_t first, skid;
} TdFiring;

/* What a run meets of firings, in program order: a get, slot or put; or (firing -1) the start of
 * copy number `copy` of an unrolled body, or of a call. The same statement may come again, as a
 * copy of itself. */
typedef struct TdEvent {
  const TdStmt *stmt;
  int64_t copy;
  int32_t firing;
  int64_t cycle; /* of a token, by the schedule */
} TdEvent;

/* An access of an argument, by the schedule: the cycle in which it is asked for, and how long after
 * that what is read is needed. */
typedef struct TdTouchTime {
  const TdStmt *stmt;
  TdSym sym;
  bool write;
  int64_t cycle, wait;
} TdTouchTime;

typedef enum {
  TD_TIME_BLOCK,  /* straight code, from its first statement on */
  TD_TIME_PIPE,   /* a pipelined loop */
  TD_TIME_LOOP,   /* a loop whose iterations follow each other */
  TD_TIME_COPIES, /* a loop that is unrolled, or a call that is laid out, in one of the others */
  TD_TIME_PLAIN   /* anything else that takes `length` cycles before what is inside it begins */
} TdTimeKind;

/* What a piece of the schedule does each time that it runs: n of kind number `kind` (TdTimes). */
typedef struct TdEffort {
  uint32_t kind;
  int64_t n;
} TdEffort;

typedef struct TdTime TdTime;
struct TdTime {
  TdTimeKind kind;
  const TdStmt *stmt; /* what begins */
  bool copied;        /* some leaf has events of its copies, or of its call */
  int64_t length;     /* BLOCK, PIPE: of an iteration; PLAIN */
  int64_t ii;         /* PIPE */
  int64_t before;     /* PIPE: cycles before the first iteration, in which elements are loaded */
  int64_t lanes;      /* of loops: iterations side by side */
  int64_t enter;      /* of loops: cycles around all iterations */
  int64_t again;      /* LOOP: cycles of each iteration before its body */
  int64_t after;      /* LOOP: and after it, if another one follows: of a test that comes last */
  int64_t test;       /* LOOP: of the test that ends it */
  bool rewind;        /* PIPE: what comes after does not wait for the last iteration to drain */
  const TdTime *body; /* LOOP: the straight code that its body is, or NULL */
  const TdTime *pipe; /* LOOP: the pipelined loop at the bottom that it keeps running, or NULL */
  const TdFiring *firing;
  size_t nfiring;
  const TdEvent *event;
  size_t nevent;
  const TdTouchTime *access;
  size_t naccess;
  bool shares; /* PIPE: stages share ports or operators, so iterations slip by whole intervals */
  int64_t waiting;                 /* PIPE: room for what waits of all firings */
  int64_t multiplies, multipliers; /* of an iteration, and what they take side by side */
  const TdEffort *work;
  size_t nwork;
  uint32_t number; /* of those with work, plus 1 (TdTimes.worker) */
};

/* How an allreduce combines two parts: in so many cycles, or (0) `side` times in one; of all its
 * parts as a tree, or one after the other, ids ascending. */
typedef struct TdFoldTime {
  int64_t stages, side;
  bool tree;
} TdFoldTime;

/* The times of a program: of every statement that begins something. */
typedef struct TdTimes {
  const char *target;
  TdMap time; /* const TdStmt * -> const TdTime * */
  TdMap fold; /* const TdExpr * of an allreduce -> const TdFoldTime * */
  TD_VEC(const TdTime *) worker;
  /* Kinds of work: "mul f32", operators by class and bits of their operands; and bits that go
   * through "register", "fifo", "ram 4096" (by the bytes of a bank), "dram". */
  TD_VEC(const char *) kind;
} TdTimes;

/* What begins with s, or NULL. */
static inline const TdTime *td_times_of(const TdTimes *t, const TdStmt *s) {
  return td_map_getp(&t->time, s);
}

/* The cycles of the allreduce e of n parts: one at least. */
static inline int64_t td_times_fold(const TdTimes *t, const TdExpr *e, int64_t n) {
  const TdFoldTime *f = td_map_getp(&t->fold, e);
  int64_t steps = n - 1, cycles;
  if (!f) return 1;
  if (f->tree)
    for (steps = 0; (int64_t)1 << steps < n; steps++) {
    }
  cycles = f->stages ? steps * f->stages : (steps + f->side - 1) / f->side;
  return cycles > 1 ? cycles : 1;
}

#endif
