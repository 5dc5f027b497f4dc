/* tensor_loops.c - tensor expressions as loops over scalars (docs/ir.md, Expressions): a matmul or
 * reduction becomes loops that fill a fresh local, k ascending; what is left is computed element by
 * element. */
#include "lower/tensor_loops.h"

static void refuse(const TdTensorLoops *w, const char *code, TdLoc loc, const char *what,
                   const char *help) {
  if (td_diag_failed(w->diag)) return;
  td_diag_set(w->diag, TD_UNSUPPORTED, code, loc, "%s", what);
  td_diag_help(w->diag, "%s", help);
}

/* Statements that a statement turns into. */
typedef struct Made {
  const TdTensorLoops *w;
  TD_VEC(const TdStmt *) stmt;
  TdLoc loc;
} Made;

static const TdExpr *lift(Made *m, const TdExpr *e);

static void add(Made *m, const TdStmt *s) {
  td_vec_push(m->w->arena, &m->stmt, s);
}

static bool is_tensor(const TdExpr *e) {
  return e->type->kind == TD_T_TENSOR;
}

static const TdExpr *number(Made *m, int64_t v) {
  return td_expr_index(m->w->session, m->w->arena, v, m->loc);
}

/* Element `index` of what a VIEW denotes. */
static const TdExpr *element_of_view(const TdTensorLoops *w, const TdExpr *e,
                                     const TdExpr *const *index) {
  const TdExpr *at[TD_MAX_RANK];
  for (uint32_t d = 0; d < e->nkid; d++) {
    const TdViewDim *dim = &e->u.dim[d];
    at[d] = e->kid[d];
    if (dim->out < 0) continue;
    const TdExpr *i = td_lin_times(w->session, w->arena, index[dim->out], dim->step);
    at[d] = td_lin_plus(w->session, w->arena, at[d], i);
  }
  return td_expr_load(w->arena, e->sym, td_type_scalar(e->type), at, (int)e->nkid, e->loc);
}

const TdExpr *td_tensor_loops_element(const TdTensorLoops *w, const TdExpr *e,
                                      const TdExpr *const *index) {
  if (e->kind == TD_EXPR_VIEW) return element_of_view(w, e, index);
  if (!is_tensor(e)) return e;
  const TdExpr *kid[4];
  for (uint32_t i = 0; i < e->nkid; i++) kid[i] = td_tensor_loops_element(w, e->kid[i], index);
  const TdType *t = td_type_scalar(e->type);
  if (e->kind == TD_EXPR_CAST) return td_expr_cast(w->arena, t, kid[0], e->implicit);
  return td_expr_op(w->arena, (TdOp)e->op, t, kid, (int)e->nkid, e->loc);
}

/* x in scalar type t. */
static const TdExpr *cast(Made *m, const TdType *t, const TdExpr *x) {
  return x->type == t ? x : td_expr_cast(m->w->arena, t, x, true);
}

/* n loops with variables v from lo[i] (0 where lo is NULL) to extents `to`, around s. */
static const TdStmt *nest(Made *m, const TdSym *v, const TdExpr *const *lo, const TdExpr *const *to,
                          int n, const TdStmt *s) {
  for (int i = n; i-- > 0;) {
    const TdStmt *body = td_stmt_block(m->w->store, &s, 1, m->loc);
    s = td_stmt_for(m->w->store, v[i], lo && lo[i] ? lo[i] : number(m, 0), to[i], 1, body, m->loc);
  }
  return s;
}

/* Fresh variables for the dimensions of a tensor type, and expressions that read them. */
static void variables(Made *m, const TdType *t, TdSym *v, const TdExpr **index) {
  for (int d = 0; d < t->rank; d++) {
    v[d] = td_store_sym(m->w->store, td_text_fmt(m->w->arena, "i%d", d), TD_SYM_LOOP);
    index[d] = td_expr_var(m->w->arena, v[d], td_type_index(m->w->session), m->loc);
  }
}

static const TdStmt *store(Made *m, const TdExpr *place, const TdExpr *value) {
  return td_stmt_store(m->w->store, place, cast(m, place->type, value), m->loc);
}

