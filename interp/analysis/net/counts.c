/* counts.c - puts against gets, as numbers and as expressions over sizes. */
#include "analysis/net/counts.h"

#include "analysis/range/span.h"

static bool is_fixed(TdRange r) {
  return r.lo == r.hi;
}

/* The tokens that an instance puts to a channel, or gets from it. */
static TdRange count_of(const TdTraffic *n, uint32_t inst, uint32_t chan, bool put) {
  const TdCount *c = td_token_trace_count(n->inst.at[inst].move, chan);
  return !c ? (TdRange){0, 0} : put ? c->put : c->get;
}

/* Looks for the statements that use one end of a channel, in the kernel of an instance itself. */
typedef struct Sum {
  const TdTraffic *net;
  const TdUnit *kernel;
  TdArena *arena;
  TdMap used; /* statement -> itself */
  const TdExpr *total;
} Sum;

static void mark_events(Sum *q, const TdMove *x, uint32_t chan, bool put) {
  const TdCount *c = td_token_trace_count(x, chan);
  if (!c || !(put ? c->put.hi : c->get.hi)) return;
  if (x->stmt) td_map_putp(q->arena, &q->used, x->stmt, q);
  for (uint32_t i = 0; i < x->n; i++) mark_events(q, x->kid[i], chan, put);
}

static bool is_size_or_number(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind == TD_EXPR_LIT || e->kind == TD_EXPR_SIZE || e->kind == TD_EXPR_OP ||
         e->kind == TD_EXPR_CAST;
}

/* x * y. */
static const TdExpr *product(TdSession *s, TdArena *a, const TdExpr *x, const TdExpr *y) {
  int64_t v;
  if (td_expr_is_const(x, &v)) return td_lin_times(s, a, y, v);
  if (td_expr_is_const(y, &v)) return td_lin_times(s, a, x, v);
  return td_expr_op2(a, TD_OP_MUL, td_type_index(s), x, y);
}

/* How often the statement at the end of a path runs, over sizes; NULL if that is not so simple. */
static const TdExpr *times(Sum *q, TdPath path) {
  TdSession *s = q->net->prog->store->session;
  const TdStmt *const *loop;
  size_t n = td_edit_loops(q->arena, path, &loop);
  const TdExpr *all = td_expr_index(s, q->arena, 1, (TdLoc){0});
  for (size_t i = 0; i < n; i++) {
    if (loop[i]->kind != TD_STMT_FOR) return NULL;
    const TdExpr *lo = td_for_lo(loop[i]), *hi = td_for_hi(loop[i]);
    if (!td_walk_expr(lo, is_size_or_number, NULL) || !td_walk_expr(hi, is_size_or_number, NULL))
      return NULL;
    const TdExpr *trip = td_lin_minus(s, q->arena, hi, lo);
    if (loop[i]->step > 1) trip = td_lin_ceildiv(s, q->arena, trip, loop[i]->step);
    all = product(s, q->arena, all, trip);
  }
  return all;
}

static bool add_statement(void *ud, const TdStmt *s) {
  Sum *q = ud;
  if (!td_map_getp(&q->used, s)) return true;
  const TdExpr *n = times(q, td_edit_path(q->arena, q->kernel->body, s->uid));
  if (n && q->total) n = td_lin_plus(q->net->prog->store->session, q->arena, q->total, n);
  q->total = n;
  return n != NULL;
}

/* The count as an expression over sizes, NULL if none is found that has the right value. */
static const TdExpr *symbolic(TdArena *a, const TdTraffic *n, uint32_t inst, uint32_t chan,
                              bool put) {
  Sum q = {.net = n, .kernel = n->inst.at[inst].kernel, .arena = a};
  mark_events(&q, n->inst.at[inst].move, chan, put);
  int64_t v, have = count_of(n, inst, chan, put).lo;
  if (!td_walk_stmt(n->prog->store->session->ctx, q.kernel->body, add_statement, &q) || !q.total)
    return NULL;
  bool same = td_unit_value(q.kernel, q.total, &v) && v == have;
  return same && !td_expr_is_const(q.total, &v) ? q.total : NULL;
}

/* "func0 puts 2 * N = 8", "func1 gets at most 3". */
static void put_count(TdText *t, const TdTraffic *n, uint32_t inst, uint32_t chan, bool put) {
  TdRange r = count_of(n, inst, chan, put);
  const TdExpr *e = is_fixed(r) ? symbolic(t->arena, n, inst, chan, put) : NULL;
  td_text_putf(t, "%s %s ", td_traffic_inst_name(t->arena, n, inst), put ? "puts" : "gets");
  if (e) td_text_putf(t, "%s = ", td_print_expr_str(t->arena, e));
  if (is_fixed(r))
    td_text_putf(t, "%lld", (long long)r.lo);
  else if (r.hi == INT64_MAX)
    td_text_putf(t, "at least %lld", (long long)r.lo);
  else
    td_text_putf(t, "%lld to %lld", (long long)r.lo, (long long)r.hi);
}

static bool refuse(const TdTraffic *n, const TdEnds *e, uint32_t chan, TdDiag *d) {
  TdArena *a = d->arena;
  const TdStmt *put = td_traffic_stmt(n, e->producer, chan, true);
  const TdStmt *get = td_traffic_stmt(n, e->consumer, chan, false);
  TdText t = td_text_new(a);
  put_count(&t, n, e->producer, chan, true);
  td_text_puts(&t, ", ");
  put_count(&t, n, e->consumer, chan, false);
  td_diag_set(d, TD_ILLEGAL, "imbalance", put->loc, "stream %s is out of balance: %s",
              td_traffic_chan_name(a, n, chan), td_text_str(&t));
  td_diag_note(d, put->loc, "%s puts here", td_traffic_inst_name(a, n, e->producer));
  td_diag_note(d, get->loc, "%s gets here", td_traffic_inst_name(a, n, e->consumer));
  return false;
}

bool td_counts_check(const TdTraffic *n, const TdEnds *ends, uint32_t *open, TdDiag *d) {
  *open = TD_TRAFFIC_NONE;
  for (uint32_t i = 0; i < n->chan.n; i++) {
    const TdEnds *e = &ends[i];
    if (e->producer == TD_TRAFFIC_NONE || e->consumer == TD_TRAFFIC_NONE) continue;
    TdRange puts = count_of(n, e->producer, i, true), gets = count_of(n, e->consumer, i, false);
    if (puts.lo > gets.hi || gets.lo > puts.hi) return refuse(n, e, i, d);
    bool open_here = !is_fixed(puts) || !is_fixed(gets) || puts.hi == INT64_MAX;
    if (open_here && *open == TD_TRAFFIC_NONE) *open = i;
  }
  return true;
}
