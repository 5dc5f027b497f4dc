/* trace_firing.c - tokens in firings: which belong together, and what waits for what. Gets wait one
 * by one in latches, what is computed starts when all of a firing are there, and its puts follow
 * each other from the cycle in which all their values are. */
#include "analysis/time/trace.h"

/* Whether one of the nodes comes of a get of the last firing. */
static bool is_fed(const TdTrace *t, const uint32_t *after, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (after[i] && t->flow.node.at[after[i]].firing == t->firing.n) return true;
  return false;
}

uint32_t td_trace_firing(TdTrace *t, bool get, const uint32_t *after, size_t n) {
  TdTraceFiring *last = t->firing.n ? &t->firing.at[t->firing.n - 1] : NULL;
  if (last && (!get || (!last->put.n && !is_fed(t, after, n)))) return (uint32_t)t->firing.n - 1;
  TdTraceFiring f = {0};
  if (!get) f.start = td_flow_add(&t->flow, (TdFlowNode){.fixed = true}, NULL, 0);
  td_vec_push(t->arena, &t->firing, f);
  return (uint32_t)t->firing.n - 1;
}

/* Has the newest node wait for the start of another, `gap` cycles after it. */
static void follow(TdTrace *t, uint32_t from, int64_t gap) {
  TdFlowWait w = {.from = from, .to = (uint32_t)t->flow.node.n - 1, .gap = gap, .starts = true};
  td_flow_wait_for(&t->flow, w);
}

/* Has it wait until n tokens are over. */
static void follow_all(TdTrace *t, const uint32_t *token, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const TdReach *r = &t->reach.at[token[i]];
    follow(t, r->node, r->beats - 1);
  }
}

/* The last firing before number k that has gets (or puts), or NULL. */
static const TdTraceFiring *earlier(const TdTrace *t, size_t k, bool puts) {
  while (k-- > 0)
    if (puts ? t->firing.at[k].put.n : t->firing.at[k].get.n + (t->firing.at[k].start != 0))
      return &t->firing.at[k];
  return NULL;
}

/* A get comes after those before it in the firing, or the start of the firing before. */
static void queue_get(TdTrace *t, size_t k) {
  const TdTraceFiring *f = &t->firing.at[k], *before = earlier(t, k, false);
  if (f->get.n) {
    follow(t, t->reach.at[f->get.at[f->get.n - 1]].node, 0);
  } else if (before) {
    if (before->start) follow(t, before->start, 0);
    follow_all(t, before->get.at, before->get.n);
  }
}

static void hold(TdTrace *t, uint32_t node, uint32_t hub) {
  td_flow_wait_for(&t->flow, (TdFlowWait){.from = hub, .to = node});
}

/* A put comes after those before it in the firing, or after its start and the end of the firings
 * before. A firing without gets starts once it is known whether it puts something. */
static void queue_put(TdTrace *t, size_t k) {
  const TdTraceFiring *f = &t->firing.at[k], *before = earlier(t, k, true);
  uint32_t guard = t->reach.at[t->reach.n - 1].guard;
  if (f->start && guard) hold(t, f->start, guard);
  if (f->put.n) {
    follow(t, t->reach.at[f->put.at[f->put.n - 1]].node, 0);
    return;
  }
  if (f->start) follow(t, f->start, 0);
  follow_all(t, f->get.at, f->get.n);
  if (before) follow_all(t, before->put.at, before->put.n);
}

void td_trace_join(TdTrace *t, uint32_t firing) {
  uint32_t number = (uint32_t)t->reach.n - 1;
  TdReach *r = &t->reach.at[number];
  TdSpot *s = &r->array->spot.at[r->spot];
  TdTraceFiring *f = &t->firing.at[firing];
  if (r->write)
    queue_put(t, firing);
  else
    queue_get(t, firing);
  uint32_t before = s->store;
  while (before && (td_flow_excludes(t->reach.at[before - 1].arm, r->arm) ||
                    t->reach.at[before - 1].slot != r->slot))
    before = t->reach.at[before - 1].before;
  if (before) follow(t, t->reach.at[before - 1].node, t->reach.at[before - 1].beats);
  r->before = s->store;
  s->store = number + 1;
  if (r->write)
    td_vec_push(t->arena, &f->put, number);
  else
    td_vec_push(t->arena, &f->get, number);
  td_vec_push(t->arena, &t->event, ((TdTraceEvent){r->stmt, 0, number + 1, firing}));
}

size_t td_trace_mark(TdTrace *t, const TdStmt *s, int64_t copy) {
  td_vec_push(t->arena, &t->event, ((TdTraceEvent){.stmt = s, .copy = copy}));
  return t->event.n;
}

void td_trace_unmark(TdTrace *t, size_t n) {
  if (t->event.n == n) t->event.n--;
}

