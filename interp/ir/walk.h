/* walk.h - visiting, mapping and copying; the same pointer comes back when nothing changed. */
#ifndef TD_WALK_H
#define TD_WALK_H

#include "ir/subst.h"

/* Visits e and everything below it, parents first; stops and returns false when fn does. */
typedef bool (*TdExprVisit)(void *ud, const TdExpr *e);
bool td_walk_expr(const TdExpr *e, TdExprVisit fn, void *ud);

/* Visits s and the statements below it, in source order, parents first; stops when fn returns
 * false. */
typedef bool (*TdStmtVisit)(void *ud, const TdStmt *s);
bool td_walk_stmt(TdCtx *c, const TdStmt *s, TdStmtVisit fn, void *ud);

/* Visits every expression root and everything below it, of s and of the statements below it. */
bool td_walk_exprs(TdCtx *c, const TdStmt *s, TdExprVisit fn, void *ud);

/* Rewrites bottom up: fn gets a node whose kids were already rewritten and returns it or another.
 */
typedef const TdExpr *(*TdExprMap)(void *ud, const TdExpr *e);
const TdExpr *td_walk_map_expr(TdArena *a, const TdExpr *e, TdExprMap fn, void *ud);
/* Rewrites every expression of s and below; statements keep their uids. */
const TdStmt *td_walk_map(TdStore *st, const TdStmt *s, TdExprMap fn, void *ud);

/* A copy of s: fresh uids with origin, fresh symbols for what it declares, then the substitution u
 * (may be NULL). */
const TdStmt *td_walk_copy(TdStore *st, const TdStmt *s, const TdSubst *u);

/* Whether s, a body, may leave the loop around it, or the unit: by a break or a return. */
bool td_walk_leaves(const TdStmt *s);

/* Whether symbol v occurs in e, or in s or below. */
bool td_walk_uses_expr(const TdExpr *e, TdSym v);
bool td_walk_uses(TdCtx *c, const TdStmt *s, TdSym v);

#endif
