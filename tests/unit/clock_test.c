/* clock_test.c - random networks by the recurrences of clock.h and fire.h, in the order of a run,
 * against machines that are stepped cycle by cycle: when every token moves, when tasks end, how
 * long they stall, how full streams get; by the second contract also what hangs. */
#include "tests/unit/tap.h"
#include "tests/unit/trace.h"

#include "eval/time/fire.h"

enum { TASKS = 6, WIRES = 10, OPS = 24, FIRINGS = 3, TOKENS = 32, ITERATIONS = 12, LATE = 4000 };
enum { CASES = 3000, DEEDS = ITERATIONS * OPS };

/* A get or a put of stream `wire`, in a firing of its task's iteration. */
typedef struct Op {
  int wire, firing;
  bool put;
  int64_t cycle; /* of its iteration, by the schedule */
  TdStmt stmt;   /* which stands for it */
} Op;

typedef struct Task {
  Op op[OPS];
  int nop, firings;
  bool pipelined;
  TdFiring firing[FIRINGS];
  TdEvent event[OPS];
  bool skips[ITERATIONS][FIRINGS]; /* firings that a condition leaves out */
  TdTime time, loop;
} Task;

typedef struct Line {
  int64_t depth, beats, latency;
  int from, to, each; /* tasks; tokens an iteration */
} Line;

typedef struct Net {
  Task task[TASKS];
  Line line[WIRES];
  int ntask, nline, iterations;
} Net;

/* What happened. */
typedef struct Story {
  int64_t put[WIRES][TOKENS], got[WIRES][TOKENS];
  int nput[WIRES], ngot[WIRES];
  int64_t most[WIRES], end[TASKS], stalled[TASKS];
  bool ended;
  /* the second contract */
  TdTimedFire fire;
  TdFireLine line[WIRES];
} Story;

static int64_t most_of(int64_t x, int64_t y) {
  return x > y ? x : y;
}

/* ---- random networks ---- */

/* Operations of task k: at most two rounds of gets and then puts; a get after a put begins a
 * firing. */
static void draw_ops(Net *n, int k, uint64_t *seed) {
  Task *t = &n->task[k];
  bool used[WIRES][2] = {{false}};
  for (int part = 0; part < 4; part++) {
    int put = part % 2;
    for (int i = 0; i < n->nline; i++) {
      const Line *l = &n->line[i];
      if ((put ? l->from : l->to) != k || used[i][put]) continue;
      if (part < 2 && trace_random(seed, 2)) continue;
      used[i][put] = true;
      if (!put && t->nop && t->op[t->nop - 1].put) t->firings++;
      for (int e = 0; e < l->each; e++)
        t->op[t->nop++] = (Op){.wire = i, .firing = t->firings, .put = put};
    }
  }
  t->firings += t->nop > 0;
}

/* Firings of random length; iterations as far apart as keeps them in order. */
static void draw_times(Task *t, uint64_t *seed) {
  int64_t at = 0;
  t->pipelined = trace_random(seed, 4) != 0;
  t->time = (TdTime){.kind = t->pipelined ? TD_TIME_PIPE : TD_TIME_BLOCK, .lanes = 1};
  for (int i = 0; i < t->firings; i++) {
    int64_t from = at + trace_random(seed, 3), latency = trace_random(seed, 6);
    at = from + trace_random(seed, 3);
    t->firing[i] = (TdFiring){.from = from, .at = at, .latency = latency};
  }
  t->time.ii = most_of(1 + trace_random(seed, 7), at - t->firing[0].from);
  for (int i = 0; i < t->firings; i++) {
    TdFiring *f = &t->firing[i];
    f->first = t->time.waiting;
    f->skid = (f->latency + t->time.ii - 1) / t->time.ii + 1;
    t->time.waiting += 1 + f->skid;
  }
  t->time.shares = t->pipelined && trace_random(seed, 3) == 0;
  t->time.length = at + 1 + trace_random(seed, 8);
  t->time.nfiring = (size_t)t->firings;
}

/* The cycle of each operation: those of one stream as far apart as its tokens are long; and a
 * length that has room for them. */
