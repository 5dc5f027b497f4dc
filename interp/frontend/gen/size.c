/* size.c - expressions over sizes: extents in parameter types, and assumptions. */
#include "frontend/gen/irgen.h"

void td_irgen_try_size(TdIrgen *l, TdConst *c, const char *name, const TdAstLocal *var) {
  TdLoc none = {0};
  if (c->kind != TD_C_INT || c->size || td_irgen_is_taken(l, name)) return;
  if (td_sizes_candidate(l->sizes, name, var, c->u.integer))
    c->size = td_expr_size(l->session, l->arena, name, none);
}

/* The IR operator of an affine Lua operator, or -1. */
static int size_op(TdAstBinary op) {
  switch (op) {
  case TD_AST_ADD: return TD_OP_ADD;
  case TD_AST_SUB: return TD_OP_SUB;
  case TD_AST_MUL: return TD_OP_MUL;
  case TD_AST_IDIV: return TD_OP_FLOORDIV;
  case TD_AST_MOD: return TD_OP_MOD;
  default: return -1;
  }
}

/* A name in the text around the function: known if it is an upvalue of the function, or a size
 * already. */
static const TdExpr *size_name(TdIrgen *l, const TdAstExpr *e) {
  const TdAstLocal *var = e->name.binding == TD_AST_IS_GLOBAL ? NULL : e->name.var;
  for (size_t i = 0; i < l->sizes->list.n; i++) {
    const TdSizeEntry *s = &l->sizes->list.at[i];
    if (s->name != e->name.id || s->var != var) continue;
    if (s->plain) return td_expr_index(l->session, l->arena, s->value, e->loc);
    return td_expr_size(l->session, l->arena, s->name, e->loc);
  }
  const TdAstFn *fn = l->frame->source;
  TdConst c = {0};
  for (size_t i = 0; var && i < fn->upvals.n; i++)
    if (fn->upvals.at[i] == var && l->host->upvalue(l->host->ud, l->frame->fn, (int)i, &c)) break;
  if (!var) l->host->global(l->host->ud, l->frame->fn, e->name.id, &c);
  if (c.kind != TD_C_INT) return NULL;
  TdSizeEntry *s = td_sizes_candidate(l->sizes, e->name.id, var, c.u.integer);
  return s ? td_expr_size(l->session, l->arena, e->name.id, e->loc)
           : td_expr_index(l->session, l->arena, c.u.integer, e->loc);
}

const TdAstExpr *td_irgen_token_source(const TdAstExpr *e, int rank) {
  for (; rank > 0 && e && e->kind == TD_AST_INDEX; rank--) e = e->index.of;
  bool call = e && !rank && e->kind == TD_AST_CALL && e->call.args.n > 0;
  return call ? e->call.args.at[0] : NULL;
}

const TdExpr *td_irgen_size_from_source(TdIrgen *l, const TdAstExpr *e) {
  if (e->kind == TD_AST_PAREN) return td_irgen_size_from_source(l, e->paren);
  if (e->kind == TD_AST_INT) return td_expr_index(l->session, l->arena, e->integer, e->loc);
  if (e->kind == TD_AST_NAME) return size_name(l, e);
  if (e->kind != TD_AST_BINARY || size_op(e->binary.op) < 0) return NULL;
  td_ctx_enter(l->session->ctx);
  const TdExpr *x = td_irgen_size_from_source(l, e->binary.left);
  const TdExpr *y = x ? td_irgen_size_from_source(l, e->binary.right) : NULL;
  td_ctx_leave(l->session->ctx);
  if (!y) return NULL;
  const TdExpr *r =
      td_expr_op2(l->arena, (TdOp)size_op(e->binary.op), td_type_index(l->session), x, y);
  TdLin lin = td_lin_of(l->session, l->arena, r);
  if (td_lin_is_affine(&lin)) return td_lin_expr(l->session, l->arena, &lin, e->loc);
  td_sizes_pin(l->sizes, y);
  return NULL;
}

