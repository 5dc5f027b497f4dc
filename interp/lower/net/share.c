/* share.c - arguments that several instances touch. A process of a region has its memory to
 * itself, so that one task loads such an argument and one stores it: each instance gets its block
 * as a stream of words, keeps it in an array of its own, and hands it back. All these tasks serve
 * the instances in the same order, so that none waits for another in a circle. */
#include "lower/net/net.h"

/* A class that touches the argument. */
typedef struct User {
  TdNetClass *c;
  size_t arg;
  int64_t extent[TD_MAX_RANK];      /* of its block */
  int64_t step[TD_MAX_RANK];        /* from one element of it to the next in the argument */
  int64_t *lo;                      /* where the block of each instance in turn begins */
  const TdExpr *shift[TD_MAX_RANK]; /* the same for the body; NULL: it indexes the block */
  const TdType *block;
  bool idle;       /* no instance comes to an element: the block is one that stays as it is */
  const char *why; /* the block of each instance is all: what tells no box; or NULL */
} User;

/* An argument under way. */
typedef struct Share {
  TdNet *n;
  const TdParam *x;
  const TdType *type; /* with constant extents */
  TdSession *session;
  TdArena *a; /* of the store */
  TD_VEC(User) user;
} Share;

static int64_t extent_of(const TdType *t, int d) {
  int64_t v = 1;
  td_type_extent(t, d, &v);
  return v;
}

/* What tells where a class reaches in an argument. */
typedef struct Reach {
  Share *s;
  User *u;
  TdSym sym;
  TdNetFacts facts;
} Reach;

/* lo as an affine form of the coordinates of the class, dimension d; NULL: it is none. */
static const TdExpr *fit(Share *s, const User *u, int d) {
  const TdUnit *k = u->c->kernel;
  const int64_t *coord = u->c->coord;
  size_t n = k->ncoord, rank = (size_t)s->type->rank;
  int64_t slope[TD_MAX_RANK] = {0}, start = u->lo[d];
  for (size_t c = 0; c < n; c++)
    for (uint32_t i = 1; i < u->c->n && !slope[c]; i++) {
      bool only = coord[i * n + c] != coord[c];
      for (size_t o = 0; o < n; o++) only &= o == c || coord[i * n + o] == coord[o];
      int64_t step = only ? coord[i * n + c] - coord[c] : 0;
      int64_t rise = u->lo[i * rank + (size_t)d] - u->lo[d];
      if (only && rise % step == 0) slope[c] = rise / step;
    }
  for (size_t c = 0; c < n; c++) start -= slope[c] * coord[c];
  const TdExpr *e = td_expr_index(s->session, s->a, start, s->x->loc);
  for (size_t c = 0; c < n; c++) {
    const TdExpr *v = td_expr_var(s->a, k->coord[c], td_type_index(s->session), s->x->loc);
    e = td_lin_plus(s->session, s->a, e, td_lin_times(s->session, s->a, v, slope[c]));
  }
  for (uint32_t i = 0; i < u->c->n; i++) {
    int64_t at = start;
    for (size_t c = 0; c < n; c++) at += slope[c] * coord[i * n + c];
    if (at != u->lo[i * rank + (size_t)d]) return NULL;
  }
  return e;
}

/* Looks for an index of the body that tells where blocks begin in a dimension. */
typedef struct Telling {
  Reach *r;
  int d;
  const TdExpr *begins; /* what is found, or NULL */
} Telling;

/* Whether e is no variable but an id, and reads nothing. */
static bool is_of_ids(void *ud, const TdExpr *e) {
  const Telling *t = ud;
  uint64_t k;
  if (e->kind == TD_EXPR_LOAD) return false;
  return e->kind != TD_EXPR_VAR || td_map_get(&t->r->facts.coord, (uint64_t)(uintptr_t)e->sym, &k);
}

