/* clock.c - when things happen in a design, from its text, by events: cores, lines and the host
 * each go on when what they wait for is there. A call takes what its kernel says, an object the
 * words of its stream. An object in a memory tile counts there until the cores have done with it,
 * as in a pool that a link shares, and is passed on as its words come. What comes from or goes to
 * the host shares its memory, whose bus goes one way at a time: a server of random service times.
 * devices.def has the figures. No data moves. */
#include <math.h>

#include "backends/npu/clock.h"

/* Cores, then lines, then the host are numbered in one go. */
typedef struct Event {
  double at;
  uint64_t order; /* of making: equal times keep it */
  uint32_t who;
} Event;

/* A line: what is under way. */
typedef struct Way {
  bool busy;
  double ends;
  int64_t elements;
  int64_t tokens, most;
  bool held; /* what it sends counts in its pool until the cores have done with it */
} Way;

typedef struct Core {
  bool busy; /* in a call */
  double since, begins, ends;
  bool waits;
  double spent, macs;
  int64_t peak;
  TD_VEC(TdTimedStall) stall;
} Core;

typedef struct Clock {
  TdNpuMachine *x;
  TdArena *arena;
  double now, memory; /* memory: when that of the host is free */
  uint64_t seed, order;
  TD_VEC(Event) heap;
  Core *core;
  Way *way;
  unsigned char *const *arg;
  const int64_t *bytes;
  TdMap users; /* pool -> Users */
} Clock;

typedef struct Users {
  TD_VEC(uint32_t) who;
} Users;

static double figure(TdModelFigure f) {
  return td_model[f].value;
}

/* ---- events ---- */

static bool is_before(const Event *x, const Event *y) {
  return x->at < y->at || (x->at == y->at && x->order < y->order);
}

static void push(Clock *c, double at, uint32_t who) {
  Event e = {at, c->order++, who};
  td_vec_push(c->arena, &c->heap, e);
  size_t i = c->heap.n - 1;
  for (; i && is_before(&e, &c->heap.at[(i - 1) / 2]); i = (i - 1) / 2)
    c->heap.at[i] = c->heap.at[(i - 1) / 2];
  c->heap.at[i] = e;
}

static Event pop(Clock *c) {
  Event first = c->heap.at[0], last = c->heap.at[--c->heap.n];
  size_t i = 0;
  for (size_t k; (k = 2 * i + 1) < c->heap.n; i = k) {
    if (k + 1 < c->heap.n && is_before(&c->heap.at[k + 1], &c->heap.at[k])) k++;
    if (!is_before(&c->heap.at[k], &last)) break;
    c->heap.at[i] = c->heap.at[k];
  }
  if (c->heap.n) c->heap.at[i] = last;
  return first;
}

static uint32_t host_number(const Clock *c) {
  return (uint32_t)(c->x->core.n + c->x->line.n);
}

/* Has all that use a pool look again now. */
static void wake(Clock *c, const TdNpuPool *p) {
  const Users *u = p ? td_map_getp(&c->users, p) : NULL;
  for (size_t i = 0; u && i < u->who.n; i++) push(c, c->now, u->who.at[i]);
}

static void add_user(Clock *c, const TdNpuPool *p, uint32_t who) {
  Users *u = p ? td_map_getp(&c->users, p) : NULL;
  if (!p) return;
  if (!u) td_map_putp(c->arena, &c->users, p, u = TD_NEW(c->arena, Users));
  for (size_t i = 0; i < u->who.n; i++)
    if (u->who.at[i] == who) return;
  td_vec_push(c->arena, &u->who, who);
}

/* A draw from (0, 1]. */
static double uniform(Clock *c) {
  c->seed += 0x9e3779b97f4a7c15;
  uint64_t z = c->seed;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  z ^= z >> 31;
  return ((double)(z >> 11) + 1) / 9007199254740992.0;
}

/* A draw from the gamma distribution of mean 1 and the model's deviation (Marsaglia and Tsang, with
 * their boost for shapes below 1). */
static double draw(Clock *c) {
  const double two_pi = 6.283185307179586;
  double shape = 1 / (figure(TD_MODEL_JITTER) * figure(TD_MODEL_JITTER)), all = shape, boost = 1;
  if (shape < 1) {
    boost = pow(uniform(c), 1 / shape);
    shape += 1;
  }
  double d = shape - 1.0 / 3, k = 1 / sqrt(9 * d);
  for (;;) {
    double x = sqrt(-2 * log(uniform(c))) * cos(two_pi * uniform(c)), v = 1 + k * x;
    v = v * v * v;
    if (v > 0 && log(uniform(c)) < x * x / 2 + d - d * v + d * log(v)) return d * v * boost / all;
  }
}

/* ---- lines ---- */

static bool is_shim(const TdNpuLine *l) {
  return !l->from.pool || !l->to[0].pool;
}

/* Objects of a line that the cores at its end have done with. */
static int64_t done_with(const TdNpuLine *l) {
  int64_t least = INT64_MAX;
  for (size_t i = 0; i < l->nto; i++) {
    int64_t out = l->to[i].pool->out[0];
    least = out < least ? out : least;
  }
  return least;
}

