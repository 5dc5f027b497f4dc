/* partial_sum.c - a local array that starts with zeros, is added to, and is at last added to
 * another array goes: what was added to it is added to the other array at once. */
#include <string.h>

#include "affine/access.h"
#include "rewrite/array/collapse_nest.h"
#include "rewrite/array/local.h"
#include "rewrite/copied.h"

typedef struct Partial {
  TdLocalArray l;
  const TdStmt *last; /* the store that adds the array to the other */
  TdCopy copy;        /* it, as a copy of the array to the other */
  size_t first;       /* number in its block of the first statement that adds to the array */
  bool ring;          /* no order changes a value */
} Partial;

static bool refuse(const Partial *k, const char *code, const TdStmt *at, const char *why) {
  td_util_refuse(k->l.r, TD_ILLEGAL, code, at->loc, "'%s' %s", k->l.sym->name, why);
  return false;
}

static const TdExpr *bare(const TdExpr *e) {
  while (e->kind == TD_EXPR_CAST) e = e->kid[0];
  return e;
}

/* Of the store S[..] = S[..] + P[..] the element of P, if P has this symbol; or NULL. */
static const TdExpr *added(const TdStmt *s, TdSym sym) {
  bool ring;
  if (s->kind != TD_STMT_STORE || s->expr[0]->sym == sym) return NULL;
  const TdExpr *sum = bare(s->expr[1]);
  if (td_access_accumulates(s->expr[1], s->expr[0], &ring) != TD_OP_ADD ||
      sum->kind != TD_EXPR_OP || sum->op != TD_OP_ADD)
    return NULL;
  const TdExpr *x = bare(sum->kid[0]), *y = bare(sum->kid[1]);
  const TdExpr *part = x->sym == sym ? x : y, *other = x->sym == sym ? y : x;
  bool fits = part->kind == TD_EXPR_LOAD && part->sym == sym && part->nkid &&
              td_equal_expr(other, s->expr[0]) && part->type == s->expr[0]->type;
  return fits ? part : NULL;
}

/* ---- what uses the array ---- */

static bool look_last(void *ud, const TdStmt *s) {
  Partial *k = ud;
  if (added(s, k->l.sym)) k->last = s;
  return true;
}

/* A look at a statement of the block: whether it only zeroes the array, or only adds to it. */
typedef struct Uses {
  const Partial *k;
  bool zero, add, ring;
  const TdStmt *bad;
} Uses;

static bool look_use(void *ud, const TdStmt *s) {
  Uses *u = ud;
  TdSym sym = u->k->l.sym;
  bool ring, uses = false, writes = s->kind == TD_STMT_STORE && s->expr[0]->sym == sym;
  for (uint32_t i = 0; i < s->nexpr; i++) uses |= td_walk_uses_expr(s->expr[i], sym);
  if (!uses) return true;
  const TdExpr *value = writes ? bare(s->expr[1]) : NULL;
  if (value && value->kind == TD_EXPR_LIT && !value->u.bits) {
    u->zero = true;
  } else if (value && td_access_accumulates(s->expr[1], s->expr[0], &ring) == TD_OP_ADD) {
    u->add = true;
    u->ring &= ring;
  } else {
    u->bad = s;
  }
  return !u->bad;
}

static Uses uses_in(const Partial *k, const TdStmt *s) {
  Uses u = {.k = k, .ring = true};
  td_walk_stmt(k->l.r->session->ctx, s, look_use, &u);
  return u;
}

/* Whether the array is zeroed, added to, and added to the other, in this order, in one block. */
static bool check_uses(Partial *k) {
  const TdCopy *c = &k->copy;
  size_t i = 0, n = c->block->nkid;
  bool zeroed = k->l.decl->init == TD_INIT_FILL;
  while (i < n && c->block->kid[i] != k->l.decl) i++;
  if (i == n) return refuse(k, "scope", c->store, "is declared outside of the loop that adds it");
  if (zeroed && (k->l.decl->expr[0]->kind != TD_EXPR_LIT || k->l.decl->expr[0]->u.bits))
    return refuse(k, "not-a-copy", k->l.decl, "does not start with zeros");
  k->first = c->place;
  for (i++; i < n; i++) {
    if (i == c->place) continue;
    Uses u = uses_in(k, c->block->kid[i]);
    if (i > c->place && (u.bad || u.zero || u.add))
      return refuse(k, "scope", c->block->kid[i], "is used after it was added");
    if (u.bad) return refuse(k, "not-a-copy", u.bad, "is used here otherwise than to add to it");
    if (u.zero && (u.add || k->first < i))
      return refuse(k, "scope", c->block->kid[i], "is zeroed here where it may be added to before");
    zeroed |= u.zero;
    k->ring &= u.ring;
    if (u.add && k->first > i) k->first = i;
  }
  return zeroed || refuse(k, "not-a-copy", k->l.decl, "does not start with zeros");
}

/* Whether the array is filled with zeros, or statements zero it. */
static bool starts_with_zeros(const Partial *k) {
  return k->l.decl->init == TD_INIT_FILL || uses_in(k, k->l.unit->body).zero;
}

static bool is_no_data(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_LOAD;
}

