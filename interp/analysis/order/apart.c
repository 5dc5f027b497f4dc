/* apart.c - two boxes share an element if they do along each dimension of the array; there two
 * progressions do if they overlap and one begins on the other's grid. */
#include "analysis/order/apart.h"

#include "affine/uses.h"
#include "analysis/range/range.h"

enum { MOST_POINTS = 64 }; /* of a progression that is taken point by point */

/* A statement being looked at. */
typedef struct Look {
  const TdAsk *q;
  const TdStmt *stmt;
  TdSession *session;
  TdArena *a;
  TD_VEC(TdApart) open;
} Look;

/* What a view takes of one dimension: from + step * (0 .. n - 1). */
typedef struct Run {
  const TdExpr *from;
  int64_t step, n;
} Run;

/* Dimension d of a view; false: its extent has no value. */
static bool run_of(const Look *k, const TdExpr *view, uint32_t d, Run *out) {
  const TdViewDim *dim = &view->u.dim[d];
  *out = (Run){view->kid[d], 1, 1};
  if (dim->out < 0) return true;
  out->step = dim->step;
  return td_unit_value(k->q->unit, view->type->dim[dim->out], &out->n);
}

static const TdExpr *both(const Look *k, TdOp op, const TdExpr *x, const TdExpr *y) {
  if (!x || !y) return x ? x : y;
  return td_expr_op2(k->a, op, td_type_bool(k->session), x, y);
}

static const TdExpr *number(const Look *k, int64_t v) {
  return td_expr_index(k->session, k->a, v, k->stmt->loc);
}

/* x <= y + n. */
static const TdExpr *is_within(const Look *k, const TdExpr *x, const TdExpr *y, int64_t n) {
  return both(k, TD_OP_LE, x, td_lin_plus(k->session, k->a, y, number(k, n)));
}

static int64_t gcd(int64_t a, int64_t b) {
  return b ? gcd(b, a % b) : a;
}

/* Whether point x is in y, as a condition. */
static const TdExpr *is_in(const Look *k, const TdExpr *x, const Run *y) {
  const TdExpr *c = both(k, TD_OP_AND, is_within(k, y->from, x, 0),
                         is_within(k, x, y->from, (y->n - 1) * y->step));
  const TdExpr *rest =
      td_lin_mod(k->session, k->a, td_lin_minus(k->session, k->a, x, y->from), y->step);
  return y->step == 1 ? c : both(k, TD_OP_AND, c, both(k, TD_OP_EQ, rest, number(k, 0)));
}

/* Whether two progressions share a point, as a condition. Steps that differ: point by point of the
 * shorter; where it is long, whether they overlap on grids that meet, which may say more. */
static const TdExpr *runs_meet(const Look *k, Run x, Run y) {
  if (x.n == 1) x.step = y.step;
  if (y.n == 1) y.step = x.step;
  if (x.step != y.step && (x.n <= MOST_POINTS || y.n <= MOST_POINTS)) {
    const Run *few = x.n <= y.n ? &x : &y, *many = x.n <= y.n ? &y : &x;
    const TdExpr *any = NULL;
    for (int64_t i = 0; i < few->n; i++) {
      const TdExpr *at = td_lin_plus(k->session, k->a, few->from, number(k, i * few->step));
      any = both(k, TD_OP_OR, any, is_in(k, at, many));
    }
    return any;
  }
  const TdExpr *c = both(k, TD_OP_AND, is_within(k, x.from, y.from, (y.n - 1) * y.step),
                         is_within(k, y.from, x.from, (x.n - 1) * x.step));
  int64_t grid = gcd(x.step, y.step);
  if (grid == 1) return c;
  const TdExpr *gap = td_lin_minus(k->session, k->a, x.from, y.from);
  gap = td_lin_mod(k->session, k->a, gap, grid);
  return both(k, TD_OP_AND, c, both(k, TD_OP_EQ, gap, number(k, 0)));
}

