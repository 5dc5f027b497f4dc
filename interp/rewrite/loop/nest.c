/* nest.c - bounds of a reordered nest. Each loop gives inequalities sum >= 0; a loop's new bounds
 * are those that speak of it and of nothing placed further in, after the variables further in were
 * eliminated. The last place gets exact bounds, so iterations are neither lost nor added; outer
 * places may at worst run empty. A loop with a step is one over each value of its range there, and
 * its lower bounds are moved up to where it stands. */
#include "rewrite/loop/nest.h"

/* One inequality form >= 0. */
typedef struct Ineq {
  TdLin form;
} Ineq;
typedef TD_VEC(Ineq) Ineqs;

typedef struct Turn {
  TdRewrite *r;
  const TdUnit *unit;
  TdNestLoops nest;
} Turn;

static TdLin lin_of(const Turn *t, const TdExpr *e) {
  return td_lin_of(t->r->session, t->r->store->arena, e);
}

static TdLin combine(const Turn *t, TdLin x, int64_t k, TdLin y) {
  return td_lin_add(t->r->session, t->r->store->arena, x, k, y);
}

/* Whether a form mentions variable v, inside an atom of another kind: then it cannot be solved for
 * v. */
static bool hides(const TdLin *f, TdSym v) {
  for (size_t i = 0; i < f->n; i++)
    if (f->term[i].atom->kind != TD_EXPR_VAR && td_walk_uses_expr(f->term[i].atom, v)) return true;
  return false;
}

/* The constant c > 0 of a term e // c, taken once, where e uses a variable of the nest; else 0. */
static int64_t divisor(const Turn *t, const TdTerm *x) {
  int64_t c = 0;
  bool once = x->coef == 1 || x->coef == -1,
       is = x->atom->kind == TD_EXPR_OP && x->atom->op == TD_OP_FLOORDIV;
  if (!once || !is || !td_expr_is_const(x->atom->kid[1], &c)) return 0;
  for (size_t k = 0; k < t->nest.n; k++)
    if (c > 0 && td_walk_uses_expr(x->atom, t->nest.loop[k]->sym)) return c;
  return 0;
}

/* Adds form >= 0, without quotients that hide variables of the nest: e // c + rest >= 0 where
 * e + c*rest >= 0, and rest - e // c >= 0 where c*rest + c - 1 - e >= 0. */
static void add(const Turn *t, TdLin form, Ineqs *out) {
  for (size_t i = 0; i < form.n; i++) {
    TdTerm x = form.term[i];
    int64_t c = divisor(t, &x);
    if (!c) continue;
    const TdLin zero = {0}, one = {.constant = 1};
    TdLin rest = combine(t, form, -x.coef, lin_of(t, x.atom));
    TdLin whole = combine(t, combine(t, zero, c, rest), x.coef, lin_of(t, x.atom->kid[0]));
    add(t, x.coef < 0 ? combine(t, whole, c - 1, one) : whole, out);
    return;
  }
  td_vec_push(t->r->arena, out, ((Ineq){form}));
}

/* Adds v - lo >= 0 and hi - 1 - v >= 0 of a loop. */
static void add_loop(const Turn *t, const TdStmt *loop, Ineqs *out) {
  const TdLin one = {.constant = 1};
  TdLin v = lin_of(t, td_util_var(t->r, loop->sym));
  TdParts lo = td_util_parts(t->r, td_for_lo(loop), TD_OP_MAX);
  TdParts hi = td_util_parts(t->r, td_for_hi(loop), TD_OP_MIN);
  for (size_t i = 0; i < lo.n; i++) add(t, combine(t, v, -1, lin_of(t, lo.at[i])), out);
  for (size_t i = 0; i < hi.n; i++)
    add(t, combine(t, combine(t, lin_of(t, hi.at[i]), -1, v), -1, one), out);
}

/* form >= 0 as an expression. */
static const TdExpr *as_fact(const Turn *t, const Ineq *q) {
  TdRewrite *r = t->r;
  TdLoc none = {0};
  return td_expr_op2(r->arena, TD_OP_LE, td_type_bool(r->session), td_util_const(r, 0),
                     td_lin_expr(r->session, r->arena, &q->form, none));
}

