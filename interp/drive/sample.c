/* sample.c - two programs run on random numbers: do they leave other values? */
#include "sample.h"

#include <math.h>

/* The most inputs - random ones, and then those that count: element n of input k is k + n modulo
 * COUNTS, so that each takes all values of a byte - and what they may cost in all: elements drawn,
 * and statements and elements run. Every so many random inputs one of numbers at edges, for what
 * differs on pairs of them alone. */
enum { RANDOM = 120, COUNTS = 256, EDGES = 3, MOST_WORK = 3000000 };

/* Two programs, and what they are run on. */
typedef struct Runs {
  TdArena *arena; /* given back after each input */
  const TdProg *prog[2];
  const TdUnit *root;
  const TdEvalArg *concrete;
  const TdEvalOptions *o;
  uint64_t random, work;
  int64_t count; /* the next integer of an input that counts */
  bool loose;    /* numbers that are near to each other are the same */
} Runs;

static uint64_t next(Runs *r) {
  return r->random = td_map_mix(r->random, 0x9E3779B97F4A7C15u);
}

/* Random numbers: `count` integers from `first` on, in floats with a fraction of this size; no
 * integers: all of the type's, floats from -1 to 1. Now and then, `zeros` times in eight, 0; and as
 * often, where `edges` is set, a number at an edge of its type. */
typedef struct Range {
  int64_t first;
  uint64_t count;
  double fraction;
  unsigned zeros;
  bool edges;
} Range;
static const Range ranges[] = {
    {0, 0, 1, 0, false},    {-16, 41, 1, 0, false}, {0, 4, 0, 0, false},    {1, 9, 1, 0, false},
    {-1, 3, 0.1, 0, false}, {0, 1, 0.1, 0, false},  {-9, 9, 0.5, 1, false}, {0, 2, 1, 5, false},
    {0, 1, 0, 0, false},    {0, 0, 1, 6, true}};
enum { RANGES = sizeof ranges / sizeof *ranges };

/* An integer as a value of scalar type t. */
static uint64_t whole_value(const TdType *t, int64_t v) {
  return t->kind == TD_T_FLOAT ? td_num_of_double(td_num_round(t, (double)v))
                               : td_num_wrap(t, (uint64_t)v);
}

/* A number at an edge of scalar type t: not a number, infinite, -0, tiny; the least and greatest.
 */
static uint64_t edge_value(const TdType *t, uint64_t random) {
  static const double floats[] = {NAN, INFINITY, -INFINITY, -0.0, 1e-45, 3e38};
  if (t->kind == TD_T_FLOAT) return td_num_of_double(td_num_round(t, floats[random % 6]));
  uint64_t least = (uint64_t)1 << ((t->w < 64 ? t->w : 64) - 1);
  return td_num_wrap(t, least - random % 2);
}

/* A random value of scalar type t; of the inputs that count (no range), the next integer. */
static uint64_t draw(Runs *r, const TdType *t, const Range *range) {
  if (!range) return whole_value(t, r->count++ % COUNTS);
  uint64_t u = next(r), v = next(r);
  int64_t whole = range->count ? range->first + (int64_t)(v % range->count) : 0;
  if (u >> 61 < range->zeros) return range->edges ? edge_value(t, v) : 0;
  if (t->kind != TD_T_FLOAT) return whole_value(t, range->count ? whole : (int64_t)v);
  double fraction = ldexp((double)(u & UINT32_MAX), -32);
  double x = range->count ? (double)whole + range->fraction * fraction : 2 * fraction - 1;
  return td_num_of_double(td_num_round(t, x));
}

static TdTensor *tensor_of(Runs *r, const TdType *t, const Range *range) {
  TdTensor *x = td_tensor_new(r->arena, t, false);
  int64_t at[TD_MAX_RANK] = {0};
  r->work += (uint64_t)td_tensor_count(x);
  if (td_tensor_count(x) == 0) return x;
  do {
    td_tensor_put(x, at, draw(r, t->elem, range));
  } while (td_tensor_next(x, at));
  return x;
}

