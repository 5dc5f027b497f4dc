/* explain.c - settles a difference of two expressions: both programs are cut down to the element,
 * compared in rings, on numbers and bit by bit, and shown. */
#include "explain.h"

#include "sample.h"
#include "slice_out.h"

bool td_explain_confirmed(const TdPair *p, TdCheck *c, TdEvalAnswer *r) {
  TdEvalOptions o = *p->o;
  TdElement at = {0, -1};
  o.steps = TD_EXPLAIN_STEPS / 20;
  if (td_sample_confirm(p->arena, p->x, p->y, p->concrete, &o, &at) != TD_VALUES_DIFFER)
    return true;
  r->verdict = TD_EVAL_DIFFERS;
  r->param = at.param;
  r->index = at.index;
  r->element = c->element = td_compare_element(p, at.param, at.index);
  c->at = td_compare_sizes(p);
  return false;
}

/* One of two programs cut down to what the differing element needs, in store `into`; the program
 * itself when it is short or cannot be compiled. */
static const TdProg *cut_down(const TdPair *p, const TdProg *prog, TdStore *into,
                              const TdEvalAnswer *r) {
  size_t n = td_prog_root(prog)->nparam;
  TdCutGoal goal = {r->param, r->index, .seed = p->o->seed, .arg = td_compare_args(p, n),
                    .narg = n};
  TdTwinResult whole;
  TdDiag quiet = {.arena = p->arena};
  if (p->o->steps || r->index < 0 || !td_compare_is_longer(p->arena, prog, TD_EXPLAIN_STEPS) ||
      !td_cpu_twin_run(p->arena, prog, (TdTwinHow){.seed = goal.seed}, goal.arg, n, &whole,
                       &quiet) ||
      !whole.of[r->param])
    return prog;
  goal.want = whole.of[r->param][r->index];
  return td_slice_out(p->arena, into, prog, &goal);
}

/* Writes how both programs of p compute the element on which they differ. */
static void explain(const TdPair *p, const TdEvalAnswer *r, TdText *out) {
  TdEvalOptions o = *p->o;
  TdDiag d = {.arena = p->arena};
  if (!o.steps) o.steps = TD_EXPLAIN_STEPS * 4;
  const TdEvalElement e = {p->x, p->y, r->param, r->index, p->concrete, &o};
  if (r->index >= 0 && !td_eval_explain(p->arena, out, &e, &d))
    td_text_putf(out, "(not shown: %s)\n", d.message);
}

/* Whether the element of r is known to differ between p's programs in a ring too, by options o. */
static bool differs_by(const TdPair *p, const TdEvalAnswer *r, const TdEvalOptions *o) {
  const TdProg *prog[] = {p->x, p->y};
  const TdValue **cell[2];
  TdDiag quiet = {.arena = p->arena};
  size_t n = td_prog_root(p->x)->nparam;
  for (int i = 0; i < 2; i++) {
    cell[i] = TD_NEWN(p->arena, const TdValue *, n);
    if (!td_eval_symbolic(p->arena, prog[i], TD_LEVEL_RING, p->concrete, o, cell[i], &quiet))
      return false;
    if (r->index < 0 || !cell[i][r->param]) return false;
  }
  return !td_value_same(cell[0][r->param][r->index], cell[1][r->param][r->index]);
}

/* The same, in whatever way sums are kept. */
static bool differs_in_ring(const TdPair *p, const TdEvalAnswer *r) {
  TdEvalOptions other = *p->o;
  other.wide = !other.wide;
  return differs_by(p, r, p->o) && differs_by(p, r, &other);
}

/* p with its programs cut down to what the element of r needs. */
static TdPair cut_pair(const TdPair *p, const TdEvalAnswer *r) {
  TdPair small = *p;
  small.x = cut_down(p, p->x, td_store_inner(p->arena, p->x->store->session), r);
  small.y = cut_down(p, p->y, td_store_inner(p->arena, p->y->store->session), r);
  return small;
}

/* What numbers say of a difference in expressions, first of the element of r alone. If another
 * element is the first whose values differ, r tells of that one. */
static TdValues ask_numbers(const TdPair *p, const TdPair *small, TdEvalAnswer *r) {
  TdEvalOptions o = *p->o;
  TdElement at = {r->param, r->index};
  if (at.index < 0) return TD_VALUES_UNKNOWN;
  if (!o.steps) o.steps = TD_EXPLAIN_STEPS / 4;
  TdValues v = td_sample_compare(p->arena, small->x, small->y, p->concrete, &o, false, &at);
  if (v != TD_VALUES_SAME) return v;
  if (td_sample_compare(p->arena, p->x, p->y, p->concrete, &o, true, &at) != TD_VALUES_DIFFER)
    return TD_VALUES_SAME;
  r->param = at.param;
  r->index = at.index;
  r->element = td_compare_element(p, at.param, at.index);
  return TD_VALUES_DIFFER;
}

/* Has c and r tell that no level sees two expressions to be equal, but numbers do. */
static void not_decided(const TdPair *p, TdCheck *c, TdEvalAnswer *r) {
  TdLoc none = {0};
  r->verdict = TD_EVAL_NOT_DECIDED;
  r->diag = (TdDiag){.arena = p->arena};
  td_diag_set(&r->diag, TD_UNSUPPORTED, "not-decided", none,
              "%s is another expression, but has the same value on random inputs", r->element);
  td_diag_help(&r->diag, "compare the two expressions:\n%s", c->shown);
}

/* Whether p's programs compute other expressions of the same value, which r then says. */
static bool decide_bits(const TdPair *p, TdEvalAnswer *r) {
  TdEvalOptions o = *p->o;
  if (!o.steps || o.steps > TD_EXPLAIN_STEPS) o.steps = TD_EXPLAIN_STEPS;
  TdEvalAnswer all = td_eval_decide(p->arena, p->x, p->y, p->concrete, &o);
  if (all.verdict != TD_EVAL_EQUAL) return false;
  *r = all;
  return true;
}

void td_explain_difference(const TdPair *p, TdCheck *c, const TdEvalAnswer *r) {
  TdText t = td_text_new(p->arena);
  TdPair small = cut_pair(p, r);
  explain(&small, r, &t);
  c->shown = td_text_str(&t);
}

bool td_explain_settled(const TdPair *p, TdCheck *c, TdEvalAnswer *r, TdLevel from) {
  TdPair small = cut_pair(p, r);
  if (c->level != TD_LEVEL_RING && !differs_in_ring(&small, r)) return false;
  int64_t index = r->index;
  unsigned param = r->param;
  TdValues values = ask_numbers(p, &small, r);
  if (values != TD_VALUES_DIFFER && decide_bits(p, r)) {
    c->level = from;
    return true;
  }
  if (r->index != index || r->param != param) small = cut_pair(p, r);
  TdText t = td_text_new(p->arena);
  explain(&small, r, &t);
  c->element = r->element;
  c->at = td_compare_sizes(p);
  c->shown = td_text_str(&t);
  if (values == TD_VALUES_SAME) not_decided(p, c, r);
  return true;
}
