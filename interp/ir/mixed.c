/* mixed.c - indices beside integers. */
#include "ir/mixed.h"

/* Whether integer operator e computes the same on its operands as indices: exactly, in 64 bits. */
static bool is_exact(const TdExpr *e) {
  int64_t by;
  if (e->kind != TD_EXPR_OP || !td_type_is_integer(e->type) || e->type->w > 63) return false;
  switch (e->op) {
  case TD_OP_ADD:
  case TD_OP_SUB:
  case TD_OP_MUL:
  case TD_OP_MIN:
  case TD_OP_MAX:
  case TD_OP_NEG: return true;
  case TD_OP_FLOORDIV:
  case TD_OP_MOD: by = (int64_t)e->kid[1]->u.bits; return e->kid[1]->kind == TD_EXPR_LIT && by > 0;
  default: return false;
  }
}

const TdExpr *td_mixed_as_index(TdSession *s, TdArena *a, const TdExpr *e) {
  const TdType *index = td_type_index(s);
  if (e->type->kind == TD_T_INDEX) return e;
  if (e->kind == TD_EXPR_LIT) return td_expr_index(s, a, (int64_t)e->u.bits, e->loc);
  bool from_index = e->kind == TD_EXPR_CAST && e->implicit && e->kid[0]->type->kind == TD_T_INDEX;
  if (from_index) return e->kid[0];
  if (!is_exact(e)) return td_expr_cast(a, index, e, true);
  td_ctx_enter(s->ctx);
  const TdExpr *kid[2];
  for (uint32_t i = 0; i < e->nkid; i++) kid[i] = td_mixed_as_index(s, a, e->kid[i]);
  td_ctx_leave(s->ctx);
  return td_expr_op(a, (TdOp)e->op, index, kid, (int)e->nkid, e->loc);
}

const TdExpr *td_mixed_as_data(TdSession *s, TdArena *a, const TdExpr *e) {
  return e->type->kind == TD_T_INDEX ? td_expr_cast(a, td_type_int(s, 32), e, true) : e;
}

/* Whether operands of op are an index and integers that are compared, all of which an index
 * holds. */
static bool compares_index(TdOp op, const TdExpr *const *e, int n) {
  bool all = td_ops[op].rule == TD_RULE_COMPARE;
  for (int i = 0; i < n; i++) {
    const TdType *t = e[i]->type;
    all &= t->kind == TD_T_INDEX || (td_type_is_integer(t) && t->w <= 64 - !td_type_is_signed(t));
  }
  return all;
}

void td_mixed_operands(TdSession *s, TdArena *a, TdOp op, const TdExpr **e, int first, int n) {
  bool some = false, all = true;
  for (int i = first; i < n; i++) {
    some |= e[i]->type->kind == TD_T_INDEX;
    all &= e[i]->type->kind == TD_T_INDEX;
  }
  if (!some || all) return;
  bool as_indices = compares_index(op, e + first, n - first);
  for (int i = first; i < n; i++)
    e[i] = as_indices ? td_lin_simplify(s, a, td_mixed_as_index(s, a, e[i]))
                      : td_mixed_as_data(s, a, e[i]);
}
