/* alias.c - the views that a call passes, pair by pair. */
#include "analysis/order/alias.h"

#include "affine/uses.h"

/* A check of one unit under way. */
typedef struct Check {
  const TdAsk *q;
  TdArena *a;
  TdSpace *space;
  const TdNest *context;
  TdMap written; /* TdUnit -> bool[nparam] */
  TdDiag *d;
} Check;

/* Which parameters u may write. Owned by a. */
static bool *written_params(const TdAsk *q, TdArena *a, const TdUnit *u) {
  bool *w = TD_NEWN(a, bool, u->nparam + 1);
  for (size_t i = 0; i < u->nparam; i++)
    w[i] = td_uses_param(q->prog, u, u->param[i].sym) & TD_USES_WRITE;
  return w;
}

static const bool *writes_of(Check *k, const TdUnit *u) {
  bool *w = td_map_getp(&k->written, u);
  if (!w) {
    w = written_params(k->q, k->a, u);
    td_map_putp(k->a, &k->written, u, w);
  }
  return w;
}

/* The access of a call that passes argument i, or NULL. */
static const TdAccess *passed(const TdLeaf *l, size_t i) {
  const TdExpr *e = l->stmt->expr[i];
  for (size_t k = 0; e->kind == TD_EXPR_VIEW && k < l->naccess; k++)
    if (l->access[k].expr == e && l->access[k].cell->kind == TD_CELL_MEMORY) return &l->access[k];
  return NULL;
}

/* Whether where x and y lie is known. */
static bool is_known(const TdAccess *x, const TdAccess *y) {
  bool known = true;
  for (int d = 0; d < x->rank; d++) known &= !x->index[d].bad && !y->index[d].bad;
  return known;
}

/* The executions of the call in case `dom` in which x and y touch one element. */
static TdSys meeting(Check *k, const TdSys *dom, const TdAccess *x, const TdAccess *y) {
  TdSys s = td_sys_copy(k->a, dom);
  td_sys_join(k->a, &s, &k->context->dom[0], 0);
  TdShift at = td_sys_join(k->a, &s, &x->elem, 0), bt = td_sys_join(k->a, &s, &y->elem, 0);
  for (int d = 0; d < x->rank; d++) {
    TdAff f = td_sys_shift(k->a, x->index[d], at);
    td_sys_zero(k->a, &s, td_sys_plus(k->a, f, -1, td_sys_shift(k->a, y->index[d], bt)));
  }
  td_nest_at_values(k->space, k->q->unit, &s);
  return s;
}

/* Whether x and y touch one element in some execution, whatever scalars and ids are passed: where
 * those decide, the run looks. */
static bool do_meet(Check *k, const TdNest *nest, const TdAccess *x, const TdAccess *y) {
  TdSys *all = TD_NEWN(k->a, TdSys, nest->ndom), any = td_sys_copy(k->a, &k->context->dom[0]);
  bool meet = false;
  for (size_t c = 0; c < nest->ndom; c++) {
    all[c] = meeting(k, &nest->dom[c], x, y);
    meet |= td_affine_has_point(k->q->affine, &all[c]) == TD_YES;
  }
  int32_t *keep = TD_NEWN(k->a, int32_t, k->space->at.n);
  size_t kept = 0;
  for (size_t i = 0; i < k->space->at.n; i++)
    if (!k->space->at.at[i].is_size) keep[kept++] = -1 - (int32_t)i;
  if (!meet || !kept) return meet;
  td_nest_at_values(k->space, k->q->unit, &any);
  return td_affine_covers(k->q->affine, &any, all, nest->ndom, keep, kept) == TD_YES;
}

static bool refuse_overlap(Check *k, const TdLeaf *l, const TdUnit *u, size_t i, size_t j) {
  const TdExpr *x = l->stmt->expr[i], *y = l->stmt->expr[j];
  td_diag_set(k->d, TD_ILLEGAL, "overlap", y->loc.line ? y->loc : l->stmt->loc,
              "'%s' and '%s' of '%s' are passed the same elements of '%s', and one is written",
              u->param[i].sym->name, u->param[j].sym->name, u->sym->name, x->sym->name);
  if (x->loc.line) td_diag_note(k->d, x->loc, "passed here too");
  td_diag_help(k->d, "pass a copy: %s:copy()", y->sym->name);
  return false;
}

static bool check_pair(Check *k, const TdLeaf *l, const TdUnit *u, size_t i, size_t j) {
  const bool *written = writes_of(k, u);
  const TdAccess *x = passed(l, i), *y = passed(l, j);
  if (!x || !y || x->cell != y->cell || !(written[i] || written[j]) || !is_known(x, y)) return true;
  TdMark m = td_arena_mark(k->a);
  bool meet = do_meet(k, l->nest, x, y);
  td_arena_release(k->a, m);
  return !meet || refuse_overlap(k, l, u, i, j);
}

/* Whether the unit declares sym as a constant tensor. */
static bool is_constant(const Check *k, TdSym sym) {
  const TdStmt *body = k->q->unit->body;
  for (uint32_t i = 0; i < body->nkid && body->kid[i]->kind == TD_STMT_LOCAL; i++)
    if (body->kid[i]->sym == sym) return body->kid[i]->cls == TD_LOCAL_CONST;
  return false;
}

static bool check_constant(Check *k, const TdLeaf *l, const TdUnit *u, size_t i) {
  const TdExpr *e = l->stmt->expr[i];
  if (e->kind != TD_EXPR_VIEW || !is_constant(k, e->sym) || !writes_of(k, u)[i]) return true;
  td_diag_set(k->d, TD_USAGE, "assign-constant", e->loc.line ? e->loc : l->stmt->loc,
              "'%s' is constant inside the kernel, and '%s' writes it", e->sym->name, u->sym->name);
  td_diag_help(k->d, "make it a parameter, or a tide.state");
  return false;
}

static bool check_call(Check *k, const TdLeaf *l) {
  const TdUnit *u = td_prog_unit(k->q->prog, l->stmt->sym);
  for (size_t i = 0; u && i < u->nparam; i++) {
    if (!check_constant(k, l, u, i)) return false;
    for (size_t j = i + 1; j < u->nparam; j++)
      if (!check_pair(k, l, u, i, j)) return false;
  }
  return true;
}

static bool is_no_call(void *ud, const TdStmt *s) {
  (void)ud;
  return s->kind != TD_STMT_CALL;
}

bool td_alias_check(const TdAsk *q, TdDiag *d) {
  TdCtx *ctx = td_affine_ctx(q->affine);
  if (!q->unit->body || td_walk_stmt(ctx, q->unit->body, is_no_call, NULL)) return true;
  TdArena *a = td_arena_scratch(ctx);
  TdSpace *space = td_access_space(td_arena_scratch(ctx));
  Check k = {.q = q, .a = a, .space = space, .d = d};
  TdNestMaker m = {q->prog->store->session, space, &(TdEnv){.unit = q->unit}};
  k.context = td_nest_context(&m, q->unit->body);
  TdLeaves *l = td_access_list_flat(q, space, &q->unit->body, 1);
  bool ok = true;
  for (size_t i = 0; ok && i < l->at.n; i++)
    if (l->at.at[i].stmt->kind == TD_STMT_CALL) ok = check_call(&k, &l->at.at[i]);
  td_arena_free(a);
  td_arena_free(space->arena);
  return ok;
}
