/* fire.c - least times of groups of events that happen together: max-plus, task by task until none
 * moves on. */
#include "eval/time/fire.h"

#include <stdlib.h>

/* Cycles in which a stream moved tokens, and places became free. */
typedef struct Line {
  const TdWire *wire;
  TD_VEC(int64_t) put;
  TD_VEC(int64_t) got;
  TD_VEC(int64_t) freed;
  int64_t claims;
} Line;

/* A task: its deeds in the order of its own cycles, and when the last group of them took place. */
typedef struct Runner {
  const TdClock *clock;
  TdDeed *deed;
  size_t n, at;
  int64_t last, last_local;
  const TdDeed *waits; /* for what, or NULL */
} Runner;

/* What tasks wait for: how often it was reached, and last when. */
typedef struct Sync {
  int64_t n, at;
} Sync;

typedef struct Fire {
  TdArena *arena;
  TD_VEC(Sync) sync; /* by number */
  Line *line;
  Runner *task;
  size_t n;
} Fire;

/* Deeds that come in one cycle stay in the order of the run. */
typedef struct Sorted {
  TdDeed deed;
  size_t number;
} Sorted;
static int by_local(const void *a, const void *b) {
  const Sorted *x = a, *y = b;
  if (x->deed.local != y->deed.local) return x->deed.local < y->deed.local ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

static Runner runner_of(TdArena *a, const TdClock *c) {
  Sorted *s = TD_NEWN(a, Sorted, c->deed.n);
  Runner r = {.clock = c, .deed = TD_NEWN(a, TdDeed, c->deed.n), .n = c->deed.n};
  for (size_t i = 0; i < r.n; i++) s[i] = (Sorted){c->deed.at[i], i};
  qsort(s, r.n, sizeof *s, by_local);
  for (size_t i = 0; i < r.n; i++) r.deed[i] = s[i].deed;
  r.last = r.last_local = c->begin;
  return r;
}

/* What a group does with a line before the deed at hand. */
typedef struct Group {
  size_t gets, claims;
} Group;
static Group before(const Runner *r, size_t i) {
  Group g = {0, 0};
  for (size_t k = r->at; k < i; k++) {
    if (r->deed[k].wire != r->deed[i].wire) continue;
    g.gets += r->deed[k].does <= TD_DOES_HOLD;
    g.claims += r->deed[k].does == TD_DOES_SLOT || r->deed[k].does == TD_DOES_PUT;
  }
  return g;
}

/* The cycle from which deed i may happen, at least *t; false: nobody knows yet. */
static bool ready(const Fire *f, const Runner *r, size_t i, int64_t *t) {
  const TdDeed *d = &r->deed[i];
  const Line *l = &f->line[d->wire];
  const TdWire *w = l->wire;
  Group g = before(r, i);
  int64_t at = TD_LONG_AGO;
  if (d->does <= TD_DOES_HOLD) {
    size_t k = l->got.n + g.gets;
    if (!w->outside && k >= l->put.n) return false;
    at = w->outside ? td_wire_outside(w, (int64_t)k) : l->put.at[k] + w->beats - 1 + w->latency;
    if (l->got.n && !g.gets && l->got.at[l->got.n - 1] + w->beats > at)
      at = l->got.at[l->got.n - 1] + w->beats;
  } else if (d->does != TD_DOES_FREE) {
    int64_t k = l->claims + (int64_t)g.claims - w->depth;
    bool claims = d->does != TD_DOES_PASS && !w->outside;
    if (claims && k >= (int64_t)l->freed.n) return false;
    if (claims && k >= 0) at = l->freed.at[k] + 1;
    if (w->outside && d->does != TD_DOES_PASS) at = td_wire_outside(w, k + w->depth);
    if (d->does != TD_DOES_SLOT && l->put.n && !g.claims && l->put.at[l->put.n - 1] + w->beats > at)
      at = l->put.at[l->put.n - 1] + w->beats;
  }
  if (at > *t) *t = at;
  return true;
}

static void happen(Fire *f, const TdDeed *d, int64_t t) {
  Line *l = &f->line[d->wire];
  const TdWire *w = l->wire;
  if (d->does <= TD_DOES_HOLD) td_vec_push(f->arena, &l->got, t);
  if (d->does == TD_DOES_GET) td_vec_push(f->arena, &l->freed, t + w->beats - 1);
  if (d->does == TD_DOES_FREE) td_vec_push(f->arena, &l->freed, t);
  if (d->does == TD_DOES_PUT || d->does == TD_DOES_PASS) td_vec_push(f->arena, &l->put, t);
  l->claims += d->does == TD_DOES_PUT || d->does == TD_DOES_SLOT;
}

static bool is_sync(const TdDeed *d) {
  return d->does == TD_DOES_SIGNAL || d->does == TD_DOES_WAIT;
}

/* A deed without a stream, which is a group of its own: reaches what others wait for, or goes on
 * where enough did. A design that is called goes on from its call whatever its own cycle was. */
static bool meet(Fire *f, Runner *r) {
  const TdDeed *d = &r->deed[r->at];
  while (f->sync.n <= (size_t)d->wire) td_vec_push(f->arena, &f->sync, ((Sync){0, TD_LONG_AGO}));
  Sync *s = &f->sync.at[d->wire];
  int64_t now = r->last + (d->does == TD_DOES_SIGNAL ? d->local - r->last_local : 0);
  r->waits = d;
  if (d->does == TD_DOES_WAIT && s->n < d->n) return false;
  if (d->does == TD_DOES_SIGNAL) {
    s->n++;
    if (now > s->at) s->at = now;
  } else if (s->at + d->plus > now) {
    now = s->at + d->plus;
  }
  r->last = now;
  r->last_local = d->local;
  r->waits = NULL;
  r->at++;
  return true;
}

/* The groups of a task that can take place; whether there were any. */
static bool advance(Fire *f, Runner *r) {
  bool moved = false;
  while (r->at < r->n) {
    size_t end = r->at;
    int64_t local = r->deed[r->at].local, t = r->last + local - r->last_local;
    td_ctx_tick(td_arena_ctx(f->arena), 1);
    if (is_sync(&r->deed[r->at])) {
      if (!meet(f, r)) return moved;
      moved = true;
      continue;
    }
    for (; end < r->n && r->deed[end].local == local && !is_sync(&r->deed[end]); end++)
      if (!ready(f, r, end, &t)) {
        r->waits = &r->deed[end];
        return moved;
      }
    for (; r->at < end; r->at++) happen(f, &r->deed[r->at], t);
    r->last = t;
    r->last_local = local;
    r->waits = NULL;
    moved = true;
  }
  return moved;
}

/* The first task that waits for ever, for a place if one does, or the cycles until the last one
 * ends. */
static TdTimedFire tell(const Fire *f) {
  TdTimedFire out = {.known = true};
  bool told = false;
  for (size_t i = 0; i < f->n; i++) {
    const Runner *r = &f->task[i];
    int64_t over = r->clock->now - r->clock->stalled - r->clock->away;
    int64_t end = r->last + over - r->last_local;
    out.hangs |= r->waits != NULL;
    bool full = r->waits && !is_sync(r->waits) && r->waits->does > TD_DOES_HOLD;
    if (r->waits && !is_sync(r->waits) && (!told || (full && out.why == TD_STALL_EMPTY))) {
      told = true;
      out.task = i;
      out.stream = (size_t)r->waits->wire;
      out.why = r->waits->does <= TD_DOES_HOLD ? TD_STALL_EMPTY : TD_STALL_FULL;
    }
    if (end > out.cycles) out.cycles = end;
  }
  if (out.hangs) out.cycles = 0;
  return out;
}

TdTimedFire td_fire(TdArena *a, const TdClock *const *task, size_t n, const TdWire *const *wire,
                    size_t nwire, TdFireLine *line) {
  Fire f = {.arena = a, .n = n};
  f.line = TD_NEWN(a, Line, nwire);
  f.task = TD_NEWN(a, Runner, n);
  for (size_t i = 0; i < nwire; i++) f.line[i].wire = wire[i];
  for (size_t i = 0; i < n; i++) f.task[i] = runner_of(a, task[i]);
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t i = 0; i < n; i++) moved |= advance(&f, &f.task[i]);
  }
  for (size_t i = 0; line && i < nwire; i++)
    line[i] = (TdFireLine){f.line[i].put.at, f.line[i].got.at, f.line[i].put.n, f.line[i].got.n};
  return tell(&f);
}
