/* timed.c - clocks given to the tasks and streams of a run, and what they tell at its end. */
#include "eval/time/timed.h"

#include "eval/machine.h"
#include "eval/time/fire.h"

void td_timed_task(TdMachine *m, TdTask *t) {
  if (!m->options->times) return;
  t->clock = TD_NEW(m->arena, TdClock);
  t->clock->arena = m->arena;
  t->clock->keep = m->options->keep;
  td_clock_work(t->clock, m->options->times);
  if (m->options->memory) {
    t->clock->asker = TD_NEW(m->arena, TdClockAsker);
    *t->clock->asker = (TdClockAsker){.request = m->options->memory->field[TD_OFFCHIP_REQUEST],
                                      .ports = &m->ports};
  }
  td_vec_push(m->arena, &m->clocked, t);
}

enum { ALIGNED = 4096 };

void td_timed_place(TdMachine *m, TdMemory *x) {
  if (!m->options->memory) return;
  x->outside = true;
  x->place = m->place;
  m->place += (x->count * (int64_t)td_type_bytes(x->elem) + ALIGNED - 1) / ALIGNED * ALIGNED;
}

/* Whether parameter sym of a unit that t runs is x. */
static bool is_of(const TdTask *t, TdSym sym, const TdMemory *x) {
  for (const TdFrame *f = t->frame; f; f = f->up) {
    uint32_t slot = f->plan->slot[sym->id];
    if (slot) return f->slot[slot - 1].view && f->slot[slot - 1].view->memory == x;
    if (f == t->base) return false;
  }
  return false;
}

void td_timed_access(TdTask *t, const TdMemory *x, int64_t offset, bool write) {
  const TdTime *leaf = t->clock ? t->clock->leaf : NULL;
  for (size_t i = 0; leaf && i < leaf->naccess; i++) {
    const TdTouchTime *a = &leaf->access[i];
    if (a->stmt != t->doing || a->write != write || td_clock_is_met(t->clock, i)) continue;
    if (!is_of(t, a->sym, x)) continue;
    td_clock_ask(t->clock, i, x, x->place + offset * (int64_t)td_type_bytes(x->elem));
    return;
  }
}

uint64_t td_timed_mix(uint64_t hash, const TdType *e, uint64_t value) {
  uint64_t word = td_num_word(e, value);
  return td_map_mix(hash, e->w < 64 ? word & ((UINT64_C(1) << e->w) - 1) : word) | 1;
}

void td_timed_token(TdMachine *m, TdChannel *c, const TdMemory *token) {
  TdWire *w = c->wire;
  uint64_t hash = 1;
  if (!w || c->block || !w->keep || w->keep->left < 0) return;
  for (int64_t i = 0; i < token->count && hash; i++) {
    TdValue v = token->cell[i];
    hash =
        td_value_is_concrete(v) && !td_value_is_wide(v) ? td_timed_mix(hash, token->elem, v.lo) : 0;
  }
  td_vec_push(m->arena, &w->every_token, hash);
}

int64_t td_timed_sync(TdMachine *m) {
  return m->options->times && m->options->keep ? ++m->options->keep->syncs : 0;
}

void td_timed_streams(TdMachine *m, const TdView *array, const TdUnit *u, const TdStream *s) {
  if (!m->options->times) return;
  int64_t n = td_channel_count(array->channel);
  const TdAttr *latency = s ? td_attrs_get(s->attrs, TD_ATTR_LATENCY) : NULL;
  TdWire *wire = TD_NEWN(m->arena, TdWire, n);
  for (int64_t i = 0; i < n; i++) {
    TdChannel *c = &array->channel[i];
    TdWire *w = c->wire = &wire[i];
    w->number = (int64_t)m->channel.n - n + i;
    w->block = c->block;
    w->outside = !s;
    w->keep = m->options->keep;
    w->latency = latency && latency->arg[0].i > 1 ? latency->arg[0].i : 1;
    w->beats = s && !c->block ? td_unit_beats(u, s->attrs, c->token) : 1;
  }
  td_clock_open(m->arena, wire, n, array->channel->free.cap);
}

static TdTimedTask task_of(const TdTask *t) {
  TdTimedTask out = td_clock_task(t->clock);
  out.name = td_fault_task_name(t);
  out.run = t->run ? t->run->sym->name : t->base->plan->unit->sym->name;
  return out;
}

static TdTimedStream stream_of(const TdMachine *m, const TdChannel *c) {
  TdTimedStream out = td_clock_stream(c->wire);
  out.name = td_fault_channel_name(m->arena, c);
  out.tokens = (int64_t)c->put;
  return out;
}

/* Most tokens in a stream at the end of a cycle. */
static int64_t most_of(const TdFireLine *l) {
  int64_t most = 0;
  size_t got = 0;
  for (size_t k = 0; k < l->nput; k++) {
    while (got < l->ngot && l->got[got] <= l->put[k]) got++;
    int64_t held = (int64_t)(k + 1) - (int64_t)got;
    if (held > most) most = held;
  }
  return most;
}