/* Whether bound x is at least bound y wherever the facts that do not speak of v hold. */
static bool implied(const Turn *t, const Ineqs *facts, TdSym v, const TdExpr *x, const TdExpr *y) {
  int64_t d;
  TdRewrite *r = t->r;
  if (td_lin_diff(r->session, x, y, &d)) return d >= 0;
  TdAsk q = td_util_ask(r, t->unit);
  const TdType *b = td_type_bool(r->session);
  const TdExpr *goal = td_expr_op2(r->arena, TD_OP_LE, b, y, x);
  for (size_t i = 0; i < facts->n; i++) {
    if (td_lin_coef(&facts->at[i].form, v)) continue;
    const TdExpr *fact = as_fact(t, &facts->at[i]);
    goal = td_expr_op2(r->arena, TD_OP_OR, b,
                       td_expr_op(r->arena, TD_OP_NOT, b, &fact, 1, fact->loc), goal);
  }
  return td_range_holds(&q, t->nest.loop[0], goal, false) == TD_YES;
}

/* The greatest of n lower bounds of v (op MAX), or the least of n upper ones (MIN), dropping those
 * that others imply. */
static const TdExpr *join(const Turn *t, const Ineqs *facts, TdSym v, TdOp op, const TdExpr **b,
                          size_t n) {
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < n; k++) {
      if (i == k || !b[i] || !b[k]) continue;
      const TdExpr *more = op == TD_OP_MAX ? b[k] : b[i], *less = op == TD_OP_MAX ? b[i] : b[k];
      if (implied(t, facts, v, more, less)) b[i] = NULL;
    }
  const TdExpr *r = NULL;
  TdArena *a = t->r->store->arena;
  for (size_t i = 0; i < n; i++)
    if (b[i]) r = r ? td_expr_op2(a, op, td_type_index(t->r->session), r, b[i]) : b[i];
  return r;
}

/* A lower bound of a loop with a step, moved up to a value that the loop takes. */
static const TdExpr *align(const Turn *t, const TdStmt *loop, const TdExpr *bound) {
  TdRewrite *r = t->r;
  TdArena *a = r->store->arena;
  if (loop->step == 1) return bound;
  const TdExpr *from = td_for_lo(loop);
  const TdExpr *n =
      td_lin_ceildiv(r->session, a, td_lin_minus(r->session, a, bound, from), loop->step);
  return td_lin_plus(r->session, a, from, td_lin_times(r->session, a, n, loop->step));
}

/* The bound that c*v + rest >= 0 gives v: ceil(-rest / c) for c > 0, floor(rest / -c) + 1 (half
 * open) for c < 0. */
static const TdExpr *solve(const Turn *t, const Ineq *q, TdSym v, int64_t c) {
  TdRewrite *r = t->r;
  TdArena *a = r->store->arena;
  TdLin own = lin_of(t, td_util_var(r, v));
  TdLin rest = combine(t, q->form, -c, own);
  TdLoc none = {0};
  const TdExpr *e = td_lin_expr(r->session, a, &rest, none);
  if (c > 0) return td_lin_ceildiv(r->session, a, td_lin_times(r->session, a, e, -1), c);
  return td_lin_plus(r->session, a, td_lin_floordiv(r->session, a, e, -c), td_util_const(r, 1));
}

/* Bounds of a loop from the inequalities that mention its variable. */
static bool bounds_of(const Turn *t, const Ineqs *all, const TdStmt *loop, const TdExpr **lo,
                      const TdExpr **hi) {
  TdSym v = loop->sym;
  const TdExpr **low = TD_NEWN(t->r->arena, const TdExpr *, all->n);
  const TdExpr **high = TD_NEWN(t->r->arena, const TdExpr *, all->n);
  size_t nlow = 0, nhigh = 0;
  for (size_t i = 0; i < all->n; i++) {
    int64_t c = td_lin_coef(&all->at[i].form, v);
    if (c > 0) low[nlow++] = align(t, loop, solve(t, &all->at[i], v, c));
    if (c < 0) high[nhigh++] = solve(t, &all->at[i], v, c);
  }
  if (!nlow || !nhigh) return false;
  *lo = join(t, all, v, TD_OP_MAX, low, nlow);
  *hi = join(t, all, v, TD_OP_MIN, high, nhigh);
  return *lo && *hi;
}