static bool can_begin(const TdNpuLine *l, const Way *w) {
  if (is_shim(l) && !l->ntask) return false;
  int64_t ahead = w->held ? w->tokens - l->from.pool->out[l->from.number] : 0;
  if (l->from.pool && td_npu_pool_full(l->from.pool, l->from.number) - ahead < 1) return false;
  for (size_t i = 0; i < l->nto && l->to[0].pool; i++)
    if (td_npu_pool_room(l->to[i].pool, l->to[i].number) < 1) return false;
  return true;
}

/* When a transfer that begins now ends. */
static double end_of(Clock *c, const TdNpuLine *l, const Way *w) {
  double bytes = (double)(w->elements * l->cell), begin = c->now;
  double stream = bytes / figure(TD_MODEL_STREAM), start = figure(TD_MODEL_BD);
  if (w->held) {
    double next = w->tokens ? w->ends + stream : 0;
    return next > c->now + start ? next : c->now + start;
  }
  stream += start;
  if (is_shim(l)) {
    if (c->memory < c->now) c->memory = c->now;
    c->memory += bytes / figure(TD_MODEL_BANDWIDTH) * draw(c);
    if (c->memory - stream > begin) begin = c->memory - stream;
  }
  return begin + stream;
}

/* Gives back the objects of a link that the cores have done with. */
static void free_held(Clock *c, TdNpuLine *l) {
  int64_t *out = &l->from.pool->out[l->from.number], now = done_with(l);
  if (now == *out) return;
  *out = now;
  wake(c, l->from.pool);
}

/* An object, or the part of one that a task of a shim moves, is under way. */
static void begin_line(Clock *c, size_t i) {
  TdNpuLine *l = &c->x->line.at[i];
  Way *w = &c->way[i];
  if (w->held) free_held(c, l);
  if (w->busy || !can_begin(l, w)) return;
  w->elements = l->count - l->npart;
  if (is_shim(l)) {
    int64_t left = td_npu_dma_left(c->x, l);
    if (left < w->elements) w->elements = left;
  }
  w->busy = true;
  w->ends = end_of(c, l, w);
  push(c, w->ends, (uint32_t)(c->x->core.n + i));
}

/* What is under way has arrived. */
static void end_line(Clock *c, size_t i) {
  TdNpuLine *l = &c->x->line.at[i];
  Way *w = &c->way[i];
  w->busy = false;
  l->npart += w->elements;
  if (is_shim(l) && td_npu_dma_moved(c->x, l, w->elements)) push(c, c->now, host_number(c));
  if (l->npart < l->count) return;
  l->npart = 0;
  w->tokens++;
  if (l->from.pool && !w->held) l->from.pool->out[l->from.number]++;
  for (size_t k = 0; k < l->nto && l->to[0].pool; k++) {
    TdNpuPool *p = l->to[k].pool;
    int64_t there = ++p->in[l->to[k].number] - p->out[0];
    if (there > w->most) w->most = there;
    wake(c, p);
  }
  wake(c, l->from.pool);
}

/* ---- cores ---- */

static void note_wait(Clock *c, Core *k, const TdNpuCoreRun *run) {
  bool slot;
  size_t line = td_npu_core_line(c->x, run, &slot);
  TdStall why = slot ? TD_STALL_FULL : TD_STALL_EMPTY;
  int64_t cycles = (int64_t)(c->now - k->since);
  if (line == SIZE_MAX || cycles <= 0) return;
  size_t i = 0;
  while (i < k->stall.n && !(k->stall.at[i].stream == line && k->stall.at[i].why == why)) i++;
  if (i == k->stall.n) {
    TdTimedStall s = {(uint32_t)line, why, 0};
    td_vec_push(c->arena, &k->stall, s);
  }
  k->stall.at[i].cycles += cycles;
}

/* A core goes on to its next call, or until it waits. */
static bool go_core(Clock *c, size_t i) {
  Core *k = &c->core[i];
  TdNpuCoreRun *run = c->x->core.at[i];
  bool moved = false;
  if (k->busy && c->now < k->ends) return true;
  if (k->waits) note_wait(c, k, run);
  k->busy = k->waits = false;
  c->x->took = NULL;
  if (!td_npu_core_go(c->x, run, &moved)) return false;
  if (c->x->took) {
    double cycles = td_npu_cost_cycles(c->x->took);
    if (k->spent == 0) k->begins = c->now;
    k->busy = true;
    k->ends = c->now + cycles;
    k->spent += cycles;
    k->macs += td_npu_cost_macs(c->x->took);
    int64_t peak = td_npu_cost_peak(c->x->took);
    k->peak = peak > k->peak ? peak : k->peak;
    push(c, k->ends, (uint32_t)i);
  } else {
    k->waits = true;
    k->since = c->now;
  }
  for (size_t n = 0; n < c->x->line.n && moved; n++) {
    TdNpuLine *l = &c->x->line.at[n];
    if (l->from_tile == td_npu_core_tile(run)) wake(c, l->from.pool);
    for (size_t e = 0; e < l->nto; e++)
      if (l->to_tile[e] == td_npu_core_tile(run)) wake(c, l->to[e].pool);
  }
  return true;
}

