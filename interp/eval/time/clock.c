/* clock.c - the recurrence of clock.h, event by event. */
#include "eval/time/clock.h"

static int64_t later(int64_t x, int64_t y) {
  return x > y ? x : y;
}

/* The firing at hand; of statements without a schedule of their own, one of no length. */
static const TdFiring *firing_of(const TdClock *c) {
  static const TdFiring none;
  const TdTime *leaf = c->leaf;
  return (size_t)c->firing < leaf->nfiring ? &leaf->firing[c->firing] : &none;
}

static bool is_pipe(const TdClock *c) {
  return ((const TdTime *)c->leaf)->kind == TD_TIME_PIPE;
}

/* Whether one event more is to be kept. */
static bool keeps(TdKeep *k) {
  return k && k->left >= 0 && k->left-- > 0;
}

void td_clock_charge(TdClock *c, int64_t from, int64_t cycles, int64_t cause) {
  TdTimedStall x = {.stream = (uint32_t)(cause / 4), .why = (TdStall)(cause % 4)};
  size_t i = 0;
  if (cycles <= 0) return;
  while (i < c->stall.n && (c->stall.at[i].stream != x.stream || c->stall.at[i].why != x.why)) i++;
  if (i == c->stall.n) td_vec_push(c->arena, &c->stall, x);
  c->stall.at[i].cycles += cycles;
  c->stalled += cycles;
  if (c->starts == from) c->starts += cycles;
  if (keeps(c->keep)) td_vec_push(c->arena, &c->wait, ((TdTimedWait){from, cycles, x.why}));
}

/* Where the end of this firing, as often as it took place before, is kept until its place is needed
 * again; NULL: no number of results is too much. */
static int64_t *skid_of(TdClock *c, const TdFiring *f) {
  if (!is_pipe(c) || !f->skid) return NULL;
  return &c->waiting[f->first + 1 + c->waiting[f->first] % f->skid];
}

/* A wait in a pipe: stages that share something slip by whole intervals. */
static int64_t slip_of(const TdClock *c, int64_t wait) {
  const TdTime *leaf = c->leaf;
  return leaf->shares ? (wait + leaf->ii - 1) / leaf->ii * leaf->ii : wait;
}

/* The firing starts: all that it gets is there. What delays it delays all that follows. */
static void start(TdClock *c) {
  const TdFiring *f = firing_of(c);
  int64_t due = c->base + f->at, cycle = due, cause = 0, *skid = skid_of(c, f);
  if (c->phase == TD_FIRING_GETS && c->end > cycle) {
    cycle = c->end;
    cause = c->late;
  }
  if (skid && *skid + 1 > cycle) {
    cycle = *skid + 1;
    cause = c->held;
  }
  cycle = due + slip_of(c, cycle - due);
  td_clock_charge(c, due, cycle - due, cause);
  c->base += cycle - due;
  c->at = c->end = cycle + f->latency;
}

void td_clock_settle(TdClock *c) {
  if (c->phase == TD_FIRING_IDLE) return;
  const TdFiring *f = firing_of(c);
  if (c->phase == TD_FIRING_GETS) start(c);
  c->done = later(c->done, c->end);
  int64_t *skid = skid_of(c, f);
  if (skid) {
    *skid = c->done;
    c->waiting[f->first]++;
  }
  c->phase = TD_FIRING_IDLE;
}

void td_clock_work(TdClock *c, const TdTimes *t) {
  c->ran = TD_NEWN(c->arena, int64_t, t->worker.n + 1);
}

int64_t *td_clock_worked(TdArena *a, const TdClock *c, const TdTimes *t) {
  int64_t *n = TD_NEWN(a, int64_t, t->kind.n);
  for (size_t i = 0; c->ran && i < t->worker.n; i++)
    for (size_t k = 0; k < t->worker.at[i]->nwork; k++)
      n[t->worker.at[i]->work[k].kind] += c->ran[i + 1] * t->worker.at[i]->work[k].n;
  return n;
}

/* Notes that t runs n times. */
static void ran(TdClock *c, const TdTime *t, int64_t n) {
  c->multiplies += n * t->multiplies;
  if (c->ran) c->ran[t->number] += n;
}

