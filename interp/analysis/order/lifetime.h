/* lifetime.h - which elements of an array hold a value at the same time: whether they may share
 * storage. */
#ifndef TD_ANALYSIS_ORDER_LIFETIME_H
#define TD_ANALYSIS_ORDER_LIFETIME_H

#include "analysis/order/verdict.h"

/* How the indices of an array are to fold. */
typedef struct TdFold {
  int rank;
  int64_t modulus[TD_MAX_RANK]; /* of each dimension: 0, it stays; 1, it goes; m, its index % m */
} TdFold;

/* Whether elements that lie `window` or more apart in dimension d, that agree in the dimensions
 * after it and that `fold` puts together in those before it, never hold values at the same time: no
 * read finds what was written to another one. `scope` is a block (or a new one around consecutive
 * statements of q->unit) that begins with the declaration of the array and holds all that touches
 * it, element by element; it has type `type`, and what is out of its range stops a run. The
 * verdict's first instance writes too early, its second one reads. */
TdVerdict td_lifetime_apart(const TdAsk *q, const TdStmt *scope, TdSym array, const TdType *type,
                            const TdFold *fold, int d, int64_t window);

#endif
