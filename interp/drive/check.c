/* check.c - the verdict on two programs: the sizes at which they are compared, small ones first,
 * the levels, the calls of programs with states, faults. */
#include "check.h"

#include <string.h>

#include "compare.h"
#include "explain.h"
#include "sample.h"
#include "trial.h"

#define SMALL_RUNS 2

/* The calls that programs with states are compared in: each finds them as those before left them.
 */
#define CALLS 3

/* Compares at c's level and those below it; c's level becomes the strictest that holds, or c tells
 * of the difference. */
static TdEvalAnswer compare(const TdPair *p, TdCheck *c) {
  for (TdLevel from = c->level;; c->level++) {
    TdEvalAnswer r = td_compare_at(p, c->level);
    if (r.verdict == TD_EVAL_EQUAL && c->level != TD_LEVEL_STRICT &&
        !td_explain_confirmed(p, c, &r))
      td_explain_difference(p, c, &r);
    if (r.verdict != TD_EVAL_DIFFERS || c->shown || td_explain_settled(p, c, &r, from)) return r;
  }
}

/* The sizes tried, in order, with names and without. */
typedef struct Tried {
  const char **named, **plain;
  size_t n;
} Tried;

static Tried tried_new(TdArena *a, size_t most) {
  return (Tried){TD_NEWN(a, const char *, most), TD_NEWN(a, const char *, most), 0};
}

/* "M = 64 (and 7, 9)": the choice `head` in full, then the others. */
static const char *tried_text(TdArena *a, const Tried *t, size_t head) {
  TdText text = td_text_new(a);
  bool many = strchr(t->plain[head], ',');
  td_text_puts(&text, *t->named[head] ? t->named[head] : "its own sizes");
  for (size_t i = 0, k = 0; i < t->n; i++)
    if (i != head) td_text_putf(&text, "%s%s", k++ ? many ? "; " : ", " : " (and ", t->plain[i]);
  if (t->n > 1) td_text_putc(&text, ')');
  return td_text_str(&text);
}

/* Whether prog ends by no fault on symbolic values. */
static bool runs(const TdPair *p, const TdProg *prog) {
  TdDiag d = {.arena = p->arena};
  const TdValue **cell = TD_NEWN(p->arena, const TdValue *, td_prog_root(prog)->nparam + 1);
  return td_eval_symbolic(p->arena, prog, TD_LEVEL_STRICT, p->concrete, p->o, cell, &d);
}

/* Has c tell that the second of p's programs, or the first, faults as d says where the other does
 * not. */
static void tell_fault(const TdPair *p, TdCheck *c, bool second, const TdDiag *d) {
  TdText t = td_text_new(p->arena);
  td_diag_print(&t, d, p->x->store->session->sources);
  c->verdict = TD_EVAL_DIFFERS;
  c->element = second ? "the second faults" : "the first faults";
  c->at = td_compare_sizes(p);
  c->shown = td_text_str(&t);
}

/* A program that faults where the other does not is another program: turns "not decided" for that
 * reason into a difference. may_fault: which of the two perhaps does so as data decide, or 0. */
static void take_fault(const TdPair *p, TdCheck *c, unsigned may_fault) {
  if (c->verdict != TD_EVAL_NOT_DECIDED) return;
  TdDiag d = {.arena = p->arena};
  TdEvalOptions o = *p->o;
  if (!o.steps) o.steps = TD_EXPLAIN_STEPS / 4;
  bool second = may_fault == 2;
  if (may_fault &&
      td_sample_fault(p->arena, second ? p->x : p->y, second ? p->y : p->x, p->concrete, &o, &d))
    tell_fault(p, c, second, &d);
  if (may_fault || c->diag.kind != TD_ILLEGAL) return;
  bool first = runs(p, p->x);
  if (first != runs(p, p->y) && (first || !p->o->drops_faults)) tell_fault(p, c, first, &c->diag);
}

/* Folds one comparison, of several calls if there are states, into the verdict; false when it
 * decides. */
