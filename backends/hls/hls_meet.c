/* hls_meet.c - allreduce as streams between the instances that meet: a chain carries the sum so far
   from each to the next, ids ascending, and the last sends the whole back. */
#include "backends/hls/hls_region.h"

/* The kernel of a run, being rewritten. */
typedef struct Meet {
  TdStore *store;
  TdArena *a; /* of the store */
  TdSession *session;
  const TdUnit *design;
  const TdRun *run;
  TdUnit *kernel;
  TdDiag *diag;
  TD_VEC(const TdStmt *) before; /* what the statement under way needs */
  TD_VEC(TdStream) stream;
} Meet;

static bool is_allreduce(const TdExpr *e) {
  return e->kind == TD_EXPR_TENSOR && e->op == TD_OP_ALLREDUCE;
}

static bool is_other(void *ud, const TdExpr *e) {
  (void)ud;
  return !is_allreduce(e);
}

static const TdExpr *number(Meet *m, int64_t v, TdLoc loc) {
  return td_expr_index(m->session, m->a, v, loc);
}

/* The streams of one allreduce: the ids of the axes that it leaves alone, then the seat. */
typedef struct Seats {
  TdLoc loc;
  const TdType *token;
  int rank;
  const TdExpr *dim[TD_MAX_RANK], *at[TD_MAX_RANK];
  const TdExpr *seat;
  int64_t count;
} Seats;

static Seats seats_of(Meet *m, const TdExpr *e) {
  unsigned axes = e->axis ? e->axis : ~0u;
  Seats s = {.loc = e->loc, .token = e->type, .seat = number(m, 0, e->loc), .count = 1};
  for (int d = 0; d < m->run->rank; d++) {
    int64_t extent = 1;
    td_unit_value(m->design, m->run->map[d], &extent);
    const TdExpr *id = td_expr_var(m->a, m->kernel->coord[d], td_type_index(m->session), e->loc);
    if (axes >> d & 1) {
      s.seat = td_lin_plus(m->session, m->a, td_lin_times(m->session, m->a, s.seat, extent), id);
      s.count *= extent;
    } else {
      s.dim[s.rank] = number(m, extent, e->loc);
      s.at[s.rank++] = id;
    }
  }
  s.dim[s.rank++] = number(m, s.count, e->loc);
  return s;
}

static TdSym new_stream(Meet *m, const Seats *s, const char *way) {
  const char *name = td_text_fmt(m->a, "%s_%s", m->run->sym->name, way);
  const TdType *token = td_unit_type(m->session, m->kernel, s->token);
  TdStream x = {.sym = td_store_sym(m->store, td_names_str(m->session->names, name), TD_SYM_STREAM),
                .uid = td_store_uid(m->store),
                .loc = s->loc,
                .type = td_type_port(m->session, token, s->rank, s->dim, false),
                .depth = number(m, 2, s->loc)};
  td_vec_push(m->a, &m->stream, x);
  return x.sym;
}

/* The stream of the seat that is `off` from this one. */
static const TdExpr *stream_at(Meet *m, const Seats *s, TdSym stream, int64_t off) {
  TdViewDim dim[TD_MAX_RANK];
  const TdExpr *at[TD_MAX_RANK];
  for (int d = 0; d < s->rank; d++) {
    dim[d] = (TdViewDim){.step = 1, .out = -1};
    at[d] = s->at[d];
  }
  at[s->rank - 1] = td_lin_plus(m->session, m->a, s->seat, number(m, off, s->loc));
  const TdType *t = td_type_port(m->session, s->token, 0, NULL, false);
  return td_expr_view(m->a, stream, t, at, dim, s->rank, s->loc);
}

/* All of a local of the token's type, as a value or a place. */
static const TdExpr *local_of(Meet *m, const Seats *s, TdSym sym) {
  if (s->token->kind != TD_T_TENSOR) return td_expr_load(m->a, sym, s->token, NULL, 0, s->loc);
  return td_expr_whole(m->session, m->a, sym, s->token, s->loc);
}