/* The IR comparison of a Lua one; *swap when its sides change places; -1 if it is none. */
static int compare_op(TdAstBinary op, bool *swap) {
  *swap = op == TD_AST_GT || op == TD_AST_GE;
  switch (op) {
  case TD_AST_EQ: return TD_OP_EQ;
  case TD_AST_NE: return TD_OP_NE;
  case TD_AST_LT:
  case TD_AST_GT: return TD_OP_LT;
  case TD_AST_LE:
  case TD_AST_GE: return TD_OP_LE;
  default: return -1;
  }
}

static bool is_known_at_call(void *ud, const TdExpr *e) {
  (void)ud;
  bool parameter = e->kind == TD_EXPR_VAR && e->sym->kind == TD_SYM_SCALAR;
  return e->kind == TD_EXPR_LIT || e->kind == TD_EXPR_SIZE || e->kind == TD_EXPR_OP ||
         e->kind == TD_EXPR_CAST || parameter;
}

/* One side of a fact, as an index expression over sizes and integer parameters. */
static const TdExpr *side(TdIrgen *l, const TdAstExpr *e) {
  const TdExpr *x = td_irgen_to_index(l, td_irgen_expr(l, e));
  if (!x || td_walk_expr(x, is_known_at_call, NULL)) return x;
  td_irgen_fail(l, "assume", e->loc, "tide.assume states facts on sizes and integer parameters");
  return NULL;
}

/* x op y on index expressions, decided now when both are constant. */
static const TdExpr *compare(TdIrgen *l, const TdAstExpr *e, int op, bool swap) {
  const TdExpr *x = side(l, e->binary.left);
  const TdExpr *y = x ? side(l, e->binary.right) : NULL;
  if (!y) return NULL;
  td_sizes_use(l->sizes, x);
  td_sizes_use(l->sizes, y);
  const TdExpr *kid[] = {swap ? y : x, swap ? x : y};
  const TdExpr *r = td_expr_op(l->arena, (TdOp)op, td_type_bool(l->session), kid, 2, e->loc);
  return td_expr_fold(l->session, l->arena, r);
}

static const TdExpr *assume(TdIrgen *l, const TdAstExpr *e) {
  if (e->kind == TD_AST_PAREN) return assume(l, e->paren);
  bool swap,
      both = e->kind == TD_AST_BINARY && (e->binary.op == TD_AST_AND || e->binary.op == TD_AST_OR);
  if (both) {
    const TdExpr *kid[] = {assume(l, e->binary.left), NULL};
    if (kid[0]) kid[1] = assume(l, e->binary.right);
    if (!kid[1]) return NULL;
    TdOp op = e->binary.op == TD_AST_AND ? TD_OP_AND : TD_OP_OR;
    return td_expr_fold(l->session, l->arena,
                        td_expr_op(l->arena, op, td_type_bool(l->session), kid, 2, e->loc));
  }
  int op = e->kind == TD_AST_BINARY ? compare_op(e->binary.op, &swap) : -1;
  if (op >= 0) return compare(l, e, op, swap);
  TdVal v = td_irgen_expr(l, e);
  if (v.kind == TD_V_CONST) return td_irgen_to_bool(l, v);
  if (td_irgen_ok(&v)) td_irgen_fail(l, "assume", e->loc, "tide.assume takes comparisons");
  return NULL;
}

const TdExpr *td_irgen_assume(TdIrgen *l, const TdAstExpr *e) {
  const TdExpr *r = assume(l, e);
  int64_t known;
  if (!r) return NULL;
  if ((r->kind == TD_EXPR_LIT && !r->u.bits) || (td_sizes_value(l->sizes, r, &known) && !known)) {
    td_diag_set(l->diag, TD_ILLEGAL, "assume", e->loc, "this assumption does not hold");
    return NULL;
  }
  return r;
}
