/* search_auto.c - the space of schedules: states are programs, moves are a few steps of ordinary
 * primitives, and what a state costs is its estimate. The program as it is is a state too, so that
 * what is found is never worse. */
#include "rewrite/task/search_auto.h"

#include <string.h>

#include "analysis/range/range.h"
#include "rewrite/take.h"
#include "rewrite/task/search_auto_moves.h"

enum {
  SOME_STEPS = 1500,    /* tries where nothing is said */
  THREAD_START = 20000, /* statements in the time that it takes to start threads */
};

typedef struct State {
  const TdProg *prog;
  const TdPrimStep *step; /* from the one before */
  size_t nstep;
  TdAutoMoves moves;
  uint32_t uid, sym; /* that statements and symbols made from it go on from */
  int64_t cycles, dsp, bram;
  int64_t steps; /* of all moves to it */
} State;

typedef struct Auto {
  TdRewrite *r;
  const TdAutoAsk *ask;
  TdArena *arena;
  TdDiag why; /* of the program as it is */
} Auto;

/* ---- cost ---- */

/* Work on a CPU, in statements. */
typedef struct Work {
  const Auto *q;
  TdAsk ask;
  const TdProg *prog;
} Work;

static double unit_work(const Work *w, const TdUnit *u, bool alone);

static double elements(const Work *w, const TdType *t) {
  double n = 1;
  int64_t extent;
  for (int d = 0; t->kind == TD_T_TENSOR && d < t->rank; d++)
    if (td_unit_value(w->ask.unit, t->dim[d], &extent)) n *= (double)extent;
  return n;
}

/* The statements that s does, one after the other; a parallel loop shares them among threads.
 * `alone`: no loop around it is parallel. */
static double work(const Work *w, const TdStmt *s, bool alone) {
  double sum = 1;
  int64_t trip = 1, threads = w->q->ask->threads;
  bool parallel = alone && s->kind == TD_STMT_FOR && td_attrs_get(s->attrs, TD_ATTR_PARALLEL);
  td_ctx_enter(w->q->r->session->ctx);
  if (s->kind == TD_STMT_FOR && !td_range_trip(&w->ask, s, &trip)) trip = 16;
  if (s->kind == TD_STMT_SET) sum += elements(w, s->expr[0]->type);
  for (uint32_t i = 0; i < s->nkid; i++) sum += work(w, s->kid[i], alone && !parallel);
  if (s->kind == TD_STMT_CALL) {
    const TdUnit *u = td_prog_unit(w->prog, s->sym);
    if (u && u->body) sum += unit_work(w, u, alone);
  }
  td_ctx_leave(w->q->r->session->ctx);
  if (parallel && threads > 1) return sum * (double)((trip + threads - 1) / threads) + THREAD_START;
  return sum * (double)trip;
}

static double unit_work(const Work *w, const TdUnit *u, bool alone) {
  Work of = *w;
  of.ask.unit = u;
  return work(&of, u->body, alone);
}

static double program_work(const Auto *q, TdArena *a, const TdProg *p) {
  const TdUnit *u = td_prog_root(p);
  Work w = {q, {q->r->affine, a, p, u}, p};
  double sum = 0;
  if (u->body) return unit_work(&w, u, true);
  for (size_t i = 0; i < u->nrun; i++) sum += unit_work(&w, td_prog_unit(p, u->run[i].unit), true);
  return sum;
}

/* Fills in what s costs; false with d filled when that cannot be known. */
static bool measure(const Auto *q, TdArena *a, State *s, TdDiag *d) {
  TdCost c;
  if (!q->ask->device) {
    s->cycles = (int64_t)program_work(q, a, s->prog);
    return true;
  }
  if (!td_cost_estimate(q->r->affine, a, s->prog, q->ask->device, &c, d)) return false;
  s->cycles = c.cycles;
  s->dsp = c.area.dsp;
  s->bram = c.area.bram;
  return true;
}

static bool is_within(int64_t n, int64_t most) {
  return most < 0 || n <= most;
}

/* ---- points ---- */

/* The program after a move; its steps are those that were legal. */
static bool take_move(Auto *q, TdArena *a, const State *from, const TdAutoMove *m, State *s) {
  TdPrimStep did[TD_AUTO_STEPS];
  q->r->store->next_uid = from->uid;
  q->r->store->next_sym = from->sym;
  s->prog = from->prog;
  for (size_t i = 0; i < m->n; i++) {
    const TdProg *p = td_take_try(q->r, a, s->prog, m->step[i]);
    if (!p && i == 0) return false;
    if (p) did[s->nstep++] = m->step[i];
    if (p) s->prog = p;
  }
  s->step = td_arena_copy(q->arena, did, s->nstep * sizeof *did);
  s->steps = from->steps + (int64_t)s->nstep;
  return true;
}

static TdSearchAnswer take(void *ud, const TdSearch *search, TdSearchPoint *x) {
  Auto *q = ud;
  TdStore *st = q->r->store;
  const State *from = x->from ? x->from->is : NULL;
  State s = {.prog = q->r->prog};
  TdArena *a = td_arena_scratch(q->r->session->ctx);
  TdDiag quiet = {.arena = q->arena};
  TdMark mark = td_arena_mark(st->arena);
  bool good = !from || take_move(q, a, from, &from->moves.at[x->move], &s);
  s.uid = st->next_uid;
  s.sym = st->next_sym;
  if (good) {
    TdText t = td_text_new(a);
    td_print_prog(&t, s.prog);
    x->key = td_map_hash(td_text_str(&t), t.n);
    good = !td_search_is_known(search, x->key) && measure(q, a, &s, &quiet);
  }
  if (!from && !good) q->why = quiet;
  td_arena_free(a);
  if (!good) td_arena_release(st->arena, mark);
  if (!good) return TD_SEARCH_NONE;
  const int64_t cost[TD_SEARCH_COSTS] = {s.cycles, s.dsp, s.bram, s.steps};
  memcpy(x->cost, cost, sizeof cost);
  memcpy(x->rank, cost, sizeof cost);
  x->solves = is_within(s.dsp, q->ask->dsp) && is_within(s.bram, q->ask->bram);
  x->is = td_arena_copy(q->arena, &s, sizeof s);
  return TD_SEARCH_MADE;
}