static void draw_cycles(Net *n, Task *t) {
  for (int i = 0; i < t->nop; i++) {
    Op *x = &t->op[i];
    const TdFiring *f = &t->firing[x->firing];
    int64_t beats = n->line[x->wire].beats;
    x->cycle = x->put ? f->at + f->latency : f->from;
    for (int k = 0; k < i; k++)
      if (t->op[k].wire == x->wire && t->op[k].put == x->put)
        x->cycle = most_of(x->cycle, t->op[k].cycle + beats);
    t->time.length = most_of(t->time.length, x->cycle + beats);
  }
}

/* Conditions: a stream that two tasks leave out is left out in the same iterations, so firings are
 * skipped in all tasks alike. */
static void draw_skips(Net *n, uint64_t *seed) {
  bool skip[ITERATIONS];
  for (int i = 0; i < ITERATIONS; i++) skip[i] = trace_random(seed, 3) == 0;
  bool some = trace_random(seed, 2), out[TASKS][FIRINGS] = {{false}};
  for (int k = 0; some && k < n->ntask; k++)
    for (int f = 0; f < n->task[k].firings; f++) out[k][f] = trace_random(seed, 2);
  for (bool moved = true; moved;) {
    bool kept[WIRES] = {false};
    moved = false;
    for (int k = 0; k < n->ntask; k++)
      for (int o = 0; o < n->task[k].nop; o++)
        kept[n->task[k].op[o].wire] |= !out[k][n->task[k].op[o].firing];
    for (int k = 0; k < n->ntask; k++)
      for (int o = 0; o < n->task[k].nop; o++) {
        const Op *x = &n->task[k].op[o];
        if (!kept[x->wire] || !out[k][x->firing]) continue;
        out[k][x->firing] = false;
        moved = true;
      }
  }
  for (int k = 0; k < n->ntask; k++)
    for (int i = 0; i < ITERATIONS; i++)
      for (int f = 0; f < FIRINGS; f++) n->task[k].skips[i][f] = out[k][f] && skip[i];
}

/* Streams go from a task to a later one. */
static Net draw(uint64_t *seed) {
  Net n = {.ntask = 2 + trace_random(seed, TASKS - 1), .nline = 1 + trace_random(seed, WIRES)};
  n.iterations = 1 + trace_random(seed, ITERATIONS);
  for (int i = 0; i < n.nline; i++) {
    Line *l = &n.line[i];
    l->from = trace_random(seed, n.ntask - 1);
    l->to = l->from + 1 + trace_random(seed, n.ntask - 1 - l->from);
    l->each = trace_random(seed, 4) ? 1 : 2;
    l->depth = 1 + trace_random(seed, 5);
    l->beats = trace_random(seed, 3) ? 1 : 1 + trace_random(seed, 4);
    l->latency = trace_random(seed, 3) ? 1 : 1 + trace_random(seed, 4);
  }
  for (int k = 0; k < n.ntask; k++) {
    draw_ops(&n, k, seed);
    draw_times(&n.task[k], seed);
    draw_cycles(&n, &n.task[k]);
  }
  draw_skips(&n, seed);
  return n;
}

/* ---- by the recurrence ---- */

/* A task of a run. */
typedef struct Runner {
  TdClock clock;
  const TdTime *loop;
  int op, iteration;
  bool begun;
} Runner;

/* Does an operation if its stream lets it. */
static bool run_op(TdClock *c, TdWire *w, const Op *op) {
  int64_t fill = w->moved->puts - w->moved->gots;
  if (op->put ? fill == w->depth : !fill) return false;
  if (op->put)
    td_clock_put(c, w, false, &op->stmt);
  else
    td_clock_get(c, w, false, &op->stmt);
  return true;
}