/* to := x op y, in the token's type. */
static const TdStmt *combine(Meet *m, const Seats *s, int op, TdSym to, const TdExpr *x,
                             const TdExpr *y) {
  const TdType *scalar = td_type_scalar(s->token), *both[] = {scalar, scalar};
  const TdType *t = td_promote_op(m->session, op, both, 2, s->loc, m->diag);
  if (!t) t = scalar;
  bool tensor = s->token->kind == TD_T_TENSOR;
  const TdType *whole = tensor ? td_type_reshape(m->session, s->token, t) : t;
  const TdExpr *e = td_expr_op2(m->a, (TdOp)op, whole, x, y);
  if (whole != s->token) e = td_expr_cast(m->a, s->token, e, true);
  const TdExpr *place = local_of(m, s, to);
  return tensor ? td_stmt_set(m->store, place, e, s->loc)
                : td_stmt_store(m->store, place, e, s->loc);
}

static const TdStmt *if_seat(Meet *m, const Seats *s, const TdExpr *lo, const TdExpr *hi,
                             const TdStmt *const *then, size_t n) {
  const TdExpr *cond = td_expr_op2(m->a, TD_OP_LT, td_type_bool(m->session), lo, hi);
  return td_stmt_if(m->store, cond, td_stmt_block(m->store, then, n, s->loc), NULL, s->loc);
}

static void add(Meet *m, const TdStmt *s) {
  td_vec_push(m->a, &m->before, s);
}

/* The statements that leave the result in a local; its symbol. */
static TdSym meet(Meet *m, const TdExpr *e) {
  Seats s = seats_of(m, e);
  TdStore *st = m->store;
  TdSym part = td_store_sym(st, "sum", TD_SYM_LOCAL),
        got = td_store_sym(st, "so_far", TD_SYM_LOCAL);
  TdSym up = new_stream(m, &s, "so_far"), down = new_stream(m, &s, "sum");
  const TdExpr *first = number(m, 0, s.loc), *last = number(m, s.count - 1, s.loc);
  const TdExpr *own = local_of(m, &s, part);
  add(m, td_stmt_local(st, part, s.token, TD_INIT_VALUE, e->kid[0], s.loc));
  if (td_type_scalar(s.token)->kind == TD_T_FLOAT && e->reduce == TD_OP_ADD) {
    const TdExpr *zero = td_expr_lit(m->a, td_type_scalar(s.token), 0, s.loc);
    const TdStmt *begin = combine(m, &s, TD_OP_ADD, part, own, zero);
    add(m, if_seat(m, &s, s.seat, number(m, 1, s.loc), &begin, 1));
  }
  const TdStmt *take[] = {td_stmt_get(st, stream_at(m, &s, up, 0), got, s.token, NULL, s.loc),
                          combine(m, &s, e->reduce, part, local_of(m, &s, got), own)};
  add(m, if_seat(m, &s, first, s.seat, take, 2));
  const TdStmt *give[] = {td_stmt_put(st, stream_at(m, &s, up, 1), own, s.loc),
                          td_stmt_get(st, stream_at(m, &s, down, 0), NULL, s.token, own, s.loc)};
  add(m, if_seat(m, &s, s.seat, last, give, 2));
  const TdStmt *back = td_stmt_put(st, stream_at(m, &s, down, -1), own, s.loc);
  add(m, if_seat(m, &s, first, s.seat, &back, 1));
  return part;
}

/* e with its allreduces replaced by their results. */
static const TdExpr *replace(void *ud, const TdExpr *e) {
  Meet *m = ud;
  if (!is_allreduce(e)) return e;
  Seats s = {.token = e->type, .loc = e->loc};
  return local_of(m, &s, meet(m, e));
}

static const TdStmt *rewrite(Meet *m, const TdStmt *s);

