/* carry.h - questions about one tree: what a loop carries, and what may change places. */
#ifndef TD_CARRY_H
#define TD_CARRY_H

#include "analysis/verdict.h"

/* Whether iterations of `loop` may run in any order, or side by side (parallel, unfold). */
TdVerdict td_carry_loop(const TdAsk *q, const TdStmt *loop);

/* The arrays that `loop` writes (declared outside it) on which it carries no dependence, in order
 * of first use. Returns how many; *sym is owned by q->arena. */
size_t td_carry_free(const TdAsk *q, const TdStmt *loop, const TdSym **sym);

/* Whether two adjacent statements may change places. */
TdVerdict td_carry_exchange(const TdAsk *q, const TdStmt *first, const TdStmt *second);

#endif