static TdSearchAnswer open(void *ud, TdSearchPoint *p) {
  Auto *q = ud;
  State *s = p->is;
  q->r->store->next_uid = s->uid;
  q->r->store->next_sym = s->sym;
  s->moves = td_auto_moves(q->r, q->arena, s->prog, !q->ask->device);
  p->moves = s->moves.n;
  return TD_SEARCH_MADE;
}

/* ---- the result ---- */

static const TdProg *refuse(const Auto *q, const TdSearchResult *out) {
  const TdUnit *u = td_prog_root(q->r->prog);
  if (!out->nmade) {
    *q->r->diag = q->why;
    return NULL;
  }
  const State *s = out->made[0]->is;
  td_util_refuse(q->r, TD_ILLEGAL, "infeasible", u->loc,
                 "no schedule of '%s' with %lld DSP and %lld BRAM was found: as it is it needs "
                 "%lld and %lld",
                 u->sym->name, (long long)q->ask->dsp, (long long)q->ask->bram, (long long)s->dsp,
                 (long long)s->bram);
  td_diag_help(q->r->diag, "allow more of the device");
  return NULL;
}

static void tell(const Auto *q, const TdSearchResult *out, const TdSearchLimits *limits) {
  TdArena *a = q->r->arena;
  TdText t = td_text_new(a);
  const State *as_it_is = out->made[0]->is, *best = out->best->is;
  const char *unit = q->ask->device
                         ? td_text_fmt(a, "cycles (%s, as estimated)", q->ask->device->name)
                         : td_text_fmt(a, "statements one after the other on %lld threads",
                                       (long long)q->ask->threads);
  td_search_tell(&t, out, limits, unit);
  td_vec_push(a, &q->r->note, td_text_str(&t));
  td_vec_push(a, &q->r->note,
              td_text_fmt(a, "without these steps: %lld", (long long)as_it_is->cycles));
  if (!q->ask->device) return;
  td_vec_push(a, &q->r->note,
              td_text_fmt(a, "it takes %lld DSP of %lld and %lld BRAM of %lld",
                          (long long)best->dsp, (long long)q->ask->dsp, (long long)best->bram,
                          (long long)q->ask->bram));
}

typedef TD_VEC(TdPrimStep) Steps;

/* All steps to x, in order. */
static Steps steps_to(const Auto *q, const TdSearchPoint *x) {
  size_t n;
  const TdSearchPoint **way = td_search_way(q->r->arena, x, &n);
  Steps all = {0};
  for (size_t i = 0; i < n; i++) {
    const State *s = way[i]->is;
    for (size_t k = 0; k < s->nstep; k++) td_vec_push(q->r->arena, &all, s->step[k]);
  }
  return all;
}

/* Whether the steps without the one at `out` are legal and cost no more than `best`. */
static bool is_idle(Auto *q, const State *root, Steps steps, size_t out, const State *best) {
  TdArena *a = td_arena_scratch(q->r->session->ctx);
  TdMark mark = td_arena_mark(q->r->store->arena);
  TdDiag quiet = {.arena = a};
  State s = {.prog = root->prog};
  q->r->store->next_uid = root->uid;
  q->r->store->next_sym = root->sym;
  for (size_t i = 0; i < steps.n && s.prog; i++)
    if (i != out) s.prog = td_take_try(q->r, a, s.prog, steps.at[i]);
  bool idle = s.prog && measure(q, a, &s, &quiet) && s.cycles <= best->cycles &&
              s.dsp <= best->dsp && s.bram <= best->bram;
  td_arena_release(q->r->store->arena, mark);
  td_arena_free(a);
  return idle;
}

/* Leaves out steps, the last first, without which the rest does as well. */
static Steps without_idle(Auto *q, const State *root, Steps steps, const State *best) {
  for (size_t i = steps.n; i-- > 0;) {
    if (!is_idle(q, root, steps, i, best)) continue;
    steps.n--;
    for (size_t k = i; k < steps.n; k++) steps.at[k] = steps.at[k + 1];
  }
  return steps;
}

const TdProg *td_search_auto(TdRewrite *r, const TdAutoAsk *ask) {
  Auto q = {.r = r, .ask = ask, .arena = r->arena};
  TdMark mark = td_arena_mark(r->store->arena);
  uint32_t uid = r->store->next_uid, sym = r->store->next_sym;
  TdSearchSpace space = {&q, 1, open, take, true};
  TdSearchLimits limits = ask->search;
  if (!limits.steps) limits.steps = SOME_STEPS;
  TdSearchResult out = td_search_run(r->arena, &space, limits);
  r->store->next_uid = uid;
  r->store->next_sym = sym;
  if (!out.best) return refuse(&q, &out);
  tell(&q, &out, &limits);
  Steps steps = without_idle(&q, out.made[0]->is, steps_to(&q, out.best), out.best->is);
  r->store->next_uid = uid;
  r->store->next_sym = sym;
  td_arena_release(r->store->arena, mark);
  const TdProg *p = r->prog;
  const char *const *made;
  for (size_t i = 0; i < steps.n && p; i++) p = td_take_part(r, p, steps.at[i], &made);
  return p;
}
