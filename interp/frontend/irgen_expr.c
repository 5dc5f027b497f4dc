/* irgen_expr.c - Lua expressions to IR: names, operators, literals, and what a value may be used
 * as. */
#include <string.h>

#include "frontend/irgen.h"

TdVal td_irgen_scalar(const TdExpr *e) {
  return (TdVal){.kind = TD_V_SCALAR, .e = e, .loc = e->loc};
}

TdVal td_irgen_const(TdConst c, TdLoc loc) {
  return (TdVal){.kind = TD_V_CONST, .c = c, .loc = loc};
}

/* The number of a constant as a literal of type t, converted as a cast does. */
static const TdExpr *literal_as(TdIrgen *l, const TdConst *c, const TdType *t, TdLoc loc) {
  TdFault fault = TD_FAULT_NONE;
  if (t->kind == TD_T_FLOAT) {
    double x = c->kind == TD_C_FLOAT ? c->u.number : (double)c->u.integer;
    return td_expr_lit(l->arena, t, td_num_of_double(td_num_round(t, x)), loc);
  }
  const TdType *from =
      c->kind == TD_C_FLOAT ? td_type_float(l->session, 64) : td_type_int(l->session, 64);
  uint64_t bits = c->kind == TD_C_FLOAT ? td_num_of_double(c->u.number) : (uint64_t)c->u.integer;
  return td_expr_lit(l->arena, t, td_num_cast(t, from, bits, &fault), loc);
}

/* The size expression of an integer constant, at place loc. */
static const TdExpr *size_expr(TdIrgen *l, const TdConst *c, TdLoc loc) {
  return c->size ? c->size : td_expr_index(l->session, l->arena, c->u.integer, loc);
}

static const TdExpr *int_literal(TdIrgen *l, const TdConst *c, const TdType *beside, TdLoc loc) {
  if (beside && beside->kind == TD_T_FLOAT) return literal_as(l, c, beside, loc);
  if (beside && beside->kind == TD_T_INDEX) return size_expr(l, c, loc);
  if (c->size) return td_expr_cast(l->arena, td_type_int(l->session, 32), c->size, true);
  return td_expr_lit(l->arena, td_promote_literal(l->session, c->u.integer), (uint64_t)c->u.integer,
                     loc);
}

/* A constant number or boolean as an expression. */
static const TdExpr *literal(TdIrgen *l, const TdConst *c, const TdType *beside, TdLoc loc) {
  switch (c->kind) {
  case TD_C_BOOL: return td_expr_lit(l->arena, td_type_bool(l->session), c->u.boolean, loc);
  case TD_C_INT:
    if (c->typed && !(beside && beside->kind == TD_T_INDEX)) return literal_as(l, c, c->typed, loc);
    return int_literal(l, c, beside, loc);
  case TD_C_FLOAT: {
    const TdType *t = c->typed ? c->typed : beside;
    if (!t || t->kind != TD_T_FLOAT) t = td_type_float(l->session, 32);
    return literal_as(l, c, t, loc);
  }
  default:
    td_irgen_fail(l, "not-a-value", loc, "%s is not a value inside a kernel", td_value_words(c));
    return NULL;
  }
}

const TdExpr *td_irgen_to_scalar(TdIrgen *l, TdVal v, const TdType *beside) {
  v = td_irgen_settle(l, v, "got");
  switch (v.kind) {
  case TD_V_CONST: return literal(l, &v.c, beside, v.loc);
  case TD_V_SCALAR: return v.e;
  case TD_V_FAILED: return NULL;
  case TD_V_TENSOR:
    td_irgen_fail(l, "not-a-scalar", v.loc, "a tensor stands where a scalar is expected");
    return NULL;
  case TD_V_STREAM:
    td_irgen_fail(l, "not-a-scalar", v.loc, "a stream stands where a value is expected");
    td_diag_help(l->diag, "take a token with :get()");
    return NULL;
  default: td_irgen_fail(l, "not-a-value", v.loc, "this gives no value"); return NULL;
  }
}

