/* order.c - the order of the calls of a region: what a task gets, earlier calls put, unless
 * streams lead round in a circle; and that each stream has one task at either end. */
#include <string.h>

#include "lower/net/net.h"

#define NONE UINT32_MAX

/* The ends of the streams, by number: those of an array follow each other, row-major. */
typedef struct Ends {
  TdNet *n;
  TdMap first;                   /* of each stream symbol */
  uint32_t *producer, *consumer; /* call of each stream, or NONE */
  uint32_t *stream;              /* declaration of each stream */
} Ends;

/* The streams that one argument of a call stands for. */
typedef struct Part {
  const TdNetArg *x;
  const TdStream *s;
  const int64_t *at;
  uint32_t from, count; /* of the array's first; how many */
} Part;

static int64_t extent_of(const TdNet *n, const TdStream *s, int d) {
  int64_t v = 1;
  td_unit_value(n->design, s->type->dim[d], &v);
  return v;
}

static int64_t count_of(const TdNet *n, const TdStream *s) {
  int64_t count = 1;
  for (int d = 0; d < s->type->rank; d++) count *= extent_of(n, s, d);
  return count;
}

static Part part_of(const Ends *e, const TdNetArg *x, uint32_t instance) {
  Part p = {.x = x, .s = td_net_find(e->n, x->sym), .count = 1};
  uint64_t first = 0;
  td_map_get(&e->first, (uint64_t)(uintptr_t)x->sym, &first);
  p.from = (uint32_t)first;
  p.at = x->at + (size_t)instance * (x->listed ? x->listed : 1) * (size_t)p.s->type->rank;
  for (int d = 0; d < p.s->type->rank && !x->listed; d++)
    if (!(x->fixed >> d & 1)) p.count *= (uint32_t)extent_of(e->n, p.s, d);
  if (x->listed) p.count = x->listed;
  return p;
}

/* The number of the k-th stream of a part. */
static uint32_t stream_at(const Ends *e, const Part *p, uint32_t k) {
  uint32_t at = 0, stride = 1;
  const int64_t *known = p->x->listed ? p->at + k * (uint32_t)p->s->type->rank : p->at;
  for (int d = p->s->type->rank - 1; d >= 0; d--) {
    uint32_t extent = (uint32_t)extent_of(e->n, p->s, d);
    bool fixed = p->x->listed || p->x->fixed >> d & 1;
    at += stride * (fixed ? (uint32_t)known[d] : k % extent);
    if (!fixed) k /= extent;
    stride *= extent;
  }
  return p->from + at;
}

static const TdNetClass *class_of(const TdNet *n, uint32_t call) {
  return n->cls.at[n->call.at[call].cls];
}

static bool is_port(const TdNetClass *c, size_t i) {
  return c->kernel->param[i].type->kind == TD_T_PORT;
}

/* Notes that a call holds an end of stream i. */
static bool hold(Ends *e, uint32_t *end, uint32_t i, uint32_t call, const char *does) {
  TdNet *n = e->n;
  if (end[i] == NONE) end[i] = call;
  if (end[i] == call) return true;
  const TdNetClass *a = class_of(n, end[i]), *b = class_of(n, call);
  const TdStream *s = &n->stream.at[e->stream[i]];
  return !td_net_look(n, s->sym) &&
         td_net_refuse(
             n, "shared-end", s->loc,
             "index the array by the ids first, so that each task has a stream or a row of its own",
             "%s and %s would both %s a stream of %s: each is given more of it than it uses",
             td_net_label(n->arena, a, n->call.at[end[i]].instance),
             td_net_label(n->arena, b, n->call.at[call].instance), does, s->sym->name);
}

