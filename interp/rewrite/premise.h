/* premise.h - what a call assumed of its arguments, kept where the call goes. */
#ifndef TD_PREMISE_H
#define TD_PREMISE_H

#include "ir/subst.h"
#include "rewrite/util.h"

/* A kernel that does nothing but assume what some unit does of its scalars and sizes, and what its
 * own parameters stand for there. */
typedef struct TdPremise {
  const TdUnit *unit;
  const TdExpr *const *of; /* parallel to unit->param: a VAR or SIZE of that unit */
} TdPremise;

/* That kernel for those assumptions of u that speak of more than sizes. */
TdPremise td_premise_of(TdRewrite *r, const TdUnit *u);
/* A call of it, with what `sub` makes of u's parameters and sizes. */
const TdStmt *td_premise_call(TdRewrite *r, const TdPremise *p, const TdSubst *sub, TdLoc loc);

#endif