const TdExpr *td_irgen_to_index(TdIrgen *l, TdVal v) {
  const TdType *index = td_type_index(l->session);
  if (v.kind == TD_V_CONST && v.c.kind == TD_C_FLOAT) {
    td_irgen_fail(l, "index-type", v.loc, "an index must be an integer, not a float");
    return NULL;
  }
  const TdExpr *e = td_irgen_to_scalar(l, v, index);
  if (!e) return NULL;
  if (e->type->kind == TD_T_INDEX) return td_lin_simplify(l->session, l->arena, e);
  if (td_type_is_integer(e->type) && e->type->w <= 64)
    return td_expr_cast(l->arena, index, e, true);
  td_irgen_fail(l, "index-type", v.loc, "an index must be an integer, not %s",
                td_type_str(l->arena, e->type));
  return NULL;
}

const TdExpr *td_irgen_to_bool(TdIrgen *l, TdVal v) {
  const TdExpr *e = td_irgen_to_scalar(l, v, NULL);
  if (!e || e->type->kind == TD_T_BOOL) return e;
  td_irgen_fail(l, "condition", v.loc, "condition is a number, not a boolean (in Lua 0 is true)");
  td_diag_help(l->diag, "compare it: x ~= 0");
  return NULL;
}

static bool is_bool_mismatch(const TdType *x, const TdType *y) {
  return (x->kind == TD_T_BOOL) != (y->kind == TD_T_BOOL);
}

const TdExpr *td_irgen_to_stored(TdIrgen *l, TdVal v, const TdType *t) {
  bool bare = v.kind == TD_V_CONST && td_value_is_number(&v.c) && !v.c.typed && !v.c.size;
  bool fits = t->kind != TD_T_BOOL && (v.c.kind != TD_C_FLOAT || t->kind == TD_T_FLOAT);
  if (bare && fits && t->w <= 64) return literal_as(l, &v.c, t, v.loc);
  const TdExpr *e = td_irgen_to_scalar(l, v, t);
  if (!e || e->type == t) return e;
  const TdType *from = e->type->kind == TD_T_INDEX ? td_type_int(l->session, 64) : e->type;
  if (is_bool_mismatch(t, e->type) || !td_promote_can_store(t, from)) {
    td_irgen_fail(l, "needs-cast", v.loc, "%s does not become %s by itself",
                  td_type_str(l->arena, e->type), td_type_str(l->arena, t));
    td_diag_help(l->diag, "convert it: %s(...)", td_type_str(l->arena, t));
    return NULL;
  }
  if (!td_promote_cast(l->session, t, e->type, v.loc, l->diag)) return NULL;
  return td_expr_fold(l->session, l->arena, td_expr_cast(l->arena, t, e, true));
}

TdVal td_irgen_settle(TdIrgen *l, TdVal v, const char *name) {
  if (v.kind != TD_V_GET && v.kind != TD_V_FRESH) return v;
  const TdType *t;
  TdOrigin origin;
  TdSym sym = td_irgen_local(l, name, v, &t, &origin);
  if (!sym) return td_irgen_failed();
  if (t->kind == TD_T_TENSOR)
    return (TdVal){
        .kind = TD_V_TENSOR, .e = td_expr_whole(l->session, l->arena, sym, t, v.loc), .loc = v.loc};
  return td_irgen_scalar(td_expr_load(l->arena, sym, t, NULL, 0, v.loc));
}

/* A float or index type among the operands, which bare numbers beside it take. */
static const TdType *beside_type(const TdVal *v, int from, int n) {
  for (int i = from; i < n; i++) {
    const TdType *t = v[i].kind == TD_V_SCALAR || v[i].kind == TD_V_TENSOR
                          ? td_type_scalar(v[i].e->type)
                      : v[i].kind == TD_V_CONST && v[i].c.kind != TD_C_BOOL ? v[i].c.typed
                                                                            : NULL;
    if (t && (t->kind == TD_T_FLOAT || t->kind == TD_T_INDEX)) return t;
  }
  return NULL;
}

/* An index operand among data is an int(32) (proved to fit when the unit is checked). */
static const TdExpr *data_operand(TdIrgen *l, const TdExpr *e, bool all_index) {
  if (e->type->kind != TD_T_INDEX || all_index) return e;
  return td_expr_cast(l->arena, td_type_int(l->session, 32), e, true);
}