/* Begins straight code, or a pipeline without an iteration. */
static void begin(TdClock *c, const TdTime *leaf) {
  c->leaf = leaf;
  if (c->asker) c->asker->epoch++;
  c->base = c->now + leaf->before;
  c->done = later(c->done, c->now - 1);
  c->firing = c->event = 0;
  c->phase = TD_FIRING_IDLE;
  c->iteration = -1;
  if (leaf->waiting > c->room) {
    c->room = leaf->waiting;
    c->waiting = TD_NEWN(c->arena, int64_t, c->room);
  }
  for (size_t i = 0; leaf->waiting && i < leaf->nfiring; i++) {
    const TdFiring *f = &leaf->firing[i];
    for (int64_t k = 0; f->skid && k <= f->skid; k++)
      c->waiting[f->first + k] = k ? TD_LONG_AGO : 0;
  }
  c->multipliers = later(c->multipliers, leaf->multipliers);
  if (leaf->multiplies && c->starts == TD_LONG_AGO)
    c->starts = c->base + (leaf->nfiring ? leaf->firing[0].at : 0);
  if (leaf->kind == TD_TIME_BLOCK) ran(c, leaf, 1);
}

/* Ends what runs. */
static void end(TdClock *c) {
  const TdTime *leaf = c->leaf;
  bool pipe = leaf->kind == TD_TIME_PIPE;
  if (!pipe || c->iteration >= 0) {
    td_clock_settle(c);
    c->now = c->base + (pipe && leaf->rewind ? leaf->ii : leaf->length);
    if ((!pipe || !leaf->rewind) && c->done + 1 > c->now) {
      td_clock_charge(c, c->now, c->done + 1 - c->now, c->held);
      c->now = c->done + 1;
    }
  }
  c->leaf = NULL;
  c->region = 0;
}

void td_clock_start(TdClock *c, int64_t cycle) {
  if (!c->called) c->begin = cycle, c->starts = TD_LONG_AGO;
  c->called = true;
  c->from = c->now = cycle;
  c->done = TD_LONG_AGO;
  c->late = c->held = TD_CAUSE(TD_CLOCK_NOWHERE, TD_STALL_MEETING);
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
  if (stalls)
    td_clock_charge(c, now, cycle - now, TD_CAUSE(TD_CLOCK_NOWHERE, TD_STALL_MEETING));
  else
    c->away += cycle - now;
  *(c->leaf ? &c->base : &c->now) = cycle;
}

/* The number of the next event of s as copy `copy`, or the number of events. */
static int next_event(const TdClock *c, const void *s, int64_t copy, bool token) {
  const TdTime *leaf = c->leaf;
  int n = (int)leaf->nevent, i = c->event;
  while (i < n && (leaf->event[i].stmt != s || leaf->event[i].copy != copy ||
                   (leaf->event[i].firing >= 0) != token))
    i++;
  return i;
}

/* Copy number `copy` of the body of loop s begins, or call s. */
static void begin_copy(TdClock *c, const void *s, int64_t copy) {
  if (!c->leaf) return;
  int i = next_event(c, s, copy, false);
  if (i < (int)((const TdTime *)c->leaf)->nevent) c->event = i + 1;
}

void td_clock_before(TdClock *c, const TdTime *t) {
  if (!t) return;
  if (t->copied && t->stmt->kind == TD_STMT_CALL) begin_copy(c, t->stmt, 0);
  if (c->region || t->kind == TD_TIME_COPIES) return;
  td_clock_close(c);
  if (t->kind == TD_TIME_BLOCK) begin(c, t);
  if (t->kind == TD_TIME_PLAIN) {
    c->now += t->length;
    ran(c, t, 1);
  }
}

const TdTime *td_clock_enter(TdClock *c, const TdTime *t, size_t depth) {
  if (c->region) return t && (t == c->leaf || t->copied) ? t : NULL;
  if (!t || t->kind == TD_TIME_COPIES) return t;
  c->now += t->enter;
  const TdTime *pipe = t->kind == TD_TIME_PIPE ? t : t->pipe;
  if (pipe) {
    begin(c, pipe);
    c->region = depth;
  }
  return t;
}

