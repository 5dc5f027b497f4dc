/* alias.h - what calls are passed: memory that is written is passed once, and constants are not
 * written. */
#ifndef TD_ANALYSIS_ORDER_ALIAS_H
#define TD_ANALYSIS_ORDER_ALIAS_H

#include "affine/access.h"

/* Checks all calls of q->unit's body: two views of one array, of which the callee writes one, share
 * no element (exactly, where indices are known; the run sees to the others), and no constant is
 * written. False: d says which, codes overlap and assign-constant. */
bool td_alias_check(const TdAsk *q, TdDiag *d);

#endif
