/* flow.c - least times by relaxation. What crosses iterations does so on clock edges: a cycle of
 * waiting that delays its first node at all delays it by whole cycles each time around, and never
 * settles; one is looked for whenever a back edge delays a node. */
#include "analysis/time/flow.h"

#include <assert.h>

TdFlow td_flow_new(TdArena *a, int64_t period) {
  TdFlow f = {.arena = a, .period = period};
  td_vec_push(a, &f.node, (TdFlowNode){0});
  return f;
}

uint32_t td_flow_add(TdFlow *f, TdFlowNode x, const uint32_t *operand, size_t n) {
  x.first = (uint32_t)f->operand.n;
  for (size_t i = 0; i < n; i++)
    if (operand[i]) td_vec_push(f->arena, &f->operand, operand[i]);
  x.n = (uint32_t)f->operand.n - x.first;
  td_vec_push(f->arena, &f->node, x);
  td_ctx_tick(td_arena_ctx(f->arena), 1);
  return (uint32_t)f->node.n - 1;
}

void td_flow_after(TdFlow *f, uint32_t to, uint32_t from) {
  assert(to + 1 == f->node.n);
  td_vec_push(f->arena, &f->operand, from);
  f->node.at[to].n++;
}

void td_flow_wait(TdFlow *f, uint32_t to, uint32_t from, int64_t distance) {
  f->node.at[to].edge = true;
  td_vec_push(f->arena, &f->back, ((TdFlowBack){from, to, distance}));
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

/* Places all nodes by their operands, back edges as they are. */
static void sweep(TdFlow *f, const int64_t *held) {
  for (size_t v = 1; v < f->node.n; v++) {
    TdFlowNode *x = &f->node.at[v];
    int64_t t = held[v];
    for (uint32_t i = 0; i < x->n; i++) {
      uint32_t u = f->operand.at[x->first + i];
      if (f->node.at[u].end <= t) continue;
      t = f->node.at[u].end;
      x->last = u;
      x->back = false;
    }
    x->start = start_at(f, x, t);
    x->end = end_of(f, x);
  }
}

/* Whether waiting for `from` is waiting for `to`, by the latest operands. */
static bool leads_back(const TdFlow *f, uint32_t from, uint32_t to) {
  size_t steps = 0;
  uint32_t v = from;
  while (v && v != to && steps++ <= f->node.n) v = f->node.at[v].last;
  return v == to;
}

/* The least distance of back edges between two nodes. */
static int64_t distance_of(const TdFlow *f, uint32_t from, uint32_t to) {
  int64_t least = INT64_MAX;
  for (size_t i = 0; i < f->back.n; i++) {
    const TdFlowBack *b = &f->back.at[i];
    if (b->from == from && b->to == to && b->distance < least) least = b->distance;
  }
  return least;
}

/* The cycle that back edge b closes: its nodes from b->to on, and how long once around takes. */
static TdFlowCycle close_cycle(const TdFlow *f, const TdFlowBack *b) {
  size_t n = 1;
  for (uint32_t v = b->from; v != b->to; v = f->node.at[v].last) n++;
  uint32_t *node = TD_NEWN(f->arena, uint32_t, n);
  TdFlowCycle c = {.node = node, .n = n, .distance = distance_of(f, b->from, b->to)};
  for (uint32_t v = b->from; n-- > 0; v = f->node.at[v].last) node[n] = v;
  int64_t t = 0;
  for (size_t i = 0; i < c.n; i++) {
    TdFlowNode x = f->node.at[node[i]];
    if (i && x.back) {
      t = next_edge(f, t);
      c.distance += distance_of(f, node[i - 1], node[i]);
    }
    x.start = start_at(f, &x, t);
    t = end_of(f, &x);
  }
  c.cycles = next_edge(f, t) / f->period;
  return c;
}

/* Delays what back edges make wait at interval ii. *moved: something did. False: *why never ends.
 */
static bool hold(TdFlow *f, int64_t ii, int64_t *held, bool *moved, TdFlowCycle *why) {
  for (size_t i = 0; i < f->back.n; i++) {
    const TdFlowBack *b = &f->back.at[i];
    TdFlowNode *to = &f->node.at[b->to];
    int64_t t = next_edge(f, f->node.at[b->from].end) - ii * b->distance * f->period;
    if (t <= to->start || t <= held[b->to]) continue;
    if (b->from == b->to || leads_back(f, b->from, b->to)) {
      *why = close_cycle(f, b);
      return false;
    }
    held[b->to] = t;
    to->last = b->from;
    to->back = true;
    *moved = true;
  }
  return true;
}

/* Least times at interval ii. False: there are none, and *why says so. */
static bool place(TdFlow *f, int64_t ii, TdFlowCycle *why) {
  TdMark m = td_arena_mark(f->arena);
  int64_t *held = TD_NEWN(f->arena, int64_t, f->node.n);
  for (size_t v = 0; v < f->node.n; v++) f->node.at[v].last = 0;
  for (bool moved = true; moved;) {
    td_ctx_tick(td_arena_ctx(f->arena), f->node.n);
    sweep(f, held);
    moved = false;
    if (!hold(f, ii, held, &moved, why)) return false;
  }
  td_arena_release(f->arena, m);
  return true;
}

int64_t td_flow_settle(TdFlow *f, int64_t least, TdFlowCycle *why) {
  int64_t ii = least;
  while (!place(f, ii, why)) {
    int64_t needs = (why->cycles + why->distance - 1) / why->distance;
    ii = needs > ii ? needs : ii + 1;
  }
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

void td_flow_postpone(TdFlow *f) {
  int64_t *due = TD_NEWN(f->arena, int64_t, f->node.n);
  for (size_t v = 0; v < f->node.n; v++) due[v] = INT64_MAX;
  for (size_t i = 0; i < f->back.n; i++)
    due[f->back.at[i].from] = f->node.at[f->back.at[i].from].end;
  for (size_t v = f->node.n; v-- > 1;) {
    TdFlowNode *x = &f->node.at[v];
    if (due[v] < INT64_MAX) x->start = latest_start(f, x, due[v]);
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
