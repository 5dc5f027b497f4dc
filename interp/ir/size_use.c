/* size_use.c - a walk over all of a unit that may name a size. */
#include "ir/size_use.h"
#include "ir/walk.h"

static bool note_size(void *ud, const TdExpr *e) {
  TdSizeUse *use = ud;
  if (e->kind != TD_EXPR_SIZE || td_map_getp(&use->seen, e->u.name)) return true;
  td_map_putp(use->arena, &use->seen, e->u.name, use);
  td_vec_push(use->arena, &use->name, e->u.name);
  return true;
}

static void note_type(TdSizeUse *use, const TdType *t) {
  if (!t || td_type_is_scalar(t)) return;
  for (int d = 0; d < t->rank; d++) td_walk_expr(t->dim[d], note_size, use);
  note_type(use, t->elem);
}

static bool note_expr(void *ud, const TdExpr *e) {
  note_type(ud, e->type);
  return note_size(ud, e);
}

static bool note_stmt(void *ud, const TdStmt *s) {
  note_type(ud, s->type);
  for (uint32_t i = 0; i < s->nexpr; i++) td_walk_expr(s->expr[i], note_expr, ud);
  return true;
}

TdSizeUse td_size_use_of(TdCtx *ctx, TdArena *arena, const TdUnit *u) {
  TdSizeUse use = {.arena = arena};
  for (size_t i = 0; i < u->nparam; i++) note_type(&use, u->param[i].type);
  for (size_t i = 0; i < u->nassert; i++) td_walk_expr(u->assert_[i], note_size, &use);
  for (size_t i = 0; i < u->nstream; i++) {
    note_type(&use, u->stream[i].type);
    td_walk_expr(u->stream[i].depth, note_size, &use);
  }
  for (size_t i = 0; i < u->nrun; i++)
    for (int d = 0; d < u->run[i].rank; d++) td_walk_expr(u->run[i].map[d], note_size, &use);
  if (u->body) td_walk_stmt(ctx, u->body, note_stmt, &use);
  return use;
}

static bool is_seen(void *ud, const TdExpr *e) {
  const TdSizeUse *use = ud;
  return e->kind != TD_EXPR_SIZE || td_map_getp(&use->seen, e->u.name);
}

bool td_size_use_has_all(const TdSizeUse *use, const TdExpr *e) {
  return td_walk_expr(e, is_seen, (void *)(uintptr_t)use);
}
