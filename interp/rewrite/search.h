/* search.h - automatic mapping: which bundles and chains bring a design down to so many processing
 * elements. Dato, Alg. 1. */
#ifndef TD_SEARCH_H
#define TD_SEARCH_H

#include "rewrite/mapping.h"

/* What a mapping may take; -1: any number. */
typedef struct TdSearchLimits {
  int64_t pes;
  int64_t inputs, outputs;           /* ports by which all nodes together read, write arguments */
  int64_t node_inputs, node_outputs; /* of one node: arguments, and streams of other nodes */
} TdSearchLimits;

/* What a mapped design costs: less is better, the first that differs decides. */
typedef struct TdSearchCost {
  int64_t cycles; /* of the node that takes longest */
  int64_t tokens; /* between nodes */
  int64_t ports;  /* of arguments */
  int64_t nodes;
} TdSearchCost;

/* The cost of the design that is p's root; false when it cannot be known, and d says why. */
bool td_search_cost(TdRewrite *r, TdArena *a, const TdProg *p, const TdGraph *g, TdSearchCost *out,
                    TdDiag *d);

/* Puts the steps of the best mapping of r->prog that was found into r->did, and returns what they
 * make of it; NULL with r->diag filled when there is none. The order of moves, and so the result,
 * depends on the program alone. */
const TdProg *td_search_map(TdRewrite *r, const TdSearchLimits *limits);

#endif