/* A block with what its statements need before them. */
static const TdStmt *rewrite_block(Meet *m, const TdStmt *b) {
  TD_VEC(const TdStmt *) all = {0};
  for (uint32_t i = 0; i < b->nkid; i++) {
    const TdStmt *s = rewrite(m, b->kid[i]);
    const TdExpr **e = TD_NEWN(m->a, const TdExpr *, s->nexpr);
    bool changed = false;
    m->before.n = 0;
    for (uint32_t k = 0; k < s->nexpr; k++) {
      e[k] = td_walk_map_expr(m->a, s->expr[k], replace, m);
      changed |= e[k] != s->expr[k];
    }
    for (size_t k = 0; k < m->before.n; k++) td_vec_push(m->a, &all, m->before.at[k]);
    td_vec_push(m->a, &all, changed ? td_stmt_with_exprs(m->store, s, e, s->nexpr) : s);
  }
  return td_stmt_with_kids(m->store, b, all.at, all.n);
}

static const TdStmt *rewrite(Meet *m, const TdStmt *s) {
  if (td_walk_exprs(m->session->ctx, s, is_other, NULL)) return s;
  td_ctx_enter(m->session->ctx);
  const TdStmt **kid = TD_NEWN(m->a, const TdStmt *, s->nkid);
  for (uint32_t i = 0; i < s->nkid; i++) kid[i] = rewrite(m, s->kid[i]);
  td_ctx_leave(m->session->ctx);
  if (s->kind == TD_STMT_BLOCK) return rewrite_block(m, s);
  return s->nkid ? td_stmt_with_kids(m->store, s, kid, s->nkid) : s;
}

/* A kernel with ids for each axis of the run. */
static TdUnit *with_ids(Meet *m, const TdUnit *k) {
  TdUnit *u = td_unit_copy(m->store, k);
  u->sym = td_store_sym(m->store, k->sym->name, TD_SYM_UNIT);
  if (u->ncoord == m->run->rank) return u;
  TdSym *id = TD_NEWN(m->a, TdSym, m->run->rank);
  for (int d = 0; d < m->run->rank; d++)
    id[d] = td_store_sym(m->store, td_text_fmt(m->a, "id%d", d), TD_SYM_COORD);
  u->coord = id;
  u->ncoord = m->run->rank;
  return u;
}

/* p with the allreduces of run r of design d replaced; *d is the design then. */
static const TdProg *meet_run(const TdProg *p, const TdUnit **d, size_t r, TdDiag *diag) {
  const TdUnit *k = td_prog_unit(p, (*d)->run[r].unit);
  TdStore *st = p->store;
  if (!k->body || td_walk_exprs(st->session->ctx, k->body, is_other, NULL)) return p;
  Meet m = {.store = st, .a = st->arena, .session = st->session, .design = *d, .diag = diag};
  TdUnit *u = td_unit_copy(st, *d);
  TdRun *run = td_arena_copy(st->arena, u->run, u->nrun * sizeof *run);
  m.run = &run[r];
  m.kernel = with_ids(&m, k);
  m.kernel->body = rewrite(&m, k->body);
  run[r].unit = m.kernel->sym;
  TdStream *list = TD_NEWN(st->arena, TdStream, u->nstream + m.stream.n);
  for (size_t i = 0; i < u->nstream; i++) list[i] = u->stream[i];
  for (size_t i = 0; i < m.stream.n; i++) list[u->nstream++] = m.stream.at[i];
  u->stream = list;
  u->run = run;
  *d = u;
  return td_prog_with(td_prog_insert(p, m.kernel, u->sym), u);
}

const TdProg *td_hls_meet_prog(const TdProg *p, TdDiag *d) {
  for (size_t i = 0; i < p->nunit; i++) {
    TdSym sym = p->unit[i]->sym;
    for (size_t r = 0;
         td_prog_unit(p, sym)->kind == TD_UNIT_DESIGN && r < td_prog_unit(p, sym)->nrun; r++) {
      const TdUnit *u = td_prog_unit(p, sym);
      p = meet_run(p, &u, r, d);
    }
    while (p->unit[i]->sym != sym) i++;
  }
  return p;
}
