/* range.c - questions about one place: loops around it are parameters there. */
#include "analysis/range/range.h"

/* The facts at a statement, as one system; inexact ones only allow more. */
typedef struct Place {
  const TdAsk *q;
  TdArena *a;
  TdSpace *space;
  TdEnv env;
  const TdNest *context;
} Place;

/* Fills p, whose env must not move; its memory is freed with p->a. */
static void stand_at(Place *p, const TdAsk *q, const TdStmt *at) {
  *p = (Place){.q = q, .a = td_arena_scratch(td_affine_ctx(q->affine)), .env = {.unit = q->unit}};
  p->space = td_access_space(p->a);
  TdNestMaker m = {q->prog->store->session, p->space, &p->env};
  p->context = td_nest_context(&m, at);
}

/* A lowering at p. */
static TdLower lower_at(const Place *p) {
  return (TdLower){.session = p->q->prog->store->session, .space = p->space, .env = &p->env};
}

TdTruth td_range_holds(const TdAsk *q, const TdStmt *at, const TdExpr *cond, bool at_values) {
  Place p;
  stand_at(&p, q, at);
  TdLower w = lower_at(&p);
  TdTruth found = TD_NO;
  do {
    TdSys s = td_sys_copy(p.a, &p.context->dom[0]);
    w.sys = &s;
    td_lower_cond(&w, cond, false);
    if (at_values) td_nest_at_values(p.space, q->unit, &s);
    TdTruth t = td_affine_has_point(q->affine, &s);
    if (t == TD_YES || found == TD_NO) found = t;
  } while (found != TD_YES && td_lower_next(&w));
  bool exact = !w.inexact && p.context->exact;
  td_arena_free(p.a);
  return found == TD_NO ? TD_YES : found == TD_YES && exact ? TD_NO : TD_UNKNOWN;
}

/* The greatest value of sign * e at p in all its cases. */
static bool greatest(const Place *p, const TdExpr *e, int sign, int64_t *v) {
  TdLower w = lower_at(p);
  bool some = false;
  do {
    TdSys s = td_sys_copy(p->a, &p->context->dom[0]);
    TdAff f;
    int64_t most;
    w.sys = &s;
    if (!td_lower_expr(&w, e, &f)) return false;
    td_nest_at_values(p->space, p->q->unit, &s);
    TdTruth t = td_affine_max(p->q->affine, &s, td_sys_scale(p->a, sign, f, 0), &most);
    if (t == TD_NO && td_affine_has_point(p->q->affine, &s) == TD_NO) continue;
    if (t != TD_YES) return false;
    if (!some || most > *v) *v = most;
    some = true;
  } while (td_lower_next(&w));
  return some;
}

bool td_range_of(const TdAsk *q, const TdStmt *at, const TdExpr *e, int64_t *lo, int64_t *hi) {
  if (td_unit_value(q->unit, e, lo)) {
    *hi = *lo;
    return true;
  }
  Place p;
  int64_t least;
  stand_at(&p, q, at);
  bool ok = greatest(&p, e, -1, &least) && greatest(&p, e, 1, hi);
  if (ok) *lo = -least;
  td_arena_free(p.a);
  return ok;
}

bool td_range_runs(const TdAsk *q, const TdStmt *loop, bool at_values) {
  const TdType *t = td_type_bool(q->prog->store->session);
  const TdExpr *cond = td_expr_op2(q->arena, TD_OP_LT, t, td_for_lo(loop), td_for_hi(loop));
  return td_range_holds(q, loop, cond, at_values) == TD_YES;
}

bool td_range_trip(const TdAsk *q, const TdStmt *loop, int64_t *n) {
  TdSession *s = q->prog->store->session;
  int64_t most;
  const TdExpr *gap = td_lin_minus(s, q->arena, td_for_hi(loop), td_for_lo(loop));
  if (!td_range_of(q, loop, gap, n, &most) || *n != most || *n > INT64_MAX - loop->step)
    return false;
  *n = *n <= 0 ? 0 : (*n + loop->step - 1) / loop->step;
  return true;
}

const TdExpr *td_range_trip_expr(const TdAsk *q, const TdStmt *loop) {
  TdSession *s = q->prog->store->session;
  const TdExpr *gap = td_lin_minus(s, q->arena, td_for_hi(loop), td_for_lo(loop));
  const TdExpr *n = td_lin_ceildiv(s, q->arena, gap, loop->step);
  const TdExpr *zero = td_expr_index(s, q->arena, 0, loop->loc);
  const TdExpr *cond =
      td_expr_op2(q->arena, TD_OP_LE, td_type_bool(s), td_for_lo(loop), td_for_hi(loop));
  if (td_range_holds(q, loop, cond, false) == TD_YES) return n;
  return td_expr_op2(q->arena, TD_OP_MAX, td_type_index(s), n, zero);
}