/* ---- the run ---- */

static void subscribe(Clock *c) {
  TdNpuMachine *x = c->x;
  for (size_t i = 0; i < x->line.n; i++) {
    TdNpuLine *l = &x->line.at[i];
    c->way[i].held = !is_shim(l) && td_npu_machine_kind(x, l->from_tile) == TD_TILE_MEM;
    add_user(c, l->from.pool, (uint32_t)(x->core.n + i));
    for (size_t k = 0; k < l->nto; k++) add_user(c, l->to[k].pool, (uint32_t)(x->core.n + i));
    for (size_t n = 0; n < x->core.n; n++) {
      size_t tile = td_npu_core_tile(x->core.at[n]);
      if (l->from_tile == tile) add_user(c, l->from.pool, (uint32_t)n);
      for (size_t k = 0; k < l->nto; k++)
        if (l->to_tile[k] == tile) add_user(c, l->to[k].pool, (uint32_t)n);
    }
  }
}

static bool go(Clock *c, const Event *e) {
  TdNpuMachine *x = c->x;
  if (e->who < x->core.n) return go_core(c, e->who);
  if (e->who < host_number(c)) {
    size_t i = e->who - x->core.n;
    if (c->way[i].busy && c->way[i].ends <= c->now) end_line(c, i);
    begin_line(c, i);
    return true;
  }
  bool moved = false;
  if (!td_npu_machine_host(x, c->arg, c->bytes, &moved)) return false;
  for (size_t i = 0; i < x->line.n && moved; i++)
    if (is_shim(&x->line.at[i])) push(c, c->now, (uint32_t)(x->core.n + i));
  return true;
}

/* What was told, for reports. */
static const TdTimed *timed_of(Clock *c) {
  TdNpuMachine *x = c->x;
  TdTimed *t = TD_NEW(c->arena, TdTimed);
  TdTimedTask *task = TD_NEWN(c->arena, TdTimedTask, x->core.n + 1);
  TdTimedStream *stream = TD_NEWN(c->arena, TdTimedStream, x->line.n + 1);
  for (size_t i = 0; i < x->core.n; i++) {
    const Core *k = &c->core[i];
    const char *name = td_npu_core_name(x->core.at[i]);
    task[i] = (TdTimedTask){.name = name,
                            .run = name,
                            .begin = (int64_t)k->begins,
                            .end = (int64_t)ceil(k->ends),
                            .busy = (int64_t)k->spent,
                            .multiplies = (int64_t)k->macs,
                            .multipliers = k->peak,
                            .starts = (int64_t)k->begins,
                            .stall = k->stall.at,
                            .nstall = k->stall.n};
    for (size_t s = 0; s < k->stall.n; s++) task[i].stalled += k->stall.at[s].cycles;
  }
  for (size_t i = 0; i < x->line.n; i++)
    stream[i] = (TdTimedStream){.name = x->line.at[i].name,
                                .depth = x->line.at[i].depth,
                                .tokens = c->way[i].tokens,
                                .most = c->way[i].most,
                                .beats = 1,
                                .block = true};
  *t = (TdTimed){.design = "sequence",
                 .target = td_text_fmt(c->arena,
                                       "%s (calibrated model, %.1f GHz, %.1f bytes a "
                                       "cycle to memory)",
                                       x->device->name, figure(TD_MODEL_CLOCK),
                                       figure(TD_MODEL_BANDWIDTH)),
                 .task = task,
                 .ntask = x->core.n,
                 .stream = stream,
                 .nstream = x->line.n};
  td_timed_sum(t);
  int64_t all = (int64_t)ceil(c->now);
  if (t->cycles) t->utilisation *= (double)t->cycles / (double)all;
  t->cycles = all;
  return t;
}

const TdTimed *td_npu_clock(TdArena *a, TdNpuMachine *x) {
  Clock c = {.x = x, .arena = a, .seed = 1};
  const TdMlirBlock *b = td_mlir_body(x->sequence);
  unsigned char **arg = TD_NEWN(a, unsigned char *, b->arg.n + 1);
  int64_t *bytes = TD_NEWN(a, int64_t, b->arg.n + 1);
  for (size_t i = 0; i < b->arg.n; i++) bytes[i] = td_npu_machine_bytes(b->arg.at[i]->type);
  c.arg = arg;
  c.bytes = bytes;
  c.core = TD_NEWN(a, Core, x->core.n + 1);
  c.way = TD_NEWN(a, Way, x->line.n + 1);
  subscribe(&c);
  for (uint32_t i = 0; i <= host_number(&c); i++) push(&c, 0, i);
  while (c.heap.n && x->at < b->op.n) {
    Event e = pop(&c);
    c.now = e.at;
    td_ctx_tick(td_arena_ctx(a), 1);
    if (!go(&c, &e)) return NULL;
  }
  if (x->at >= b->op.n) return timed_of(&c);
  td_npu_machine_stuck(x);
  return NULL;
}
