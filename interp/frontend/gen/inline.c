/* inline.c - Lua functions called by a kernel: their text is lowered in place, with their own
 * upvalues. */
#include "frontend/gen/irgen.h"

/* Notes which variables a block reads; assignment targets that are plain names are not reads. */
static bool note_read(void *ud, const TdAstExpr *e) {
  TdIrgen *l = ud;
  if (e->kind == TD_AST_NAME && e->name.var)
    td_map_put(l->arena, &l->frame->read, (uint64_t)(uintptr_t)e->name.var, 1);
  return true;
}

static bool note_reads_of(void *ud, const TdAstStmt *s) {
  if (s->kind != TD_AST_ASSIGN) return true;
  TdAstVisitor v = {.expr = note_read, .ud = ud};
  for (size_t i = 0; i < s->assign.values.n; i++) td_walk_ast_expr(&v, s->assign.values.at[i]);
  for (size_t i = 0; i < s->assign.targets.n; i++)
    if (s->assign.targets.at[i]->kind != TD_AST_NAME) td_walk_ast_expr(&v, s->assign.targets.at[i]);
  return false;
}

void td_irgen_enter_fn(TdIrgen *l, TdFrame *f, uint32_t first) {
  f->caller = l->frame;
  l->frame = f;
  TdAstVisitor reads = {.expr = note_read, .stmt = note_reads_of, .ud = l};
  td_walk_ast_block(&reads, &f->source->body);
  td_irgen_note_outer(l, f->source);
  td_irgen_collect_marks(l, first, f->source->last_line_defined);
}

/* Whether an argument can stand for its parameter as it is: constants, views, streams and scalars
 * that do not change. */
static bool is_steady(const TdVal *v) {
  switch (v->kind) {
  case TD_V_CONST:
  case TD_V_STREAM: return true;
  case TD_V_TENSOR: return v->e->kind == TD_EXPR_VIEW;
  default:
    return v->kind == TD_V_SCALAR &&
           (v->e->kind == TD_EXPR_VAR || v->e->kind == TD_EXPR_LIT || v->e->kind == TD_EXPR_SIZE);
  }
}

typedef struct UseCount {
  const TdAstLocal *var;
  int n;
} UseCount;

static bool count_use(void *ud, const TdAstExpr *e) {
  UseCount *u = ud;
  u->n += e->kind == TD_AST_NAME && e->name.var == u->var;
  return true;
}

/* Whether fn is `return expr` and uses p at most once, so that an argument may stand in its place.
 */
static bool is_single_use(const TdAstFn *fn, const TdAstLocal *p) {
  if (fn->body.n != 1 || fn->body.at[0]->kind != TD_AST_RETURN) return false;
  UseCount u = {p, 0};
  TdAstVisitor v = {.expr = count_use, .ud = &u};
  td_walk_ast_block(&v, &fn->body);
  return u.n <= 1;
}

/* Binds a parameter to its argument; what may change becomes a local, unless `lazy` lets it stand
 * in place of its only use. */
static bool bind_parameter(TdIrgen *l, const TdAstLocal *p, TdVal v, bool lazy) {
  if (v.kind == TD_V_NONE) return td_irgen_fail(l, "not-a-value", v.loc, "this gives no value");
  bool in_place = lazy && v.kind == TD_V_SCALAR && is_single_use(l->frame->source, p);
  v.more = NULL, v.nmore = 0;
  if (!p->assigned && (is_steady(&v) || in_place)) {
    if (v.kind == TD_V_TENSOR) v.e = td_irgen_freeze(l, v.e);
    td_irgen_bind(l, p, (TdBinding){.kind = TD_B_VALUE, .value = v});
    return true;
  }
  if (v.kind == TD_V_TENSOR)
    v = (TdVal){.kind = TD_V_FRESH, .type = v.e->type, .e = v.e, .loc = v.loc};
  return td_irgen_bind_new(l, p, v);
}

#define MOST_INLINED 65536 /* calls in one unit */

static bool check_call(TdIrgen *l, const TdFrame *f, const TdAstExpr *e, size_t nargs) {
  for (const TdFrame *i = l->frame; i; i = i->caller)
    if (i->fn == f->fn)
      return td_irgen_fail(l, "recursion", e->loc,
                           "a kernel cannot call a function that calls itself");
  td_ctx_tick(l->session->ctx, 1);
  if (++l->inlined > MOST_INLINED)
    return td_diag_set(l->diag, TD_LIMIT, "inlined", e->loc, "more than %d calls are inlined",
                       MOST_INLINED);
  if (f->source->is_vararg)
    return td_irgen_fail(l, "not-in-kernel", e->loc, "a function with '...' cannot be inlined");
  if (nargs >= f->source->params.n) return true;
  return td_irgen_fail(l, "arguments", e->loc, "the function takes %zu arguments",
                       f->source->params.n);
}

/* Lowers the body of frame f with its parameters bound; false on failure. */
static bool lower_body(TdIrgen *l, TdFrame *f, const TdVal *arg, bool lazy) {
  td_ctx_enter(l->session->ctx);
  td_irgen_enter_fn(l, f, f->source->line_defined);
  bool ok = true;
  for (size_t i = 0; ok && i < f->source->params.n; i++)
    ok = bind_parameter(l, f->source->params.at[i], arg[i], lazy);
  ok = ok && td_irgen_block(l, &f->source->body) && td_irgen_check_marks(l);
  l->frame = f->caller;
  td_ctx_leave(l->session->ctx);
  return ok;
}