/* Whether the terms of an index that ids make are, but for a constant, where blocks begin. */
static bool look_telling(void *ud, const TdExpr *e) {
  Telling *t = ud;
  Reach *r = t->r;
  const User *u = r->u;
  if ((e->kind != TD_EXPR_LOAD && e->kind != TD_EXPR_VIEW) || e->sym != r->sym) return true;
  TdSession *session = r->s->session;
  TdArena *a = r->s->a;
  TdLin x = td_lin_of(session, a, td_net_facts_index(r->s->n->store, u->c->kernel, e->kid[t->d]));
  const TdExpr *sum = td_expr_index(session, a, 0, e->loc);
  for (size_t i = 0; i < x.n; i++)
    if (td_walk_expr(x.term[i].atom, is_of_ids, t))
      sum = td_lin_plus(session, a, sum, td_lin_times(session, a, x.term[i].atom, x.term[i].coef));
  int64_t apart = 0;
  for (uint32_t i = 0; i < u->c->n; i++) {
    TdSpan v = td_net_facts_span(&r->facts, u->c->coord + i * u->c->kernel->ncoord, sum);
    int64_t more = u->lo[i * (uint32_t)r->s->type->rank + (uint32_t)t->d] - v.lo;
    if (!i) apart = more;
    if (!td_span_is_one(v) || more != apart) return true;
  }
  t->begins = td_lin_plus(session, a, sum, td_expr_index(session, a, apart, e->loc));
  return false;
}

/* Where the blocks of u begin in dimension d, as its body can say it: `t // 5 * 8`; NULL: it
 * cannot. */
static const TdExpr *begins(Reach *r, int d) {
  const TdExpr *e = fit(r->s, r->u, d);
  Telling t = {.r = r, .d = d};
  if (!e) td_walk_exprs(r->s->session->ctx, r->u->c->kernel->body, look_telling, &t);
  return e ? e : t.begins;
}

/* All of the argument as the block of each instance. */
static void take_all(Share *s, User *u) {
  u->idle = false;
  for (int d = 0; d < s->type->rank; d++) {
    u->extent[d] = extent_of(s->type, d);
    u->step[d] = 1;
    u->shift[d] = NULL;
    for (uint32_t i = 0; i < u->c->n; i++) u->lo[i * s->type->rank + (uint32_t)d] = 0;
  }
}

/* The box of each instance of a class that is given the argument itself, without the elements that
 * lie between those of its step; NULL, or what keeps them from being of one size and regular. */
static const char *find_boxes(Share *s, User *u) {
  const TdUnit *k = u->c->kernel;
  int rank = s->type->rank;
  Reach r = {.s = s, .u = u, .sym = k->param[u->arg].sym};
  TdNetBox box = {.step = {0}};
  r.facts = td_net_facts_of(s->n->arena, s->session, k);
  for (uint32_t i = 0; i < u->c->n; i++) {
    bool none = !td_net_box_of(s->n, &r.facts, r.sym, s->type, u->c->coord + i * k->ncoord, &box);
    if (i && none != u->idle) return "an instance touches nothing";
    u->idle = none;
    for (int d = 0; d < rank && none; d++) box.lo[d] = box.hi[d] = 0;
    for (int d = 0; d < rank; d++) {
      u->lo[i * (uint32_t)rank + (uint32_t)d] = box.lo[d];
      if (i && u->extent[d] != box.hi[d] - box.lo[d] + 1) return "their boxes are of several sizes";
      u->extent[d] = box.hi[d] - box.lo[d] + 1;
    }
  }
  for (int d = 0; d < rank; d++) {
    u->step[d] = box.step[d] ? box.step[d] : 1;
    u->extent[d] = (u->extent[d] - 1) / u->step[d] + 1;
    if (!(u->shift[d] = begins(&r, d))) return "no index says by the ids where their boxes begin";
  }
  return NULL;
}

