/* vput.c - what a leaf puts. The results of a firing queue in entries: of each put its condition,
 * which stream of a row, its value. Entries of all firings of the leaf leave in program order, as
 * many in a cycle as their streams let: a chain of steps looks at the first entry that is due, at
 * the next one behind it if that one ends, and so on. With several firings a register says whose
 * turn it is: each has an entry of an iteration then, if one of them takes place, that of a firing
 * that does not being empty. What took place gives its credit back when it ends. */
#include <inttypes.h>

#include "backends/verilog/vunit.h"

/* Where a put lies in an entry: value, which, condition from the lowest bit up. */
typedef struct Field {
  int at, value, which;
} Field;

/* A queue: the entries of one firing. Entry number n counts what arrives now behind those kept. */
typedef struct Queue {
  TdVkFiring *f;
  const char *name;
  size_t cap;
  Field *field;
  int took; /* where an entry has whether its firing took place; 0: each did */
  const TdVl *bus, *arrives;
  TdVlSig *count, **entry;
  TdVlSig **begun; /* of each put: it did, and its entry stays; NULL: an entry ends as it begins */
  const TdVl **item, **have; /* of each place: what stands there now, and whether it does */
  const TdVl **left, **back; /* of each place: its entry ends now; and its credit comes back */
  const TdVl **moved;        /* of each put: it begins now and its entry stays */
} Queue;

/* A put that some step of the chain lets begin in this cycle. */
typedef struct Now {
  const TdVkPort *port;
  const TdVl *on, *which;
} Now;

typedef struct Unit {
  TdVkUnit *k;
  TdVkLeaf *l;
  Queue *queue;
  size_t n, steps;
  bool several;      /* firings that put */
  TdVlSig *turn;     /* NULL: one queue */
  const TdVl **gone; /* turn * steps + step: that step's entry ends */
} Unit;

static const TdVl *wire(Unit *u, const char *name, const char *what, const TdVl *x) {
  TdVlSig *s = td_vtree_wire(u->k->m, td_text_fmt(u->k->arena, "%s_%s", name, what), x->width);
  td_vtree_assign(u->k->m, s, x);
  return td_vtree_sig(u->k->m, s);
}

static const TdVl *counts(Unit *u, const Queue *q, const char *op, size_t n) {
  return td_vtree_binary(u->k->m, op, 1, td_vtree_sig(u->k->m, q->count),
                         td_vtree_const(u->k->m, q->count->width, n));
}

/* The value of put r: a number, or elements of one, or of all the same, next to each other. */
static const TdVl *value_of(Unit *u, TdVkLeaf *l, const TdReach *r, int64_t c) {
  TdVkUnit *k = u->k;
  int width = td_vport_of(k, l, r)->width, w = r->array->width;
  const TdVl *all = NULL;
  if (td_vport_of(k, l, r)->block) return td_vbuffer_handed(k, l, r);
  for (size_t i = 0; i < r->element.n; i++) {
    TdVlNum v = td_vdata_value(k, l, r->element.at[i], c);
    if (!v.e) return NULL;
    const TdVl *e = td_vop_fit(k->m, v, w);
    all = all ? td_vtree_cat(k->m, e, all) : e;
  }
  if (all) return all->width == width ? all : NULL;
  if (l->computed) return td_vstore_whole(k, l, l->computed).e;
  TdVlNum v = td_vdata_value(k, l, r->value, c);
  const TdTraceCell *cell = r->value.affine ? NULL : &l->t->cell.at[r->value.node];
  bool part =
      cell && cell->what == TD_TRACE_ACCESS && l->t->reach.at[cell->reach].spot == TD_TRACE_ALL;
  if (!v.e || v.e->width == width) return v.e;
  if (part) return NULL;
  const TdVl *one = td_vop_fit(k->m, v, w);
  for (int at = 0; at < width; at += w) all = all ? td_vtree_cat(k->m, one, all) : one;
  return all;
}

