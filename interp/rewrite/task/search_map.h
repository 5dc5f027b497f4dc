/* search_map.h - automatic mapping: which bundles and chains bring a design down to what a device
 * has. Dato, Alg. 1. */
#ifndef TD_REWRITE_TASK_SEARCH_MAP_H
#define TD_REWRITE_TASK_SEARCH_MAP_H

#include "base/search.h"
#include "rewrite/task/mapping.h"
#include "rewrite/task/search_cost.h"

/* TD_MAP_LIMIT(NAME, in words): what a mapping may take of. */
#define TD_MAP_LIMITS(X)                                                                           \
  X(PES, "PEs")                                                                                    \
  X(INPUTS, "ports that read arguments")                                                           \
  X(OUTPUTS, "ports that write arguments")                                                         \
  X(NODE_INPUTS, "inputs of a node")                                                               \
  X(NODE_OUTPUTS, "outputs of a node")                                                             \
  X(DSP, "DSP")                                                                                    \
  X(BRAM, "BRAM")

typedef enum {
#define X(NAME, words) TD_MAP_##NAME,
  TD_MAP_LIMITS(X)
#undef X
      TD_MAP_MOST
} TdMapLimit;

/* What is asked for. */
typedef struct TdMapAsk {
  int64_t most[TD_MAP_MOST]; /* -1: any number */
  const TdTarget *device;    /* NULL: none is named */
  TdSearchLimits search;
} TdMapAsk;

/* Puts the steps of the best mapping of r->prog that was found into r->did, and returns what they
 * make of it; NULL with r->diag filled when there is none. Notes say how the search ended and what
 * bounds the mapping. */
const TdProg *td_search_map(TdRewrite *r, const TdMapAsk *ask);

#endif
