/* lazy.c - and, or: on conditions, and `c and x or y` that chooses a number. What stands to
 * the right is computed only where Lua does. */
#include "frontend/gen/irgen.h"

/* Lowers e into a list of its own, which holds the statements that it needs. */
static TdVal lower_aside(TdIrgen *l, const TdAstExpr *e, TdStmts *list) {
  TdStmts *out = l->out;
  l->out = list;
  TdVal v = td_irgen_settle(l, td_irgen_expr(l, e), "got");
  l->out = out;
  td_irgen_hide_all(l, list);
  return v;
}

/* A local called `want` of type t; its value is e, or comes later when e is NULL. */
static const TdExpr *declare(TdIrgen *l, const char *want, const TdType *t, const TdExpr *e,
                             TdLoc loc) {
  TdSym sym = td_irgen_declare_new(l, want, TD_SYM_LOCAL);
  TdLocalInit init = e ? TD_INIT_VALUE : TD_INIT_NONE;
  td_irgen_emit(l, td_stmt_local(l->store, sym, t, init, e, loc));
  return td_expr_load(l->arena, sym, t, NULL, 0, loc);
}

/* The statements of a list and then `place = e`, as a block. */
static const TdStmt *arm(TdIrgen *l, TdStmts *list, const TdExpr *place, const TdExpr *e,
                         TdLoc loc) {
  td_vec_push(l->arena, list, td_stmt_store(l->store, place, e, loc));
  return td_stmt_block(l->store, list->at, list->n, loc);
}

/* left and right, or left or right; `list` is what right needs. */
static TdVal combine(TdIrgen *l, bool is_and, const TdExpr *left, TdVal right, TdStmts *list,
                     TdLoc loc) {
  const TdExpr *y = td_irgen_ok(&right) ? td_irgen_to_bool(l, right) : NULL;
  if (!y) return td_irgen_failed();
  const TdType *t = td_type_bool(l->session);
  if (!list->n) {
    const TdExpr *kid[] = {left, y};
    return td_irgen_scalar(td_expr_op(l->arena, is_and ? TD_OP_AND : TD_OP_OR, t, kid, 2, loc));
  }
  const TdExpr *place = declare(l, "both", t, left, loc);
  const TdExpr *cond = is_and ? place : td_expr_op(l->arena, TD_OP_NOT, t, &place, 1, loc);
  td_irgen_emit(l, td_stmt_if(l->store, cond, arm(l, list, place, y, loc), NULL, loc));
  return td_irgen_scalar(place);
}

/* v and e, or v or e, for a settled v. */
static TdVal with_right(TdIrgen *l, bool is_and, TdVal v, const TdAstExpr *e, TdLoc loc) {
  if (v.kind == TD_V_CONST) {
    td_irgen_pin(l, &v, 1);
    return td_value_truth(&v.c) == is_and ? td_irgen_expr(l, e) : v;
  }
  const TdExpr *left = td_irgen_to_bool(l, v);
  if (!left) return td_irgen_failed();
  TdStmts list = {0};
  TdVal right = lower_aside(l, e, &list);
  return combine(l, is_and, left, right, &list, loc);
}

static bool is_literal(const TdExpr *e) {
  return e->kind == TD_EXPR_LIT;
}

/* Whether e may be computed although the other arm is wanted: nothing in it can fault. */
static bool is_total(void *ud, const TdExpr *e) {
  (void)ud;
  if (e->kind == TD_EXPR_LOAD) return e->nkid == 0;
  if (e->kind == TD_EXPR_CAST)
    return e->type->kind == TD_T_FLOAT || e->kid[0]->type->kind != TD_T_FLOAT;
  if (e->kind != TD_EXPR_OP) return true;
  switch (td_ops[e->op].rule) {
  case TD_RULE_FLOORDIV:
  case TD_RULE_MOD:
  case TD_RULE_DIV: return e->type->kind == TD_T_FLOAT;
  case TD_RULE_SHL:
  case TD_RULE_SHR:
  case TD_RULE_ASR: return is_literal(e->kid[1]);
  case TD_RULE_GETBITS:
  case TD_RULE_SETBITS: return is_literal(e->kid[1]) && is_literal(e->kid[2]);
  default: return true;
  }
}

