/* copied.h - what a step evaluates again, elsewhere or later than the program did. A primitive
 * declares each such expression, which asks whether it is the same there; a debug build (TD_DEBUG)
 * finds those that were not declared. docs/soundness.md, 1. */
#ifndef TD_COPIED_H
#define TD_COPIED_H

#include "rewrite/prim.h"

/* Declares that the step evaluates e, which statement `from` of u evaluates, again within `to`.
 * False with r->diag filled ("value-changes") where something in between may change it. */
bool td_copied(TdRewrite *r, const TdUnit *u, const TdExpr *e, const TdStmt *from,
               const TdStmt *to);
/* The same of where a loop begins, or (`both`) of both of its bounds, within its body
 * ("bound-written"). */
bool td_copied_bounds(TdRewrite *r, const TdUnit *u, const TdStmt *loop, bool both);

/* Declares what stands for something else from now on, whose primitive asked itself. */
void td_copied_note(TdRewrite *r, const TdExpr *e);

/* Whether each load that a statement of `now`, made from r->prog, has and that its former self has
 * not was declared; else a bug, which r->diag tells. */
bool td_copied_check(TdRewrite *r, const TdProg *now);

#endif
