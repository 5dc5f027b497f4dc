/* cut.c - smaller versions of a kernel. */
#include "tests/fuzz/cut.h"

/* The search for the n-th cut, in a walk that visits all; `left` counts down to it. */
typedef struct Cut {
  TdStore *store;
  TdSession *session;
  const TdUnit *unit;
  int left;
  const TdStmt *at, *with; /* replace `at` by the statements of block `with`, or `at` itself */
  bool whole;              /* `with` stands for `at` as it is */
} Cut;

/* Whether this is the cut that is looked for. */
static bool is_it(Cut *c) {
  return c->left-- == 0;
}

/* Notes: `s` becomes the statements of block `with` (NULL: nothing), or another form of itself. */
static bool take(Cut *c, const TdStmt *s, const TdStmt *with, bool whole) {
  c->at = s;
  c->with = with;
  c->whole = whole;
  return true;
}

/* The search for a simpler expression, in all places of one. */
typedef struct Simpler {
  Cut *cut;
  bool found;
} Simpler;

static const TdExpr *simpler(Simpler *x, const TdExpr *e);

/* A literal zero of e's type when e is not a literal yet; NULL when there is none. */
static const TdExpr *zero_of(Cut *c, const TdExpr *e) {
  if (e->kind == TD_EXPR_LIT || !td_type_is_scalar(e->type)) return NULL;
  return td_expr_lit(c->store->arena, e->type, 0, e->loc);
}

/* e with one of its kids simplified. */
static const TdExpr *simpler_kid(Simpler *x, const TdExpr *e) {
  TdArena *a = x->cut->store->arena;
  const TdExpr **kid = TD_NEWN(a, const TdExpr *, e->nkid + 1);
  for (uint32_t i = 0; i < e->nkid; i++) kid[i] = e->kid[i];
  for (uint32_t i = 0; i < e->nkid && !x->found; i++) {
    kid[i] = simpler(x, e->kid[i]);
    if (x->found) return td_expr_with_kids(a, e, kid);
  }
  return e;
}

/* e, or the form of it that the search asks for. */
static const TdExpr *simpler(Simpler *x, const TdExpr *e) {
  Cut *c = x->cut;
  const TdExpr *zero = zero_of(c, e);
  if (zero && is_it(c)) {
    x->found = true;
    return zero;
  }
  for (uint32_t i = 0; e->kind == TD_EXPR_OP && i < e->nkid; i++) {
    bool fits = td_type_is_scalar(e->kid[i]->type) && td_type_is_scalar(e->type) &&
                (e->type->kind == TD_T_BOOL) == (e->kid[i]->type->kind == TD_T_BOOL);
    if (!fits || !is_it(c)) continue;
    x->found = true;
    return e->kid[i]->type == e->type ? e->kid[i]
                                      : td_expr_cast(c->store->arena, e->type, e->kid[i], false);
  }
  return simpler_kid(x, e);
}

/* A simpler expression somewhere in s itself. */
static bool cut_exprs(Cut *c, const TdStmt *s) {
  TdArena *a = c->store->arena;
  for (uint32_t i = 0; i < s->nexpr; i++) {
    Simpler x = {.cut = c};
    const TdExpr **list = TD_NEWN(a, const TdExpr *, s->nexpr);
    for (uint32_t k = 0; k < s->nexpr; k++) list[k] = s->expr[k];
    list[i] =
        i == 0 && s->kind == TD_STMT_STORE ? simpler_kid(&x, s->expr[0]) : simpler(&x, s->expr[i]);
    if (x.found) return take(c, s, td_stmt_with_exprs(c->store, s, list, s->nexpr), true);
  }
  return false;
}

/* The body of a loop at its first iteration. */
static const TdStmt *first_iteration(Cut *c, const TdStmt *loop) {
  TdSubst u = td_subst_new(c->store);
  td_subst_expr(&u, loop->sym, td_for_lo(loop));
  return td_subst_in_stmt(&u, td_for_body(loop));
}

/* A loop with other bounds. */
static const TdStmt *bounded(Cut *c, const TdStmt *loop, const TdExpr *lo, const TdExpr *hi) {
  const TdExpr *e[] = {lo, hi};
  return td_stmt_with_exprs(c->store, loop, e, 2);
}

