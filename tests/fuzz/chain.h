/* chain.h - a case under way: its kernel, its schedule, and the checks after each step. */
#ifndef FUZZ_CHAIN_H
#define FUZZ_CHAIN_H

#include "tests/fuzz/oracle.h"

typedef struct Chain {
  Side *side;
  TdArena *arena; /* as long as the case */
  TdArena *scratch;
  Counts *counts;
  const TdProg *kernel;
  TdStore *store;
  TdSchedule schedule;
  Points points;
  Promise promise;
  Step step[STEPS]; /* accepted */
  const TdProg *version[STEPS + 1];
  TD_VEC(TdStore *) other; /* of schedules that steps take */
} Chain;

/* Starts a chain on a kernel (loaded in side); false with *why set when it faults at its own
 * sizes. The caller frees with chain_close. */
bool chain_open(Chain *c, Side *side, Counts *counts, const TdProg *kernel, uint64_t seed,
                const char **why);
void chain_close(Chain *c);

/* The checks of the kernel itself. */
Outcome chain_start(Chain *c);
/* Applies a step and checks what came of it. */
Outcome chain_step(Chain *c, const Step *s);
/* The checks of a whole chain: undo, replay, compiled runs. */
Outcome chain_end(Chain *c);

/* force.c: tries a refused step again with legality assumed; true when the rewrite could be made,
 * with whether it is right all the same in *same, and whether that is only because what comes in
 * another order is overwritten, in *chance. */
bool force_step(Chain *c, const Step *s, bool *same, bool *chance);

/* One chain in so many ends with a run of the system's compiler; 0: none. */
extern uint64_t chain_cc;
/* Whether refusals of what is right are printed to standard error. */
extern bool chain_show;

#endif
