/* force.c - the rewrite that a refusal kept from happening, made in private to measure refusals of
 * what is right. */
#include <string.h>

#include "tests/fuzz/chain.h"
#include "tests/fuzz/wrap.h"

/* The stores and arrays of one unit that are made to remember what is overwritten. */
typedef struct Remember {
  const TdProg *prog;
  TD_VEC(const TdStmt *) store;
} Remember;

static bool look_store(void *ud, const TdStmt *s) {
  Remember *m = ud;
  bool store = s->kind == TD_STMT_STORE && s->expr[0]->nkid;
  bool empty = s->kind == TD_STMT_LOCAL && s->init == TD_INIT_NONE && s->cls == TD_LOCAL_AUTO &&
               s->type->kind == TD_T_TENSOR;
  const TdType *t = store ? s->expr[0]->type : empty ? s->type->elem : NULL;
  if (t && (t->kind == TD_T_FLOAT || td_type_is_integer(t)))
    td_vec_push(m->prog->store->arena, &m->store, s);
  return true;
}

/* `A[x] = v` as A[x] = T(v - A[x]); a local array that starts empty as one that starts with 0. */
static const TdStmt *remembers(TdStore *st, const TdStmt *s) {
  if (s->kind == TD_STMT_LOCAL)
    return td_stmt_local(st, s->sym, s->type, TD_INIT_FILL,
                         td_expr_lit(st->arena, s->type->elem, 0, s->loc), s->loc);
  const TdType *of[] = {s->expr[1]->type, s->expr[0]->type};
  TdDiag quiet = {.arena = st->arena};
  const TdType *t = td_promote_op(st->session, TD_OP_SUB, of, 2, s->loc, &quiet);
  if (!t) return s;
  const TdExpr *less = td_expr_op2(st->arena, TD_OP_SUB, t, s->expr[1], s->expr[0]);
  const TdExpr *e[] = {s->expr[0], td_expr_cast(st->arena, of[1], less, false)};
  return td_stmt_with_exprs(st, s, e, 2);
}

/* p with stores that remember: no value is overwritten unseen. */
static const TdProg *remembering(const TdProg *p) {
  TdStore *st = p->store;
  for (size_t i = 0; i < p->nunit; i++) {
    const TdUnit *u = p->unit[i];
    Remember m = {.prog = p};
    if (u->body) td_walk_stmt(st->session->ctx, u->body, look_store, &m);
    for (size_t k = 0; k < m.store.n; k++) {
      const TdStmt *now = remembers(st, m.store.at[k]);
      uint32_t uid = m.store.at[k]->uid;
      u = td_unit_with_body(st, u, td_edit_replace(st, u->body, uid, &now, 1));
    }
    p = td_prog_with(p, u);
  }
  return p;
}

/* Whether q, made of p by a forced step, is equal to it because values that come in another order
 * are overwritten before anybody reads them: a refusal that is right, by chance without effect. */
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
