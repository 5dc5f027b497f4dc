/* search_cost.h - what a mapped design costs, by which searches compare mappings. */
#ifndef TD_SEARCH_COST_H
#define TD_SEARCH_COST_H

#include "analysis/graph.h"
#include "rewrite/prim.h"

/* What a mapped design costs: less is better, the first that differs decides. */
typedef struct TdSearchCost {
  int64_t cycles;  /* of a run with a clock, ideal hardware; 0: there is none */
  int64_t longest; /* of the node that takes longest, on a device */
  int64_t tokens;  /* between nodes */
  int64_t ports;   /* of arguments */
  int64_t nodes;
} TdSearchCost;

/* Whether p is run with a clock to find its cycles: its sizes have values, and a run on small
 * numbers ends without a fault and soon. Else estimates must do. */
bool td_search_is_timed(TdRewrite *r, const TdProg *p);
/* The cost of the design that is p's root, all scratch in a; false when it cannot be known. */
bool td_search_cost(TdRewrite *r, TdArena *a, const TdProg *p, const TdGraph *g, bool timed,
                    TdSearchCost *out, TdDiag *d);

#endif
