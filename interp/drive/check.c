/* check.c - the verdict on two programs, from runs of the evaluator at several sizes. */
#include "check.h"

#include <string.h>

#include "slice_out.h"
#include "trial.h"
#include "sample.h"

#define SMALL_RUNS 2

/* The calls that programs with states are compared in: each finds them as those before left them.
 */
#define CALLS 3

/* Statements that the evaluator runs before a program is compiled in memory; and those within which
 * it shows why programs differ. */
#define SHORT_RUN 4000
#define FEW_STEPS 1000000

/* How many statements run compiled, in memory, while the evaluator runs one. */
#define SLOWER 40

/* One comparison under way: two programs at one choice of sizes. */
typedef struct Pair {
  TdArena *arena;
  const TdProg *x, *y;
  const TdEvalArg *concrete;
  const TdEvalOptions *o;
} Pair;

/* The sizes of p's programs, and the call if it is not the first. */
static const char *place_text(const Pair *p) {
  const char *sizes = td_trial_text(p->arena, td_prog_root(p->x), true);
  if (!p->o->call) return sizes;
  return td_text_fmt(p->arena, "%s%scall %u", sizes, *sizes ? ", " : "", p->o->call + 1);
}

/* Whether p does more than so many steps; false also when that is not known. */
static bool is_longer(TdArena *a, const TdProg *p, double steps) {
  TdDiag quiet = {.arena = a};
  const TdCpuText *t = td_cpu_text_of(a, p, (TdCpuExtra){0}, &quiet);
  return t && t->work > steps;
}

/* "C[1][2]" for element n (row-major) of parameter i. */
static const char *element_text(const Pair *p, size_t i, int64_t n) {
  const TdUnit *u = td_prog_root(p->x);
  const TdType *t = td_unit_type(p->x->store->session, u, u->param[i].type);
  int64_t index[TD_MAX_RANK], extent;
  for (int d = t->rank; d-- > 0; n /= extent) {
    td_type_extent(t, d, &extent);
    index[d] = n % extent;
  }
  TdText text = td_text_new(p->arena);
  td_text_puts(&text, u->param[i].sym->name);
  for (int d = 0; d < t->rank; d++) td_text_putf(&text, "[%lld]", (long long)index[d]);
  return td_text_str(&text);
}

/* The first element on which two results differ, or equality. */
static TdEvalAnswer compare_results(const Pair *p, const TdTwinResult *rx, const TdTwinResult *ry) {
  const TdUnit *u = td_prog_root(p->x);
  TdEvalAnswer r = {.verdict = TD_EVAL_EQUAL};
  for (size_t i = 0; i < u->nparam; i++) {
    const TdFingerprint *fx = rx->of[i], *fy = ry->of[i];
    int64_t n = 0;
    const TdType *t = td_unit_type(p->x->store->session, u, u->param[i].type);
    if ((!fx && !fy) || !td_type_count(t, &n)) continue;
    for (int64_t k = 0; k < n; k++) {
      if (fx && fy && fx[k].lo == fy[k].lo && fx[k].hi == fy[k].hi) continue;
      return (TdEvalAnswer){.verdict = TD_EVAL_DIFFERS,
                            .element = element_text(p, i, k),
                            .param = (unsigned)i,
                            .index = k};
    }
  }
  return r;
}

/* The concrete arguments as compiled fingerprints take them, one entry a parameter. */
static TdTwinArg *twin_args(const Pair *p, size_t n) {
  TdTwinArg *arg = TD_NEWN(p->arena, TdTwinArg, n);
  for (size_t i = 0; p->concrete && i < n; i++)
    arg[i] = (TdTwinArg){.tensor = p->concrete[i].tensor,
                         .scalar = p->concrete[i].scalar,
                         .concrete = p->concrete[i].tensor || p->concrete[i].has_scalar};
  return arg;
}

/* The comparison of twins; *terms: whether either of them has expressions that count as wholes. */
static TdEvalAnswer compare_twins(const Pair *p, TdTwinHow how, bool *terms) {
  size_t n = td_prog_root(p->x)->nparam;
  TdTwinArg *arg = twin_args(p, n);
  TdEvalAnswer r = {.verdict = TD_EVAL_NOT_DECIDED, .diag = {.arena = p->arena}};
  TdTwinResult result[2];
  const TdProg *prog[] = {p->x, p->y};
  TdCtx *c = td_arena_ctx(p->arena);
  how.options =
      &(TdCpuOptions){.tier = p->o->steps ? TD_TIER_TCC : TD_TIER_AUTO, .bytes = p->o->bytes};
  bool ran = true;
  for (unsigned i = 0; i < 2 && ran; i++) {
    td_ctx_note_work(c, i + 1, 2);
    ran = td_cpu_twin_run(p->arena, prog[i], how, arg, n, &result[i], &r.diag);
  }
  td_ctx_note_work(c, 0, 0);
  if (!ran) return r;
  *terms = result[0].terms || result[1].terms;
  return compare_results(p, &result[0], &result[1]);
}

