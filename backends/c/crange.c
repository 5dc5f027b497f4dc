/* crange.c - what loops and conditions say about index expressions: a lower bound is found by
 * putting, innermost variable first, the loop's bound in the variable's place. */
#include "backends/c/cfamily.h"

/* Bounds beyond this are not relied on, so that nothing here overflows. */
#define FAR ((int64_t)1 << 40)
#define TRIES 64

void td_crange_push_loop(TdCWriter *w, TdSym var, const TdExpr *lo, const TdExpr *hi) {
  td_vec_push(w->arena, &w->known, ((TdCKnown){.var = var, .lo = lo, .hi = hi}));
}

size_t td_crange_mark(const TdCWriter *w) {
  return w->known.n;
}

void td_crange_release(TdCWriter *w, size_t mark) {
  w->known.n = mark;
}

static TdLin lin(TdCWriter *w, const TdExpr *e) {
  return td_lin_of(w->session, w->arena, e);
}

static TdLin plus(TdCWriter *w, TdLin x, int64_t k, TdLin y) {
  return td_lin_add(w->session, w->arena, x, k, y);
}

static bool is_near(int64_t v) {
  return -FAR < v && v < FAR;
}

static bool lower(TdCWriter *w, TdLin x, size_t scope, int *tries, int64_t *v);

/* The least, or (sign < 0) the negated greatest, value of an atom that is no variable. */
static bool atom_bound(TdCWriter *w, const TdExpr *e, int sign, size_t scope, int *tries,
                       int64_t *v) {
  int64_t c;
  if (e->kind == TD_EXPR_SIZE) {
    *v = td_cfamily_size(w, e) * sign;
    return is_near(*v);
  }
  if (e->kind == TD_EXPR_CAST || e->kind == TD_EXPR_LOAD) {
    const TdType *t =
        e->kind == TD_EXPR_CAST && e->type->kind == TD_T_INDEX ? e->kid[0]->type : e->type;
    if (!td_type_is_integer(t) || t->w > 32) return false;
    int64_t top = (int64_t)1 << (t->w - td_type_is_signed(t));
    *v = sign > 0 ? td_type_is_signed(t) ? -top : 0 : 1 - top;
    return true;
  }
  if (e->kind != TD_EXPR_OP || e->nkid != 2) return false;
  bool by_constant = td_expr_is_const(e->kid[1], &c) && c > 0;
  if (e->op == TD_OP_MOD && by_constant) {
    *v = sign > 0 ? 0 : 1 - c;
    return true;
  }
  if (e->op == TD_OP_FLOORDIV && by_constant) {
    TdLin x = plus(w, (TdLin){0}, sign, lin(w, e->kid[0]));
    if (!lower(w, x, scope, tries, v)) return false;
    *v = sign > 0 ? *v / c - (*v % c < 0) : -(-*v / c - (-*v % c < 0));
    return true;
  }
  if (e->op != TD_OP_MIN && e->op != TD_OP_MAX) return false;
  int64_t a, b;
  bool has_a = lower(w, plus(w, (TdLin){0}, sign, lin(w, e->kid[0])), scope, tries, &a);
  bool has_b = lower(w, plus(w, (TdLin){0}, sign, lin(w, e->kid[1])), scope, tries, &b);
  bool either = (e->op == TD_OP_MAX) == (sign > 0);
  if (either ? !has_a && !has_b : !has_a || !has_b) return false;
  *v = !has_b ? a : !has_a ? b : either == (a > b) ? a : b;
  return true;
}

/* The innermost variable of x among the first `scope` things known; its place, or `scope`. */
static size_t innermost(TdCWriter *w, const TdLin *x, size_t scope) {
  for (size_t i = scope; i-- > 0;)
    if (w->known.at[i].var && td_lin_coef(x, w->known.at[i].var)) return i;
  return scope;
}

/* The greatest lower bound of x found by replacing variable i (with coefficient k) by `bound`, its
 * low end (k > 0) or one past its high end, trying both sides of a min or max that both hold. */
static bool replaced(TdCWriter *w, TdLin x, size_t i, int64_t k, const TdExpr *bound, int *tries,
                     int64_t *v) {
  TdOp both = k > 0 ? TD_OP_MAX : TD_OP_MIN;
  if (bound->kind == TD_EXPR_OP && bound->op == both) {
    int64_t a, b;
    bool has_a = replaced(w, x, i, k, bound->kid[0], tries, &a);
    bool has_b = replaced(w, x, i, k, bound->kid[1], tries, &b);
    *v = has_a && (!has_b || a > b) ? a : b;
    return has_a || has_b;
  }
  const TdExpr *var =
      td_expr_var(w->arena, w->known.at[i].var, td_type_index(w->session), bound->loc);
  TdLin y = plus(w, plus(w, x, -k, lin(w, var)), k, lin(w, bound));
  if (k < 0) y.constant -= k;
  return lower(w, y, i, tries, v);
}

