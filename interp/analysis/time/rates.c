/* rates.c - rates from the loops in which tokens move; the slowest stage sets the pace. */
#include "analysis/time/rates.h"

#include "analysis/net/ends.h"

static int64_t gcd(int64_t x, int64_t y) {
  while (y) {
    int64_t rest = x % y;
    x = y;
    y = rest;
  }
  return x;
}

/* ---- eq. 2 to 4 ---- */

/* What a source has produced by the end of its k-th interval. */
static int64_t produced(TdRate r, int64_t k, int64_t volume) {
  return k < volume / r.tokens + 1 && k * r.tokens < volume ? k * r.tokens : volume;
}

/* What a destination that never waits has consumed after so many of the source's intervals. */
static int64_t consumed(TdRate s, TdRate d, int64_t k) {
  double at = (double)k * (double)s.cycles * (double)d.per / ((double)s.per * (double)d.cycles);
  int64_t n = (int64_t)at;
  bool exact = k <= INT32_MAX && s.cycles <= INT32_MAX / d.per && d.cycles <= INT32_MAX / s.per;
  if (exact) n = k * (s.cycles * d.per) / (s.per * d.cycles);
  return n > INT64_MAX / d.tokens ? INT64_MAX : n * d.tokens;
}

int64_t td_rates_depth(TdCtx *c, TdRate source, TdRate destination, int64_t volume) {
  int64_t most = 0;
  for (int64_t k = 1; volume > 0; k++) {
    int64_t in = produced(source, k, volume), out = consumed(source, destination, k);
    if (in - out > most) most = in - out;
    if (in == volume) break;
    td_ctx_tick(c, 1);
  }
  return most + 1;
}

/* ---- several stages ---- */

/* By how much a stage is slowed down. */
typedef struct Slow {
  int64_t num, den;
} Slow;

static bool is_less(Slow x, Slow y) {
  return (double)x.num * (double)y.den < (double)y.num * (double)x.den;
}

/* x * num / den in lowest terms, rounded to 31 bits where it needs more. */
static Slow times(Slow x, int64_t num, int64_t den) {
  int64_t a = gcd(x.num, den), b = gcd(num, x.den);
  x.num /= a;
  den /= a;
  num /= b;
  x.den /= b;
  double high = (double)x.num * (double)num, low = (double)x.den * (double)den;
  while (high > INT32_MAX || low > INT32_MAX) {
    high /= 2;
    low /= 2;
  }
  x = (Slow){(int64_t)high, low < 1 ? 1 : (int64_t)low};
  return x;
}

static bool is_known(const TdRatesEdge *e) {
  return e->put.tokens && e->get.tokens && e->volume > 0;
}

/* What the destination of e must be slowed down by: to II_src C_dst / C_src, of its own II. */
static Slow needed(const TdRatesEdge *e, Slow source) {
  Slow s = times(source, e->put.cycles, e->put.per);
  s = times(s, e->get.tokens, e->put.tokens);
  return times(s, e->get.per, e->get.cycles);
}

static TdRate slowed(TdRate r, Slow by) {
  Slow s = times((Slow){r.cycles, r.per}, by.num, by.den);
  return (TdRate){r.tokens, s.num, s.den};
}

void td_rates_settle(TdArena *a, TdRates *r, uint32_t n) {
  Slow *slow = TD_NEWN(a, Slow, n);
  for (uint32_t i = 0; i < n; i++) slow[i] = (Slow){1, 1};
  bool changed = true;
  for (uint32_t turn = 0; changed && turn <= n; turn++) {
    changed = false;
    for (size_t i = 0; i < r->edge.n; i++) {
      const TdRatesEdge *e = &r->edge.at[i];
      if (!is_known(e)) continue;
      Slow want = needed(e, slow[e->from]);
      if (!is_less(slow[e->to], want)) continue;
      slow[e->to] = want;
      changed = true;
    }
    td_ctx_tick(td_arena_ctx(a), r->edge.n + 1);
  }
  r->feedback = changed;
  for (size_t i = 0; i < r->edge.n && !changed; i++) {
    TdRatesEdge *e = &r->edge.at[i];
    if (!is_known(e)) continue;
    e->put = slowed(e->put, slow[e->from]);
    e->get = slowed(e->get, slow[e->to]);
    e->depth = td_rates_depth(td_arena_ctx(a), e->put, e->get, e->volume);
  }
}

/* ---- from the estimate ---- */

