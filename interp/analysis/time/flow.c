/* flow.c - modulo scheduling: least times by relaxation, units taken in the order of the nodes.
 *
 * What crosses iterations does so on clock edges: a cycle of waiting that delays its first node at
 * all delays it by whole cycles each time around, and never settles; one is looked for whenever a
 * back edge delays a node. Where units are waited for on the way around, rounds are counted. */
#include "analysis/time/flow.h"

#include <assert.h>

TdFlow td_flow_new(TdArena *a, int64_t period) {
  TdFlow f = {.arena = a, .period = period};
  td_vec_push(a, &f.node, (TdFlowNode){0});
  return f;
}

uint32_t td_flow_add(TdFlow *f, TdFlowNode x, const uint32_t *operand, size_t n) {
  x.first = (uint32_t)f->operand.n;
  for (size_t i = 0; i < n; i++) {
    if (!operand[i]) continue;
    td_vec_push(f->arena, &f->operand, operand[i]);
    if (f->node.at[operand[i]].firing > x.firing) x.firing = f->node.at[operand[i]].firing;
  }
  x.n = (uint32_t)f->operand.n - x.first;
  td_vec_push(f->arena, &f->node, x);
  td_ctx_tick(td_arena_ctx(f->arena), 1);
  return (uint32_t)f->node.n - 1;
}

void td_flow_after(TdFlow *f, uint32_t to, uint32_t from) {
  assert(to + 1 == f->node.n);
  TdFlowNode *x = &f->node.at[to];
  td_vec_push(f->arena, &f->operand, from);
  x->n++;
  if (f->node.at[from].firing > x->firing) x->firing = f->node.at[from].firing;
}

void td_flow_wait(TdFlow *f, uint32_t to, uint32_t from, int64_t distance) {
  f->node.at[to].edge = true;
  td_flow_wait_for(f, (TdFlowWait){.from = from, .to = to, .distance = distance});
}

void td_flow_wait_for(TdFlow *f, TdFlowWait w) {
  bool order = w.starts && !w.distance;
  assert(!order || w.to + 1 == f->node.n);
  if (order)
    td_vec_push(f->arena, &f->order, w);
  else
    td_vec_push(f->arena, &f->back, w);
}

/* The first clock edge not before t. */
static int64_t next_edge(const TdFlow *f, int64_t t) {
  return (t + f->period - 1) / f->period * f->period;
}

int64_t td_flow_cycle(const TdFlow *f, int64_t time) {
  return time / f->period;
}

/* When x can start once its operands are there at t. */
static int64_t start_at(const TdFlow *f, const TdFlowNode *x, int64_t t) {
  bool fits = t % f->period + x->delay <= f->period;
  return x->edge || x->stages || !fits ? next_edge(f, t) : t;
}

static int64_t end_of(const TdFlow *f, const TdFlowNode *x) {
  return x->start + x->stages * f->period + x->delay;
}

/* When wait w lets its node start, `from` as it is, at interval ii. */
static int64_t waited(const TdFlow *f, const TdFlowWait *w, const TdFlowNode *from, int64_t ii) {
  int64_t t = from->end;
  if (w->starts)
    t = (td_flow_cycle(f, from->start) + w->gap) * f->period;
  else if (w->distance)
    t = next_edge(f, t);
  return t - ii * w->distance * f->period;
}

/* Notes that x waits for node u until t, if nothing has it wait longer. */
static void await(TdFlowNode *x, int64_t *t, int64_t until, uint32_t u, TdFlowVia via,
                  size_t wait) {
  if (until <= *t) return;
  *t = until;
  x->last = u;
  x->via = via;
  x->wait = (uint32_t)wait;
}

/* The units that an attempt has: those that there are; with the fewest; any number of all. */
typedef enum { UNITS_ALL, UNITS_FEW, UNITS_ANY } Units;

/* Places all nodes by their operands and units, back edges as they are. Returns the node that finds
 * no unit, or 0. */