/* Whether both programs take arguments of the same elements; where not, the evaluator says so. */
static bool same_arguments(const Pair *p) {
  const TdUnit *x = td_prog_root(p->x), *y = td_prog_root(p->y);
  TdSession *s = p->x->store->session;
  bool same = x->nparam == y->nparam;
  for (size_t i = 0; same && i < x->nparam; i++) {
    const TdType *a = td_unit_type(s, x, x->param[i].type),
                 *b = td_unit_type(s, y, y->param[i].type);
    int64_t n = 0, m = 0;
    td_type_count(a, &n);
    td_type_count(b, &m);
    same = n == m && td_type_scalar(a) == td_type_scalar(b);
  }
  return same;
}

/* The comparison on compiled fingerprints, of associative in whatever way sums are kept; not
 * decided (with any code) where that cannot be. */
static TdEvalAnswer compare_compiled(const Pair *p, TdLevel level) {
  TdTwinHow how = {(TdTwinLevel)level, .wide = p->o->wide, .seed = p->o->seed}, whole = how;
  bool terms = true;
  whole.level = TD_TWIN_WHOLE;
  if (!same_arguments(p))
    return (TdEvalAnswer){.verdict = TD_EVAL_NOT_DECIDED, .diag = {.arena = p->arena}};
  if (level == TD_LEVEL_STRICT) {
    TdEvalAnswer r = compare_twins(p, whole, &terms);
    if (r.verdict != TD_EVAL_DIFFERS || !terms) return r;
  }
  TdEvalAnswer r = compare_twins(p, how, &terms);
  if (r.verdict != TD_EVAL_DIFFERS || level <= TD_LEVEL_FUSED) return r;
  how.wide = !how.wide;
  TdEvalAnswer again = compare_twins(p, how, &terms);
  return again.verdict == TD_EVAL_EQUAL ? again : r;
}

static bool is_of_sizes(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_VAR && e->kind != TD_EXPR_LOAD;
}

static bool is_no_slice(void *ud, const TdExpr *e) {
  (void)ud;
  if (e->kind != TD_EXPR_OP) return true;
  bool divides = e->op == TD_OP_FLOORDIV || e->op == TD_OP_MOD, data;
  data = divides && td_type_is_integer(e->type) && !td_walk_expr(e->kid[1], is_of_sizes, NULL);
  return e->op != TD_OP_GETBITS && e->op != TD_OP_SETBITS && !data;
}

/* Whether p puts parts of words together or takes them apart, or divides by what may be data: only
 * the evaluator knows that what goes in comes out, and what a run relies on not to be 0. */
static bool has_slices(const TdProg *p) {
  for (size_t i = 0; i < p->nunit; i++)
    if (p->unit[i]->body &&
        !td_walk_exprs(p->store->session->ctx, p->unit[i]->body, is_no_slice, NULL))
      return true;
  return false;
}

/* Whether one of p's programs does more than the steps that it may. */
static bool is_too_long(const Pair *p) {
  double most = (double)p->o->steps;
  return most > 0 && (is_longer(p->arena, p->x, most) || is_longer(p->arena, p->y, most));
}

/* Whether programs that are equal at a level below strict are so on numbers too; r tells where not.
 */
static bool is_confirmed(const Pair *p, TdCheck *c, TdEvalAnswer *r) {
  TdEvalOptions o = *p->o;
  TdElement at = {0, -1};
  o.steps = FEW_STEPS / 20;
  if (td_sample_confirm(p->arena, p->x, p->y, p->concrete, &o, &at) != TD_VALUES_DIFFER)
    return true;
  r->verdict = TD_EVAL_DIFFERS;
  r->param = at.param;
  r->index = at.index;
  r->element = c->element = element_text(p, at.param, at.index);
  c->at = place_text(p);
  return false;
}

/* One level: compiled when the programs are long and can be, else by the evaluator, which may do
 * fewer of the steps. */
static TdEvalAnswer compare_once(const Pair *p, TdLevel level) {
  bool sliced = has_slices(p->x) || has_slices(p->y);
  TdEvalOptions slow = *p->o;
  slow.steps /= SLOWER;
  if (!sliced && is_longer(p->arena, p->x, SHORT_RUN)) {
    TdEvalAnswer r = {.verdict = TD_EVAL_NOT_DECIDED, .diag = {.arena = p->arena}};
    if (is_too_long(p))
      return td_diag_set(&r.diag, TD_LIMIT, "limit", (TdLoc){0}, "limit of steps"), r;
    r = compare_compiled(p, level);
    if (r.verdict != TD_EVAL_NOT_DECIDED) return r;
  }
  return td_eval_compare(p->arena, p->x, p->y, level, p->concrete, &slow);
}

