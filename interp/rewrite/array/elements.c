/* elements.c - a tensor statement, element by element. */
#include "rewrite/array/elements.h"

typedef struct Elements {
  TdRewrite *r;
  const TdExpr *at[TD_MAX_RANK]; /* the element: one loop variable for each dimension */
} Elements;

/* The element of a view as a load. */
static const TdExpr *element_of_view(const Elements *m, const TdExpr *v) {
  TdSession *ss = m->r->session;
  TdArena *a = m->r->store->arena;
  const TdExpr *index[TD_MAX_RANK];
  for (uint32_t d = 0; d < v->nkid; d++) {
    int out = v->u.dim[d].out;
    index[d] = v->kid[d];
    if (out >= 0)
      index[d] = td_lin_plus(ss, a, index[d], td_lin_times(ss, a, m->at[out], v->u.dim[d].step));
  }
  return td_expr_load(a, v->sym, v->type->elem, index, (int)v->nkid, v->loc);
}

/* The element of e, or NULL if it takes more than that of its operands. */
static const TdExpr *element(const Elements *m, const TdExpr *e) {
  TdArena *a = m->r->store->arena;
  const TdExpr *kid[4];
  if (e->type->kind != TD_T_TENSOR) return e;
  if (e->kind == TD_EXPR_VIEW) return element_of_view(m, e);
  if ((e->kind != TD_EXPR_OP && e->kind != TD_EXPR_CAST) || e->nkid > 4) return NULL;
  for (uint32_t i = 0; i < e->nkid; i++)
    if (!(kid[i] = element(m, e->kid[i]))) return NULL;
  if (e->kind == TD_EXPR_CAST) return td_expr_cast(a, e->type->elem, kid[0], e->implicit);
  return td_expr_op(a, (TdOp)e->op, e->type->elem, kid, (int)e->nkid, e->loc);
}

/* A look for uses of what a statement writes that are of other elements than those it writes. */
static bool is_in_place(void *ud, const TdExpr *e) {
  const TdExpr *view = ud;
  return e->sym != view->sym || (e->kind == TD_EXPR_VIEW && td_equal_expr(e, view));
}

const TdStmt *td_elements_of(TdRewrite *r, const TdUnit *u, const TdStmt *s) {
  TdStore *st = r->store;
  const TdExpr *view = s->expr[0];
  Elements m = {.r = r};
  TdSym var[TD_MAX_RANK];
  for (int d = 0; d < view->type->rank; d++) {
    const char *want = td_text_fmt(r->arena, "%s_%d", view->sym->name, d);
    var[d] = td_store_sym(st, td_edit_fresh_name(st, u, want), TD_SYM_LOOP);
    m.at[d] = td_util_var(r, var[d]);
  }
  const TdExpr *value = element(&m, s->expr[1]);
  if (!value || !td_walk_expr(s->expr[1], is_in_place, (void *)(uintptr_t)view)) {
    td_util_refuse(r, TD_UNSUPPORTED, "elements", s->loc,
                   "this statement on '%s' is not one element at a time", view->sym->name);
    return NULL;
  }
  const TdStmt *now = td_stmt_store(st, element_of_view(&m, view), value, s->loc);
  for (int d = view->type->rank; d-- > 0;)
    now = td_stmt_for(st, var[d], td_util_const(r, 0), view->type->dim[d], 1,
                      td_util_block1(r, now), s->loc);
  TdStmt *same = td_arena_copy(st->arena, now, sizeof *now);
  same->uid = s->uid;
  return same;
}
