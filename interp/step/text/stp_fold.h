/* stp_fold.h - the nodes of a graph, in order, as loops: what a stretch of nodes repeats. */
#ifndef TD_STP_FOLD_H
#define TD_STP_FOLD_H

#include "step/stp_graph.h"

#define TD_STP_NEST 6 /* most loops around each other */

/* A node, or a loop over a body. Iteration k of a loop stands for the nodes first + k * (span / n)
 * .. of the graph's order, as many in each. */
typedef struct TdStpItem {
  const TdStpNode *node;  /* of the first iteration of all loops around; NULL: a loop */
  uint64_t shape;         /* equal for items that do the same */
  size_t first, span;     /* place in the order; nodes in all its iterations */
  size_t n, nbody, depth; /* of a loop: iterations, items of its body; loops in it, itself too */
  struct TdStpItem *body;
} TdStpItem;

/* The items of all nodes; their number. */
size_t td_stp_fold(TdArena *a, const TdStpGraph *g, TdStpItem **item);

#endif