/* Each element of `view` becomes that of e. */
static void assign(Made *m, const TdExpr *view, const TdExpr *e) {
  TdSym v[TD_MAX_RANK];
  const TdExpr *index[TD_MAX_RANK];
  variables(m, view->type, v, index);
  const TdStmt *s =
      store(m, td_tensor_loops_element(m->w, view, index), td_tensor_loops_element(m->w, e, index));
  add(m, nest(m, v, NULL, view->type->dim, view->type->rank, s));
}

/* acc op x, in the type of acc; floats of other types are cast to it first. */
static const TdExpr *accumulated(Made *m, TdOp op, const TdExpr *acc, const TdExpr *x) {
  if (x->type->kind == TD_T_FLOAT) x = cast(m, acc->type, x);
  const TdType *both[] = {acc->type, x->type};
  const TdType *t = td_promote_op(m->w->session, (int)op, both, 2, m->loc, m->w->diag);
  return t ? cast(m, acc->type, td_expr_op2(m->w->arena, op, t, acc, x)) : acc;
}

/* a * b as it is added to an accumulator of type t. */
static const TdExpr *product(Made *m, const TdType *t, const TdExpr *a, const TdExpr *b) {
  if (t->kind == TD_T_FLOAT) a = cast(m, t, a), b = cast(m, t, b);
  const TdType *both[] = {a->type, b->type};
  t = td_promote_op(m->w->session, TD_OP_MUL, both, 2, m->loc, m->w->diag);
  return t ? td_expr_op2(m->w->arena, TD_OP_MUL, t, a, b) : a;
}

/* Element `index` of what VIEW or rank-0 LOAD `to` denotes. */
static const TdExpr *place_in(Made *m, const TdExpr *to, const TdExpr *const *index) {
  return to->kind == TD_EXPR_VIEW ? td_tensor_loops_element(m->w, to, index) : to;
}

static const TdExpr *zero(Made *m, const TdType *t) {
  return td_expr_lit(m->w->arena, t, 0, m->loc);
}

/* Sets `to` to zeros. */
static void clear(Made *m, const TdExpr *to) {
  const TdExpr *z = zero(m, td_type_scalar(to->type));
  if (to->kind == TD_EXPR_VIEW)
    assign(m, to, z);
  else
    add(m, store(m, to, z));
}

/* to = a x b: rows, then k, then columns, so that memory is walked in order. */
static void matmul(Made *m, const TdExpr *to, const TdExpr *a, const TdExpr *b) {
  const TdTensorLoops *w = m->w;
  TdSym v[3];
  const TdExpr *at[3], *extent[3], *out[2], *x[2], *y[2];
  int n = 0, rows = a->type->rank - 1, columns = b->type->rank - 1;
  if (rows) extent[n++] = a->type->dim[0];
  extent[n++] = a->type->dim[rows];
  if (columns) extent[n++] = b->type->dim[1];
  for (int i = 0; i < n; i++) {
    bool k = i == rows;
    v[i] = td_store_sym(w->store, k ? "k" : i ? "j" : "i", TD_SYM_LOOP);
    at[i] = td_expr_var(w->arena, v[i], td_type_index(w->session), m->loc);
  }
  if (rows) out[0] = x[0] = at[0];
  x[rows] = y[0] = at[rows];
  if (columns) out[rows] = y[1] = at[rows + 1];
  clear(m, to);
  const TdExpr *place = place_in(m, to, out);
  const TdExpr *term =
      product(m, place->type, td_tensor_loops_element(w, a, x), td_tensor_loops_element(w, b, y));
  add(m, nest(m, v, NULL, extent, n, store(m, place, accumulated(m, TD_OP_ADD, place, term))));
}

/* to = e reduced along an axis: a sum starts at 0, everything else at the first element. */
static void reduce(Made *m, const TdExpr *to, const TdExpr *e, TdOp op, int axis) {
  TdSym v[TD_MAX_RANK];
  const TdExpr *in[TD_MAX_RANK], *out[TD_MAX_RANK], *lo[TD_MAX_RANK] = {0};
  const TdType *t = e->type;
  variables(m, t, v, in);
  for (int d = 0, n = 0; d < t->rank; d++)
    if (d != axis) out[n++] = in[d];
  const TdExpr *place = place_in(m, to, out);
  if (op == TD_OP_ADD) {
    clear(m, to);
  } else {
    const TdExpr *k = in[axis];
    const TdExpr *only[TD_MAX_RANK];
    for (int d = 0; d < t->rank; d++) only[d] = d == axis ? number(m, 1) : t->dim[d];
    in[axis] = lo[axis] = number(m, 0);
    add(m, nest(m, v, NULL, only, t->rank, store(m, place, td_tensor_loops_element(m->w, e, in))));
    in[axis] = k, lo[axis] = number(m, 1);
  }
  const TdExpr *sum = accumulated(m, op, place, td_tensor_loops_element(m->w, e, in));
  add(m, nest(m, v, lo, t->dim, t->rank, store(m, place, sum)));
}

