/* slide.c - a window that is computed over and over becomes one that moves. */
#include "rewrite/loop/slide.h"

typedef struct Slide {
  TdRewrite *r;
  const TdUnit *unit;
  const TdStmt *loop, *nest; /* nest: a loop of its body */
  TdSym array;
  int64_t extent, shift; /* iterations of the nest; how far they move */
  int dim;               /* of the array that the nest's variable indexes, -1: not seen yet */
  int64_t offset;
  bool fits;
} Slide;

/* Finds the one statement of the loop's body that writes the array, a loop. */
static bool find_nest(Slide *s) {
  TdAsk q = td_util_ask(s->r, s->unit);
  const TdStmt *body = td_for_body(s->loop);
  for (uint32_t i = 0; i < body->nkid; i++) {
    const TdEffect *e;
    size_t n = td_effects_of(&q, body->kid[i], &e);
    const TdEffect *f = td_effects_find(e, n, s->array);
    if (!f || !f->write) continue;
    if (s->nest || body->kid[i]->kind != TD_STMT_FOR) return false;
    s->nest = body->kid[i];
  }
  return s->nest != NULL;
}

/* e, a bound of the nest, in the iteration of the loop that `at` is the variable of. */
static const TdExpr *bound_at(const Slide *s, const TdExpr *e, const TdExpr *at) {
  TdSubst u = td_subst_new(s->r->store);
  td_subst_expr(&u, s->loop->sym, at);
  return td_subst_in_expr(&u, e);
}

/* Whether the nest has a range of one length that moves forward by less than that. */
static bool measure(Slide *s) {
  TdRewrite *r = s->r;
  const TdExpr *lo = td_for_lo(s->nest), *hi = td_for_hi(s->nest);
  const TdExpr *next = td_lin_plus(r->session, r->store->arena, td_util_var(r, s->loop->sym),
                                   td_util_const(r, s->loop->step));
  return s->nest->step == 1 && td_lin_diff(r->session, hi, lo, &s->extent) &&
         td_lin_diff(r->session, bound_at(s, lo, next), lo, &s->shift) && s->shift > 0 &&
         s->shift < s->extent;
}

/* Whether an access to the array is of the element of the nest's iteration. */
static bool look_access(void *ud, const TdExpr *e) {
  Slide *s = ud;
  if (e->sym != s->array || (e->kind != TD_EXPR_LOAD && e->kind != TD_EXPR_VIEW)) return true;
  s->fits = false;
  if (e->kind == TD_EXPR_VIEW) return false;
  for (uint32_t d = 0; d < e->nkid; d++) {
    int64_t by;
    if (!td_lin_diff(s->r->session, e->kid[d], td_util_var(s->r, s->nest->sym), &by)) continue;
    if (s->dim < 0) s->dim = (int)d, s->offset = by;
    s->fits |= s->dim == (int)d && s->offset == by;
  }
  return s->fits;
}

/* Whether the nest writes nothing else, and reads nothing that the loop writes or declares. */
static bool is_pure(const Slide *s) {
  TdAsk q = td_util_ask(s->r, s->unit);
  const TdEffect *own, *all;
  const TdStmt *body = td_for_body(s->loop);
  size_t n = td_effects_of(&q, s->nest, &own), m = td_effects_of(&q, body, &all);
  for (size_t i = 0; i < n; i++) {
    if (own[i].kind != TD_CELL_MEMORY) return false;
    if (own[i].inside || own[i].sym == s->array) continue;
    const TdEffect *e = td_effects_find(all, m, own[i].sym);
    if (own[i].write || !e || e->write || e->inside) return false;
  }
  TdFootprint f;
  TdPlace at = {s->unit, NULL, s->array};
  return !td_walk_uses(s->r->session->ctx, td_for_body(s->nest), s->loop->sym) &&
         td_cursor_array(s->r->arena, s->r->prog, s->array->name, s->unit, &at,
                         &(TdDiag){.arena = s->r->arena}) &&
         at.sym == s->array &&
         td_footprint_of(&q, td_for_body(s->nest), s->array,
                         at.stmt ? at.stmt->type : td_unit_param(at.unit, at.sym)->type, &f) &&
         (!f.read || f.prepared);
}

/* What of the first window is not new in it, before the loop, if that runs. */
static const TdStmt *make_start(const Slide *s) {
  TdRewrite *r = s->r;
  TdArena *a = r->store->arena;
  const TdStmt *copy = td_util_copy(r, s->unit, s->nest);
  const TdExpr *from = bound_at(s, td_for_lo(s->nest), td_for_lo(s->loop));
  const TdExpr *to = td_lin_plus(r->session, a, from, td_util_const(r, s->extent - s->shift));
  copy = td_util_reloop(r, copy, copy->sym, from, to, 1, td_for_body(copy));
  TdAsk q = td_util_ask(r, s->unit);
  if (td_range_runs(&q, s->loop, false)) return copy;
  return td_util_guard(
      r, td_expr_op2(a, TD_OP_LT, td_type_bool(r->session), td_for_lo(s->loop), td_for_hi(s->loop)),
      copy);
}

const TdUnit *td_slide_window(TdRewrite *r, const TdUnit *u, const TdStmt *loop, TdSym array) {
  Slide s = {.r = r, .unit = u, .loop = loop, .array = array, .dim = -1, .fits = true};
  if (td_walk_leaves(td_for_body(loop)) || !find_nest(&s) || !measure(&s) ||
      !td_walk_exprs(r->session->ctx, td_for_body(s.nest), look_access, &s) || !is_pure(&s))
    return NULL;
  const TdStmt *n = s.nest;
  const TdExpr *lo =
      td_lin_plus(r->session, r->store->arena, td_for_lo(n), td_util_const(r, s.extent - s.shift));
  const TdStmt *part[2] = {make_start(&s), NULL};
  n = td_util_reloop(r, n, n->sym, lo, td_for_hi(n), 1, td_for_body(n));
  part[1] = td_edit_replace(r->store, loop, n->uid, &n, 1);
  td_util_note(r, "'%s' is computed once", array->name);
  return td_unit_with_body(r->store, u, td_edit_replace(r->store, u->body, loop->uid, part, 2));
}
