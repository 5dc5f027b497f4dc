/* clock.c - the recurrence of clock.h, event by event. */
#include "eval/clock.h"

/* Before everything: any sum with what programs hold stays below 0. */
#define LONG_AGO (INT64_MIN / 4)

static int64_t later(int64_t x, int64_t y) {
  return x > y ? x : y;
}

/* The firing at hand; of statements without a schedule of their own, one of no length. */
static const TdFiring *firing_of(const TdClock *c) {
  static const TdFiring none;
  size_t n = c->leaf->nfiring;
  if (!n) return &none;
  return &c->leaf->firing[c->firing < n ? c->firing : n - 1];
}

/* Whether one event more is to be kept. */
static bool keeps(TdKeep *k) {
  return k && k->left >= 0 && k->left-- > 0;
}

/* Charges cycles to a cause. */
static void charge(TdClock *c, int64_t from, int64_t cycles, TdCause why) {
  if (cycles <= 0) return;
  size_t i = 0;
  while (i < c->stall.n && (c->stall.at[i].stream != why.stream || c->stall.at[i].why != why.why))
    i++;
  if (i == c->stall.n)
    td_vec_push(c->arena, &c->stall, ((TdTimedStall){.stream = why.stream, .why = why.why}));
  c->stall.at[i].cycles += cycles;
  c->stalled += cycles;
  if (keeps(c->keep))
    td_vec_push(c->arena, &c->wait, ((TdTimedWait){from, cycles, why.stream, why.why}));
}

/* Moves base so that what was to be at `due` is at `cycle`. */
static void shift(TdClock *c, int64_t due, int64_t cycle, TdCause why) {
  if (cycle <= due) return;
  charge(c, due, cycle - due, why);
  c->base += cycle - due;
}

/* Whether results of the firing at hand may have to wait for those of an earlier iteration. */
static bool has_skid(const TdClock *c, const TdFiring *f) {
  return c->leaf->kind == TD_TIME_PIPE && f->skid && c->iteration >= f->skid;
}

static int64_t *skid_of(TdClock *c, const TdFiring *f) {
  return &c->waiting[f->first + c->iteration % f->skid];
}

/* The firing starts: all that it gets is there. */
static void start(TdClock *c) {
  const TdFiring *f = firing_of(c);
  int64_t due = c->base + f->at, cycle = due;
  TdCause why = {0};
  if (c->phase == TD_FIRING_GETS && c->end > cycle) {
    cycle = c->end;
    why = c->late;
  }
  if (has_skid(c, f) && *skid_of(c, f) + 1 > cycle) {
    cycle = *skid_of(c, f) + 1;
    why = c->held;
  }
  shift(c, due, cycle, why);
  c->start = cycle;
  c->at = c->end = cycle + f->latency;
}

/* Ends the firing, if there is one. */
static void end_firing(TdClock *c) {
  if (c->phase == TD_FIRING_IDLE) return;
  const TdFiring *f = firing_of(c);
  if (c->phase == TD_FIRING_GETS) start(c);
  c->done = later(c->done, c->end);
  if (c->leaf->kind == TD_TIME_PIPE && f->skid) *skid_of(c, f) = c->done;
  c->phase = TD_FIRING_IDLE;
  c->firing++;
}

/* Begins straight code, or a pipeline without an iteration. */
static void begin(TdClock *c, const TdTime *leaf) {
  c->leaf = leaf;
  c->base = c->now;
  c->done = later(c->done, c->now - 1);
  c->firing = 0;
  c->phase = TD_FIRING_IDLE;
  c->iteration = -1;
  if (leaf->waiting > c->room) {
    c->room = leaf->waiting;
    c->waiting = TD_NEWN(c->arena, int64_t, c->room);
  }
  c->multipliers = later(c->multipliers, leaf->multipliers);
  if (leaf->kind == TD_TIME_BLOCK) c->multiplies += leaf->multiplies;
}

/* Ends what runs. */
static void end(TdClock *c) {
  const TdTime *leaf = c->leaf;
  bool pipe = leaf->kind == TD_TIME_PIPE;
  if (!pipe || c->iteration >= 0) {
    end_firing(c);
    c->now = c->base + (pipe && leaf->rewind ? leaf->ii : leaf->length);
    if ((!pipe || !leaf->rewind) && c->done + 1 > c->now) {
      charge(c, c->now, c->done + 1 - c->now, c->held);
      c->now = c->done + 1;
    }
  }
  c->leaf = NULL;
  c->region = 0;
}

void td_clock_start(TdClock *c, int64_t cycle) {
  if (!c->called) c->begin = cycle;
  c->called = true;
  c->from = c->now = cycle;
  c->done = LONG_AGO;
  c->late = c->held = (TdCause){TD_CLOCK_NOWHERE, TD_STALL_MEETING};
}

void td_clock_stop(TdClock *c) {
  if (c->leaf) end(c);
  c->life += c->now - c->from;
}

int64_t td_clock_close(TdClock *c) {
  if (c->leaf && !c->region) end(c);
  return c->leaf ? c->base : c->now;
}

void td_clock_await(TdClock *c, int64_t cycle, bool stalls) {
  int64_t now = td_clock_close(c);
  if (cycle <= now) return;
  if (stalls) charge(c, now, cycle - now, (TdCause){TD_CLOCK_NOWHERE, TD_STALL_MEETING});
  *(c->leaf ? &c->base : &c->now) = cycle;
}

void td_clock_before(TdClock *c, const TdStmt *s) {
  const TdTime *t = c->region ? NULL : td_times_of(c->times, s);
  if (!t) return;
  td_clock_close(c);
  if (t->kind == TD_TIME_BLOCK) begin(c, t);
  if (t->kind == TD_TIME_PLAIN) c->now += t->length;
}

