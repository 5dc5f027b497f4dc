/* point.c - sizes and inputs at which a kernel and its schedules are compared. */
#include "tests/fuzz/point.h"

#include <math.h>

#include "ir/at.h"

enum { MOST_STEPS = 400000, DRAWS = 4 };

TdEvalOptions point_options(const Points *ps) {
  return (TdEvalOptions){.steps = MOST_STEPS, .bytes = (size_t)256 << 20, .seed = ps->seed | 1};
}

/* A random value of scalar type t: mostly small, sometimes at the ends of its range. */
static uint64_t random_bits(Rng *r, const TdType *t) {
  static const double special[] = {0.0, -0.0, 1.0, 65504.0, 1e-30, 1e30, (double)INFINITY};
  if (t->kind == TD_T_FLOAT) {
    double x = rng_chance(r, 6) ? RNG_PICK(r, special) : (double)(rng_below(r, 4001) - 2000) / 64.0;
    return td_num_of_double(td_num_round(t, x));
  }
  if (rng_chance(r, 70)) return td_num_wrap(t, (uint64_t)(int64_t)(rng_below(r, 41) - 16));
  return td_num_wrap(t, rng_next(r));
}

static TdTensor *random_tensor(Rng *r, TdArena *a, const TdType *t) {
  TdTensor *x = td_tensor_new(a, t, false);
  int64_t at[TD_MAX_RANK] = {0};
  if (td_tensor_count(x) == 0) return x;
  do {
    td_tensor_put(x, at, random_bits(r, td_type_scalar(t)));
  } while (td_tensor_next(x, at));
  return x;
}

/* Random arguments for the root of p; its sizes have values. */
static Inputs random_inputs(Rng *r, TdArena *a, const TdProg *p) {
  const TdUnit *u = td_prog_root(p);
  Inputs in = {TD_NEWN(a, TdEvalArg, u->nparam), u->nparam};
  for (size_t i = 0; i < u->nparam; i++) {
    const TdType *t = u->param[i].type;
    if (t->kind == TD_T_TENSOR)
      in.arg[i].tensor = random_tensor(r, a, td_unit_type(p->store->session, u, t));
    else
      in.arg[i].scalar = random_bits(r, t);
  }
  return in;
}

Inputs point_copy(TdArena *a, Inputs in) {
  Inputs out = {td_arena_copy(a, in.arg, in.n * sizeof *in.arg), in.n};
  for (size_t i = 0; i < in.n; i++) {
    if (!in.arg[i].tensor) continue;
    out.arg[i].tensor = td_tensor_new(a, in.arg[i].tensor->type, false);
    td_tensor_copy(td_arena_ctx(a), out.arg[i].tensor, in.arg[i].tensor);
  }
  return out;
}

const TdEvalArg *point_concrete(TdArena *a, const TdProg *p, Inputs in) {
  TdEvalArg *out = TD_NEWN(a, TdEvalArg, in.n);
  for (size_t i = 0; i < in.n; i++) {
    if (td_prog_root(p)->param[i].sym->name[0] != CONTROL_PREFIX) continue;
    out[i] = in.arg[i];
    out[i].has_scalar = !in.arg[i].tensor;
  }
  return out;
}

/* Whether two tensors hold the same; else *at is where not. All NaNs are one. */
static bool same_tensor(const TdTensor *x, const TdTensor *y, int64_t *at) {
  const TdType *t = td_type_scalar(x->type);
  for (int d = 0; d < TD_MAX_RANK; d++) at[d] = 0;
  if (td_tensor_count(x) == 0) return true;
  do {
    uint64_t v = td_tensor_get(x, at), w = td_tensor_get(y, at);
    if (td_domain_bits(t, v) != td_domain_bits(t, w)) return false;
  } while (td_tensor_next(x, at));
  return true;
}

const char *point_difference(TdArena *a, const TdProg *p, Inputs x, Inputs y) {
  for (size_t i = 0; i < x.n; i++) {
    int64_t at[TD_MAX_RANK];
    if (!x.arg[i].tensor || same_tensor(x.arg[i].tensor, y.arg[i].tensor, at)) continue;
    TdText t = td_text_new(a);
    td_text_puts(&t, td_prog_root(p)->param[i].sym->name);
    for (int d = 0; d < td_tensor_rank(x.arg[i].tensor); d++)
      td_text_putf(&t, "[%lld]", (long long)at[d]);
    const TdType *e = td_type_scalar(x.arg[i].tensor->type);
    td_text_puts(&t, " is ");
    td_num_print(&t, e, td_tensor_get(y.arg[i].tensor, at));
    td_text_puts(&t, ", was ");
    td_num_print(&t, e, td_tensor_get(x.arg[i].tensor, at));
    return td_text_str(&t);
  }
  return NULL;
}

