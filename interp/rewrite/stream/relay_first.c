/* relay_first.c - reads that find a first value: no other write to their element comes before. */
#include "rewrite/stream/relay_first.h"

typedef struct Place {
  const TdLeaf *leaf;
  const TdAccess *x;
} Place;
typedef TD_VEC(Place) Places;

typedef struct First {
  TdRelayFirst *f;
  TdAsk q;
  TdArena *a;
  TdSpace *space;
  const TdNest *context;
  Places read, first, other; /* first: stores of the constant */
} First;

/* The constant that a store writes, or NULL. */
static const TdExpr *constant_of(const TdStmt *s) {
  if (s->kind != TD_STMT_STORE) return NULL;
  const TdExpr *e = s->expr[1];
  while (e->kind == TD_EXPR_CAST) e = e->kid[0];
  return e->kind == TD_EXPR_LIT ? s->expr[1] : NULL;
}

/* Sorts what the stage does to the array; false where something is not known exactly. */
static bool find_places(First *k, const TdLeaves *l) {
  TdRelayFirst *f = k->f;
  f->value = f->fill;
  for (size_t i = 0; i < l->at.n; i++)
    for (size_t n = 0; n < l->at.at[i].naccess; n++) {
      Place p = {&l->at.at[i], &l->at.at[i].access[n]};
      if (p.x->cell->sym != f->array || p.x->cell->kind != TD_CELL_MEMORY) continue;
      const TdExpr *c = p.x->write ? constant_of(p.leaf->stmt) : NULL;
      if (p.leaf->region || p.leaf->nest->ndom != 1) return false;
      if (c && !f->value) f->value = c;
      bool first = c && td_equal_expr(c, f->value);
      if (p.x->read) td_vec_push(k->a, &k->read, p);
      if (first) td_vec_push(k->a, &k->first, p);
      if (p.x->write && !first) td_vec_push(k->a, &k->other, p);
    }
  return f->value != NULL;
}

/* The places, in blocks of columns, touch one element. */
static TdSys meeting(const First *k, const Place *x, const Place *y) {
  const Place *p[2] = {x, y};
  TdSys s = {0};
  TdShift at[2];
  td_sys_join(k->a, &s, &k->context->dom[0], 0);
  for (int b = 0; b < 2; b++) {
    td_sys_join(k->a, &s, &p[b]->leaf->nest->dom[0], b);
    at[b] = td_sys_join(k->a, &s, &p[b]->x->elem, b);
  }
  for (int d = 0; d < x->x->rank; d++) {
    TdAff e = x->x->index[d], g = y->x->index[d];
    if (e.bad || g.bad) continue;
    e = td_sys_shift(k->a, e, at[0]);
    td_sys_zero(k->a, &s, td_sys_plus(k->a, e, -1, td_sys_shift(k->a, g, at[1])));
  }
  return s;
}

/* Adds to `out` the ways in which x, in block `bx`, comes before y on one element. */
static void ways_before(const First *k, const Place *x, const Place *y, bool swap, TdSys *out,
                        size_t *n) {
  size_t common = td_conflict_common(x->leaf, y->leaf);
  int32_t bx = swap ? TD_COL_BLOCK : 0, by = swap ? 0 : TD_COL_BLOCK;
  for (size_t level = 0; level < common + (x->leaf->seq < y->leaf->seq); level++) {
    TdSys s = swap ? meeting(k, y, x) : meeting(k, x, y);
    for (size_t d = 0; d < level; d++)
      td_sys_zero(k->a, &s,
                  td_sys_plus(k->a, td_sys_col(k->a, bx + (int32_t)d), -1,
                              td_sys_col(k->a, by + (int32_t)d)));
    if (level < common)
      td_sys_lt(k->a, &s, td_sys_col(k->a, bx + (int32_t)level),
                td_sys_col(k->a, by + (int32_t)level));
    out[(*n)++] = s;
  }
}

/* Whether no other write comes before a read of its element. */
static bool reads_are_first(const First *k) {
  TdSys way[TD_COL_BLOCK + 1];
  for (size_t i = 0; i < k->read.n; i++)
    for (size_t j = 0; j < k->other.n; j++) {
      size_t n = 0;
      ways_before(k, &k->other.at[j], &k->read.at[i], false, way, &n);
      for (size_t w = 0; w < n; w++)
        if (td_affine_has_point(k->q.affine, &way[w]) != TD_NO) return false;
    }
  return true;
}

