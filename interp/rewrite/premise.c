/* premise.c - assumptions as a kernel of their own: it takes the scalars and sizes that they name,
 * and its body is empty. Each run checks them where it is called. */
#include "rewrite/premise.h"

#include "rewrite/kernel/lift.h"

/* The kernel being made. */
typedef struct Making {
  TdRewrite *r;
  TdSubst sub; /* what the unit's scalars and sizes are in it */
  TD_VEC(TdParam) param;
  TD_VEC(const TdExpr *) of;
} Making;

static bool is_taken(const Making *m, const char *name) {
  for (size_t i = 0; i < m->param.n; i++)
    if (m->param.at[i].sym->name == name) return true;
  return false;
}

/* Makes a scalar or size that an assumption names a parameter. */
static bool take(void *ud, const TdExpr *e) {
  Making *m = ud;
  TdStore *st = m->r->store;
  bool size = e->kind == TD_EXPR_SIZE;
  if (!size && e->kind != TD_EXPR_VAR) return true;
  if (size ? td_map_getp(&m->sub.size, e->u.name) : td_map_getp(&m->sub.expr, e->sym)) return true;
  const char *want = size ? e->u.name : e->sym->name, *name = want;
  for (int n = 1; is_taken(m, name); n++)
    name = td_names_str(m->r->session->names, td_text_fmt(m->r->arena, "%s_%d", want, n));
  TdSym sym = td_store_sym(st, name, td_unit_param_kind(e->type));
  const TdExpr *var = td_expr_var(st->arena, sym, e->type, e->loc);
  td_vec_push(st->arena, &m->param, ((TdParam){.sym = sym, .type = e->type, .loc = e->loc}));
  td_vec_push(st->arena, &m->of, e);
  if (size)
    td_subst_size(&m->sub, e->u.name, var);
  else
    td_subst_expr(&m->sub, e->sym, var);
  return true;
}

TdPremise td_premise_of(TdRewrite *r, const TdUnit *u) {
  TdStore *st = r->store;
  Making m = {.r = r, .sub = td_subst_new(st)};
  const TdExpr **fact = TD_NEWN(st->arena, const TdExpr *, u->nassert + 1);
  size_t n = 0;
  for (size_t i = 0; i < u->nassert; i++) {
    if (!td_util_varies(u->assert_[i])) continue;
    td_walk_expr(u->assert_[i], take, &m);
    fact[n++] = td_subst_in_expr(&m.sub, u->assert_[i]);
  }
  TdUnit *k = TD_NEW(st->arena, TdUnit);
  const char *want = td_text_fmt(r->arena, "%s_assumes", u->sym->name);
  *k = (TdUnit){.kind = TD_UNIT_KERNEL, .loc = u->loc, .instance = u->instance};
  k->sym = td_store_sym(st, td_lift_unit_name(r, r->prog, want), TD_SYM_UNIT);
  k->uid = td_store_uid(st);
  k->param = m.param.at;
  k->nparam = m.param.n;
  k->assert_ = fact;
  k->nassert = n;
  k->body = td_stmt_block(st, NULL, 0, u->loc);
  return (TdPremise){k, m.of.at};
}

const TdStmt *td_premise_call(TdRewrite *r, const TdPremise *p, const TdSubst *sub, TdLoc loc) {
  const TdExpr **arg = TD_NEWN(r->store->arena, const TdExpr *, p->unit->nparam + 1);
  for (size_t i = 0; i < p->unit->nparam; i++) arg[i] = td_subst_in_expr(sub, p->of[i]);
  return td_stmt_call(r->store, p->unit->sym, arg, p->unit->nparam, loc);
}
