/* force.c - the rewrite that a refusal kept from happening, made in private to measure refusals of
   what is right. */
#include <string.h>

#include "tests/fuzz/chain.h"
#include "tests/fuzz/wrap.h"

/* The stores of one unit that are made to remember what they overwrite. */
typedef struct Remember {
  const TdProg *prog;
  TD_VEC(const TdStmt *) store;
} Remember;

static bool look_store(void *ud, const TdStmt *s) {
  Remember *m = ud;
  const TdType *t = s->kind == TD_STMT_STORE ? s->expr[0]->type : NULL;
  bool number = t && (t->kind == TD_T_FLOAT || td_type_is_integer(t));
  if (number && s->expr[0]->sym->kind == TD_SYM_TENSOR)
    td_vec_push(m->prog->store->arena, &m->store, s);
  return true;
}

/* p with each `A[x] = v` to a parameter as A[x] = T(v - A[x]): no value is overwritten unseen. */
static const TdProg *remembering(const TdProg *p) {
  TdStore *st = p->store;
  for (size_t i = 0; i < p->nunit; i++) {
    const TdUnit *u = p->unit[i];
    Remember m = {.prog = p};
    if (u->body) td_walk_stmt(st->session->ctx, u->body, look_store, &m);
    for (size_t k = 0; k < m.store.n; k++) {
      const TdStmt *s = m.store.at[k];
      const TdType *of[] = {s->expr[1]->type, s->expr[0]->type};
      TdDiag quiet = {.arena = st->arena};
      const TdType *t = td_promote_op(st->session, TD_OP_SUB, of, 2, s->loc, &quiet);
      if (!t) continue;
      const TdExpr *less = td_expr_op2(st->arena, TD_OP_SUB, t, s->expr[1], s->expr[0]);
      const TdExpr *e[] = {s->expr[0], td_expr_cast(st->arena, of[1], less, false)};
      const TdStmt *now = td_stmt_with_exprs(st, s, e, 2);
      u = td_unit_with_body(st, u, td_edit_replace(st, u->body, s->uid, &now, 1));
    }
    p = td_prog_with(p, u);
  }
  return p;
}

/* Whether q, made of p by a forced step, is equal to it because values that come in another order
   are overwritten before anybody reads them: a refusal that is right, by chance without effect. */
static bool is_by_chance(Chain *c, const TdProg *p, const TdProg *q) {
  TdEvalOptions options = point_options(&c->points);
  const Point *x = &c->points.at[0];
  const TdEvalArg *concrete = point_concrete(c->scratch, x->kernel, x->given[0]);
  return td_eval_compare(c->scratch, remembering(p), remembering(q), TD_LEVEL_STRICT, concrete,
                         &options)
             .verdict == TD_EVAL_DIFFERS;
}

bool force_step(Chain *c, const Step *s, bool *same, bool *chance) {
  const TdVersion *before = c->schedule.now;
  TdDiag d = {.arena = c->scratch};
  const char *const *made;
  size_t n;
  TdMark mark = td_arena_mark(c->store->arena);
  wrap_forcing = true;
  wrap_forcing_parallel = strcmp(s->prim->name, "parallel") == 0;
  bool could = td_schedule_apply(&c->schedule, c->side->affine, s->prim, s->arg, &made, &n, &d);
  wrap_forcing = wrap_forcing_parallel = false;
  if (could) {
    Oracle o = {c->side, c->scratch, &c->points, c->counts};
    *same = oracle_is_same(&o, c->schedule.now->prog);
    *chance = *same && is_by_chance(c, before->prog, c->schedule.now->prog);
  }
  c->schedule.now = before;
  c->store->next_uid = before->next_uid;
  c->store->next_sym = before->next_sym;
  td_arena_release(c->store->arena, mark);
  return could;
}