/* The same; at associative, where half a fingerprint tells a cancelled term, twice. */
static TdEvalAnswer compare_at(const Pair *p, TdLevel level) {
  TdEvalAnswer r = compare_once(p, level);
  if (level != TD_LEVEL_ASSOCIATIVE || r.verdict != TD_EVAL_EQUAL) return r;
  TdEvalOptions o = *p->o;
  Pair again = *p;
  again.o = &o;
  o.seed = td_map_mix(o.seed, 1);
  return compare_once(&again, level);
}

/* One of two programs cut down to what the differing element needs, in store `into`; the program
 * itself when it is short or cannot be compiled. */
static const TdProg *cut_down(const Pair *p, const TdProg *prog, TdStore *into,
                              const TdEvalAnswer *r) {
  size_t n = td_prog_root(prog)->nparam;
  TdCutGoal goal = {r->param, r->index, .seed = p->o->seed, .arg = twin_args(p, n), .narg = n};
  TdTwinResult whole;
  TdDiag quiet = {.arena = p->arena};
  if (p->o->steps || r->index < 0 || !is_longer(p->arena, prog, FEW_STEPS) ||
      !td_cpu_twin_run(p->arena, prog, (TdTwinHow){.seed = goal.seed}, goal.arg, n, &whole,
                       &quiet) ||
      !whole.of[r->param])
    return prog;
  goal.want = whole.of[r->param][r->index];
  return td_slice_out(p->arena, into, prog, &goal);
}

/* Writes how both programs of p compute the element on which they differ. */
static void explain(const Pair *p, const TdEvalAnswer *r, TdText *out) {
  TdEvalOptions o = *p->o;
  TdDiag d = {.arena = p->arena};
  if (!o.steps) o.steps = FEW_STEPS * 4;
  const TdEvalElement e = {p->x, p->y, r->param, r->index, p->concrete, &o};
  if (r->index >= 0 && !td_eval_explain(p->arena, out, &e, &d))
    td_text_putf(out, "(not shown: %s)\n", d.message);
}

