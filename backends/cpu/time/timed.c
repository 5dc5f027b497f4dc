/* timed.c - compiled runs with a clock: the clocks of the tasks and streams of a design, handed
 * to the program, and what they tell in the end. */
#include "backends/cpu/load/code.h"
#include "eval/time/clock.h"

/* ---- what programs call ---- */

static void before(struct td_clock *c, const void *t) {
  td_clock_before((TdClock *)(void *)c, t);
}

static const void *enter(struct td_clock *c, const void *t, int64_t depth) {
  return td_clock_enter((TdClock *)(void *)c, t, (size_t)depth);
}

static void iterate(struct td_clock *c, const void *t, int64_t n) {
  td_clock_iterate((TdClock *)(void *)c, t, (uint64_t)n);
}

static void pass(struct td_clock *c, const void *t, int64_t n) {
  td_clock_pass((TdClock *)(void *)c, t, (uint64_t)n);
}

static void test(struct td_clock *c, const void *t) {
  td_clock_test((TdClock *)(void *)c, t);
}

static void leave(struct td_clock *c, int64_t depth) {
  td_clock_leave((TdClock *)(void *)c, (size_t)depth);
}

static void settle(struct td_clock *c) {
  td_clock_settle((TdClock *)(void *)c);
}

static void charge(struct td_clock *c, int64_t from, int64_t cycles, int64_t cause) {
  td_clock_charge((TdClock *)(void *)c, from, cycles, cause);
}

static void get(struct td_clock *c, struct td_wire *w, int held, const void *s) {
  td_clock_get((TdClock *)(void *)c, (TdWire *)(void *)w, held, s);
}

static void slot(struct td_clock *c, struct td_wire *w, const void *s) {
  td_clock_slot((TdClock *)(void *)c, (TdWire *)(void *)w, s);
}

static void put(struct td_clock *c, struct td_wire *w, int taken, const void *s) {
  td_clock_put((TdClock *)(void *)c, (TdWire *)(void *)w, taken, s);
}

static void give(struct td_clock *c, struct td_wire *w) {
  td_clock_free((TdClock *)(void *)c, (TdWire *)(void *)w);
}

static void count(struct td_wire *w, int64_t k) {
  td_clock_count((TdWire *)(void *)w, k);
}

static int64_t *keep_moved(struct td_wire *wire, void *moved) {
  TdWire *w = (TdWire *)(void *)wire;
  w->moved = moved;
  *w->moved = (TdMoved){0};
  return w->put_at;
}

/* ---- the clocks of a run ---- */

typedef struct Clocks {
  TdArena *arena;
  TdCpuFacts of;
  TD_VEC(TdClock *) clock;
  TD_VEC(TdWire *) wire;
} Clocks;

static int64_t instances(const TdUnit *d, const TdRun *r) {
  int64_t n = 1, extent = 0;
  for (int k = 0; k < r->rank; k++) n *= td_unit_value(d, r->map[k], &extent) ? extent : 0;
  return n;
}

static void add_tasks(Clocks *x, const TdRun *r) {
  int64_t n = instances(x->of.root, r);
  TdClock *c = TD_NEWN(x->arena, TdClock, n);
  for (int64_t i = 0; i < n; i++) {
    c[i].arena = x->arena;
    td_clock_work(&c[i], x->of.times);
    td_clock_start(&c[i], 0);
    td_vec_push(x->arena, &x->clock, &c[i]);
  }
}

static void add_streams(Clocks *x, const TdStream *s) {
  const TdType *t = td_unit_type(x->of.session, x->of.root, s->type);
  const TdAttr *latency = td_attrs_get(s->attrs, TD_ATTR_LATENCY);
  int64_t n = 1, extent, depth = 1;
  td_unit_value(x->of.root, s->depth, &depth);
  for (int k = 0; k < t->rank; k++)
    if (td_type_extent(t, k, &extent)) n *= extent;
  TdWire *w = TD_NEWN(x->arena, TdWire, n);
  for (int64_t i = 0; i < n; i++) {
    w[i].number = (int64_t)x->wire.n;
    w[i].block = t->block;
    w[i].latency = latency && latency->arg[0].i > 1 ? latency->arg[0].i : 1;
    w[i].beats = t->block ? 1 : td_unit_beats(x->of.root, s->attrs, t->elem);
    td_vec_push(x->arena, &x->wire, &w[i]);
  }
  td_clock_open(x->arena, w, n, depth);
}

/* What the clocks tell. */
static const TdTimed *report_of(Clocks *x) {
  TdTimed *out = TD_NEW(x->arena, TdTimed);
  TdTimedTask *task = TD_NEWN(x->arena, TdTimedTask, x->clock.n);
  TdTimedStream *stream = TD_NEWN(x->arena, TdTimedStream, x->wire.n);
  const TdUnit *d = x->of.root;
  size_t k = 0;
  for (size_t r = 0; r < d->nrun; r++)
    for (int64_t i = 0; i < instances(d, &d->run[r]); i++, k++) {
      task[k] = td_clock_task(x->clock.at[k]);
      task[k].name = td_cpu_code_instance(x->arena, d, &d->run[r], i);
      task[k].run = d->run[r].sym->name;
      task[k].work = td_clock_worked(x->arena, x->clock.at[k], x->of.times);
    }
  for (size_t i = 0; i < x->wire.n; i++) {
    stream[i] = td_clock_stream(x->wire.at[i]);
    stream[i].name = td_cpu_code_stream(x->arena, x->of.session, d, (int64_t)i);
  }
  *out = (TdTimed){.design = d->sym->name,
                   .target = x->of.times->target,
                   .kind = x->of.times->kind.at,
                   .nkind = x->of.times->kind.n,
                   .task = task,
                   .ntask = x->clock.n,
                   .stream = stream,
                   .nstream = x->wire.n};
  td_timed_sum(out);
  return out;
}

bool td_cpu_timed_call(TdCpu *c, TdArena *a, const TdCallArg *arg, size_t narg,
                       const TdTimed **report, TdDiag *d) {
  Clocks x = {.arena = a, .of = td_cpu_facts(c)};
  for (size_t r = 0; r < x.of.root->nrun; r++) add_tasks(&x, &x.of.root->run[r]);
  for (size_t i = 0; i < x.of.root->nstream; i++) add_streams(&x, &x.of.root->stream[i]);
  const struct td_timed timed = {.clock = (struct td_clock *const *)(void *)x.clock.at,
                                 .wire = (struct td_wire *const *)(void *)x.wire.at,
                                 .known = x.of.text->known,
                                 .before = before,
                                 .enter = enter,
                                 .iterate = iterate,
                                 .pass = pass,
                                 .test = test,
                                 .leave = leave,
                                 .settle = settle,
                                 .charge = charge,
                                 .get = get,
                                 .slot = slot,
                                 .put = put,
                                 .free = give,
                                 .count = count,
                                 .open = keep_moved};
  if (!td_cpu_call_with(c, &timed, arg, narg, d)) return false;
  for (size_t i = 0; i < x.clock.n; i++) td_clock_stop(x.clock.at[i]);
  *report = report_of(&x);
  return true;
}