/* Whether each execution of p has one of `by` on its element before it (or, `later`, after). */
static bool is_covered(const First *k, const Place *p, const Places *by, bool later) {
  size_t n = 0, nkeep = p->leaf->nest->nloop;
  TdSys *part = TD_NEWN(k->a, TdSys, by->n * (TD_COL_BLOCK + 1)), all = {0};
  int32_t *keep = TD_NEWN(k->a, int32_t, nkeep);
  for (size_t i = 0; i < nkeep; i++) keep[i] = (int32_t)i;
  td_sys_join(k->a, &all, &k->context->dom[0], 0);
  td_sys_join(k->a, &all, &p->leaf->nest->dom[0], 0);
  for (size_t i = 0; i < by->n; i++) {
    const Place *w = &by->at[i];
    if (!w->leaf->nest->exact || w->x->may) continue;
    if (later)
      ways_before(k, p, w, false, part, &n);
    else
      ways_before(k, w, p, true, part, &n);
  }
  return td_affine_covers(k->q.affine, &all, part, n, keep, nkeep) == TD_YES;
}

/* Whether all reads find the constant, which must be there. */
static bool finds_constant(const First *k) {
  if (!reads_are_first(k)) return false;
  for (size_t i = 0; !k->f->fill && i < k->read.n; i++)
    if (!is_covered(k, &k->read.at[i], &k->first, false)) return false;
  return true;
}

/* Notes the stores of the constant whose elements are written again. */
static void find_dead(const First *k) {
  for (size_t i = 0; i < k->first.n; i++)
    if (!is_covered(k, &k->first.at[i], &k->other, true)) return;
  for (size_t i = 0; i < k->first.n; i++)
    td_vec_push(k->f->r->arena, &k->f->dead, k->first.at[i].leaf->stmt->uid);
}

bool td_relay_first(TdRelayFirst *f) {
  First k = {.f = f, .q = td_util_ask(f->r, f->unit)};
  k.q.prog = f->prog;
  k.a = td_arena_scratch(td_affine_ctx(k.q.affine));
  k.space = td_access_space(k.a);
  TdNestMaker m = {f->r->session, k.space, &(TdEnv){.unit = f->unit}};
  k.context = td_nest_context(&m, f->stage);
  bool ok = find_places(&k, td_access_list(&k.q, k.space, &f->stage, 1)) && finds_constant(&k);
  if (ok) find_dead(&k);
  td_arena_free(k.a);
  return ok;
}

/* The value in the place of what reads the array. */
typedef struct Putting {
  const TdRelayFirst *f;
  TdSym array;
  TD_VEC(uint32_t) uid; /* statements that use it */
} Putting;

static const TdExpr *to_value(void *ud, const TdExpr *e) {
  const Putting *v = ud;
  return e->kind == TD_EXPR_LOAD && e->sym == v->array ? v->f->value : e;
}

static bool note_use(void *ud, const TdStmt *s) {
  Putting *v = ud;
  bool uses = false;
  for (uint32_t i = 0; i < s->nexpr; i++) uses |= td_walk_uses_expr(s->expr[i], v->array);
  if (uses) td_vec_push(v->f->r->arena, &v->uid, s->uid);
  return true;
}

const TdStmt *td_relay_first_put(const TdRelayFirst *f, const TdStmt *root, TdSym array) {
  Putting v = {.f = f, .array = array};
  TdStore *st = f->r->store;
  TdCtx *ctx = f->r->session->ctx;
  td_walk_stmt(ctx, root, note_use, &v);
  for (size_t k = 0; k < v.uid.n; k++) {
    const TdStmt *s = td_edit_find(ctx, root, v.uid.at[k]);
    const TdExpr **e = TD_NEWN(st->arena, const TdExpr *, s->nexpr);
    for (uint32_t i = 0; i < s->nexpr; i++) {
      bool place = s->kind == TD_STMT_STORE && i == 0;
      e[i] = place ? s->expr[i] : td_walk_map_expr(st->arena, s->expr[i], to_value, &v);
    }
    const TdStmt *now = td_stmt_with_exprs(st, s, e, s->nexpr);
    root = td_edit_replace(st, root, s->uid, &now, 1);
  }
  return root;
}