static uint32_t sweep(TdFlow *f, Units units, const int64_t *held) {
  size_t order = 0;
  for (size_t v = 1; v < f->node.n; v++) {
    TdFlowNode *x = &f->node.at[v];
    int64_t t = held[v];
    for (uint32_t i = 0; i < x->n; i++) {
      uint32_t u = f->operand.at[x->first + i];
      await(x, &t, f->node.at[u].end, u, TD_VIA_OPERAND, 0);
    }
    for (; order < f->order.n && f->order.at[order].to == v; order++) {
      const TdFlowWait *w = &f->order.at[order];
      await(x, &t, waited(f, w, &f->node.at[w->from], 0), w->from, TD_VIA_ORDER, order);
    }
    x->start = start_at(f, x, t);
    x->crowded = false;
    if (x->nuse && units != UNITS_ANY) {
      int64_t cycle = td_flow_cycle(f, x->start), at = td_flow_pool_take(f, (uint32_t)v, cycle);
      if (at < 0) return (uint32_t)v;
      x->crowded = at > cycle;
      if (x->crowded) x->start = at * f->period;
    }
    x->end = end_of(f, x);
  }
  return 0;
}

/* What waiting for a node is waiting for, in turn: nodes of this stamp, and whether units are
 * waited for before. Kept from one back edge to the next, which often leaves the same node. */
typedef struct Chain {
  uint32_t from, stamp;
  uint32_t *mark;
  bool *crowded, crowds;
} Chain;

/* Makes c the chain of a node, if it is not. */
static void follow(const TdFlow *f, Chain *c, uint32_t from) {
  bool crowded = false;
  if (c->from == from) return;
  c->from = from;
  c->stamp++;
  for (uint32_t v = from; v && c->mark[v] != c->stamp; v = f->node.at[v].last) {
    c->mark[v] = c->stamp;
    c->crowded[v] = crowded;
    crowded |= f->node.at[v].crowded;
  }
}

/* Whether waiting for `from` is waiting for `to`, by what each node waited for last; *crowded: and
 * for units on the way. */
static bool leads_back(const TdFlow *f, Chain *c, uint32_t from, uint32_t to, bool *crowded) {
  follow(f, c, from);
  if (c->mark[to] != c->stamp) return false;
  *crowded = f->node.at[to].crowded || c->crowded[to];
  return true;
}

/* The wait through which x waits, or NULL: an operand. */
static const TdFlowWait *wait_of(const TdFlow *f, const TdFlowNode *x) {
  if (x->via == TD_VIA_OPERAND) return NULL;
  return x->via == TD_VIA_ORDER ? &f->order.at[x->wait] : &f->back.at[x->wait];
}

/* The cycle that wait b closes: its nodes from b->to on, and how long once around takes. */
static TdFlowCycle close_cycle(const TdFlow *f, const TdFlowWait *b) {
  size_t n = 1;
  for (uint32_t v = b->from; v != b->to; v = f->node.at[v].last) n++;
  uint32_t *node = TD_NEWN(f->arena, uint32_t, n);
  TdFlowCycle c = {.node = node, .n = n, .distance = b->distance};
  for (uint32_t v = b->from; n-- > 0; v = f->node.at[v].last) node[n] = v;
  TdFlowNode x = {0};
  for (size_t i = 0; i < c.n; i++) {
    TdFlowNode next = f->node.at[node[i]];
    const TdFlowWait *w = i ? wait_of(f, &next) : NULL;
    int64_t t = w ? waited(f, w, &x, 0) : x.end;
    if (w) c.distance += w->distance;
    x = next;
    x.start = start_at(f, &x, t);
    x.end = end_of(f, &x);
  }
  c.cycles = td_flow_cycle(f, next_edge(f, waited(f, b, &x, 0)));
  return c;
}

/* Delays what waits for other iterations, or for later nodes, at interval ii. *moved: something
 * did. False: *why never ends. */
static bool hold(TdFlow *f, int64_t ii, Chain *chain, int64_t *held, bool *moved,
                 TdFlowCycle *why) {
  chain->from = 0;
  for (size_t i = 0; i < f->back.n; i++) {
    const TdFlowWait *b = &f->back.at[i];
    TdFlowNode *to = &f->node.at[b->to];
    int64_t t = waited(f, b, &f->node.at[b->from], ii);
    bool crowded = false;
    if (t <= to->start || t <= held[b->to]) continue;
    if (b->distance && (b->from == b->to || leads_back(f, chain, b->from, b->to, &crowded)) &&
        !crowded) {
      *why = close_cycle(f, b);
      return false;
    }
    chain->crowds |= crowded;
    held[b->to] = t;
    if (chain->mark[b->to] == chain->stamp) chain->from = 0;
    to->last = b->from;
    to->via = TD_VIA_BACK;
    to->wait = (uint32_t)i;
    *moved = true;
  }
  return true;
}

