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
  int64_t *answer;     /* of its asks by number: the cycle, or NOT_ASKED, NOT_ANSWERED */
  int64_t written;     /* the last answer to a write */
  TdFireTask told;
} Runner;

/* What tasks wait for: how often it was reached, and last when. */
typedef struct Sync {
  int64_t n, at;
} Sync;

/* An ask on its way to the memory, in a heap by cycle and port. */
enum { NOT_ASKED = -2, NOT_ANSWERED = -1 };
typedef struct Asked {
  TdOffchipAsk ask;
  size_t task;
  int64_t number;
} Asked;

typedef struct Fire {
  TdArena *arena;
  const TdOffchip *memory;
  void *state;
  TD_VEC(Asked) heap;
  TD_VEC(Asked) asked; /* by id: those that the memory has */
  int64_t open;        /* without an answer */
  TD_VEC(Sync) sync;   /* by number */
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

static bool is_sync(const TdDeed *d) {
  return d->does == TD_DOES_SIGNAL || d->does == TD_DOES_WAIT;
}

static bool is_stream(const TdDeed *d) {
  return d->does < TD_DOES_ASK;
}

/* Sorts deeds that lie near their places by insertion; false: some lie far away. */
static bool sort_near(TdDeed *d, size_t n) {
  size_t moves = 0;
  for (size_t i = 1; i < n; i++) {
    TdDeed x = d[i];
    size_t k = i;
    for (; k && d[k - 1].local > x.local; k--) d[k] = d[k - 1];
    d[k] = x;
    moves += i - k;
    if (moves > 16 * n) return false;
  }
  return true;
}

/* The deeds in the order of the task's own cycles, those of one cycle in that of the run. */
static TdDeed *sorted(TdArena *a, const TdDeed *deed, size_t n) {
  TdDeed *out = td_arena_copy(a, deed, n * sizeof *deed);
  if (sort_near(out, n)) return out;
  Sorted *s = TD_NEWN(a, Sorted, n);
  for (size_t i = 0; i < n; i++) s[i] = (Sorted){deed[i], i};
  qsort(s, n, sizeof *s, by_local);
  for (size_t i = 0; i < n; i++) out[i] = s[i].deed;
  return out;
}

static Runner runner_of(TdArena *a, const TdClock *c) {
  Runner r = {.clock = c, .n = c->deed.n};
  r.deed = sorted(a, c->deed.at, r.n);
  r.last = r.last_local = c->begin;
  r.written = TD_LONG_AGO;
  int64_t asks = c->asker ? c->asker->asks : 0;
  r.answer = TD_NEWN(a, int64_t, asks + 1);
  for (int64_t i = 0; i < asks; i++) r.answer[i] = NOT_ASKED;
  return r;
}

/* What a group does with a line before the deed at hand. */
typedef struct Group {
  size_t gets, claims;
} Group;
static Group before(const Runner *r, size_t i) {
  Group g = {0, 0};
  for (size_t k = r->at; k < i; k++) {
    if (!is_stream(&r->deed[k]) || r->deed[k].wire != r->deed[i].wire) continue;
    g.gets += r->deed[k].does <= TD_DOES_HOLD;
    g.claims += r->deed[k].does == TD_DOES_SLOT || r->deed[k].does == TD_DOES_PUT;
  }
  return g;
}

/* The cycle from which deed i may happen, at least *t; false: nobody knows yet. */
static bool ready(const Fire *f, const Runner *r, size_t i, int64_t *t) {
  const TdDeed *d = &r->deed[i];
  if (d->does == TD_DOES_ASK) return true;
  if (d->does == TD_DOES_ANSWER) {
    if (r->answer[d->n] < 0) return false;
    if (r->answer[d->n] + d->plus > *t) *t = r->answer[d->n] + d->plus;
    return true;
  }
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

static bool is_before(const Asked *x, const Asked *y) {
  if (x->ask.cycle != y->ask.cycle) return x->ask.cycle < y->ask.cycle;
  return x->ask.port != y->ask.port ? x->ask.port < y->ask.port : x->number < y->number;
}

static void push(Fire *f, Asked x) {
  td_vec_push(f->arena, &f->heap, x);
  size_t i = f->heap.n - 1;
  for (; i && is_before(&x, &f->heap.at[(i - 1) / 2]); i = (i - 1) / 2)
    f->heap.at[i] = f->heap.at[(i - 1) / 2];
  f->heap.at[i] = x;
}

static Asked pop(Fire *f) {
  Asked out = f->heap.at[0], x = f->heap.at[--f->heap.n];
  size_t i = 0, n = f->heap.n;
  for (size_t k = 1; k < n; i = k, k = 2 * i + 1) {
    if (k + 1 < n && is_before(&f->heap.at[k + 1], &f->heap.at[k])) k++;
    if (!is_before(&f->heap.at[k], &x)) break;
    f->heap.at[i] = f->heap.at[k];
  }
  f->heap.at[i] = x;
  return out;
}

/* Task r asks the memory, by deed d, in cycle t. */
static void ask(Fire *f, Runner *r, const TdDeed *d, int64_t t) {
  int64_t line = f->memory->field[TD_OFFCHIP_REQUEST], number = d->plus / 2;
  TdOffchipAsk a = {.port = d->wire, .cycle = t, .address = d->n * line, .n = 1};
  a.write = d->plus % 2;
  r->answer[number] = NOT_ANSWERED;
  push(f, (Asked){a, (size_t)(r - f->task), number});
}

/* The memory answers ask `id`. */
static void answer(Fire *f, int64_t id, int64_t cycle) {
  const Asked *x = &f->asked.at[id];
  Runner *r = &f->task[x->task];
  r->answer[x->number] = cycle;
  if (x->ask.write && cycle > r->written) r->written = cycle;
}

/* Lets the memory go on until it answers; whether it did. In between nobody asks. */
static bool go_on(Fire *f, int64_t until) {
  int64_t id, cycle;
  bool any = false;
  if (!f->open || !f->memory->model->cycles) return false;
  f->memory->model->cycles(f->state, until);
  while (f->memory->model->answer(f->state, &id, &cycle)) {
    if (id < 0 || id >= (int64_t)f->asked.n) continue;
    answer(f, id, cycle);
    f->open--;
    any = true;
  }
  return any;
}

/* Once no task can go on: serves what they asked for, in order of cycles, until one is answered. */
static bool serve(Fire *f) {
  if (!f->memory) return false;
  while (f->heap.n) {
    int64_t now = f->heap.at[0].ask.cycle;
    bool any = false;
    if (go_on(f, now)) return true;
    td_ctx_tick(td_arena_ctx(f->arena), 1);
    while (f->heap.n && f->heap.at[0].ask.cycle == now) {
      Asked x = pop(f);
      x.ask.id = (int64_t)f->asked.n;
      td_vec_push(f->arena, &f->asked, x);
      int64_t t = f->memory->model->request(f->state, &x.ask);
      any |= t >= 0;
      if (t < 0)
        f->open++;
      else
        answer(f, x.ask.id, t);
    }
    if (any) return true;
  }
  return go_on(f, INT64_MAX);
}

/* Charges a wait from cycle `from` on to deed d. */
static void charge(Fire *f, Runner *r, const TdDeed *d, int64_t from, int64_t cycles) {
  TdFireTask *x = &r->told;
  bool memory = d->does == TD_DOES_ANSWER;
  TdStall why = memory                    ? TD_STALL_MEMORY
                : is_sync(d)              ? TD_STALL_MEETING
                : d->does <= TD_DOES_HOLD ? TD_STALL_EMPTY
                                          : TD_STALL_FULL;
  uint32_t stream = is_stream(d) ? (uint32_t)d->wire : TD_CLOCK_NOWHERE;
  size_t i = 0;
  while (i < x->stall.n && (x->stall.at[i].stream != stream || x->stall.at[i].why != why)) i++;
  if (i == x->stall.n) td_vec_push(f->arena, &x->stall, ((TdTimedStall){stream, why, 0}));
  x->stall.at[i].cycles += cycles;
  x->stalled += cycles;
  td_vec_push(f->arena, &x->wait, ((TdTimedWait){from, cycles, why}));
}

/* A deed without a stream, which is a group of its own: reaches what others wait for, or goes on
 * where enough did. A design that is called goes on from its call whatever its own cycle was. */
static bool meet(Fire *f, Runner *r) {
  const TdDeed *d = &r->deed[r->at];
  while (f->sync.n <= (size_t)d->wire) td_vec_push(f->arena, &f->sync, ((Sync){0, TD_LONG_AGO}));
  Sync *s = &f->sync.at[d->wire];
  int64_t now = r->last + (d->does == TD_DOES_SIGNAL ? d->local - r->last_local : 0);
  int64_t due = r->last + d->local - r->last_local;
  r->waits = d;
  if (d->does == TD_DOES_WAIT && s->n < d->n) return false;
  if (d->does == TD_DOES_SIGNAL) {
    s->n++;
    if (now > s->at) s->at = now;
  } else if (s->at + d->plus > now) {
    now = s->at + d->plus;
  }
  if (f->memory && d->does == TD_DOES_WAIT && now > due) charge(f, r, d, due, now - due);
  r->last = now;
  r->last_local = d->local;
  r->waits = NULL;
  r->at++;
  return true;
}

/* Whether deed i needs what an ask of its own group has yet to bring. */
static bool needs_group(const Runner *r, size_t i) {
  return r->deed[i].does == TD_DOES_ANSWER && r->answer[r->deed[i].n] == NOT_ASKED && i > r->at;
}

/* The groups of a task that can take place; whether there were any. */
static bool advance(Fire *f, Runner *r) {
  bool moved = false;
  while (r->at < r->n) {
    size_t end = r->at;
    int64_t local = r->deed[r->at].local, due = r->last + local - r->last_local, t = due;
    const TdDeed *late = NULL;
    td_ctx_tick(td_arena_ctx(f->arena), 1);
    if (is_sync(&r->deed[r->at])) {
      if (!meet(f, r)) return moved;
      moved = true;
      continue;
    }
    for (; end < r->n && r->deed[end].local == local && !is_sync(&r->deed[end]); end++) {
      int64_t was = t;
      if (needs_group(r, end)) break;
      if (!ready(f, r, end, &t)) {
        r->waits = &r->deed[end];
        return moved;
      }
      if (t > was) late = &r->deed[end];
    }
    if (f->memory && late) charge(f, r, late, due, t - due);
    for (; r->at < end; r->at++)
      if (r->deed[r->at].does == TD_DOES_ASK)
        ask(f, r, &r->deed[r->at], t);
      else if (r->deed[r->at].does != TD_DOES_ANSWER)
        happen(f, &r->deed[r->at], t);
    r->last = t;
    r->last_local = local;
    r->waits = NULL;
    moved = true;
  }
  return moved;
}

/* The first task that waits for ever, for a place if one does, or the cycles until the last one
 * ends. */
static TdTimedFire tell(Fire *f) {
  TdTimedFire out = {.known = true};
  bool told = false;
  for (size_t i = 0; i < f->n; i++) {
    Runner *r = &f->task[i];
    int64_t over = r->clock->now - r->clock->stalled - r->clock->away;
    int64_t end = r->last + over - r->last_local;
    if (r->written >= end) {
      TdDeed writes = {.does = TD_DOES_ANSWER};
      charge(f, r, &writes, end, r->written + 1 - end);
      end = r->written + 1;
    }
    r->told.end = end;
    out.hangs |= r->waits != NULL;
    bool full = r->waits && is_stream(r->waits) && r->waits->does > TD_DOES_HOLD;
    if (r->waits && is_stream(r->waits) && (!told || (full && out.why == TD_STALL_EMPTY))) {
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

TdTimedFire td_fire(TdArena *a, TdFireRun *run) {
  Fire f = {.arena = a, .n = run->n, .memory = run->memory};
  f.line = TD_NEWN(a, Line, run->nwire);
  f.task = TD_NEWN(a, Runner, run->n);
  if (f.memory) f.state = f.memory->model->open(a, f.memory);
  for (size_t i = 0; i < run->nwire; i++) f.line[i].wire = run->wire[i];
  for (size_t i = 0; i < run->n; i++) f.task[i] = runner_of(a, run->task[i]);
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t i = 0; i < run->n; i++) moved |= advance(&f, &f.task[i]);
    if (!moved) moved = serve(&f);
  }
  TdTimedFire out = tell(&f);
  run->requests = (int64_t)f.asked.n;
  for (size_t i = 0; run->line && i < run->nwire; i++)
    run->line[i] =
        (TdFireLine){f.line[i].put.at, f.line[i].got.at, f.line[i].put.n, f.line[i].got.n};
  for (size_t i = 0; run->told && i < run->n; i++) run->told[i] = f.task[i].told;
  return out;
}
