/* subst.c - substitution in types, expressions and statements. */
#include "ir/subst.h"

#include "ir/walk.h"

TdSubst td_subst_new(TdStore *st) {
  return (TdSubst){.store = st};
}

void td_subst_expr(TdSubst *u, TdSym from, const TdExpr *to) {
  td_map_putp(u->store->arena, &u->expr, from, (void *)(uintptr_t)to);
}

void td_subst_sym(TdSubst *u, TdSym from, TdSym to) {
  td_map_putp(u->store->arena, &u->sym, from, (void *)(uintptr_t)to);
}

void td_subst_view(TdSubst *u, TdSym from, const TdExpr *view) {
  td_map_putp(u->store->arena, &u->view, from, (void *)(uintptr_t)view);
}

void td_subst_size(TdSubst *u, const char *name, const TdExpr *to) {
  name = td_names_str(u->store->session->names, name);
  td_map_putp(u->store->arena, &u->size, name, (void *)(uintptr_t)to);
}

const TdType *td_subst_in_type(const TdSubst *u, const TdType *t) {
  if (!u->size.n || !t || (t->kind != TD_T_TENSOR && t->kind != TD_T_PORT)) return t;
  const TdExpr *dim[TD_MAX_RANK];
  for (int d = 0; d < t->rank; d++) dim[d] = td_subst_in_expr(u, t->dim[d]);
  const TdType *elem = td_subst_in_type(u, t->elem);
  if (t->kind == TD_T_TENSOR) return td_type_tensor(u->store->session, elem, t->rank, dim);
  return td_type_port(u->store->session, elem, t->rank, dim, t->block);
}

/* A copy of e to change. */
static TdExpr *copy_node(const TdSubst *u, const TdExpr *e) {
  return td_arena_copy(u->store->arena, e, sizeof *e + e->nkid * sizeof *e->kid);
}

/* e, a LOAD or VIEW of what v denotes, as one of the symbol that v is a view of. */
static const TdExpr *through(const TdSubst *u, const TdExpr *v, const TdExpr *e) {
  TdSession *s = u->store->session;
  TdArena *a = u->store->arena;
  const TdExpr *lo[TD_MAX_RANK];
  TdViewDim dim[TD_MAX_RANK];
  for (uint32_t d = 0; d < v->nkid; d++) {
    int from = v->u.dim[d].out;
    lo[d] = v->kid[d];
    dim[d] = (TdViewDim){.step = 1, .out = -1};
    if (from < 0) continue;
    lo[d] = td_lin_plus(s, a, lo[d], td_lin_times(s, a, e->kid[from], v->u.dim[d].step));
    if (e->kind == TD_EXPR_VIEW)
      dim[d] = (TdViewDim){v->u.dim[d].step * e->u.dim[from].step, e->u.dim[from].out};
  }
  if (e->kind == TD_EXPR_LOAD) return td_expr_load(a, v->sym, e->type, lo, (int)v->nkid, e->loc);
  return td_expr_view(a, v->sym, e->type, lo, dim, (int)v->nkid, e->loc);
}

/* e, whose kids are done, with its symbol and type replaced. */
static const TdExpr *subst_node(void *ud, const TdExpr *e) {
  const TdSubst *u = ud;
  const TdExpr *to = NULL;
  if (e->kind == TD_EXPR_VAR) to = td_map_getp(&u->expr, e->sym);
  if (e->kind == TD_EXPR_SIZE) to = td_map_getp(&u->size, e->u.name);
  if (to) return to;
  TdSym sym = e->sym ? td_map_getp(&u->sym, e->sym) : NULL;
  const TdType *type = td_subst_in_type(u, e->type);
  if ((sym && sym != e->sym) || type != e->type) {
    TdExpr *copy = copy_node(u, e);
    if (sym) copy->sym = sym;
    copy->type = type;
    e = copy;
  }
  bool part = e->kind == TD_EXPR_LOAD || e->kind == TD_EXPR_VIEW;
  const TdExpr *view = part ? td_map_getp(&u->view, e->sym) : NULL;
  return view ? through(u, view, e) : td_expr_fold(u->store->session, u->store->arena, e);
}

/* Whether e is a sum, product.. of type index: a part that is simplified as a whole. */
static bool is_index_arithmetic(const TdExpr *e) {
  return e->type->kind == TD_T_INDEX && (e->kind == TD_EXPR_OP || e->kind == TD_EXPR_CAST);
}

