/* nest.h - loop nests as inequalities: bounds for the same iterations in another order
 * (Fourier-Motzkin). */
#ifndef TD_REWRITE_LOOP_NEST_H
#define TD_REWRITE_LOOP_NEST_H

#include "rewrite/util.h"

/* The loops of a nest, outermost first. One with a step begins where no loop that is placed inside
 * it has a say, unless no bound in the nest uses a loop of it. */
typedef struct TdNestLoops {
  const TdStmt **loop;
  size_t n;
} TdNestLoops;

/* New bounds of loop order[k] in place k, over what surrounds the nest and the loops in earlier
 * places. lo and hi get n entries each. False with d filled when the ranges cannot be turned
 * (bounds that are not affine, steps). */
bool td_nest_bounds(TdRewrite *r, const TdUnit *u, TdNestLoops nest, const size_t *order,
                    const TdExpr **lo, const TdExpr **hi);

#endif
