/* nest.c - domains, one statement header at a time. */
#include "affine/nest.h"

#include "affine/dense.h"

/* Most systems in one domain; beyond, the condition at hand is left out. */
enum { MOST_CASES = 16 };

const TdNest *td_nest_top(TdSpace *s) {
  TdNest *n = TD_NEW(s->arena, TdNest);
  n->dom = TD_NEW(s->arena, TdSys);
  n->ndom = 1;
  n->exact = true;
  return n;
}

const TdNest *td_nest_maybe(TdSpace *s, const TdNest *up) {
  if (!up->exact) return up;
  TdNest *n = td_arena_copy(s->arena, up, sizeof *up);
  n->exact = false;
  return n;
}

/* Adds the rows of one header. */
typedef void (*AddRows)(TdLower *w, const void *what);

/* The domain of `up` with the rows of `add`, case by case; `up` less exact when they are too many.
 */
static const TdNest *extend(TdLower *w, const TdNest *up, AddRows add, const void *what,
                            size_t most) {
  TdArena *a = w->space->arena;
  TD_VEC(TdSys) dom = {0};
  for (size_t i = 0; i < up->ndom; i++) {
    w->at = w->n = 0;
    do {
      TdSys s = td_sys_copy(a, &up->dom[i]);
      w->sys = &s;
      add(w, what);
      if ((w->n == 0 && up->ndom == 1) || !td_dense_is_void(a, &s)) td_vec_push(a, &dom, s);
    } while (td_lower_next(w));
  }
  if (!dom.n) {
    TdSys never = {0};
    td_sys_nonneg(a, &never, td_sys_const(-1));
    td_vec_push(a, &dom, never);
  }
  bool keep = dom.n > most;
  TdNest *n = td_arena_copy(a, up, sizeof *up);
  n->loop = w->loop;
  n->nloop = w->nloop;
  n->dom = keep ? up->dom : dom.at;
  n->ndom = keep ? up->ndom : dom.n;
  n->exact = up->exact && !w->inexact && !keep;
  return n;
}

/* lo <= v < hi, and v one of lo, lo + step, .. */
static void add_loop(TdLower *w, const void *what) {
  const TdStmt *s = what;
  TdArena *a = w->space->arena;
  const TdExpr *v = td_expr_var(a, s->sym, td_type_index(w->session), s->loc);
  td_lower_le(w, td_for_lo(s), v, 0);
  td_lower_le(w, v, td_for_hi(s), 1);
  if (s->step == 1) return;
  TdAff lo, at;
  if (!td_lower_expr(w, td_for_lo(s), &lo) || !td_lower_expr(w, v, &at)) {
    w->inexact = true;
    return;
  }
  TdAff beyond = td_sys_plus(a, at, -1, lo);
  td_sys_zero(a, w->sys, td_sys_plus(a, beyond, -s->step, td_sys_fresh(a, w->sys)));
}

/* A lowering among the loops of n. */
static TdLower lower_at(const TdNestMaker *m, const TdNest *n) {
  return (TdLower){
      .session = m->session, .space = m->space, .env = m->env, .loop = n->loop, .nloop = n->nloop};
}

const TdNest *td_nest_loop(const TdNestMaker *m, const TdNest *up, const TdStmt *loop) {
  TdArena *a = m->space->arena;
  if (up->nloop == TD_COL_BLOCK) td_ctx_escape(m->session->ctx, TD_WHY_DEPTH);
  const TdNestLoop **all = TD_NEWN(a, const TdNestLoop *, up->nloop + 1);
  for (size_t i = 0; i < up->nloop; i++) all[i] = up->loop[i];
  TdNestLoop *l = TD_NEW(a, TdNestLoop);
  l->stmt = loop;
  all[up->nloop] = l;
  TdLower w = lower_at(m, up);
  w.loop = all;
  w.nloop++;
  return extend(&w, up, add_loop, loop, MOST_CASES);
}

