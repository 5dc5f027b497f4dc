/* unfuse.c - each fma(a, b, c) becomes a * b + c. */
#include "ir/text/unfuse.h"

#include "ir/ir.h"

static bool is_no_fma(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_OP || e->op != TD_OP_FMA;
}

/* The product and the sum that an fma is; any other expression as it is. */
static const TdExpr *unfused(void *ud, const TdExpr *e) {
  const TdStore *st = ud;
  TdDiag none = {.arena = st->arena};
  if (is_no_fma(NULL, e)) return e;
  const TdExpr *x[] = {e->kid[0], e->kid[1]};
  const TdType *of[] = {x[0]->type, x[1]->type}, *t = e->type;
  if (of[0]->kind == TD_T_FLOAT || of[1]->kind == TD_T_FLOAT)
    t = td_promote_op(st->session, TD_OP_MUL, of, 2, e->loc, &none);
  else
    for (int i = 0; i < 2; i++) x[i] = td_expr_cast(st->arena, t, x[i], true);
  const TdExpr *product = td_expr_op2(st->arena, TD_OP_MUL, t, x[0], x[1]);
  return td_expr_op2(st->arena, TD_OP_ADD, e->type, product, e->kid[2]);
}

const TdProg *td_unfuse_prog(TdArena *a, const TdProg *p) {
  const TdUnit **unit = td_arena_copy(a, p->unit, p->nunit * sizeof *unit);
  TdStore *st = NULL;
  for (size_t i = 0; i < p->nunit; i++) {
    const TdUnit *u = p->unit[i];
    if (!u->body || td_walk_exprs(td_arena_ctx(a), u->body, is_no_fma, NULL)) continue;
    if (!st) st = td_store_inner(a, p->store->session);
    unit[i] = td_unit_with_body(st, u, td_walk_map(st, u->body, unfused, st));
  }
  TdProg *now = td_arena_copy(a, p, sizeof *p);
  now->unit = unit;
  return st ? now : p;
}