/* A node after what n tokens wait for, or (`over`) after the tokens. */
static uint32_t hub_of(TdTrace *t, const uint32_t *token, size_t n, bool over) {
  TD_VEC(uint32_t) after = {0};
  for (size_t i = 0; i < n; i++) {
    uint32_t v = t->reach.at[token[i]].node;
    const TdFlowNode *x = &t->flow.node.at[v];
    if (over) td_vec_push(t->arena, &after, v);
    for (uint32_t k = 0; !over && k < x->n; k++)
      td_vec_push(t->arena, &after, t->flow.operand.at[x->first + k]);
  }
  return td_flow_add(&t->flow, (TdFlowNode){0}, after.at, after.n);
}

/* Has all that uses a get of firing k wait for all its gets. */
static void hold_uses(TdTrace *t, size_t k) {
  const TdTraceFiring *f = &t->firing.at[k];
  TdMap get = {0};
  if (f->get.n < 2) return;
  for (size_t i = 0; i < f->get.n; i++)
    td_map_put(t->arena, &get, t->reach.at[f->get.at[i]].node, i);
  size_t n = t->flow.node.n;
  uint32_t hub = hub_of(t, f->get.at, f->get.n, true);
  for (size_t v = 1; v < n; v++) {
    const TdFlowNode *x = &t->flow.node.at[v];
    uint64_t at;
    bool uses = false;
    for (uint32_t i = 0; i < x->n && x->firing > k && !uses; i++)
      uses = td_map_get(&get, t->flow.operand.at[x->first + i], &at);
    if (uses) hold(t, (uint32_t)v, hub);
  }
}

static void hold_puts(TdTrace *t, size_t k) {
  const TdTraceFiring *f = &t->firing.at[k];
  if (f->put.n < 2) return;
  uint32_t hub = hub_of(t, f->put.at, f->put.n, false);
  for (size_t i = 0; i < f->put.n; i++) hold(t, t->reach.at[f->put.at[i]].node, hub);
}

/* Has a node wait until n tokens of the iteration before are over. */
static void hold_next(TdTrace *t, uint32_t node, const uint32_t *token, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const TdReach *r = &t->reach.at[token[i]];
    TdFlowWait w = {
        .from = r->node, .to = node, .distance = 1, .gap = r->beats - 1, .starts = true};
    if (w.from != w.to) td_flow_wait_for(&t->flow, w);
  }
}

void td_trace_fire(TdTrace *t) {
  size_t n = t->firing.n, k = 0;
  for (size_t i = 0; i < n; i++) {
    hold_uses(t, i);
    hold_puts(t, i);
  }
  if (!t->loop || !n) return;
  const TdTraceFiring *first = &t->firing.at[0], *last = earlier(t, n, false);
  hold_next(t, first->start ? first->start : t->reach.at[first->get.at[0]].node, last->get.at,
            last->get.n);
  while (k < n && !t->firing.at[k].put.n) k++;
  if (k == n) return;
  last = earlier(t, n, true);
  hold_next(t, t->reach.at[t->firing.at[k].put.at[0]].node, last->put.at, last->put.n);
}

/* The cycle in which token r begins. */
static int64_t begin_of(const TdTrace *t, const TdReach *r) {
  return td_flow_cycle(&t->flow, t->flow.node.at[r->node].start);
}

TdFiringTimes td_trace_times(const TdTrace *t, size_t k) {
  const TdTraceFiring *f = &t->firing.at[k];
  TdFiringTimes x = {0};
  if (f->start) x.at = td_flow_cycle(&t->flow, t->flow.node.at[f->start].start);
  x.from = f->get.n ? begin_of(t, &t->reach.at[f->get.at[0]]) : x.at;
  for (size_t i = 0; i < f->get.n; i++) {
    const TdReach *r = &t->reach.at[f->get.at[i]];
    int64_t end = begin_of(t, r) + r->beats - 1;
    if (end > x.at) x.at = end;
  }
  if (f->put.n) x.latency = begin_of(t, &t->reach.at[f->put.at[0]]) - x.at;
  for (size_t i = 0; i < f->put.n; i++) {
    const TdReach *r = &t->reach.at[f->put.at[i]];
    int64_t end = begin_of(t, r) + r->beats - 1 - x.at - x.latency;
    if (end > x.span) x.span = end;
  }
  return x;
}

int64_t td_trace_length(const TdTrace *t) {
  int64_t length = td_flow_length(&t->flow);
  for (size_t k = 0; k < t->firing.n; k++) {
    TdFiringTimes x = td_trace_times(t, k);
    int64_t end = x.at + x.latency + x.span + 1;
    if (end > length) length = end;
  }
  return length;
}
