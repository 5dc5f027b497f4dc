/* private.c - privatisation: a local that carries nothing between iterations becomes one of the
 * loop's body. */
#include "rewrite/loop/private.h"

typedef struct Private {
  TdRewrite *r;
  const TdUnit *unit;
  const TdStmt *loop;
  TdPath path; /* from the body to the loop */
  TD_VEC(const TdStmt *) moved;
} Private;

/* Whether nothing in `block`, but the declaration and what lies on the path, uses the local. */
static bool is_used_on_path(const Private *p, const TdStmt *decl) {
  TdCtx *c = p->r->session->ctx;
  bool inside = false;
  for (size_t level = 0; level + 1 < p->path.n; level++) {
    const TdStmt *s = p->path.at[level], *next = p->path.at[level + 1];
    for (uint32_t i = 0; inside && i < s->nexpr; i++)
      if (td_walk_uses_expr(s->expr[i], decl->sym)) return false;
    for (uint32_t i = 0; i < s->nkid; i++) {
      inside |= s->kid[i] == decl;
      bool other = s->kid[i] != next && s->kid[i] != decl;
      if (inside && other && td_walk_uses(c, s->kid[i], decl->sym)) return false;
    }
  }
  return !td_walk_uses_expr(td_for_lo(p->loop), decl->sym) &&
         !td_walk_uses_expr(td_for_hi(p->loop), decl->sym);
}

/* Whether an iteration reads nothing of the local but what it has written. */
static bool is_prepared(const Private *p, const TdStmt *decl) {
  TdAsk q = td_util_ask(p->r, p->unit);
  TdFootprint f;
  return td_footprint_of(&q, td_for_body(p->loop), decl->sym, decl->type, &f) && f.write &&
         f.prepared;
}

/* Whether the first value of a local may be left out: it reads nothing. */
static bool has_plain_start(const TdStmt *decl) {
  if (decl->init != TD_INIT_VALUE) return true;
  const TdExpr *e = decl->expr[0];
  while (e->kind == TD_EXPR_CAST) e = e->kid[0];
  return e->kind == TD_EXPR_LIT;
}

/* Notes the locals of the blocks around the loop that are its own. */
static void find_locals(Private *p) {
  for (size_t level = 0; level + 1 < p->path.n; level++) {
    const TdStmt *s = p->path.at[level];
    for (uint32_t i = 0; s->kind == TD_STMT_BLOCK && i < s->nkid; i++) {
      const TdStmt *d = s->kid[i];
      if (d == p->path.at[level + 1]) break;
      if (d->kind == TD_STMT_LOCAL && d->cls == TD_LOCAL_AUTO && has_plain_start(d) &&
          is_used_on_path(p, d) && is_prepared(p, d))
        td_vec_push(p->r->arena, &p->moved, d);
    }
  }
}

/* The body of the unit without the locals where they were, and with them in the loop. */
static const TdStmt *move(const Private *p) {
  TdStore *st = p->r->store;
  const TdStmt *old = td_for_body(p->loop), *body = p->unit->body;
  const TdStmt **kid = TD_NEWN(st->arena, const TdStmt *, p->moved.n + old->nkid);
  size_t n = 0;
  for (size_t i = 0; i < p->moved.n; i++) {
    TdStmt *d = td_arena_copy(st->arena, p->moved.at[i], sizeof *d);
    d->init = TD_INIT_NONE;
    kid[n++] = td_stmt_with_exprs(st, d, NULL, 0);
    td_util_note(p->r, "'%s' is each iteration's own", d->sym->name);
  }
  for (uint32_t i = 0; i < old->nkid; i++) kid[n++] = old->kid[i];
  for (size_t i = 0; i < p->moved.n; i++)
    body = td_edit_replace(st, body, p->moved.at[i]->uid, NULL, 0);
  const TdStmt *now = td_stmt_with_kids(st, old, kid, n);
  return td_edit_replace(st, body, old->uid, &now, 1);
}

const TdUnit *td_private_locals(TdRewrite *r, const TdUnit *u, uint32_t uid) {
  Private p = {.r = r, .unit = u};
  p.path = td_edit_path(r->arena, u->body, uid);
  p.loop = p.path.at[p.path.n - 1];
  find_locals(&p);
  return p.moved.n ? td_unit_with_body(r->store, u, move(&p)) : u;
}
