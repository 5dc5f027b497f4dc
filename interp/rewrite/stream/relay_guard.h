/* relay_guard.h - an operand of a task that is moved under conditions which differ from instance to
 * instance. */
#ifndef TD_REWRITE_STREAM_RELAY_GUARD_H
#define TD_REWRITE_STREAM_RELAY_GUARD_H

#include "rewrite/util.h"

/* What is moved, and for whom. */
typedef struct TdRelayGuard {
  const TdStmt *move; /* buffer = load, or the reverse */
  const TdExpr *load;
  bool gather;                 /* the reverse */
  TdSym axis;                  /* the coordinate along which it is relayed, or NULL */
  const TdSym *coord;          /* those that the task that feeds or drains it has not */
  const TdExpr *const *extent; /* of each of them */
  size_t ncoord;
} TdRelayGuard;

/* Whether e depends on such a coordinate. */
bool td_relay_differs(const TdRelayGuard *q, const TdExpr *e);
/* The task where no condition or loop around the nest of the move depends on such a coordinate:
 * conditions that the element needs are directly around it, the others are not. The task itself
 * where there is none, or where what would be loaded is not there. */
const TdUnit *td_relay_unguard(TdRewrite *r, const TdRelayGuard *q, const TdUnit *task);

#endif