/* A value that x is never below, knowing the first `scope` things. */
static bool lower(TdCWriter *w, TdLin x, size_t scope, int *tries, int64_t *v) {
  if (--*tries < 0) return false;
  size_t i = innermost(w, &x, scope);
  if (i < scope) {
    const TdCKnown *k = &w->known.at[i];
    int64_t coef = td_lin_coef(&x, k->var);
    return replaced(w, x, i, coef, coef > 0 ? k->lo : k->hi, tries, v);
  }
  int64_t sum = x.constant;
  for (size_t t = 0; t < x.n; t++) {
    int64_t coef = x.term[t].coef, b;
    if (!atom_bound(w, x.term[t].atom, coef > 0 ? 1 : -1, scope, tries, &b)) return false;
    int64_t k = coef < 0 ? -coef : coef;
    if (!is_near(b) || k > FAR / (1 + (b < 0 ? -b : b))) return false;
    sum += k * b;
    if (!is_near(sum)) return false;
  }
  *v = sum;
  return is_near(sum);
}

/* Whether 0 <= x: by itself, or because it is no less than a fact. */
static bool is_nonnegative(TdCWriter *w, TdLin x) {
  int64_t v;
  int tries = TRIES;
  if (lower(w, x, w->known.n, &tries, &v) && v >= 0) return true;
  for (size_t i = w->known.n; i-- > 0;) {
    if (w->known.at[i].var) continue;
    tries = TRIES;
    if (lower(w, plus(w, x, -1, w->known.at[i].fact), w->known.n, &tries, &v) && v >= 0)
      return true;
  }
  return false;
}

bool td_crange_is_nonnegative(TdCWriter *w, const TdExpr *e) {
  return is_nonnegative(w, lin(w, e));
}

bool td_crange_is_below(TdCWriter *w, const TdExpr *e, int64_t extent) {
  TdLin x = plus(w, (TdLin){.constant = extent - 1}, -1, lin(w, e));
  return is_nonnegative(w, x);
}

bool td_crange_is_near(TdCWriter *w, const TdExpr *e) {
  TdLin x = lin(w, e), y = plus(w, (TdLin){0}, -1, x);
  int64_t v;
  int tries = TRIES;
  if (!lower(w, x, w->known.n, &tries, &v)) return false;
  tries = TRIES;
  return lower(w, y, w->known.n, &tries, &v);
}

/* Whether e never changes inside the scope that it is read in. */
static bool is_constant(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_LOAD;
}

/* Notes 0 <= b - a - less. */
static void push_order(TdCWriter *w, const TdExpr *a, const TdExpr *b, int64_t less) {
  if (a->type->kind != TD_T_INDEX && b->type->kind != TD_T_INDEX) return;
  if (!td_walk_expr(a, is_constant, NULL) || !td_walk_expr(b, is_constant, NULL)) return;
  TdLin x = plus(w, lin(w, b), -1, lin(w, a));
  x.constant -= less;
  td_vec_push(w->arena, &w->known, ((TdCKnown){.fact = x}));
}

void td_crange_push_cond(TdCWriter *w, const TdExpr *cond, bool truth) {
  if (cond->kind != TD_EXPR_OP) return;
  const TdExpr *a = cond->kid[0], *b = cond->nkid > 1 ? cond->kid[1] : NULL;
  switch (cond->op) {
  case TD_OP_AND:
  case TD_OP_OR:
    if ((cond->op == TD_OP_AND) != truth) return;
    td_crange_push_cond(w, a, truth);
    td_crange_push_cond(w, b, truth);
    return;
  case TD_OP_NOT: td_crange_push_cond(w, a, !truth); return;
  case TD_OP_LT: truth ? push_order(w, a, b, 1) : push_order(w, b, a, 0); return;
  case TD_OP_LE: truth ? push_order(w, a, b, 0) : push_order(w, b, a, 1); return;
  case TD_OP_EQ:
  case TD_OP_NE:
    if ((cond->op == TD_OP_EQ) != truth) return;
    push_order(w, a, b, 0);
    push_order(w, b, a, 0);
    return;
  default: return;
  }
}

double td_crange_trips(TdCWriter *w, const TdStmt *loop, double otherwise) {
  TdLin x = plus(w, lin(w, td_for_lo(loop)), -1, lin(w, td_for_hi(loop)));
  int tries = TRIES;
  int64_t v;
  if (!lower(w, x, w->known.n, &tries, &v)) return otherwise;
  return v >= 0 ? 0 : (double)-v / (double)loop->step;
}

double td_crange_work(TdCWriter *w, const TdStmt *s) {
  const double unknown = 256;
  size_t mark = td_crange_mark(w);
  double trips = 1, sum = 1;
  if (s->kind == TD_STMT_SET) sum = td_ctensor_work(w, s);
  if (s->kind == TD_STMT_CALL && w->target->work) sum = w->target->work(w, s);
  if (s->kind == TD_STMT_FOR) {
    trips = td_crange_trips(w, s, unknown);
    td_crange_push_loop(w, s->sym, td_for_lo(s), td_for_hi(s));
  } else if (s->kind == TD_STMT_WHILE) {
    trips = unknown;
  }
  for (uint32_t i = 0; i < s->nkid; i++) sum += td_crange_work(w, s->kid[i]);
  td_crange_release(w, mark);
  return trips * sum;
}
