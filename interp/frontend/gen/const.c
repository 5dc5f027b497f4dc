/* const.c - operators on values that are known now: computed as Lua does, and what becomes of
 * the sizes in them. */
#include <math.h>

#include "frontend/gen/irgen.h"

const TdExpr *td_irgen_literal_as(TdIrgen *l, const TdConst *c, const TdType *t, TdLoc loc) {
  TdFault fault = TD_FAULT_NONE;
  if (t->kind == TD_T_FLOAT && c->kind == TD_C_FLOAT)
    return td_expr_lit(l->arena, t, td_num_of_double(td_num_round(t, c->u.number)), loc);
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
  if (beside && beside->kind == TD_T_FLOAT) return td_irgen_literal_as(l, c, beside, loc);
  if (beside && beside->kind == TD_T_INDEX) return size_expr(l, c, loc);
  if (c->size) return td_expr_cast(l->arena, td_type_int(l->session, 32), c->size, true);
  return td_expr_lit(l->arena, td_promote_literal(l->session, c->u.integer), (uint64_t)c->u.integer,
                     loc);
}

const TdExpr *td_irgen_literal(TdIrgen *l, const TdConst *c, const TdType *beside, TdLoc loc) {
  switch (c->kind) {
  case TD_C_BOOL: return td_expr_lit(l->arena, td_type_bool(l->session), c->u.boolean, loc);
  case TD_C_INT:
    if (c->typed && !(beside && beside->kind == TD_T_INDEX))
      return td_irgen_literal_as(l, c, c->typed, loc);
    return int_literal(l, c, beside, loc);
  case TD_C_FLOAT: {
    const TdType *t = c->typed ? c->typed : beside;
    if (!t || t->kind != TD_T_FLOAT) t = td_type_float(l->session, 32);
    return td_irgen_literal_as(l, c, t, loc);
  }
  default:
    td_irgen_fail(l, "not-a-value", loc, "%s is not a value inside a kernel", td_value_words(c));
    return NULL;
  }
}

void td_irgen_pin(TdIrgen *l, const TdVal *v, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (v[i].kind == TD_V_CONST && v[i].c.kind == TD_C_INT && v[i].c.size)
      td_sizes_pin(l->sizes, v[i].c.size);
}

/* The index expression that a sized constant operation denotes; sizes are pinned when it is not
 * affine. */
static void keep_size(TdIrgen *l, TdAstBinary op, const TdVal *v, TdConst *out, TdLoc loc) {
  if (!v[0].c.size && !v[1].c.size) return;
  int code = td_irgen_binary_op(op);
  bool divides = code == TD_OP_FLOORDIV || code == TD_OP_MOD;
  bool affine = divides || code == TD_OP_ADD || code == TD_OP_SUB || code == TD_OP_MUL;
  if (out->kind == TD_C_INT && affine) {
    const TdExpr *e = td_expr_op2(l->arena, (TdOp)code, td_type_index(l->session),
                                  size_expr(l, &v[0].c, loc), size_expr(l, &v[1].c, loc));
    TdLin lin = td_lin_of(l->session, l->arena, e);
    if (td_lin_is_affine(&lin)) {
      out->size = td_lin_expr(l->session, l->arena, &lin, loc);
      return;
    }
  }
  bool right_only = out->kind == TD_C_INT && (divides || code == TD_OP_MUL) && v[1].c.size;
  td_irgen_pin(l, right_only ? v + 1 : v, right_only ? 1 : 2);
}

/* Turns the folded operation e on typed constants into a constant of its exact type; false if it
 * could not be folded. */
static bool take_folded(const TdExpr *e, TdConst *out) {
  if (e->kind != TD_EXPR_LIT) return false;
  out->typed = e->type;
  if (out->kind == TD_C_FLOAT) out->u.number = td_num_double(e->u.bits);
  return true;
}

/* An operation with a constant that a local of type i32 or f32 is bound to: its type is exact, and
 * a float is rounded. *r is Lua's result. */
static TdVal typed_binary(TdIrgen *l, TdAstBinary op, const TdVal *v, TdConst *r, TdLoc loc) {
  int code = td_irgen_binary_op(op);
  const TdType *beside = code == TD_OP_SHL ? NULL : td_irgen_beside(v, 0, 2);
  TdVal arg[2];
  for (int i = 0; i < 2; i++) {
    TdConst c = v[i].c;
    bool shifted = code == TD_OP_SHL && i == 0 && c.kind == TD_C_INT && !c.typed && !c.size;
    if (shifted && v[1].c.typed) c.typed = td_promote_shifted(l->session, c.u.integer);
    const TdExpr *e = td_irgen_literal(l, &c, beside, v[i].loc);
    if (!e) return td_irgen_failed();
    arg[i] = td_irgen_scalar(e);
  }
  TdVal x = td_irgen_op(l, (TdOp)code, arg, 2, loc);
  if (!td_irgen_ok(&x) || !take_folded(x.e, r)) return x;
  x = td_irgen_const(*r, loc);
  x.exact = true;
  return x;
}

