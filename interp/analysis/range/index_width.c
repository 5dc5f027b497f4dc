/* index_width.c - ranges of indices by intervals: the loops around, the sizes, and sums of them. */
#include "analysis/range/index_width.h"

#include "analysis/range/range.h"

/* From lo to hi, both included. */
typedef struct Interval {
  bool known;
  int64_t lo, hi;
} Interval;

/* A walk over one unit under way. */
typedef struct Check Check;
struct Check {
  const TdAsk *q;
  TdArena *a;
  TdExprVisit visit;
  TdMap loop; /* TdSym -> const Interval * of the loops around */
  TdMap type; /* TdSym -> const TdType * of what is indexed */
  const TdStmt *at;
  TdDiag *d;
};

static Interval point(int64_t v) {
  return (Interval){true, v, v};
}

static Interval sum(Interval x, Interval y) {
  Interval r = {.known = x.known && y.known};
  r.known = r.known && td_sys_add64(x.lo, y.lo, &r.lo) && td_sys_add64(x.hi, y.hi, &r.hi);
  return r;
}

/* k * x. */
static Interval times(Interval x, int64_t k) {
  Interval r = {.known = x.known};
  int64_t least = k < 0 ? x.hi : x.lo, most = k < 0 ? x.lo : x.hi;
  r.known = r.known && td_sys_mul64(least, k, &r.lo) && td_sys_mul64(most, k, &r.hi);
  return r;
}

static Interval interval_of(Check *k, const TdExpr *e);

static Interval of_operator(Check *k, const TdExpr *e) {
  Interval x = interval_of(k, e->kid[0]), none = {0};
  Interval y = e->nkid > 1 ? interval_of(k, e->kid[1]) : none;
  bool by = y.known && y.lo == y.hi;
  switch (e->op) {
  case TD_OP_ADD: return sum(x, y);
  case TD_OP_SUB: return sum(x, times(y, -1));
  case TD_OP_NEG: return times(x, -1);
  case TD_OP_MUL: return by ? times(x, y.lo) : x.known && x.lo == x.hi ? times(y, x.lo) : none;
  case TD_OP_FLOORDIV:
    if (!x.known || !by || y.lo <= 0) return none;
    return (Interval){true, td_sys_floor64(x.lo, y.lo), td_sys_floor64(x.hi, y.lo)};
  case TD_OP_MOD: return by && y.lo > 0 ? (Interval){true, 0, y.lo - 1} : none;
  default: return none;
  }
}

/* What is seen of the values of index expression e. */
static Interval interval_of(Check *k, const TdExpr *e) {
  int64_t v;
  Interval r = {0};
  const Interval *loop;
  td_ctx_enter(td_affine_ctx(k->q->affine));
  if (e->kind == TD_EXPR_LIT)
    r = point((int64_t)e->u.bits);
  else if (e->kind == TD_EXPR_SIZE && td_unit_value(k->q->unit, e, &v))
    r = point(v);
  else if (e->kind == TD_EXPR_VAR && (loop = td_map_getp(&k->loop, e->sym)) != NULL)
    r = *loop;
  else if (e->kind == TD_EXPR_OP && e->type->kind == TD_T_INDEX)
    r = of_operator(k, e);
  td_ctx_leave(td_affine_ctx(k->q->affine));
  return r;
}

static bool is_small(Interval x) {
  return x.known && x.lo >= INT32_MIN && x.hi <= INT32_MAX;
}

static bool refuse(Check *k, const TdExpr *e, Interval x) {
  td_diag_set(k->d, TD_ILLEGAL, "index-wide", e->loc.line ? e->loc : k->at->loc,
              "an index beside data is an i32, and this one reaches %lld",
              (long long)(x.hi > INT32_MAX ? x.hi : x.lo));
  td_diag_help(k->d, "say a wider type: i64(...)");
  return false;
}

/* Whether index expression e fits an i32 at the statement under way, as far as can be told. */
static bool check_index(Check *k, const TdExpr *e) {
  Interval x = interval_of(k, e);
  if (is_small(x)) return true;
  if (!td_range_of(k->q, k->at, e, &x.lo, &x.hi)) return true;
  x.known = true;
  return is_small(x) || refuse(k, e, x);
}