/* Whether nothing but the sums uses the other array meanwhile, and all elements are added to. */
static bool check_other(Partial *k) {
  TdRewrite *r = k->l.r;
  TdCopy *c = &k->copy;
  for (uint32_t d = 0; d < c->to->nkid; d++)
    if (!td_walk_expr(c->to->kid[d], is_no_data, NULL))
      return refuse(k, "index", c->store, "is added at a place that data gives");
  if (!td_index_inverse_of(&c->turn, r, k->l.unit, c->loop, c->nloop, c->side))
    return refuse(k, "index", c->store, c->turn.why);
  if (!td_index_inverse_covers(&c->turn, k->l.type))
    return refuse(k, "covers", c->store, "has elements that are not added");
  for (size_t i = k->first; i < c->place; i++) {
    const TdStmt *s = c->block->kid[i];
    TdAsk q = td_util_ask(r, k->l.unit);
    const TdEffect *e;
    size_t n = td_effects_of(&q, s, &e);
    if (td_walk_leaves(td_util_block1(r, s)))
      return refuse(k, "leaves", s, "may not be added: this may leave before");
    bool declares = s->sym == c->to->sym && s->kind != TD_STMT_CALL;
    if (declares || td_effects_find(e, n, c->to->sym))
      return refuse(k, "order", s, "is added to an array that is used here, before that");
  }
  return true;
}

/* ---- the sums ---- */

/* Elements of the array at a statement become those of the other. */
typedef struct Turning {
  const Partial *k;
  const TdStmt *at;
} Turning;

static const TdExpr *turn_use(void *ud, const TdExpr *e) {
  const Turning *t = ud;
  const TdCopy *c = &t->k->copy;
  if (e->kind != TD_EXPR_LOAD || e->sym != t->k->l.sym) return e;
  td_copied_note(c->r, c->to);
  return td_copy_other(c, t->at, e);
}

/* The statements that use the array in a kid of the block. */
typedef struct Found {
  TdArena *arena;
  TdSym sym;
  TD_VEC(const TdStmt *) stmt;
} Found;

static bool look_found(void *ud, const TdStmt *s) {
  Found *f = ud;
  if (s->kind == TD_STMT_STORE && s->expr[0]->sym == f->sym) td_vec_push(f->arena, &f->stmt, s);
  return true;
}

/* The unit's body with the sums made in the other array. */
static const TdStmt *turned(const Partial *k) {
  TdRewrite *r = k->l.r;
  const TdCopy *c = &k->copy;
  const TdStmt *body = k->l.unit->body;
  for (size_t i = 0; i < c->place; i++) {
    const TdStmt *kid = c->block->kid[i];
    if (i < k->first && kid != k->l.decl && uses_in(k, kid).zero) {
      body = td_edit_replace(r->store, body, kid->uid, NULL, 0);
      continue;
    }
    Found f = {.arena = r->arena, .sym = k->l.sym};
    td_walk_stmt(r->session->ctx, kid, look_found, &f);
    for (size_t u = 0; u < f.stmt.n; u++) {
      Turning t = {k, f.stmt.at[u]};
      const TdExpr *e[2];
      for (int x = 0; x < 2; x++)
        e[x] = td_walk_map_expr(r->store->arena, t.at->expr[x], turn_use, &t);
      const TdStmt *now = td_stmt_with_exprs(r->store, t.at, e, 2);
      body = td_edit_replace(r->store, body, t.at->uid, &now, 1);
    }
  }
  body = td_edit_replace(r->store, body, c->nest->uid, NULL, 0);
  return td_edit_replace(r->store, body, k->l.decl->uid, NULL, 0);
}

const TdProg *td_collapse_partial(TdRewrite *r, const TdPlace *at, bool reassociate, bool *is) {
  Partial k = {.ring = true};
  TdDiag *diag = r->diag, quiet = {.arena = r->arena};
  *is = false;
  r->diag = &quiet;
  TdPlace array = td_collapse_place(r, at);
  bool local = td_local_find_views(&k.l, r, &array);
  r->diag = diag;
  if (!local) return NULL;
  td_walk_stmt(r->session->ctx, k.l.unit->body, look_last, &k);
  if (!k.last) return NULL;
  const TdExpr *move[] = {k.last->expr[0], added(k.last, k.l.sym)};
  const TdStmt *store = td_stmt_with_exprs(r->store, k.last, move, 2);
  const TdStmt *body = td_edit_replace(r->store, k.l.unit->body, store->uid, &store, 1);
  k.l.unit = td_unit_with_body(r->store, k.l.unit, body);
  td_copy_find(&k.copy, r, k.l.unit, store, k.l.sym);
  TdDiag uses = {.arena = r->arena};
  r->diag = &uses;
  bool fits = check_uses(&k);
  r->diag = diag;
  *is = fits || (strcmp(uses.code, "not-a-copy") != 0 && starts_with_zeros(&k));
  if (!fits && *is) *diag = uses;
  if (!fits || !check_other(&k)) return NULL;
  if (!k.ring && !reassociate) {
    refuse(&k, "reassociation", store, "is a sum of floats, which would be made in another order");
    td_diag_help(r->diag, "give reassociate = true to allow it");
    return NULL;
  }
  const TdProg *p = td_util_with_body(r, k.copy.turn.unit, turned(&k));
  td_util_note(r, "legal because '+' is associative");
  td_local_note_unwritten(&k.l);
  return p;
}
