/* loop_carried.h - questions about one tree: what a loop carries, and what may change places. */
#ifndef TD_ANALYSIS_ORDER_LOOP_CARRIED_H
#define TD_ANALYSIS_ORDER_LOOP_CARRIED_H

#include "analysis/order/verdict.h"

/* Whether iterations of `loop` may run in any order, or side by side (parallel, unfold). */
TdVerdict td_loop_carried_loop(const TdAsk *q, const TdStmt *loop);

/* The arrays that `loop` writes (declared outside it) on which it carries no dependence, in order
 * of first use. Returns how many; *sym is owned by q->arena. */
size_t td_loop_carried_free(const TdAsk *q, const TdStmt *loop, const TdSym **sym);

/* Whether two adjacent statements may change places. */
TdVerdict td_loop_carried_exchange(const TdAsk *q, const TdStmt *first, const TdStmt *second);

#endif