/* The blocks that a layout cuts. */
static void cut(Share *s, User *u, const char *layout) {
  const TdType *t = td_unit_type(s->session, u->c->kernel, u->c->kernel->param[u->arg].type);
  size_t rank = (size_t)s->type->rank;
  for (size_t d = 0; d < rank; d++) {
    int axis = -1;
    if (*layout++ == 'S')
      for (axis = 0; *layout >= '0' && *layout <= '9'; layout++) axis = axis * 10 + *layout - '0';
    u->extent[d] = extent_of(t, (int)d);
    u->step[d] = 1;
    for (uint32_t i = 0; i < u->c->n; i++) {
      int64_t id = axis < 0 ? 0 : u->c->id[i * (size_t)u->c->rank + (size_t)axis];
      u->lo[i * rank + d] = id * u->extent[d];
    }
  }
}

/* The classes that touch the argument, with their blocks; returns how many instances they have. */
static uint32_t find_users(Share *s) {
  TdNet *n = s->n;
  uint32_t count = 0;
  for (size_t i = 0; i < n->cls.n; i++) {
    TdNetClass *c = n->cls.at[i];
    for (size_t k = 0; k < c->arg.n; k++) {
      if (c->arg.at[k].sym != s->x->sym) continue;
      User u = {.c = c, .arg = k};
      u.lo = TD_NEWN(n->arena, int64_t, c->n * (uint32_t)s->type->rank);
      if (c->arg.at[k].layout)
        cut(s, &u, c->arg.at[k].layout);
      else if ((u.why = find_boxes(s, &u)))
        take_all(s, &u);
      u.block = td_type_tensor_of(s->session, s->type->elem, s->type->rank, u.extent);
      td_vec_push(n->arena, &s->user, u);
      count += c->n;
    }
  }
  return count;
}

static bool is_stored(const User *u) {
  return u->c->arg.at[u->arg].stored && !u->idle;
}

/* Elements of a block lie so far apart in dimension d; 0: there is one. */
static int64_t apart(const User *u, size_t d) {
  return u->extent[d] > 1 ? u->step[d] : 0;
}

/* Whether the blocks of two instances meet. */
static bool meet(const Share *s, const User *x, uint32_t i, const User *y, uint32_t k) {
  size_t rank = (size_t)s->type->rank;
  for (size_t d = 0; d < rank; d++) {
    int64_t a = x->lo[i * rank + d], b = y->lo[k * rank + d];
    int64_t common = td_net_facts_gcd(apart(x, d), apart(y, d));
    if (a > b + (y->extent[d] - 1) * y->step[d] || b > a + (x->extent[d] - 1) * x->step[d] ||
        (common && (a - b) % common != 0))
      return false;
  }
  return true;
}

/* Says that two instances store in blocks that meet, unless a closer look may tell them apart. */
static bool refuse_stores(Share *s, const User *x, uint32_t i, const User *y, uint32_t k) {
  TdArena *a = s->n->arena;
  const char *why = x->why ? x->why : y->why;
  if (td_net_look(s->n, s->x->sym)) return false;
  return td_net_refuse(
      s->n, "shared-write", s->x->loc,
      "cut it by a layout, or index it by the ids so that each task writes a block",
      "%s and %s both write in %s, in parts that no box around each tells apart%s%s",
      td_net_label(a, x->c, i), td_net_label(a, y->c, k), s->x->sym->name, why ? ": " : "",
      why ? why : "");
}

/* Whether no two stored blocks meet: what is stored in the block of one is not lost by the other.
 */
static bool check_stores(Share *s) {
  for (size_t a = 0; a < s->user.n; a++)
    for (size_t b = a; b < s->user.n; b++) {
      const User *x = &s->user.at[a], *y = &s->user.at[b];
      if (!is_stored(x) || !is_stored(y)) continue;
      for (uint32_t i = 0; i < x->c->n; i++)
        for (uint32_t k = a == b ? i + 1 : 0; k < y->c->n; k++)
          if (meet(s, x, i, y, k)) return refuse_stores(s, x, i, y, k);
    }
  return true;
}

static const TdExpr *number(Share *s, int64_t v) {
  return td_expr_index(s->session, s->a, v, s->x->loc);
}