const TdTime *td_clock_enter(TdClock *c, const TdStmt *loop, size_t depth) {
  const TdTime *t = td_times_of(c->times, loop);
  if (c->region) return t == c->leaf ? t : NULL;
  if (!t) return NULL;
  c->now += t->enter;
  const TdTime *pipe = t->kind == TD_TIME_PIPE ? t : t->pipe;
  if (pipe) {
    begin(c, pipe);
    c->region = depth;
  }
  return t;
}

void td_clock_iterate(TdClock *c, const TdTime *loop, uint64_t n) {
  if (n % (uint64_t)loop->lanes || (c->region && loop != c->leaf)) return;
  if (loop->kind != TD_TIME_PIPE) {
    td_clock_close(c);
    c->now += loop->again;
    if (loop->body) begin(c, loop->body);
    return;
  }
  if (c->iteration >= 0) {
    end_firing(c);
    c->base += loop->ii;
  }
  c->iteration++;
  c->firing = 0;
  c->multiplies += loop->multiplies;
}

void td_clock_leave(TdClock *c, size_t depth) {
  if (c->leaf && (!c->region || c->region == depth)) end(c);
}

/* Has something to happen as the next of its firing; puts may not precede gets. */
static void join(TdClock *c, TdFiringPhase phase) {
  static const TdTime nothing = {.kind = TD_TIME_BLOCK, .lanes = 1};
  if (!c->leaf) begin(c, &nothing);
  if (phase == TD_FIRING_GETS && c->phase == TD_FIRING_PUTS) end_firing(c);
  if (phase == c->phase) return;
  if (phase == TD_FIRING_GETS) {
    c->at = c->end = c->base + firing_of(c)->from;
  } else {
    start(c);
  }
  c->phase = phase;
}

/* Event number `number`, one of the last. */
static int64_t past(const TdPast *p, int64_t number) {
  return p->at[number % p->cap];
}

static void add(TdPast *p, int64_t cycle) {
  p->at[p->n++ % p->cap] = cycle;
}

/* The next event is at c->at, or when it is ready; says whether it waited for that. */
static bool take(TdClock *c, int64_t ready, int64_t beats) {
  bool waits = ready > c->at;
  if (waits) c->at = ready;
  c->end = later(c->end, c->at + beats - 1);
  return waits;
}

/* Raises w->most by what is known once token k is put at its cycle: with a get after that of each
   token from j on, there are k - j + 1 of them. */
static void count_put(TdWire *w, int64_t k) {
  int64_t put = past(&w->put, k), j = k - w->most;
  if (j >= w->got.n) j = w->got.n - 1;
  for (; j >= 0 && j > k - w->put.cap && past(&w->got, j) > put; j--) w->most = k - j + 1;
}

/* The same once token j is got. */
static void count_got(TdWire *w, int64_t j) {
  int64_t got = past(&w->got, j), k = j + w->most;
  for (; k < w->put.n && past(&w->put, k) < got; k++) w->most = k - j + 1;
}

void td_clock_get(TdClock *c, TdWire *w, bool held) {
  join(c, TD_FIRING_GETS);
  int64_t ready = later(w->last_got + w->beats, LONG_AGO), k = w->got.n;
  if (!w->outside) ready = later(ready, past(&w->put, k) + w->beats - 1 + w->latency);
  if (take(c, ready, w->beats)) c->late = (TdCause){w->number, TD_STALL_EMPTY};
  w->last_got = c->at;
  add(&w->got, c->at);
  if (w->block && !held) add(&w->freed, c->at);
  if (keeps(w->keep)) td_vec_push(c->arena, &w->every_got, c->at);
  if (!w->outside) count_got(w, k);
}

/* When there is a place for one token more, which is taken. */
static int64_t claim(TdWire *w) {
  const TdPast *freed = w->block ? &w->freed : &w->got;
  int64_t k = w->claims++ - freed->cap;
  return k < 0 || w->outside ? LONG_AGO : past(freed, k) + w->beats;
}

void td_clock_slot(TdClock *c, TdWire *w) {
  join(c, TD_FIRING_GETS);
  if (take(c, later(claim(w), w->last_claim + 1), 1)) c->late = (TdCause){w->number, TD_STALL_FULL};
  w->last_claim = c->at;
}

void td_clock_put(TdClock *c, TdWire *w, bool taken) {
  join(c, TD_FIRING_PUTS);
  c->at = later(c->at, c->done);
  int64_t ready = w->last_put + w->beats;
  if (!taken) ready = later(ready, claim(w));
  if (take(c, ready, w->beats)) c->held = (TdCause){w->number, TD_STALL_FULL};
  w->last_put = c->at;
  add(&w->put, c->at);
  if (keeps(w->keep)) td_vec_push(c->arena, &w->every_put, c->at);
  if (!w->outside) count_put(w, w->put.n - 1);
}

void td_clock_free(TdClock *c, TdWire *w) {
  int64_t cycle = td_clock_close(c);
  add(&w->freed, (c->leaf ? cycle + c->leaf->length : cycle) - 1);
}

static TdPast new_past(TdArena *a, int64_t cap) {
  return (TdPast){.at = TD_NEWN(a, int64_t, cap), .cap = cap};
}

void td_clock_open(TdArena *a, TdWire *w, int64_t depth) {
  w->put = new_past(a, depth);
  w->got = new_past(a, depth);
  if (w->block) w->freed = new_past(a, depth);
  if (!w->latency) w->latency = 1;
  if (!w->beats) w->beats = 1;
  td_clock_empty(w);
}

void td_clock_empty(TdWire *w) {
  w->put.n = w->got.n = w->freed.n = w->claims = 0;
  w->last_put = w->last_got = w->last_claim = LONG_AGO;
}