/* Runs a task until it blocks; whether it did anything. */
static bool run_task(const Net *n, const Task *t, Runner *r, TdWire *wire) {
  bool moved = false;
  while (r->iteration < n->iterations) {
    if (!r->begun) td_clock_iterate(&r->clock, r->loop, (uint64_t)r->iteration);
    r->begun = true;
    for (; r->op < t->nop; r->op++, moved = true) {
      const Op *op = &t->op[r->op];
      if (t->skips[r->iteration][op->firing]) continue;
      if (!run_op(&r->clock, &wire[op->wire], op)) return moved;
    }
    r->op = 0;
    r->iteration++;
    r->begun = false;
    moved = true;
  }
  return moved;
}

static void tell_wire(Story *s, const TdWire *w, int i) {
  s->nput[i] = (int)w->every_put.n;
  s->ngot[i] = (int)w->every_got.n;
  for (int k = 0; k < s->nput[i]; k++) s->put[i][k] = w->every_put.at[k];
  for (int k = 0; k < s->ngot[i]; k++) s->got[i][k] = w->every_got.at[k];
  s->most[i] = w->moved->most;
}

/* Clocks of all tasks and streams of n, started. */
static void open_clocks(TdArena *a, Net *n, Runner *r, TdWire *wire, TdKeep *keep) {
  for (int i = 0; i < n->nline; i++) {
    const Line *l = &n->line[i];
    wire[i] = (TdWire){.number = i, .beats = l->beats, .latency = l->latency, .keep = keep};
    td_clock_open(a, &wire[i], 1, l->depth);
  }
  for (int k = 0; k < n->ntask; k++) {
    Task *t = &n->task[k];
    t->time.firing = t->firing;
    t->time.event = t->event;
    t->time.nevent = (size_t)t->nop;
    for (int i = 0; i < t->nop; i++)
      t->event[i] =
          (TdEvent){.stmt = &t->op[i].stmt, .firing = t->op[i].firing, .cycle = t->op[i].cycle};
    t->loop = t->pipelined ? t->time : (TdTime){.kind = TD_TIME_LOOP, .lanes = 1, .body = &t->time};
    r[k].clock = (TdClock){.arena = a, .keep = keep};
    td_clock_start(&r[k].clock, 0);
    r[k].loop = td_clock_enter(&r[k].clock, &t->loop, 1);
  }
}

static Story run(TdArena *a, Net *n) {
  Story s = {.ended = true};
  Runner r[TASKS] = {{.op = 0}};
  TdWire wire[WIRES] = {{.beats = 0}};
  TdKeep keep = {.left = INT64_MAX};
  open_clocks(a, n, r, wire, &keep);
  for (bool moved = true; moved;) {
    moved = false;
    for (int k = n->ntask - 1; k >= 0; k--) moved |= run_task(n, &n->task[k], &r[k], wire);
  }
  for (int k = 0; k < n->ntask; k++) {
    s.ended &= r[k].iteration == n->iterations;
    td_clock_leave(&r[k].clock, 1);
    td_clock_stop(&r[k].clock);
    s.end[k] = r[k].clock.now;
    s.stalled[k] = r[k].clock.stalled;
  }
  const TdClock *clock[TASKS];
  const TdWire *of[WIRES];
  for (int k = 0; k < n->ntask; k++) clock[k] = &r[k].clock;
  for (int i = 0; i < n->nline; i++) {
    of[i] = &wire[i];
    tell_wire(&s, &wire[i], i);
  }
  TdFireRun run = {.task = clock, .n = (size_t)n->ntask, .wire = of, .nwire = (size_t)n->nline};
  run.line = s.line;
  s.fire = td_fire(a, &run);
  return s;
}

/* ---- cycle by cycle ---- */

/* A firing that has started: its puts wait in a queue of one datapath and one put unit. */
typedef struct Started {
  int64_t start, done; /* done: -1 until all its puts were made */
} Started;
enum { NOT_YET = -1, SKIPPED = -2 };

typedef struct Stepper {
  int iteration, firing, op;             /* what is got next */
  int put_iteration, put_firing, put_op; /* and put next */
  int64_t base, last, over;              /* last get, and the end of all, of this firing */
  int64_t put_last, put_over;            /* the same of puts */
  int64_t done;                          /* of the firing before that at the put unit */
  int64_t began[FIRINGS], ended_at[FIRINGS][ITERATIONS]; /* took place; ends of those over */
  int over_count[FIRINGS];
  Started all[ITERATIONS][FIRINGS];
  bool closing, ended;
} Stepper;