/* Gathers the values of a firing's puts in the cycle in which they are there. */
static bool gather(Unit *u, Queue *q) {
  TdVkUnit *k = u->k;
  TdVkFiring *f = q->f;
  TdVkLeaf *path = f->path ? f->path : u->l;
  int64_t c = f->time->at + f->time->latency;
  q->field = TD_NEWN(k->arena, Field, f->put.n + 1);
  for (size_t j = 0; j < f->put.n; j++) {
    const TdReach *r = f->put.at[j];
    const TdVl *on, *e = value_of(u, path, r, c);
    if (!e || !td_vtask_guard(k, path, r, c, &on))
      return td_vunit_refuse(k, "not-built", r->stmt->loc, "build it for the CPU, timed",
                             "Verilog of this token is not built yet");
    const TdVl *which = td_vport_which(k, path, r, c);
    uint64_t fixed;
    q->field[j].value = e->width;
    if (which && td_vtree_is_const(which, &fixed)) {
      f->fixed[j] = which;
    } else if (which) {
      q->field[j].which = which->width;
      e = td_vtree_cat(k->m, which, e);
    }
    e = td_vtree_cat(k->m, on ? on : td_vtree_const(k->m, 1, 1), e);
    q->bus = q->bus ? td_vtree_cat(k->m, e, q->bus) : e;
    q->field[j + 1].at = q->bus->width;
  }
  if (f->takes && u->several) {
    q->took = q->bus->width;
    uint64_t key = td_map_mix((uint64_t)(uintptr_t)f, 14);
    q->bus =
        td_vtree_cat(k->m, td_vdata_delay(k, path, q->name, f->takes, f->time->at, c, key), q->bus);
  }
  q->bus = wire(u, q->name, "result", q->bus);
  bool at_once = u->l->firing.at[u->l->firing.n - 1] != f && !f->path;
  const TdVl *there = at_once ? f->start : td_vdata_moves(k, path, c);
  if (f->some) {
    uint64_t key = td_map_mix((uint64_t)(uintptr_t)f, 13);
    const TdVl *some = td_vdata_delay(k, path, q->name, f->some, f->time->at, c, key);
    there = td_vtree_and(k->m, there, some);
  }
  q->arrives = wire(u, q->name, "arrives", there);
  return true;
}

/* Value, stream and condition of put j in an entry. */
static const TdVl *value_in(Unit *u, const Queue *q, const TdVl *entry, size_t j) {
  return td_vtree_slice(u->k->m, entry, q->field[j].at, q->field[j].value);
}
static const TdVl *which_in(Unit *u, const Queue *q, const TdVl *entry, size_t j) {
  const Field *x = &q->field[j];
  if (q->f->fixed[j]) return q->f->fixed[j];
  return x->which ? td_vtree_slice(u->k->m, entry, x->at + x->value, x->which) : NULL;
}
static const TdVl *wanted_in(Unit *u, const Queue *q, const TdVl *entry, size_t j) {
  return td_vtree_slice(u->k->m, entry, q->field[j + 1].at - 1, 1);
}

/* Whether put r is always of one and the same stream. */
static bool is_fixed(const TdReach *r) {
  int64_t c;
  for (int d = 0; d < r->array->rank; d++)
    if (!td_sys_is_const(r->array->spot.at[r->spot].at[d], &c)) return false;
  return !r->guard;
}

/* Whether firing f puts something to one and the same stream each time. */
static bool always_puts(const TdVkFiring *f) {
  for (size_t j = 0; j < f->put.n; j++)
    if (is_fixed(f->put.at[j])) return true;
  return false;
}

/* The most entries of the leaf that can have a put, or an end, in one cycle. */
static size_t count_steps(const Unit *u) {
  size_t all = 0;
  bool always = true;
  for (size_t i = 0; i < u->n; i++) {
    all += u->queue[i].cap;
    always &= always_puts(u->queue[i].f);
  }
  size_t few = u->n == 1 && u->queue[0].f->put.n == 1 ? 1 : u->n + 2;
  return always && few < all ? few : all;
}

/* Whether an entry ends as soon as a put of it begins: it is the only one, of one beat. */
static bool ends_at_once(Unit *u, const Queue *q) {
  return q->f->put.n == 1 && td_vport_of(u->k, u->l, q->f->put.at[0])->beats <= 1;
}

