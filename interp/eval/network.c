/* network.c - designs: their instances, the order in which they run, and how they end. */
#include "eval/machine.h"
#include "eval/outer.h"

#include <string.h>

/* The shadow of a memory or array of streams while n runs. */
static TdShadow *shadow_of(TdMachine *m, TdNetwork *n, const void *of, int64_t count) {
  for (size_t i = 0; i < n->shadow.n; i++)
    if (n->shadow.at[i]->of == of) return n->shadow.at[i];
  TdShadow *s = TD_NEW(m->arena, TdShadow);
  *s = (TdShadow){of, TD_NEWN(m->arena, TdTouch, count), count, n};
  td_vec_push(m->arena, &n->shadow, s);
  return s;
}

/* Fails at a place of the design itself. */
static bool refuse(TdMachine *m, TdDiagKind kind, const char *code, TdLoc loc, const char *what) {
  td_diag_set(m->diag, kind, code, loc, "%s", what);
  m->failed = true;
  return false;
}

/* The number of instances of run r, with the extents of its map. */
static bool count_instances(TdMachine *m, const TdUnit *u, const TdRun *r, int64_t *extent,
                            int64_t *count) {
  *count = 1;
  for (int d = 0; d < r->rank; d++) {
    if (!td_frame_value(u, r->map[d], &extent[d]))
      return refuse(m, TD_USAGE, "unbound-size", r->loc, "a size of this map has no value");
    if (extent[d] < 0 || (extent[d] && *count > INT32_MAX / extent[d]))
      return refuse(m, TD_LIMIT, "limit", r->loc, "limit of instances");
    *count *= extent[d];
  }
  return td_fault_room(m, *count * 64, r->loc);
}

/* Makes the streams of the design in frame f. */
static bool make_streams(TdMachine *m, TdFrame *f) {
  const TdUnit *u = f->plan->unit;
  for (size_t i = 0; i < u->nstream; i++) {
    const TdStream *s = &u->stream[i];
    int64_t depth;
    TdView v;
    const TdType *port = td_frame_type(m, u, s->type, s->loc);
    if (!port) return false;
    if (!td_frame_value(u, s->depth, &depth))
      return refuse(m, TD_USAGE, "unbound-size", s->loc, "the depth has no value");
    if (!td_channel_array(m, s->sym, port, depth, s->loc, &v)) return false;
    td_timed_streams(m, &v, u, s);
    td_frame_show(m, &f->slot[u->nparam + i], &v);
  }
  return true;
}

/* Makes the frame of one instance, with its own sight of the design's streams. */
static void make_instance(TdMachine *m, TdFrame *f, TdTask *t, const TdUnitPlan *plan) {
  const TdUnit *u = f->plan->unit;
  TdFrame *base = td_frame_new(m, plan, f);
  t->machine = m;
  t->network = f->network;
  t->base = t->frame = base;
  base->task = t;
  td_timed_task(m, t);
  base->stream = TD_NEWN(m->arena, TdView, u->nstream);
  base->guard = TD_NEWN(m->arena, TdGuard, plan->unit->nparam + u->nstream);
  for (size_t i = 0; i < u->nstream; i++) {
    TdView *v = &base->stream[i];
    *v = *f->slot[u->nparam + i].view;
    TdGuard *g = &base->guard[plan->unit->nparam + i];
    TdShadow *s = shadow_of(m, f->network, v->channel, td_channel_count(v->channel));
    *g = (TdGuard){s, t->who, v->guard};
    v->guard = g;
  }
}

/* Whether the caller of the run does what run r of the design in frame f would. */
static bool is_left_out(const TdMachine *m, const TdFrame *f, size_t r) {
  return m->options->outer && !f->up && m->options->outer->without[r];
}

/* Makes all instances of the design in frame f, once. */
static bool make_network(TdMachine *m, TdFrame *f) {
  const TdUnit *u = f->plan->unit;
  int64_t extent[TD_MAX_RANK], count;
  size_t total = 0, k = 0;
  for (size_t r = 0; r < u->nrun; r++) {
    if (is_left_out(m, f, r)) continue;
    if (!count_instances(m, u, &u->run[r], extent, &count)) return false;
    total += (size_t)count;
  }
  TdNetwork *n = f->network = TD_NEW(m->arena, TdNetwork);
  *n = (TdNetwork){.frame = f, .task = TD_NEWN(m->arena, TdTask, total), .ntask = total};
  if (!make_streams(m, f)) return false;
  for (size_t r = 0; r < u->nrun; r++) {
    const TdRun *run = &u->run[r];
    if (is_left_out(m, f, r)) continue;
    const TdUnitPlan *plan = td_plan_unit(m->plan, run->unit);
    if (!plan || plan->unit->kind != TD_UNIT_KERNEL)
      return refuse(m, TD_UNSUPPORTED, "opaque", run->loc, "this task has no kernel to run");
    if (!count_instances(m, u, run, extent, &count)) return false;
    for (uint32_t i = 0; i < (uint32_t)count; i++, k++) {
      TdTask *t = &n->task[k];
      *t = (TdTask){.run = run, .who = (uint32_t)k + 1};
      int64_t rest = i;
      for (int d = run->rank - 1; d >= 0; rest /= extent[d], d--) t->id[d] = rest % extent[d];
      make_instance(m, f, t, plan);
    }
  }
  return true;
}

