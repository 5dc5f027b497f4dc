/* expr.c - constructors of expressions, the operator table, constant folding. */
#include "ir/expr.h"

#include <assert.h>
#include <string.h>

#include "ir/num/num.h"

const TdOpInfo td_ops[TD_OPS] = {
#define TD_OP(id, lua, arity, rule, form, prec, flags, ci, cf, cost)                               \
  [TD_OP_##id] = {#id,                                                                             \
                  lua,                                                                             \
                  arity,                                                                           \
                  TD_RULE_##rule,                                                                  \
                  TD_FORM_##form,                                                                  \
                  prec,                                                                            \
                  ((flags)&TD_FC) != 0,                                                            \
                  ((flags)&TD_FA) != 0,                                                            \
                  ((flags)&TD_FS) != 0,                                                            \
                  ((flags)&TD_FL) != 0,                                                            \
                  ((flags)&TD_FB) != 0,                                                            \
                  ci,                                                                              \
                  cf,                                                                              \
                  cost},
#include "ir/ops.def"
};

/* A zeroed node with room for n kids, which are copied in. */
static TdExpr *node(TdArena *a, TdExprKind kind, const TdType *t, const TdExpr *const *kid,
                    size_t n, TdLoc loc) {
  TdExpr *e = td_arena_alloc(a, sizeof *e + n * sizeof *kid);
  e->kind = (uint8_t)kind;
  e->type = t;
  e->loc = loc;
  e->nkid = (uint32_t)n;
  if (n) memcpy(e->kid, kid, n * sizeof *kid);
  return e;
}

const TdExpr *td_expr_lit(TdArena *a, const TdType *t, uint64_t bits, TdLoc loc) {
  TdExpr *e = node(a, TD_EXPR_LIT, t, NULL, 0, loc);
  e->u.bits = bits;
  return e;
}

const TdExpr *td_expr_index(TdSession *s, TdArena *a, int64_t v, TdLoc loc) {
  return td_expr_lit(a, td_type_index(s), (uint64_t)v, loc);
}

const TdExpr *td_expr_size(TdSession *s, TdArena *a, const char *name, TdLoc loc) {
  TdExpr *e = node(a, TD_EXPR_SIZE, td_type_index(s), NULL, 0, loc);
  e->u.name = td_names_str(s->names, name);
  return e;
}

const TdExpr *td_expr_var(TdArena *a, TdSym sym, const TdType *t, TdLoc loc) {
  TdExpr *e = node(a, TD_EXPR_VAR, t, NULL, 0, loc);
  e->sym = sym;
  return e;
}

const TdExpr *td_expr_load(TdArena *a, TdSym sym, const TdType *elem, const TdExpr *const *index,
                           int rank, TdLoc loc) {
  TdExpr *e = node(a, TD_EXPR_LOAD, elem, index, (size_t)rank, loc);
  e->sym = sym;
  return e;
}

const TdExpr *td_expr_op(TdArena *a, TdOp op, const TdType *t, const TdExpr *const *kid, int n,
                         TdLoc loc) {
  assert(n == td_ops[op].arity);
  TdExpr *e = node(a, TD_EXPR_OP, t, kid, (size_t)n, loc);
  e->op = (uint8_t)op;
  return e;
}

const TdExpr *td_expr_op2(TdArena *a, TdOp op, const TdType *t, const TdExpr *x, const TdExpr *y) {
  const TdExpr *kid[] = {x, y};
  return td_expr_op(a, op, t, kid, 2, x->loc);
}

const TdExpr *td_expr_cast(TdArena *a, const TdType *t, const TdExpr *x, bool implicit) {
  TdExpr *e = node(a, TD_EXPR_CAST, t, &x, 1, x->loc);
  e->implicit = implicit;
  return e;
}

const TdExpr *td_expr_view(TdArena *a, TdSym sym, const TdType *t, const TdExpr *const *lo,
                           const TdViewDim *dim, int rank, TdLoc loc) {
  TdExpr *e = node(a, TD_EXPR_VIEW, t, lo, (size_t)rank, loc);
  e->sym = sym;
  e->u.dim = td_arena_copy(a, dim, (size_t)rank * sizeof *dim);
  return e;
}

const TdExpr *td_expr_whole(TdSession *s, TdArena *a, TdSym sym, const TdType *t, TdLoc loc) {
  const TdExpr *lo[TD_MAX_RANK];
  TdViewDim dim[TD_MAX_RANK];
  for (int d = 0; d < t->rank; d++) {
    lo[d] = td_expr_index(s, a, 0, loc);
    dim[d] = (TdViewDim){.step = 1, .out = d};
  }
  return td_expr_view(a, sym, t, lo, dim, t->rank, loc);
}