/* Notes the ends that a call holds. */
static bool hold_all(Ends *e, uint32_t call) {
  const TdNetClass *c = class_of(e->n, call);
  for (size_t i = 0; i < c->arg.n; i++) {
    const TdNetArg *x = &c->arg.at[i];
    if (!is_port(c, i)) continue;
    Part p = part_of(e, x, e->n->call.at[call].instance);
    for (uint32_t k = 0; k < p.count; k++) {
      uint32_t at = stream_at(e, &p, k);
      if (x->put && !hold(e, e->producer, at, call, "put to")) return false;
      if (x->get && !hold(e, e->consumer, at, call, "get from")) return false;
    }
  }
  return true;
}

/* Numbers the streams; nobody holds them yet. */
static void number(Ends *e) {
  TdNet *n = e->n;
  uint64_t all = 0;
  for (size_t i = 0; i < n->stream.n; i++) {
    td_map_put(n->arena, &e->first, (uint64_t)(uintptr_t)n->stream.at[i].sym, all);
    all += (uint64_t)count_of(n, &n->stream.at[i]);
  }
  e->producer = TD_NEWN(n->arena, uint32_t, all + 1);
  e->consumer = TD_NEWN(n->arena, uint32_t, all + 1);
  e->stream = TD_NEWN(n->arena, uint32_t, all + 1);
  memset(e->producer, 0xff, all * sizeof *e->producer);
  memset(e->consumer, 0xff, all * sizeof *e->consumer);
  for (size_t i = 0, k = 0; i < n->stream.n; i++)
    for (int64_t c = count_of(n, &n->stream.at[i]); c > 0; c--) e->stream[k++] = (uint32_t)i;
}

/* Whether the streams that instance i of a class is given for argument k are touched by no other
 * call; touched[] counts the calls of each stream. */
static bool is_own(const Ends *e, const TdNetClass *c, size_t k, uint32_t i,
                   const uint32_t *touched) {
  Part p = part_of(e, &c->arg.at[k], i);
  for (uint32_t at = 0; at < p.count; at++)
    if (touched[stream_at(e, &p, at)] != 1) return false;
  return true;
}

/* Takes port k from the parameters of a class: the streams become its own. */
static void take_in(TdNet *n, TdNetClass *c, size_t k) {
  TdUnit *u = c->kernel;
  const TdParam *x = &u->param[k];
  TdStream own = {.sym = x->sym,
                  .uid = td_store_uid(n->store),
                  .loc = x->loc,
                  .type = x->type,
                  .depth = td_net_find(n, c->arg.at[k].sym)->depth};
  TdStream *list = TD_NEWN(n->store->arena, TdStream, u->nstream + 1);
  for (size_t i = 0; i < u->nstream; i++) list[i] = u->stream[i];
  list[u->nstream++] = own;
  u->stream = list;
  td_net_drop(n, c, k);
}

/* A channel of a region joins two tasks: what only one task puts and gets is a stream of its own.
 */
static bool find_own(Ends *e, uint64_t all) {
  TdNet *n = e->n;
  uint32_t *touched = TD_NEWN(n->arena, uint32_t, all + 1);
  for (uint32_t call = 0; call < n->call.n; call++) {
    const TdNetClass *c = class_of(n, call);
    for (size_t k = 0; k < c->arg.n; k++) {
      if (!is_port(c, k)) continue;
      Part p = part_of(e, &c->arg.at[k], n->call.at[call].instance);
      for (uint32_t at = 0; at < p.count; at++) touched[stream_at(e, &p, at)]++;
    }
  }
  for (size_t i = 0; i < n->cls.n; i++) {
    TdNetClass *c = n->cls.at[i];
    for (size_t k = c->arg.n; k-- > 0;) {
      bool own = is_port(c, k) && c->arg.at[k].put && c->arg.at[k].get;
      for (uint32_t at = 0; own && at < c->n; at++) own = is_own(e, c, k, at, touched);
      if (!own) continue;
      if (c->kernel->param[k].type->block)
        return td_net_refuse(n, "self-stream", c->kernel->param[k].loc,
                             "keep what it puts in a local array",
                             "%s puts blocks to %s and gets them: they go from task to task",
                             c->task, c->arg.at[k].sym->name);
      take_in(n, c, k);
    }
  }
  return true;
}

