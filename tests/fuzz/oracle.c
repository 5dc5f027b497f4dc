/* oracle.c - is a program still its kernel? */
#include "tests/fuzz/oracle.h"

#include <string.h>

const char *const wrong_text[WRONGS] = {
#define WRONG(id, text) text,
#include "tests/fuzz/wrongs.def"
};

static const Outcome fine = {WRONG_NOTHING, NULL};

/* "M = 5, N = 7: WORDS". */
static Outcome at_point(TdArena *a, Wrong wrong, const Point *x, const char *words) {
  TdText t = td_text_new(a);
  for (size_t i = 0; i < x->nsize; i++)
    td_text_putf(&t, "%s%s = %lld", i ? ", " : "", x->size[i].name, (long long)x->size[i].value);
  td_text_putf(&t, "%s%s", x->nsize ? ": " : "", words);
  return (Outcome){wrong, td_text_str(&t)};
}

/* The comparison of x and y at the strictest level that holds up to `level`. */
static TdEvalAnswer compare_call(Oracle *o, const TdProg *x, const TdProg *y, TdLevel level,
                                 const TdEvalArg *concrete, unsigned call) {
  TdEvalOptions options = point_options(o->points);
  options.call = call;
  TdEvalAnswer r = td_eval_compare(o->arena, x, y, TD_LEVEL_STRICT, concrete, &options);
  for (TdLevel l = TD_LEVEL_FUSED; r.verdict == TD_EVAL_DIFFERS && l <= level; l++)
    r = td_eval_compare(o->arena, x, y, l, concrete, &options);
  return r;
}

/* The same of each call in turn. */
static TdEvalAnswer compare(Oracle *o, const TdProg *x, const TdProg *y, TdLevel level,
                            const TdEvalArg *concrete) {
  TdEvalAnswer r = {.verdict = TD_EVAL_EQUAL};
  for (unsigned k = 0; k < o->points->calls && r.verdict == TD_EVAL_EQUAL; k++)
    r = compare_call(o, x, y, level, concrete, k);
  return r;
}

/* A run that did not end well: a fault, unless it only took too long for the fuzzer. */
static Outcome not_run(Oracle *o, const Point *x, const TdDiag *d) {
  if (d->kind != TD_LIMIT) return at_point(o->arena, WRONG_FAULT, x, d->message);
  o->counts->undecided++;
  return fine;
}

/* Whether a program leaves the kernel's values at a point, bit for bit. */
static bool same_data(Oracle *o, const Point *x, const TdProg *p, int k) {
  TdDiag quiet = {.arena = o->arena};
  Inputs in = point_copy(o->arena, x->given[k]);
  return point_run(o->points, o->arena, p, in, &quiet) &&
         !point_difference(o->arena, x->kernel, x->left[k], in);
}

/* The expressions of a program at a point against the kernel's. Sums of exact numbers in another
 * order may be beyond the algebra (those of values that were cut to fewer bits before are): there
 * the values decide. */
static Outcome same_expressions(Oracle *o, const Point *x, const TdProg *p, int k,
                                Promise promise) {
  if (!x->decided[k]) {
    o->counts->undecided++;
    return fine;
  }
  const TdEvalArg *concrete = point_concrete(o->arena, x->kernel, x->given[k]);
  TdEvalAnswer r = compare(o, x->kernel, p, promise.level, concrete);
  if (r.verdict == TD_EVAL_EQUAL) return fine;
  if (r.verdict == TD_EVAL_DIFFERS && promise.level > TD_LEVEL_FUSED && same_data(o, x, p, k)) {
    o->counts->regrouped++;
    return fine;
  }
  if (r.verdict == TD_EVAL_DIFFERS) return at_point(o->arena, WRONG_DIFFERS, x, r.element);
  if (r.diag.kind == TD_UNSUPPORTED) {
    o->counts->undecided++;
    return fine;
  }
  return not_run(o, x, &r.diag);
}

/* The values that a program leaves at a point against the kernel's, or that both fault. */
static Outcome same_values(Oracle *o, const Point *x, const TdProg *p, int k, Promise promise) {
  TdDiag d = {.arena = o->arena};
  Inputs in = point_copy(o->arena, x->given[k]);
  bool ran = point_run(o->points, o->arena, p, in, &d);
  if (x->fault[k] && ran && promise.faults)
    return at_point(o->arena, WRONG_NO_FAULT, x, x->fault[k]);
  if (x->fault[k]) return fine;
  if (!ran) return not_run(o, x, &d);
  const char *words = promise.values ? point_difference(o->arena, x->kernel, x->left[k], in) : NULL;
  return words ? at_point(o->arena, WRONG_VALUES, x, words) : fine;
}