/* Constants that a non-affine use or a branch fixed: their sizes lose their names. */
static void pin_consts(TdIrgen *l, const TdVal *v, int n) {
  for (int i = 0; i < n; i++)
    if (v[i].kind == TD_V_CONST && v[i].c.kind == TD_C_INT && v[i].c.size)
      td_sizes_pin(l->sizes, v[i].c.size);
}

/* Operands as scalar expressions of agreeing types; NULL entries on failure. */
static bool scalar_operands(TdIrgen *l, TdOp op, const TdVal *v, int n, const TdExpr **e) {
  bool shift = op == TD_OP_SHL || op == TD_OP_SHR || op == TD_OP_ASR;
  bool bits = op == TD_OP_GETBITS || op == TD_OP_SETBITS;
  int first = op == TD_OP_SELECT ? 1 : 0;
  const TdType *beside = shift || bits ? NULL : beside_type(v, first, n);
  for (int i = 0; i < n; i++) {
    bool position = bits && (i == 1 || i == 2);
    e[i] = position ? td_irgen_to_index(l, v[i])
                    : td_irgen_to_scalar(l, v[i], i < first ? NULL : beside);
    if (!e[i]) return false;
  }
  if (bits) return true;
  bool all_index = true;
  for (int i = first; i < n; i++) all_index &= e[i]->type->kind == TD_T_INDEX;
  for (int i = first; i < n; i++) e[i] = data_operand(l, e[i], all_index);
  return true;
}

/* The result type of op on scalar operands. */
static const TdType *result_type(TdIrgen *l, TdOp op, const TdExpr *const *e, int n, TdLoc loc) {
  const TdType *t[4];
  for (int i = 0; i < n; i++) t[i] = e[i]->type;
  int64_t c, hi;
  if (op == TD_OP_SHL && td_expr_is_const(e[1], &c))
    return td_promote_shl(l->session, t[0], c, loc, l->diag);
  if (op == TD_OP_GETBITS || op == TD_OP_SETBITS) {
    if (!td_lin_diff(l->session, e[2], e[1], &c)) {
      td_irgen_fail(l, "bits-width", loc, "the width hi - lo of a bit slice must be a constant");
      return NULL;
    }
    bool fixed = td_expr_is_const(e[1], &hi);
    const TdType *bits =
        td_promote_bits(l->session, t[0], fixed ? hi : 0, fixed ? hi + c : c, loc, l->diag);
    return op == TD_OP_GETBITS || !bits ? bits : td_type_plain(l->session, t[0]);
  }
  return td_promote_op(l->session, op, t, n, loc, l->diag);
}

static TdVal scalar_op(TdIrgen *l, TdOp op, const TdVal *v, int n, TdLoc loc) {
  const TdExpr *e[4];
  if (!scalar_operands(l, op, v, n, e)) return td_irgen_failed();
  const TdType *t = result_type(l, op, e, n, loc);
  if (!t) return td_irgen_failed();
  const TdExpr *r = td_expr_op(l->arena, op, t, e, n, loc);
  return td_irgen_scalar(td_expr_fold(l->session, l->arena, r));
}

/* op element by element: tensors of one shape, and scalars. */
static TdVal tensor_op(TdIrgen *l, TdOp op, const TdVal *v, int n, TdLoc loc) {
  const TdExpr *e[4];
  const TdType *shape = NULL, *t[4];
  const TdType *beside = beside_type(v, op == TD_OP_SELECT ? 1 : 0, n);
  for (int i = 0; i < n; i++) {
    e[i] = v[i].kind == TD_V_TENSOR ? v[i].e : td_irgen_to_scalar(l, v[i], beside);
    if (!e[i]) return td_irgen_failed();
    if (e[i]->type->kind != TD_T_TENSOR) e[i] = data_operand(l, e[i], false);
    t[i] = td_type_scalar(e[i]->type);
    if (e[i]->type->kind != TD_T_TENSOR) continue;
    if (shape && !td_irgen_same_shape(l, shape, e[i]->type)) {
      td_irgen_fail(l, "shapes", loc, "shapes differ: %s and %s", td_type_str(l->arena, shape),
                    td_type_str(l->arena, e[i]->type));
      td_diag_help(l->diag, "tensors combine when shapes are equal or one side is a scalar");
      return td_irgen_failed();
    }
    shape = e[i]->type;
  }
  int64_t count;
  const TdType *elem = op == TD_OP_SHL && td_expr_is_const(e[1], &count)
                           ? td_promote_shl(l->session, t[0], count, loc, l->diag)
                           : td_promote_op(l->session, op, t, n, loc, l->diag);
  if (!elem) return td_irgen_failed();
  const TdExpr *r = td_expr_op(l->arena, op, td_type_reshape(l->session, shape, elem), e, n, loc);
  return (TdVal){.kind = TD_V_TENSOR, .e = r, .loc = loc};
}

