/* trace.c - the events of a run as tasks and streams of a run with a clock: the array, and the
 * FIFOs of the streamers. */
#include "base/ctx.h"
#include "eval/time/timed.h"
#include "backends/maestro/maestro.h"

typedef struct Events {
  TD_VEC(int64_t) put, got;
} Events;

typedef struct Trace {
  const TdMaestroSystem *system;
  TdArena *a;
  Events at[TD_MAESTRO_STREAMERS];
  int64_t in[TD_MAESTRO_STREAMERS], out[TD_MAESTRO_STREAMERS], most[TD_MAESTRO_STREAMERS];
  TD_VEC(TdTimedWait) wait;
  int64_t fires;
} Trace;

/* What comes and leaves in a cycle is seen in the next one. */
static void watch(void *ud, const TdMaestroCycle *c) {
  Trace *t = ud;
  for (int i = 0; i < t->system->n; i++) {
    for (; t->in[i] < c->in[i]; t->in[i]++) td_vec_push(t->a, &t->at[i].put, c->cycle - 1);
    for (; t->out[i] < c->out[i]; t->out[i]++) td_vec_push(t->a, &t->at[i].got, c->cycle - 1);
    int64_t words = c->in[i] - c->out[i];
    if (words > t->most[i]) t->most[i] = words;
  }
  t->fires += c->fire;
  if (c->fire || c->stall == TD_MAESTRO_STALL_START || c->stall == TD_MAESTRO_STALL_DRAIN) return;
  TdStall why = c->stall == TD_MAESTRO_STALL_FULL ? TD_STALL_FULL : TD_STALL_EMPTY;
  TdTimedWait *last = t->wait.n ? &t->wait.at[t->wait.n - 1] : NULL;
  if (last && last->why == why && last->from + last->cycles == c->cycle)
    last->cycles++;
  else
    td_vec_push(t->a, &t->wait, ((TdTimedWait){c->cycle, 1, why}));
}

/* The array as a task. */
static TdTimedTask *new_task(Trace *t, const TdMaestroReport *r) {
  TdTimedTask *x = TD_NEW(t->a, TdTimedTask);
  int64_t lost = 0;
  for (size_t i = 0; i < t->wait.n; i++) lost += t->wait.at[i].cycles;
  *x = (TdTimedTask){.name = "array",
                     .run = "array",
                     .begin = r->first,
                     .end = r->last + 1,
                     .busy = r->fires,
                     .stalled = lost,
                     .multiplies = r->fires,
                     .multipliers = 1,
                     .starts = r->first,
                     .wait = t->wait.at,
                     .nwait = t->wait.n};
  return x;
}

const TdTimed *td_maestro_trace(const TdMaestroRun *r, const char *name, TdMaestroReport *out,
                                TdArena *a, TdDiag *d) {
  Trace t = {.system = r->system, .a = a};
  TdMaestroRun run = *r;
  run.watch = watch;
  run.ud = &t;
  if (!td_maestro_model_run(&run, out, d)) return NULL;
  TdTimedStream *s = TD_NEWN(a, TdTimedStream, r->system->n);
  size_t n = 0;
  for (int i = 0; i < r->system->n; i++) {
    if (!t.at[i].put.n) continue;
    s[n++] = (TdTimedStream){.name = r->system->at[i].name,
                             .depth = r->system->at[i].depth,
                             .tokens = (int64_t)t.at[i].put.n,
                             .most = t.most[i],
                             .put = t.at[i].put.at,
                             .got = t.at[i].got.at,
                             .nput = t.at[i].put.n,
                             .ngot = t.at[i].got.n,
                             .beats = 1};
  }
  TdTimed *x = TD_NEW(a, TdTimed);
  *x = (TdTimed){.design = name, .target = "maestro", .task = new_task(&t, out), .ntask = 1};
  x->stream = s;
  x->nstream = n;
  x->kept = true;
  td_timed_sum(x);
  x->cycles = out->cycles;
  return x;
}
