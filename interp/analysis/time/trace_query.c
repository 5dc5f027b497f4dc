/* trace_query.c - what the solver knows of the indices in a trace. */
#include "analysis/time/trace.h"

enum { MOST_WORK = 64000000 };

/* A system over the columns of a trace. */
typedef struct Query {
  TdTrace *t;
  TdArena *a;
  TdEnv env;
  TdSys sys;
  bool *added; /* columns of which the system says what they are */
} Query;

static TdAff variable(const Query *q, const TdStmt *loop) {
  return td_sys_col(q->a, td_lower_param(q->t->space, loop->sym, loop->sym->name, false));
}

/* A lowering in which nothing is decided case by case: what would be is not affine. */
static TdLower lower_at(Query *q) {
  TdLower w = {.session = q->t->session, .space = q->t->space, .env = &q->env, .sys = &q->sys};
  w.at = w.n = TD_LOWER_CHOICES;
  return w;
}

/* Adds that the variables of loops are lo + step * what their columns count. */
static void add_counters(Query *q) {
  for (size_t i = 0; i < q->t->column.n; i++) {
    const TdStmt *loop = q->t->column.at[i].loop;
    TdLower w = lower_at(q);
    TdAff lo, n = td_sys_col(q->a, -1 - (int32_t)i);
    if (!loop || !td_lower_expr(&w, td_for_lo(loop), &lo)) continue;
    int64_t stride = loop == q->t->loop ? q->t->stride : loop->step;
    td_sys_nonneg(q->a, &q->sys, n);
    lo = td_sys_plus(q->a, lo, stride, n);
    td_sys_zero(q->a, &q->sys, td_sys_plus(q->a, variable(q, loop), -1, lo));
  }
}

/* Adds that v is the quotient, or the remainder, of x that column c is. */
static void add_division(Query *q, const TdColumn *c, TdAff v, TdAff x) {
  TdAff other = td_sys_fresh(q->a, &q->sys), quotient = c->rest ? other : v;
  TdAff rest = c->rest ? v : other;
  td_sys_nonneg(q->a, &q->sys, rest);
  td_sys_lt(q->a, &q->sys, rest, td_sys_const(c->by));
  td_sys_zero(q->a, &q->sys, td_sys_plus(q->a, td_sys_plus(q->a, x, -c->by, quotient), -1, rest));
}

/* Adds what the columns of f that are quotients and remainders are, and those that these are made
 * of; all others may be anything, which says nothing of f. */
static void add_divisions(Query *q, TdAff f) {
  for (uint32_t k = 0; k < f.n; k++) {
    if (f.m[k].col >= 0 || (size_t)(-1 - f.m[k].col) >= q->t->column.n) continue;
    size_t i = (size_t)(-1 - f.m[k].col);
    const TdColumn *c = &q->t->column.at[i];
    if (!c->by || q->added[i]) continue;
    q->added[i] = true;
    add_division(q, c, td_sys_col(q->a, f.m[k].col), c->of);
    add_divisions(q, c->of);
  }
}

/* The facts where `at` stands, the loops around it as parameters. */
static void stand_at(Query *q, TdTrace *t, const TdStmt *at) {
  *q = (Query){.t = t, .a = t->arena, .env = {.unit = t->ask->unit}};
  TdNestMaker m = {t->session, t->space, &q->env};
  q->sys = td_sys_copy(q->a, &td_nest_context(&m, at)->dom[0]);
  q->added = TD_NEWN(q->a, bool, t->column.n + 1);
  add_counters(q);
  while (t->column.n < t->space->at.n) td_vec_push(q->a, &t->column, (TdColumn){0});
}

/* Adds e <= v, or (`above`) v < e, as far as e is affine, a maximum, or a minimum of such. */
static void add_bound(Query *q, const TdExpr *e, TdAff v, bool above) {
  TdLower w = lower_at(q);
  TdAff f;
  if (e->kind == TD_EXPR_OP && e->op == (above ? TD_OP_MIN : TD_OP_MAX)) {
    td_ctx_enter(q->t->session->ctx);
    for (uint32_t i = 0; i < e->nkid; i++) add_bound(q, e->kid[i], v, above);
    td_ctx_leave(q->t->session->ctx);
  } else if (td_lower_expr(&w, e, &f) && above) {
    td_sys_lt(q->a, &q->sys, v, f);
  } else if (!above && td_lower_expr(&w, e, &f)) {
    td_sys_le(q->a, &q->sys, f, v);
  }
}

/* Adds lo <= v < hi for the variable of a loop. */
static void add_bounds(Query *q, const TdStmt *loop, TdAff v) {
  add_bound(q, td_for_lo(loop), v, false);
  add_bound(q, td_for_hi(loop), v, true);
}

/* f as it was in the earlier iteration: loop k was `less[k]` iterations back, and what changes
 * unforeseeably was anything. */