/* Whether views x and y of one array share an element, as a condition; NULL: never. */
static const TdExpr *views_meet(const Look *k, const TdExpr *x, const TdExpr *y) {
  const TdExpr *c = NULL;
  for (uint32_t d = 0; d < x->nkid; d++) {
    Run one, two;
    if (!run_of(k, x, d, &one) || !run_of(k, y, d, &two)) continue;
    if (one.n <= 0 || two.n <= 0) return NULL;
    c = both(k, TD_OP_AND, c, runs_meet(k, one, two));
  }
  return c ? c : td_expr_lit(k->a, td_type_bool(k->session), 1, k->stmt->loc);
}

/* Whether views that take as much of each dimension take it from other places, as a condition;
 * *same: they take as much, in the same order. */
static const TdExpr *begin_apart(const Look *k, const TdExpr *x, const TdExpr *y, bool *same) {
  const TdExpr *c = NULL;
  *same = true;
  for (uint32_t d = 0; d < x->nkid; d++) {
    Run one, two;
    int64_t gap;
    *same &= run_of(k, x, d, &one) && run_of(k, y, d, &two) && one.n == two.n &&
             one.step == two.step && x->u.dim[d].out == y->u.dim[d].out;
    if (td_lin_diff(k->session, x->kid[d], y->kid[d], &gap) && gap == 0) continue;
    c = both(k, TD_OP_OR, c, both(k, TD_OP_NE, x->kid[d], y->kid[d]));
  }
  return c;
}

/* Notes two views if they may meet; `equal`: they may take the same elements in the same order. */
static void look(Look *k, const TdExpr *x, const TdExpr *y, bool equal, TdApart found) {
  if (x->sym != y->sym) return;
  const TdExpr *meet = views_meet(k, x, y);
  bool same = false;
  if (!meet) return;
  if (equal) {
    const TdExpr *apart = begin_apart(k, x, y, &same);
    if (same && !apart) return;
    if (same) meet = both(k, TD_OP_AND, meet, apart);
  }
  const TdExpr *never =
      td_expr_op(k->a, TD_OP_NOT, td_type_bool(k->session), &meet, 1, k->stmt->loc);
  if (td_range_holds(k->q, k->stmt, never, true) == TD_YES) return;
  found.meet = meet;
  td_vec_push(k->a, &k->open, found);
}

/* The target of a SET against the views below e. `inner`: below an operator that reads other
 * elements than the one it makes. */
static void look_operands(Look *k, const TdExpr *e, bool inner) {
  const TdExpr *to = k->stmt->expr[0];
  if (e->kind == TD_EXPR_VIEW) {
    const char *what = td_text_fmt(k->a, TD_STMT_OVERLAP, e->sym->name);
    look(k, to, e, !inner, (TdApart){.what = what, .loc = e->loc});
    return;
  }
  if (e->type->kind != TD_T_TENSOR && e->kind != TD_EXPR_TENSOR) return;
  bool tensor = e->kind == TD_EXPR_TENSOR;
  for (uint32_t i = 0; i < e->nkid && !(tensor && e->op == TD_OP_ALLREDUCE); i++)
    look_operands(k, e->kid[i], inner || tensor);
}

static void look_arguments(Look *k) {
  const TdStmt *s = k->stmt;
  const TdUnit *u = td_prog_unit(k->q->prog, s->sym);
  for (uint32_t i = 0; u && i < s->nexpr; i++)
    for (uint32_t o = 0; o < i; o++) {
      const TdExpr *x = s->expr[o], *y = s->expr[i];
      if (x->kind != TD_EXPR_VIEW || y->kind != TD_EXPR_VIEW || x->sym != y->sym ||
          x->type->kind != TD_T_TENSOR)
        continue;
      unsigned use = td_uses_param(k->q->prog, u, u->param[o].sym) |
                     td_uses_param(k->q->prog, u, u->param[i].sym);
      if (use & TD_USES_WRITE)
        look(k, x, y, false, (TdApart){.what = td_stmt_overlap(k->a, s, o, i), .loc = s->loc});
    }
}

size_t td_apart_open(const TdAsk *q, const TdStmt *s, const TdApart **out) {
  Look k = {.q = q, .stmt = s, .session = q->prog->store->session, .a = q->arena};
  if (s->kind == TD_STMT_CALL) look_arguments(&k);
  if (s->kind == TD_STMT_SET) look_operands(&k, s->expr[1], false);
  *out = k.open.at;
  return k.open.n;
}