typedef struct Branch {
  const TdExpr *cond;
  bool truth;
} Branch;

/* A condition, or its negation. */
static void add_branch(TdLower *w, const void *what) {
  const Branch *b = what;
  td_lower_cond(w, b->cond, b->truth);
}

const TdNest *td_nest_branch(const TdNestMaker *m, const TdNest *up, const TdExpr *cond,
                             bool truth) {
  TdLower w = lower_at(m, up);
  return extend(&w, up, add_branch, &(Branch){cond, truth}, MOST_CASES);
}

/* extent >= 0. */
static void add_extent(TdLower *w, const void *what) {
  TdAff f;
  if (td_lower_expr(w, what, &f))
    td_sys_nonneg(w->space->arena, w->sys, f);
  else
    w->inexact = true;
}

/* `up`, with one more fact if it is convex; a fact left out does no harm to exactness. */
static const TdNest *add_fact(TdLower *w, const TdNest *up, AddRows add, const void *what) {
  bool exact = up->exact;
  w->inexact = false;
  TdNest *n = td_arena_copy(w->space->arena, extend(w, up, add, what, 1), sizeof *n);
  n->exact = exact;
  return n;
}

/* 0 <= coordinate. */
static void add_coord(TdLower *w, const void *what) {
  TdSym v = what;
  int32_t col = td_lower_param(w->space, v, v->name, false);
  td_sys_nonneg(w->space->arena, w->sys, td_sys_col(w->space->arena, col));
}

/* What is known about the unit's sizes, coordinates and index parameters. */
static const TdNest *unit_facts(TdLower *w, const TdUnit *u) {
  const TdNest *n = td_nest_top(w->space);
  for (size_t i = 0; i < u->nparam; i++)
    for (int d = 0; d < u->param[i].type->rank; d++)
      n = add_fact(w, n, add_extent, u->param[i].type->dim[d]);
  for (size_t i = 0; i < u->ncoord; i++) n = add_fact(w, n, add_coord, u->coord[i]);
  for (size_t i = 0; i < u->nassert; i++)
    n = add_fact(w, n, add_branch, &(Branch){u->assert_[i], true});
  return n;
}

/* The path from the unit's body to root, or to the first statement of a root that is new. */
static TdPath path_to(TdArena *a, const TdUnit *u, const TdStmt *root) {
  TdPath p = {0};
  if (!u->body) return p;
  p = td_edit_path(a, u->body, root->uid);
  return p.n || !root->nkid ? p : td_edit_path(a, u->body, root->kid[0]->uid);
}

const TdNest *td_nest_context(const TdNestMaker *m, const TdStmt *root) {
  TdLower w = {.session = m->session, .space = m->space, .env = m->env};
  const TdNest *n = unit_facts(&w, m->env->unit);
  TdPath p = path_to(m->space->arena, m->env->unit, root);
  w.inexact = false;
  for (size_t i = 0; i + 1 < p.n; i++) {
    const TdStmt *s = p.at[i], *next = p.at[i + 1];
    if (s->kind == TD_STMT_FOR)
      n = extend(&w, n, add_loop, s, 1);
    else if (s->kind == TD_STMT_IF)
      n = extend(&w, n, add_branch, &(Branch){s->expr[0], next == s->kid[0]}, 1);
    else if (s->kind == TD_STMT_WHILE)
      n = td_nest_maybe(m->space, n);
  }
  return n;
}

void td_nest_at_values(TdSpace *s, const TdUnit *u, TdSys *sys) {
  for (size_t i = 0; i < s->at.n; i++) {
    const TdSize *size = s->at.at[i].is_size ? td_unit_size(u, s->at.at[i].name) : NULL;
    if (!size || !size->known) continue;
    TdAff f = td_sys_col(s->arena, -1 - (int32_t)i);
    td_sys_zero(s->arena, sys, td_sys_scale(s->arena, 1, f, -size->value));
  }
}
