/* walk.c - visiting, mapping and copying trees. */
#include "ir/walk.h"

#include <string.h>

#include "ir/text/print.h"

bool td_walk_expr(const TdExpr *e, TdExprVisit fn, void *ud) {
  if (!fn(ud, e)) return false;
  for (uint32_t i = 0; i < e->nkid; i++)
    if (!td_walk_expr(e->kid[i], fn, ud)) return false;
  return true;
}

bool td_walk_stmt(TdCtx *c, const TdStmt *s, TdStmtVisit fn, void *ud) {
  td_ctx_enter(c);
  bool go = fn(ud, s);
  for (uint32_t i = 0; go && i < s->nkid; i++) go = td_walk_stmt(c, s->kid[i], fn, ud);
  td_ctx_leave(c);
  return go;
}

typedef struct ExprVisitor {
  TdExprVisit fn;
  void *ud;
} ExprVisitor;

static bool visit_exprs_of(void *ud, const TdStmt *s) {
  ExprVisitor *v = ud;
  for (uint32_t i = 0; i < s->nexpr; i++)
    if (!td_walk_expr(s->expr[i], v->fn, v->ud)) return false;
  return true;
}

bool td_walk_exprs(TdCtx *c, const TdStmt *s, TdExprVisit fn, void *ud) {
  ExprVisitor v = {fn, ud};
  return td_walk_stmt(c, s, visit_exprs_of, &v);
}

const TdExpr *td_walk_map_expr(TdArena *a, const TdExpr *e, TdExprMap fn, void *ud) {
  const TdExpr *small[8], **kid = small;
  if (e->nkid > 8) kid = TD_NEWN(a, const TdExpr *, e->nkid);
  bool changed = false;
  for (uint32_t i = 0; i < e->nkid; i++) {
    kid[i] = td_walk_map_expr(a, e->kid[i], fn, ud);
    changed |= kid[i] != e->kid[i];
  }
  return fn(ud, changed ? td_expr_with_kids(a, e, kid) : e);
}

const TdStmt *td_walk_map(TdStore *st, const TdStmt *s, TdExprMap fn, void *ud) {
  td_ctx_enter(st->session->ctx);
  const TdExpr **e = TD_NEWN(st->arena, const TdExpr *, s->nexpr);
  const TdStmt **kid = TD_NEWN(st->arena, const TdStmt *, s->nkid);
  bool changed_e = false, changed_k = false;
  for (uint32_t i = 0; i < s->nexpr; i++) {
    e[i] = td_walk_map_expr(st->arena, s->expr[i], fn, ud);
    changed_e |= e[i] != s->expr[i];
  }
  for (uint32_t i = 0; i < s->nkid; i++) {
    kid[i] = td_walk_map(st, s->kid[i], fn, ud);
    changed_k |= kid[i] != s->kid[i];
  }
  if (changed_e) s = td_stmt_with_exprs(st, s, e, s->nexpr);
  if (changed_k) s = td_stmt_with_kids(st, s, kid, s->nkid);
  td_ctx_leave(st->session->ctx);
  return s;
}

/* Whether s declares its symbol (rather than using it). */
static bool declares(const TdStmt *s) {
  return s->sym && (s->kind == TD_STMT_FOR || s->kind == TD_STMT_LOCAL || s->kind == TD_STMT_GET ||
                    s->kind == TD_STMT_SLOT);
}

static bool freshen(void *ud, const TdStmt *s) {
  TdSubst *u = ud;
  if (declares(s))
    td_subst_sym(u, s->sym, td_store_sym(u->store, s->sym->name, (TdSymKind)s->sym->kind));
  return true;
}

/* A copy of the tree with fresh uids, parents first, so that numbering follows the text. */
static const TdStmt *renumber(TdStore *st, const TdStmt *s) {
  TdStmt *copy = td_arena_copy(st->arena, s, sizeof *s);
  copy->origin = s->origin ? s->origin : s->uid;
  copy->uid = td_store_uid(st);
  const TdStmt **kid = TD_NEWN(st->arena, const TdStmt *, s->nkid);
  for (uint32_t i = 0; i < s->nkid; i++) kid[i] = renumber(st, s->kid[i]);
  copy->kid = kid;
  return copy;
}

const TdStmt *td_walk_copy(TdStore *st, const TdStmt *s, const TdSubst *given) {
  TdSubst u = td_subst_new(st);
  td_walk_stmt(st->session->ctx, s, freshen, &u);
  const TdStmt *copy = td_subst_in_stmt(&u, s);
  if (given) copy = td_subst_in_stmt(given, copy);
  return renumber(st, copy);
}

static bool is_not(void *ud, const TdExpr *e) {
  return e->sym != ud;
}

bool td_walk_uses_expr(const TdExpr *e, TdSym v) {
  return !td_walk_expr(e, is_not, (void *)(uintptr_t)v);
}

static bool stmt_is_not(void *ud, const TdStmt *s) {
  for (uint32_t i = 0; i < s->nexpr; i++)
    if (td_walk_uses_expr(s->expr[i], ud)) return false;
  return s->sym != ud;
}

bool td_walk_uses(TdCtx *c, const TdStmt *s, TdSym v) {
  return !td_walk_stmt(c, s, stmt_is_not, (void *)(uintptr_t)v);
}

/* Whether s holds a return, or a break out of what is around it. */
static bool leaves(const TdStmt *s, bool in_loop) {
  if (s->kind == TD_STMT_RETURN || (s->kind == TD_STMT_BREAK && !in_loop)) return true;
  bool loop = s->kind == TD_STMT_FOR || s->kind == TD_STMT_WHILE;
  for (uint32_t i = 0; i < s->nkid; i++)
    if (leaves(s->kid[i], in_loop || loop)) return true;
  return false;
}

bool td_walk_leaves(const TdStmt *s) {
  return leaves(s, false);
}
