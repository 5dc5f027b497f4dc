/* trace_carry.c - what one iteration leaves for the next. */
#include "analysis/time/trace.h"

/* Beyond this many pairs of lines of one array, a store is taken to meet the next iteration. */
enum { MOST_PAIRS = 1024 };

static bool is_memory(const TdPlaced *p) {
  return p->kind == TD_CELL_MEMORY && !p->fresh;
}

void td_trace_trim(TdTrace *t) {
  bool *read = TD_NEWN(t->arena, bool, t->placed.n);
  for (size_t i = 0; i < t->reach.n; i++)
    if (!t->reach.at[i].write) read[t->reach.at[i].array->number] = true;
  for (size_t i = 0; i < t->reach.n; i++) {
    TdReach *r = &t->reach.at[i];
    const TdPlaced *p = r->array;
    if (p->kind == TD_CELL_MEMORY && p->fresh && !p->buffer && !read[p->number]) r->dead = true;
    if (r->array->registers) r->dead = true;
  }
}

/* Whether the element at s is the same one in all iterations, and is reached under no other name
 * that changes it, or that it changes. */
static bool stays(const TdTrace *t, const TdPlaced *p, const TdSpot *s) {
  for (int d = 0; d < p->rank; d++)
    for (uint32_t i = 0; i < s->at[d].n; i++)
      if (t->column.at[-1 - s->at[d].m[i].col].kind != TD_COLUMN_STILL) return false;
  for (size_t i = 0; p->written && i < p->spot.n; i++) {
    const TdSpot *x = &p->spot.at[i];
    if (x->line != s->line && (x->store || s->store) && !td_trace_is_apart(t, p, s, x, true))
      return false;
  }
  return true;
}

/* Keeps in registers what stays, from before the loop until after it. */
static void hoist(TdTrace *t) {
  for (size_t i = 0; i < t->placed.n; i++) {
    TdPlaced *p = t->placed.at[i];
    for (size_t k = 0; is_memory(p) && !p->registers && k < p->spot.n; k++)
      p->spot.at[k].hoisted = stays(t, p, &p->spot.at[k]);
  }
  for (size_t i = 0; i < t->reach.n; i++) {
    TdReach *r = &t->reach.at[i];
    if (r->spot == TD_TRACE_ALL || !r->array->spot.at[r->spot].hoisted) continue;
    TdSpot *s = &r->array->spot.at[r->spot];
    if (!s->turn[r->write]) s->turn[r->write] = ++r->array->turns[r->write];
    if (!r->dead) ++*(r->write ? &t->stores : &t->loads);
    r->dead = true;
    t->flow.node.at[r->node].stages = t->flow.node.at[r->node].delay = 0;
  }
}

int64_t td_trace_turn(const TdReach *r) {
  int64_t before = r->array->spot.at[r->spot].turn[r->write] - 1;
  return r->array->ports ? before / r->array->ports : 0;
}

int64_t td_trace_turns(const TdTrace *t, bool write) {
  int64_t most = 0;
  for (size_t i = 0; i < t->placed.n; i++) {
    const TdPlaced *p = t->placed.at[i];
    int64_t ports = p->ports ? p->ports : p->turns[write] + 1,
            n = (p->turns[write] + ports - 1) / ports;
    if (n > most) most = n;
  }
  return most;
}

/* How line `line` of p moves: by[d] elements an iteration. Returns the first dimension that does,
 * or -1; *wild: nobody knows. */
static int motion(const TdTrace *t, const TdPlaced *p, uint32_t line, int64_t *by, bool *wild) {
  const TdSpot *s = &p->spot.at[p->line.at[line]];
  int first = -1;
  *wild = false;
  for (int d = 0; d < p->rank; d++) {
    by[d] = 0;
    for (uint32_t i = 0; i < s->at[d].n; i++) {
      const TdColumn *c = &t->column.at[-1 - s->at[d].m[i].col];
      *wild |= c->kind == TD_COLUMN_WILD;
      if (c->kind == TD_COLUMN_STEPS) by[d] += s->at[d].m[i].coef;
    }
    if (by[d] && first < 0) first = d;
  }
  return first;
}

/* The iteration in which a spot of a moving line reaches the first elements, and a hash of the
 * rest: spots with the same rest meet as many iterations apart as those differ. */
static int64_t phase(const TdPlaced *p, const TdSpot *s, const int64_t *by, int first,
                     uint64_t *rest) {
  int64_t q = 0;
  if (first >= 0) {
    int64_t k = by[first] < 0 ? -by[first] : by[first];
    q = td_sys_floor64(s->at[first].c, k) * (by[first] < 0 ? -1 : 1);
  }
  *rest = td_map_mix(s->line, 0);
  for (int d = 0; d < p->rank; d++) *rest = td_map_mix(*rest, (uint64_t)(s->at[d].c - by[d] * q));
  return q;
}

/* Stored spots of one line, in lists by what is left of them. */
typedef struct Chain {
  TdMap head;     /* rest -> spot, plus 1 */
  uint32_t *next; /* spot -> spot, plus 1 */
} Chain;

/* The least number of iterations after which a read of s finds what a spot of the chain stored. */
static int64_t nearest(const TdPlaced *p, const Chain *c, const TdSpot *s, const int64_t *by,
                       int first, uint32_t *store) {
  uint64_t rest, other, at = 0;
  int64_t q = phase(p, s, by, first, &rest), best = 0;
  td_map_get(&c->head, rest, &at);
  for (; at; at = c->next[at - 1]) {
    const TdSpot *x = &p->spot.at[at - 1];
    int64_t d = first < 0 ? 1 : phase(p, x, by, first, &other) - q;
    if (d < 1 || (best && d >= best)) continue;
    best = d;
    *store = x->store - 1;
  }
  return best;
}

