/* case.h - one case from its number: kernel, chain, outcome. */
#ifndef FUZZ_CASE_H
#define FUZZ_CASE_H

#include "tests/fuzz/chain.h"

/* What makes a failure happen again: a kernel's text and steps. */
typedef struct Script {
  const char *kernel;
  Step step[STEPS];
  int nstep;
  uint64_t seed; /* of the points */
} Script;

/* Runs case `number` of a campaign; counts are added to *counts. */
Outcome case_run(uint64_t seed, uint64_t number, Counts *counts, TdArena *a);
/* The same step by step, each one first in a process of its own, so that this one survives: the
 * script up to the failure. The arena owns it. */
Outcome case_trace(uint64_t seed, uint64_t number, TdArena *a, Script *script);
/* Runs a script in a process of its own. */
Outcome case_probe(const Script *script, TdArena *a);

#endif