static TdAff earlier(Query *q, TdAff f, const TdTraceNest *nest, const TdAff *less) {
  TdAff out = f;
  for (uint32_t i = 0; i < f.n; i++) {
    const TdColumn *c = &q->t->column.at[-1 - f.m[i].col];
    bool wild = c->kind == TD_COLUMN_WILD || (nest->n > 1 && !c->sym && !c->loop);
    if (wild) {
      TdAff was = td_sys_fresh(q->a, &q->sys);
      if (c->by) add_division(q, c, was, earlier(q, c->of, nest, less));
      TdAff change = td_sys_plus(q->a, was, -1, td_sys_col(q->a, f.m[i].col));
      out = td_sys_plus(q->a, out, f.m[i].coef, change);
    }
    for (size_t k = 0; k < nest->n; k++)
      if (c->loop == nest->loop[k]) out = td_sys_plus(q->a, out, -f.m[i].coef, less[k]);
  }
  return out;
}

/* Whether some spot of a line is stored. */
static bool is_stored(const TdPlaced *p, uint32_t line) {
  for (size_t i = 0; i < p->spot.n; i++)
    if (p->spot.at[i].line == line && p->spot.at[i].store) return true;
  return false;
}

/* The range of the constants of dimension d among the spots of a line, or those stored. */
static void hull(const TdPlaced *p, uint32_t line, int d, bool stored, int64_t *lo, int64_t *hi) {
  *lo = INT64_MAX;
  *hi = INT64_MIN;
  for (size_t i = 0; i < p->spot.n; i++) {
    const TdSpot *s = &p->spot.at[i];
    if (s->line != line || (stored && !s->store)) continue;
    if (s->at[d].c < *lo) *lo = s->at[d].c;
    if (s->at[d].c > *hi) *hi = s->at[d].c;
  }
}

/* Adds that both touch one element. */
static void add_meeting(Query *q, const TdPlaced *p, uint32_t from, uint32_t to,
                        const TdTraceNest *nest, const TdAff *less) {
  const TdSpot *x = &p->spot.at[p->line.at[from]], *y = &p->spot.at[p->line.at[to]];
  for (int d = 0; d < p->rank; d++) {
    int64_t x0, x1, y0, y1;
    TdAff was = x->at[d], now = y->at[d];
    hull(p, from, d, true, &x0, &x1);
    hull(p, to, d, false, &y0, &y1);
    was.c = now.c = 0;
    add_divisions(q, was);
    add_divisions(q, now);
    TdAff gap = td_sys_plus(q->a, earlier(q, was, nest, less), -1, now);
    td_sys_le(q->a, &q->sys, td_sys_const(y0 - x1), gap);
    td_sys_le(q->a, &q->sys, gap, td_sys_const(y1 - x0));
  }
}

/* Whether the questions of this trace were large enough, with this one, that the next ones are not
 * worth an answer: what they cost grows faster than rows times columns. */
static bool is_too_much(Query *q) {
  uint64_t rows = q->sys.row.n, cols = (uint64_t)q->sys.nextra + q->t->column.n;
  q->t->spent += rows * cols * cols;
  return q->t->spent > MOST_WORK;
}

int64_t td_trace_distance(TdTrace *t, const TdPlaced *p, uint32_t from, uint32_t to,
                          const TdTraceNest *nest) {
  Query q;
  TdAff less[TD_MAX_RANK], total = td_sys_const(0);
  if (!is_stored(p, from)) return 0;
  stand_at(&q, t, nest->loop[0]);
  for (size_t k = 0; k < nest->n; k++) {
    const TdStmt *loop = nest->loop[k];
    TdAff v = variable(&q, loop);
    less[k] = td_sys_fresh(q.a, &q.sys);
    total = td_sys_plus(q.a, total, nest->weight[k], less[k]);
    add_bounds(&q, loop, v);
    int64_t stride = loop == t->loop ? t->stride : loop->step;
    add_bounds(&q, loop, td_sys_plus(q.a, v, -stride, less[k]));
  }
  td_sys_nonneg(q.a, &q.sys, td_sys_scale(q.a, 1, less[0], -1));
  td_sys_nonneg(q.a, &q.sys, td_sys_scale(q.a, 1, total, -1));
  add_meeting(&q, p, from, to, nest, less);
  td_nest_at_values(t->space, t->ask->unit, &q.sys);
  int64_t most;
  if (is_too_much(&q)) return 1;
  TdTruth found = td_affine_max(t->ask->affine, &q.sys, td_sys_scale(q.a, -1, total, 0), &most);
  if (found == TD_YES) return -most;
  return found == TD_NO && td_affine_has_point(t->ask->affine, &q.sys) == TD_NO ? 0 : 1;
}

bool td_trace_range(TdTrace *t, TdAff f, int64_t *lo, int64_t *hi) {
  Query q;
  int64_t least;
  if (td_sys_is_const(f, lo)) {
    *hi = *lo;
    return true;
  }
  if (!t->loop) return false;
  stand_at(&q, t, t->loop);
  add_bounds(&q, t->loop, variable(&q, t->loop));
  add_divisions(&q, f);
  td_nest_at_values(t->space, t->ask->unit, &q.sys);
  bool ok = td_affine_max(t->ask->affine, &q.sys, td_sys_scale(q.a, -1, f, 0), &least) == TD_YES &&
            td_affine_max(t->ask->affine, &q.sys, f, hi) == TD_YES;
  *lo = -least;
  return ok;
}