/* Whether stream i lets a token out, or in, at cycle t. */
static bool may_get(const Net *n, const Story *s, int i, int64_t t) {
  const Line *l = &n->line[i];
  int k = s->ngot[i];
  if (k == s->nput[i] || s->put[i][k] + l->beats - 1 + l->latency > t) return false;
  return !k || s->got[i][k - 1] + l->beats <= t;
}

static bool may_put(const Net *n, const Story *s, int i, int64_t t) {
  const Line *l = &n->line[i];
  int k = s->nput[i], freed = 0;
  for (int g = 0; g < s->ngot[i]; g++) freed += s->got[i][g] + l->beats <= t;
  return k - freed < l->depth && (!k || s->put[i][k - 1] + l->beats <= t);
}

/* On to the gets of the firing after this one. */
static void next_firing(const Net *n, const Task *t, Stepper *x) {
  while (x->op < t->nop && t->op[x->op].firing == x->firing) x->op++;
  x->last = x->over = -1;
  if (++x->firing < t->firings) return;
  x->firing = x->op = 0;
  x->iteration++;
  x->closing = !t->pipelined || x->iteration == n->iterations;
  if (t->pipelined && !x->closing) x->base += t->time.ii;
}

/* Whether fewer results of this firing are on their way than it has credits. */
static bool has_credit(const Task *t, const Stepper *x, const TdFiring *f, int64_t now) {
  int64_t over = 0;
  for (int i = 0; i < x->over_count[x->firing]; i++) over += x->ended_at[x->firing][i] < now;
  return !t->pipelined || x->began[x->firing] - over < f->skid;
}

/* Gets and starts of task k at cycle t. */
static void step_front(const Net *n, const Task *t, Stepper *x, Story *s, int k, int64_t now) {
  while (x->iteration < n->iterations && !x->closing) {
    const TdFiring *f = &t->firing[x->firing];
    const Op *op = &t->op[x->op];
    bool skips = t->skips[x->iteration][x->firing];
    if (!skips && x->op < t->nop && op->firing == x->firing && !op->put) {
      if (now < x->base + f->from || now < x->last || !may_get(n, s, op->wire, now)) return;
      s->got[op->wire][s->ngot[op->wire]++] = x->last = now;
      x->over = most_of(x->over, now + n->line[op->wire].beats - 1);
      x->op++;
      continue;
    }
    if (t->skips[x->iteration][x->firing]) {
      x->all[x->iteration][x->firing].start = SKIPPED;
      next_firing(n, t, x);
      continue;
    }
    if (now < x->base + f->at || now < x->over || !has_credit(t, x, f, now)) return;
    if (t->pipelined && t->time.shares && (now - x->base - f->at) % t->time.ii) return;
    x->began[x->firing]++;
    s->stalled[k] += now - (x->base + f->at);
    x->base = now - f->at;
    x->all[x->iteration][x->firing].start = now;
    next_firing(n, t, x);
  }
}

/* On to the puts of the firing after this one. */
static void next_put(const Task *t, Stepper *x) {
  x->put_last = x->put_over = -1;
  if (++x->put_firing < t->firings) return;
  x->put_firing = x->put_op = 0;
  x->put_iteration++;
}

/* Puts of started firings at cycle t, in order. */
static void step_back(const Net *n, const Task *t, Stepper *x, Story *s, int64_t now) {
  while (x->put_iteration < n->iterations) {
    Started *f = &x->all[x->put_iteration][x->put_firing];
    if (f->start == NOT_YET) return;
    if (f->start == SKIPPED) {
      while (x->put_op < t->nop && t->op[x->put_op].firing == x->put_firing) x->put_op++;
      next_put(t, x);
      continue;
    }
    int64_t ready = f->start + t->firing[x->put_firing].latency;
    while (x->put_op < t->nop && t->op[x->put_op].firing == x->put_firing) {
      const Op *op = &t->op[x->put_op];
      if (op->put) {
        if (now < ready || now < x->done || now < x->put_last || !may_put(n, s, op->wire, now))
          return;
        s->put[op->wire][s->nput[op->wire]++] = x->put_last = now;
        x->put_over = most_of(x->put_over, now + n->line[op->wire].beats - 1);
      }
      x->put_op++;
    }
    x->done = f->done = most_of(x->done, most_of(ready, x->put_over));
    x->ended_at[x->put_firing][x->over_count[x->put_firing]++] = x->done;
    next_put(t, x);
  }
}