TdVal td_irgen_op(TdIrgen *l, TdOp op, TdVal *v, int n, TdLoc loc) {
  bool tensor = false;
  for (int i = 0; i < n; i++) {
    v[i] = td_irgen_settle(l, v[i], "got");
    if (!td_irgen_ok(&v[i])) return td_irgen_failed();
    tensor |= v[i].kind == TD_V_TENSOR;
  }
  return tensor ? tensor_op(l, op, v, n, loc) : scalar_op(l, op, v, n, loc);
}

/* The index expression that a sized constant operation denotes; sizes are pinned when it is not
 * affine. */
static void keep_size(TdIrgen *l, TdAstBinary op, const TdVal *v, TdConst *out, TdLoc loc) {
  static const int as_op[] = {[TD_AST_ADD] = TD_OP_ADD + 1,
                              [TD_AST_SUB] = TD_OP_SUB + 1,
                              [TD_AST_MUL] = TD_OP_MUL + 1,
                              [TD_AST_IDIV] = TD_OP_FLOORDIV + 1,
                              [TD_AST_MOD] = TD_OP_MOD + 1};
  if (!v[0].c.size && !v[1].c.size) return;
  int code = (size_t)op < sizeof as_op / sizeof *as_op ? as_op[op] : 0;
  if (out->kind == TD_C_INT && code) {
    const TdExpr *e = td_expr_op2(l->arena, (TdOp)(code - 1), td_type_index(l->session),
                                  size_expr(l, &v[0].c, loc), size_expr(l, &v[1].c, loc));
    TdLin lin = td_lin_of(l->session, l->arena, e);
    if (td_lin_is_affine(&lin)) {
      out->size = td_lin_expr(l->session, l->arena, &lin, loc);
      return;
    }
  }
  bool affine_left = code == TD_OP_MUL + 1 || code == TD_OP_FLOORDIV + 1 || code == TD_OP_MOD + 1;
  if (affine_left && v[1].c.size && out->kind == TD_C_INT)
    pin_consts(l, v + 1, 1);
  else
    pin_consts(l, v, 2);
}

/* The exact type of an operation on constants of which one is bound to a typed local. */
static const TdType *typed_result(TdIrgen *l, TdAstBinary op, const TdVal *v, const TdConst *r,
                                  TdLoc loc) {
  static const int as_op[] = {[TD_AST_ADD] = TD_OP_ADD + 1,   [TD_AST_SUB] = TD_OP_SUB + 1,
                              [TD_AST_MUL] = TD_OP_MUL + 1,   [TD_AST_IDIV] = TD_OP_FLOORDIV + 1,
                              [TD_AST_MOD] = TD_OP_MOD + 1,   [TD_AST_DIV] = TD_OP_DIV + 1,
                              [TD_AST_BAND] = TD_OP_BAND + 1, [TD_AST_BOR] = TD_OP_BOR + 1,
                              [TD_AST_BXOR] = TD_OP_BXOR + 1};
  bool number = r->kind == TD_C_INT || r->kind == TD_C_FLOAT;
  if (!number || (!v[0].c.typed && !v[1].c.typed)) return NULL;
  int code = (size_t)op < sizeof as_op / sizeof *as_op ? as_op[op] : 0;
  const TdType *beside = beside_type(v, 0, 2);
  const TdExpr *x = literal(l, &v[0].c, beside, loc), *y = literal(l, &v[1].c, beside, loc);
  if (!code || !x || !y) return NULL;
  const TdType *t[] = {x->type, y->type};
  return td_promote_op(l->session, code - 1, t, 2, loc, l->diag);
}