/* A fresh local of type t (declared by a statement), as VIEW or rank-0 LOAD. */
static const TdExpr *fresh(Made *m, const char *name, const TdType *t, const TdExpr *value) {
  const TdTensorLoops *w = m->w;
  TdSym sym = td_store_sym(w->store, name, TD_SYM_LOCAL);
  add(m, td_stmt_local(w->store, sym, t, value ? TD_INIT_VALUE : TD_INIT_NONE, value, m->loc));
  if (t->kind == TD_T_TENSOR) return td_expr_whole(w->session, w->arena, sym, t, m->loc);
  return td_expr_load(w->arena, sym, t, NULL, 0, m->loc);
}

/* e in memory: a VIEW as it is, all else computed into a fresh local. */
static const TdExpr *in_memory(Made *m, const TdExpr *e) {
  if (e->kind == TD_EXPR_VIEW) return e;
  const TdExpr *to = fresh(m, "t", e->type, NULL);
  assign(m, to, e);
  return to;
}

/* Computes the matmul or reduction e into `to`. */
static void compute(Made *m, const TdExpr *to, const TdExpr *e) {
  if (e->op == TD_OP_ALLREDUCE) {
    refuse(m->w, "collective", e->loc, "an allreduce inside a kernel",
           "`outline` it into a task of its own");
    return;
  }
  const TdExpr *a = lift(m, e->kid[0]);
  if (e->op == TD_OP_REDUCE) {
    reduce(m, to, a, (TdOp)e->reduce, e->axis);
    return;
  }
  a = in_memory(m, a);
  matmul(m, to, a, in_memory(m, lift(m, e->kid[1])));
}

static bool is_load(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_LOAD && e->kind != TD_EXPR_TENSOR;
}

static bool is_no_tensor(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_TENSOR;
}

/* e with each TENSOR node replaced by a local that holds its value. */
static const TdExpr *lift(Made *m, const TdExpr *e) {
  if (e->kind == TD_EXPR_TENSOR) {
    const TdExpr *to = fresh(m, td_ops[e->op].lua, e->type, NULL);
    compute(m, to, e);
    return to;
  }
  if (e->kind == TD_EXPR_VIEW || td_walk_expr(e, is_no_tensor, NULL)) return e;
  const TdExpr *kid[TD_MAX_RANK];
  for (uint32_t i = 0; i < e->nkid; i++) kid[i] = lift(m, e->kid[i]);
  return td_expr_with_kids(m->w->arena, e, kid);
}

/* lift, and scalars that read memory are read once, before any element is written. */
static const TdExpr *settle(Made *m, const TdExpr *e) {
  if (e->kind == TD_EXPR_VIEW) return e;
  if (!is_tensor(e)) {
    e = lift(m, e);
    return td_walk_expr(e, is_load, NULL) ? e : fresh(m, "s", e->type, e);
  }
  if (e->kind == TD_EXPR_TENSOR) return lift(m, e);
  const TdExpr *kid[TD_MAX_RANK];
  for (uint32_t i = 0; i < e->nkid; i++) kid[i] = settle(m, e->kid[i]);
  return td_expr_with_kids(m->w->arena, e, kid);
}

/* e with the indices of its views that read array `of` read once, before it is written. */
static const TdExpr *freeze(Made *m, const TdExpr *e, TdSym of) {
  if (e->kind != TD_EXPR_VIEW && !is_tensor(e) && e->kind != TD_EXPR_TENSOR) return e;
  const TdExpr **kid = TD_NEWN(m->w->arena, const TdExpr *, e->nkid);
  bool same = true;
  for (uint32_t i = 0; i < e->nkid; i++) {
    bool index = e->kind == TD_EXPR_VIEW && td_walk_uses_expr(e->kid[i], of);
    kid[i] = index                     ? fresh(m, "at", e->kid[i]->type, e->kid[i])
             : e->kind == TD_EXPR_VIEW ? e->kid[i]
                                       : freeze(m, e->kid[i], of);
    same &= kid[i] == e->kid[i];
  }
  return same ? e : td_expr_with_kids(m->w->arena, e, kid);
}

