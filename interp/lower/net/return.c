/* return.c - early returns of a task, taken away: what follows an `if` that returns goes into
 * its other arm, so that the task reaches its end and can hand back what it holds. */
#include "lower/net/net.h"

static bool is_no_return(void *ud, const TdStmt *s) {
  (void)ud;
  return s->kind != TD_STMT_RETURN;
}

static bool returns(const TdStore *st, const TdStmt *s) {
  return !td_walk_stmt(st->session->ctx, s, is_no_return, NULL);
}

/* Whether nothing follows s. */
static bool ends(const TdStmt *s) {
  if (s->kind == TD_STMT_RETURN) return true;
  if (s->kind == TD_STMT_BLOCK) return s->nkid && ends(s->kid[s->nkid - 1]);
  return s->kind == TD_STMT_IF && s->nkid == 2 && ends(s->kid[0]) && ends(s->kid[1]);
}

static const TdStmt *straight(TdStore *st, const TdStmt *block);

/* The statements of `arm` (NULL: none), and then those of rest unless the arm ends. */
static const TdStmt *arm_with(TdStore *st, const TdStmt *arm, const TdStmt *rest) {
  if (!arm) return straight(st, rest);
  if (!rest->nkid || ends(arm)) return straight(st, arm);
  TD_VEC(const TdStmt *) all = {0};
  for (uint32_t i = 0; i < arm->nkid; i++) td_vec_push(st->arena, &all, arm->kid[i]);
  for (uint32_t i = 0; i < rest->nkid; i++) td_vec_push(st->arena, &all, rest->kid[i]);
  return straight(st, td_stmt_block(st, all.at, all.n, arm->loc));
}

/* The choice s, which returns, with the statements after it in the arm that goes on; NULL: both do.
 */
static const TdStmt *choice(TdStore *st, const TdStmt *s, const TdStmt *rest) {
  const TdStmt *other = s->nkid == 2 ? s->kid[1] : NULL;
  if (rest->nkid && !ends(s->kid[0]) && !(other && ends(other))) return NULL;
  bool both = other || (rest->nkid && ends(s->kid[0]));
  const TdStmt *kid[2] = {arm_with(st, s->kid[0], rest), both ? arm_with(st, other, rest) : NULL};
  if (!kid[0] || (both && !kid[1])) return NULL;
  if (!both || kid[0]->nkid) return td_stmt_with_kids(st, s, kid, both ? 2 : 1);
  const TdExpr *c = s->expr[0], *against = td_expr_op(st->arena, TD_OP_NOT, c->type, &c, 1, s->loc);
  return td_stmt_with_exprs(st, td_stmt_with_kids(st, s, &kid[1], 1), &against, 1);
}

/* A block without its returns, or NULL. */
static const TdStmt *straight(TdStore *st, const TdStmt *block) {
  td_ctx_enter(st->session->ctx);
  TD_VEC(const TdStmt *) all = {0};
  const TdStmt *out = block;
  for (uint32_t i = 0; i < block->nkid && out; i++) {
    const TdStmt *s = block->kid[i];
    if (!returns(st, s)) {
      td_vec_push(st->arena, &all, s);
      continue;
    }
    const TdStmt *rest = td_stmt_block(st, block->kid + i + 1, block->nkid - i - 1, s->loc);
    if (s->kind == TD_STMT_IF)
      out = choice(st, s, rest);
    else if (s->kind == TD_STMT_BLOCK)
      out = arm_with(st, s, rest);
    else if (s->kind != TD_STMT_RETURN)
      out = NULL;
    if (out && s->kind != TD_STMT_RETURN) td_vec_push(st->arena, &all, out);
    break;
  }
  td_ctx_leave(st->session->ctx);
  return out ? td_stmt_with_kids(st, block, all.at, all.n) : NULL;
}

const TdStmt *td_net_return_straight(TdStore *st, const TdStmt *body) {
  return returns(st, body) ? straight(st, body) : body;
}