/* Whether the statements since `from` do more than declare. */
static bool has_effects(const TdIrgen *l, size_t from) {
  for (size_t i = from; i < l->out->n; i++)
    if (l->out->at[i]->kind != TD_STMT_LOCAL) return true;
  return false;
}

/* The results of a call as a value: the first, with the others behind it. */
static TdVal value_of(const TdFrame *f, TdLoc loc) {
  if (!f->results.n) return (TdVal){.kind = TD_V_NONE, .loc = loc};
  TdVal v = f->results.at[0];
  v.more = f->results.at + 1;
  v.nmore = f->results.n - 1;
  return v;
}

TdVal td_irgen_inline(TdIrgen *l, const TdConst *c, const TdAstExpr *e) {
  size_t nargs;
  TdVal *arg = td_irgen_values(l, e->call.args, &nargs);
  if (!arg) return td_irgen_failed();
  TdFrame f = {.fn = c->handle};
  TdDiag why = {.arena = l->diag->arena};
  if (!l->host->source(l->host->ud, c->handle, &f.ast, &f.source, &why)) {
    td_irgen_fail(l, why.code, e->loc, "%s", why.message);
    return td_irgen_failed();
  }
  if (!check_call(l, &f, e, nargs)) return td_irgen_failed();
  TdFrame again = f;
  size_t from = l->out->n;
  bool ok = lower_body(l, &f, arg, true);
  if (ok && has_effects(l, from)) {
    l->out->n = from;
    f = again;
    ok = lower_body(l, &f, arg, false);
  }
  if (ok) return value_of(&f, e->loc);
  td_diag_note(l->diag, e->loc, "called here");
  return td_irgen_failed();
}

bool td_irgen_return(TdIrgen *l, const TdAstStmt *s) {
  TdFrame *f = l->frame;
  if (!f->caller) {
    if (s->values.n) {
      td_irgen_fail(l, "return-value", s->loc, "a kernel returns nothing");
      td_diag_help(l->diag, "write the result to a tensor parameter");
      return false;
    }
    td_irgen_emit(l, td_stmt_jump(l->store, TD_STMT_RETURN, s->loc));
    return true;
  }
  if (f->jump != TD_AT_TOP)
    return td_irgen_fail(l, "return", s->loc, "an inlined function returns at its end only");
  f->results.at = td_irgen_values(l, s->values, &f->results.n);
  f->results.returned = true;
  return f->results.at != NULL;
}

TdResults td_irgen_take_results(TdIrgen *l) {
  TdResults r = l->frame->results;
  l->frame->results = (TdResults){0};
  return r;
}

/* Block b followed by `place = v`. */
static const TdStmt *store_result(TdIrgen *l, const TdStmt *b, const TdExpr *place, TdVal v) {
  const TdExpr *e = td_irgen_to_stored(l, v, place->type);
  if (!e) return NULL;
  const TdStmt **kid = TD_NEWN(l->arena, const TdStmt *, b->nkid + 1);
  for (uint32_t i = 0; i < b->nkid; i++) kid[i] = b->kid[i];
  kid[b->nkid] = td_stmt_store(l->store, place, e, place->loc);
  return td_stmt_block(l->store, kid, b->nkid + 1u, b->loc);
}

/* Result number i of both arms as a local that each arm sets; false on failure. */
static bool join_one(TdIrgen *l, const TdResults *of, size_t i, const TdStmt **arm, TdLoc loc,
                     TdVal *out) {
  TdVal v[2] = {of[0].at[i], of[1].at[i]};
  const TdType *beside = td_irgen_beside(v, 0, 2);
  const TdExpr *e[2];
  for (int k = 0; k < 2; k++) {
    bool scalar = v[k].kind == TD_V_SCALAR || v[k].kind == TD_V_CONST;
    e[k] = scalar ? td_irgen_to_scalar(l, v[k], beside) : NULL;
    if (!e[k]) return td_irgen_fail(l, "return", loc, "each branch must return numbers");
  }
  const TdType *t = td_promote_join(l->session, e[0]->type, e[1]->type);
  if (!t) return td_irgen_fail(l, "join", loc, "the branches return values of no common type");
  TdSym sym = td_irgen_declare_new(l, "result", TD_SYM_LOCAL);
  td_irgen_emit(l, td_stmt_local(l->store, sym, t, TD_INIT_NONE, NULL, loc));
  *out = td_irgen_scalar(td_expr_load(l->arena, sym, t, NULL, 0, loc));
  out->exact = true;
  for (int k = 0; k < 2; k++) {
    arm[k] = store_result(l, arm[k], out->e, td_irgen_scalar(e[k]));
    if (!arm[k]) return false;
  }
  return true;
}

bool td_irgen_join_results(TdIrgen *l, const TdResults *of, const TdStmt **arm, TdLoc loc) {
  if (of[0].n != of[1].n)
    return td_irgen_fail(l, "return", loc, "each branch must return the same number of values");
  TdResults r = {.returned = true, .n = of[0].n, .at = TD_NEWN(l->arena, TdVal, of[0].n + 1)};
  for (size_t i = 0; i < r.n; i++)
    if (!join_one(l, of, i, arm, loc, &r.at[i])) return false;
  l->frame->results = r;
  return true;
}
