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

/* Puts the steps of the best mapping of r->prog that was found into r->did, and returns what they
 * make of it; NULL with r->diag filled when there is none. The order of moves, and so the result,
 * depends on the program alone. */
const TdProg *td_search_map(TdRewrite *r, const TdSearchLimits *limits);

#endif
