/* subst.h - replacing what symbols and sizes stand for; the same pointer comes back when nothing
 * changed. */
#ifndef TD_SUBST_H
#define TD_SUBST_H

#include "ir/lin.h"
#include "ir/unit.h"

/* What becomes what, all at the same time. */
typedef struct TdSubst {
  TdStore *store;
  TdMap expr; /* TdSym of a VAR -> const TdExpr * */
  TdMap sym;  /* TdSym of anything -> TdSym */
  TdMap view; /* TdSym of a tensor or port -> const TdExpr *, a VIEW */
  TdMap size; /* interned name -> const TdExpr * */
} TdSubst;
TdSubst td_subst_new(TdStore *st);
void td_subst_expr(TdSubst *u, TdSym from, const TdExpr *to);
void td_subst_sym(TdSubst *u, TdSym from, TdSym to);
/* `from` is the part of another tensor (or array of streams) that `view` denotes: its elements and
 * views become elements and views of the other. */
void td_subst_view(TdSubst *u, TdSym from, const TdExpr *view);
/* The size `name`, in types too. */
void td_subst_size(TdSubst *u, const char *name, const TdExpr *to);

/* t, e, or s with all below it, after the substitution; index expressions that changed are
 * simplified. */
const TdType *td_subst_in_type(const TdSubst *u, const TdType *t);
const TdExpr *td_subst_in_expr(const TdSubst *u, const TdExpr *e);
const TdStmt *td_subst_in_stmt(const TdSubst *u, const TdStmt *s);
/* A copy of `unit`, its body, the kernels of its tasks and its model after the substitution. */
TdUnit *td_subst_in_unit(const TdSubst *u, const TdUnit *unit);

#endif
