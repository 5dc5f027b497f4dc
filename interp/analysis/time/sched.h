/* sched.h - when things happen on a target: the one source of operation times (docs/timing.md). A
 * unit becomes a tree of steps that run one after the other; loops that are pipelined, and straight
 * code, are its leaves. */
#ifndef TD_ANALYSIS_TIME_SCHED_H
#define TD_ANALYSIS_TIME_SCHED_H

#include "analysis/time/trace.h"

typedef enum {
  TD_SCHED_SEQUENCE,
  TD_SCHED_BLOCK,  /* straight code: `length` cycles */
  TD_SCHED_LOOP,   /* iterations one after the other */
  TD_SCHED_PIPE,   /* an iteration every `ii` cycles, each `length` long */
  TD_SCHED_BRANCH, /* kid 0 is the condition; then one of the others */
  TD_SCHED_CALL    /* of `unit` */
} TdSchedKind;

/* What keeps an initiation interval from being less. */
typedef enum { TD_BY_ASKED, TD_BY_RECURRENCE, TD_BY_PORTS, TD_BY_OPERATOR } TdSchedBy;

/* Instances of an operator that a step keeps busy. */
typedef struct TdNeed {
  TdOperator op;
  int64_t n;
} TdNeed;

typedef struct TdSchedStep TdSchedStep;
struct TdSchedStep {
  TdSchedKind kind;
  const TdStmt *stmt; /* loop, branch or call; of straight code the first */
  const TdUnit *unit; /* of CALL: what is called; else where stmt is */
  int64_t length;
  int64_t trip;           /* of a loop that a SET or a fill is: its iterations */
  int64_t head;           /* cycles of bounds, tests or arguments that data decides */
  const TdTrace *tests;   /* of them, on hardware; or NULL */
  int64_t lanes;          /* iterations side by side */
  int64_t asked, ii;      /* of PIPE */
  int64_t around, before; /* and cycles for what stays in registers: all; those that load it */
  TdSchedBy by;
  const char *why; /* of PIPE, in words; of LOOP, why it is not pipelined though it was asked,
                    * or drains the pipeline in it */
  TdLoc at;        /* the place that `why` speaks of */
  bool flat;       /* of LOOP: its only kid runs on without draining from iteration to iteration */
  const TdNeed *need;
  size_t nneed;
  int64_t registers, delays; /* bits between operators, and LUTs of longer delays */
  TdSchedStep *const *kid;
  size_t nkid;
  const TdTrace *trace; /* of leaves */
};

typedef struct TdSched {
  TdAffine *affine;
  TdArena *arena; /* owns all steps */
  const TdProg *prog;
  const TdTarget *target;
  TdMap unit; /* const TdUnit * -> TdSchedStep * */
} TdSched;

/* The steps of a kernel's body, made once; NULL with d filled if its times cannot be known. */
const TdSchedStep *td_sched_unit(TdSched *s, const TdUnit *u, TdDiag *d);
/* Whether a loop is one of the program, and not a SET or a fill. */
bool td_sched_is_written(const TdSchedStep *x);
/* Whether the bounds of loops below a step, or the conditions around them, speak of v. */
bool td_sched_shapes(const TdSchedStep *x, TdSym v);

/* The cycles of the tests of a loop of n iterations that follow each other: a WHILE has one more,
 * which fails, and what they compute. */
int64_t td_sched_tests(const TdSchedStep *x, const TdTarget *t, int64_t n);

/* sched_pipe.c: fills ii, length, by, why and what is needed from the trace of an iteration, of
 * which there are at most `trip`. */
void td_sched_pipe(TdSchedStep *step, TdTrace *t, int64_t trip);
/* sched_need.c: has large operators take instances; then, once all is placed, fills what a leaf
 * needs. */
void td_sched_place_operators(TdTrace *t);
void td_sched_need(TdSchedStep *step, TdTrace *t);
/* sched_pipe.c: NULL, and pipelined iterations of `inner` may go on without draining from one
 * iteration of the loops around it to the next, outermost first; or why not. */
const char *td_sched_drains(const TdSchedStep *inner, const TdTraceNest *nest);

#endif
