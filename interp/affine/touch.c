/* touch.c - element footprints of expressions: tensor operations get existential iterators, and
 * parameters of inlined callees become the views that they are bound to. */
#include "affine/touch.h"

static const TdElem scalar_elem = {0};

/* Whether e is evaluated element by element. */
static bool is_tensor(const TdExpr *e) {
  return e->type->kind == TD_T_TENSOR;
}

TdElem td_touch_elem(const TdType *t) {
  TdElem el = {0};
  for (int d = 0; t->kind == TD_T_TENSOR && d < t->rank; d++) {
    el.extent[el.n] = t->dim[d];
    el.at[el.rank++] = (uint8_t)el.n++;
  }
  return el;
}

void td_touch_declare(TdWalk *w, TdSym sym, const TdStmt *decl) {
  TdCell *c = TD_NEW(w->arena, TdCell);
  *c = (TdCell){.sym = sym, .kind = TD_CELL_MEMORY, .decl = decl, .nest = w->nest};
  td_map_putp(w->arena, &w->cell[TD_CELL_MEMORY], sym, c);
}

/* The cell of sym, from outside the subtree if nothing in it has declared it. */
static const TdCell *cell_of(TdWalk *w, TdSym sym, TdCellKind kind) {
  TdCell *c = td_map_getp(&w->cell[kind], sym);
  if (c) return c;
  c = TD_NEW(w->arena, TdCell);
  *c = (TdCell){.sym = sym, .kind = kind};
  td_map_putp(w->arena, &w->cell[kind], sym, c);
  return c;
}

/* Makes a column for each iterator of el, bounded by its extent. */
static void add_iterators(TdLower *lw, const TdElem *el, TdAff *iter) {
  TdArena *a = lw->space->arena;
  for (size_t i = 0; i < el->n; i++) {
    TdAff extent;
    iter[i] = td_sys_fresh(a, lw->sys);
    td_sys_nonneg(a, lw->sys, iter[i]);
    if (td_lower_expr(lw, el->extent[i], &extent))
      td_sys_lt(a, lw->sys, iter[i], extent);
    else
      lw->inexact = true;
  }
}

/* lo + step * x, or "any". */
static TdAff place_index(TdLower *lw, const TdExpr *lo, int64_t step, TdAff x) {
  TdAff f;
  if (x.bad || !td_lower_expr(lw, lo, &f)) return (TdAff){.bad = true};
  return td_sys_plus(lw->space->arena, f, step, x);
}

/* index := the base's index of element `x` of the view v. */
static void view_index(TdLower *lw, const TdExpr *v, const TdAff *x, size_t rank, TdAff *index) {
  for (uint32_t d = 0; d < v->nkid && d < TD_MAX_RANK; d++) {
    int out = v->u.dim[d].out;
    bool none = out >= 0 && (size_t)out >= rank;
    TdAff at = out < 0 ? td_sys_const(0) : none ? (TdAff){.bad = true} : x[out];
    index[d] = place_index(lw, v->kid[d], out < 0 ? 0 : v->u.dim[d].step, at);
  }
}

/* The index of what e (NULL: the whole) denotes, in its own unit. Returns its rank. */
static size_t own_index(TdLower *lw, const TdExpr *e, const TdElem *el, TdAff *index) {
  TdAff iter[TD_TOUCH_ITERS] = {{0}}, x[TD_TOUCH_ITERS] = {{0}};
  add_iterators(lw, el, iter);
  for (size_t d = 0; d < el->rank; d++) x[d] = iter[el->at[d]];
  if (e && e->kind == TD_EXPR_VIEW) {
    view_index(lw, e, x, el->rank, index);
    return e->nkid;
  }
  size_t rank = e ? e->nkid : el->rank;
  for (size_t d = 0; d < rank && d < TD_MAX_RANK; d++)
    index[d] = e ? place_index(lw, e->kid[d], 0, td_sys_const(0)) : x[d];
  return rank;
}

/* Follows a callee's parameter to what it is bound to, through all calls under way. */
static size_t climb(TdLower *lw, TdSym *sym, TdAff *index, size_t rank) {
  for (const TdEnv *env = lw->env; env->up; env = env->up) {
    const TdParam *p = td_unit_param(env->unit, *sym);
    size_t k = p ? (size_t)(p - env->unit->param) : env->call->nexpr;
    if (k >= env->call->nexpr || env->call->expr[k]->kind != TD_EXPR_VIEW) break;
    const TdExpr *v = env->call->expr[k];
    TdAff inner[TD_MAX_RANK];
    for (size_t d = 0; d < TD_MAX_RANK; d++) inner[d] = index[d];
    lw->env = env->up;
    view_index(lw, v, inner, rank, index);
    rank = v->nkid;
    *sym = v->sym;
  }
  return rank;
}

