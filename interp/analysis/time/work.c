/* work.c - counts the operations of a program.
 *
 * A loop whose body's count does not depend on its variable counts once and is multiplied; else its
 * iterations are counted one by one, with the variable known. */
#include "analysis/time/work.h"

enum { MOST_ITERATIONS = 4000000 };

typedef struct Work {
  TdArena *arena;
  const TdProg *prog;
  const TdUnit *unit;
  TdMap known; /* symbols: 1 + index into value */
  TD_VEC(int64_t) value;
  int64_t left; /* iterations that may still be counted one by one */
  TdDiag *d;
  bool failed;
} Work;

static int64_t of_stmt(Work *w, const TdStmt *s);
static int64_t of_unit(Work *w, const TdUnit *u);

static int64_t fail(Work *w, TdLoc loc, const char *why) {
  if (!w->failed)
    td_diag_set(w->d, TD_UNSUPPORTED, "work", loc, "its operations are not counted: %s", why);
  w->failed = true;
  return 0;
}

static void bind(Work *w, TdSym s, int64_t v) {
  td_vec_push(w->arena, &w->value, v);
  td_map_put(w->arena, &w->known, (uint64_t)(uintptr_t)s, w->value.n - 1);
}

/* An operator on known numbers; false: none of those that bounds and conditions have. */
static bool operate(TdOp op, int64_t x, int64_t y, int64_t *v) {
  switch (op) {
  case TD_OP_ADD: *v = x + y; return true;
  case TD_OP_SUB: *v = x - y; return true;
  case TD_OP_MUL: *v = x * y; return true;
  case TD_OP_NEG: *v = -x; return true;
  case TD_OP_FLOORDIV:
  case TD_OP_MOD: {
    if (!y) return false;
    int64_t q = x / y - (x % y && (x < 0) != (y < 0));
    *v = op == TD_OP_MOD ? x - q * y : q;
    return true;
  }
  case TD_OP_MIN: *v = x < y ? x : y; return true;
  case TD_OP_MAX: *v = x > y ? x : y; return true;
  case TD_OP_EQ: *v = x == y; return true;
  case TD_OP_NE: *v = x != y; return true;
  case TD_OP_LT: *v = x < y; return true;
  case TD_OP_LE: *v = x <= y; return true;
  case TD_OP_AND: *v = x && y; return true;
  case TD_OP_OR: *v = x || y; return true;
  case TD_OP_NOT: *v = !x; return true;
  default: return false;
  }
}

/* The number that an index or condition is, where it does not depend on data. */
static bool value_of(Work *w, const TdExpr *e, int64_t *v) {
  uint64_t at;
  switch ((TdExprKind)e->kind) {
  case TD_EXPR_LIT:
    *v = (int64_t)e->u.bits;
    return e->type->kind == TD_T_INDEX || e->type->kind == TD_T_BOOL;
  case TD_EXPR_SIZE: {
    const TdSize *s = td_unit_size(w->unit, e->u.name);
    *v = s ? s->value : 0;
    return s && s->known;
  }
  case TD_EXPR_VAR:
    if (!td_map_get(&w->known, (uint64_t)(uintptr_t)e->sym, &at)) return false;
    *v = w->value.at[at];
    return true;
  case TD_EXPR_OP: {
    int64_t x[2] = {0, 0};
    if (e->nkid < 1 || e->nkid > 2 || e->type->kind == TD_T_TENSOR) return false;
    for (uint32_t i = 0; i < e->nkid; i++)
      if (!value_of(w, e->kid[i], &x[i])) return false;
    return operate((TdOp)e->op, x[0], x[1], v);
  }
  default: return false;
  }
}

/* ---- expressions ---- */

/* Elements of a type: 1 of a scalar. */
static int64_t elements(Work *w, const TdType *t, TdLoc loc) {
  int64_t n = 1, v = 0;
  if (t->kind != TD_T_TENSOR) return 1;
  for (int i = 0; i < t->rank; i++) {
    if (!value_of(w, t->dim[i], &v)) return fail(w, loc, "an extent has no value");
    n *= v;
  }
  return n;
}

/* Operations of an operator on one element. */
static int64_t weight(const TdExpr *e) {
  const TdType *t = e->type->kind == TD_T_TENSOR ? e->type->elem : e->type;
  if (t->kind == TD_T_INDEX || t->kind == TD_T_BOOL) return 0;
  switch ((TdOpRule)td_ops[e->op].rule) {
  case TD_RULE_ADD:
  case TD_RULE_SUB:
  case TD_RULE_MUL:
  case TD_RULE_FLOORDIV:
  case TD_RULE_MOD:
  case TD_RULE_DIV:
  case TD_RULE_NEG:
  case TD_RULE_ABS:
  case TD_RULE_JOIN:
  case TD_RULE_FLOAT:
  case TD_RULE_ROUND: return 1;
  case TD_RULE_FMA: return 2;
  default: return 0;
  }
}

static int64_t of_expr(Work *w, const TdExpr *e) {
  int64_t n = 0, v = 0;
  for (uint32_t i = 0; i < e->nkid; i++) n += of_expr(w, e->kid[i]);
  if (e->kind == TD_EXPR_OP && weight(e)) return n + weight(e) * elements(w, e->type, e->loc);
  if (e->kind != TD_EXPR_TENSOR) return n;
  const TdType *x = e->kid[0]->type;
  if (e->op == TD_OP_MATMUL) {
    if (!value_of(w, x->dim[x->rank - 1], &v)) return fail(w, e->loc, "an extent has no value");
    return n + 2 * v * elements(w, e->type, e->loc);
  }
  return n + elements(w, x, e->loc);
}