/* Adds `by` to what each consumer of a call's streams still waits for; returns the first that waits
 * for nothing then, or NONE. */
static uint32_t release(const Ends *e, uint32_t call, int32_t by, int32_t *waits) {
  const TdNetClass *c = class_of(e->n, call);
  uint32_t first = NONE;
  for (size_t i = 0; i < c->arg.n; i++) {
    if (!is_port(c, i) || !c->arg.at[i].put) continue;
    Part p = part_of(e, &c->arg.at[i], e->n->call.at[call].instance);
    for (uint32_t k = 0; k < p.count; k++) {
      uint32_t to = e->consumer[stream_at(e, &p, k)];
      if (to == NONE) continue;
      waits[to] += by;
      if (waits[to] == 0 && to < first) first = to;
    }
  }
  return first;
}

/* The calls with producers before consumers; in a circle the first in the text goes first. */
static uint32_t *sort(const Ends *e) {
  TdNet *n = e->n;
  uint32_t *order = TD_NEWN(n->arena, uint32_t, n->call.n + 1), all = (uint32_t)n->call.n;
  int32_t *waits = TD_NEWN(n->arena, int32_t, all + 1);
  bool *placed = TD_NEWN(n->arena, bool, all + 1);
  for (uint32_t i = 0; i < all; i++) release(e, i, 1, waits);
  uint32_t at = 0, stuck = 0;
  for (uint32_t count = 0; count < all;) {
    while (at < all && (placed[at] || waits[at])) at++;
    while (at == all && placed[stuck]) stuck++;
    uint32_t next = at < all ? at : stuck;
    placed[next] = true;
    order[count++] = next;
    uint32_t first = release(e, next, -1, waits);
    if (first < at) at = first;
  }
  return order;
}

/* Notes the streams that lead back; blocks do not. */
static bool note_feedback(Ends *e, const uint32_t *order, uint64_t all) {
  TdNet *n = e->n;
  uint32_t *place = TD_NEWN(n->arena, uint32_t, n->call.n + 1);
  for (uint32_t i = 0; i < n->call.n; i++) place[order[i]] = i;
  for (uint64_t i = 0; i < all; i++) {
    if (e->producer[i] == NONE || e->consumer[i] == NONE) continue;
    if (place[e->producer[i]] < place[e->consumer[i]]) continue;
    const TdStream *s = &n->stream.at[e->stream[i]];
    if (s->type->block)
      return td_net_refuse(n, "block-feedback", s->loc, "hand tokens back, not buffers",
                           "%s leads back to an earlier task, which channels of buffers may not",
                           s->sym->name);
    if (!n->feedback.n || n->feedback.at[n->feedback.n - 1] != s->sym)
      td_vec_push(n->arena, &n->feedback, s->sym);
  }
  return true;
}

bool td_net_ends(TdNet *n) {
  Ends e = {.n = n};
  number(&e);
  for (uint32_t i = 0; i < n->call.n; i++)
    if (!hold_all(&e, i)) return false;
  return true;
}

bool td_net_order(TdNet *n) {
  Ends e = {.n = n};
  uint64_t all = 0;
  number(&e);
  for (size_t i = 0; i < n->stream.n; i++) all += (uint64_t)count_of(n, &n->stream.at[i]);
  if (!find_own(&e, all)) return false;
  for (uint32_t i = 0; i < n->call.n; i++)
    if (!hold_all(&e, i)) return false;
  const uint32_t *order = sort(&e);
  if (!note_feedback(&e, order, all)) return false;
  TdNetCall *call = TD_NEWN(n->arena, TdNetCall, n->call.n + 1);
  for (uint32_t i = 0; i < n->call.n; i++) call[i] = n->call.at[order[i]];
  for (uint32_t i = 0; i < n->call.n; i++) n->call.at[i] = call[i];
  return true;
}