static TdVal const_binary(TdIrgen *l, TdAstBinary op, const TdVal *v, TdLoc loc) {
  TdConst r;
  if (!td_value_binary(l->arena, op, &v[0].c, &v[1].c, &r)) {
    td_irgen_fail(l, "constant", loc, "cannot compute %s %s %s at compile time",
                  td_value_words(&v[0].c), td_ast_binary_text(op), td_value_words(&v[1].c));
    return td_irgen_failed();
  }
  if (op != TD_AST_AND && op != TD_AST_OR) {
    keep_size(l, op, v, &r, loc);
    r.typed = typed_result(l, op, v, &r, loc);
  }
  return td_diag_failed(l->diag) ? td_irgen_failed() : td_irgen_const(r, loc);
}

/* Lowers e into a list of its own; *list says whether it needed statements (gets). */
static TdVal lower_aside(TdIrgen *l, const TdAstExpr *e, TdStmts *list) {
  TdStmts *out = l->out;
  l->out = list;
  TdVal v = td_irgen_settle(l, td_irgen_expr(l, e), "got");
  l->out = out;
  return v;
}

/* `local r = left; if r (or not r) then ..; r = right end; r`: the lazy operator when its right
 * side takes tokens. */
static TdVal lazy_if(TdIrgen *l, bool is_and, const TdExpr *left, TdStmts *list,
                     const TdExpr *right, TdLoc loc) {
  const TdType *t = td_type_bool(l->session);
  TdSym sym = td_irgen_declare(l, "both", TD_SYM_LOCAL);
  td_irgen_emit(l, td_stmt_local(l->store, sym, t, TD_INIT_VALUE, left, loc));
  const TdExpr *place = td_expr_load(l->arena, sym, t, NULL, 0, loc);
  td_vec_push(l->arena, list, td_stmt_store(l->store, place, right, loc));
  const TdExpr *cond = is_and ? place : td_expr_op(l->arena, TD_OP_NOT, t, &place, 1, loc);
  td_irgen_emit(
      l, td_stmt_if(l->store, cond, td_stmt_block(l->store, list->at, list->n, loc), NULL, loc));
  return td_irgen_scalar(place);
}

/* Whether e may be computed although the other arm is wanted: no load that could be out of range,
 * no division. */
static bool is_total(void *ud, const TdExpr *e) {
  (void)ud;
  if (e->kind == TD_EXPR_LOAD) return e->nkid == 0;
  return e->kind != TD_EXPR_OP ||
         (td_ops[e->op].rule != TD_RULE_FLOORDIV && td_ops[e->op].rule != TD_RULE_MOD);
}

/* `c and x or y` on numbers: a select, or a branch where an arm must not be computed in vain. */
static TdVal choose(TdIrgen *l, const TdExpr *cond, const TdAstExpr *yes, const TdAstExpr *no,
                    TdLoc loc) {
  TdStmts list[2] = {{0}, {0}};
  TdVal v[2] = {lower_aside(l, yes, &list[0]), td_irgen_failed()};
  if (td_irgen_ok(&v[0])) v[1] = lower_aside(l, no, &list[1]);
  if (!td_irgen_ok(&v[1])) return v[1];
  const TdType *beside = beside_type(v, 0, 2);
  const TdExpr *e[] = {td_irgen_to_scalar(l, v[0], beside), NULL};
  if (e[0]) e[1] = td_irgen_to_scalar(l, v[1], beside);
  if (!e[1]) return td_irgen_failed();
  bool simple = !list[0].n && !list[1].n && td_walk_expr(e[0], is_total, NULL) &&
                td_walk_expr(e[1], is_total, NULL);
  TdVal arms[] = {td_irgen_scalar(cond), td_irgen_scalar(e[0]), td_irgen_scalar(e[1])};
  if (simple) return td_irgen_op(l, TD_OP_SELECT, arms, 3, loc);
  const TdType *t = td_promote_join(l->session, e[0]->type, e[1]->type);
  if (!t) {
    td_irgen_fail(l, "join", loc, "the two values have no common type");
    return td_irgen_failed();
  }
  TdSym sym = td_irgen_declare(l, "chosen", TD_SYM_LOCAL);
  td_irgen_emit(l, td_stmt_local(l->store, sym, t, TD_INIT_NONE, NULL, loc));
  const TdExpr *place = td_expr_load(l->arena, sym, t, NULL, 0, loc);
  const TdStmt *block[2];
  for (int i = 0; i < 2; i++) {
    const TdExpr *x = td_irgen_to_stored(l, td_irgen_scalar(e[i]), t);
    if (!x) return td_irgen_failed();
    td_vec_push(l->arena, &list[i], td_stmt_store(l->store, place, x, loc));
    block[i] = td_stmt_block(l->store, list[i].at, list[i].n, loc);
  }
  td_irgen_emit(l, td_stmt_if(l->store, cond, block[0], block[1], loc));
  return td_irgen_scalar(place);
}