/* Rounds in which units lengthen a cycle of waiting after which an interval is given up. */
enum { MOST_CROWDED = 8 };

/* How many nodes wait through back edges: as many rounds settle what units do not move. */
static size_t count_waiting(const TdFlow *f) {
  TdArena *a = td_arena_scratch(td_arena_ctx(f->arena));
  bool *waits = TD_NEWN(a, bool, f->node.n);
  size_t n = 0;
  for (size_t i = 0; i < f->back.n; i++) {
    n += !waits[f->back.at[i].to];
    waits[f->back.at[i].to] = true;
  }
  td_arena_free(a);
  return n;
}

/* Least times at interval ii. False: there are none, and *why says so. */
static bool place(TdFlow *f, int64_t ii, Units units, int64_t *held, TdFlowCycle *why) {
  Chain chain = {.mark = TD_NEWN(f->arena, uint32_t, f->node.n),
                 .crowded = TD_NEWN(f->arena, bool, f->node.n)};
  size_t rounds = 0, most = MOST_CROWDED + count_waiting(f), lengthened = 0;
  f->ii = ii;
  for (size_t v = 0; v < f->node.n; v++) held[v] = f->node.at[v].last = 0;
  for (bool moved = true; moved;) {
    td_ctx_tick(td_arena_ctx(f->arena), f->node.n);
    if (units != UNITS_ANY) td_flow_pool_clear(f, units == UNITS_FEW);
    uint32_t crowded = sweep(f, units, held);
    moved = false;
    if (crowded || rounds++ > most || lengthened > MOST_CROWDED) {
      *why = (TdFlowCycle){.cycles = ii + 1, .distance = 1, .crowded = crowded};
      return false;
    }
    chain.crowds = false;
    if (!hold(f, ii, &chain, held, &moved, why)) return false;
    lengthened += chain.crowds;
  }
  return true;
}

/* Whether some pool may have more units than it has at first. */
static bool has_few(const TdFlow *f, int64_t ii) {
  bool found = false;
  for (size_t i = 0; i < f->pool.n && ii; i++) found |= f->pool.at[i].few && !f->pool.at[i].n;
  return found;
}

/* The least interval at which the units suffice; *crowded is a node that needs it. What is under a
 * condition may share them. */
static int64_t least_for_units(const TdFlow *f, int64_t ii, uint32_t *crowded) {
  for (size_t i = 0; i < f->use.n; i++) {
    const TdFlowPool *p = &f->pool.at[f->use.at[i].pool];
    if (!p->n || p->shared || (p->total + p->n - 1) / p->n <= ii) continue;
    ii = (p->total + p->n - 1) / p->n;
    *crowded = f->use.at[i].node;
  }
  return ii;
}

/* Where units keep moving nodes, the interval is found to within this share of it. */
enum { COARSE = 16 };

/* The least interval above ii that *why allows; where units keep moving nodes, `step` further. */
static int64_t next_interval(int64_t ii, int64_t step, const TdFlowCycle *why) {
  int64_t around = why->distance > 0 ? why->distance : 1;
  int64_t needs = (why->cycles + around - 1) / around;
  return needs > ii + step ? needs : ii + step;
}

/* Cycles of waiting found one by one, each of which may need hardly more than the one before. */
enum { MOST_FOUND = 16 };

/* The least interval from ii on that no cycle of waiting forbids, whatever the units: doubles its
 * steps, then halves what lies between, which is exact, since cycles that an interval allows are
 * allowed by all above. *why is what forbids the one below, if any does. */
static int64_t least_for_cycles(TdFlow *f, int64_t ii, int64_t *held, TdFlowCycle *why) {
  TdFlowCycle other;
  int64_t below = ii - 1, above = 0; /* 0: not found yet */
  for (int64_t step = 1; !above || above - below > 1;
       ii = above ? below + (above - below) / 2 : ii) {
    if (place(f, ii, UNITS_ANY, held, &other)) {
      above = ii;
      continue;
    }
    if (!other.n) break;
    *why = other;
    below = next_interval(ii, 1, &other) - 1;
    ii = below + step;
    step *= 2;
  }
  return below + 1;
}