/* Reads of one line wait for stores of the same line: element by element. */
static void wait_in_line(TdTrace *t, TdPlaced *p, uint32_t line, int64_t trip) {
  int64_t by[TD_MAX_RANK];
  bool wild;
  int first = motion(t, p, line, by, &wild);
  Chain c = {.next = TD_NEWN(t->arena, uint32_t, p->spot.n)};
  for (size_t i = 0; i < p->spot.n; i++) {
    uint64_t rest, head = 0;
    if (p->spot.at[i].line != line || !p->spot.at[i].store) continue;
    phase(p, &p->spot.at[i], by, first, &rest);
    td_map_get(&c.head, rest, &head);
    c.next[i] = (uint32_t)head;
    td_map_put(t->arena, &c.head, rest, i + 1);
  }
  for (size_t i = 0; i < t->reach.n; i++) {
    const TdReach *r = &t->reach.at[i];
    uint32_t store = 0;
    if (r->array != p || r->write || p->spot.at[r->spot].line != line) continue;
    int64_t d = nearest(p, &c, &p->spot.at[r->spot], by, first, &store);
    if (d && d < trip) td_flow_wait(&t->flow, r->node, t->reach.at[store].node, d);
  }
}

/* Reads of line `to` wait for all stores of line `from`, which `hub` stands for. */
static void wait_for_hub(TdTrace *t, const TdPlaced *p, uint32_t to, uint32_t hub, int64_t d) {
  for (size_t i = 0; i < t->reach.n; i++) {
    const TdReach *r = &t->reach.at[i];
    if (r->array == p && !r->write && p->spot.at[r->spot].line == to)
      td_flow_wait(&t->flow, r->node, hub, d);
  }
}

/* A node after all stores of a line, or 0 if there are none. */
static uint32_t hub_of(TdTrace *t, const TdPlaced *p, uint32_t line) {
  TD_VEC(uint32_t) after = {0};
  for (size_t i = 0; i < p->spot.n; i++)
    if (p->spot.at[i].line == line && p->spot.at[i].store)
      td_vec_push(t->arena, &after, t->reach.at[p->spot.at[i].store - 1].node);
  return after.n ? td_flow_add(&t->flow, (TdFlowNode){0}, after.at, after.n) : 0;
}

/* Whether the loop says that it carries no dependence on p. */
static bool is_free(const TdTrace *t, const TdPlaced *p) {
  TdAttrs l = t->loop->attrs;
  for (size_t i = 0; i < l.n; i++)
    if (l.at[i].kind == TD_ATTR_DEP && l.at[i].arg[0].sym == p->sym) return true;
  return false;
}

/* Which lines of an array are read. */
static const bool *reads_of(const TdTrace *t, const TdPlaced *p) {
  bool *read = TD_NEWN(t->arena, bool, p->line.n + 1);
  for (size_t i = 0; i < t->reach.n; i++) {
    const TdReach *r = &t->reach.at[i];
    if (r->array == p && !r->write && r->spot != TD_TRACE_ALL)
      read[p->spot.at[r->spot].line] = true;
  }
  return read;
}

/* Reads of an array wait for stores in earlier iterations. */
static void wait_for_array(TdTrace *t, TdPlaced *p, int64_t trip) {
  TdTraceNest nest = {&t->loop, (int64_t[]){1}, 1};
  const bool *read = reads_of(t, p);
  for (uint32_t from = 0; from < p->line.n; from++) {
    uint32_t hub = hub_of(t, p, from);
    for (uint32_t to = 0; hub && to < p->line.n; to++) {
      int64_t by[TD_MAX_RANK];
      bool wild, near = p->line.n > MOST_PAIRS / p->line.n;
      if (!read[to]) continue;
      motion(t, p, to, by, &wild);
      if (from == to && !wild) {
        wait_in_line(t, p, from, trip);
        continue;
      }
      int64_t d = near ? 1 : td_trace_distance(t, p, from, to, &nest);
      if (d && d < trip) wait_for_hub(t, p, to, hub, d);
    }
  }
}

/* What an iteration writes, gets and puts waits, until a clock edge, for it to be known that the
 * one before was not left. */
static void wait_for_jumps(TdTrace *t) {
  uint32_t when[2];
  size_t n = 0;
  if (t->broken.any) when[n++] = t->broken.when;
  if (t->returned.any) when[n++] = t->returned.when;
  if (!n) return;
  t->jump = td_flow_add(&t->flow, (TdFlowNode){.delay = 1, .fixed = true}, when, n);
  td_trace_note(t, t->jump, (TdTraceCell){.what = TD_TRACE_JOIN});
  for (size_t i = 0; i < t->reach.n; i++) {
    const TdReach *r = &t->reach.at[i];
    bool memory = r->array->kind == TD_CELL_MEMORY;
    if (memory && (!r->write || r->hidden || r->array->fresh)) continue;
    td_flow_wait_for(&t->flow, (TdFlowWait){.from = t->jump, .to = r->node, .distance = 1});
  }
  for (size_t i = 0; i < t->firing.n; i++)
    if (t->firing.at[i].start)
      td_flow_wait_for(&t->flow,
                       (TdFlowWait){.from = t->jump, .to = t->firing.at[i].start, .distance = 1});
}

void td_trace_carry(TdTrace *t, int64_t trip) {
  td_trace_trim(t);
  if (!t->loop) return;
  wait_for_jumps(t);
  if (!t->reloads) hoist(t);
  for (size_t i = 0; i < t->placed.n; i++) {
    TdPlaced *p = t->placed.at[i];
    if (is_memory(p) && p->written && !is_free(t, p)) wait_for_array(t, p, trip);
  }
}