/* `c and x or y` where x is not a boolean; false when e is not of that form. */
static bool is_choice(TdIrgen *l, const TdAstExpr *e, TdVal *cond) {
  if (e->kind != TD_AST_BINARY || e->binary.op != TD_AST_OR) return false;
  const TdAstExpr *left = e->binary.left;
  while (left->kind == TD_AST_PAREN) left = left->paren;
  if (left->kind != TD_AST_BINARY || left->binary.op != TD_AST_AND) return false;
  TdStmts probe = {0};
  TdDiag quiet = {.arena = l->diag->arena}, *diag = l->diag;
  l->diag = &quiet;
  TdVal yes = lower_aside(l, left->binary.right, &probe);
  l->diag = diag;
  bool number = yes.kind == TD_V_SCALAR ? yes.e->type->kind != TD_T_BOOL
                                        : yes.kind == TD_V_CONST && td_value_is_number(&yes.c);
  if (!number) return false;
  *cond = td_irgen_expr(l, left->binary.left);
  return true;
}

static TdVal lower_choice(TdIrgen *l, const TdAstExpr *e, TdVal cond) {
  const TdAstExpr *left = e->binary.left;
  while (left->kind == TD_AST_PAREN) left = left->paren;
  if (!td_irgen_ok(&cond)) return cond;
  if (cond.kind == TD_V_CONST) {
    pin_consts(l, &cond, 1);
    return td_irgen_expr(l, td_value_truth(&cond.c) ? left->binary.right : e->binary.right);
  }
  const TdExpr *c = td_irgen_to_bool(l, cond);
  return c ? choose(l, c, left->binary.right, e->binary.right, e->loc) : td_irgen_failed();
}

static TdVal lower_lazy(TdIrgen *l, const TdAstExpr *e) {
  bool is_and = e->binary.op == TD_AST_AND;
  TdVal cond;
  if (!is_and && is_choice(l, e, &cond)) return lower_choice(l, e, cond);
  TdVal left = td_irgen_settle(l, td_irgen_expr(l, e->binary.left), "got");
  if (!td_irgen_ok(&left)) return left;
  if (left.kind == TD_V_CONST)
    return td_value_truth(&left.c) == is_and ? td_irgen_expr(l, e->binary.right) : left;
  const TdExpr *x = td_irgen_to_bool(l, left);
  if (!x) return td_irgen_failed();
  TdStmts list = {0};
  TdVal right = lower_aside(l, e->binary.right, &list);
  const TdExpr *y = td_irgen_ok(&right) ? td_irgen_to_bool(l, right) : NULL;
  if (!y) return td_irgen_failed();
  if (list.n) return lazy_if(l, is_and, x, &list, y, e->loc);
  const TdExpr *kid[] = {x, y};
  return td_irgen_scalar(td_expr_op(l->arena, is_and ? TD_OP_AND : TD_OP_OR,
                                    td_type_bool(l->session), kid, 2, e->loc));
}

/* The IR operator of a Lua one; -1 when kernels have none. Swapped comparisons are turned round by
 * the caller. */
static int binary_op(TdAstBinary op) {
  switch (op) {
  case TD_AST_LT:
  case TD_AST_GT: return TD_OP_LT;
  case TD_AST_LE:
  case TD_AST_GE: return TD_OP_LE;
  case TD_AST_NE: return TD_OP_NE;
  case TD_AST_EQ: return TD_OP_EQ;
  case TD_AST_BOR: return TD_OP_BOR;
  case TD_AST_BXOR: return TD_OP_BXOR;
  case TD_AST_BAND: return TD_OP_BAND;
  case TD_AST_SHL: return TD_OP_SHL;
  case TD_AST_SHR: return TD_OP_SHR;
  case TD_AST_ADD: return TD_OP_ADD;
  case TD_AST_SUB: return TD_OP_SUB;
  case TD_AST_MUL: return TD_OP_MUL;
  case TD_AST_DIV: return TD_OP_DIV;
  case TD_AST_IDIV: return TD_OP_FLOORDIV;
  case TD_AST_MOD: return TD_OP_MOD;
  default: return -1;
  }
}