/* The registers of a queue, and what stands at each of its places now. */
static void add_places(Unit *u, Queue *q) {
  TdVkUnit *k = u->k;
  TdVlModule *m = k->m;
  size_t np = q->f->put.n;
  int w = 1;
  while (q->cap >> w) w++;
  q->count = td_vtree_reg(m, td_text_fmt(k->arena, "%s_waiting", q->name), w);
  q->entry = TD_NEWN(k->arena, TdVlSig *, q->cap);
  q->begun = TD_NEWN(k->arena, TdVlSig *, np);
  q->item = TD_NEWN(k->arena, const TdVl *, q->cap);
  q->have = TD_NEWN(k->arena, const TdVl *, q->cap);
  q->left = TD_NEWN(k->arena, const TdVl *, q->cap);
  q->back = TD_NEWN(k->arena, const TdVl *, q->cap);
  q->moved = TD_NEWN(k->arena, const TdVl *, np);
  for (size_t j = 0; j < np && !ends_at_once(u, q); j++)
    q->begun[j] = td_vtree_reg(m, td_text_fmt(k->arena, "%s_begun%zu", q->name, j), 1);
  for (size_t i = 0; i < q->cap; i++) {
    q->entry[i] = td_vtree_reg(m, td_text_fmt(k->arena, "%s_entry%zu", q->name, i), q->bus->width);
    const TdVl *new = counts(u, q, "==", i), *old = td_vtree_sig(m, q->entry[i]);
    const char *what = td_text_fmt(k->arena, "item%zu", i);
    q->item[i] = wire(u, q->name, what, td_vtree_pick(m, new, q->bus, old));
    q->have[i] = td_vtree_or(m, counts(u, q, ">", i), td_vtree_and(m, new, q->arrives));
  }
}

/* Whether a put to a stream may begin beside those of this chain before it. */
static const TdVl *beside(Unit *u, const Now *now, size_t n, const TdVkPort *p, const TdVl *which) {
  TdVlModule *m = u->k->m;
  const TdVl *free = NULL;
  for (size_t i = 0; i < n; i++) {
    if (now[i].port != p) continue;
    const TdVl *same = td_vtree_and(m, now[i].on, td_vport_same(u->k, which, now[i].which));
    free = td_vtree_and(m, free, td_vtree_not(m, same));
  }
  return free;
}

/* The puts of the entry at a place, as far as they begin now; `may`: it is its turn. Returns
 * whether it ends now. */
static const TdVl *put_entry(Unit *u, Queue *q, size_t place, const TdVl *may, Now *now,
                             size_t *nnow) {
  TdVlModule *m = u->k->m;
  const TdVl *all = td_vtree_and(m, may, q->have[place]), *ends = NULL;
  const TdVl **go = TD_NEWN(u->k->arena, const TdVl *, q->f->put.n);
  all = wire(u, q->name, "turn", all);
  for (size_t j = 0; j < q->f->put.n; j++) {
    TdVkPort *p = td_vport_of(u->k, u->l, q->f->put.at[j]);
    const TdVl *which = which_in(u, q, q->item[place], j), *on = wanted_in(u, q, q->item[place], j);
    const TdVl *begun = place || !q->begun[j] ? NULL : td_vtree_sig(m, q->begun[j]);
    go[j] = td_vtree_and(m, td_vtree_and(m, all, on), td_vport_ready(u->k, p, which));
    if (begun) go[j] = td_vtree_and(m, go[j], td_vtree_not(m, begun));
    go[j] = td_vtree_and(m, go[j], beside(u, now, *nnow, p, which));
    go[j] = wire(u, q->name, "put", go[j]);
    now[(*nnow)++] = (Now){p, go[j], which};
    TdVkDrive d = {go[j], which, value_in(u, q, q->item[place], j)};
    td_vec_push(u->k->arena, &p->drive, d);
    const TdVl *off = td_vtree_not(m, on), *last = td_vport_last(u->k, p, which);
    const TdVl *under_way = begun ? td_vtree_or(m, go[j], begun) : go[j];
    const TdVl *ended =
        last ? begun ? td_vtree_and(m, begun, last) : td_vtree_const(m, 1, 0) : under_way;
    ends = td_vtree_and(m, ends, td_vtree_or(m, ended, off));
    all = td_vtree_and(m, all, td_vtree_or(m, under_way, off));
  }
  const TdVl *end = wire(u, q->name, "end", td_vtree_and(m, all, ends));
  for (size_t j = 0; j < q->f->put.n; j++)
    q->moved[j] = td_vtree_or(m, q->moved[j], td_vtree_and(m, go[j], td_vtree_not(m, end)));
  q->left[place] = td_vtree_or(m, q->left[place], end);
  const TdVl *took = q->took ? td_vtree_slice(m, q->item[place], q->took, 1) : NULL;
  q->back[place] = td_vtree_or(m, q->back[place], td_vtree_and(m, end, took));
  return end;
}

