/* wide.h - words of more than 64 bits: they are moved, cut, put together, & | ~; of what operators
 * compute beyond 64 bits, only the low 64 are known (docs/numbers.md). */
#ifndef TD_IR_NUM_WIDE_H
#define TD_IR_NUM_WIDE_H

#include "ir/unit.h"

/* The operator because of which only the low 64 bits of e, of a type with more, are known; NULL:
 * all are, or it has no more. */
const TdExpr *td_wide_cut(const TdExpr *e);

/* Whether nothing in p uses bits beyond the low 64 of what an operator computes; else d says
 * where. */
bool td_wide_check(const TdProg *p, TdDiag *d);

#endif
