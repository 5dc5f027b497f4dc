/* wide.c - which words of more than 64 bits are known whole, and that nothing needs more of the
 * others. */
#include "ir/num/wide.h"

#include "ir/walk.h"

static bool is_wide(const TdExpr *e) {
  return td_type_scalar(e->type)->w > 64;
}

/* The first cut kid of e, from kid `from` on. */
static const TdExpr *cut_kid(const TdExpr *e, uint32_t from) {
  const TdExpr *x = NULL;
  for (uint32_t i = from; i < e->nkid && !x; i++) x = td_wide_cut(e->kid[i]);
  return x;
}

const TdExpr *td_wide_cut(const TdExpr *e) {
  if (!is_wide(e)) return NULL;
  if (e->kind == TD_EXPR_CAST) return cut_kid(e, 0);
  if (e->kind == TD_EXPR_TENSOR) return e;
  if (e->kind != TD_EXPR_OP) return NULL;
  switch (td_ops[e->op].rule) {
  case TD_RULE_SELECT: return cut_kid(e, 1);
  case TD_RULE_BITS:
  case TD_RULE_BNOT:
  case TD_RULE_GETBITS:
  case TD_RULE_SETBITS:
  case TD_RULE_BITCAST: return cut_kid(e, 0);
  default: return e;
  }
}

typedef struct Check {
  TdCtx *ctx;
  TdDiag *d;
} Check;

/* Says that e is cut, unless it is not. */
static bool check(const Check *c, const TdExpr *e) {
  const TdExpr *x = td_wide_cut(e);
  if (!x) return true;
  td_diag_set(c->d, TD_USAGE, "too-wide", x->loc,
              "tide computes the low 64 bits of this %s, and more are used",
              td_type_str(c->d->arena, td_type_scalar(x->type)));
  td_diag_help(c->d, "cast it to at most 64 bits; tide.with_bits puts such words together");
  return false;
}

/* Whether what e combines of all instances is computed whole: a word of more than 64 bits is only
 * by & | ~, and if it is known whole. */
static bool check_collective(const Check *c, const TdExpr *e) {
  const TdType *t = td_type_scalar(e->kid[0]->type);
  if (t->w <= 64 || t->kind == TD_T_FLOAT) return true;
  if (td_ops[e->reduce].rule == TD_RULE_BITS) return check(c, e->kid[0]);
  td_diag_set(c->d, TD_USAGE, "too-wide", e->loc, "allreduce by %s of %s needs more than 64 bits",
              td_ops[e->reduce].lua, td_type_str(c->d->arena, t));
  td_diag_help(c->d, "cast what is passed to it to at most 64 bits");
  return false;
}

/* Whether bits beyond the low 64 that e is to take out of a word are there. */
static bool check_slice(void *ud, const TdExpr *e) {
  int64_t hi;
  if (e->kind == TD_EXPR_TENSOR && e->op == TD_OP_ALLREDUCE) return check_collective(ud, e);
  if (e->kind != TD_EXPR_OP || e->op != TD_OP_GETBITS) return true;
  bool low = td_expr_is_const(e->kid[2], &hi) && hi <= 64;
  return low || check(ud, e->kid[0]);
}

static bool check_stmt(void *ud, const TdStmt *s) {
  bool ok = true;
  for (uint32_t i = 0; ok && i < s->nexpr; i++)
    ok = check(ud, s->expr[i]) && td_walk_expr(s->expr[i], check_slice, ud);
  return ok;
}

bool td_wide_check(const TdProg *p, TdDiag *d) {
  Check c = {p->store->session->ctx, d};
  bool ok = true;
  for (size_t i = 0; ok && i < p->nunit; i++)
    ok = !p->unit[i]->body || td_walk_stmt(c.ctx, p->unit[i]->body, check_stmt, &c);
  return ok;
}