/* What the other contract follows, where everything that happened is known. */
static TdFireRun *events_of(const TdMachine *m) {
  const TdClock **clock = TD_NEWN(m->arena, const TdClock *, m->clocked.n);
  const TdWire **wire = TD_NEWN(m->arena, const TdWire *, m->channel.n);
  for (size_t i = 0; i < m->clocked.n; i++) clock[i] = m->clocked.at[i]->clock;
  for (size_t i = 0; i < m->channel.n; i++) wire[i] = m->channel.at[i]->wire;
  TdFireRun *run = TD_NEW(m->arena, TdFireRun);
  *run = (TdFireRun){.task = clock, .n = m->clocked.n, .wire = wire, .nwire = m->channel.n};
  return run;
}

TdTimedFire td_timed_fire(TdArena *a, const TdTimed *t) {
  if (t->fire.known || !t->events) return t->fire;
  TdFireRun run = *t->events;
  return td_fire(a, &run);
}

/* With a memory the whole report is of the second contract. */
static void answer(const TdMachine *m, TdTimed *out, TdTimedTask *task, TdTimedStream *stream) {
  const TdOffchip *memory = m->options->memory;
  TdFireRun run = *out->events;
  run.memory = memory;
  run.line = TD_NEWN(m->arena, TdFireLine, m->channel.n);
  run.told = TD_NEWN(m->arena, TdFireTask, m->clocked.n);
  out->fire = td_fire(m->arena, &run);
  for (size_t i = 0; i < m->clocked.n; i++) {
    task[i].end = run.told[i].end;
    task[i].stalled = run.told[i].stalled;
    task[i].stall = run.told[i].stall.at;
    task[i].nstall = run.told[i].stall.n;
    task[i].wait = run.told[i].wait.at;
    task[i].nwait = run.told[i].wait.n;
  }
  for (size_t i = 0; i < m->channel.n; i++) {
    stream[i].put = run.line[i].put;
    stream[i].got = run.line[i].got;
    stream[i].nput = run.line[i].nput;
    stream[i].ngot = run.line[i].ngot;
    if (!run.wire[i]->outside && !run.wire[i]->block) stream[i].most = most_of(&run.line[i]);
  }
  int64_t bytes = run.requests * memory->field[TD_OFFCHIP_REQUEST];
  out->memory = (TdTimedMemory){memory->model->name, run.requests, bytes};
}

const TdTimed *td_timed_of(TdMachine *m, const TdUnit *root) {
  TdTimed *out = TD_NEW(m->arena, TdTimed);
  TdTimedTask *task = TD_NEWN(m->arena, TdTimedTask, m->clocked.n);
  TdTimedStream *stream = TD_NEWN(m->arena, TdTimedStream, m->channel.n);
  const TdTimes *times = m->options->times;
  for (size_t i = 0; i < m->clocked.n; i++) {
    task[i] = task_of(m->clocked.at[i]);
    task[i].work = td_clock_worked(m->arena, m->clocked.at[i]->clock, times);
  }
  for (size_t i = 0; i < m->channel.n; i++) stream[i] = stream_of(m, m->channel.at[i]);
  *out = (TdTimed){.design = root->sym->name,
                   .target = times->target,
                   .kind = times->kind.at,
                   .nkind = times->kind.n,
                   .task = task,
                   .ntask = m->clocked.n,
                   .stream = stream,
                   .nstream = m->channel.n,
                   .kept = m->options->keep && m->options->keep->left >= 0};
  if (out->kept) out->events = events_of(m);
  if (out->kept && m->options->memory) answer(m, out, task, stream);
  td_timed_sum(out);
  return out;
}

int64_t td_timed_room(const TdTimedStream *s) {
  int64_t room = 1;
  size_t free = 0;
  if (s->block || !s->nput || s->ngot != s->nput) return 0;
  for (size_t k = 0; k < s->nput; k++) {
    while (free < k && s->got[free] + s->beats <= s->put[k]) free++;
    int64_t held = (int64_t)(k - free) + 1;
    if (held > room) room = held;
  }
  return room;
}

void td_timed_sum(TdTimed *t) {
  int64_t done = 0, could = 0, busy = 0, ends = INT64_MAX;
  t->cycles = t->fill = t->drain = 0;
  for (size_t i = 0; i < t->ntask; i++) {
    const TdTimedTask *x = &t->task[i];
    if (x->end > t->cycles) t->cycles = x->end;
    done += x->multiplies;
    could += x->multipliers;
    busy += x->busy;
    if (x->multiplies && x->starts > t->fill) t->fill = x->starts;
    if (x->multiplies && x->end < ends) ends = x->end;
  }
  if (done) t->drain = t->cycles - ends;
  if (!could) {
    done = busy;
    could = (int64_t)t->ntask;
  }
  t->utilisation = t->cycles && could ? (double)done / ((double)could * (double)t->cycles) : 0;
}