/* Arguments of input k, those that are concrete as they are; NULL for programs with ports.
 * Of the first inputs all arguments have the same range. */
static TdEvalArg *arguments_of(Runs *r, size_t k) {
  const TdUnit *u = r->root;
  TdEvalArg *arg = TD_NEWN(r->arena, TdEvalArg, u->nparam + 1);
  for (size_t i = 0; i < u->nparam; i++) {
    const TdType *t = td_unit_type(r->prog[0]->store->session, u, u->param[i].type);
    size_t which = k < RANGES ? k : k % EDGES == 0 ? RANGES - 1 : next(r) % RANGES;
    const Range *range = k < RANDOM ? &ranges[which] : NULL;
    bool given = r->concrete && (r->concrete[i].tensor || r->concrete[i].has_scalar);
    if (t->kind == TD_T_PORT) return NULL;
    r->count = (int64_t)k - RANDOM;
    if (given)
      arg[i] = r->concrete[i];
    else if (t->kind == TD_T_TENSOR)
      arg[i].tensor = tensor_of(r, t, range);
    else
      arg[i].scalar = draw(r, t, range);
  }
  return arg;
}

/* Runs program k, whose states are kept in `state`, on copies of the arguments, which are returned;
 * NULL: it does not end well, and d says why. */
static TdEvalArg *run(Runs *r, int k, TdEvalState *state, const TdEvalArg *given, TdDiag *d) {
  size_t n = r->root->nparam;
  TdEvalArg *arg = td_arena_copy(r->arena, given, (n + 1) * sizeof *given);
  for (size_t i = 0; i < n; i++) {
    if (!given[i].tensor) continue;
    arg[i].tensor = td_tensor_new(r->arena, given[i].tensor->type, false);
    td_tensor_copy(td_arena_ctx(r->arena), arg[i].tensor, given[i].tensor);
  }
  TdEvalResult result;
  TdEvalOptions o = *r->o;
  o.state = state;
  bool ok = td_eval_run(r->arena, r->prog[k], arg, n, &o, d, &result);
  r->work += ok ? result.steps : r->o->steps;
  return ok ? arg : NULL;
}

/* Whether two values of type t are near to each other; what is not finite is near to all. */
static bool is_near(const TdType *t, uint64_t v, uint64_t w) {
  double x = td_num_to_double(t, v), y = td_num_to_double(t, w);
  if (!isfinite(x) || !isfinite(y)) return true;
  return fabs(x - y) <= 0.05 * (1 + fabs(x) + fabs(y));
}

/* The first element in which two tensors differ, `first` before all others; -1: none. */
static int64_t difference(const Runs *r, const TdTensor *x, const TdTensor *y, int64_t first) {
  const TdType *t = td_type_scalar(x->type);
  int64_t at[TD_MAX_RANK] = {0}, k = 0, found = -1;
  if (td_tensor_count(x) == 0) return -1;
  do {
    uint64_t v = td_tensor_get(x, at), w = td_tensor_get(y, at);
    bool same = td_domain_bits(t, v) == td_domain_bits(t, w) || (r->loose && is_near(t, v, w));
    if (!same && (found < 0 || k == first)) found = k;
  } while (k++, td_tensor_next(x, at));
  return found;
}

/* Whether the arguments differ: in element *at or, if they are all looked at, elsewhere. */
static bool arguments_differ(const Runs *r, const TdEvalArg *x, const TdEvalArg *y, bool all,
                             TdElement *at) {
  const TdTensor *t = x[at->param].tensor;
  int64_t k = t ? difference(r, t, y[at->param].tensor, at->index) : -1;
  if (t && k == at->index) return true;
  for (unsigned i = 0; all && i < r->root->nparam; i++) {
    if (x[i].tensor) k = difference(r, x[i].tensor, y[i].tensor, 0);
    if (!x[i].tensor || k < 0) continue;
    *at = (TdElement){i, k};
    return true;
  }
  return false;
}

