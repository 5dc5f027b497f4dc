/* tensor.c - tensor types, conversions, fresh tensors, constants and tensor operations. */
#include <string.h>

#include "frontend/gen/irgen.h"

static bool is_size_or_constant(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_VAR && e->kind != TD_EXPR_LOAD;
}

bool td_irgen_is_extent(const TdExpr *e) {
  return td_walk_expr(e, is_size_or_constant, NULL);
}

TdVal td_irgen_type_index(TdIrgen *l, const TdType *t, TdVal key, TdLoc loc) {
  bool integer = key.kind == TD_V_CONST && key.c.kind == TD_C_INT;
  bool affine = key.kind == TD_V_SCALAR && key.e->type->kind == TD_T_INDEX;
  if (!integer && !affine) {
    td_irgen_fail(l, "extent", loc, "an extent must be a compile-time integer");
    return td_irgen_failed();
  }
  if (integer && key.c.u.integer < 0) {
    td_irgen_fail(l, "extent", loc, "an extent cannot be negative (%lld)",
                  (long long)key.c.u.integer);
    return td_irgen_failed();
  }
  if (t->kind == TD_T_TENSOR && t->rank == TD_MAX_RANK) {
    td_irgen_fail(l, "rank", loc, "a tensor has at most %d dimensions", TD_MAX_RANK);
    return td_irgen_failed();
  }
  const TdExpr *dim[TD_MAX_RANK + 1];
  int rank = t->kind == TD_T_TENSOR ? t->rank : 0;
  for (int d = 0; d < rank; d++) dim[d] = t->dim[d];
  dim[rank] = td_irgen_to_index(l, key);
  if (!dim[rank]) return td_irgen_failed();
  if (!td_irgen_is_extent(dim[rank])) {
    td_irgen_fail(l, "extent", loc, "an extent must not depend on variables");
    return td_irgen_failed();
  }
  td_sizes_use(l->sizes, dim[rank]);
  TdConst c = {.kind = TD_C_TYPE};
  c.u.type = td_type_tensor(l->session, td_type_scalar(t), rank + 1, dim);
  return td_irgen_const(c, loc);
}

/* The elements of a tensor value in the store, as a blob. */
static const TdBlob *blob_of(TdIrgen *l, const TdTensor *t) {
  TdBlob *b = TD_NEW(l->arena, TdBlob);
  size_t bytes = td_type_bytes(td_type_scalar(t->type));
  b->type = t->type;
  b->count = td_tensor_count(t);
  unsigned char *data = td_arena_array(l->arena, (size_t)b->count, bytes);
  b->data = data;
  int64_t index[TD_MAX_RANK] = {0};
  if (b->count) do {
      td_num_store(td_type_scalar(t->type), data, td_tensor_get(t, index));
      data += bytes;
    } while (td_tensor_next(t, index));
  return b;
}

/* Declares the data c, with the attributes that mark the line of `declared` (NULL: none) where that
 * is no line of the function; NULL where they are wrong. */
static TdSym declare_data(TdIrgen *l, TdConst c, const char *name, bool own,
                          const TdAstLocal *declared, TdLoc loc) {
  TdAttrs attrs = {0};
  const TdType *t = c.u.tensor->type;
  bool outside = declared && declared->loc.line < l->frame->source->line_defined;
  if (outside &&
      (!td_irgen_marks_at(l->store, l->frame->ast, declared->loc.line, "V", &attrs, l->diag) ||
       !td_irgen_check_banks(l, declared->loc, attrs, t)))
    return NULL;
  TdSym sym = td_irgen_declare_data(l, name, own);
  TdLocalClass cls = c.kind == TD_C_STATE ? TD_LOCAL_STATE : TD_LOCAL_CONST;
  const TdStmt *s = td_stmt_data(l->store, sym, cls, blob_of(l, c.u.tensor), loc);
  td_vec_push(l->arena, &l->preamble, td_stmt_with_attrs(l->store, s, attrs));
  td_map_putp(l->arena, &l->data, (const void *)c.handle, (void *)(uintptr_t)sym);
  return sym;
}

