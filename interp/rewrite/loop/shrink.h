/* shrink.h - a nest that computes an array, run again inside the loop that reads it, over the part
 * that one iteration needs. */
#ifndef TD_REWRITE_LOOP_SHRINK_H
#define TD_REWRITE_LOOP_SHRINK_H

#include "rewrite/util.h"

/* A nest on its way into a loop of a later one. */
typedef struct TdMove {
  TdRewrite *r;
  const TdUnit *unit;
  const TdStmt *block;  /* holds both nests */
  size_t from, to;      /* their places in it: producer, consumer */
  const TdStmt *target; /* the loop of the consumer */
  TdSym array;          /* what is computed, or NULL: the only array that the producer writes */
} TdMove;

/* m's block from the producer to the consumer, with the target's body begun by `first`. */
const TdStmt *td_shrink_moved(const TdMove *m, const TdStmt *const *first, size_t n);
/* The program with those statements of the block replaced by those of `after`. */
const TdProg *td_shrink_replaced(const TdMove *m, const TdUnit *u, const TdStmt *after);

/* The program with the producer cut down to what an iteration of the target reads. It must be free
 * to run again: each element comes from the indices of its own iteration, from data that nothing
 * changes, and not from what it held before. An array that others use must still be all written. */
const TdProg *td_shrink_into(const TdMove *m);

#endif
