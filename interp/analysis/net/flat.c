/* flat.c - runs become loops, arguments take the place of parameters. */
#include "analysis/net/flat.h"

#include "analysis/order/effects.h"

typedef struct Flat {
  TdStore *store;
  TdSession *session;
  TdArena *arena;
  TdAffine *affine;
  TD_VEC(const TdUnit *) unit; /* so far */
} Flat;

static const TdExpr *zero(const Flat *f, const TdType *t, TdLoc loc) {
  return td_expr_lit(f->arena, td_type_scalar(t), 0, loc);
}

static const TdExpr *index_of(const Flat *f, int64_t v) {
  return td_expr_index(f->session, f->arena, v, (TdLoc){0});
}

/* An allreduce is its operand, as far as memory goes. */
static const TdExpr *drop_meeting(void *ud, const TdExpr *e) {
  const Flat *f = ud;
  if (e->kind != TD_EXPR_TENSOR || e->op != TD_OP_ALLREDUCE) return e;
  return e->type == e->kid[0]->type ? e->kid[0] : td_expr_cast(f->arena, e->type, e->kid[0], true);
}

/* What a GET fills, without the stream. */
static const TdStmt *without_get(Flat *f, const TdStmt *s) {
  if (s->nexpr < 2) return td_stmt_local(f->store, s->sym, s->type, TD_INIT_NONE, NULL, s->loc);
  const TdExpr *place = s->expr[1], *v = zero(f, place->type, s->loc);
  return place->kind == TD_EXPR_VIEW ? td_stmt_set(f->store, place, v, s->loc)
                                     : td_stmt_store(f->store, place, v, s->loc);
}

/* s without streams, meetings and what lasts from call to call. */
static const TdStmt *strip(Flat *f, const TdStmt *s) {
  TdStore *st = f->store;
  switch (s->kind) {
  case TD_STMT_GET: return without_get(f, s);
  case TD_STMT_SLOT: return td_stmt_local(st, s->sym, s->type, TD_INIT_NONE, NULL, s->loc);
  case TD_STMT_PUT:
    return td_stmt_local(st, td_store_sym(st, "put", TD_SYM_LOCAL), s->expr[0]->type->elem,
                         TD_INIT_VALUE, s->expr[1], s->loc);
  case TD_STMT_LOCAL:
    if (s->cls != TD_LOCAL_STATE) return s;
    return td_stmt_local(st, s->sym, s->type, TD_INIT_NONE, NULL, s->loc);
  default: break;
  }
  if (!s->nkid) return s;
  td_ctx_enter(f->session->ctx);
  const TdStmt **kid = TD_NEWN(f->arena, const TdStmt *, s->nkid);
  for (uint32_t i = 0; i < s->nkid; i++) kid[i] = strip(f, s->kid[i]);
  td_ctx_leave(f->session->ctx);
  return td_stmt_with_kids(st, s, kid, s->nkid);
}

/* The values of u's sizes; false if one is missing. */
static bool subst_sizes(const Flat *f, const TdUnit *u, TdSubst *to) {
  for (size_t i = 0; i < u->nsize; i++) {
    if (!u->size[i].known) return false;
    td_subst_size(to, u->size[i].name, index_of(f, u->size[i].value));
  }
  return true;
}

/* u's parameters with constant types. */
static const TdParam *params_at_sizes(const Flat *f, const TdUnit *u, const TdSubst *sizes) {
  TdParam *p = td_arena_copy(f->arena, u->param, u->nparam * sizeof *p);
  for (size_t i = 0; i < u->nparam; i++) p[i].type = td_subst_in_type(sizes, p[i].type);
  return p;
}

/* A kernel without streams, at its sizes; NULL if one is missing. */
static const TdUnit *flat_kernel(Flat *f, const TdUnit *u) {
  TdSubst sizes = td_subst_new(f->store);
  if (!subst_sizes(f, u, &sizes)) return NULL;
  TdUnit *k = td_unit_copy(f->store, u);
  k->param = params_at_sizes(f, u, &sizes);
  k->nsize = k->nassert = 0;
  const TdStmt *body = td_walk_map(f->store, strip(f, u->body), drop_meeting, f);
  k->body = td_subst_in_stmt(&sizes, body);
  return k;
}

/* The flat unit of a symbol. */
static const TdUnit *find(const Flat *f, TdSym sym) {
  for (size_t i = 0; i < f->unit.n; i++)
    if (f->unit.at[i]->sym == sym) return f->unit.at[i];
  return NULL;
}

/* A run on its way to a nest. */
typedef struct Nest {
  Flat *flat;
  const TdUnit *kernel;
  const TdRun *run;
  TdSubst subst;
  TdSym id[TD_MAX_RANK]; /* the loops */
  int64_t extent[TD_MAX_RANK];
  TD_VEC(const TdStmt *) head; /* before the body: what becomes of copies */
} Nest;

static const TdExpr *id_of(const Nest *n, int axis) {
  const Flat *f = n->flat;
  return td_expr_var(f->arena, n->id[axis], td_type_index(f->session), n->run->loc);
}

/* The block of argument `arg` that a layout gives an instance; *named gets a bit for each axis. */
static const TdExpr *block_of(const Nest *n, TdSym arg, const TdType *local, const char *layout,
                              unsigned *named) {
  const Flat *f = n->flat;
  const TdExpr *lo[TD_MAX_RANK];
  TdViewDim dim[TD_MAX_RANK];
  for (int d = 0; d < local->rank; d++) {
    int64_t block = 0;
    lo[d] = index_of(f, 0);
    dim[d] = (TdViewDim){1, d};
    if (!layout || *layout++ != 'S') continue;
    int axis = *layout++ - '0';
    td_type_extent(local, d, &block);
    lo[d] = td_lin_times(f->session, f->arena, id_of(n, axis), block);
    *named |= 1u << axis;
  }
  return td_expr_view(f->arena, arg, local, lo, dim, local->rank, n->run->loc);
}

