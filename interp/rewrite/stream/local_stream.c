/* local_stream.c - which token a get takes, from the loops around it and the put alone. */
#include "rewrite/stream/local_stream.h"

/* ---- the ends ---- */

/* The slots of a block stream in a block: those of the element of `end`, and whether another may be
 * it too. */
typedef struct Slots {
  const TdLocalStream *z;
  const TdStmt *put, *found;
  bool unclear;
} Slots;

/* Whether two ends of one array of streams always differ in some dimension. */
static bool is_apart(TdSession *s, const TdExpr *x, const TdExpr *y) {
  int64_t d;
  for (uint32_t i = 0; i < x->nkid; i++)
    if (td_lin_diff(s, x->kid[i], y->kid[i], &d) && d != 0) return true;
  return false;
}

static bool look_slot(void *ud, const TdStmt *s) {
  Slots *q = ud;
  if (s->kind != TD_STMT_SLOT || s->expr[0]->sym != q->z->stream->sym) return true;
  const TdExpr *at = q->put->expr[0];
  bool same = td_equal_expr(s->expr[0], at);
  q->unclear |= same ? q->found != NULL : !is_apart(q->z->r->session, s->expr[0], at);
  if (same) q->found = s;
  return true;
}

/* Fills an end from its statement in a block; false if it is not there. */
static bool find_end(TdLocalStream *z, const TdStmt *block, TdStmtKind kind, uint32_t uid,
                     TdStreamEnd *end) {
  TdArena *a = z->r->arena;
  TdPath p = td_edit_path(a, block, uid);
  if (!p.n || p.at[p.n - 1]->kind != (uint8_t)kind) return false;
  *end = (TdStreamEnd){.stmt = p.at[p.n - 1]};
  end->nloop = td_edit_loops(a, p, &end->loop);
  end->plain = p.n == 2 * end->nloop + 2;
  return true;
}

bool td_local_stream_find(TdLocalStream *z, const TdStmt *puts, uint32_t put, const TdStmt *gets,
                          uint32_t get) {
  if (!find_end(z, puts, TD_STMT_PUT, put, &z->put)) return false;
  Slots q = {.z = z, .put = z->put.stmt};
  td_walk_stmt(z->r->session->ctx, puts, look_slot, &q);
  z->put.slot = q.found;
  return !q.unclear && find_end(z, gets, TD_STMT_GET, get, &z->get);
}

/* ---- places in the buffer ---- */

/* The iteration of a loop, from 0. */
static const TdExpr *turn_of(TdRewrite *r, const TdStmt *loop) {
  TdArena *a = r->store->arena;
  const TdExpr *from = td_lin_minus(r->session, a, td_util_var(r, loop->sym), td_for_lo(loop));
  return td_lin_floordiv(r->session, a, from, loop->step);
}

/* The number of the loop among those from n on that an index is the variable of, plus a constant;
 * -1: none is in it; -2: otherwise. */
static int loop_of(TdRewrite *r, const TdStreamEnd *end, size_t n, const TdExpr *index) {
  TdLin x = td_lin_of(r->session, r->arena, index);
  int found = -1;
  for (size_t i = n; i < end->nloop; i++) {
    TdSym v = end->loop[i]->sym;
    if (!td_walk_uses_expr(index, v)) continue;
    if (found != -1 || td_lin_coef(&x, v) != 1 || end->loop[i]->step != 1) return -2;
    found = (int)i;
  }
  int64_t rest;
  if (found < 0) return found;
  const TdExpr *v = td_util_var(r, end->loop[found]->sym);
  return td_lin_diff(r->session, index, v, &rest) ? found : -2;
}

/* Whether two index expressions are always equal. */
static bool is_same(const TdLocalStream *z, const TdExpr *x, const TdExpr *y) {
  int64_t d, vx, vy;
  if (td_lin_diff(z->r->session, x, y, &d)) return d == 0;
  return td_unit_value(z->unit, x, &vx) && td_unit_value(z->unit, y, &vy) && vx == vy;
}

/* Adds a dimension whose places these loops count. */
static bool add_dim(TdLocalStream *z, const TdStmt *put, const TdStmt *get) {
  TdRewrite *r = z->r;
  const TdExpr *n = td_util_trip(r, put), *m = td_util_trip(r, get);
  int token = z->stream->type->elem->kind == TD_T_TENSOR ? z->stream->type->elem->rank : 0;
  if (td_util_varies(n) || td_util_varies(m) || !is_same(z, n, m)) return false;
  if (z->rank + token >= TD_MAX_RANK) return false;
  z->extent[z->rank] = n;
  z->at_put[z->rank] = turn_of(r, put);
  z->at_get[z->rank++] = turn_of(r, get);
  return true;
}