TdVal td_irgen_const_binary(TdIrgen *l, TdAstBinary op, const TdVal *v, TdLoc loc) {
  TdConst r = {0};
  if (!td_value_binary(l->arena, op, &v[0].c, &v[1].c, &r)) {
    td_irgen_fail(l, "constant", loc, "cannot compute %s %s %s at compile time",
                  td_value_words(&v[0].c), td_ast_binary_text(op), td_value_words(&v[1].c));
    return td_irgen_failed();
  }
  keep_size(l, op, v, &r, loc);
  bool typed = (v[0].c.typed || v[1].c.typed) && td_value_is_number(&r);
  bool ours = td_irgen_binary_op(op) >= 0 && op != TD_AST_SHR;
  return typed && ours && !r.size ? typed_binary(l, op, v, &r, loc) : td_irgen_const(r, loc);
}

bool td_irgen_const_unary(TdIrgen *l, TdAstUnary op, const TdVal *v, TdLoc loc, TdVal *out) {
  TdConst r = {0};
  if (v->kind != TD_V_CONST || !td_value_unary(op, &v->c, &r)) return false;
  TdVal zero[2] = {td_irgen_const(td_value_int(0), loc), *v};
  if (op == TD_AST_NEG) keep_size(l, TD_AST_SUB, zero, &r, loc);
  if (op == TD_AST_BNOT) td_irgen_pin(l, v, 1);
  bool typed = v->c.typed && (op == TD_AST_NEG || op == TD_AST_BNOT);
  *out = td_irgen_const(r, loc);
  if (!typed || r.size) return true;
  TdVal x = td_irgen_scalar(td_irgen_literal(l, &v->c, NULL, loc));
  *out = td_irgen_op(l, op == TD_AST_NEG ? TD_OP_NEG : TD_OP_BNOT, &x, 1, loc);
  if (!td_irgen_ok(out) || !take_folded(out->e, &r)) return true;
  *out = td_irgen_const(r, loc);
  out->exact = true;
  return true;
}

/* Lua's math.floor or math.ceil, whose result is an integer where one holds it. */
static TdConst rounded(const TdConst *c, double x) {
  if (c->kind == TD_C_INT) return *c;
  bool holds = x >= -9223372036854775808.0 && x < 9223372036854775808.0;
  return holds ? td_value_int((int64_t)x) : td_value_float(x);
}

/* op on constants; false when Lua has no function of that name. */
static bool call_op(TdOp op, const TdVal *v, TdConst *out) {
  TdConst lt;
  const TdConst *c = &v[0].c;
  double x = c->kind == TD_C_INT ? (double)c->u.integer : c->u.number;
  switch (op) {
  case TD_OP_MIN:
  case TD_OP_MAX:
    td_value_binary(NULL, TD_AST_LT, &v[op == TD_OP_MIN].c, &v[op != TD_OP_MIN].c, &lt);
    *out = v[lt.u.boolean].c;
    return true;
  case TD_OP_ABS:
    if (c->kind == TD_C_FLOAT)
      *out = td_value_float(fabs(x));
    else if (c->u.integer >= 0)
      *out = *c;
    else
      return td_value_unary(TD_AST_NEG, c, out);
    return true;
  case TD_OP_SQRT: *out = td_value_float(sqrt(x)); return true;
  case TD_OP_EXP: *out = td_value_float(exp(x)); return true;
  case TD_OP_LOG: *out = td_value_float(log(x)); return true;
  case TD_OP_SIN: *out = td_value_float(sin(x)); return true;
  case TD_OP_COS: *out = td_value_float(cos(x)); return true;
  case TD_OP_TANH: *out = td_value_float(tanh(x)); return true;
  case TD_OP_FLOOR: *out = rounded(c, floor(x)); return true;
  case TD_OP_CEIL: *out = rounded(c, ceil(x)); return true;
  default: return false;
  }
}

bool td_irgen_const_call(TdIrgen *l, TdOp op, const TdVal *v, size_t n, TdLoc loc, TdVal *out) {
  for (size_t i = 0; i < n; i++)
    if (v[i].kind != TD_V_CONST || !td_value_is_number(&v[i].c) || v[i].c.typed) return false;
  TdConst r = {0};
  if (!call_op(op, v, &r)) return false;
  td_irgen_pin(l, v, n);
  r.size = NULL;
  *out = td_irgen_const(r, loc);
  return true;
}