/* A search for a statement below another, calls included. */
typedef struct Search {
  const TdProg *prog;
  const TdStmt *want;
  bool found;
} Search;

static bool is_other(void *ud, const TdStmt *s) {
  Search *q = ud;
  q->found |= s == q->want;
  const TdUnit *u = s->kind == TD_STMT_CALL ? td_prog_unit(q->prog, s->sym) : NULL;
  if (u && u->body && !q->found) td_walk_stmt(q->prog->store->session->ctx, u->body, is_other, q);
  return !q->found;
}

/* The innermost loop of an estimate in which a statement runs, or NULL. */
static const TdCostLoop *loop_around(const TdProg *p, const TdCost *c, const TdStmt *s) {
  const TdCostLoop *best = NULL;
  for (size_t i = 0; i < c->loop.n; i++) {
    const TdCostLoop *l = &c->loop.at[i];
    Search q = {p, s, false};
    if (best && best->level > l->level) continue;
    td_walk_stmt(p->store->session->ctx, l->stmt, is_other, &q);
    if (q.found) best = l;
  }
  return best;
}

/* The rates of a design under way. */
typedef struct Rating {
  const TdAsk *ask;
  const TdTraffic *net;
  TdCost *cost; /* of each instance */
} Rating;

/* How an instance moves the tokens of a channel: all of them in the time that their loops take. */
static TdRate rate_of(const Rating *r, uint32_t inst, uint32_t chan, bool put, int64_t volume) {
  const TdCost *c = &r->cost[inst];
  TdNetStmts s = td_traffic_stmts(r->ask->arena, r->net, inst, chan, put);
  TD_VEC(const TdCostLoop *) loops = {0};
  int64_t rounds = 0, cycles = 0;
  for (size_t i = 0; i < s.n; i++) {
    const TdCostLoop *l = loop_around(r->ask->prog, c, s.at[i]);
    bool counted = false;
    for (size_t k = 0; k < loops.n; k++) counted |= loops.at[k] == l;
    if (counted) continue;
    td_vec_push(r->ask->arena, &loops, l);
    rounds += l ? l->rounds : 1;
    cycles += l ? l->busy : c->cycles;
  }
  if (volume < 1 || rounds < 1 || cycles < 1) return (TdRate){0};
  int64_t batches = gcd(volume, rounds), common = gcd(cycles, batches);
  return (TdRate){volume / batches, cycles / common, batches / common};
}

/* The tokens of an end of a channel; -1: the data decides. */
static int64_t volume_of(const TdTraffic *n, uint32_t inst, uint32_t chan, bool put) {
  const TdCount *c = td_token_trace_count(n->inst.at[inst].move, chan);
  TdRange tokens = !c ? (TdRange){0, 0} : put ? c->put : c->get;
  return tokens.lo == tokens.hi ? tokens.lo : -1;
}

static void add_edge(const Rating *r, TdRates *out, uint32_t chan, const TdEnds *e) {
  TdRatesEdge x = {.chan = chan, .from = e->producer, .to = e->consumer};
  bool inside = x.from != TD_TRAFFIC_NONE && x.to != TD_TRAFFIC_NONE;
  x.volume = inside ? volume_of(r->net, x.from, chan, true) : -1;
  if (inside && x.volume == 0) return;
  if (inside) {
    x.put = rate_of(r, x.from, chan, true, x.volume);
    x.get = rate_of(r, x.to, chan, false, x.volume);
  }
  td_vec_push(r->ask->arena, &out->edge, x);
}

bool td_rates_of(const TdAsk *q, const TdTraffic *n, const TdTarget *t, TdRates *out, TdDiag *d) {
  TdSched s = {.affine = q->affine, .arena = q->arena, .prog = q->prog, .target = t};
  Rating r = {.ask = q, .net = n, .cost = TD_NEWN(q->arena, TdCost, n->inst.n)};
  const TdEnds *ends = td_ends_of(q->arena, n, d);
  *out = (TdRates){.feedback = false};
  if (!ends) return false;
  for (uint32_t i = 0; i < n->inst.n; i++)
    if (!td_cost_instance(&s, n->inst.at[i].kernel, n->inst.at[i].id, &r.cost[i], d)) return false;
  for (uint32_t c = 0; c < n->chan.n; c++) add_edge(&r, out, c, &ends[c]);
  td_rates_settle(q->arena, out, (uint32_t)n->inst.n);
  return true;
}