/* ---- statements ---- */

static bool expr_mentions(const TdExpr *e, TdSym sym) {
  if (e->kind == TD_EXPR_VAR && e->sym == sym) return true;
  for (uint32_t i = 0; i < e->nkid; i++)
    if (expr_mentions(e->kid[i], sym)) return true;
  return false;
}

/* Whether how often something below s runs depends on sym. */
static bool depends(const TdStmt *s, TdSym sym) {
  bool control = s->kind == TD_STMT_FOR || s->kind == TD_STMT_IF || s->kind == TD_STMT_CALL ||
                 s->kind == TD_STMT_SET;
  for (uint32_t i = 0; control && i < s->nexpr; i++)
    if (expr_mentions(s->expr[i], sym)) return true;
  for (uint32_t i = 0; i < s->nkid; i++)
    if (depends(s->kid[i], sym)) return true;
  return false;
}

static int64_t of_for(Work *w, const TdStmt *s) {
  int64_t lo, hi, n = 0;
  if (!value_of(w, td_for_lo(s), &lo) || !value_of(w, td_for_hi(s), &hi))
    return fail(w, s->loc, "a bound of a loop is not known");
  int64_t trips = hi > lo ? (hi - lo + s->step - 1) / s->step : 0;
  if (!depends(td_for_body(s), s->sym)) return trips ? trips * of_stmt(w, td_for_body(s)) : 0;
  for (int64_t i = lo; i < hi && !w->failed; i += s->step) {
    td_ctx_tick(td_arena_ctx(w->arena), 1);
    if (!w->left--) return fail(w, s->loc, "too many iterations differ");
    bind(w, s->sym, i);
    n += of_stmt(w, td_for_body(s));
  }
  return n;
}

static int64_t of_if(Work *w, const TdStmt *s) {
  int64_t v, n = of_expr(w, s->expr[0]);
  if (value_of(w, s->expr[0], &v))
    return n + (v ? of_stmt(w, s->kid[0]) : s->nkid > 1 ? of_stmt(w, s->kid[1]) : 0);
  int64_t x = of_stmt(w, s->kid[0]), y = s->nkid > 1 ? of_stmt(w, s->kid[1]) : 0;
  return n + (x > y ? x : y);
}

static int64_t of_call(Work *w, const TdStmt *s) {
  const TdUnit *u = td_prog_unit(w->prog, s->sym), *was = w->unit;
  int64_t n = 0, v;
  for (uint32_t i = 0; i < s->nexpr && i < u->nparam; i++) {
    n += of_expr(w, s->expr[i]);
    if (u->param[i].type->kind == TD_T_INDEX && value_of(w, s->expr[i], &v))
      bind(w, u->param[i].sym, v);
  }
  n += of_unit(w, u);
  w->unit = was;
  return n;
}

static int64_t of_stmt(Work *w, const TdStmt *s) {
  int64_t n = 0;
  switch ((TdStmtKind)s->kind) {
  case TD_STMT_FOR: return of_for(w, s);
  case TD_STMT_IF: return of_if(w, s);
  case TD_STMT_CALL: return of_call(w, s);
  case TD_STMT_WHILE: return fail(w, s->loc, "a while loop runs as long as data says");
  default:
    for (uint32_t i = 0; i < s->nexpr; i++) n += of_expr(w, s->expr[i]);
    for (uint32_t i = 0; i < s->nkid && !w->failed; i++) n += of_stmt(w, s->kid[i]);
    return n;
  }
}

/* All instances of a task. */
static int64_t of_run(Work *w, const TdRun *r) {
  const TdUnit *u = td_prog_unit(w->prog, r->unit), *design = w->unit;
  int64_t extent[TD_MAX_RANK], id[TD_MAX_RANK] = {0}, n = 0, all = 1;
  for (int k = 0; k < r->rank; k++) {
    if (!value_of(w, r->map[k], &extent[k])) return fail(w, r->loc, "a map has no value");
    all *= extent[k];
  }
  for (int64_t i = 0; i < all && !w->failed; i++) {
    int64_t rest = i;
    for (int k = r->rank; k-- > 0; rest /= extent[k]) id[k] = rest % extent[k];
    for (size_t k = 0; k < u->ncoord; k++) bind(w, u->coord[k], id[k]);
    n += of_unit(w, u);
    w->unit = design;
  }
  return n;
}

static int64_t of_unit(Work *w, const TdUnit *u) {
  int64_t n = 0;
  w->unit = u;
  if (u->kind == TD_UNIT_EXTERN) {
    const TdUnit *model = u->foreign->model ? td_prog_unit(w->prog, u->foreign->model) : NULL;
    return model ? of_unit(w, model) : fail(w, u->loc, "foreign code has no model");
  }
  if (u->kind == TD_UNIT_KERNEL) return of_stmt(w, u->body);
  for (size_t i = 0; i < u->nrun; i++) n += of_run(w, &u->run[i]);
  return n;
}

bool td_work_count(TdArena *a, const TdProg *p, int64_t *count, TdDiag *d) {
  Work w = {.arena = a, .prog = p, .left = MOST_ITERATIONS, .d = d};
  *count = of_unit(&w, td_prog_root(p));
  return !w.failed;
}