/* Whether instances along an axis that is not named hold the same block. */
static bool is_shared(const Nest *n, unsigned named) {
  for (int d = 0; d < n->run->rank; d++)
    if (!(named >> d & 1) && n->extent[d] > 1) return true;
  return false;
}

/* A parameter of which each instance has a copy: a local, and instance 0 writes all of `block`. */
static void bind_copy(Nest *n, TdSym param, const TdExpr *block, unsigned named) {
  const Flat *f = n->flat;
  TdLoc loc = n->run->loc;
  TdSym own = td_store_sym(f->store, param->name, TD_SYM_LOCAL);
  const TdStmt *s = td_stmt_set(f->store, block, zero(f, block->type, loc), loc);
  for (int d = 0; d < n->run->rank; d++) {
    if (named >> d & 1) continue;
    const TdExpr *first =
        td_expr_op2(f->arena, TD_OP_EQ, td_type_bool(f->session), id_of(n, d), index_of(f, 0));
    s = td_stmt_if(f->store, first, td_stmt_block(f->store, &s, 1, loc), NULL, loc);
  }
  td_vec_push(f->arena, &n->head, s);
  td_subst_sym(&n->subst, param, own);
  s = td_stmt_local(f->store, own, block->type, TD_INIT_NONE, NULL, loc);
  td_vec_push(f->arena, &n->head, s);
}

static bool writes(const Nest *n, TdSym param) {
  const Flat *f = n->flat;
  const TdProg *p = td_prog_new(f->store, f->unit.at, f->unit.n);
  TdAsk q = {f->affine, f->arena, p, n->kernel};
  const TdEffect *e;
  size_t count = td_effects_of(&q, n->kernel->body, &e);
  const TdEffect *found = td_effects_find(e, count, param);
  return found && found->write;
}

static void bind_param(Nest *n, const TdRunArg *b) {
  const TdType *local = td_unit_param(n->kernel, b->param)->type;
  unsigned named = 0;
  if (local->kind != TD_T_TENSOR) {
    td_subst_sym(&n->subst, b->param, b->arg);
    return;
  }
  const TdExpr *block = block_of(n, b->arg, local, b->layout, &named);
  if (b->layout && is_shared(n, named) && writes(n, b->param))
    bind_copy(n, b->param, block, named);
  else
    td_subst_view(&n->subst, b->param, block);
}

/* The nest of a run; NULL if its map has no values. */
static const TdStmt *nest_of(Flat *f, const TdUnit *design, const TdRun *r) {
  Nest n = {.flat = f, .run = r, .kernel = find(f, r->unit)};
  if (!n.kernel || !n.kernel->body) return NULL;
  n.subst = td_subst_new(f->store);
  for (int d = 0; d < r->rank; d++) {
    if (!td_unit_value(design, r->map[d], &n.extent[d])) return NULL;
    n.id[d] = td_store_sym(f->store, "id", TD_SYM_LOOP);
  }
  const TdUnit *k = n.kernel;
  size_t skip = r->rank > k->ncoord ? r->rank - k->ncoord : 0;
  for (size_t i = 0; i < k->ncoord && i + skip < r->rank; i++)
    td_subst_expr(&n.subst, k->coord[i], id_of(&n, (int)(i + skip)));
  for (size_t i = 0; i < r->nbind; i++) bind_param(&n, &r->bind[i]);
  const TdStmt *s = td_walk_copy(f->store, k->body, &n.subst);
  td_vec_push(f->arena, &n.head, s);
  s = td_stmt_block(f->store, n.head.at, n.head.n, r->loc);
  for (int d = r->rank - 1; d >= 0; d--)
    s = td_stmt_for(f->store, n.id[d], index_of(f, 0), index_of(f, n.extent[d]), 1,
                    s->kind == TD_STMT_BLOCK ? s : td_stmt_block(f->store, &s, 1, r->loc), r->loc);
  return s;
}

/* A design as a kernel. */
static const TdUnit *flat_design(Flat *f, const TdUnit *u) {
  TdSubst sizes = td_subst_new(f->store);
  if (!subst_sizes(f, u, &sizes)) return NULL;
  TD_VEC(const TdStmt *) nest = {0};
  for (size_t i = 0; i < u->nrun; i++) {
    const TdStmt *s = nest_of(f, u, &u->run[i]);
    if (!s) return NULL;
    td_vec_push(f->arena, &nest, s);
  }
  TdUnit *k = td_unit_copy(f->store, u);
  k->kind = TD_UNIT_KERNEL;
  k->param = params_at_sizes(f, u, &sizes);
  k->nsize = k->nassert = k->nstream = 0;
  k->body = td_stmt_block(f->store, nest.at, nest.n, u->loc);
  return k;
}

bool td_flat_of(TdArena *a, TdAffine *x, const TdProg *p, TdFlat *out) {
  Flat f = {.session = p->store->session, .affine = x};
  f.store = td_store_inner(a, f.session);
  f.arena = f.store->arena;
  p = td_clone_prog(f.store, p, true);
  for (size_t i = 0; i < p->nunit; i++) {
    const TdUnit *u = p->unit[i];
    if (u->kind == TD_UNIT_KERNEL) u = flat_kernel(&f, u);
    if (u && u->kind == TD_UNIT_DESIGN) u = flat_design(&f, u);
    if (!u) return false;
    td_vec_push(f.arena, &f.unit, u);
  }
  out->prog = td_prog_new(f.store, f.unit.at, f.unit.n);
  out->unit = f.unit.at[f.unit.n - 1];
  return true;
}