/* One value or the other, each computed only if it is wanted. */
static TdVal branch(TdIrgen *l, const TdExpr *cond, const TdExpr *const *e, TdStmts *list,
                    TdLoc loc) {
  const TdType *t = td_promote_join(l->session, e[0]->type, e[1]->type);
  if (!t) {
    td_irgen_fail(l, "join", loc, "the two values have no common type");
    return td_irgen_failed();
  }
  const TdExpr *place = declare(l, "chosen", t, NULL, loc);
  const TdStmt *block[2];
  for (int i = 0; i < 2; i++) {
    const TdExpr *x = td_irgen_to_stored(l, td_irgen_scalar(e[i]), t);
    if (!x) return td_irgen_failed();
    block[i] = arm(l, &list[i], place, x, loc);
  }
  td_irgen_emit(l, td_stmt_if(l->store, cond, block[0], block[1], loc));
  TdVal v = td_irgen_scalar(place);
  v.exact = true;
  return v;
}

/* `cond and x or y` on numbers: v[i] with what it needs in list[i]. A select where both may be
 * computed. */
static TdVal choose(TdIrgen *l, const TdExpr *cond, const TdVal *v, TdStmts *list, TdLoc loc) {
  const TdType *beside = td_irgen_beside(v, 0, 2);
  const TdExpr *e[] = {td_irgen_to_scalar(l, v[0], beside), NULL};
  if (e[0]) e[1] = td_irgen_to_scalar(l, v[1], beside);
  if (!e[1]) return td_irgen_failed();
  bool simple = !list[0].n && !list[1].n && td_walk_expr(e[0], is_total, NULL) &&
                td_walk_expr(e[1], is_total, NULL);
  if (!simple) return branch(l, cond, e, list, loc);
  TdVal arms[] = {td_irgen_scalar(cond), td_irgen_scalar(e[0]), td_irgen_scalar(e[1])};
  return td_irgen_op(l, TD_OP_SELECT, arms, 3, loc);
}

static bool is_number(const TdVal *v) {
  return v->kind == TD_V_CONST ? td_value_is_number(&v->c)
                               : v->kind == TD_V_SCALAR && v->e->type->kind != TD_T_BOOL;
}

/* `cond and yes or no`, both being the expression e of `cond and yes`. */
static TdVal lower_choice(TdIrgen *l, const TdAstExpr *both, const TdAstExpr *no, TdLoc loc) {
  TdVal cond = td_irgen_settle(l, td_irgen_expr_or_nil(l, both->binary.left), "got");
  if (!td_irgen_ok(&cond)) return cond;
  if (cond.kind == TD_V_CONST) {
    TdVal left = with_right(l, true, cond, both->binary.right, loc);
    left = td_irgen_settle(l, left, "got");
    return !td_irgen_ok(&left) || (left.kind != TD_V_CONST && is_number(&left))
               ? left
               : with_right(l, false, left, no, loc);
  }
  const TdExpr *c = td_irgen_to_bool(l, cond);
  if (!c) return td_irgen_failed();
  TdStmts list[2] = {{0}, {0}};
  TdVal v[2] = {lower_aside(l, both->binary.right, &list[0]), td_irgen_failed()};
  if (!td_irgen_ok(&v[0])) return v[0];
  if (!is_number(&v[0])) {
    TdVal left = combine(l, true, c, v[0], &list[0], loc);
    return td_irgen_ok(&left) ? with_right(l, false, left, no, loc) : left;
  }
  v[1] = lower_aside(l, no, &list[1]);
  return td_irgen_ok(&v[1]) ? choose(l, c, v, list, loc) : v[1];
}

TdVal td_irgen_lazy(TdIrgen *l, const TdAstExpr *e) {
  const TdAstExpr *left = e->binary.left;
  while (left->kind == TD_AST_PAREN) left = left->paren;
  bool is_and = e->binary.op == TD_AST_AND;
  if (!is_and && left->kind == TD_AST_BINARY && left->binary.op == TD_AST_AND)
    return lower_choice(l, left, e->binary.right, e->loc);
  TdVal v = td_irgen_settle(l, td_irgen_expr_or_nil(l, e->binary.left), "got");
  return td_irgen_ok(&v) ? with_right(l, is_and, v, e->binary.right, e->loc) : v;
}
