/* flow_pool.c - units of ports and operators against the cycles, or rows of a modulo table, in
 * which they are taken. */
#include "analysis/time/flow.h"

#include <stdlib.h>

bool td_flow_excludes(const TdFlowArm *x, const TdFlowArm *y) {
  for (; x; x = x->outer)
    for (const TdFlowArm *z = y; z; z = z->outer)
      if (z->number == x->number && z->arm != x->arm) return true;
  return false;
}

uint32_t td_flow_pool(TdFlow *f, TdFlowPool p) {
  td_vec_push(f->arena, &f->pool, p);
  return (uint32_t)f->pool.n - 1;
}

void td_flow_use(TdFlow *f, uint32_t node, uint32_t pool, int64_t cycles, const TdFlowArm *arm) {
  TdFlowNode *x = &f->node.at[node];
  TdFlowPool *p = &f->pool.at[pool];
  if (!x->nuse) x->use = (uint32_t)f->use.n;
  x->nuse++;
  p->total += cycles;
  p->uneven |= cycles != 1 || arm;
  p->shared |= arm != NULL;
  td_vec_push(f->arena, &f->use, ((TdFlowUse){node, pool, cycles, arm, 0}));
}

/* Rows beyond which those taken are kept as ranges, not counted one by one. */
enum { MOST_ROWS = 1 << 20 };

void td_flow_pool_clear(TdFlow *f, bool few) {
  for (size_t i = 0; i < f->pool.n; i++) {
    TdFlowPool *p = &f->pool.at[i];
    p->limit = p->n;
    if (!p->n && p->few && few && f->ii) p->limit = (p->total + f->ii - 1) / f->ii;
    p->counted = !p->uneven && f->ii && f->ii <= MOST_ROWS;
    for (size_t u = 0; u < p->unit.n; u++) p->unit.at[u].n = 0;
    p->taken.n = 0;
    for (int64_t r = 0; p->limit && p->counted && r < f->ii; r++)
      td_vec_push(f->arena, &p->taken, 0);
  }
}

/* The wait for a unit of a pool of which each use takes one cycle. */
static int64_t find_count(const TdFlow *f, const TdFlowPool *p, int64_t cycle) {
  int64_t wait = 0;
  while (wait < f->ii && p->taken.at[(cycle + wait) % f->ii] >= p->limit) wait++;
  return wait;
}

/* Unit u of pool p, which may be a new one. */
static TdFlowUnit *unit_at(TdFlow *f, TdFlowPool *p, int64_t u) {
  while ((int64_t)p->unit.n <= u) td_vec_push(f->arena, &p->unit, ((TdFlowUnit){0}));
  return &p->unit.at[u];
}

/* Rows from..to-1 of unit x against what takes it: the first row after what is in the way; or
 * -1. */
static int64_t in_the_way(const TdFlowUnit *x, int64_t from, int64_t to, const TdFlowArm *arm) {
  for (size_t i = 0; i < x->n; i++) {
    const TdFlowBusy *b = &x->at[i];
    if (b->from < to && from < b->to && !td_flow_excludes(b->arm, arm)) return b->to;
  }
  return -1;
}

/* How long to wait from a cycle on before the next look at a unit; 0: it is free. */
static int64_t delay_of(const TdFlow *f, const TdFlowUnit *x, const TdFlowUse *u, int64_t cycle) {
  if (!f->ii) {
    int64_t next = in_the_way(x, cycle, cycle + u->cycles, u->arm);
    return next < 0 ? 0 : next - cycle;
  }
  int64_t row = cycle % f->ii, end = row + u->cycles, next;
  if ((next = in_the_way(x, row, end < f->ii ? end : f->ii, u->arm)) >= 0) return next - row;
  if (end > f->ii && (next = in_the_way(x, 0, end - f->ii, u->arm)) >= 0) return next + f->ii - row;
  return 0;
}

/* Has a unit taken, or free again, in rows from..to-1. Rows next to each other are kept as one. */
static void mark(TdFlow *f, TdFlowUnit *x, TdFlowBusy b) {
  size_t i = x->n;
  while (i > 0 && x->at[i - 1].from > b.from) i--;
  if (!b.arm && i > 0 && x->at[i - 1].to == b.from && !x->at[i - 1].arm) {
    x->at[i - 1].to = b.to;
    if (i < x->n && x->at[i].from == b.to && !x->at[i].arm) {
      x->at[i - 1].to = x->at[i].to;
      for (x->n--; i < x->n; i++) x->at[i] = x->at[i + 1];
    }
    return;
  }
  td_vec_push(f->arena, x, b);
  for (size_t k = x->n - 1; k > i; k--) x->at[k] = x->at[k - 1];
  x->at[i] = b;
}

