/* split_lives.c - a local array that a copy overwrites whole holds two things, one after the other:
 * each collapses as an array of its own. */
#include "rewrite/array/collapse_nest.h"
#include "rewrite/array/local.h"

/* The copy that a nest is, if that is all it does. */
static const TdStmt *copy_in(const TdStmt *s) {
  while (s->kind == TD_STMT_FOR || s->kind == TD_STMT_BLOCK) {
    if (s->nkid != 1) return NULL;
    s = s->kid[0];
  }
  return td_copy_is(s) ? s : NULL;
}

/* Whether nest s, of u, copies to all elements of the array. */
static bool overwrites(const TdLocalArray *l, const TdStmt *s) {
  const TdStmt *store = copy_in(s);
  TdCopy c;
  if (!store || store->expr[0]->sym != l->sym) return false;
  td_copy_find(&c, l->r, l->unit, store, l->sym);
  return c.nest == s && td_index_inverse_of(&c.turn, l->r, l->unit, c.loop, c.nloop, c.side) &&
         td_index_inverse_covers(&c.turn, l->type) && c.turn.unit == l->unit;
}

/* The number of the statement of the block that declares the array at which its second life begins;
 * the block's length: it has one. */
static size_t second_life(const TdLocalArray *l, const TdStmt *block) {
  size_t i = 0, found = block->nkid;
  bool used = false;
  while (block->kid[i] != l->decl) i++;
  for (i++; i < block->nkid; i++) {
    if (!td_walk_uses(l->r->session->ctx, block->kid[i], l->sym)) continue;
    if (used && overwrites(l, block->kid[i])) found = i;
    used = true;
  }
  return found;
}

/* The unit where statements of the block from number `from` on use an array of their own. */
static TdPlace divided(const TdLocalArray *l, const TdStmt *block, size_t from) {
  TdRewrite *r = l->r;
  TdStore *st = r->store;
  TdSubst sub = td_subst_new(st);
  TdSym next = td_store_sym(st, td_edit_fresh_name(st, l->unit, l->sym->name), TD_SYM_LOCAL);
  td_subst_sym(&sub, l->sym, next);
  const TdStmt **kid = TD_NEWN(st->arena, const TdStmt *, block->nkid + 1);
  const TdStmt *decl = td_stmt_local(st, next, l->decl->type, TD_INIT_NONE, NULL, l->decl->loc);
  decl = td_stmt_with_attrs(st, decl, l->decl->attrs);
  size_t n = 0;
  for (size_t i = 0; i < block->nkid; i++) {
    if (i == from) kid[n++] = decl;
    kid[n++] = i < from ? block->kid[i] : td_subst_in_stmt(&sub, block->kid[i]);
  }
  const TdStmt *now = td_stmt_with_kids(st, block, kid, n), *body = l->unit->body;
  body = block == body ? now : td_edit_replace(st, body, block->uid, &now, 1);
  return (TdPlace){td_unit_with_body(st, l->unit, body), decl, next};
}

const TdProg *td_collapse_lives(TdRewrite *r, const TdPlace *at) {
  TdLocalArray l;
  const TdProg *was = r->prog, *p = NULL;
  if (!td_local_find_views(&l, r, at)) return NULL;
  TdPath path = td_edit_path(r->arena, l.unit->body, l.decl->uid);
  const TdStmt *block = path.at[path.n - 2];
  size_t from = second_life(&l, block);
  if (from == block->nkid) return NULL;
  TdPlace second = divided(&l, block, from);
  r->prog = td_prog_with(r->prog, second.unit);
  p = td_collapse_array(r, &second);
  if (p) {
    r->prog = p;
    TdPlace first = {.unit = td_prog_unit(p, l.unit->sym), .sym = l.sym};
    first.stmt = td_edit_find(r->session->ctx, first.unit->body, l.decl->uid);
    p = td_collapse_array(r, &first);
  }
  r->prog = was;
  return p;
}