bool td_expr_keeps_dims(const TdExpr *e, TdSym sym) {
  if (e->kind != TD_EXPR_VIEW || e->sym != sym) return false;
  for (uint32_t d = 0; d < e->nkid; d++)
    if (e->u.dim[d].out != (int)d || e->u.dim[d].step != 1) return false;
  return true;
}

const TdExpr *td_expr_tensor(TdArena *a, TdOp op, const TdType *t, const TdExpr *const *kid, int n,
                             TdOp reduce, int axis, TdLoc loc) {
  TdExpr *e = node(a, TD_EXPR_TENSOR, t, kid, (size_t)n, loc);
  e->op = (uint8_t)op;
  e->reduce = (uint8_t)reduce;
  e->axis = (uint8_t)axis;
  return e;
}

const TdExpr *td_expr_with_kids(TdArena *a, const TdExpr *e, const TdExpr *const *kid) {
  TdExpr *copy = td_arena_alloc(a, sizeof *e + e->nkid * sizeof *kid);
  memcpy(copy, e, sizeof *e);
  if (e->nkid) memcpy(copy->kid, kid, e->nkid * sizeof *kid);
  return copy;
}

bool td_expr_is_const(const TdExpr *e, int64_t *v) {
  if (e->kind != TD_EXPR_LIT) return false;
  if (e->type->kind != TD_T_INDEX && !td_type_is_integer(e->type)) return false;
  *v = (int64_t)e->u.bits;
  return true;
}

/* Whether every kid of e is a literal of a scalar type. */
static bool all_literals(const TdExpr *e) {
  for (uint32_t i = 0; i < e->nkid; i++)
    if (e->kid[i]->kind != TD_EXPR_LIT || e->kid[i]->type->w > 64) return false;
  return td_type_is_scalar(e->type) && e->type->w <= 64;
}

/* Whether e is the cast of a literal 0 to a word of more than 64 bits: the one such literal. */
static bool is_wide_zero(const TdExpr *e) {
  return e->kind == TD_EXPR_CAST && td_type_is_integer(e->type) && e->type->w > 64 &&
         e->kid[0]->kind == TD_EXPR_LIT && td_type_is_integer(e->kid[0]->type) &&
         !e->kid[0]->u.bits;
}

/* tide.bits or tide.with_bits e at constant places past an end of its word, where bits are 0 and
 * what is put is lost, as one within the word: the loader takes no other. e itself if it is one. */
static const TdExpr *within_word(TdSession *s, TdArena *a, const TdExpr *e) {
  bool gets = e->op == TD_OP_GETBITS;
  int64_t lo, hi;
  if (!gets && e->op != TD_OP_SETBITS) return e;
  if (!td_expr_is_const(e->kid[1], &lo) || !td_expr_is_const(e->kid[2], &hi)) return e;
  const TdExpr *word = e->kid[0], *kid[4];
  int w = word->type->w;
  if (0 <= lo && hi <= w) return e;
  if (lo < 0 || lo >= w) {
    if (gets) return td_expr_lit(a, e->type, 0, e->loc);
    return word->type == e->type ? word : td_expr_cast(a, e->type, word, false);
  }
  memcpy(kid, e->kid, e->nkid * sizeof *kid);
  kid[2] = td_expr_lit(a, td_type_index(s), (uint64_t)w, e->loc);
  const TdType *t = gets ? td_type_uint(s, w - (int)lo) : e->type;
  const TdExpr *cut = td_expr_op(a, e->op, t, kid, (int)e->nkid, e->loc);
  return gets ? td_expr_cast(a, e->type, cut, false) : cut;
}

const TdExpr *td_expr_fold(TdSession *s, TdArena *a, const TdExpr *e) {
  if (is_wide_zero(e)) return td_expr_lit(a, e->type, 0, e->loc);
  if (e->kind == TD_EXPR_OP) e = within_word(s, a, e);
  if ((e->kind != TD_EXPR_OP && e->kind != TD_EXPR_CAST) || !all_literals(e)) return e;
  const TdType *t[4];
  uint64_t v[4];
  for (uint32_t i = 0; i < e->nkid; i++) t[i] = e->kid[i]->type, v[i] = e->kid[i]->u.bits;
  TdFault fault = TD_FAULT_NONE;
  uint64_t bits = e->kind == TD_EXPR_CAST ? td_num_cast(e->type, t[0], v[0], &fault)
                                          : td_num_op(e->op, e->type, t, v, (int)e->nkid, &fault);
  return fault == TD_FAULT_NONE ? td_expr_lit(a, e->type, bits, e->loc) : e;
}
