/* reverse.c - parallel loops run backwards: what they may not notice. */
#include "tests/fuzz/oracle.h"

/* The search for the n-th parallel loop. */
typedef struct Search {
  int n;
  const TdStmt *loop;
} Search;

static bool look(void *ud, const TdStmt *s) {
  Search *x = ud;
  if (s->kind == TD_STMT_FOR && td_attrs_get(s->attrs, TD_ATTR_PARALLEL) && x->n-- == 0)
    x->loop = s;
  return !x->loop;
}

static bool is_pure(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_LOAD;
}

/* The loop with its variable replaced by its mirror image, 2 * lo + step * (trips - 1) - v; the
 * loop itself when its bounds read memory. */
static const TdStmt *mirror(TdStore *st, const TdStmt *loop) {
  TdSession *s = st->session;
  TdArena *a = st->arena;
  const TdExpr *lo = td_for_lo(loop), *hi = td_for_hi(loop);
  if (!td_walk_expr(lo, is_pure, NULL) || !td_walk_expr(hi, is_pure, NULL)) return loop;
  const TdExpr *v = td_expr_var(a, loop->sym, td_type_index(s), loop->loc);
  const TdExpr *trips = td_lin_ceildiv(s, a, td_lin_minus(s, a, hi, lo), loop->step);
  const TdExpr *one = td_expr_index(s, a, 1, loop->loc);
  const TdExpr *last =
      td_lin_plus(s, a, lo, td_lin_times(s, a, td_lin_minus(s, a, trips, one), loop->step));
  TdSubst u = td_subst_new(st);
  td_subst_expr(&u, loop->sym, td_lin_minus(s, a, td_lin_plus(s, a, last, lo), v));
  const TdStmt *body = td_subst_in_stmt(&u, td_for_body(loop));
  return td_stmt_with_kids(st, loop, &body, 1);
}

const TdProg *reverse_parallel(TdArena *a, const TdProg *p, int n) {
  Search x = {.n = n};
  for (size_t i = 0; i < p->nunit; i++) {
    const TdUnit *u = p->unit[i];
    if (!u->body) continue;
    td_walk_stmt(td_arena_ctx(a), u->body, look, &x);
    if (!x.loop) continue;
    const TdStmt *now = mirror(p->store, x.loop);
    const TdStmt *body = td_edit_replace(p->store, u->body, x.loop->uid, &now, 1);
    return td_prog_with(p, td_unit_with_body(p->store, u, body));
  }
  return NULL;
}