/* The dimensions of the stream: each is the same at both ends, or counted by a loop at each. */
static bool match_elements(TdLocalStream *z, size_t n, const TdSubst *sub, bool *put, bool *get) {
  TdRewrite *r = z->r;
  const TdExpr *p = z->put.stmt->expr[0], *g = z->get.stmt->expr[0];
  for (int d = 0; d < z->stream->type->rank; d++) {
    const TdExpr *at = td_subst_in_expr(sub, g->kid[d]);
    int x = loop_of(r, &z->put, n, p->kid[d]), y = loop_of(r, &z->get, n, g->kid[d]);
    if (x == -1 && y == -1 && is_same(z, p->kid[d], at)) continue;
    if (x < 0 || y < 0 || put[x] || get[y]) return false;
    put[x] = get[y] = true;
    const TdStmt *lp = z->put.loop[x], *lg = z->get.loop[y];
    TdSubst first = td_subst_new(r->store), second = td_subst_new(r->store);
    td_subst_expr(&first, lp->sym, td_for_lo(lp));
    td_subst_expr(&second, lg->sym, td_for_lo(lg));
    if (!is_same(z, td_subst_in_expr(&first, p->kid[d]), td_subst_in_expr(&second, at)))
      return false;
    if (!add_dim(z, lp, lg)) return false;
  }
  return true;
}

bool td_local_stream_match(TdLocalStream *z, size_t n) {
  TdRewrite *r = z->r;
  z->rank = 0;
  if (!z->put.plain || !z->get.plain) return false;
  if (n > z->put.nloop || n > z->get.nloop) return false;
  TdSubst sub = td_subst_new(r->store);
  for (size_t i = 0; i < n; i++)
    td_subst_expr(&sub, z->get.loop[i]->sym, td_util_var(r, z->put.loop[i]->sym));
  bool *put = TD_NEWN(r->arena, bool, z->put.nloop + 1);
  bool *get = TD_NEWN(r->arena, bool, z->get.nloop + 1);
  if (!match_elements(z, n, &sub, put, get)) return false;
  size_t i = n, k = n;
  for (;; i++, k++) {
    while (i < z->put.nloop && put[i]) i++;
    while (k < z->get.nloop && get[k]) k++;
    if (i == z->put.nloop || k == z->get.nloop) break;
    if (!add_dim(z, z->put.loop[i], z->get.loop[k])) return false;
  }
  return i == z->put.nloop && k == z->get.nloop;
}

/* ---- the rewrite ---- */

/* The type of the buffer. */
static const TdType *buffer_type(const TdLocalStream *z) {
  const TdType *token = z->stream->type->elem;
  const TdExpr *dim[TD_MAX_RANK];
  int n = z->rank, inner = token->kind == TD_T_TENSOR ? token->rank : 0;
  if (n + inner == 0) return token;
  for (int d = 0; d < n; d++) dim[d] = z->extent[d];
  for (int d = 0; d < inner; d++) dim[n + d] = token->dim[d];
  return td_type_tensor(z->r->session, td_type_scalar(token), n + inner, dim);
}

/* The token at some place of the buffer: an element, or a view. */
static const TdExpr *place(const TdLocalStream *z, const TdExpr *const *at) {
  TdArena *a = z->r->store->arena;
  const TdType *token = z->stream->type->elem;
  TdLoc loc = z->put.stmt->loc;
  if (token->kind != TD_T_TENSOR) return td_expr_load(a, z->buffer, token, at, z->rank, loc);
  const TdExpr *lo[TD_MAX_RANK];
  TdViewDim dim[TD_MAX_RANK];
  for (int d = 0; d < z->rank; d++) {
    lo[d] = at[d];
    dim[d] = (TdViewDim){1, -1};
  }
  for (int d = 0; d < token->rank; d++) {
    lo[z->rank + d] = td_util_const(z->r, 0);
    dim[z->rank + d] = (TdViewDim){1, d};
  }
  return td_expr_view(a, z->buffer, token, lo, dim, z->rank + token->rank, loc);
}

/* Whether what a slot gives is the buffer: it is handed over in the block of the get. */
static bool is_slot(const TdLocalStream *z, bool direct) {
  const TdStmt *s = z->put.slot;
  const TdExpr *v = z->put.stmt->expr[1];
  return s && direct && z->rank == 0 && td_expr_keeps_dims(v, s->sym);
}

/* Whether the buffer is a scalar that the put itself can declare. */
static bool is_value(const TdLocalStream *z, bool direct) {
  return direct && z->rank == 0 && z->stream->type->elem->kind != TD_T_TENSOR;
}