/* Doubles its steps while units keep moving nodes, then halves what lies between. */
int64_t td_flow_settle(TdFlow *f, int64_t least, TdFlowCycle *why) {
  int64_t ii = least, below, step = 1, found = 0, *held = TD_NEWN(f->arena, int64_t, f->node.n);
  *why = (TdFlowCycle){0};
  if (ii) ii = least_for_units(f, ii, &why->crowded);
  for (below = ii - 1; !place(f, ii, UNITS_ALL, held, why);) {
    bool proved = why->n;
    int64_t next = next_interval(ii, proved ? 1 : step, why);
    if (proved && ++found == MOST_FOUND) next = least_for_cycles(f, next, held, why);
    below = proved ? next - 1 : ii;
    step = proved || next < COARSE ? 1 : 2 * step;
    ii = next;
  }
  int64_t last = ii;
  while (ii - below > 1 + below / COARSE) {
    TdFlowCycle other;
    last = below + (ii - below) / 2;
    if (place(f, last, UNITS_ALL, held, &other)) {
      ii = last;
    } else {
      int64_t next = next_interval(last, 1, &other);
      below = other.n && next <= ii ? next - 1 : last;
      *why = other;
    }
  }
  bool few = has_few(f, ii);
  if (few && place(f, ii, UNITS_FEW, held, &(TdFlowCycle){0})) return ii;
  if (few || last != ii) place(f, ii, UNITS_ALL, held, &(TdFlowCycle){0});
  return ii;
}

/* The latest start of x, before which it started, such that it ends by `due`. */
static int64_t latest_start(const TdFlow *f, const TdFlowNode *x, int64_t due) {
  int64_t in_cycle = due % f->period, t = due - x->stages * f->period - x->delay;
  if (x->stages || x->edge)
    t = t / f->period * f->period;
  else if (in_cycle && in_cycle < x->delay)
    t = due - in_cycle - x->delay;
  return t > x->start ? t : x->start;
}

/* Moves x, which takes units, to the last cycle up to `start` at which it finds them. */
static void postpone_use(TdFlow *f, uint32_t v, int64_t start) {
  TdFlowNode *x = &f->node.at[v];
  int64_t now = td_flow_cycle(f, x->start), at = td_flow_cycle(f, start);
  td_flow_pool_give(f, v, now);
  while (at > now && !td_flow_pool_fits(f, v, at)) {
    at = td_flow_pool_before(f, v, at);
    start = at * f->period;
    td_ctx_tick(td_arena_ctx(f->arena), 1);
  }
  if (at > now)
    x->start = start;
  else
    td_flow_pool_fits(f, v, now);
}

void td_flow_postpone(TdFlow *f, const int64_t *latest) {
  int64_t *due = TD_NEWN(f->arena, int64_t, f->node.n);
  for (size_t v = 0; v < f->node.n; v++) due[v] = f->node.at[v].fixed ? 0 : INT64_MAX;
  for (size_t i = 0; i < f->back.n; i++)
    due[f->back.at[i].from] = f->node.at[f->back.at[i].from].end;
  for (size_t v = f->node.n; v-- > 1;) {
    TdFlowNode *x = &f->node.at[v];
    int64_t start = due[v] < INT64_MAX ? latest_start(f, x, due[v]) : x->start;
    if (latest[v] < start / f->period) start = latest[v] * f->period;
    if (start < x->start) start = x->start;
    if (x->nuse && start > x->start)
      postpone_use(f, (uint32_t)v, start);
    else
      x->start = start;
    x->end = end_of(f, x);
    for (uint32_t i = 0; i < x->n; i++) {
      int64_t *d = &due[f->operand.at[x->first + i]];
      if (x->start < *d) *d = x->start;
    }
  }
}

int64_t td_flow_length(const TdFlow *f) {
  int64_t end = 0;
  for (size_t v = 1; v < f->node.n; v++)
    if (f->node.at[v].end > end) end = f->node.at[v].end;
  return next_edge(f, end) / f->period;
}
