/* copy.c - copies between arrays. */
#include "rewrite/array/copy.h"

bool td_copy_is(const TdStmt *s) {
  return s->kind == TD_STMT_STORE && s->expr[1]->kind == TD_EXPR_LOAD &&
         s->expr[0]->sym != s->expr[1]->sym && s->expr[0]->type == s->expr[1]->type;
}

void td_copy_find(TdCopy *c, TdRewrite *r, const TdUnit *u, const TdStmt *store, TdSym side) {
  *c = (TdCopy){.r = r, .unit = u, .store = store, .nest = store};
  c->to = store->expr[0];
  c->from = store->expr[1];
  c->side = c->to->sym == side ? c->to : c->from;
  TdPath p = td_edit_path(r->arena, u->body, store->uid);
  const TdStmt **loop = TD_NEWN(r->arena, const TdStmt *, p.n);
  size_t i = p.n - 1, first = p.n;
  while (i >= 2 && p.at[i - 1]->nkid == 1 && p.at[i - 2]->kind == TD_STMT_FOR &&
         td_walk_uses_expr(c->side, p.at[i - 2]->sym)) {
    i -= 2;
    loop[--first] = c->nest = p.at[i];
  }
  c->loop = loop + first;
  c->nloop = p.n - first;
  c->block = p.at[i - 1];
  while (c->block->kid[c->place] != c->nest) c->place++;
}

const TdExpr *td_copy_other(const TdCopy *c, const TdStmt *at, const TdExpr *e) {
  const TdExpr *other = c->side == c->to ? c->from : c->to, *index[TD_MAX_RANK];
  const TdExpr **value = TD_NEWN(c->r->arena, const TdExpr *, c->nloop + 1);
  TdSubst sub = td_subst_new(c->r->store);
  td_index_inverse_at(&c->turn, e->kid, value);
  for (size_t k = 0; k < c->nloop; k++) td_subst_expr(&sub, c->loop[k]->sym, value[k]);
  for (uint32_t d = 0; d < other->nkid; d++)
    index[d] = td_index_inverse_reduce(c->r, c->unit, at, td_subst_in_expr(&sub, other->kid[d]));
  return td_expr_load(c->r->store->arena, other->sym, other->type, index, (int)other->nkid, e->loc);
}

bool td_copy_meets(const TdCopy *c, const TdStmt *at, const TdExpr *e) {
  bool meets = true;
  for (int d = 0; d < c->turn.rank && meets; d++) {
    const TdExpr *fact = NULL;
    meets = !c->turn.fixed[d] ||
            (td_util_same_value(c->r, c->unit, at, e->kid[d], c->turn.base[d], &fact) && !fact);
  }
  return meets;
}

/* The nest with another statement for the store; uids stay. */
static const TdStmt *nest_of(const TdCopy *c, const TdStmt *s) {
  if (c->nest == c->store) return s;
  return td_edit_replace(c->r->store, c->nest, c->store->uid, &s, 1);
}

const TdStmt *td_copy_reads(const TdCopy *c) {
  TdSym v = td_store_sym(c->r->store, "element", TD_SYM_LOCAL);
  const TdStmt *s =
      td_stmt_local(c->r->store, v, c->from->type, TD_INIT_VALUE, c->from, c->store->loc);
  TdStmt *same = td_arena_copy(c->r->store->arena, s, sizeof *same);
  same->uid = c->store->uid;
  return nest_of(c, same);
}

const TdStmt *td_copy_writes(const TdCopy *c, const TdExpr *value) {
  const TdExpr *e[] = {c->to, value};
  return nest_of(c, td_stmt_with_exprs(c->r->store, c->store, e, 2));
}

bool td_copy_places(const TdCopy *c, const TdType *other, TdDesc *out, bool *shifts) {
  const TdExpr *e = c->side == c->to ? c->from : c->to;
  TdTurn turn;
  return td_index_inverse_of_both(&turn, c->r, c->unit, c->loop, c->nloop, c->side, e) &&
         td_index_inverse_places(&turn, e, other, out, shifts);
}

static void note(TdRewrite *r, TdSym array, TdSym other, const TdDesc *at) {
  TdText t = td_text_new(r->arena);
  td_desc_print(&t, at);
  td_util_note(r, "'%s' is '%s' at %s", array->name, other->name, td_text_str(&t));
}

/* The copies between an array and others in a unit. */
typedef struct Chain {
  TdRewrite *r;
  const TdCopyOf *of;
} Chain;

static bool look_copy(void *ud, const TdStmt *s) {
  const Chain *k = ud;
  if (!td_copy_is(s)) return true;
  bool from = s->expr[1]->sym == k->of->array, to = s->expr[0]->sym == k->of->array;
  TdSym next = s->expr[from ? 0 : 1]->sym;
  TdCopy c;
  TdDesc in, both;
  TdDescCarry why;
  bool shifts;
  if ((!from && !to) || next == k->of->other) return true;
  td_copy_find(&c, k->r, k->of->unit, s, next);
  if (td_copy_places(&c, k->of->type, &in, &shifts) && !shifts &&
      td_desc_compose(&k->of->at, &in, &both, &why))
    note(k->r, next, k->of->other, &both);
  return true;
}

void td_copy_note(TdRewrite *r, const TdCopyOf *of) {
  Chain k = {r, of};
  int64_t moved, all = 1, extent;
  note(r, of->array, of->other, &of->at);
  for (int d = 0; d < of->type->rank; d++)
    all *= td_unit_value(of->unit, of->type->dim[d], &extent) ? extent : 0;
  if (td_desc_count(&of->at, &moved) && moved == all)
    td_walk_stmt(r->session->ctx, of->unit->body, look_copy, &k);
}
