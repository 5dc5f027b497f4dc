/* oracle.h - is a program still its kernel? */
#ifndef FUZZ_ORACLE_H
#define FUZZ_ORACLE_H

#include "tests/fuzz/point.h"
#include "tests/fuzz/side.h"

/* What the steps so far have promised. */
typedef struct Promise {
  TdLevel level; /* the strictest level that must hold */
  bool values;   /* and the values are the same bit for bit */
  bool faults;   /* and where the kernel faults, so does the program */
} Promise;
static const Promise promise_all = {TD_LEVEL_STRICT, true, true};

typedef struct Oracle {
  Side *side;
  TdArena *arena; /* of answers; the caller releases it between checks */
  Points *points;
  Counts *counts;
} Oracle;

/* Structure, equality at three sizes and on data, order of parallel loops. The store of p holds
 * what is made meanwhile. */
Outcome oracle_program(Oracle *o, const TdProg *p, Promise promise);
/* Print, load, compare, print again; the promise is for programs that load with sizes pinned. */
Outcome oracle_round_trip(Oracle *o, const TdProg *p, Promise promise);
/* Whether p computes what the kernel does, by every means, with iterations of parallel loops in any
 * order; false also when that cannot be told. For forced steps. */
bool oracle_is_same(Oracle *o, const TdProg *p);

/* compiled.c: the same inputs through the compilers of the CPU backend: in memory, or cc too. */
Outcome oracle_compiled(Oracle *o, const TdProg *p, Promise promise, bool cc);

/* reverse.c: p with the iterations of each of its parallel loops from the last to the first, one
 * loop at a time; the n-th, or NULL. */
const TdProg *reverse_parallel(TdArena *a, const TdProg *p, int n);

#endif
