/* faults.c - operands that are not known to be in the range that an operator takes. */
#include "analysis/order/faults.h"

#include "analysis/range/range.h"

typedef struct Faults {
  const TdAsk *q;
  const TdStmt *at;
  const TdExpr *found;
} Faults;

/* Whether `x op y` holds at the place of f for all sizes. */
static bool holds(const Faults *f, TdOp op, const TdExpr *x, const TdExpr *y) {
  const TdType *b = td_type_bool(f->q->prog->store->session);
  const TdExpr *cond = td_expr_op2(f->q->arena, op, b, x, y);
  return td_range_holds(f->q, f->at, cond, false) == TD_YES;
}

static const TdExpr *constant(const Faults *f, int64_t v) {
  return td_expr_index(f->q->prog->store->session, f->q->arena, v, f->at->loc);
}

/* Whether the operator of e takes all values that its second operand may have. */
static bool is_operand_safe(const Faults *f, const TdExpr *e) {
  const TdExpr *y = e->kid[1];
  bool divides = e->op == TD_OP_FLOORDIV || e->op == TD_OP_MOD;
  int64_t c;
  if (!divides && e->op != TD_OP_SHL && e->op != TD_OP_SHR && e->op != TD_OP_ASR) return true;
  if (y->type->kind == TD_T_FLOAT) return true;
  if (td_expr_is_const(y, &c)) return divides ? c != 0 : c >= 0;
  return divides ? holds(f, TD_OP_NE, y, constant(f, 0)) : holds(f, TD_OP_LE, constant(f, 0), y);
}

static bool look(void *ud, const TdExpr *e) {
  Faults *f = ud;
  bool safe = e->kind != TD_EXPR_LOAD || !e->nkid;
  if (e->kind == TD_EXPR_OP && e->nkid == 2) safe = is_operand_safe(f, e);
  if (!safe) f->found = e;
  return safe;
}

const TdExpr *td_faults_may(const TdAsk *q, const TdStmt *at, const TdExpr *e) {
  Faults f = {q, at, NULL};
  td_walk_expr(e, look, &f);
  return f.found;
}
