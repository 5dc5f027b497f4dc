/* guard_views.c - views that may meet, in simulations: in front of each statement whose views of
 * one array are not proved to lie apart stands the call of an empty kernel that assumes that they
 * do, of the values that they are indexed by. */
#include "analysis/order/apart.h"
#include "ir/subst.h"
#include "lower/guard_views.h"

/* The program as it becomes. */
typedef struct Guarding {
  const TdProg *prog;
  TdStore *st;
  TdMap *said; /* uid of such a kernel -> what it says */
  TD_VEC(const TdStmt *) stmt;
} Guarding;

/* One such kernel, and what it is called with. */
typedef struct Guard {
  TdStore *st;
  TD_VEC(TdParam) param;
  TD_VEC(const TdExpr *) arg;
} Guard;

static bool note_stmt(void *ud, const TdStmt *s) {
  Guarding *g = ud;
  if (s->kind == TD_STMT_CALL || s->kind == TD_STMT_SET) td_vec_push(g->st->arena, &g->stmt, s);
  return true;
}

/* The parameter that stands for an index. */
static const TdExpr *param_for(Guard *g, const TdExpr *e) {
  for (size_t i = 0; i < g->arg.n; i++)
    if (td_equal_expr(g->arg.at[i], e))
      return td_expr_var(g->st->arena, g->param.at[i].sym, e->type, e->loc);
  const char *name = td_text_fmt(g->st->arena, "at%zu", g->arg.n);
  TdSym sym = td_store_sym(g->st, name, TD_SYM_SCALAR);
  td_vec_push(g->st->arena, &g->param, ((TdParam){.sym = sym, .type = e->type, .loc = e->loc}));
  td_vec_push(g->st->arena, &g->arg, e);
  return td_expr_var(g->st->arena, sym, e->type, e->loc);
}

/* A condition with parameters for all that is neither a number nor computed from indices. */
static const TdExpr *over_params(Guard *g, const TdExpr *e) {
  bool plain = e->kind == TD_EXPR_OP;
  for (uint32_t i = 0; i < e->nkid; i++)
    plain &= e->kid[i]->type->kind == TD_T_INDEX || e->kid[i]->type->kind == TD_T_BOOL;
  if (e->kind == TD_EXPR_LIT) return e;
  if (!plain) return param_for(g, e);
  const TdExpr *kid[4];
  for (uint32_t i = 0; i < e->nkid; i++) kid[i] = over_params(g, e->kid[i]);
  return td_expr_with_kids(g->st->arena, e, kid);
}

/* Adds the kernel for two views; returns its call. */
static const TdStmt *add_guard(Guarding *all, const TdApart *views, TdSym before) {
  TdStore *st = all->st;
  Guard g = {.st = st};
  const TdExpr *meet = over_params(&g, views->meet);
  TdUnit *k = TD_NEW(st->arena, TdUnit);
  const TdExpr **fact = TD_NEW(st->arena, const TdExpr *);
  *fact = td_expr_op(st->arena, TD_OP_NOT, meet->type, &meet, 1, views->loc);
  *k = (TdUnit){.kind = TD_UNIT_KERNEL, .loc = views->loc, .uid = td_store_uid(st)};
  k->sym = td_store_sym(st, "apart", TD_SYM_UNIT);
  k->param = g.param.at;
  k->nparam = g.param.n;
  k->assert_ = fact;
  k->nassert = 1;
  k->body = td_stmt_block(st, NULL, 0, views->loc);
  all->prog = td_prog_insert(all->prog, k, before);
  td_map_put(st->arena, all->said, k->uid, (uint64_t)(uintptr_t)views->what);
  return td_stmt_call(st, k->sym, g.arg.at, g.arg.n, views->loc);
}

/* Puts those calls into a unit. */
static void guard_unit(Guarding *all, TdAffine *affine, const TdUnit *u) {
  TdStore *st = all->st;
  TdAsk q = {.affine = affine, .arena = st->arena, .prog = all->prog, .unit = u};
  const TdStmt *body = u->body;
  all->stmt.n = 0;
  td_walk_stmt(st->session->ctx, body, note_stmt, all);
  for (size_t i = 0; i < all->stmt.n; i++) {
    const TdStmt *s = all->stmt.at[i];
    const TdApart *open;
    size_t n = td_apart_open(&q, s, &open);
    if (!n) continue;
    const TdStmt **now = TD_NEWN(st->arena, const TdStmt *, n + 1);
    for (size_t k = 0; k < n; k++) now[k] = add_guard(all, &open[k], u->sym);
    now[n] = s;
    body = td_edit_replace(st, body, s->uid, now, n + 1);
  }
  if (body != u->body) all->prog = td_prog_with(all->prog, td_unit_with_body(st, u, body));
}

const TdProg *td_guard_views_prog(const TdProg *p, TdMap *said) {
  Guarding all = {.prog = p, .st = p->store, .said = said};
  TdAffine *affine = td_affine_new(p->store->arena);
  for (size_t i = 0; i < p->nunit; i++)
    if (p->unit[i]->body) guard_unit(&all, affine, p->unit[i]);
  return all.prog;
}