TdVal td_irgen_data(TdIrgen *l, TdConst c, const char *name, bool own, const TdAstLocal *declared,
                    TdLoc loc) {
  TdSym sym = (TdSym)td_map_getp(&l->data, (const void *)c.handle);
  if (!sym) sym = declare_data(l, c, name, own, declared, loc);
  if (!sym) return td_irgen_failed();
  return td_irgen_tensor(td_expr_whole(l->session, l->arena, sym, c.u.tensor->type, loc), loc);
}

/* T(x) on scalars: a typed literal, or an explicit cast (of what sizes tell, too). */
static TdVal convert_scalar(TdIrgen *l, const TdType *t, TdVal x, TdLoc loc) {
  bool literal = x.kind == TD_V_CONST && td_value_is_number(&x.c) && !x.c.size;
  if (literal && t->kind != TD_T_BOOL && t->w <= 64) {
    const TdExpr *as = td_irgen_to_stored(
        l, x, t->kind == TD_T_FLOAT || x.c.kind == TD_C_INT ? t : td_type_float(l->session, 64));
    if (!as) return td_irgen_failed();
    return td_irgen_scalar(td_expr_fold(l->session, l->arena,
                                        as->type == t ? as : td_expr_cast(l->arena, t, as, false)));
  }
  const TdExpr *e = td_irgen_to_scalar(l, x, t);
  if (!e || !td_promote_cast(l->session, t, e->type, loc, l->diag)) return td_irgen_failed();
  if (e->kind == TD_EXPR_CAST && e->implicit && e->kid[0]->type->kind == TD_T_INDEX) e = e->kid[0];
  return td_irgen_scalar(td_expr_fold(l->session, l->arena, td_expr_cast(l->arena, t, e, false)));
}

/* Extents that are equal by value only lose the names in them, so that they are equal at all sizes
 * (unless the attempt will be made again anyway). */
static bool same_extent(TdIrgen *l, const TdExpr *x, const TdExpr *y) {
  int64_t vx, vy;
  if (x == y) return true;
  if (!td_sizes_value(l->sizes, x, &vx) || !td_sizes_value(l->sizes, y, &vy) || vx != vy)
    return false;
  if (l->sizes->changed) return true;
  td_sizes_pin(l->sizes, x);
  td_sizes_pin(l->sizes, y);
  return true;
}

bool td_irgen_same_shape(TdIrgen *l, const TdType *x, const TdType *y) {
  if (x->rank != y->rank) return false;
  for (int d = 0; d < x->rank; d++)
    if (!same_extent(l, x->dim[d], y->dim[d])) return false;
  return true;
}

/* T[..](x) of a tensor x: element by element. */
static TdVal convert_tensor(TdIrgen *l, const TdType *t, TdVal x, TdLoc loc) {
  if (!td_irgen_same_shape(l, t, x.e->type)) {
    td_irgen_fail(l, "shapes", loc, "%s does not convert to %s: the shapes differ",
                  td_type_str(l->arena, x.e->type), td_type_str(l->arena, t));
    return td_irgen_failed();
  }
  if (!td_promote_cast(l->session, t->elem, x.e->type->elem, loc, l->diag))
    return td_irgen_failed();
  const TdExpr *e = t == x.e->type ? x.e : td_expr_cast(l->arena, t, x.e, false);
  return (TdVal){.kind = TD_V_FRESH, .type = t, .e = e, .loc = loc};
}