/* e, whose kids are done, with the largest index expressions right below it simplified. */
static const TdExpr *simplify_node(void *ud, const TdExpr *e) {
  const TdSubst *u = ud;
  TdArena *a = u->store->arena;
  if (is_index_arithmetic(e)) return e;
  const TdExpr *small[8], **kid = small;
  if (e->nkid > 8) kid = TD_NEWN(a, const TdExpr *, e->nkid);
  bool changed = false;
  for (uint32_t i = 0; i < e->nkid; i++) {
    bool whole = is_index_arithmetic(e->kid[i]);
    kid[i] = whole ? td_lin_simplify(u->store->session, a, e->kid[i]) : e->kid[i];
    changed |= kid[i] != e->kid[i];
  }
  return changed ? td_expr_fold(u->store->session, a, td_expr_with_kids(a, e, kid)) : e;
}

const TdExpr *td_subst_in_expr(const TdSubst *u, const TdExpr *e) {
  TdArena *a = u->store->arena;
  const TdExpr *r = td_walk_map_expr(a, e, subst_node, (void *)(uintptr_t)u);
  if (r == e) return e;
  r = td_walk_map_expr(a, r, simplify_node, (void *)(uintptr_t)u);
  return is_index_arithmetic(r) ? td_lin_simplify(u->store->session, a, r) : r;
}

/* The attribute list with symbols renamed. */
static TdAttrs subst_attrs(const TdSubst *u, TdAttrs l) {
  TdAttr *at = NULL;
  for (size_t i = 0; i < l.n; i++)
    for (int k = 0; td_attrs[l.at[i].kind].args[k]; k++) {
      if (td_attrs[l.at[i].kind].args[k] != 'y') continue;
      const TdExpr *view = td_map_getp(&u->view, l.at[i].arg[k].sym);
      TdSym to = view ? view->sym : td_map_getp(&u->sym, l.at[i].arg[k].sym);
      if (!to || to == l.at[i].arg[k].sym) continue;
      if (!at) at = td_arena_copy(u->store->arena, l.at, l.n * sizeof *at);
      at[i].arg[k].sym = to;
    }
  return at ? (TdAttrs){at, l.n} : l;
}

/* s, whose kids are already done, with expressions, symbol, type and attributes substituted. */
static const TdStmt *subst_header(const TdSubst *u, const TdStmt *s) {
  TdArena *a = u->store->arena;
  const TdExpr **e = TD_NEWN(a, const TdExpr *, s->nexpr);
  bool changed = false;
  for (uint32_t i = 0; i < s->nexpr; i++) {
    e[i] = td_subst_in_expr(u, s->expr[i]);
    changed |= e[i] != s->expr[i];
  }
  if (changed) s = td_stmt_with_exprs(u->store, s, e, s->nexpr);
  TdSym sym = s->sym ? td_map_getp(&u->sym, s->sym) : NULL;
  const TdType *type = td_subst_in_type(u, s->type);
  TdAttrs attrs = subst_attrs(u, s->attrs);
  if ((!sym || sym == s->sym) && type == s->type && attrs.at == s->attrs.at) return s;
  TdStmt *copy = td_arena_copy(a, s, sizeof *s);
  if (sym) copy->sym = sym;
  copy->type = type;
  copy->attrs = attrs;
  return copy;
}

const TdStmt *td_subst_in_stmt(const TdSubst *u, const TdStmt *s) {
  TdStore *st = u->store;
  td_ctx_enter(st->session->ctx);
  const TdStmt **kid = TD_NEWN(st->arena, const TdStmt *, s->nkid);
  bool changed = false;
  for (uint32_t i = 0; i < s->nkid; i++) {
    kid[i] = td_subst_in_stmt(u, s->kid[i]);
    changed |= kid[i] != s->kid[i];
  }
  if (changed) s = td_stmt_with_kids(st, s, kid, s->nkid);
  td_ctx_leave(st->session->ctx);
  return subst_header(u, s);
}

TdUnit *td_subst_in_unit(const TdSubst *u, const TdUnit *unit) {
  TdUnit *copy = td_unit_copy(u->store, unit);
  if (unit->body) copy->body = td_subst_in_stmt(u, unit->body);
  TdRun *run = td_arena_copy(u->store->arena, unit->run, unit->nrun * sizeof *run);
  for (size_t i = 0; i < unit->nrun; i++) {
    TdSym to = td_map_getp(&u->sym, run[i].unit);
    if (to) run[i].unit = to;
  }
  copy->run = run;
  TdSym model = unit->foreign ? td_map_getp(&u->sym, unit->foreign->model) : NULL;
  if (!model) return copy;
  TdForeign *foreign = td_arena_copy(u->store->arena, unit->foreign, sizeof *foreign);
  foreign->model = model;
  copy->foreign = foreign;
  return copy;
}
