/* cost.h - what a program takes on a target: cycles, loop by loop, and parts of the device. */
#ifndef TD_ANALYSIS_TIME_COST_H
#define TD_ANALYSIS_TIME_COST_H

#include "analysis/time/sched.h"

/* A loop, or a set or fill of an array. Numbers are of one execution of it, the longest. */
typedef struct TdCostLoop {
  const char *name; /* as schedules name it: "mm:k" */
  const TdStmt *stmt;
  int level; /* loops around it, calls included */
  TdLoc loc;
  int64_t least, most; /* iterations */
  int64_t lanes;       /* of them side by side */
  bool pipelined, flat;
  int64_t asked, ii, depth; /* of a pipelined loop */
  int64_t estimated;        /* the interval before a report replaced it, 0: none did */
  int64_t cycles;
  int64_t rounds, busy; /* in all executions: groups of iterations that start together, and the
                         * cycles from each to the next */
  TdSchedBy by;
  const char *why; /* what bounds ii, or why the loop is not pipelined; or NULL */
  TdLoc at;        /* where that is */
} TdCostLoop;

/* A task of a design. */
typedef struct TdCostStage {
  const char *name;
  int64_t instances, cycles; /* cycles of the longest instance, without waiting for others */
} TdCostStage;

typedef struct TdCostArea {
  int64_t dsp, bram, uram, ff, lut;
} TdCostArea;

typedef struct TdCost {
  const TdTarget *target;
  int64_t clock;  /* period in ps */
  bool reported;  /* figures are those of a report */
  int64_t cycles; /* of a design: of its longest stage */
  double ms;
  int64_t path; /* ps of the longest path between registers, with the clock's margin */
  TdCostArea area;
  TD_VEC(TdCostLoop) loop;   /* in the order in which they run first */
  TD_VEC(TdCostStage) stage; /* of a design that is the root */
} TdCost;

/* The estimate of p's root at its sizes, owned by arena. False: its times cannot be known, and d
 * says why: a size without value, a loop that runs any number of times. */
bool td_cost_estimate(TdAffine *affine, TdArena *arena, const TdProg *p, const TdTarget *t,
                      TdCost *out, TdDiag *d);
/* The same for the instance of a kernel with these ids: its cycles and its loops, owned by
 * s->arena. */
bool td_cost_instance(TdSched *s, const TdUnit *u, const int64_t *id, TdCost *out, TdDiag *d);
/* One task of a design: its stage, and what one instance of it is made of. */
bool td_cost_stage(TdSched *s, const TdUnit *design, const TdRun *run, TdCostStage *out,
                   TdCostArea *area, TdDiag *d);
/* cost_report.c: replaces figures of an estimate by those of a vendor's report, lines of "path
 * value". False: it tells no latency. */
bool td_cost_adopt(TdCost *c, TdArena *a, const char *lines);
/* As a table. */
void td_cost_print(TdText *out, const TdCost *c);
/* cost_rise.c: why `now` takes more cycles than `before`; false: it does not. */
bool td_cost_print_rise(TdText *out, const TdCost *before, const TdCost *now);
/* "recurrence", "ports".. */
const char *td_cost_by(TdSchedBy by);

/* cost_area.c: what a unit and all it calls is made of: operators, registers between them, memories
 * and FIFOs, loop counters; not its parameters' memory, nor addresses and control. */
TdCostArea td_cost_area(TdSched *s, const TdUnit *u);
/* cost_path.c: ps of logic on the longest path between registers of a unit and all it calls, as the
 * delays of its schedule add up. */
int64_t td_cost_path(TdSched *s, const TdUnit *u, TdDiag *d);
/* The FIFOs between the tasks of a design; x, and n times y. */
TdCostArea td_cost_fifos(const TdTarget *t, const TdUnit *design);
void td_cost_add(TdCostArea *x, TdCostArea y, int64_t n);

#endif
