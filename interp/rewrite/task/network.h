/* network.h - lifted kernels become the tasks of a design that takes the place of statements. */
#ifndef TD_REWRITE_TASK_NETWORK_H
#define TD_REWRITE_TASK_NETWORK_H

#include "rewrite/kernel/lift.h"

/* A task to be: a lifted kernel over a grid of `rank` axes, which its coordinates answer to. */
typedef struct TdPart {
  const char *name; /* of the task; unique in the design */
  TdLifted lifted;
  uint8_t rank;
  const TdExpr *map[TD_MAX_RANK];
} TdPart;

/* The n statements of a block of unit u that a design takes the place of, and the design. */
typedef struct TdNetworkPlan {
  const TdUnit *unit;
  const TdStmt *const *stmt;
  size_t n;
  const char *name; /* of the design, if it is not the unit itself: like this */
  const TdPart *part;
  size_t nparts;
  const TdStream *stream;
  size_t nstream;
} TdNetworkPlan;

/* r->prog with the design in place. When nothing else is left of the unit, and it is no task
 * itself, it becomes the design under its own name and parameters; else it calls the design. */
const TdProg *td_network_put(TdRewrite *r, const TdNetworkPlan *plan);

/* An unused name for a task and its kernel in a design of unit u: like `want`. */
const char *td_network_task_name(TdRewrite *r, const TdPart *part, size_t n, const char *want);

#endif