void td_clock_iterate(TdClock *c, const TdTime *loop, uint64_t n) {
  bool inner = loop->kind == TD_TIME_COPIES || (c->region && loop != c->leaf);
  uint64_t copy = inner ? n : n % (uint64_t)loop->lanes;
  if (loop->copied && (inner || copy)) begin_copy(c, loop->stmt, (int64_t)copy);
  if (inner || copy) return;
  if (loop->kind != TD_TIME_PIPE) {
    td_clock_close(c);
    c->now += loop->again + (n ? loop->after : 0);
    if (loop->body) begin(c, loop->body);
    return;
  }
  if (c->iteration >= 0) {
    td_clock_settle(c);
    c->base += loop->ii;
  }
  c->iteration++;
  if (c->asker) c->asker->epoch++;
  c->firing = c->event = 0;
  ran(c, loop, 1);
}

void td_clock_pass(TdClock *c, const TdTime *loop, uint64_t n) {
  int64_t groups = (int64_t)((n + (uint64_t)loop->lanes - 1) / (uint64_t)loop->lanes);
  if (!groups || loop->kind == TD_TIME_COPIES || (c->region && loop != c->leaf)) return;
  td_clock_iterate(c, loop, 0);
  if (loop->kind == TD_TIME_PIPE) {
    c->base += (groups - 1) * loop->ii;
    c->iteration += groups - 1;
    ran(c, loop, groups - 1);
  } else if (loop->body) {
    c->base += (groups - 1) * (loop->body->length + loop->again);
    ran(c, loop->body, groups - 1);
  } else {
    c->now += (groups - 1) * loop->again;
  }
}

void td_clock_test(TdClock *c, const TdTime *loop) {
  if (c->region || loop->kind != TD_TIME_LOOP) return;
  td_clock_close(c);
  c->now += loop->test;
}

void td_clock_leave(TdClock *c, size_t depth) {
  if (c->leaf && (!c->region || c->region >= depth)) end(c);
}

/* Notes what the task does `cycle` cycles after its base. */
static void note(TdClock *c, const TdWire *w, int64_t cycle, TdDoes does) {
  if (keeps(c->keep))
    td_vec_push(c->arena, &c->deed,
                ((TdDeed){c->base - c->stalled - c->away + cycle, w->number, does, 0, 0}));
}

/* Notes what has no stream. */
static void note_sync(TdClock *c, TdDeed d) {
  if (!d.wire || !keeps(c->keep)) return;
  d.local = td_clock_close(c) - c->stalled - c->away;
  td_vec_push(c->arena, &c->deed, d);
}

bool td_clock_is_met(const TdClock *c, size_t access) {
  return access < c->asker->met.n && c->asker->met.at[access] == c->asker->epoch;
}

/* The task's port for reads or writes of an argument. */
static TdClockPort *port_of(TdClock *c, const void *of, bool write) {
  TdClockAsker *k = c->asker;
  for (size_t i = 0; i < k->port.n; i++)
    if (k->port.at[i].of == of && k->port.at[i].write == write) return &k->port.at[i];
  td_vec_push(c->arena, &k->port, ((TdClockPort){of, write, (*k->ports)++, -1, 0}));
  return &k->port.at[k->port.n - 1];
}

void td_clock_ask(TdClock *c, size_t access, const void *of, int64_t address) {
  TdClockAsker *k = c->asker;
  const TdTouchTime *a = &((const TdTime *)c->leaf)->access[access];
  TdClockPort *p = port_of(c, of, a->write);
  int64_t local = c->base - c->stalled - c->away + a->cycle, line = address / k->request;
  while (k->met.n <= access) td_vec_push(c->arena, &k->met, -1);
  k->met.at[access] = k->epoch;
  if (p->line != line && keeps(c->keep)) {
    p->line = line;
    p->ask = k->asks++;
    int64_t plus = 2 * p->ask + a->write;
    td_vec_push(c->arena, &c->deed, ((TdDeed){local, p->number, TD_DOES_ASK, line, plus}));
  }
  if (!a->write && keeps(c->keep))
    td_vec_push(c->arena, &c->deed,
                ((TdDeed){local + a->wait, p->number, TD_DOES_ANSWER, p->ask, a->wait > 0}));
}

void td_clock_signal(TdClock *c, int64_t sync) {
  note_sync(c, (TdDeed){.wire = sync, .does = TD_DOES_SIGNAL});
}

