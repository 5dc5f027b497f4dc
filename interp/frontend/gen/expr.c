/* expr.c - operators, and what a value may be used as. */
#include "frontend/gen/irgen.h"
#include "ir/mixed.h"

TdVal td_irgen_scalar(const TdExpr *e) {
  return (TdVal){.kind = TD_V_SCALAR, .e = e, .loc = e->loc};
}

TdVal td_irgen_tensor(const TdExpr *e, TdLoc loc) {
  return (TdVal){.kind = TD_V_TENSOR, .e = e, .loc = loc};
}

TdVal td_irgen_const(TdConst c, TdLoc loc) {
  return (TdVal){.kind = TD_V_CONST, .c = c, .loc = loc};
}

const TdType *td_irgen_beside(const TdVal *v, int from, int n) {
  for (int i = from; i < n; i++) {
    const TdType *t = v[i].kind == TD_V_SCALAR || v[i].kind == TD_V_TENSOR
                          ? td_type_scalar(v[i].e->type)
                      : v[i].kind == TD_V_CONST && v[i].c.kind != TD_C_BOOL ? v[i].c.typed
                                                                            : NULL;
    if (t && (t->kind == TD_T_FLOAT || t->kind == TD_T_INDEX)) return t;
  }
  return NULL;
}

/* Says how an element of the tensor e is written, if e has a name. */
static void help_element(TdIrgen *l, const TdExpr *e) {
  static const char indices[] = "ijklmn";
  if (e->kind != TD_EXPR_VIEW || e->type->rank > 6) return;
  TdText t = td_text_new(l->arena);
  for (int d = 0; d < e->type->rank; d++) td_text_putf(&t, "[%c]", indices[d]);
  const char *name = e->nkid == (uint32_t)e->type->rank ? e->sym->name : "v";
  td_diag_help(l->diag, "%s is %s: an element is %s%s", name, td_type_str(l->arena, e->type), name,
               td_text_str(&t));
}

const TdExpr *td_irgen_to_scalar(TdIrgen *l, TdVal v, const TdType *beside) {
  v = td_irgen_settle(l, v, "got");
  switch (v.kind) {
  case TD_V_CONST: return td_irgen_literal(l, &v.c, beside, v.loc);
  case TD_V_SCALAR: return v.e;
  case TD_V_FAILED: return NULL;
  case TD_V_TENSOR:
    td_irgen_fail(l, "not-a-scalar", v.loc, "a tensor stands where a scalar is expected");
    help_element(l, v.e);
    return NULL;
  case TD_V_STREAM:
    td_irgen_fail(l, "not-a-scalar", v.loc, "a stream stands where a value is expected");
    td_diag_help(l->diag, "take a token with :get()");
    return NULL;
  default: td_irgen_fail(l, "not-a-value", v.loc, "this gives no value"); return NULL;
  }
}

bool td_irgen_is_list(const TdAstExpr *e, size_t least, size_t most) {
  if (e->kind != TD_AST_TABLE || e->table.n < least || e->table.n > most) return false;
  for (size_t i = 0; i < e->table.n; i++)
    if (e->table.at[i].name || e->table.at[i].key) return false;
  return true;
}

bool td_irgen_constant(TdIrgen *l, const TdAstExpr *e, const char *code, const char *what,
                       int64_t least, int64_t *out) {
  TdVal v = td_irgen_expr(l, e);
  if (!td_irgen_ok(&v)) return false;
  if (v.kind != TD_V_CONST || v.c.kind != TD_C_INT || v.c.u.integer < least)
    return td_irgen_fail(l, code, e->loc, "%s", what);
  td_irgen_pin(l, &v, 1);
  *out = v.c.u.integer;
  return true;
}

