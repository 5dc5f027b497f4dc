/* apart.h - views of one array in one statement that may share no element: those that a call
 * passes, of which the callee writes one; the target and the operands of a tensor statement, which
 * may meet element on element only. What is known is proved; the rest is looked at in every run. */
#ifndef TD_ANALYSIS_ORDER_APART_H
#define TD_ANALYSIS_ORDER_APART_H

#include "affine/access.h"

/* Two views that are not proved to be apart. */
typedef struct TdApart {
  const TdExpr *meet; /* a condition under which they are not, over what they are indexed by */
  const char *what;   /* what is said then, and where */
  TdLoc loc;
} TdApart;

/* Those of a CALL or SET of q->unit's body; how many. Owned by q->arena. */
size_t td_apart_open(const TdAsk *q, const TdStmt *s, const TdApart **out);

#endif
