/* deps.h - whether a rewrite keeps the order of all conflicting instances. */
#ifndef TD_ANALYSIS_ORDER_DEPS_H
#define TD_ANALYSIS_ORDER_DEPS_H

#include "analysis/order/verdict.h"

/* The former value of loop variable `old`, over the loop variables of the new tree: for all new
 * statements, or (uid not 0, and then first) for the new statement `uid`. */
typedef struct TdDepsMap {
  uint32_t uid;
  TdSym old;
  const TdExpr *expr;
} TdDepsMap;

/* Whether `after` may take the place of `before`, a statement of q->unit (or a new block around
 * consecutive statements of it), as far as order goes. A statement of `after` runs the instances of
 * the statement of `before` that has its uid, or else its origin. A loop that no entry of map
 * speaks of is the new loop with the same symbol, uid or origin. That each instance runs exactly
 * once is the caller's to see to. Roots should be as small as the rewrite: a while, a loop left by
 * break, or a root that returns is one statement, and must be left as it is inside. */
TdVerdict td_deps_order(const TdAsk *q, const TdStmt *before, const TdStmt *after,
                        const TdDepsMap *map, size_t nmap);

#endif