/* view becomes value; a matmul or reduction of the same element type is made in place. */
static void set(Made *m, const TdExpr *view, const TdExpr *value) {
  TdSym to = view->sym;
  view = freeze(m, view, to);
  value = freeze(m, value, to);
  if (value->kind == TD_EXPR_TENSOR && value->type->kind == TD_T_TENSOR &&
      td_type_scalar(value->type) == td_type_scalar(view->type))
    compute(m, view, value);
  else
    assign(m, view, settle(m, value));
}

/* A tensor local with a value: declared, then set. */
static void local(Made *m, const TdStmt *s) {
  const TdTensorLoops *w = m->w;
  const TdStmt *decl = td_stmt_local(w->store, s->sym, s->type, TD_INIT_NONE, NULL, s->loc);
  add(m, td_stmt_with_attrs(w->store, decl, s->attrs));
  set(m, td_expr_whole(w->session, w->arena, s->sym, s->type, s->loc), s->expr[0]);
}

/* Whether an expression of s holds what C cannot say in one. */
static bool needs_lift(const TdStmt *s) {
  for (uint32_t i = 0; i < s->nexpr; i++) {
    const TdExpr *e = s->expr[i];
    bool token = s->kind == TD_STMT_PUT && i == 1 && is_tensor(e) && e->kind != TD_EXPR_VIEW;
    if (token || !td_walk_expr(e, is_no_tensor, NULL)) return true;
  }
  return false;
}

const TdStmt *td_tensor_loops_of(const TdTensorLoops *w, const TdStmt *s) {
  Made m = {.w = w, .loc = s->loc};
  bool has_value = s->kind == TD_STMT_LOCAL && s->cls == TD_LOCAL_AUTO && s->init != TD_INIT_NONE;
  if (s->kind == TD_STMT_SET) {
    set(&m, s->expr[0], s->expr[1]);
  } else if (has_value && s->type->kind == TD_T_TENSOR) {
    local(&m, s);
  } else if (needs_lift(s)) {
    if (s->kind == TD_STMT_WHILE)
      refuse(w, "tensor-condition", s->loc, "a tensor in the condition of a loop",
             "compute it into a local inside the loop");
    const TdExpr **e = TD_NEWN(w->arena, const TdExpr *, s->nexpr);
    for (uint32_t i = 0; i < s->nexpr; i++) {
      e[i] = lift(&m, s->expr[i]);
      if (is_tensor(e[i])) e[i] = in_memory(&m, e[i]);
    }
    add(&m, td_stmt_with_exprs(w->store, s, e, s->nexpr));
  } else {
    return s;
  }
  return td_stmt_block(w->store, m.stmt.at, m.stmt.n, s->loc);
}

/* s with the tensor statements below it as loops. */
static const TdStmt *in_body(const TdTensorLoops *w, const TdStmt *s) {
  if (!s->nkid) return s;
  td_ctx_enter(w->session->ctx);
  TD_VEC(const TdStmt *) kid = {0};
  bool same = true;
  for (uint32_t i = 0; i < s->nkid; i++) {
    const TdStmt *was = s->kid[i], *x = was;
    if (s->kind == TD_STMT_BLOCK) x = td_tensor_loops_of(w, was);
    bool many = x != was;
    for (uint32_t k = 0; k < (many ? x->nkid : 1); k++)
      td_vec_push(w->arena, &kid, in_body(w, many ? x->kid[k] : x));
    same &= !many && kid.at[kid.n - 1] == was;
  }
  td_ctx_leave(w->session->ctx);
  return same ? s : td_stmt_with_kids(w->store, s, kid.at, kid.n);
}

const TdProg *td_tensor_loops_prog(TdArena *a, const TdProg *p, TdDiag *d) {
  TdTensorLoops w = {p->store->session, a, p->store, d};
  for (size_t i = 0; i < p->nunit; i++) {
    const TdUnit *u = p->unit[i];
    const TdStmt *body = u->body ? in_body(&w, u->body) : NULL;
    if (body != u->body) p = td_prog_with(p, td_unit_with_body(p->store, u, body));
  }
  return td_diag_failed(d) ? NULL : p;
}