static void unmark(TdFlow *f, TdFlowUnit *x, TdFlowBusy b) {
  for (size_t i = 0; i < x->n; i++) {
    TdFlowBusy was = x->at[i];
    if (was.arm != b.arm || was.from > b.from || was.to < b.to) continue;
    for (size_t k = i + 1; k < x->n; k++) x->at[k - 1] = x->at[k];
    x->n--;
    if (was.from < b.from) mark(f, x, (TdFlowBusy){was.from, b.from, was.arm});
    if (b.to < was.to) mark(f, x, (TdFlowBusy){b.to, was.to, was.arm});
    return;
  }
}

/* Has the rows of a use that starts at a cycle taken, or free again. */
static void book(TdFlow *f, const TdFlowUse *u, int64_t cycle, bool takes) {
  TdFlowPool *p = &f->pool.at[u->pool];
  if (!p->limit) return;
  if (p->counted) {
    p->taken.at[cycle % f->ii] += takes ? 1 : -1;
    return;
  }
  void (*does)(TdFlow *, TdFlowUnit *, TdFlowBusy) = takes ? mark : unmark;
  TdFlowUnit *x = unit_at(f, p, u->unit);
  if (!f->ii) {
    does(f, x, (TdFlowBusy){cycle, cycle + u->cycles, u->arm});
    return;
  }
  int64_t row = cycle % f->ii, end = row + u->cycles;
  does(f, x, (TdFlowBusy){row, end < f->ii ? end : f->ii, u->arm});
  if (end > f->ii) does(f, x, (TdFlowBusy){0, end - f->ii, u->arm});
}

/* The least wait for any unit of the pool that use u takes one of, which it notes. */
static int64_t find_unit(TdFlow *f, TdFlowUse *u, int64_t cycle) {
  TdFlowPool *p = &f->pool.at[u->pool];
  int64_t best = INT64_MAX;
  if (!p->limit) return 0;
  if (p->counted) return find_count(f, p, cycle);
  for (int64_t i = 0; i < p->limit && best; i++) {
    int64_t wait = i < (int64_t)p->unit.n ? delay_of(f, &p->unit.at[i], u, cycle) : 0;
    if (wait >= best) continue;
    best = wait;
    u->unit = i;
  }
  return best;
}

/* The wait for all units of node v, which are taken if it is 0: several of one pool, perhaps. */
static int64_t take_units(TdFlow *f, const TdFlowNode *x, int64_t cycle) {
  for (uint32_t i = 0; i < x->nuse; i++) {
    TdFlowUse *u = &f->use.at[x->use + i];
    int64_t wait = find_unit(f, u, cycle);
    if (wait) {
      while (i-- > 0) book(f, &f->use.at[x->use + i], cycle, false);
      return wait;
    }
    book(f, u, cycle, true);
  }
  return 0;
}

/* The latest start up to `cycle` at which unit x is free for use u. */
static int64_t free_before(const TdFlowUnit *x, const TdFlowUse *u, int64_t cycle) {
  for (size_t i = x->n; i-- > 0;) {
    const TdFlowBusy *b = &x->at[i];
    if (b->from >= cycle + u->cycles || b->to <= cycle || td_flow_excludes(b->arm, u->arm))
      continue;
    cycle = b->from - u->cycles;
    i = x->n;
  }
  return cycle;
}

int64_t td_flow_pool_before(const TdFlow *f, uint32_t v, int64_t cycle) {
  const TdFlowNode *x = &f->node.at[v];
  cycle--;
  for (uint32_t i = 0; i < x->nuse && !f->ii; i++) {
    const TdFlowUse *u = &f->use.at[x->use + i];
    const TdFlowPool *p = &f->pool.at[u->pool];
    int64_t best = p->limit && !p->counted ? INT64_MIN : cycle;
    for (int64_t k = 0; k < p->limit && best < cycle; k++) {
      int64_t at = k < (int64_t)p->unit.n ? free_before(&p->unit.at[k], u, cycle) : cycle;
      if (at > best) best = at;
    }
    cycle = best;
  }
  return cycle;
}

