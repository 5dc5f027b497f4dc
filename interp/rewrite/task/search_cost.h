/* search_cost.h - what a mapped design costs on a device, by which searches compare mappings. */
#ifndef TD_REWRITE_TASK_SEARCH_COST_H
#define TD_REWRITE_TASK_SEARCH_COST_H

#include "analysis/time/cost.h"
#include "analysis/net/graph.h"
#include "rewrite/prim.h"

/* What a mapped design costs: of the first five less is better, the first that differs decides. */
typedef struct TdSearchCost {
  int64_t cycles;  /* of a run with a clock; of the longest stage where there is none */
  int64_t longest; /* of the node that takes longest, as estimated */
  int64_t tokens;  /* between nodes */
  int64_t ports;   /* of arguments */
  int64_t nodes;
  int64_t work; /* of all nodes, as estimated */
  TdCostArea area;
  const TdCostStage *stage; /* of each run */
} TdSearchCost;

/* How designs are measured. What tasks take is remembered by their text, as most steps leave most
 * tasks alone. */
typedef struct TdSearchMeter {
  TdRewrite *r;
  TdArena *arena;
  const TdTarget *clock, *parts; /* of runs; of estimates */
  int64_t nodes;                 /* of the design as it is */
  bool timed;                    /* there are runs: small sizes, on which they end soon */
  TdMap known;
} TdSearchMeter;

/* A meter for mappings of p on a device. Without one, runs are those of ideal hardware, as runs
 * with a clock are by default, and estimates, which decide where those are alike or take too long,
 * are of the u280. False with d filled: the times of p cannot be known. */
bool td_search_meter(TdSearchMeter *m, TdRewrite *r, const TdTarget *device, const TdProg *p,
                     TdDiag *d);
/* All but cycles, which are those of the longest stage; what is returned is owned by a. */
bool td_search_estimate(TdSearchMeter *m, TdArena *a, const TdProg *p, const TdGraph *g,
                        TdSearchCost *out, TdDiag *d);
/* The cycles of a run, scratch in a; false: it did not end. */
bool td_search_clock(const TdSearchMeter *m, TdArena *a, const TdProg *p, int64_t *cycles);

#endif
