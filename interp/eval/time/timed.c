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
  td_vec_push(m->arena, &m->clocked, t);
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

/* The other contract, where everything that happened is known. */
static TdTimedFire fire_of(const TdMachine *m) {
  const TdClock **task = TD_NEWN(m->arena, const TdClock *, m->clocked.n);
  const TdWire **wire = TD_NEWN(m->arena, const TdWire *, m->channel.n);
  for (size_t i = 0; i < m->clocked.n; i++) task[i] = m->clocked.at[i]->clock;
  for (size_t i = 0; i < m->channel.n; i++) wire[i] = m->channel.at[i]->wire;
  return td_fire(m->arena, task, m->clocked.n, wire, m->channel.n, NULL);
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
  if (out->kept) out->fire = fire_of(m);
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