/* Records accesses to sym at e (NULL: all of it), one for each case of the index. */
static void touch(TdWalk *w, TdSym sym, const TdExpr *e, const TdElem *el, TdCellKind kind,
                  int how) {
  TdLower lw = {.session = w->out->session,
                .space = w->out->space,
                .loop = w->nest->loop,
                .nloop = w->nest->nloop};
  do {
    TdAccess x = {.expr = e, .read = how & TD_TOUCH_READ, .write = (how & TD_TOUCH_WRITE) != 0};
    TdSym base = sym;
    lw.sys = &x.elem;
    lw.env = w->env;
    size_t rank = own_index(&lw, e, el, x.index);
    rank = climb(&lw, &base, x.index, rank);
    x.rank = (uint8_t)(rank < TD_MAX_RANK ? rank : TD_MAX_RANK);
    x.cell = cell_of(w, base, kind);
    x.may = w->may || lw.inexact || x.elem.bad;
    for (size_t d = 0; d < x.rank; d++) x.may |= x.index[d].bad;
    td_vec_push(w->arena, &w->access, x);
  } while (td_lower_next(&lw));
}

/* What the scalars in the index expressions of a place read. */
static void touch_indices(TdWalk *w, const TdExpr *e) {
  for (uint32_t d = 0; d < e->nkid; d++) td_touch_value(w, e->kid[d], &scalar_elem);
}

void td_touch_place(TdWalk *w, const TdExpr *e, const TdElem *of, TdCellKind kind, int how) {
  touch_indices(w, e);
  touch(w, e->sym, e, of, kind, how);
}

void td_touch_whole(TdWalk *w, TdSym sym, const TdType *t, TdCellKind kind, int how) {
  TdElem el = td_touch_elem(t);
  touch(w, sym, NULL, &el, kind, how);
}

/* `of` with one more iterator, over dimension `axis` of t; its number is in *k. */
static TdElem with_iterator(TdWalk *w, const TdElem *of, const TdType *t, int axis, uint8_t *k) {
  TdElem el = *of;
  if (el.n == TD_TOUCH_ITERS) td_ctx_escape(w->out->session->ctx, TD_WHY_DEPTH);
  *k = (uint8_t)el.n;
  el.extent[el.n++] = t->dim[axis];
  return el;
}

/* matmul: element (i, k) of the left and (k, j) of the right; a vector has no i or j. */
static void touch_matmul(TdWalk *w, const TdExpr *e, const TdElem *of) {
  const TdExpr *x = e->kid[0], *y = e->kid[1];
  uint8_t k;
  TdElem all = with_iterator(w, of, x->type, x->type->rank - 1, &k), left = all, right = all;
  left.rank = right.rank = 0;
  if (x->type->rank > 1) left.at[left.rank++] = of->at[0];
  left.at[left.rank++] = k;
  right.at[right.rank++] = k;
  if (y->type->rank > 1) right.at[right.rank++] = of->at[of->rank ? of->rank - 1 : 0];
  td_touch_value(w, x, &left);
  td_touch_value(w, y, &right);
}

/* reduce: all elements along the axis. */
static void touch_reduce(TdWalk *w, const TdExpr *e, const TdElem *of) {
  const TdType *t = e->kid[0]->type;
  uint8_t k;
  TdElem el = with_iterator(w, of, t, e->axis, &k);
  el.rank = t->rank;
  for (int d = 0, from = 0; d < t->rank; d++) el.at[d] = d == e->axis ? k : of->at[from++];
  td_touch_value(w, e->kid[0], &el);
}

/* TENSOR; a collective also meets the other instances. */
static void touch_tensor(TdWalk *w, const TdExpr *e, const TdElem *of) {
  if (e->op == TD_OP_MATMUL) {
    touch_matmul(w, e, of);
  } else if (e->op == TD_OP_REDUCE) {
    touch_reduce(w, e, of);
  } else {
    td_touch_value(w, e->kid[0], of);
    touch(w, w->env->unit->sym, NULL, &scalar_elem, TD_CELL_EFFECT, TD_TOUCH_READ | TD_TOUCH_WRITE);
  }
}

/* td_touch_value without the bound on recursion. */
static void touch_node(TdWalk *w, const TdExpr *e, const TdElem *of) {
  bool may = w->may;
  switch (e->kind) {
  case TD_EXPR_LOAD: td_touch_place(w, e, &scalar_elem, TD_CELL_MEMORY, TD_TOUCH_READ); break;
  case TD_EXPR_VIEW: td_touch_place(w, e, of, TD_CELL_MEMORY, TD_TOUCH_READ); break;
  case TD_EXPR_TENSOR: touch_tensor(w, e, of); break;
  case TD_EXPR_OP:
  case TD_EXPR_CAST:
    for (uint32_t i = 0; i < e->nkid; i++) {
      if (i && e->kind == TD_EXPR_OP && td_ops[e->op].lazy) w->may = true;
      td_touch_value(w, e->kid[i], is_tensor(e->kid[i]) ? of : &scalar_elem);
    }
    break;
  default: break;
  }
  w->may = may;
}

void td_touch_value(TdWalk *w, const TdExpr *e, const TdElem *of) {
  td_ctx_enter(w->out->session->ctx);
  touch_node(w, e, of);
  td_ctx_leave(w->out->session->ctx);
}