/* The chain of steps where the turn is queue `first`'s. */
static void add_chain(Unit *u, size_t first) {
  TdVlModule *m = u->k->m;
  Now *now;
  size_t nnow = 0, most = 0;
  for (size_t i = 0; i < u->n; i++) most += u->queue[i].f->put.n;
  now = TD_NEWN(u->k->arena, Now, most * u->steps + 1);
  const TdVl *may = NULL;
  if (u->turn)
    may = td_vtree_binary(m, "==", 1, td_vtree_sig(m, u->turn),
                          td_vtree_const(m, u->turn->width, first));
  for (size_t s = 0; s < u->steps; s++) {
    Queue *q = &u->queue[(first + s) % u->n];
    if (s / u->n >= q->cap) break;
    may = put_entry(u, q, s / u->n, may, now, &nnow);
    u->gone[first * u->steps + s] = may;
  }
}

/* Has the turn move on by as many entries as end. */
static void move_turn(Unit *u) {
  TdVlModule *m = u->k->m;
  if (!u->turn) return;
  int w = u->turn->width;
  const TdVl *now = td_vtree_sig(m, u->turn), *next = now;
  for (size_t first = 0; first < u->n; first++)
    for (size_t s = 0; s < u->steps; s++) {
      const TdVl *gone = u->gone[first * u->steps + s];
      if (gone) next = td_vtree_pick(m, gone, td_vtree_const(m, w, (first + s + 1) % u->n), next);
    }
  const TdVl *zero = td_vtree_const(m, w, 0);
  td_vtree_always(m, td_text_fmt(u->k->arena, "%s: whose puts are due", u->l->name),
                  td_vtree_if(m, td_vtree_sig(m, u->k->rst), td_vtree_set(m, u->turn, zero),
                              td_vtree_set(m, u->turn, next)));
}

/* What stands at place i once n entries are gone. */
static const TdVl *after(const Queue *q, size_t i, size_t n) {
  return i + n < q->cap ? q->item[i + n] : q->bus;
}

/* The number of entries after this cycle. */
static const TdVl *rest_of(Unit *u, const Queue *q) {
  TdVlModule *m = u->k->m;
  int w = q->count->width;
  const TdVl *n = td_vtree_sig(m, q->count);
  n = td_vtree_binary(m, "+", w, n, td_vtree_fit(m, q->arrives, w, false));
  for (size_t i = 0; i < q->cap && q->left[i]; i++)
    n = td_vtree_binary(m, "-", w, n, td_vtree_fit(m, q->left[i], w, false));
  return wire(u, q->name, "rest", n);
}

/* The entries of a queue change with the clock; returns whether some are left after this cycle. */
static const TdVl *keep_entries(Unit *u, Queue *q) {
  TdVlModule *m = u->k->m;
  const TdVl *zero = td_vtree_const(m, 1, 0), *rest = rest_of(u, q);
  TdVlDo *reset = td_vtree_block(m), *run = td_vtree_block(m);
  int w = q->count->width;
  td_vtree_add(m, reset, td_vtree_set(m, q->count, td_vtree_const(m, w, 0)));
  td_vtree_add(m, run, td_vtree_set(m, q->count, rest));
  for (size_t j = 0; j < q->f->put.n && q->begun[j]; j++) {
    const TdVl *begun = td_vtree_and(m, td_vtree_sig(m, q->begun[j]), td_vtree_not(m, q->left[0]));
    td_vtree_add(m, reset, td_vtree_set(m, q->begun[j], zero));
    td_vtree_add(m, run, td_vtree_set(m, q->begun[j], td_vtree_or(m, begun, q->moved[j])));
  }
  for (size_t i = 0; i < q->cap; i++) {
    const TdVl *next = after(q, i, 0);
    for (size_t n = 0; n < q->cap && q->left[n]; n++)
      next = td_vtree_pick(m, q->left[n], after(q, i, n + 1), next);
    td_vtree_add(m, run, td_vtree_set(m, q->entry[i], next));
  }
  const char *place = td_vunit_place(u->k, q->f->put.at[0]->stmt->loc);
  td_vtree_always(m, td_text_fmt(u->k->arena, "%s: put unit", place),
                  td_vtree_if(m, td_vtree_sig(m, u->k->rst), reset, run));
  return td_vtree_binary(m, "!=", 1, rest, td_vtree_const(m, w, 0));
}