TdVal td_irgen_convert(TdIrgen *l, const TdType *t, TdVal *arg, size_t n, TdLoc loc) {
  if (n > 1) {
    td_irgen_fail(l, "arguments", loc, "a type takes at most one value");
    return td_irgen_failed();
  }
  bool tensor = t->kind == TD_T_TENSOR;
  if (n == 0) return (TdVal){.kind = TD_V_FRESH, .type = t, .loc = loc};
  TdVal x = td_irgen_settle(l, arg[0], "got");
  if (!td_irgen_ok(&x)) return x;
  if (!tensor && x.kind == TD_V_TENSOR) {
    td_irgen_fail(l, "shapes", loc, "a tensor does not convert to the scalar type %s",
                  td_type_str(l->arena, t));
    return td_irgen_failed();
  }
  if (!tensor) {
    x = convert_scalar(l, t, x, loc);
    x.loc = loc;
    return x;
  }
  if (x.kind == TD_V_TENSOR) return convert_tensor(l, t, x, loc);
  const TdExpr *fill = td_irgen_to_stored(l, x, t->elem);
  if (!fill) return td_irgen_failed();
  return (TdVal){.kind = TD_V_FRESH, .type = t, .e = fill, .loc = loc};
}

const TdExpr *td_irgen_to_tensor(TdIrgen *l, TdVal v, const TdType *like, TdLoc loc) {
  v = v.kind == TD_V_FRESH && v.e && v.e->type->kind == TD_T_TENSOR ? td_irgen_tensor(v.e, v.loc)
                                                                    : td_irgen_settle(l, v, "got");
  if (!td_irgen_ok(&v)) return NULL;
  if (v.kind != TD_V_TENSOR) return td_irgen_to_stored(l, v, like->elem);
  const TdType *t = v.e->type;
  if (!td_irgen_same_shape(l, t, like)) {
    td_irgen_fail(l, "shapes", loc, "shapes differ: %s and %s", td_type_str(l->arena, like),
                  td_type_str(l->arena, t));
    return NULL;
  }
  if (t->elem == like->elem) return v.e;
  bool boolean = (t->elem->kind == TD_T_BOOL) != (like->elem->kind == TD_T_BOOL);
  if (boolean || !td_promote_can_store(like->elem, t->elem)) {
    td_irgen_fail(l, "needs-cast", loc, "%s does not become %s by itself", td_type_str(l->arena, t),
                  td_type_str(l->arena, like));
    return NULL;
  }
  return td_expr_cast(l->arena, td_type_reshape(l->session, t, like->elem), v.e, true);
}

/* Operand i of a tensor function. */
static bool tensor_arg(TdIrgen *l, const TdAstExpr *call, size_t i, TdVal *out) {
  *out = td_irgen_settle(l, td_irgen_expr(l, call->call.args.at[i]), "got");
  if (!td_irgen_ok(out)) return false;
  if (out->kind == TD_V_TENSOR) return true;
  return td_irgen_fail(l, "not-a-tensor", call->call.args.at[i]->loc, "a tensor is expected here");
}

/* {acc = T} as argument i, or the default accumulator. */
static const TdType *accumulator(TdIrgen *l, const TdAstExpr *call, size_t i, const TdType *elem) {
  if (i >= call->call.args.n) return td_promote_accumulator(l->session, elem);
  const TdAstItem *item = td_context_item(call->call.args.at[i], "acc");
  TdVal v = item ? td_irgen_expr(l, item->value) : td_irgen_failed();
  if (v.kind == TD_V_CONST && v.c.kind == TD_C_TYPE && td_type_is_number(v.c.u.type))
    return v.c.u.type;
  td_irgen_fail(l, "accumulator", call->call.args.at[i]->loc, "expected {acc = type}");
  return NULL;
}