/* Removes v: each lower bound meets each upper one. */
static Ineqs eliminate(const Turn *t, const Ineqs *all, TdSym v) {
  Ineqs out = {0};
  TdArena *a = t->r->arena;
  for (size_t i = 0; i < all->n; i++) {
    int64_t c = td_lin_coef(&all->at[i].form, v);
    if (c == 0) td_vec_push(a, &out, all->at[i]);
    for (size_t k = 0; c > 0 && k < all->n; k++) {
      int64_t d = td_lin_coef(&all->at[k].form, v);
      if (d >= 0) continue;
      TdLin zero = {0};
      TdLin f = combine(t, combine(t, zero, -d, all->at[i].form), c, all->at[k].form);
      td_vec_push(a, &out, ((Ineq){f}));
    }
  }
  return out;
}

/* Whether loop k's bounds use a variable of the nest. */
static bool is_dependent(const Turn *t, size_t k) {
  for (size_t i = 0; i < t->nest.n; i++)
    if (td_walk_uses_expr(td_for_lo(t->nest.loop[k]), t->nest.loop[i]->sym) ||
        td_walk_uses_expr(td_for_hi(t->nest.loop[k]), t->nest.loop[i]->sym))
      return true;
  return false;
}

static bool refuse(const Turn *t, const TdStmt *loop, const char *why) {
  td_util_refuse(t->r, TD_UNSUPPORTED, "bounds", loop->loc, "the range of '%s' %s", loop->sym->name,
                 why);
  return false;
}

/* Whether every bound can be solved for the variables of the nest. */
static bool is_solvable(const Turn *t, const Ineqs *all) {
  for (size_t k = 0; k < t->nest.n; k++) {
    for (size_t i = 0; i < all->n; i++)
      if (hides(&all->at[i].form, t->nest.loop[k]->sym))
        return refuse(t, t->nest.loop[k], "is used in a way that is not linear");
  }
  return true;
}

/* Whether loops with steps begin where only loops in earlier places have a say. */
static bool are_steps_steady(const Turn *t, const size_t *order) {
  for (size_t k = 0; k < t->nest.n; k++) {
    const TdStmt *loop = t->nest.loop[order[k]];
    for (size_t i = k; loop->step != 1 && i < t->nest.n; i++)
      if (td_walk_uses_expr(td_for_lo(loop), t->nest.loop[order[i]]->sym))
        return refuse(t, loop, "has a step, and begins where a loop that would be inside says");
  }
  return true;
}

bool td_nest_bounds(TdRewrite *r, const TdUnit *u, TdNestLoops nest, const size_t *order,
                    const TdExpr **lo, const TdExpr **hi) {
  Turn t = {r, u, nest};
  bool dependent = false;
  for (size_t k = 0; k < nest.n; k++) {
    lo[k] = td_for_lo(nest.loop[order[k]]);
    hi[k] = td_for_hi(nest.loop[order[k]]);
    dependent |= is_dependent(&t, k);
  }
  if (!dependent) return true;
  Ineqs all = {0};
  for (size_t k = 0; k < nest.n; k++) add_loop(&t, nest.loop[k], &all);
  if (!is_solvable(&t, &all) || !are_steps_steady(&t, order)) return false;
  for (size_t k = nest.n; k-- > 0;) {
    const TdStmt *loop = nest.loop[order[k]];
    if (!bounds_of(&t, &all, loop, &lo[k], &hi[k])) return refuse(&t, loop, "cannot be turned");
    all = eliminate(&t, &all, loop->sym);
  }
  return true;
}