/* Results that may be under way: one less for each start, one more for each end. */
static void keep_credit(Unit *u, const Queue *q) {
  TdVlModule *m = u->k->m;
  const TdVkFiring *f = q->f;
  if (!f->credit) return;
  int w = f->credit->width;
  const TdVl *n = td_vtree_sig(m, f->credit);
  const TdVl *less = td_vtree_and(m, f->start, f->takes);
  n = td_vtree_binary(m, "-", w, n, td_vtree_fit(m, less, w, false));
  for (size_t i = 0; i < q->cap && q->back[i]; i++)
    n = td_vtree_binary(m, "+", w, n, td_vtree_fit(m, q->back[i], w, false));
  TdVlDo *full = td_vtree_set(m, f->credit, td_vtree_const(m, w, (uint64_t)f->time->skid));
  td_vtree_always(m, td_text_fmt(u->k->arena, "%s: results that may be under way", q->name),
                  td_vtree_if(m, td_vtree_sig(m, u->k->rst), full, td_vtree_set(m, f->credit, n)));
}

/* Places of a queue of firing f: of all results that may be under way where some of the firings
 * that put may be left out, as each of these has an entry beside an empty one of f. */
static size_t places_of(const Unit *u, const TdVkFiring *f) {
  size_t all = 0;
  bool left_out = false;
  if (!u->l->pipe) return 1;
  for (size_t i = 0; i < u->l->firing.n; i++) {
    const TdVkFiring *g = u->l->firing.at[i];
    if (g->put.n) all += (size_t)g->time->skid;
    left_out |= g->put.n && g->takes;
  }
  return u->several && left_out ? all : (size_t)f->time->skid;
}

/* The queues of a leaf. */
static bool open_queues(Unit *u) {
  TdVkUnit *k = u->k;
  TdVkLeaf *l = u->l;
  size_t putting = 0;
  u->queue = TD_NEWN(k->arena, Queue, l->firing.n);
  for (size_t i = 0; i < l->firing.n; i++) putting += l->firing.at[i]->put.n > 0;
  u->several = putting > 1;
  for (size_t i = 0; i < l->firing.n; i++) {
    TdVkFiring *f = l->firing.at[i];
    if (!f->put.n) continue;
    Queue *q = &u->queue[u->n++];
    *q = (Queue){.f = f, .name = td_text_fmt(k->arena, "%s_f%zu", l->name, i)};
    q->cap = places_of(u, f);
    f->fixed = TD_NEWN(k->arena, const TdVl *, f->put.n);
    if (!gather(u, q)) return false;
    if (!k->free) add_places(u, q);
  }
  return true;
}

/* Puts that never wait: each in the cycle in which its value is there. */
static void put_freely(Unit *u) {
  for (size_t i = 0; i < u->n; i++)
    for (size_t j = 0; j < u->queue[i].f->put.n; j++) {
      const Queue *q = &u->queue[i];
      TdVkPort *p = td_vport_of(u->k, u->l, q->f->put.at[j]);
      const TdVl *on = td_vtree_and(u->k->m, q->arrives, wanted_in(u, q, q->bus, j));
      TdVkDrive d = {on, which_in(u, q, q->bus, j), value_in(u, q, q->bus, j)};
      td_vec_push(u->k->arena, &p->drive, d);
    }
}

bool td_vput_leaf(TdVkUnit *k, TdVkLeaf *l, const TdVl **pending) {
  Unit u = {.k = k, .l = l};
  if (!open_queues(&u)) return false;
  if (!u.n) return true;
  if (k->free) {
    put_freely(&u);
    return true;
  }
  u.steps = count_steps(&u);
  u.gone = TD_NEWN(k->arena, const TdVl *, u.n *u.steps);
  int w = 1;
  while ((u.n - 1) >> w) w++;
  if (u.n > 1) u.turn = td_vtree_reg(k->m, td_text_fmt(k->arena, "%s_turn", l->name), w);
  for (size_t i = 0; i < u.n; i++) add_chain(&u, i);
  move_turn(&u);
  for (size_t i = 0; i < u.n; i++) {
    *pending = td_vtree_or(k->m, *pending, keep_entries(&u, &u.queue[i]));
    keep_credit(&u, &u.queue[i]);
  }
  return true;
}
