/* merge_arms.c - merging two blocks under a condition: loops in lockstep, differences under `if`.
 * */
#include "rewrite/loop/merge_arms.h"

typedef struct Arms {
  TdRewrite *r;
  const TdExpr *cond;
  TD_VEC(const TdStmt *) out;
} Arms;

/* The attributes that keep two loops apart if they differ. */
static TdAttrs telling(TdRewrite *r, TdAttrs l) {
  return td_attrs_drop(r->arena, td_attrs_drop(r->arena, l, TD_ATTR_BAND), TD_ATTR_AT);
}

static bool same_exprs(const TdStmt *x, const TdStmt *y) {
  for (uint32_t i = 0; i < x->nexpr && i < y->nexpr; i++)
    if (!td_equal_expr(x->expr[i], y->expr[i])) return false;
  return x->nexpr == y->nexpr;
}

/* Whether x and y are one statement: the same store, or loops over the same range. */
static bool is_shared(TdRewrite *r, const TdStmt *x, const TdStmt *y) {
  if (x->kind != y->kind || !same_exprs(x, y)) return false;
  if (x->kind == TD_STMT_STORE) return true;
  return x->kind == TD_STMT_FOR && x->step == y->step &&
         td_attrs_equal(telling(r, x->attrs), telling(r, y->attrs)) &&
         !td_util_leaves_by_break(td_for_body(x)) && !td_util_leaves_by_break(td_for_body(y));
}

/* Adds statements [i, to) of x where the condition holds, [j, until) of y where it does not. */
static void add_apart(Arms *m, const TdStmt *x, size_t i, size_t to, const TdStmt *y, size_t j,
                      size_t until) {
  TdStore *st = m->r->store;
  const TdExpr *cond = m->cond;
  const TdStmt *then = td_edit_slice(st, x, i, to), *other = td_edit_slice(st, y, j, until);
  if (i == to && j == until) return;
  if (i == to) {
    cond = td_expr_op(st->arena, TD_OP_NOT, cond->type, &cond, 1, cond->loc);
    then = other;
  }
  bool both = i < to && j < until;
  td_vec_push(st->arena, &m->out, td_stmt_if(st, cond, then, both ? other : NULL, x->loc));
}

/* Adds what x and y share: a store, or a loop that holds both bodies. */
static void add_shared(Arms *m, const TdStmt *x, const TdStmt *y) {
  TdStore *st = m->r->store;
  if (x->kind == TD_STMT_FOR) {
    TdSubst sub = td_subst_new(st);
    td_subst_expr(&sub, y->sym, td_util_var(m->r, x->sym));
    const TdStmt *other = td_subst_in_stmt(&sub, td_for_body(y));
    const TdStmt *body = td_merge_arms_merge(m->r, m->cond, td_for_body(x), other);
    x = td_stmt_with_kids(st, x, &body, 1);
  }
  td_vec_push(st->arena, &m->out, x);
}

const TdStmt *td_merge_arms_merge(TdRewrite *r, const TdExpr *cond, const TdStmt *x,
                                  const TdStmt *y) {
  Arms m = {.r = r, .cond = cond};
  size_t i = 0, j = 0;
  bool scoped = td_util_declares(x) || td_util_declares(y);
  td_ctx_enter(r->session->ctx);
  for (size_t a = 0; a < x->nkid && !scoped; a++)
    for (size_t b = j; b < y->nkid; b++) {
      if (!is_shared(r, x->kid[a], y->kid[b])) continue;
      add_apart(&m, x, i, a, y, j, b);
      add_shared(&m, x->kid[a], y->kid[b]);
      i = a + 1;
      j = b + 1;
      break;
    }
  add_apart(&m, x, i, x->nkid, y, j, y->nkid);
  td_ctx_leave(r->session->ctx);
  return td_stmt_with_kids(r->store, x, m.out.at, m.out.n);
}