/* The words of u's block, one after the other, between a stream and array `sym`: the argument, in
 * which it lies from `base` on, or (NULL) the array of the instance. */
static const TdStmt *transfer(Share *s, const User *u, const TdExpr *stream, TdSym sym,
                              const TdExpr *const *base, bool get) {
  TdStore *st = s->n->store;
  const TdType *block = u->block;
  TdLoc loc = s->x->loc;
  int word = td_net_word(block), rank = block->rank;
  TdSym v[TD_MAX_RANK];
  const TdExpr *at[TD_MAX_RANK], *place;
  TdViewDim dim[TD_MAX_RANK];
  int64_t extent[TD_MAX_RANK];
  for (int d = 0; d < rank; d++) {
    extent[d] = extent_of(block, d);
    at[d] = base ? base[d] : number(s, 0);
    int64_t step = base ? u->step[d] : 1;
    dim[d] = (TdViewDim){.step = step, .out = d - word};
    if (d >= word) continue;
    dim[d].out = -1;
    if (extent[d] == 1) continue;
    v[d] = td_store_sym(st, td_text_fmt(s->a, "i%d", d), TD_SYM_LOOP);
    const TdExpr *i = td_expr_var(s->a, v[d], td_type_index(s->session), loc);
    at[d] = td_lin_plus(s->session, s->a, at[d], td_lin_times(s->session, s->a, i, step));
  }
  const TdType *token = block->elem;
  if (word < rank) {
    token = td_type_tensor_of(s->session, token, rank - word, extent + word);
    place = td_expr_view(s->a, sym, token, at, dim, rank, loc);
  } else {
    place = td_expr_load(s->a, sym, token, at, rank, loc);
  }
  const TdStmt *x =
      get ? td_stmt_get(st, stream, NULL, token, place, loc) : td_stmt_put(st, stream, place, loc);
  TdAttr fast = {.kind = TD_ATTR_PIPELINE, .arg = {{.i = 1}}};
  for (int d = word - 1, inner = 1; d >= 0; d--) {
    if (extent[d] == 1) continue;
    x = td_stmt_block(st, &x, 1, loc);
    x = td_stmt_for(st, v[d], number(s, 0), number(s, extent[d]), 1, x, loc);
    if (inner) x = td_stmt_with_attrs(st, x, td_attrs_add(s->a, (TdAttrs){0}, fast));
    inner = 0;
  }
  return x;
}

/* The token of the streams that carry a block. */
static const TdType *token_of(Share *s, const TdType *block) {
  int64_t extent[TD_MAX_RANK];
  int word = td_net_word(block);
  for (int d = word; d < block->rank; d++) extent[d - word] = extent_of(block, d);
  if (word == block->rank) return block->elem;
  return td_type_tensor_of(s->session, block->elem, block->rank - word, extent);
}

/* All of a port. */
static const TdExpr *whole(Share *s, TdSym port, const TdType *token) {
  return td_expr_whole(s->session, s->a, port, td_type_port(s->session, token, 0, NULL, false),
                       s->x->loc);
}

/* What the index expressions of a class become. */
typedef struct Shift {
  Share *s;
  const User *u;
  TdSym from, to;
} Shift;

static const TdExpr *shift(void *ud, const TdExpr *e) {
  Shift *h = ud;
  if ((e->kind != TD_EXPR_LOAD && e->kind != TD_EXPR_VIEW) || e->sym != h->from) return e;
  TdSession *session = h->s->session;
  TdArena *a = h->s->a;
  TdExpr *copy = td_arena_copy(a, e, sizeof *e + e->nkid * sizeof *e->kid);
  TdViewDim *dim =
      e->kind == TD_EXPR_VIEW ? td_arena_copy(a, e->u.dim, e->nkid * sizeof *dim) : NULL;
  copy->sym = h->to;
  for (uint32_t d = 0; d < e->nkid; d++) {
    int64_t step = h->u->step[d];
    if (!h->u->shift[d]) continue;
    const TdExpr *at = td_net_facts_index(h->s->n->store, h->u->c->kernel, e->kid[d]);
    at = td_lin_minus(session, a, at, h->u->shift[d]);
    copy->kid[d] = td_lin_floordiv(session, a, at, step);
    if (dim) dim[d].step = dim[d].step % step ? 1 : dim[d].step / step;
  }
  if (dim) copy->u.dim = dim;
  return copy;
}