/* The end of straight code, or of the pipeline, once all its puts are made. */
static void step_close(const Net *n, const Task *t, Stepper *x, Story *s, int k) {
  if (!x->closing || x->put_iteration < x->iteration || x->ended) return;
  int64_t end = x->base + t->time.length;
  if (x->done + 1 > end) {
    s->stalled[k] += x->done + 1 - end;
    end = x->done + 1;
  }
  x->base = end;
  x->closing = false;
  x->ended = x->iteration == n->iterations;
  if (x->ended) s->end[k] = end;
}

static Story step(const Net *n) {
  Story s = {0};
  Stepper x[TASKS] = {{.iteration = 0}};
  for (int k = 0; k < n->ntask; k++) {
    x[k].last = x[k].over = x[k].put_last = x[k].put_over = x[k].done = -1;
    for (int i = 0; i < ITERATIONS; i++)
      for (int f = 0; f < FIRINGS; f++) x[k].all[i][f] = (Started){NOT_YET, -1};
  }
  for (int64_t now = 0; now < LATE; now++) {
    for (int k = 0; k < n->ntask; k++) {
      step_front(n, &n->task[k], &x[k], &s, k, now);
      step_back(n, &n->task[k], &x[k], &s, now);
      step_close(n, &n->task[k], &x[k], &s, k);
    }
    for (int i = 0; i < n->nline; i++) s.most[i] = most_of(s.most[i], s.nput[i] - s.ngot[i]);
  }
  s.ended = true;
  for (int k = 0; k < n->ntask; k++) s.ended &= x[k].ended;
  return s;
}

/* ---- cycle by cycle, by the second contract ---- */

/* A task: what it does in which cycle of its own, and its counter, which stands still while not
 * all of a cycle can happen. */
typedef struct Whole {
  struct {
    int64_t local;
    const Op *op;
  } deed[DEEDS];
  int n, at;
  int64_t counter, over;
} Whole;

static void lay_out(const Net *n, const Task *t, Whole *x) {
  int64_t every = t->pipelined ? t->time.ii : t->time.length;
  *x = (Whole){.over = (n->iterations - 1) * every + t->time.length};
  for (int i = 0; i < n->iterations; i++)
    for (int o = 0; o < t->nop; o++) {
      int at = x->n;
      if (t->skips[i][t->op[o].firing]) continue;
      int64_t local = i * every + t->op[o].cycle;
      for (; at && x->deed[at - 1].local > local; at--) x->deed[at] = x->deed[at - 1];
      x->deed[at].local = local;
      x->deed[at].op = &t->op[o];
      x->n++;
    }
}

/* Whether all of a cycle can happen now, and how many tokens that are. */
static int may_fire(const Net *n, const Story *s, const Whole *x, int64_t now) {
  int count = 0, more[WIRES][2] = {{0}};
  for (int i = x->at; i < x->n && x->deed[i].local == x->counter; i++, count++) {
    const Op *o = x->deed[i].op;
    const Line *l = &n->line[o->wire];
    int k = more[o->wire][o->put]++, freed = 0;
    int64_t put = s->nput[o->wire] + k, got = s->ngot[o->wire] + k;
    if (k == 0 && o->put && put && s->put[o->wire][put - 1] + l->beats > now) return -1;
    if (k == 0 && !o->put && got && s->got[o->wire][got - 1] + l->beats > now) return -1;
    for (int g = 0; g < s->ngot[o->wire]; g++) freed += s->got[o->wire][g] + l->beats <= now;
    if (o->put && put - freed >= l->depth) return -1;
    bool there = !o->put && got < s->nput[o->wire];
    if (!o->put && !(there && s->put[o->wire][got] + l->beats - 1 + l->latency <= now)) return -1;
  }
  return count;
}