/* Whether the element of r is known to differ between p's programs in a ring too, by options o. */
static bool differs_by(const Pair *p, const TdEvalAnswer *r, const TdEvalOptions *o) {
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
static bool differs_in_ring(const Pair *p, const TdEvalAnswer *r) {
  TdEvalOptions other = *p->o;
  other.wide = !other.wide;
  return differs_by(p, r, p->o) && differs_by(p, r, &other);
}

/* p with its programs cut down to what the element of r needs. */
static Pair cut_pair(const Pair *p, const TdEvalAnswer *r) {
  Pair small = *p;
  small.x = cut_down(p, p->x, td_store_inner(p->arena, p->x->store->session), r);
  small.y = cut_down(p, p->y, td_store_inner(p->arena, p->y->store->session), r);
  return small;
}

/* What numbers say of a difference in expressions, first of the element of r alone. If another
 * element is the first whose values differ, r tells of that one. */
static TdValues ask_numbers(const Pair *p, const Pair *small, TdEvalAnswer *r) {
  TdEvalOptions o = *p->o;
  TdElement at = {r->param, r->index};
  if (at.index < 0) return TD_VALUES_UNKNOWN;
  if (!o.steps) o.steps = FEW_STEPS / 4;
  TdValues v = td_sample_compare(p->arena, small->x, small->y, p->concrete, &o, false, &at);
  if (v != TD_VALUES_SAME) return v;
  if (td_sample_compare(p->arena, p->x, p->y, p->concrete, &o, true, &at) != TD_VALUES_DIFFER)
    return TD_VALUES_SAME;
  r->param = at.param;
  r->index = at.index;
  r->element = element_text(p, at.param, at.index);
  return TD_VALUES_DIFFER;
}

/* Has c and r tell that no level sees two expressions to be equal, but numbers do. */
static void not_decided(const Pair *p, TdCheck *c, TdEvalAnswer *r) {
  TdLoc none = {0};
  r->verdict = TD_EVAL_NOT_DECIDED;
  r->diag = (TdDiag){.arena = p->arena};
  td_diag_set(&r->diag, TD_UNSUPPORTED, "not-decided", none,
              "%s is another expression, but has the same value on random inputs", r->element);
  td_diag_help(&r->diag, "compare the two expressions:\n%s", c->shown);
}

/* Whether p's programs compute other expressions of the same value, which r then says. */
static bool decide_bits(const Pair *p, TdEvalAnswer *r) {
  TdEvalOptions o = *p->o;
  if (!o.steps || o.steps > FEW_STEPS) o.steps = FEW_STEPS;
  TdEvalAnswer all = td_eval_decide(p->arena, p->x, p->y, p->concrete, &o);
  if (all.verdict != TD_EVAL_EQUAL) return false;
  *r = all;
  return true;
}

/* Has c show the difference r of p's programs. */
static void explain_difference(const Pair *p, TdCheck *c, const TdEvalAnswer *r) {
  TdText t = td_text_new(p->arena);
  Pair small = cut_pair(p, r);
  explain(&small, r, &t);
  c->shown = td_text_str(&t);
}

/* Decides on the element on which p's programs differ at c's level: false where they may be equal
 * at a later one. They differ if they do so in a ring, and so at every level between, and on
 * numbers; else their bits decide, and then they are equal at level `from`, or nothing does. c gets
 * the explanation, of programs cut down to the element. */
static bool is_settled(const Pair *p, TdCheck *c, TdEvalAnswer *r, TdLevel from) {
  Pair small = cut_pair(p, r);
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
  c->at = place_text(p);
  c->shown = td_text_str(&t);
  if (values == TD_VALUES_SAME) not_decided(p, c, r);
  return true;
}

/* Compares at c's level and those below it; c's level becomes the strictest that holds, or c tells
 * of the difference. */
static TdEvalAnswer compare(const Pair *p, TdCheck *c) {
  for (TdLevel from = c->level;; c->level++) {
    TdEvalAnswer r = compare_at(p, c->level);
    if (r.verdict == TD_EVAL_EQUAL && c->level != TD_LEVEL_STRICT && !is_confirmed(p, c, &r))
      explain_difference(p, c, &r);
    if (r.verdict != TD_EVAL_DIFFERS || c->shown || is_settled(p, c, &r, from)) return r;
  }
}

/* The sizes tried, in order, with names and without. */
typedef struct Tried {
  const char *named[SMALL_RUNS + 1], *plain[SMALL_RUNS + 1];
  size_t n;
} Tried;

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
static bool runs(const Pair *p, const TdProg *prog) {
  TdDiag d = {.arena = p->arena};
  const TdValue **cell = TD_NEWN(p->arena, const TdValue *, td_prog_root(prog)->nparam + 1);
  return td_eval_symbolic(p->arena, prog, TD_LEVEL_STRICT, p->concrete, p->o, cell, &d);
}

/* Has c tell that the second of p's programs, or the first, faults as d says where the other does
 * not. */
static void tell_fault(const Pair *p, TdCheck *c, bool second, const TdDiag *d) {
  TdText t = td_text_new(p->arena);
  td_diag_print(&t, d, p->x->store->session->sources);
  c->verdict = TD_EVAL_DIFFERS;
  c->element = second ? "the second faults" : "the first faults";
  c->at = place_text(p);
  c->shown = td_text_str(&t);
}

/* A program that faults where the other does not is another program: turns "not decided" for that
 * reason into a difference. may_fault: which of the two perhaps does so as data decide, or 0. */
static void take_fault(const Pair *p, TdCheck *c, unsigned may_fault) {
  if (c->verdict != TD_EVAL_NOT_DECIDED) return;
  TdDiag d = {.arena = p->arena};
  TdEvalOptions o = *p->o;
  if (!o.steps) o.steps = FEW_STEPS / 4;
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
static bool take(const Pair *p, TdCheck *c, Tried *tried) {
  TdEvalOptions o = *p->o;
  Pair one = *p;
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

/* Small sizes first, where a difference is soon found and easily shown; one at which the programs
 * fault or cannot be decided says nothing. False: a difference was found. */
static bool take_small(TdTrial *t, TdCheck *c, Tried *tried, const TdEvalOptions *o) {
  for (int run = 0; run < SMALL_RUNS; run++) {
    Pair p = {.arena = t->arena, .o = o};
    if (!td_trial_next(t, run, &p.x, &p.y)) break;
    TdCheck before = *c;
    if (take(&p, c, tried)) continue;
    if (c->verdict == TD_EVAL_DIFFERS) return false;
    if (t->known) *c = before;
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
  Tried tried = {.n = 0};
  if (!same_parameters(&c, a, td_prog_root(x), td_prog_root(y))) return c;
  TdTrial t = td_trial_new(a, x, y);
  if (t.all && t.n && !concrete && !take_small(&t, &c, &tried, o)) return c;
  Pair p = {a, x, y, concrete, o};
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
