/* settle_form.c - statements in the form that loading gives them. */
#include "base/map.h"
#include "base/vec.h"
#include "ir/text/settle.h"
#include "ir/walk.h"

/* What is not as loading gives it: locals that start with an operator, whose type only holds what
 * fits it, but are stored something else; and choices with nothing in the second arm. */
typedef struct Search {
  TdArena *arena;
  TdMap exact; /* symbol of a local that starts with an operator -> its declaration */
  TD_VEC(const TdStmt *) unfit;
  TD_VEC(const TdStmt *) idle;
} Search;

/* Whether a local that starts with e has the type of an operator when it is loaded. */
static bool is_operator(const TdExpr *e) {
  return e->kind == TD_EXPR_OP && e->op != TD_OP_BITCAST;
}

static bool look(void *ud, const TdStmt *s) {
  Search *q = ud;
  bool local = s->kind == TD_STMT_LOCAL && s->nexpr == 1 && td_type_is_scalar(s->type);
  if (local && is_operator(s->expr[0]))
    td_map_putp(q->arena, &q->exact, s->sym, (void *)(uintptr_t)s);
  if (s->kind == TD_STMT_IF && s->nkid == 2 && !s->kid[1]->nkid) td_vec_push(q->arena, &q->idle, s);
  if (s->kind != TD_STMT_STORE) return true;
  const TdStmt *at = td_map_getp(&q->exact, s->expr[0]->sym);
  const TdExpr *v = s->expr[1];
  if (v->kind == TD_EXPR_CAST && v->implicit) v = v->kid[0];
  if (!at || v->type == at->type || td_promote_holds(at->type, v->type)) return true;
  td_vec_push(q->arena, &q->unfit, at);
  td_map_putp(q->arena, &q->exact, at->sym, NULL);
  return true;
}

/* u with statement `now` for the one of its uid. */
static const TdUnit *put(TdStore *st, const TdUnit *u, const TdStmt *now) {
  return td_unit_with_body(st, u, td_edit_replace(st, u->body, now->uid, &now, 1));
}

const TdUnit *td_settle_form(TdStore *st, const TdUnit *u) {
  TdCtx *ctx = st->session->ctx;
  TdArena *scratch = td_arena_scratch(ctx);
  Search q = {.arena = scratch};
  if (u->body) td_walk_stmt(ctx, u->body, look, &q);
  for (size_t i = 0; i < q.unfit.n; i++) {
    const TdStmt *s = q.unfit.at[i];
    const TdExpr *said = td_expr_cast(st->arena, s->type, s->expr[0], false);
    u = put(st, u, td_stmt_with_exprs(st, s, &said, 1));
  }
  for (size_t i = 0; i < q.idle.n; i++) {
    const TdStmt *s = td_edit_find(ctx, u->body, q.idle.at[i]->uid);
    u = put(st, u, td_stmt_with_kids(st, s, s->kid, 1));
  }
  td_arena_free(scratch);
  return u;
}