void td_clock_wait(TdClock *c, int64_t sync, int64_t n, int64_t plus) {
  note_sync(c, (TdDeed){.wire = sync, .does = TD_DOES_WAIT, .n = n, .plus = plus});
}

/* The cycle of the schedule of the event at hand. */
static int64_t scheduled(const TdClock *c) {
  const TdTime *leaf = c->leaf;
  return c->event > 0 && c->event <= (int)leaf->nevent ? leaf->event[c->event - 1].cycle : 0;
}

/* Has the token of statement s happen as the next of its firing. */
static void join(TdClock *c, int phase, const void *s) {
  static const TdTime nothing = {.kind = TD_TIME_BLOCK, .lanes = 1};
  if (!c->leaf) begin(c, &nothing);
  const TdTime *leaf = c->leaf;
  int i = next_event(c, s, 0, true), firing = c->firing;
  if (i < (int)leaf->nevent) {
    firing = leaf->event[i].firing;
    c->event = i + 1;
  }
  if (firing != c->firing || (phase == TD_FIRING_GETS && c->phase == TD_FIRING_PUTS))
    td_clock_settle(c);
  c->firing = firing;
  if (phase == c->phase) return;
  if (phase == TD_FIRING_GETS) {
    c->at = c->end = c->base + firing_of(c)->from;
  } else {
    start(c);
  }
  c->phase = phase;
}

/* The next event is at c->at, after the one before on its stream, or when it is ready; says whether
 * it waited for that. */
static bool take(TdClock *c, int64_t turn, int64_t ready, int64_t beats) {
  c->at = later(c->at, turn);
  bool waits = ready > c->at;
  if (waits) c->at = ready;
  c->end = later(c->end, c->at + beats - 1);
  return waits;
}

/* With a get later than put k of each token from j on, there are k - j + 1 of them. */
void td_clock_count(TdWire *w, int64_t k) {
  int64_t put = w->put_at[k % w->depth], j = k - w->moved->most;
  if (j >= w->moved->gots) j = w->moved->gots - 1;
  for (; j >= 0 && j > k - w->depth && w->got_at[j % w->depth] > put; j--)
    w->moved->most = k - j + 1;
}

/* The same once token j is got. */
static void count_got(TdWire *w, int64_t j) {
  int64_t got = w->got_at[j % w->depth], k = j + w->moved->most;
  for (; k < w->moved->puts && w->put_at[k % w->depth] < got; k++) w->moved->most = k - j + 1;
}

/* When an end of a stream is ready again after its last of n events. */
static int64_t again(const TdWire *w, const int64_t *at, int64_t n) {
  return n ? at[(n - 1) % w->depth] + w->beats : TD_LONG_AGO;
}

void td_clock_get(TdClock *c, TdWire *w, bool held, const void *s) {
  join(c, TD_FIRING_GETS, s);
  note(c, w, scheduled(c), held ? TD_DOES_HOLD : TD_DOES_GET);
  int64_t k = w->moved->gots, ready = td_wire_outside(w, k);
  if (!w->outside) ready = w->put_at[k % w->depth] + w->beats - 1 + w->latency;
  if (take(c, again(w, w->got_at, k), ready, w->beats))
    c->late = TD_CAUSE(w->number, TD_STALL_EMPTY);
  w->got_at[w->moved->gots++ % w->depth] = c->at;
  if (w->block && !held) w->freed_at[w->freed++ % w->depth] = c->at;
  if (keeps(w->keep)) td_vec_push(c->arena, &w->every_got, c->at);
  if (!w->outside) count_got(w, k);
}

/* When there is a place for one token more, which is taken. */
static int64_t claim(TdWire *w) {
  if (w->outside) return td_wire_outside(w, w->block ? w->claims++ : w->moved->puts);
  if (w->block) return w->freed_at[w->claims++ % w->depth] + 1;
  return w->got_at[w->moved->puts % w->depth] + w->beats;
}

void td_clock_slot(TdClock *c, TdWire *w, const void *s) {
  join(c, TD_FIRING_GETS, s);
  note(c, w, scheduled(c), TD_DOES_SLOT);
  if (take(c, w->last_claim + 1, claim(w), 1)) c->late = TD_CAUSE(w->number, TD_STALL_FULL);
  w->last_claim = c->at;
}

