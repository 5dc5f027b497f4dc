/* elements.c - a tensor statement, element by element. */
#include "rewrite/array/elements.h"

#include "lower/tensor_loops.h"

static bool has_no_product(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_TENSOR;
}

/* A look for uses of what a statement writes that are of other elements than those it writes. */
static bool is_in_place(void *ud, const TdExpr *e) {
  const TdExpr *view = ud;
  return e->sym != view->sym || (e->kind == TD_EXPR_VIEW && td_equal_expr(e, view));
}

const TdStmt *td_elements_of(TdRewrite *r, const TdUnit *u, const TdStmt *s) {
  TdStore *st = r->store;
  const TdExpr *view = s->expr[0];
  TdTensorLoops w = {r->session, st->arena, st, r->diag};
  TdSym var[TD_MAX_RANK];
  const TdExpr *at[TD_MAX_RANK];
  for (int d = 0; d < view->type->rank; d++) {
    const char *want = td_text_fmt(r->arena, "%s_%d", view->sym->name, d);
    var[d] = td_store_sym(st, td_edit_fresh_name(st, u, want), TD_SYM_LOOP);
    at[d] = td_util_var(r, var[d]);
  }
  if (!td_walk_expr(s->expr[1], has_no_product, NULL) ||
      !td_walk_expr(s->expr[1], is_in_place, (void *)(uintptr_t)view)) {
    td_util_refuse(r, TD_UNSUPPORTED, "elements", s->loc,
                   "this statement on '%s' is not one element at a time", view->sym->name);
    return NULL;
  }
  const TdExpr *value = td_tensor_loops_element(&w, s->expr[1], at);
  const TdStmt *now = td_stmt_store(st, td_tensor_loops_element(&w, view, at), value, s->loc);
  for (int d = view->type->rank; d-- > 0;)
    now = td_stmt_for(st, var[d], td_util_const(r, 0), view->type->dim[d], 1,
                      td_util_block1(r, now), s->loc);
  TdStmt *same = td_arena_copy(st->arena, now, sizeof *now);
  same->uid = s->uid;
  return same;
}