/* Whether the machine does what td_fire told; *hangs: it ends never. */
static bool is_whole(const Net *n, const Story *told, bool *hangs) {
  static Whole x[TASKS];
  Story s = {.ended = false};
  int64_t last = 0;
  for (int k = 0; k < n->ntask; k++) lay_out(n, &n->task[k], &x[k]);
  for (int64_t now = 0; now < LATE && !s.ended; now++) {
    int count[TASKS];
    s.ended = true;
    for (int k = 0; k < n->ntask; k++) count[k] = may_fire(n, &s, &x[k], now);
    for (int k = 0; k < n->ntask; k++) {
      if (x[k].counter == x[k].over) continue;
      s.ended = false;
      if (count[k] < 0) continue;
      for (; count[k]; count[k]--) {
        const Op *o = x[k].deed[x[k].at++].op;
        *(o->put ? &s.put[o->wire][s.nput[o->wire]++] : &s.got[o->wire][s.ngot[o->wire]++]) = now;
      }
      if (++x[k].counter == x[k].over) last = now + 1;
    }
  }
  *hangs = !s.ended;
  bool same = told->fire.hangs == *hangs && (*hangs || told->fire.cycles == last);
  for (int i = 0; same && i < n->nline; i++) {
    const TdFireLine *l = &told->line[i];
    same = (int)l->nput == s.nput[i] && (int)l->ngot == s.ngot[i];
    for (int k = 0; same && k < s.nput[i]; k++) same = l->put[k] == s.put[i][k];
    for (int k = 0; same && k < s.ngot[i]; k++) same = l->got[k] == s.got[i][k];
  }
  return same;
}

/* ---- the two compared ---- */

static const char *difference(const Net *n, const Story *x, const Story *y) {
  for (int i = 0; i < n->nline; i++) {
    if (x->nput[i] != y->nput[i] || x->ngot[i] != y->ngot[i]) return "number of tokens";
    for (int k = 0; k < x->nput[i]; k++)
      if (x->put[i][k] != y->put[i][k]) return "a put";
    for (int k = 0; k < x->ngot[i]; k++)
      if (x->got[i][k] != y->got[i][k]) return "a get";
    if (x->most[i] != y->most[i]) return "occupancy";
  }
  for (int k = 0; k < n->ntask; k++) {
    if (x->end[k] != y->end[k]) return "end of a task";
    if (x->stalled[k] != y->stalled[k]) return "stalls";
  }
  return NULL;
}

/* Every task must do something. */
static bool is_busy(const Net *n) {
  for (int k = 0; k < n->ntask; k++)
    if (!n->task[k].nop) return false;
  return true;
}

int main(void) {
  TdCtx *c = td_ctx_new();
  uint64_t seed = 20;
  int compared = 0, stalled = 0, different = 0, whole = 0, hung = 0;
  for (int i = 0; compared < CASES; i++) {
    Net n = draw(&seed);
    if (!is_busy(&n)) continue;
    TdArena *a = td_arena_new(c);
    Story x = run(a, &n);
    bool hangs = false;
    if (x.ended && !is_whole(&n, &x, &hangs) && whole++ < 5)
      printf("# network %d: differs where pipelines stall as a whole\n", i);
    hung += hangs;
    td_arena_free(a);
    if (!x.ended) continue;
    Story y = step(&n);
    const char *what = difference(&n, &x, &y);
    compared++;
    for (int k = 0; k < n.ntask; k++) stalled += x.stalled[k] > 0;
    if (what && different++ < 5) printf("# network %d: %s differs\n", i, what);
  }
  ok(different == 0, "3000 random networks, event for event");
  ok(stalled > CASES, "and tasks stall in most of them");
  ok(whole == 0, "the same, by the second contract");
  ok(hung > 100 && hung < CASES / 2, "where some hang");
  printf("# %d of %d hang\n", hung, CASES);
  td_ctx_free(c);
  return done_testing();
}