static bool take(const TdPair *p, TdCheck *c, Tried *tried) {
  TdEvalOptions o = *p->o;
  TdPair one = *p;
  TdEvalAnswer r = compare(p, c);
  for (one.o = &o; r.verdict == TD_EVAL_EQUAL && r.has_state && ++o.call < CALLS; c->calls = CALLS)
    r = compare(&one, c);
  c->verdict = r.verdict;
  if (r.verdict == TD_EVAL_NOT_DECIDED) c->diag = r.diag;
  if (r.verdict == TD_EVAL_NOT_DECIDED && r.may_fault) take_fault(p, c, r.may_fault);
  if (r.verdict != TD_EVAL_EQUAL) return false;
  tried->named[tried->n] = td_trial_text(p->arena, td_prog_root(p->x), true);
  tried->plain[tried->n++] = td_trial_text(p->arena, td_prog_root(p->x), false);
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
  td_diag_set(&c->diag, TD_USAGE, "not-decided", none, "'%s' and '%s' take different parameters",
              x->sym->name, y->sym->name);
  return false;
}

/* Compares the pair at one choice of sizes; one at which both programs fault, or the second where
 * it may, or that cannot be decided, says nothing. False: a difference was found. */
static bool take_choice(const TdTrial *t, const TdPair *p, TdCheck *c, Tried *tried) {
  TdCheck before = *c;
  if (take(p, c, tried)) return true;
  if (!p->o->at_values) take_fault(p, c, 0);
  if (c->verdict == TD_EVAL_DIFFERS) return false;
  if (t->known) *c = before;
  return true;
}

/* Small sizes first, where a difference is soon found and easily shown; where these take long, one
 * after another. False: a difference was found. */
static bool take_small(TdTrial *t, TdCheck *c, Tried *tried, const TdEvalOptions *o) {
  const TdProg **x = TD_NEWN(t->arena, const TdProg *, t->n + 1);
  const TdProg **y = TD_NEWN(t->arena, const TdProg *, t->n + 1);
  *tried = tried_new(t->arena, SMALL_RUNS + t->n + 1);
  for (int run = 0; run < SMALL_RUNS; run++) {
    size_t n = 1;
    if (!td_trial_next(t, run, &x[0], &y[0])) break;
    TdPair chosen = {.arena = t->arena, .x = x[0], .y = y[0], .o = o};
    bool apart = td_trial_apart(t, chosen.x, x, y, &n);
    if (!apart) {
      n = 1;
      x[0] = chosen.x;
      y[0] = chosen.y;
    }
    for (size_t i = 0; i < n; i++) {
      TdPair p = {.arena = t->arena, .x = x[i], .y = y[i], .o = o};
      if (!take_choice(t, &p, c, tried)) return false;
    }
    if (apart) break;
  }
  return true;
}

/* Without any sizes to run at there is no answer. */
static void no_sizes(TdArena *a, const TdTrial *t, TdCheck *c) {
  c->verdict = TD_EVAL_NOT_DECIDED;
  c->diag = (TdDiag){.arena = a};
  td_diag_set(&c->diag, TD_UNSUPPORTED, "not-decided", (TdLoc){0},
              "no values were found for the sizes of '%s' and '%s' at which both run, with every "
              "loop at least twice",
              td_prog_root(t->x)->sym->name, td_prog_root(t->y)->sym->name);
  td_diag_help(&c->diag, "give them values: k:at {..}");
}

TdCheck td_check_same(TdArena *a, const TdProg *x, const TdProg *y, const TdEvalArg *concrete,
                      const TdEvalOptions *o) {
  TdCheck c = {.level = TD_LEVEL_STRICT};
  Tried tried = tried_new(a, 1);
  if (!same_parameters(&c, a, td_prog_root(x), td_prog_root(y))) return c;
  TdTrial t = td_trial_new(a, x, y);
  if (t.all && t.n && !concrete && !take_small(&t, &c, &tried, o)) return c;
  TdPair p = {a, x, y, concrete, o};
  if (t.known && !take(&p, &c, &tried)) {
    take_fault(&p, &c, 0);
    return c;
  }
  if (!tried.n && !c.diag.message) no_sizes(a, &t, &c);
  if (tried.n) c.sizes = tried_text(a, &tried, t.known ? tried.n - 1 : 0);
  if (tried.n) c.verdict = TD_EVAL_EQUAL;
  return c;
}

TdCheck td_check_late(TdArena *a, double seconds) {
  TdCheck c = {.verdict = TD_EVAL_NOT_DECIDED, .diag = {.arena = a}};
  td_diag_set(&c.diag, TD_LIMIT, "limit", (TdLoc){0}, "limit of time: %g s", seconds);
  td_diag_help(&c.diag,
               "compare the programs for longer: {seconds = %g}, or at smaller sizes: k:at {..}",
               seconds * 10);
  return c;
}
