/* carried_clamp.c - clamps of tiles whose sizes do not divide the loops: conditions between loops
 * go inside, and are part of the domain. */
#include "ir/text/print.h"
#include "rewrite/task/carried.h"

/* The condition that a block is under, alone, without data; or NULL. */
static const TdStmt *only_if(const TdStmt *block) {
  const TdStmt *s = block->nkid == 1 ? block->kid[0] : NULL;
  return s && td_util_is_guard(s) ? s : NULL;
}

/* The loop with the condition `cond` (NULL: none), and those between it and the loops inside it, in
 * the innermost one, or in loop `last`. */
static const TdStmt *sink(TdRewrite *r, const TdStmt *loop, const TdExpr *cond,
                          const TdStmt *last) {
  TdStore *st = r->store;
  const TdStmt *body = td_for_body(loop), *inner = body;
  if (loop == last && !cond) return loop;
  for (const TdStmt *s; (s = only_if(inner)); inner = s->kid[0])
    cond = cond ? td_expr_op2(st->arena, TD_OP_AND, td_type_bool(r->session), cond, s->expr[0])
                : s->expr[0];
  bool nest = inner->nkid == 1 && inner->kid[0]->kind == TD_STMT_FOR && loop != last;
  if (!cond && !nest) return loop;
  const TdStmt *now =
      nest ? sink(r, inner->kid[0], cond, last)
           : td_stmt_if(st, cond, td_stmt_block(st, inner->kid, inner->nkid, inner->loc), NULL,
                        inner->loc);
  if (nest && now == inner->kid[0] && inner == body) return loop;
  body = td_stmt_with_kids(st, body, &now, 1);
  return td_stmt_with_kids(st, loop, &body, 1);
}

const TdUnit *td_carried_sink(TdRewrite *r, const TdUnit *u, const TdStmt *first,
                              const TdStmt *last) {
  const TdStmt *now = sink(r, first, NULL, last);
  if (now == first) return u;
  return td_unit_with_body(r->store, u, td_edit_replace(r->store, u->body, first->uid, &now, 1));
}

/* Whether what holds of an iteration holds of those before it, by any of the loops. */
static bool is_clamp(const TdCarried *c, const TdExpr *e) {
  if (e->kind != TD_EXPR_OP) return false;
  if (e->op == TD_OP_AND) return is_clamp(c, e->kid[0]) && is_clamp(c, e->kid[1]);
  if (e->op != TD_OP_LT && e->op != TD_OP_LE) return false;
  TdLin x = td_lin_of(c->r->session, c->r->arena, e->kid[0]);
  x = td_lin_add(c->r->session, c->r->arena, x, -1,
                 td_lin_of(c->r->session, c->r->arena, e->kid[1]));
  for (size_t k = 0; k < c->nloop; k++)
    if (td_lin_coef(&x, c->loop[k]->sym) < 0) return false;
  return td_lin_is_affine(&x);
}

/* Whether a statement only declares what has no value yet. */
static bool is_bare_local(const TdStmt *s) {
  return s->kind == TD_STMT_LOCAL && s->init == TD_INIT_NONE;
}

/* The condition that all of a block is under but for bare locals, in one statement or in several
 * one after another (an operand's load is apart from its use); or NULL. */
static const TdExpr *common_guard(const TdStmt *block) {
  const TdExpr *guard = NULL;
  for (uint32_t i = 0; i < block->nkid; i++) {
    const TdStmt *s = block->kid[i];
    if (is_bare_local(s)) continue;
    if (!td_util_is_guard(s) || (guard && !td_equal_expr(guard, s->expr[0]))) return NULL;
    guard = s->expr[0];
  }
  return guard;
}

/* The block without the condition that all of it is under. */
static const TdStmt *without_guard(const TdCarried *c, const TdStmt *block) {
  TD_VEC(const TdStmt *) list = {0};
  for (uint32_t i = 0; i < block->nkid; i++) {
    const TdStmt *s = block->kid[i];
    if (is_bare_local(s)) td_vec_push(c->r->arena, &list, s);
    for (uint32_t k = 0; !is_bare_local(s) && k < s->kid[0]->nkid; k++)
      td_vec_push(c->r->arena, &list, s->kid[0]->kid[k]);
  }
  return td_stmt_block(c->r->store, list.at, list.n, block->loc);
}

void td_carried_find_guard(TdCarried *c) {
  c->body = td_for_body(c->loop[c->nloop - 1]);
  for (const TdExpr *g; (g = common_guard(c->body)) && is_clamp(c, g);) {
    c->guard = td_carried_and(c, c->guard, g);
    c->body = without_guard(c, c->body);
  }
}