/* Leading declarations that stay first in a body. */
static uint32_t constants(const TdStmt *body) {
  uint32_t n = 0;
  while (n < body->nkid && body->kid[n]->kind == TD_STMT_LOCAL &&
         body->kid[n]->cls != TD_LOCAL_AUTO)
    n++;
  return n;
}

/* A port of a class for its streams, one for each instance. */
static TdSym port_of(Share *s, TdNetClass *c, TdSym stream, const TdType *token, bool put) {
  TdNetArg arg = {.sym = stream, .put = put, .get = !put, .fixed = c->n > 1};
  arg.at = TD_NEWN(s->n->arena, int64_t, c->n);
  for (uint32_t i = 0; i < c->n; i++) arg.at[i] = i;
  return td_net_port(s->n, c, td_type_port(s->session, token, 0, NULL, false), arg);
}

/* Rewrites the kernel of a class to work on an array of its own, which is read from stream `in` and
 * written to stream `out` (or NULL). */
static void localise(Share *s, User *u, TdSym in, TdSym out) {
  TdStore *st = s->n->store;
  TdUnit *k = u->c->kernel;
  const TdParam *x = &k->param[u->arg];
  const TdType *token = token_of(s, u->block);
  TdSym own = td_store_sym(st, x->sym->name, TD_SYM_LOCAL);
  Shift h = {s, u, x->sym, own};
  const TdStmt *body = td_walk_map(st, k->body, shift, &h);
  uint32_t first = constants(body);
  TD_VEC(const TdStmt *) all = {0};
  for (uint32_t i = 0; i < first; i++) td_vec_push(s->n->arena, &all, body->kid[i]);
  const TdStmt *local = td_stmt_local(st, own, u->block, TD_INIT_NONE, NULL, x->loc);
  TdAttrs attrs = td_attrs_drop(s->a, x->attrs, TD_ATTR_LATENCY); /* of the argument's memory */
  td_vec_push(s->n->arena, &all, td_stmt_with_attrs(st, local, attrs));
  td_net_drop(s->n, u->c, u->arg);
  if (in) {
    const TdExpr *p = whole(s, port_of(s, u->c, in, token, false), token);
    td_vec_push(s->n->arena, &all, transfer(s, u, p, own, NULL, true));
  }
  for (uint32_t i = first; i < body->nkid; i++) td_vec_push(s->n->arena, &all, body->kid[i]);
  if (out) {
    const TdExpr *p = whole(s, port_of(s, u->c, out, token, true), token);
    td_vec_push(s->n->arena, &all, transfer(s, u, p, own, NULL, false));
  }
  k->body = td_stmt_with_kids(st, body, all.at, all.n);
}

/* A task that loads or stores the argument, being made. */
typedef struct Mover {
  Share *s;
  TdNetClass *c;
  TdSym array;
  bool load;
  TD_VEC(const TdStmt *) table, body;
} Mover;

static Mover mover_of(Share *s, bool load) {
  TdNet *n = s->n;
  Mover m = {.s = s, .load = load, .c = TD_NEW(n->arena, TdNetClass)};
  const char *name = td_text_fmt(s->a, "%s_%s", load ? "load" : "store", s->x->sym->name);
  name = td_names_str(s->session->names, name);
  TdUnit *k = TD_NEW(s->a, TdUnit);
  TdParam *x = TD_NEW(s->a, TdParam);
  m.array = td_store_sym(n->store, s->x->sym->name, TD_SYM_TENSOR);
  *x = (TdParam){.sym = m.array, .type = s->type, .loc = s->x->loc};
  *k = (TdUnit){.kind = TD_UNIT_KERNEL,
                .sym = td_store_sym(n->store, name, TD_SYM_UNIT),
                .uid = td_store_uid(n->store),
                .loc = s->x->loc,
                .param = x,
                .nparam = 1};
  *m.c = (TdNetClass){.task = name, .kernel = k, .n = 1};
  td_vec_push(n->arena, &m.c->arg,
              ((TdNetArg){.sym = s->x->sym, .put = !load, .get = load, .at = NULL}));
  return m;
}