const TdProg *point_program(const Points *ps, const Point *x, const TdProg *p, TdDiag *d) {
  TdSize size[SIZE_NAMES];
  size_t n = 0;
  for (size_t i = 0; i < x->nsize; i++) {
    const TdSize *was = &ps->at[0].size[i];
    if (td_unit_size(td_prog_root(p), was->name))
      size[n++] = x->size[i];
    else if (was->value != x->size[i].value)
      return td_diag_set(d, TD_USAGE, "pinned", (TdLoc){0}, "'%s' is pinned", was->name), NULL;
  }
  return n ? td_at_sizes(p, size, n, d) : p;
}

bool point_run(const Points *ps, TdArena *a, const TdProg *p, Inputs in, TdDiag *d) {
  TdEvalOptions o = point_options(ps);
  TdEvalResult result;
  o.state = td_state_new(a);
  for (unsigned k = 0; k < ps->calls; k++)
    if (!td_eval_run(a, p, in.arg, in.n, &o, d, &result)) return false;
  return true;
}

/* Draws inputs k of a point and runs its kernel on them; false with d filled when no run is to be
 * had, which a fault is not. */
static bool run_input(const Points *ps, Point *x, int k, Rng *r, TdDiag *d) {
  TdDiag own = {.arena = ps->arena};
  x->given[k] = random_inputs(r, ps->arena, x->kernel);
  x->left[k] = point_copy(ps->arena, x->given[k]);
  x->fault[k] = NULL;
  x->decided[k] = false;
  if (!point_run(ps, ps->arena, x->kernel, x->left[k], &own)) {
    *d = own;
    x->fault[k] = own.code;
    return own.kind == TD_ILLEGAL;
  }
  TdEvalOptions o = point_options(ps);
  const TdEvalArg *concrete = point_concrete(ps->arena, x->kernel, x->given[k]);
  TdEvalAnswer same =
      td_eval_compare(ps->arena, x->kernel, x->kernel, TD_LEVEL_STRICT, concrete, &o);
  x->decided[k] = same.verdict == TD_EVAL_EQUAL;
  return true;
}

/* Runs the kernel at a point on all inputs, of which the first are drawn until it does not fault;
 * false with d filled when it always does. */
static bool run_kernel(const Points *ps, Point *x, TdDiag *d) {
  Rng r = rng_of(ps->seed, 1, 0);
  for (size_t i = 0; i < x->nsize; i++) r = rng_of(r.key, (uint64_t)x->size[i].value, i);
  for (int k = 0; k < INPUTS; k++) {
    bool ran = run_input(ps, x, k, &r, d);
    for (int tries = 0; ran && k == 0 && x->fault[k] && tries < DRAWS; tries++)
      ran = run_input(ps, x, k, &r, d);
    if (!ran || (k == 0 && x->fault[k])) return false;
  }
  return true;
}

static bool is_no_state(void *ud, const TdStmt *s) {
  (void)ud;
  return s->kind != TD_STMT_LOCAL || s->cls != TD_LOCAL_STATE;
}

/* Whether p keeps anything from call to call. */
static bool has_state(const TdProg *p) {
  for (size_t i = 0; i < p->nunit; i++)
    if (p->unit[i]->body &&
        !td_walk_stmt(p->store->session->ctx, p->unit[i]->body, is_no_state, NULL))
      return true;
  return false;
}

bool point_start(Points *ps, TdArena *a, const TdProg *kernel, uint64_t seed, TdDiag *d) {
  *ps = (Points){.arena = a, .kernel = kernel, .seed = seed, .n = 1};
  const TdUnit *u = td_prog_root(kernel);
  Point *x = &ps->at[0];
  x->kernel = kernel;
  ps->calls = has_state(kernel) ? CALLS : 1;
  ps->exhausted = u->nsize == 0 || u->nsize > SIZE_NAMES;
  for (size_t i = 0; i < u->nsize && i < SIZE_NAMES; i++) x->size[x->nsize++] = u->size[i];
  return run_kernel(ps, x, d);
}

bool point_add(Points *ps) {
  Rng r = rng_of(ps->seed, 2, (uint64_t)ps->n);
  for (int tries = 0; tries < 6 && ps->n < POINTS && !ps->exhausted; tries++) {
    Point *x = &ps->at[ps->n];
    TdDiag quiet = {.arena = ps->arena};
    *x = (Point){.nsize = ps->at[0].nsize};
    for (size_t i = 0; i < x->nsize; i++) {
      x->size[i] = ps->at[0].size[i];
      if (rng_chance(&r, 35)) continue;
      x->size[i].value = LEAST_SIZE + rng_below(&r, MOST_SIZE - LEAST_SIZE + 2);
    }
    x->kernel = point_program(ps, x, ps->kernel, &quiet);
    if (!x->kernel || !run_kernel(ps, x, &quiet)) continue;
    ps->n++;
    return true;
  }
  ps->exhausted = true;
  return false;
}
