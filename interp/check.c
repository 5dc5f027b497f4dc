/* check.c - the verdict on two programs, from runs of the evaluator at several sizes. */
#include "check.h"

#include <string.h>

#include "ir/at.h"

#define SMALL_RUNS 2
#define SMALLEST 2
#define LARGEST_SMALL 13

/* Sizes under trial: values for the names that both roots have. */
typedef struct Trial {
  TdArena *arena;
  const TdProg *x, *y;
  TdSize *size;
  size_t n;
} Trial;

/* The sizes that x and y have in common with equal values; *all says whether there are no others.
 */
static TdSize *common_sizes(TdArena *a, const TdUnit *x, const TdUnit *y, size_t *n, bool *all) {
  TdSize *list = TD_NEWN(a, TdSize, x->nsize);
  *n = 0;
  for (size_t i = 0; i < x->nsize; i++) {
    const TdSize *other = td_unit_size(y, x->size[i].name);
    if (other && other->known == x->size[i].known && other->value == x->size[i].value)
      list[(*n)++] = x->size[i];
  }
  *all = *n == x->nsize && *n == y->nsize;
  return list;
}

/* Both programs at the trial's sizes; false when an assumption of one does not hold there. */
static bool resize(const Trial *t, const TdProg **x, const TdProg **y) {
  TdDiag quiet = {.arena = t->arena};
  *x = td_at_sizes(t->x, t->size, t->n, &quiet);
  *y = *x ? td_at_sizes(t->y, t->size, t->n, &quiet) : NULL;
  return *y != NULL;
}

/* Advances the values of all sizes like an odometer over [SMALLEST, LARGEST_SMALL]; false at the
 * end. */
static bool next_values(Trial *t) {
  for (size_t i = 0; i < t->n; i++) {
    if (++t->size[i].value <= LARGEST_SMALL) return true;
    t->size[i].value = SMALLEST;
  }
  return false;
}

/* Different values where the assumptions allow it, so that swapped extents show. */
static void start_values(Trial *t, int run) {
  static const int64_t first[SMALL_RUNS][4] = {{3, 5, 2, 7}, {4, 3, 6, 5}};
  for (size_t i = 0; i < t->n; i++) {
    t->size[i].known = true;
    t->size[i].value = first[run][i % 4];
  }
}

/* Small sizes that satisfy all assumptions, searched from the starting values of this run. */
static bool find_small(Trial *t, int run, const TdProg **x, const TdProg **y) {
  start_values(t, run);
  for (int tries = 0; tries < 20000; tries++) {
    if (resize(t, x, y)) return true;
    if (!next_values(t)) return false;
  }
  return false;
}

static const char *sizes_text(TdArena *a, const TdUnit *u) {
  TdText t = td_text_new(a);
  for (size_t i = 0; i < u->nsize; i++)
    if (u->size[i].known)
      td_text_putf(&t, "%s%s = %lld", t.n ? ", " : "", u->size[i].name,
                   (long long)u->size[i].value);
  return td_text_str(&t);
}

/* One comparison at the strictest level that holds, starting from `from`. */
static TdEvalAnswer compare(TdArena *a, const TdProg *x, const TdProg *y, const TdEvalArg *concrete,
                            const TdEvalOptions *o, TdLevel from, TdLevel *holds) {
  TdEvalAnswer first = {0};
  for (TdLevel level = from; level <= TD_LEVEL_RING; level++) {
    TdEvalAnswer r = td_eval_compare(a, x, y, level, concrete, o);
    *holds = level;
    if (r.verdict != TD_EVAL_DIFFERS) return r;
    if (level == from) first = r;
  }
  return first;
}

static void show_difference(TdArena *a, TdCheck *c, const TdProg *x, const TdProg *y,
                            const TdEvalAnswer *r, const TdEvalArg *concrete,
                            const TdEvalOptions *o) {
  TdText t = td_text_new(a);
  TdDiag d = {.arena = a};
  c->element = r->element;
  c->at = sizes_text(a, td_prog_root(x));
  if (r->index >= 0) td_eval_explain(a, &t, x, y, r->param, r->index, concrete, o, &d);
  c->shown = td_text_str(&t);
}

/* Folds one comparison into the verdict; false when it decides. */
static bool take(TdArena *a, TdCheck *c, TdText *sizes, const TdProg *x, const TdProg *y,
                 const TdEvalArg *concrete, const TdEvalOptions *o) {
  TdLevel level = c->level;
  TdEvalAnswer r = compare(a, x, y, concrete, o, c->level, &level);
  c->verdict = r.verdict;
  if (r.verdict == TD_EVAL_NOT_DECIDED) {
    c->diag = r.diag;
    return false;
  }
  if (r.verdict == TD_EVAL_DIFFERS) {
    show_difference(a, c, x, y, &r, concrete, o);
    return false;
  }
  c->level = level;
  const char *at = sizes_text(a, td_prog_root(x));
  td_text_putf(sizes, "%s%s", sizes->n ? "; " : "", *at ? at : "these sizes only");
  return true;
}

static bool same_parameters(TdCheck *c, TdArena *a, const TdUnit *x, const TdUnit *y) {
  bool same = x->nparam == y->nparam;
  for (size_t i = 0; same && i < x->nparam; i++)
    same = x->param[i].type->kind == y->param[i].type->kind &&
           td_type_scalar(x->param[i].type) == td_type_scalar(y->param[i].type);
  if (same) return true;
  c->verdict = TD_EVAL_NOT_DECIDED;
  c->diag = (TdDiag){.arena = a};
  TdLoc none = {0};
  td_diag_set(&c->diag, TD_USAGE, "parameters", none, "'%s' and '%s' take different parameters",
              x->sym->name, y->sym->name);
  return false;
}

/* A small size at which the programs fault or cannot be decided says nothing. */
TdCheck td_check_same(TdArena *a, const TdProg *x, const TdProg *y, const TdEvalArg *concrete,
                      const TdEvalOptions *o) {
  TdCheck c = {.level = TD_LEVEL_STRICT};
  if (!same_parameters(&c, a, td_prog_root(x), td_prog_root(y))) return c;
  TdText sizes = td_text_new(a);
  Trial t = {.arena = a, .x = x, .y = y};
  bool all;
  t.size = common_sizes(a, td_prog_root(x), td_prog_root(y), &t.n, &all);
  bool known = true;
  for (size_t i = 0; i < t.n; i++) known &= t.size[i].known;
  if (known && !take(a, &c, &sizes, x, y, concrete, o)) return c;
  for (int run = 0; run < SMALL_RUNS && all && t.n && !concrete; run++) {
    const TdProg *sx, *sy;
    if (!find_small(&t, run, &sx, &sy)) break;
    TdCheck before = c;
    if (!take(a, &c, &sizes, sx, sy, NULL, o)) {
      if (c.verdict == TD_EVAL_DIFFERS) return c;
      c = before;
      continue;
    }
    c.other_sizes = true;
  }
  c.sizes = td_text_str(&sizes);
  return c;
}