void td_clock_put(TdClock *c, TdWire *w, bool taken, const void *s) {
  join(c, TD_FIRING_PUTS, s);
  note(c, w, scheduled(c), taken ? TD_DOES_PASS : TD_DOES_PUT);
  c->at = later(c->at, c->done);
  int64_t k = w->moved->puts, ready = taken ? TD_LONG_AGO : claim(w);
  if (take(c, again(w, w->put_at, k), ready, w->beats))
    c->held = TD_CAUSE(w->number, TD_STALL_FULL);
  w->put_at[w->moved->puts++ % w->depth] = c->at;
  if (keeps(w->keep)) td_vec_push(c->arena, &w->every_put, c->at);
  if (!w->outside) td_clock_count(w, k);
}

int64_t td_wire_room(const TdWire *w) {
  int64_t left = w->got_at[w->moved->puts % w->depth] + w->beats;
  return later(again(w, w->put_at, w->moved->puts), left);
}

int64_t td_wire_token(const TdWire *w) {
  int64_t k = w->moved->gots, seen = w->put_at[k % w->depth] + w->beats - 1 + w->latency;
  return later(again(w, w->got_at, k), seen);
}

void td_wire_put(TdArena *a, TdWire *w, int64_t cycle) {
  int64_t k = w->moved->puts++;
  w->put_at[k % w->depth] = cycle;
  if (keeps(w->keep)) td_vec_push(a, &w->every_put, cycle);
  td_clock_count(w, k);
}

void td_wire_get(TdArena *a, TdWire *w, int64_t cycle) {
  int64_t k = w->moved->gots++;
  w->got_at[k % w->depth] = cycle;
  if (keeps(w->keep)) td_vec_push(a, &w->every_got, cycle);
  count_got(w, k);
}

void td_clock_free(TdClock *c, TdWire *w) {
  int64_t cycle = td_clock_close(c);
  const TdTime *leaf = c->leaf;
  int64_t end = (leaf ? cycle + leaf->length : cycle) - 1;
  if (keeps(c->keep))
    td_vec_push(c->arena, &c->deed,
                ((TdDeed){end - c->stalled - c->away, w->number, TD_DOES_FREE, 0, 0}));
  w->freed_at[w->freed++ % w->depth] = end;
}

void td_clock_open(TdArena *a, TdWire *w, int64_t n, int64_t depth) {
  int64_t *at = TD_NEWN(a, int64_t, n * depth * 3);
  for (int64_t i = 0; i < n; i++) {
    w[i].depth = depth;
    w[i].moved = &w[i].own;
    w[i].put_at = at + i * depth * 2;
    w[i].got_at = w[i].put_at + depth;
    w[i].freed_at = at + n * depth * 2 + i * depth;
    td_clock_empty(&w[i]);
  }
}

void td_clock_empty(TdWire *w) {
  w->moved->puts = w->moved->gots = w->freed = w->claims = 0;
  w->last_claim = TD_LONG_AGO;
  for (int64_t i = 0; i < w->depth; i++) w->put_at[i] = w->got_at[i] = w->freed_at[i] = TD_LONG_AGO;
}

TdTimedTask td_clock_task(const TdClock *c) {
  return (TdTimedTask){.begin = c->begin,
                       .end = c->now,
                       .busy = c->life - c->stalled,
                       .stalled = c->stalled,
                       .stall = c->stall.at,
                       .nstall = c->stall.n,
                       .multiplies = c->multiplies,
                       .multipliers = c->multipliers,
                       .starts = c->starts,
                       .wait = c->wait.at,
                       .nwait = c->wait.n};
}

TdTimedStream td_clock_stream(const TdWire *w) {
  return (TdTimedStream){.depth = w->depth,
                         .tokens = w->moved->puts,
                         .most = w->moved->most,
                         .put = w->every_put.at,
                         .got = w->every_got.at,
                         .beats = w->beats,
                         .block = w->block,
                         .token = w->every_token.n == w->every_put.n ? w->every_token.at : NULL,
                         .nput = w->every_put.n,
                         .ngot = w->every_got.n};
}