TdVal td_irgen_binary(TdIrgen *l, const TdAstExpr *e) {
  TdAstBinary op = e->binary.op;
  if (op == TD_AST_AND || op == TD_AST_OR) return lower_lazy(l, e);
  TdVal v[2] = {td_irgen_settle(l, td_irgen_expr(l, e->binary.left), "got"), td_irgen_failed()};
  if (td_irgen_ok(&v[0])) v[1] = td_irgen_settle(l, td_irgen_expr(l, e->binary.right), "got");
  if (!td_irgen_ok(&v[1])) return v[1];
  if (v[0].kind == TD_V_CONST && v[1].kind == TD_V_CONST) return const_binary(l, op, v, e->loc);
  int code = binary_op(op);
  if (code < 0) {
    td_irgen_fail(l, "operator", e->loc, "'%s' is not allowed in a kernel", td_ast_binary_text(op));
    if (op == TD_AST_POW) td_diag_help(l->diag, "multiply, or use tide.exp and tide.log");
    return td_irgen_failed();
  }
  TdVal swapped[2] = {v[1], v[0]};
  bool swap = op == TD_AST_GT || op == TD_AST_GE;
  return td_irgen_op(l, (TdOp)code, swap ? swapped : v, 2, e->loc);
}

/* #t: the first extent. */
static TdVal lower_length(TdIrgen *l, TdVal v, TdLoc loc) {
  if (v.kind == TD_V_TENSOR && v.e->type->rank > 0) {
    TdConst c = {.kind = TD_C_INT, .size = v.e->type->dim[0]};
    if (!td_expr_is_const(v.e->type->dim[0], &c.u.integer))
      return td_irgen_scalar(v.e->type->dim[0]);
    c.size = NULL;
    return td_irgen_const(c, loc);
  }
  if (v.kind == TD_V_CONST && v.c.kind == TD_C_TABLE)
    return td_irgen_const(td_value_int(l->host->length(l->host->ud, v.c.handle)), loc);
  if (v.kind == TD_V_CONST && (v.c.kind == TD_C_TENSOR || v.c.kind == TD_C_STATE))
    return td_irgen_const(td_value_int(v.c.u.tensor->extent[0]), loc);
  td_irgen_fail(l, "length", loc, "'#' needs a tensor or a constant list");
  return td_irgen_failed();
}

TdVal td_irgen_unary(TdIrgen *l, const TdAstExpr *e) {
  TdVal v = td_irgen_settle(l, td_irgen_expr(l, e->unary.of), "got");
  if (!td_irgen_ok(&v)) return v;
  TdConst r;
  if (v.kind == TD_V_CONST && td_value_unary(e->unary.op, &v.c, &r)) {
    TdVal zero[2] = {td_irgen_const(td_value_int(0), e->loc), v};
    if (e->unary.op == TD_AST_NEG) keep_size(l, TD_AST_SUB, zero, &r, e->loc);
    if (e->unary.op == TD_AST_BNOT) pin_consts(l, &v, 1);
    if (v.c.typed && e->unary.op == TD_AST_NEG) {
      const TdType *t = v.c.typed;
      r.typed = td_promote_op(l->session, TD_OP_NEG, &t, 1, e->loc, l->diag);
    }
    return td_irgen_const(r, e->loc);
  }
  switch (e->unary.op) {
  case TD_AST_LEN: return lower_length(l, v, e->loc);
  case TD_AST_NEG: return td_irgen_op(l, TD_OP_NEG, &v, 1, e->loc);
  case TD_AST_BNOT: return td_irgen_op(l, TD_OP_BNOT, &v, 1, e->loc);
  default: break;
  }
  const TdExpr *x = td_irgen_to_bool(l, v);
  if (!x) return td_irgen_failed();
  if (x->kind == TD_EXPR_OP && x->op == TD_OP_NOT) return td_irgen_scalar(x->kid[0]);
  return td_irgen_scalar(td_expr_op(l->arena, TD_OP_NOT, x->type, &x, 1, e->loc));
}