bool td_flow_pool_fits(TdFlow *f, uint32_t v, int64_t cycle) {
  return take_units(f, &f->node.at[v], cycle) == 0;
}

void td_flow_pool_give(TdFlow *f, uint32_t v, int64_t cycle) {
  const TdFlowNode *x = &f->node.at[v];
  for (uint32_t i = 0; i < x->nuse; i++) book(f, &f->use.at[x->use + i], cycle, false);
}

int64_t td_flow_pool_take(TdFlow *f, uint32_t v, int64_t cycle) {
  const TdFlowNode *x = &f->node.at[v];
  int64_t first = cycle;
  for (uint32_t i = 0; f->ii && i < x->nuse; i++) {
    const TdFlowUse *u = &f->use.at[x->use + i];
    if (f->pool.at[u->pool].limit && u->cycles > f->ii) return -1;
  }
  for (int64_t wait; (wait = take_units(f, x, cycle)) != 0;) {
    cycle += wait;
    td_ctx_tick(td_arena_ctx(f->arena), 1);
    if (f->ii && cycle >= first + f->ii) return -1;
  }
  return cycle;
}

/* Uses in the order of their starts. */
typedef struct Order {
  int64_t cycle;
  uint32_t use;
} Order;
static int by_cycle(const void *a, const void *b) {
  const Order *x = a, *y = b;
  if (x->cycle != y->cycle) return x->cycle < y->cycle ? -1 : 1;
  return x->use < y->use ? -1 : x->use > y->use;
}

/* Gives the uses of a pool whose units are not settled the least numbers: those of pipelines that
 * take several cycles one each. */
static void number_units(TdFlow *f, TdFlowPool *p, Order *o, size_t n) {
  size_t head = 0, row = 0;
  int64_t units = 0;
  if (!f->ii || !p->uneven) qsort(o, n, sizeof *o, by_cycle);
  for (size_t i = 0; i < n; i++) {
    TdFlowUse *u = &f->use.at[o[i].use];
    const Order *earlier = &o[head];
    if (i && o[i].cycle != o[i - 1].cycle) row = i;
    if (f->ii && !p->uneven) {
      u->unit = (int64_t)(i - row);
    } else if (!f->ii && head < i &&
               earlier->cycle + f->use.at[earlier->use].cycles <= o[i].cycle) {
      u->unit = f->use.at[earlier->use].unit;
      head++;
    } else {
      u->unit = units;
    }
    if (u->unit >= units) units = u->unit + 1;
  }
  p->units = units;
}

void td_flow_pool_number(TdFlow *f) {
  size_t *n = TD_NEWN(f->arena, size_t, f->pool.n);
  Order **o = TD_NEWN(f->arena, Order *, f->pool.n);
  for (size_t i = 0; i < f->use.n; i++) n[f->use.at[i].pool]++;
  for (size_t i = 0; i < f->pool.n; i++) o[i] = TD_NEWN(f->arena, Order, n[i]), n[i] = 0;
  for (size_t i = 0; i < f->use.n; i++) {
    const TdFlowUse *u = &f->use.at[i];
    int64_t cycle = td_flow_cycle(f, f->node.at[u->node].start);
    bool rows = f->ii && !f->pool.at[u->pool].uneven;
    o[u->pool][n[u->pool]++] = (Order){rows ? cycle % f->ii : cycle, (uint32_t)i};
  }
  for (size_t i = 0; i < f->pool.n; i++) {
    TdFlowPool *p = &f->pool.at[i];
    if (!p->limit || p->counted)
      number_units(f, p, o[i], n[i]);
    else
      p->units = p->limit;
  }
}

/* The stage of the pipeline in which a node starts. */
static int64_t stage_of(const TdFlow *f, uint32_t v) {
  return td_flow_cycle(f, f->node.at[v].start) / f->ii;
}

bool td_flow_is_shared(const TdFlow *f) {
  TdMap first = {0};
  if (f->ii < 2) return false;
  for (size_t i = 0; i < f->use.n; i++) {
    const TdFlowUse *u = &f->use.at[i];
    uint64_t at, key = td_map_mix(u->pool, (uint64_t)u->unit);
    if (f->pool.at[u->pool].loose) continue;
    if (!td_map_get(&first, key, &at))
      td_map_put(f->arena, &first, key, i);
    else if (stage_of(f, f->use.at[at].node) != stage_of(f, u->node))
      return true;
  }
  return false;
}