/* p against the kernel at one point. */
static Outcome same_at(Oracle *o, const Point *x, const TdProg *p, Promise promise) {
  Outcome out = fine;
  int n = x == &o->points->at[0] ? INPUTS : 1;
  for (int k = 0; k < n && !out.wrong; k++) {
    if (!x->fault[k] && (k == 0 || !x->decided[0])) out = same_expressions(o, x, p, k, promise);
    if (!out.wrong) out = same_values(o, x, p, k, promise);
  }
  o->counts->points++;
  return out;
}

/* p against the kernel at its own sizes and two others that p accepts. */
static Outcome same_at_points(Oracle *o, const TdProg *p, Promise promise) {
  Points *ps = o->points;
  int done = 0;
  for (int i = 0; done < ENOUGH_POINTS && (i < ps->n || point_add(ps)); i++) {
    TdDiag d = {.arena = o->arena};
    const TdProg *at = point_program(ps, &ps->at[i], p, &d);
    if (!at && i == 0) return (Outcome){WRONG_SIZES, d.message};
    if (!at) continue;
    Outcome out = same_at(o, &ps->at[i], at, promise);
    if (out.wrong) return out;
    done++;
  }
  return fine;
}

/* Each parallel loop of p backwards, at the kernel's own sizes. */
static Outcome any_order(Oracle *o, const TdProg *p, Promise promise) {
  const TdProg *back;
  for (int n = 0; (back = reverse_parallel(o->arena, p, n)); n++) {
    Outcome out = same_at(o, &o->points->at[0], back, promise);
    if (out.wrong) return (Outcome){WRONG_PARALLEL, out.words};
  }
  return fine;
}

Outcome oracle_program(Oracle *o, const TdProg *p, Promise promise) {
  TdDiag d = {.arena = o->arena};
  if (!td_verify_prog(p, &d)) return (Outcome){WRONG_STRUCTURE, d.message};
  Outcome out = same_at_points(o, p, promise);
  return out.wrong ? out : any_order(o, p, promise);
}

bool oracle_is_same(Oracle *o, const TdProg *p) {
  return !oracle_program(o, p, promise_all).wrong;
}

/* The lines in which two texts differ. */
static const char *differing_lines(TdArena *a, const char *x, const char *y) {
  TdText t = td_text_new(a);
  td_text_diff(&t, x, y, 0);
  return td_text_str(&t);
}

/* Whether a size of p is none in q, which was loaded from p's text: a condition on sizes alone
 * pins them, as it does in hand-written source. */
static bool pins_size(const TdProg *p, const TdProg *q) {
  for (size_t k = 0; k < p->nunit; k++) {
    const TdUnit *u = p->unit[k], *v = td_prog_find(q, u->sym->name);
    for (size_t i = 0; v && i < u->nsize; i++)
      if (!td_unit_size(v, u->size[i].name)) return true;
  }
  return false;
}

/* A program with pinned sizes must still be the kernel at its own. */
static Outcome same_when_pinned(Oracle *o, const TdProg *q, Promise promise) {
  o->counts->pinned++;
  Outcome out = same_at(o, &o->points->at[0], q, promise);
  return out.wrong ? (Outcome){WRONG_ROUND_TRIP, out.words} : fine;
}

Outcome oracle_round_trip(Oracle *o, const TdProg *p, Promise promise) {
  TdText text = td_text_new(o->arena), again = td_text_new(o->arena);
  td_print_prog(&text, p);
  const char *why = NULL;
  const TdProg *q = side_load(o->side, td_text_str(&text), &why);
  if (!q) return (Outcome){WRONG_PRINT, why};
  td_print_prog(&again, q);
  bool same = strcmp(td_text_str(&text), td_text_str(&again)) == 0;
  if (!same && pins_size(p, q)) return same_when_pinned(o, q, promise);
  if (!same)
    return (Outcome){WRONG_ROUND_TRIP,
                     differing_lines(o->arena, td_text_str(&text), td_text_str(&again))};
  if (!td_equal_prog(p, q)) return (Outcome){WRONG_ROUND_TRIP, "equal text, unequal structure"};
  return fine;
}