static TdVal lower_matmul(TdIrgen *l, const TdAstExpr *call) {
  TdVal x, y;
  if (!tensor_arg(l, call, 0, &x) || !tensor_arg(l, call, 1, &y)) return td_irgen_failed();
  const TdType *a = x.e->type, *b = y.e->type;
  if (a->rank != 2 || b->rank != 2 || !same_extent(l, a->dim[1], b->dim[0])) {
    td_irgen_fail(l, "shapes", call->loc, "matmul of %s and %s: inner extents must agree",
                  td_type_str(l->arena, a), td_type_str(l->arena, b));
    return td_irgen_failed();
  }
  const TdType *pair[] = {a->elem, b->elem};
  const TdType *join = td_promote_join(l->session, a->elem, b->elem);
  const TdType *acc = accumulator(l, call, 2, join ? join : a->elem);
  if (!acc || !td_promote_op(l->session, TD_OP_MUL, pair, 2, call->loc, l->diag))
    return td_irgen_failed();
  const TdExpr *dim[] = {a->dim[0], b->dim[1]}, *kid[] = {x.e, y.e};
  const TdType *t = td_type_tensor(l->session, acc, 2, dim);
  return td_irgen_tensor(td_expr_tensor(l->arena, TD_OP_MATMUL, t, kid, 2, TD_OP_ADD, 0, call->loc),
                         call->loc);
}

/* The reduction operator that a string names, or -1. */
static int reduction_of(const TdVal *v) {
  if (v->kind != TD_V_CONST || v->c.kind != TD_C_STRING) return -1;
  for (int op = 0; op < TD_OPS; op++)
    if (td_ops[op].associative && strcmp(td_ops[op].lua, v->c.u.string.at) == 0) return op;
  return -1;
}

static TdVal lower_reduce(TdIrgen *l, int word, const TdAstExpr *call) {
  TdVal x;
  if (!tensor_arg(l, call, 0, &x)) return td_irgen_failed();
  TdVal name = td_irgen_expr(l, call->call.args.at[1]);
  int op = reduction_of(&name);
  if (op < 0) {
    td_irgen_fail(l, "reduction", call->call.args.at[1]->loc,
                  "the operator is one of \"+\" \"*\" \"min\" \"max\" \"&\" \"|\" \"~\"");
    return td_irgen_failed();
  }
  const TdExpr *kid[] = {x.e};
  if (word == TD_WORD_ALLREDUCE)
    return td_irgen_tensor(
        td_expr_tensor(l->arena, TD_OP_ALLREDUCE, x.e->type, kid, 1, (TdOp)op, 0, call->loc),
        call->loc);
  TdVal axis = call->call.args.n > 2 ? td_irgen_expr(l, call->call.args.at[2]) : td_irgen_failed();
  const TdType *t = x.e->type;
  if (axis.kind != TD_V_CONST || axis.c.kind != TD_C_INT || axis.c.u.integer < 0 ||
      axis.c.u.integer >= t->rank) {
    td_irgen_fail(l, "rank", call->loc, "reduce(x, op, dim) needs a dimension of x below %d",
                  t->rank);
    return td_irgen_failed();
  }
  const TdType *acc = accumulator(l, call, 3, t->elem);
  if (!acc) return td_irgen_failed();
  const TdExpr *dim[TD_MAX_RANK];
  int rank = 0;
  for (int d = 0; d < t->rank; d++)
    if (d != axis.c.u.integer) dim[rank++] = t->dim[d];
  const TdType *r = rank ? td_type_tensor(l->session, acc, rank, dim) : acc;
  const TdExpr *e =
      td_expr_tensor(l->arena, TD_OP_REDUCE, r, kid, 1, (TdOp)op, (int)axis.c.u.integer, call->loc);
  return rank ? td_irgen_tensor(e, call->loc) : td_irgen_scalar(e);
}

TdVal td_irgen_tensor_word(TdIrgen *l, int word, const TdAstExpr *call) {
  if (call->call.args.n < 2) {
    td_irgen_fail(l, "arguments", call->loc, "too few arguments");
    return td_irgen_failed();
  }
  return word == TD_WORD_MATMUL ? lower_matmul(l, call) : lower_reduce(l, word, call);
}
