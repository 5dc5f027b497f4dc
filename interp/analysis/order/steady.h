/* steady.h - whether an expression has the same value where it is evaluated again: the one question
 * that every rewrite asks which copies, moves or delays an expression. docs/soundness.md, 1. */
#ifndef TD_ANALYSIS_ORDER_STEADY_H
#define TD_ANALYSIS_ORDER_STEADY_H

#include "analysis/order/verdict.h"

typedef struct TdSteady {
  bool same;
  const TdStmt *between; /* the store, call, get.. that perhaps writes what the expression reads */
  TdSym array;           /* what it writes */
  bool exact;            /* it does write it, in some execution */
} TdSteady;

/* Whether e, evaluated by the statement `from` of q->unit (in its header, if it is a loop), has
 * that value at each evaluation within the statement `to`, in the same execution of the block that
 * holds both, or of `from` where that holds `to`. Element by element, through calls; variables of
 * loops that both stand in do not change. Perhaps not is no. */
TdSteady td_steady_at(const TdAsk *q, const TdExpr *e, const TdStmt *from, const TdStmt *to);

#endif