/* Fewer iterations, or a plain range. */
static bool cut_loop(Cut *c, const TdStmt *s) {
  static const int64_t trips[] = {2, 3, 4};
  TdArena *a = c->store->arena;
  if (is_it(c)) return take(c, s, first_iteration(c, s), false);
  int64_t lo, hi;
  bool plain = td_expr_is_const(td_for_lo(s), &lo), fixed = td_expr_is_const(td_for_hi(s), &hi);
  for (int i = 0; i < 3; i++) {
    if (plain && fixed && hi - lo <= trips[i]) break;
    if (!is_it(c)) continue;
    const TdExpr *n = td_expr_index(c->session, a, trips[i] * s->step, s->loc);
    return take(c, s, bounded(c, s, td_for_lo(s), td_lin_plus(c->session, a, td_for_lo(s), n)),
                true);
  }
  if (!(plain && lo == 0) && is_it(c))
    return take(c, s, bounded(c, s, td_expr_index(c->session, a, 0, s->loc), td_for_hi(s)), true);
  if (s->step > 1 && is_it(c)) {
    TdStmt *copy = td_arena_copy(a, s, sizeof *s);
    copy->step = 1;
    return take(c, s, copy, true);
  }
  return false;
}

/* Whether the search ends at s. */
static bool visit(void *ud, const TdStmt *s) {
  Cut *c = ud;
  if (s == c->unit->body) return true;
  if (s->kind != TD_STMT_BLOCK && is_it(c)) return !take(c, s, NULL, false);
  switch (s->kind) {
  case TD_STMT_FOR:
    if (cut_loop(c, s)) return false;
    break;
  case TD_STMT_IF:
  case TD_STMT_WHILE:
    for (uint32_t i = 0; i < s->nkid; i++)
      if (is_it(c)) return !take(c, s, s->kid[i], false);
    if (s->nkid == 2 && is_it(c))
      return !take(c, s, td_stmt_with_kids(c->store, s, s->kid, 1), true);
    break;
  case TD_STMT_BLOCK:
    for (uint32_t i = 0; i < s->nkid; i++)
      if (s->kid[i]->kind == TD_STMT_BLOCK && is_it(c))
        return !take(c, s->kid[i], s->kid[i], false);
    break;
  default: break;
  }
  return !cut_exprs(c, s);
}

/* u without its parameter i. */
static const TdUnit *without_param(TdStore *st, const TdUnit *u, size_t i) {
  TdUnit *copy = td_unit_copy(st, u);
  TdParam *list = TD_NEWN(st->arena, TdParam, u->nparam);
  for (size_t k = 0, n = 0; k < u->nparam; k++)
    if (k != i) list[n++] = u->param[k];
  copy->param = list;
  copy->nparam = u->nparam - 1;
  return copy;
}

/* The n-th cut of a unit's statements and, of the root, of its unused parameters. */
static const TdProg *cut_unit(Cut *c, const TdProg *p) {
  const TdUnit *u = c->unit;
  td_walk_stmt(c->session->ctx, u->body, visit, c);
  if (c->at) {
    const TdStmt *const *with = c->whole ? &c->with : c->with ? c->with->kid : NULL;
    size_t n = c->whole ? 1 : c->with ? c->with->nkid : 0;
    const TdStmt *body = td_edit_replace(c->store, u->body, c->at->uid, with, n);
    return td_prog_with(p, td_unit_with_body(c->store, u, body));
  }
  for (size_t i = 0; u == td_prog_root(p) && u->nparam > 1 && i < u->nparam; i++)
    if (!td_walk_uses(c->session->ctx, u->body, u->param[i].sym) && is_it(c))
      return td_prog_with(p, without_param(c->store, u, i));
  return NULL;
}

const TdProg *cut_program(const TdProg *p, int n) {
  Cut c = {.store = p->store, .session = p->store->session, .left = n};
  for (size_t i = p->nunit; i-- > 0;) {
    c.unit = p->unit[i];
    const TdProg *q = c.unit->body ? cut_unit(&c, p) : NULL;
    if (q) return td_prog_prune(q);
  }
  return NULL;
}
