/* compare.c - the comparison at one choice of sizes and one level: by fingerprints of compiled
 * runs where programs are long, by the evaluator on symbolic values else. */
#include "compare.h"

#include "backends/cpu/text.h"
#include "trial.h"

/* Statements that the evaluator runs before a program is compiled in memory. */
#define SHORT_RUN 4000

/* How many statements run compiled, in memory, while the evaluator runs one. */
#define SLOWER 40

const char *td_compare_sizes(const TdPair *p) {
  const char *sizes = td_trial_text(p->arena, td_prog_root(p->x), true);
  if (!p->o->call) return sizes;
  return td_text_fmt(p->arena, "%s%scall %u", sizes, *sizes ? ", " : "", p->o->call + 1);
}

bool td_compare_is_longer(TdArena *a, const TdProg *p, double steps) {
  TdDiag quiet = {.arena = a};
  const TdCpuText *t = td_cpu_text_of(a, p, (TdCpuExtra){0}, &quiet);
  return t && t->work > steps;
}

const char *td_compare_element(const TdPair *p, size_t i, int64_t n) {
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
static TdEvalAnswer compare_results(const TdPair *p, const TdTwinResult *rx,
                                    const TdTwinResult *ry) {
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
                            .element = td_compare_element(p, i, k),
                            .param = (unsigned)i,
                            .index = k};
    }
  }
  return r;
}

TdTwinArg *td_compare_args(const TdPair *p, size_t n) {
  TdTwinArg *arg = TD_NEWN(p->arena, TdTwinArg, n);
  for (size_t i = 0; p->concrete && i < n; i++)
    arg[i] = (TdTwinArg){.tensor = p->concrete[i].tensor,
                         .scalar = p->concrete[i].scalar,
                         .concrete = p->concrete[i].tensor || p->concrete[i].has_scalar};
  return arg;
}

/* The comparison of twins; *terms: whether either of them has expressions that count as wholes. */
static TdEvalAnswer compare_twins(const TdPair *p, TdTwinHow how, bool *terms) {
  size_t n = td_prog_root(p->x)->nparam;
  TdTwinArg *arg = td_compare_args(p, n);
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
static bool same_arguments(const TdPair *p) {
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
static TdEvalAnswer compare_compiled(const TdPair *p, TdLevel level) {
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
static bool is_too_long(const TdPair *p) {
  double most = (double)p->o->steps;
  return most > 0 &&
         (td_compare_is_longer(p->arena, p->x, most) || td_compare_is_longer(p->arena, p->y, most));
}

/* One level: compiled when the programs are long and can be, else by the evaluator, which may do
 * fewer of the steps. */
static TdEvalAnswer compare_once(const TdPair *p, TdLevel level) {
  bool sliced = has_slices(p->x) || has_slices(p->y);
  TdEvalOptions slow = *p->o;
  slow.steps /= SLOWER;
  if (!sliced && td_compare_is_longer(p->arena, p->x, SHORT_RUN)) {
    TdEvalAnswer r = {.verdict = TD_EVAL_NOT_DECIDED, .diag = {.arena = p->arena}};
    if (is_too_long(p))
      return td_diag_set(&r.diag, TD_LIMIT, "limit", (TdLoc){0}, "limit of steps"), r;
    r = compare_compiled(p, level);
    if (r.verdict != TD_EVAL_NOT_DECIDED) return r;
  }
  return td_eval_compare(p->arena, p->x, p->y, level, p->concrete, &slow);
}

TdEvalAnswer td_compare_at(const TdPair *p, TdLevel level) {
  TdEvalAnswer r = compare_once(p, level);
  if (level != TD_LEVEL_ASSOCIATIVE || r.verdict != TD_EVAL_EQUAL) return r;
  TdEvalOptions o = *p->o;
  TdPair again = *p;
  again.o = &o;
  o.seed = td_map_mix(o.seed, 1);
  return compare_once(&again, level);
}
