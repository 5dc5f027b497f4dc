/* cover.c - whether a task writes all of a block before it reads any of it, so that the block
 * need not be loaded: a store to all of it, or a nest of loops around one store, each dimension
 * indexed by a loop of its own that runs over all of it. */
#include "lower/net/net.h"

typedef struct Cover {
  TdNet *n;
  const TdUnit *unit;
  TdSym array;
  const int64_t *extent, *step; /* of the block; between its elements in the argument */
  int rank;
  TD_VEC(const TdStmt *) loop; /* around the statement that is looked at */
} Cover;

static bool mentions(const Cover *c, const TdStmt *s) {
  return td_walk_uses(c->n->store->session->ctx, s, c->array);
}

/* How often a loop runs, -1: not known. */
static int64_t trips(const Cover *c, const TdStmt *loop) {
  int64_t lo, hi;
  const TdExpr *span =
      td_lin_minus(c->n->store->session, c->n->arena, td_for_hi(loop), td_for_lo(loop));
  if (loop->step != 1) return -1;
  if (td_unit_value(c->unit, span, &hi)) return hi;
  if (!td_unit_value(c->unit, td_for_lo(loop), &lo)) return -1;
  return td_unit_value(c->unit, td_for_hi(loop), &hi) ? hi - lo : -1;
}

/* The number of the loop that index e follows step by step; -1: none. */
static int loop_of(const Cover *c, const TdExpr *e, int64_t step) {
  e = td_net_facts_index(c->n->store, c->unit, e);
  TdLin x = td_lin_of(c->n->store->session, c->n->arena, e);
  int found = -1;
  if (!td_lin_is_affine(&x)) return -1;
  for (size_t i = 0; i < x.n; i++)
    for (size_t k = 0; k < c->loop.n; k++) {
      if (!td_walk_uses_expr(x.term[i].atom, c->loop.at[k]->sym)) continue;
      if (found >= 0 || x.term[i].atom->kind != TD_EXPR_VAR || x.term[i].coef != step) return -1;
      found = (int)k;
    }
  return found;
}

/* Whether the loops around `place` lead it over each element of the block. */
static bool runs_over_all(const Cover *c, const TdExpr *place) {
  uint64_t used = 0;
  for (int d = 0; d < c->rank; d++) {
    if (c->extent[d] == 1) continue;
    int64_t some = 1;
    if (place->kind == TD_EXPR_VIEW && place->u.dim[d].out >= 0) {
      if (!td_unit_value(c->unit, place->type->dim[place->u.dim[d].out], &some)) return false;
      if (some != c->extent[d] || place->u.dim[d].step != c->step[d]) return false;
      continue;
    }
    int k = loop_of(c, place->kid[d], c->step[d]);
    if (k < 0 || used >> k & 1 || trips(c, c->loop.at[k]) != c->extent[d]) return false;
    used |= (uint64_t)1 << k;
  }
  for (size_t k = 0; k < c->loop.n; k++)
    if (trips(c, c->loop.at[k]) < 1) return false;
  return true;
}

static bool stays(void *ud, const TdStmt *s) {
  (void)ud;
  return s->kind != TD_STMT_BREAK && s->kind != TD_STMT_RETURN;
}

static bool covers(Cover *c, const TdStmt *s);

/* A loop in which one statement mentions the array. */
static bool loop_covers(Cover *c, const TdStmt *s) {
  const TdStmt *one = NULL, *body = td_for_body(s);
  if (!td_walk_stmt(c->n->store->session->ctx, s, stays, NULL) || c->loop.n == 64) return false;
  for (uint32_t i = 0; i < body->nkid; i++) {
    if (!mentions(c, body->kid[i])) continue;
    if (one) return false;
    one = body->kid[i];
  }
  if (!one || td_walk_uses_expr(td_for_lo(s), c->array) ||
      td_walk_uses_expr(td_for_hi(s), c->array))
    return false;
  td_vec_push(c->n->arena, &c->loop, s);
  bool all = covers(c, one);
  c->loop.n--;
  return all;
}

/* Whether s, which mentions the array, writes all of the block and reads nothing of it. */
static bool covers(Cover *c, const TdStmt *s) {
  const TdExpr *place = s->nexpr ? s->expr[0] : NULL, *value = s->nexpr > 1 ? s->expr[1] : NULL;
  if (s->kind == TD_STMT_FOR) return loop_covers(c, s);
  if (s->kind == TD_STMT_GET) place = value, value = NULL;
  if (s->kind != TD_STMT_GET && s->kind != TD_STMT_STORE && s->kind != TD_STMT_SET) return false;
  if (place->sym != c->array || (value && td_walk_uses_expr(value, c->array))) return false;
  for (uint32_t d = 0; d < place->nkid; d++)
    if (td_walk_uses_expr(place->kid[d], c->array)) return false;
  return runs_over_all(c, place);
}

bool td_net_cover(TdNet *n, const TdUnit *u, TdSym array, const int64_t *extent,
                  const int64_t *step, int rank) {
  Cover c = {.n = n, .unit = u, .array = array, .extent = extent, .step = step, .rank = rank};
  for (uint32_t i = 0; i < u->body->nkid; i++) {
    if (mentions(&c, u->body->kid[i])) return covers(&c, u->body->kid[i]);
    if (!td_walk_stmt(n->store->session->ctx, u->body->kid[i], stays, NULL)) return false;
  }
  return false;
}