const TdStmt *td_local_stream_declare(TdLocalStream *z, const char *name, bool put_is_direct) {
  TdStore *st = z->r->store;
  const TdType *t = buffer_type(z);
  if (is_slot(z, put_is_direct)) {
    z->buffer = z->put.slot->sym;
    return NULL;
  }
  z->buffer = td_store_sym(st, name, TD_SYM_LOCAL);
  if (is_value(z, put_is_direct)) return NULL;
  TdLoc loc = z->put.stmt->loc;
  if (t->kind == TD_T_TENSOR) return td_stmt_local(st, z->buffer, t, TD_INIT_NONE, NULL, loc);
  const TdExpr *zero = td_expr_lit(st->arena, t, 0, loc);
  return td_stmt_local(st, z->buffer, t, TD_INIT_VALUE, zero, loc);
}

const TdStmt *td_local_stream_puts(const TdLocalStream *z, const TdStmt *block, bool direct) {
  TdStore *st = z->r->store;
  const TdStmt *s = z->put.stmt, *slot = z->put.slot, *now;
  const TdExpr *to = place(z, z->at_put);
  if (slot) {
    now = td_stmt_local(st, slot->sym, slot->type, TD_INIT_NONE, NULL, slot->loc);
    now = td_stmt_with_attrs(st, now, slot->attrs);
    block = td_edit_replace(st, block, slot->uid, &now, 1);
    if (is_slot(z, direct)) return td_edit_replace(st, block, s->uid, NULL, 0);
  }
  if (is_value(z, direct))
    now = td_stmt_local(st, z->buffer, to->type, TD_INIT_VALUE,
                        td_util_written(st->arena, s->expr[1]), s->loc);
  else if (to->kind == TD_EXPR_VIEW)
    now = td_stmt_set(st, to, s->expr[1], s->loc);
  else
    now = td_stmt_store(st, to, s->expr[1], s->loc);
  return td_edit_replace(st, block, s->uid, &now, 1);
}

/* Whether some statement changes what `sym` stands for. */
typedef struct Writes {
  TdSym sym;
  bool found;
} Writes;

static bool look_write(void *ud, const TdStmt *s) {
  Writes *w = ud;
  bool stores = s->kind == TD_STMT_STORE || s->kind == TD_STMT_SET;
  if (stores) w->found |= s->expr[0]->sym == w->sym;
  if (s->kind == TD_STMT_GET && s->nexpr > 1) w->found |= s->expr[1]->sym == w->sym;
  for (uint32_t i = 0; s->kind == TD_STMT_CALL && i < s->nexpr; i++)
    w->found |= s->expr[i]->sym == w->sym;
  return !w->found;
}

/* The block with what s got standing for its place in the buffer, or NULL where that may change. */
static const TdStmt *stand_for(const TdLocalStream *z, const TdStmt *block, const TdStmt *s,
                               const TdExpr *from) {
  TdStore *st = z->r->store;
  Writes w = {.sym = s->sym};
  td_walk_stmt(st->session->ctx, block, look_write, &w);
  if (w.found || from->kind != TD_EXPR_VIEW) return NULL;
  for (size_t i = 0; i < s->attrs.n; i++)
    td_util_note(z->r, "'%s' goes with its %s", s->sym->name, td_attrs[s->attrs.at[i].kind].name);
  TdSubst sub = td_subst_new(st);
  td_subst_view(&sub, s->sym, from);
  return td_subst_in_stmt(&sub, td_edit_replace(st, block, s->uid, NULL, 0));
}

const TdStmt *td_local_stream_gets(const TdLocalStream *z, const TdStmt *block) {
  TdStore *st = z->r->store;
  const TdStmt *s = td_edit_find(st->session->ctx, block, z->get.stmt->uid), *now[2];
  const TdExpr *from = place(z, z->at_get);
  bool view = from->kind == TD_EXPR_VIEW;
  if (s->nexpr > 1) {
    now[0] = view ? td_stmt_set(st, s->expr[1], from, s->loc)
                  : td_stmt_store(st, s->expr[1], from, s->loc);
    return td_edit_replace(st, block, s->uid, now, 1);
  }
  if (!s->sym) return td_edit_replace(st, block, s->uid, NULL, 0);
  if (z->rank == 0) {
    TdSubst sub = td_subst_new(st);
    td_subst_sym(&sub, s->sym, z->buffer);
    return td_subst_in_stmt(&sub, td_edit_replace(st, block, s->uid, NULL, 0));
  }
  const TdStmt *same = stand_for(z, block, s, from);
  if (same) return same;
  now[0] = td_stmt_local(st, s->sym, s->type, view ? TD_INIT_NONE : TD_INIT_VALUE,
                         view ? NULL : from, s->loc);
  now[0] = td_stmt_with_attrs(st, now[0], s->attrs);
  if (!view) return td_edit_replace(st, block, s->uid, now, 1);
  const TdExpr *all = td_expr_whole(st->session, st->arena, s->sym, s->type, s->loc);
  now[1] = td_stmt_set(st, all, from, s->loc);
  return td_edit_replace(st, block, s->uid, now, 2);
}
