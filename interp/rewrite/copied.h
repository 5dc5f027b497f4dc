/* copied.h - what a step evaluates again, elsewhere or later than the program did. A primitive
 * declares each such expression, which asks whether it is the same there; a debug build (TD_DEBUG)
 * finds those that were not declared. docs/soundness.md, 1. */
#ifndef TD_COPIED_H
#define TD_COPIED_H

#include "rewrite/prim.h"

/* Declares that the step evaluates where a loop of u begins, or (`both`) both of its bounds, again
 * within its body. False with r->diag filled ("bound-written") where the body may change them. */
bool td_copied_bounds(TdRewrite *r, const TdUnit *u, const TdStmt *loop, bool both);

/* Declares what stands for something else from now on, whose primitive asked itself. */
void td_copied_note(TdRewrite *r, const TdExpr *e);

/* Whether each load that a statement of `now`, made from r->prog, has and that its former self has
 * not was declared; else a bug, which r->diag tells. */
bool td_copied_check(TdRewrite *r, const TdProg *now);

#endif