/* Indices beside data. */
static bool visit_data(void *ud, const TdExpr *e) {
  if (e->kind != TD_EXPR_OP || e->type->kind == TD_T_INDEX) return true;
  for (uint32_t i = 0; i < e->nkid; i++) {
    const TdExpr *x = e->kid[i];
    bool as_data = x->kind == TD_EXPR_CAST && x->implicit && x->type->kind == TD_T_INT &&
                   x->kid[0]->type->kind == TD_T_INDEX;
    if (as_data && !check_index(ud, x->kid[0])) return false;
  }
  return true;
}

/* Whether index d of load or view e stays inside its array. */
static bool is_inside(Check *k, const TdExpr *e, const TdType *t, uint32_t d) {
  int64_t extent, n;
  Interval x = interval_of(k, e->kid[d]);
  if (!td_unit_value(k->q->unit, t->dim[d], &extent)) return false;
  if (e->kind == TD_EXPR_VIEW && e->u.dim[d].out >= 0) {
    if (!td_unit_value(k->q->unit, e->type->dim[e->u.dim[d].out], &n)) return false;
    if (n == 0) return x.known && x.lo >= 0 && x.hi <= extent;
    x = sum(x, times((Interval){true, 0, n - 1}, e->u.dim[d].step));
  }
  return x.known && x.lo >= 0 && x.hi < extent;
}

/* Indices of elements and views. */
static bool visit_access(void *ud, const TdExpr *e) {
  Check *k = ud;
  if (e->kind != TD_EXPR_LOAD && e->kind != TD_EXPR_VIEW) return true;
  const TdType *t = e->nkid ? td_map_getp(&k->type, e->sym) : NULL;
  for (uint32_t d = 0; d < e->nkid; d++)
    if (!t || d >= t->rank || !is_inside(k, e, t, d)) return false;
  return true;
}

static bool check_stmt(Check *k, const TdStmt *s);

/* The body of a loop, whose variable runs over what its bounds allow. */
static bool check_loop(Check *k, const TdStmt *s) {
  Interval *v = TD_NEW(k->a, Interval), lo = interval_of(k, td_for_lo(s));
  Interval hi = interval_of(k, td_for_hi(s));
  *v = (Interval){lo.known && hi.known && hi.hi > lo.lo, lo.lo, hi.hi - 1};
  td_map_putp(k->a, &k->loop, s->sym, v);
  bool ok = check_stmt(k, td_for_body(s));
  td_map_drop(&k->loop, (uint64_t)(uintptr_t)s->sym);
  return ok;
}

static bool check_stmt(Check *k, const TdStmt *s) {
  td_ctx_enter(td_affine_ctx(k->q->affine));
  k->at = s;
  bool declares = s->kind == TD_STMT_LOCAL || s->kind == TD_STMT_GET || s->kind == TD_STMT_SLOT;
  if (declares && s->sym) td_map_putp(k->a, &k->type, s->sym, (void *)(uintptr_t)s->type);
  bool ok = true;
  for (uint32_t i = 0; ok && i < s->nexpr; i++) ok = td_walk_expr(s->expr[i], k->visit, k);
  if (s->kind == TD_STMT_FOR)
    ok = ok && check_loop(k, s);
  else
    for (uint32_t i = 0; ok && i < s->nkid; i++) ok = check_stmt(k, s->kid[i]);
  td_ctx_leave(td_affine_ctx(k->q->affine));
  return ok;
}

/* Walks the body of q->unit; whether `visit` never said no. */
static bool walk_unit(const TdAsk *q, TdExprVisit visit, TdDiag *d) {
  const TdUnit *u = q->unit;
  if (!u->body) return true;
  TdArena *a = td_arena_scratch(td_affine_ctx(q->affine));
  Check k = {.q = q, .a = a, .visit = visit, .d = d};
  for (size_t i = 0; i < u->nparam; i++)
    td_map_putp(a, &k.type, u->param[i].sym, (void *)(uintptr_t)u->param[i].type);
  bool ok = check_stmt(&k, u->body);
  td_arena_free(a);
  return ok;
}

bool td_index_width_check(const TdAsk *q, TdDiag *d) {
  return walk_unit(q, visit_data, d);
}

bool td_index_width_inside(const TdAsk *q) {
  return walk_unit(q, visit_access, NULL);
}
