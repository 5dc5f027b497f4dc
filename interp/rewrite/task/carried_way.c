/* carried_way.c - iterations at a distance, and the ends of streams between them. */
#include "rewrite/task/carried.h"

const TdExpr *td_carried_and(const TdCarried *c, const TdExpr *x, const TdExpr *y) {
  if (!x || !y) return x ? x : y;
  return td_expr_op2(c->r->store->arena, TD_OP_AND, td_type_bool(c->r->session), x, y);
}

const TdExpr *td_carried_not(const TdCarried *c, const TdExpr *x) {
  return td_expr_op(c->r->store->arena, TD_OP_NOT, td_type_bool(c->r->session), &x, 1, x->loc);
}

static const TdExpr *compare(const TdCarried *c, TdOp op, const TdExpr *x, const TdExpr *y) {
  return td_expr_op2(c->r->store->arena, op, td_type_bool(c->r->session), x, y);
}

const TdExpr *td_carried_moved(const TdCarried *c, const TdExpr *e, const TdStride *shift,
                               int sign) {
  TdRewrite *r = c->r;
  TdSubst sub = td_subst_new(r->store);
  for (size_t k = 0; k < c->nloop; k++)
    if (shift->by[k])
      td_subst_expr(&sub, c->loop[k]->sym,
                    td_lin_plus(r->session, r->store->arena, td_util_var(r, c->loop[k]->sym),
                                td_util_const(r, sign * shift->by[k])));
  return td_subst_in_expr(&sub, e);
}

/* The part of td_carried_inside about loop k. */
static const TdExpr *inside_loop(const TdCarried *c, const TdStride *shift, int sign, size_t k) {
  TdRewrite *r = c->r;
  const TdStmt *loop = c->loop[k];
  const TdExpr *lo = td_carried_moved(c, td_for_lo(loop), shift, sign);
  const TdExpr *hi = td_carried_moved(c, td_for_hi(loop), shift, sign);
  const TdExpr *at = td_util_var(r, loop->sym), *cond = NULL;
  int64_t by = sign * shift->by[k];
  bool low = by < 0 || lo != td_for_lo(loop), high = by > 0 || hi != td_for_hi(loop);
  lo = td_lin_plus(r->session, r->store->arena, lo, td_util_const(r, -by));
  hi = td_lin_plus(r->session, r->store->arena, hi, td_util_const(r, -by));
  if (low) cond = compare(c, TD_OP_LE, lo, at);
  if (high) cond = td_carried_and(c, cond, compare(c, TD_OP_LT, at, hi));
  return cond;
}

const TdExpr *td_carried_in_time(const TdCarried *c, const TdStride *shift, int sign) {
  const TdExpr *cond = NULL;
  for (size_t k = 0; k < c->nloop; k++)
    if (c->axis[k] < 0) cond = td_carried_and(c, cond, inside_loop(c, shift, sign, k));
  return cond;
}

const TdExpr *td_carried_inside(const TdCarried *c, const TdStride *shift, int sign) {
  const TdExpr *cond = NULL;
  for (size_t k = 0; k < c->nloop; k++)
    if (c->axis[k] >= 0) cond = td_carried_and(c, cond, inside_loop(c, shift, sign, k));
  return td_carried_and(c, cond, td_carried_in_time(c, shift, sign));
}

const TdExpr *td_carried_goes_on(const TdCarried *c, const TdStride *shift) {
  const TdExpr *later = c->guard ? td_carried_moved(c, c->guard, shift, 1) : NULL;
  return td_carried_and(c, td_carried_inside(c, shift, 1), later == c->guard ? NULL : later);
}

const TdExpr *td_carried_at(const TdCarried *c, int axis) {
  TdRewrite *r = c->r;
  const TdStmt *loop = c->loop[c->of_axis[axis]];
  return td_lin_minus(r->session, r->store->arena, td_util_var(r, loop->sym), td_for_lo(loop));
}

const TdExpr *td_carried_end(const TdCarried *c, const TdCarriedStream *s, const TdStride *shift,
                             const TdType *token) {
  TdRewrite *r = c->r;
  const TdExpr *index[TD_MAX_RANK];
  TdViewDim dim[TD_MAX_RANK];
  int n = 0;
  for (int a = 0; a < c->rank; a++) {
    TdArena *arena = r->store->arena;
    int64_t one;
    if (td_expr_is_const(s->n[a], &one) && one == 1) continue;
    int64_t by = shift ? shift->by[c->of_axis[a]] : 0;
    index[n] = td_lin_plus(r->session, arena, td_carried_at(c, a), td_util_const(r, by));
    index[n] = td_lin_minus(r->session, arena, index[n], s->lo[a]);
    dim[n++] = (TdViewDim){.step = 1, .out = -1};
  }
  const TdType *t = td_type_port(r->session, token, 0, NULL, false);
  return td_expr_view(r->store->arena, s->stream.sym, t, index, dim, n, c->loop[0]->loc);
}

const TdExpr *td_carried_is_result(const TdCarried *c, const TdCarriedArray *a) {
  const TdExpr *cond = NULL;
  for (uint32_t d = 0; d < a->place->nkid; d++) {
    int64_t same;
    if (td_lin_diff(c->r->session, a->place->kid[d], a->result[d], &same) && !same) continue;
    cond = td_carried_and(c, cond, compare(c, TD_OP_EQ, a->place->kid[d], a->result[d]));
  }
  return cond;
}

bool td_carried_same(const TdCarried *c, const TdExpr *x, const TdExpr *y) {
  if (x->sym != y->sym || x->nkid != y->nkid) return false;
  for (uint32_t d = 0; d < x->nkid; d++) {
    int64_t by;
    if (!td_lin_diff(c->r->session, x->kid[d], y->kid[d], &by) || by) return false;
  }
  return true;
}

const TdStmt *td_carried_if(const TdCarried *c, const TdExpr *cond, const TdStmt *s) {
  if (!cond) return s;
  return td_stmt_if(c->r->store, cond, td_util_block1(c->r, s), NULL, s->loc);
}
