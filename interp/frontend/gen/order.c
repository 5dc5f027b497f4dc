/* order.c - left to right: an expression is built before the statement that holds it is
 * emitted, so what a later operand changes must be read before that operand. */
#include "frontend/gen/irgen.h"

TdPoint td_irgen_point(const TdIrgen *l) {
  return (TdPoint){l->out, l->out->n};
}

/* The arrays and scalars that statements write. */
typedef struct Written {
  TdArena *arena;
  TD_VEC(TdSym) at;
} Written;

static bool note_written(void *ud, const TdStmt *s) {
  Written *w = ud;
  if (s->kind == TD_STMT_STORE || s->kind == TD_STMT_SET)
    td_vec_push(w->arena, &w->at, s->expr[0]->sym);
  if (s->kind == TD_STMT_GET && s->nexpr > 1) td_vec_push(w->arena, &w->at, s->expr[1]->sym);
  for (uint32_t i = 0; s->kind == TD_STMT_CALL && i < s->nexpr; i++)
    if (s->expr[i]->kind == TD_EXPR_VIEW) td_vec_push(w->arena, &w->at, s->expr[i]->sym);
  return true;
}

static bool reads_any(const TdExpr *e, const Written *w) {
  for (size_t i = 0; i < w->at.n; i++)
    if (td_walk_uses_expr(e, w->at.at[i])) return true;
  return false;
}

/* A local that holds e, declared at place `at` of the statements under way. */
static TdSym hold(TdIrgen *l, const TdExpr *e, size_t at) {
  TdSym sym = td_irgen_declare_new(l, "held", TD_SYM_LOCAL);
  td_irgen_emit(l, td_stmt_local(l->store, sym, e->type, TD_INIT_VALUE, e, e->loc));
  const TdStmt *s = l->out->at[l->out->n - 1];
  for (size_t i = l->out->n - 1; i > at; i--) l->out->at[i] = l->out->at[i - 1];
  l->out->at[at] = s;
  return sym;
}

static const TdExpr *hold_scalar(TdIrgen *l, const TdExpr *e, size_t at) {
  return td_expr_load(l->arena, hold(l, e, at), e->type, NULL, 0, e->loc);
}

static bool has_no_load(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_LOAD;
}

/* Index expression e with its loads held: those of what was written, or all when w is NULL. */
static const TdExpr *hold_loads(TdIrgen *l, const TdExpr *e, const Written *w, size_t at) {
  if (w ? !reads_any(e, w) : td_walk_expr(e, has_no_load, NULL)) return e;
  if (e->kind == TD_EXPR_LOAD) return hold_scalar(l, e, at);
  td_ctx_enter(l->session->ctx);
  const TdExpr **kid = TD_NEWN(l->arena, const TdExpr *, e->nkid);
  for (uint32_t i = 0; i < e->nkid; i++) kid[i] = hold_loads(l, e->kid[i], w, at);
  td_ctx_leave(l->session->ctx);
  return td_expr_with_kids(l->arena, e, kid);
}

/* View or load v with the loads in its indices held, likewise. */
static const TdExpr *hold_indices(TdIrgen *l, const TdExpr *v, const Written *w, size_t at) {
  const TdExpr *kid[TD_MAX_RANK];
  bool changed = false;
  for (uint32_t d = 0; d < v->nkid; d++) {
    kid[d] = hold_loads(l, v->kid[d], w, at);
    changed |= kid[d] != v->kid[d];
  }
  return changed ? td_expr_with_kids(l->arena, v, kid) : v;
}

const TdExpr *td_irgen_freeze(TdIrgen *l, const TdExpr *view) {
  return hold_indices(l, view, NULL, l->out->n);
}

/* What the statements since a point write. */
static Written written_since(TdIrgen *l, TdPoint since) {
  Written w = {.arena = l->arena};
  for (size_t i = since.n; since.out == l->out && i < l->out->n; i++)
    td_walk_stmt(l->session->ctx, l->out->at[i], note_written, &w);
  return w;
}

/* v as it was at place `at`, before w was written. */
static TdVal keep(TdIrgen *l, TdVal v, const Written *w, size_t at) {
  bool pure = v.kind == TD_V_SCALAR || v.kind == TD_V_TENSOR || v.kind == TD_V_STREAM;
  if (!pure || !w->at.n) return v;
  if (v.e->kind == TD_EXPR_VIEW) {
    v.e = hold_indices(l, v.e, w, at);
  } else if (reads_any(v.e, w)) {
    const TdExpr *e = v.e;
    v.exact = v.exact || e->kind == TD_EXPR_OP;
    v.e = v.kind == TD_V_SCALAR
              ? hold_scalar(l, e, at)
              : td_expr_whole(l->session, l->arena, hold(l, e, at), e->type, e->loc);
  }
  return v;
}

TdVal td_irgen_keep(TdIrgen *l, TdVal v, TdPoint since) {
  Written w = written_since(l, since);
  return keep(l, v, &w, since.n);
}

const TdExpr *td_irgen_keep_place(TdIrgen *l, const TdExpr *place, TdPoint since) {
  Written w = written_since(l, since);
  return w.at.n ? hold_indices(l, place, &w, since.n) : place;
}

void td_irgen_keep_from(TdIrgen *l, TdVal *v, const TdExpr **place, size_t n) {
  for (size_t i = 0; i + 1 < n; i++) {
    Written w = {.arena = l->arena};
    for (size_t k = i + 1; k < n; k++) td_vec_push(l->arena, &w.at, place[k]->sym);
    v[i] = keep(l, v[i], &w, l->out->n);
    place[i] = hold_indices(l, place[i], &w, l->out->n);
  }
}

/* Makes v[0..n) what they were before the statements since a point. */
static void keep_all(TdIrgen *l, TdVal *v, size_t n, TdPoint since) {
  for (size_t i = 0; i < n; i++) v[i] = td_irgen_keep(l, v[i], since);
}

TdVal *td_irgen_values(TdIrgen *l, TdAstExprs e, size_t *n) {
  TD_VEC(TdVal) v = {0};
  for (size_t i = 0; i < e.n; i++) {
    TdPoint before = td_irgen_point(l);
    TdVal x = td_irgen_settle(l, td_irgen_expr(l, e.at[i]), "got");
    if (!td_irgen_ok(&x)) return NULL;
    keep_all(l, v.at, v.n, before);
    td_vec_push(l->arena, &v, x);
    for (size_t k = 0; i + 1 == e.n && k < x.nmore; k++) td_vec_push(l->arena, &v, x.more[k]);
  }
  *n = v.n;
  return v.at ? v.at : TD_NEWN(l->arena, TdVal, 1);
}