/* A constant table of where blocks begin in dimension d, read at v. */
static const TdExpr *from_table(Mover *m, const User *u, int d, const TdExpr *v) {
  Share *s = m->s;
  TdStore *st = s->n->store;
  int64_t n = u->c->n;
  const TdType *i32 = td_type_int(s->session, 32);
  int32_t *data = TD_NEWN(s->a, int32_t, (size_t)n);
  for (int64_t i = 0; i < n; i++) data[i] = (int32_t)u->lo[i * s->type->rank + d];
  TdBlob *blob = TD_NEW(s->a, TdBlob);
  *blob = (TdBlob){td_type_tensor_of(s->session, i32, 1, &n), n, data};
  TdSym table = td_store_sym(st, td_text_fmt(s->a, "from%d", d), TD_SYM_LOCAL);
  td_vec_push(s->n->arena, &m->table, td_stmt_data(st, table, TD_LOCAL_CONST, blob, s->x->loc));
  const TdExpr *at = td_expr_load(s->a, table, i32, &v, 1, s->x->loc);
  return td_expr_cast(s->a, td_type_index(s->session), at, true);
}

/* Where blocks begin in dimension d, by the number v of the instance: first + step * (v // run %
 * period) if it is that, as on grids; else a table. */
static const TdExpr *beginning(Mover *m, const User *u, int d, const TdExpr *v) {
  Share *s = m->s;
  TdSession *se = s->session;
  int64_t n = u->c->n, rank = s->type->rank, run = 1, period = 1;
  const int64_t *lo = u->lo + d;
  while (run < n && lo[run * rank] == lo[0]) run++;
  if (run == n) return number(s, lo[0]);
  int64_t step = lo[run * rank] - lo[0];
  while (period * run < n && lo[period * run * rank] == lo[0] + period * step) period++;
  for (int64_t i = 0; i < n; i++)
    if (lo[i * rank] != lo[0] + step * (i / run % period)) return from_table(m, u, d, v);
  v = td_lin_floordiv(se, s->a, v, run);
  if (period * run < n) v = td_lin_mod(se, s->a, v, period);
  return td_lin_plus(se, s->a, number(s, lo[0]), td_lin_times(se, s->a, v, step));
}

/* The blocks of a class, by one stream for each instance. */
static void move_blocks(Mover *m, const User *u, TdSym stream) {
  Share *s = m->s;
  TdStore *st = s->n->store;
  const TdType *token = token_of(s, u->block);
  const TdExpr *count = number(s, u->c->n), *base[TD_MAX_RANK];
  const TdType *type = td_type_port(s->session, token, u->c->n > 1, &count, false);
  TdSym port =
      td_net_port(s->n, m->c, type, (TdNetArg){.sym = stream, .put = m->load, .get = !m->load});
  TdSym t = td_store_sym(st, "t", TD_SYM_LOOP);
  const TdExpr *v = td_expr_var(s->a, t, td_type_index(s->session), s->x->loc);
  TdViewDim index = {.step = 1, .out = -1};
  const TdType *one = td_type_port(s->session, token, 0, NULL, false);
  const TdExpr *p = u->c->n == 1 ? whole(s, port, token)
                                 : td_expr_view(s->a, port, one, &v, &index, 1, s->x->loc);
  for (int d = 0; d < s->type->rank; d++) base[d] = beginning(m, u, d, v);
  const TdStmt *x = transfer(s, u, p, m->array, base, !m->load);
  if (u->c->n > 1) {
    TdAttr all = {.kind = TD_ATTR_UNROLL};
    x = td_stmt_for(st, t, number(s, 0), count, 1, td_stmt_block(st, &x, 1, s->x->loc), s->x->loc);
    x = td_stmt_with_attrs(st, x, td_attrs_add(s->a, (TdAttrs){0}, all));
  }
  td_vec_push(s->n->arena, &m->body, x);
}