static const TdRunArg *bind_of(const TdRun *r, TdSym param) {
  for (size_t i = 0; i < r->nbind; i++)
    if (r->bind[i].param == param) return &r->bind[i];
  return NULL;
}

/* Gives parameter i of an instance its argument. */
static bool bind_parameter(TdTask *t, size_t i) {
  TdMachine *m = t->machine;
  TdFrame *f = t->network->frame;
  TdSlot *to = &t->base->slot[i];
  const TdRunArg *b = bind_of(t->run, t->base->plan->unit->param[i].sym);
  if (!b) return refuse(m, TD_BUG, "unbound", t->run->loc, "a parameter of this task is not bound");
  const TdSlot *from = &f->slot[f->plan->slot[b->arg->id] - 1];
  if (!from->view) {
    to->value = from->value;
    return true;
  }
  TdView v = *from->view;
  TdGuard *g = &t->base->guard[i];
  const void *of = v.memory ? (const void *)v.memory : (const void *)v.channel;
  int64_t count = v.memory ? v.memory->count : td_channel_count(v.channel);
  *g = (TdGuard){shadow_of(m, t->network, of, count), t->who, v.guard};
  v.guard = g;
  if (b->layout && !td_copies_bind(t, b, from->view, t->base->plan->written[i], g, &v))
    return false;
  td_frame_show(m, to, &v);
  return true;
}

/* Sets an instance to the start of its body. */
static bool start_instance(TdTask *t) {
  TdMachine *m = t->machine;
  const TdUnit *u = t->base->plan->unit;
  for (size_t i = 0; i < u->nparam; i++)
    if (!bind_parameter(t, i)) return false;
  size_t skip = t->run->rank > u->ncoord ? t->run->rank - u->ncoord : 0;
  for (size_t i = 0; i < u->ncoord && i + skip < t->run->rank; i++)
    t->base->slot[u->nparam + i].value = td_value_of((uint64_t)t->id[i + skip]);
  if (!td_frame_check(t, t->base)) return false;
  if (t->clock) td_clock_start(t->clock, m->now);
  if (t->clock) td_clock_wait(t->clock, t->network->began, 1, 0);
  td_exec_enter(t, t->base);
  td_vec_push(m->arena, &m->task, t);
  return true;
}

/* Ends a design: streams are empty, unless the caller still takes from them; copies are stored. */
static bool end_network(TdMachine *m, TdNetwork *n) {
  bool open = m->options->outer && n == m->top;
  return (open || td_deadlock_leftovers(m, n)) && td_copies_store(m, n);
}

bool td_network_start(TdMachine *m, TdFrame *f, TdTask *caller) {
  if (!f->network && !make_network(m, f)) return false;
  TdNetwork *n = f->network;
  if (!caller) m->top = n;
  const TdUnit *u = f->plan->unit;
  for (size_t i = 0; i < n->shadow.n; i++)
    memset(n->shadow.at[i]->at, 0, (size_t)n->shadow.at[i]->count * sizeof(TdTouch));
  for (size_t i = 0; i < u->nstream; i++) {
    TdChannel *c = f->slot[u->nparam + i].view->channel;
    int64_t count = td_channel_count(c);
    for (int64_t k = 0; k < count; k++) td_channel_reset(&c[k]);
  }
  n->copy.n = 0;
  n->left = n->ntask;
  n->ended = m->now;
  n->began = caller ? td_timed_sync(m) : 0;
  n->over = caller ? td_timed_sync(m) : 0;
  if (caller && caller->clock) td_clock_signal(caller->clock, n->began);
  for (size_t i = 0; i < n->ntask; i++)
    if (!start_instance(&n->task[i])) return false;
  return n->left || end_network(m, n);
}

/* Whether it is worth while to run t. */
static bool is_ready(const TdTask *t) {
  return t->awaits ? !t->awaits->left : td_channel_is_ready(t);
}

/* Ends a task, and its design with the last one. */
static bool end_task(TdMachine *m, TdTask *t) {
  TdNetwork *n = t->network;
  if (t->clock) td_clock_stop(t->clock);
  if (!n) return true;
  if (t->clock) td_clock_signal(t->clock, n->over);
  if (t->clock && t->clock->now > n->ended) n->ended = t->clock->now;
  return --n->left || end_network(m, n);
}

/* Lets every task run until it blocks; *progress says whether any did. */
static bool sweep(TdMachine *m, bool *progress) {
  for (size_t i = 0; i < m->task.n; i++) {
    TdTask *t = m->task.at[i];
    if (!is_ready(t)) continue;
    t->waits = TD_WAITS_NOT;
    if (td_exec_run(t, progress) == TD_FAILED) return false;
    if (t->stack.n) continue;
    *progress = true;
    if (!end_task(m, t)) return false;
  }
  return true;
}

bool td_network_run(TdMachine *m) {
  const TdOuter *outer = m->options->outer;
  bool more = outer != NULL;
  while (m->task.n || more) {
    bool progress = false;
    if (!sweep(m, &progress)) return false;
    size_t live = 0;
    for (size_t i = 0; i < m->task.n; i++)
      if (m->task.at[i]->stack.n) m->task.at[live++] = m->task.at[i];
    m->task.n = live;
    if (progress) continue;
    if (more) {
      if (!outer->step(outer->ud, m, &more)) return false;
    } else if (live) {
      return td_deadlock_report(m);
    }
  }
  return true;
}