const TdExpr *td_irgen_to_index(TdIrgen *l, TdVal v) {
  const TdType *index = td_type_index(l->session);
  if (v.kind == TD_V_CONST && v.c.kind == TD_C_FLOAT) {
    td_irgen_fail(l, "index-type", v.loc, "an index must be an integer, not a float");
    return NULL;
  }
  const TdExpr *e = td_irgen_to_scalar(l, v, index);
  if (!e) return NULL;
  if (e->type->kind == TD_T_INDEX || (td_type_is_integer(e->type) && e->type->w <= 64))
    return td_lin_simplify(l->session, l->arena, td_mixed_as_index(l->session, l->arena, e));
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
  if (bare && fits && t->w <= 64) return td_irgen_literal_as(l, &v.c, t, v.loc);
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

/* Operands as scalar expressions of agreeing types; NULL entries on failure. */
static bool scalar_operands(TdIrgen *l, TdOp op, const TdVal *v, int n, const TdExpr **e) {
  bool shift = op == TD_OP_SHL || op == TD_OP_SHR || op == TD_OP_ASR;
  bool bits = op == TD_OP_GETBITS || op == TD_OP_SETBITS;
  int first = op == TD_OP_SELECT ? 1 : 0;
  const TdType *beside = shift || bits ? NULL : td_irgen_beside(v, first, n);
  for (int i = 0; i < n; i++) {
    bool position = bits && (i == 1 || i == 2);
    e[i] = position ? td_irgen_to_index(l, v[i])
                    : td_irgen_to_scalar(l, v[i], i < first ? NULL : beside);
    if (!e[i]) return false;
  }
  if (bits) return true;
  td_mixed_operands(l->session, l->arena, op, e, first, n);
  return true;
}

/* The width hi - lo of a slice, if it is constant: sizes in it become plain numbers. */
static bool slice_width(TdIrgen *l, const TdExpr *lo, const TdExpr *hi, int64_t *width) {
  if (td_lin_diff(l->session, hi, lo, width)) return true;
  const TdExpr *below = td_lin_times(l->session, l->arena, lo, -1);
  const TdExpr *n = td_lin_plus(l->session, l->arena, hi, below);
  if (!td_sizes_value(l->sizes, n, width)) return false;
  td_sizes_pin(l->sizes, n);
  return true;
}

/* Whether a shift by e is one by a constant, *count bits; a literal whose type is spelled, or that
 * a local is bound to, is a value of that type like others. */
static bool is_count(const TdExpr *e, int64_t *count) {
  bool typed = e->kind == TD_EXPR_LIT && e->type->kind != TD_T_INDEX &&
               !td_promote_is_least(e->type, e->u.bits);
  return !typed && td_expr_is_const(e, count);
}

/* The result type of op on scalar operands. */
static const TdType *result_type(TdIrgen *l, TdOp op, const TdExpr *const *e, int n, TdLoc loc) {
  const TdType *t[4];
  for (int i = 0; i < n; i++) t[i] = e[i]->type;
  int64_t c, hi;
  if (op == TD_OP_SHL && is_count(e[1], &c))
    return td_promote_shl(l->session, t[0], c, loc, l->diag);
  if (op == TD_OP_GETBITS || op == TD_OP_SETBITS) {
    if (!slice_width(l, e[1], e[2], &c)) {
      td_irgen_fail(l, "bits-width", loc, "the width hi - lo of a bit slice must be a constant");
      return NULL;
    }
    bool fixed = td_expr_is_const(e[1], &hi);
    const TdType *bits =
        td_promote_bits(l->session, t[0], fixed ? hi : 0, fixed ? hi + c : c, loc, l->diag);
    if (op == TD_OP_GETBITS || !bits) return bits;
  }
  return td_promote_op(l->session, (int)op, t, n, loc, l->diag);
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
  if (td_ops[op].rule == TD_RULE_COMPARE) {
    td_irgen_fail(l, "operator", loc, "'%s' does not compare tensors", td_ops[op].lua);
    td_diag_help(l->diag, "compare elements, in a loop");
    return td_irgen_failed();
  }
  const TdExpr *e[4];
  const TdType *shape = NULL, *t[4];
  const TdType *beside = td_irgen_beside(v, op == TD_OP_SELECT ? 1 : 0, n);
  for (int i = 0; i < n; i++) {
    e[i] = v[i].kind == TD_V_TENSOR ? v[i].e : td_irgen_to_scalar(l, v[i], beside);
    if (!e[i]) return td_irgen_failed();
    if (e[i]->type->kind != TD_T_TENSOR) e[i] = td_mixed_as_data(l->session, l->arena, e[i]);
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
  const TdType *elem = op == TD_OP_SHL && is_count(e[1], &count)
                           ? td_promote_shl(l->session, t[0], count, loc, l->diag)
                           : td_promote_op(l->session, (int)op, t, n, loc, l->diag);
  if (!elem) return td_irgen_failed();
  const TdExpr *r = td_expr_op(l->arena, op, td_type_reshape(l->session, shape, elem), e, n, loc);
  return (TdVal){.kind = TD_V_TENSOR, .e = r, .loc = loc};
}

/* Gives a bare literal that is shifted left by what is not constant its type. */
static void type_shifted(TdIrgen *l, TdVal *v) {
  int64_t c;
  bool bare = v[0].kind == TD_V_CONST && v[0].c.kind == TD_C_INT && !v[0].c.typed && !v[0].c.size;
  bool constant = (v[1].kind == TD_V_CONST && !v[1].c.typed) ||
                  (v[1].kind == TD_V_SCALAR && is_count(v[1].e, &c));
  if (bare && !constant) v[0].c.typed = td_promote_shifted(l->session, v[0].c.u.integer);
}

TdVal td_irgen_op(TdIrgen *l, TdOp op, TdVal *v, int n, TdLoc loc) {
  bool tensor = false;
  for (int i = 0; i < n; i++) {
    v[i] = td_irgen_settle(l, v[i], "got");
    if (!td_irgen_ok(&v[i])) return td_irgen_failed();
    tensor |= v[i].kind == TD_V_TENSOR;
  }
  if (op == TD_OP_SHL) type_shifted(l, v);
  return tensor ? tensor_op(l, op, v, n, loc) : scalar_op(l, op, v, n, loc);
}

int td_irgen_binary_op(TdAstBinary op) {
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

/* Both operands, the left one as it was before the right one was evaluated. */
static bool operands(TdIrgen *l, const TdAstExpr *e, TdVal *v) {
  bool equals = e->binary.op == TD_AST_EQ || e->binary.op == TD_AST_NE;
  TdVal (*lower)(TdIrgen *, const TdAstExpr *) = equals ? td_irgen_expr_or_nil : td_irgen_expr;
  v[0] = td_irgen_settle(l, lower(l, e->binary.left), "got");
  if (!td_irgen_ok(&v[0])) return false;
  TdPoint before = td_irgen_point(l);
  v[1] = td_irgen_settle(l, lower(l, e->binary.right), "got");
  v[0] = td_irgen_keep(l, v[0], before);
  return td_irgen_ok(&v[1]);
}

TdVal td_irgen_binary(TdIrgen *l, const TdAstExpr *e) {
  TdAstBinary op = e->binary.op;
  if (op == TD_AST_AND || op == TD_AST_OR) return td_irgen_lazy(l, e);
  TdVal v[2];
  if (!operands(l, e, v)) return td_irgen_failed();
  if (v[0].kind == TD_V_CONST && v[1].kind == TD_V_CONST)
    return td_irgen_const_binary(l, op, v, e->loc);
  int code = td_irgen_binary_op(op);
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
  bool opposite = e->unary.op == TD_AST_NOT;
  TdVal of = opposite ? td_irgen_expr_or_nil(l, e->unary.of) : td_irgen_expr(l, e->unary.of);
  TdVal v = td_irgen_settle(l, of, "got"), r;
  if (!td_irgen_ok(&v)) return v;
  if (td_irgen_const_unary(l, e->unary.op, &v, e->loc, &r)) return r;
  switch (e->unary.op) {
  case TD_AST_LEN: return lower_length(l, v, e->loc);
  case TD_AST_NEG: return td_irgen_op(l, TD_OP_NEG, &v, 1, e->loc);
  case TD_AST_BNOT: return td_irgen_op(l, TD_OP_BNOT, &v, 1, e->loc);
  default: break;
  }
  const TdExpr *x = td_irgen_to_bool(l, v);
  if (!x) return td_irgen_failed();
  if (x->kind == TD_EXPR_OP && x->op == TD_OP_NOT) return td_irgen_scalar(x->kid[0]);
  const TdExpr *inverse = td_expr_op(l->arena, TD_OP_NOT, x->type, &x, 1, e->loc);
  return td_irgen_scalar(td_expr_fold(l->session, l->arena, inverse));
}