/* Adds the task to the network, if it moves anything. */
static void add_mover(Mover *m) {
  TdNet *n = m->s->n;
  if (!m->body.n) return;
  for (size_t i = 0; i < m->body.n; i++) td_vec_push(n->arena, &m->table, m->body.at[i]);
  m->c->kernel->body = td_stmt_block(n->store, m->table.at, m->table.n, m->s->x->loc);
  td_vec_push(n->arena, &n->cls, m->c);
  td_vec_push(n->arena, &n->call, ((TdNetCall){(uint32_t)n->cls.n - 1, 0}));
}

/* A stream for each instance of a class. */
static TdSym streams(Share *s, const User *u, const char *suffix) {
  const char *name = td_text_fmt(s->a, "%s_%s_%s", s->x->sym->name, u->c->task, suffix);
  int64_t count = u->c->n > 1 ? (int64_t)u->c->n : 0;
  return td_net_stream(s->n, name, token_of(s, u->block), count, 2, s->x->loc);
}

/* Whether u has the argument to itself and sees all of it: it is given the argument. */
static bool is_alone(const Share *s, const User *u) {
  for (int d = 0; d < s->type->rank; d++)
    if (u->c->arg.at[u->arg].layout && u->extent[d] != extent_of(s->type, d)) return false;
  return true;
}

/* Has the task reach its end, where it hands back its block. */
static bool straighten(Share *s, User *u) {
  TdUnit *k = u->c->kernel;
  const TdStmt *body = td_net_return_straight(s->n->store, k->body);
  if (!body)
    return td_net_refuse(s->n, "early-return", k->loc, "put the rest of the body under a condition",
                         "%s returns before it could hand back its block of %s", u->c->task,
                         s->x->sym->name);
  k->body = body;
  return true;
}

/* Serves one argument. */
static bool share(Share *s) {
  if (find_users(s) <= 1 && (!s->user.n || is_alone(s, &s->user.at[0]))) return true;
  if (!check_stores(s)) return false;
  Mover load = mover_of(s, true), store = mover_of(s, false);
  for (size_t i = 0; i < s->user.n; i++) {
    User *u = &s->user.at[i];
    const TdNetArg *x = &u->c->arg.at[u->arg];
    if (!straighten(s, u)) return false;
    bool covered = td_net_cover(s->n, u->c->kernel, u->c->kernel->param[u->arg].sym, u->extent,
                                u->step, s->type->rank);
    bool loaded = !covered && !u->idle && (x->get || x->stored);
    TdSym in = loaded ? streams(s, u, "in") : NULL;
    TdSym out = is_stored(u) ? streams(s, u, "out") : NULL;
    localise(s, u, in, out);
    if (in) move_blocks(&load, u, in);
    if (out) move_blocks(&store, u, out);
  }
  for (size_t i = 0; i < s->user.n; i++) td_net_settle(s->n, s->user.at[i].c);
  add_mover(&load);
  add_mover(&store);
  return true;
}

bool td_net_share(TdNet *n) {
  for (size_t i = 0; i < n->design->nparam; i++) {
    const TdParam *x = &n->design->param[i];
    if (x->type->kind != TD_T_TENSOR) continue;
    TdSession *session = n->store->session;
    Share s = {.n = n,
               .x = x,
               .type = td_unit_type(session, n->design, x->type),
               .session = session,
               .a = n->store->arena};
    if (!s.type)
      return td_net_refuse(n, "unbound-size", x->loc,
                           td_unit_help_sizes(n->store->arena, n->design),
                           "%s has a shape that is not known", x->sym->name);
    if (!share(&s)) return false;
  }
  return true;
}