/* Both programs on input k, in the last of the calls that are asked for. */
static TdValues compare(Runs *r, size_t k, bool all, TdElement *at) {
  TdDiag d[2] = {{.arena = r->arena}, {.arena = r->arena}};
  TdEvalState *state[2] = {td_state_new(r->arena), td_state_new(r->arena)};
  const TdEvalArg *given, *x, *y;
  for (unsigned call = 0; call <= r->o->call; call++) {
    given = arguments_of(r, k);
    x = given ? run(r, 0, state[0], given, &d[0]) : NULL;
    y = x ? run(r, 1, state[1], given, &d[1]) : NULL;
    if (!y) break;
  }
  if (x && !y && d[1].kind == TD_ILLEGAL) return TD_VALUES_DIFFER;
  if (!x || !y) return TD_VALUES_UNKNOWN;
  return arguments_differ(r, x, y, all, at) ? TD_VALUES_DIFFER : TD_VALUES_SAME;
}

TdValues td_sample_compare(TdArena *a, const TdProg *x, const TdProg *y, const TdEvalArg *concrete,
                           const TdEvalOptions *o, bool all, TdElement *at) {
  Runs r = {td_arena_inner(a), {x, y}, td_prog_root(x), concrete, o, 1, 0, 0, false};
  TdValues found = TD_VALUES_UNKNOWN;
  TdMark mark = td_arena_mark(r.arena);
  for (size_t k = 0; k < RANDOM + COUNTS && r.work < MOST_WORK && found != TD_VALUES_DIFFER; k++) {
    TdValues one = compare(&r, k, all, at);
    if (one != TD_VALUES_UNKNOWN) found = one;
    td_arena_release(r.arena, mark);
  }
  return found;
}

bool td_sample_fault(TdArena *a, const TdProg *x, const TdProg *y, const TdEvalArg *concrete,
                     const TdEvalOptions *o, TdDiag *d) {
  Runs r = {td_arena_inner(a), {x, y}, td_prog_root(x), concrete, o, 1, 0, 0, false};
  TdMark mark = td_arena_mark(r.arena);
  for (size_t k = 0; k < RANDOM && r.work < MOST_WORK; k++) {
    TdDiag quiet = {.arena = r.arena}, fault = {.arena = r.arena};
    const TdEvalArg *given = arguments_of(&r, k);
    bool ran = given && run(&r, 0, td_state_new(r.arena), given, &quiet);
    if (ran && !run(&r, 1, td_state_new(r.arena), given, &fault) && fault.kind == TD_ILLEGAL) {
      *d = fault;
      return true;
    }
    td_arena_release(r.arena, mark);
  }
  return false;
}

static bool is_no_float(void *ud, const TdExpr *e) {
  (void)ud;
  return td_type_scalar(e->type)->kind != TD_T_FLOAT;
}

/* Whether p computes in floats anywhere. */
static bool has_floats(const TdProg *p) {
  for (size_t i = 0; i < p->nunit; i++)
    if (p->unit[i]->body &&
        !td_walk_exprs(p->store->session->ctx, p->unit[i]->body, is_no_float, NULL))
      return true;
  return false;
}

TdValues td_sample_confirm(TdArena *a, const TdProg *x, const TdProg *y, const TdEvalArg *concrete,
                           const TdEvalOptions *o, TdElement *at) {
  enum { INPUTS = 24, WORK = 200000 };
  Runs r = {td_arena_inner(a), {x, y}, td_prog_root(x), concrete, o, 2, 0, 0, false};
  size_t differ = 0, same = 0;
  TdMark mark = td_arena_mark(r.arena);
  r.loose = has_floats(x) || has_floats(y);
  for (size_t k = 0; k < INPUTS && r.work < WORK && (r.loose || !differ); k++) {
    TdElement here = {0, 0};
    TdValues one = compare(&r, k, true, &here);
    if (one == TD_VALUES_DIFFER && !differ) *at = here;
    differ += one == TD_VALUES_DIFFER;
    same += one == TD_VALUES_SAME;
    td_arena_release(r.arena, mark);
  }
  if (r.loose ? differ > 2 * same : differ > 0) return TD_VALUES_DIFFER;
  return differ || same ? TD_VALUES_SAME : TD_VALUES_UNKNOWN;
}
