/* footprint.c - boxes from the extremes of indices, and whether writes fill them. */
#include "analysis/range/footprint.h"

#include "analysis/range/farkas.h"

/* Element columns, and the loops of a second instance, beside those of the first in block 0. */
enum { BLOCK_OTHER = 1, ELEMENT = 3 * TD_COL_BLOCK, MOST_BOUNDS = 12 };

/* One access in one case of its domain, as a system over loops and element columns. */
typedef struct Part {
  const TdLeaf *leaf;
  const TdAccess *x;
  TdSys sys; /* index[d] == element d */
  bool must; /* it does happen */
} Part;

typedef struct Query {
  const TdAsk *q;
  TdArena *a;
  TdSpace *space;
  const TdNest *context;
  const TdType *type;
  TD_VEC(Part) part;
  int32_t element[TD_MAX_RANK];
  int rank;
  const bool *not_size; /* of each parameter */
} Query;

/* sys: leaf l in case i of its domain (loops in `block`) touches the element of the columns. */
static TdSys touching(Query *k, const TdLeaf *l, const TdAccess *x, size_t i, int32_t block) {
  TdSys s = {0};
  td_sys_join(k->a, &s, &k->context->dom[0], 0);
  td_sys_join(k->a, &s, &l->nest->dom[i], block);
  TdShift at = td_sys_join(k->a, &s, &x->elem, block);
  for (int d = 0; d < k->rank; d++) {
    TdAff e = td_sys_col(k->a, k->element[d]), f = x->index[d];
    if (!f.bad) td_sys_zero(k->a, &s, td_sys_plus(k->a, e, -1, td_sys_shift(k->a, f, at)));
  }
  return s;
}

/* Adds an access, case by case, where it can happen at all. */
static void add_parts(Query *k, const TdLeaf *l, const TdAccess *x) {
  for (size_t i = 0; i < l->nest->ndom; i++) {
    Part p = {l, x, touching(k, l, x, i, 0), l->nest->exact && !x->may};
    if (!td_dense_is_void(k->a, &p.sys)) td_vec_push(k->a, &k->part, p);
  }
}

/* Parameter column p as an index expression. */
static const TdExpr *param_expr(const Query *k, const TdParamCol *p) {
  TdSession *s = k->q->prog->store->session;
  TdArena *a = k->q->arena;
  const TdType *index = td_type_index(s);
  if (p->is_size) return td_expr_size(s, a, p->name, (TdLoc){0});
  const TdParam *scalar = td_unit_param(k->q->unit, p->key);
  const TdType *t = scalar ? scalar->type : index;
  const TdExpr *v = td_expr_var(a, p->key, t, (TdLoc){0});
  return t == index ? v : td_expr_cast(a, index, v, true);
}

/* f, over parameters, as an expression. */
static const TdExpr *expr_of(const Query *k, TdAff f) {
  TdSession *s = k->q->prog->store->session;
  TdArena *a = k->q->arena;
  const TdExpr *sum = td_expr_index(s, a, 0, (TdLoc){0});
  for (uint32_t i = f.n; i-- > 0;) {
    const TdExpr *v = param_expr(k, &k->space->at.at[-1 - f.m[i].col]);
    sum = td_lin_plus(s, a, sum, td_lin_times(s, a, v, f.m[i].coef));
  }
  return td_lin_plus(s, a, sum, td_expr_index(s, a, f.c, (TdLoc){0}));
}

/* Whether f >= 0 for all parameters. */
static bool is_known(const Query *k, TdAff f) {
  const TdSys *facts[] = {&k->context->dom[0]};
  if (td_farkas_follows(k->a, facts, 1, f)) return true;
  TdSys s = td_sys_copy(k->a, facts[0]);
  td_sys_nonneg(k->a, &s, td_sys_scale(k->a, -1, f, -1));
  return td_affine_has_point(k->q->affine, &s) == TD_NO;
}

/* Bounds over parameters. */
typedef struct Bounds {
  TdAff at[MOST_BOUNDS];
  size_t n;
} Bounds;

/* Adds those rows of sys that bound sign * (element d) from below by parameters. */
static void bounds_in(const Query *k, const TdSys *sys, int d, int sign, Bounds *b) {
  for (size_t r = 0; r < sys->row.n && b->n < MOST_BOUNDS; r++) {
    TdRow row = sys->row.at[r];
    int64_t c = td_sys_coef(row.f, k->element[d]);
    if (c != sign && !(row.eq && c == -sign)) continue;
    if (c != sign) row.f = td_sys_scale(k->a, -1, row.f, 0);
    TdAff e = td_sys_scale(k->a, sign, td_sys_col(k->a, k->element[d]), 0);
    TdAff f = td_sys_plus(k->a, e, -1, row.f);
    if (!f.n || f.m[f.n - 1].col < 0) b->at[b->n++] = f;
  }
}

/* Lower bounds of sign * (element d) of part p. */
static Bounds bounds_of(const Query *k, const Part *p, int d, int sign) {
  Bounds b = {.n = 0};
  const TdSys *facts[] = {&p->sys};
  TdAff e = td_sys_scale(k->a, sign, td_sys_col(k->a, k->element[d]), 0), f = {.bad = true};
  for (size_t r = 0; r < p->sys.row.n && f.bad; r++) {
    TdRow row = p->sys.row.at[r];
    int64_t c = td_sys_coef(row.f, k->element[d]);
    if (row.eq && (c == 1 || c == -1)) f = td_sys_plus(k->a, e, -c * sign, row.f);
  }
  if (!f.bad) b.n = td_farkas_lower(k->a, facts, 1, f, NULL, b.at, MOST_BOUNDS / 2);
  if (!f.bad) b.n += td_farkas_lower(k->a, facts, 1, f, k->not_size, b.at + b.n, MOST_BOUNDS - b.n);
  TdSys hull = {0};
  if (!b.n && td_affine_hull(k->q->affine, k->a, &p->sys, 1, &k->element[d], 1, &hull))
    bounds_in(k, &hull, d, sign, &b);
  return b;
}

/* Bounds of sign * (element d) that hold for all parts, or (not NULL) for the chosen ones. */
static Bounds common_bounds(const Query *k, const bool *chosen, int d, int sign) {
  Bounds common = {.n = 0};
  bool some = false;
  for (size_t p = 0; p < k->part.n; p++) {
    if (chosen && !chosen[p]) continue;
    Bounds own = bounds_of(k, &k->part.at[p], d, sign), all = common, kept = {.n = 0};
    if (!some) {
      common = own;
      some = true;
      continue;
    }
    /* a bound holds for both sides if one of the other side's is at least as great */
    for (size_t side = 0; side < 2; side++) {
      const Bounds *x = side ? &own : &all, *y = side ? &all : &own;
      for (size_t i = 0; i < x->n; i++) {
        bool holds = false;
        for (size_t j = 0; !holds && j < y->n; j++)
          holds = is_known(k, td_sys_plus(k->a, y->at[j], -1, x->at[i]));
        if (holds && kept.n < MOST_BOUNDS) kept.at[kept.n++] = x->at[i];
      }
    }
    common = kept;
  }
  return common;
}

/* Upper bounds of f over sizes alone: what an extent may be. */
static Bounds over_sizes(const Query *k, TdAff f) {
  Bounds b = {.n = 0};
  const TdSys *facts[] = {&k->context->dom[0]};
  f = td_sys_scale(k->a, -1, f, 0);
  b.n = td_farkas_lower(k->a, facts, 1, f, k->not_size, b.at, MOST_BOUNDS);
  for (size_t i = 0; i < b.n; i++) b.at[i] = td_sys_scale(k->a, -1, b.at[i], 0);
  return b;
}

/* 0: f is constant, 1: affine in sizes, 2: neither. */
static int extent_rank(const Query *k, TdAff f) {
  for (uint32_t i = 0; i < f.n; i++)
    if (!k->space->at.at[-1 - f.m[i].col].is_size) return 2;
  return f.n > 0;
}

/* Whether f < g at the sizes that the unit has; or, where it has no such, at all that are large. */
static bool is_less_here(const Query *k, TdAff f, TdAff g) {
  int64_t x, y;
  if (td_unit_value(k->q->unit, expr_of(k, f), &x) && td_unit_value(k->q->unit, expr_of(k, g), &y))
    return x < y;
  TdAff less = td_sys_plus(k->a, g, -1, f);
  for (uint32_t i = 0; i < less.n; i++)
    if (less.m[i].coef < 0) return false;
  return less.n > 0;
}

/* Whether the extent f is better than g: constant, then smaller: never greater and perhaps smaller,
 * or, where neither is known to be, smaller at the sizes of now or at large ones. */
static bool is_better(const Query *k, TdAff f, TdAff g) {
  int x = extent_rank(k, f), y = extent_rank(k, g);
  if (x != y) return x < y;
  TdAff less = td_sys_plus(k->a, g, -1, f);
  bool not_greater = is_known(k, less), not_less = is_known(k, td_sys_scale(k->a, -1, less, 0));
  return not_greater == not_less ? !not_less && is_less_here(k, f, g) : not_greater;
}

/* The extent of a whole dimension as a form, bad if it is not affine. */
static TdAff whole_extent(const Query *k, int d) {
  TdEnv env = {.unit = k->q->unit};
  TdSys none = {0};
  TdLower w = {.session = k->q->prog->store->session, .space = k->space, .env = &env, .sys = &none};
  TdAff f;
  if (!td_lower_expr(&w, k->type->dim[d], &f) || none.row.n) return (TdAff){.bad = true};
  return f;
}

/* A dimension of a box in the making. */
typedef struct Span {
  TdAff lo, extent; /* bad: none yet */
} Span;

/* Takes [lo, -high] into s if it is better than what s has. */
static void offer(const Query *k, Span *s, TdAff lo, TdAff high) {
  TdAff n = td_sys_scale(k->a, -1, td_sys_plus(k->a, high, 1, lo), 1);
  if (n.bad) return;
  Bounds extent = over_sizes(k, n);
  for (size_t i = 0; i < extent.n; i++)
    if (!extent.at[i].bad && extent_rank(k, extent.at[i]) < 2 &&
        (s->extent.bad || is_better(k, extent.at[i], s->extent)))
      *s = (Span){lo, extent.at[i]};
}

/* Finds lo and extent of dimension d: the best pair of common bounds, or all of it. */
static bool box_dim(const Query *k, int d, TdAff *lo, TdAff *extent) {
  Bounds low = common_bounds(k, NULL, d, 1), high = common_bounds(k, NULL, d, -1);
  Span s = {td_sys_const(0), whole_extent(k, d)};
  for (size_t i = 0; i < low.n; i++)
    for (size_t j = 0; j < high.n; j++) offer(k, &s, low.at[i], high.at[j]);
  *lo = s.lo;
  *extent = s.extent;
  return !s.extent.bad;
}

/* The points of the box. */
static TdSys box_points(const Query *k, const TdAff *lo, const TdAff *extent) {
  TdSys s = td_sys_copy(k->a, &k->context->dom[0]);
  for (int d = 0; d < k->rank; d++) {
    TdAff e = td_sys_col(k->a, k->element[d]);
    td_sys_le(k->a, &s, lo[d], e);
    td_sys_lt(k->a, &s, e, td_sys_plus(k->a, lo[d], 1, extent[d]));
  }
  return s;
}

/* What a part must do to count. */
typedef enum { TOUCH, WRITE, READ } Doing;

/* Whether the parts that surely happen, and do as asked, reach each point of the box; only those
 * chosen, unless that is NULL. */
static bool is_covered(const Query *k, const TdSys *box, Doing doing, const bool *chosen) {
  TdSys *sys = TD_NEWN(k->a, TdSys, k->part.n);
  size_t n = 0;
  for (size_t i = 0; i < k->part.n; i++) {
    const Part *p = &k->part.at[i];
    bool does = doing == WRITE ? p->x->write : doing == READ ? p->x->read : true;
    if (p->must && does && (!chosen || chosen[i])) sys[n++] = p->sys;
  }
  return n && td_affine_covers(k->q->affine, box, sys, n, k->element, (size_t)k->rank) == TD_YES;
}

typedef TD_VEC(TdSys) SysVec;

/* Adds the ways in which the write w comes before the read r of the same element. */
static void add_earlier(Query *k, const Part *w, const Part *r, SysVec *out) {
  const TdLeaf *s = w->leaf, *t = r->leaf;
  size_t most = s->nseen < t->nseen ? s->nseen : t->nseen, n = 0;
  while (n < most && s->nest->loop[n] == t->nest->loop[n]) n++;
  for (size_t i = 0; i < s->nest->ndom; i++)
    for (size_t level = 0; level < n + (s->seq < t->seq); level++) {
      TdSys sys = touching(k, s, w->x, i, BLOCK_OTHER);
      for (size_t d = 0; d <= level && d < n; d++) {
        TdAff write = td_sys_col(k->a, BLOCK_OTHER * TD_COL_BLOCK + (int32_t)d);
        TdAff read = td_sys_col(k->a, (int32_t)d);
        if (d < level)
          td_sys_zero(k->a, &sys, td_sys_plus(k->a, write, -1, read));
        else
          td_sys_lt(k->a, &sys, write, read);
      }
      td_vec_push(k->a, out, sys);
    }
}

/* Whether what r reads was written before in the same execution. */
static bool is_prepared(Query *k, const Part *r) {
  SysVec earlier = {0};
  for (size_t i = 0; i < k->part.n; i++)
    if (k->part.at[i].x->write && k->part.at[i].must &&
        (i == 0 || k->part.at[i].x != k->part.at[i - 1].x))
      add_earlier(k, &k->part.at[i], r, &earlier);
  if (!earlier.n) return false;
  size_t n = r->leaf->nest->nloop;
  int32_t *keep = TD_NEWN(k->a, int32_t, n + (size_t)k->rank);
  for (size_t d = 0; d < n; d++) keep[d] = (int32_t)d;
  for (int d = 0; d < k->rank; d++) keep[n + (size_t)d] = k->element[d];
  return td_affine_covers(k->q->affine, &r->sys, earlier.at, earlier.n, keep,
                          n + (size_t)k->rank) == TD_YES;
}

/* Fills in what the footprint does besides where. */
static void describe(Query *k, const TdAff *lo, const TdAff *extent, TdFootprint *out) {
  TdSys box = box_points(k, lo, extent);
  out->prepared = true;
  for (size_t i = 0; i < k->part.n; i++) {
    const TdAccess *x = k->part.at[i].x;
    out->read |= x->read;
    out->write |= x->write;
  }
  out->box.exact = is_covered(k, &box, TOUCH, NULL);
  out->filled = out->box.exact && out->write && is_covered(k, &box, WRITE, NULL);
  for (size_t i = 0; i < k->part.n && out->prepared; i++)
    if (k->part.at[i].x->read) out->prepared = is_prepared(k, &k->part.at[i]);
}

/* Collects what the leaves of s do to the array. */
static void collect(Query *k, const TdLeaves *l, TdSym array) {
  for (size_t i = 0; i < l->at.n; i++)
    for (size_t x = 0; x < l->at.at[i].naccess; x++) {
      const TdAccess *acc = &l->at.at[i].access[x];
      if (acc->cell->sym == array && acc->cell->kind == TD_CELL_MEMORY && !acc->cell->nest)
        add_parts(k, &l->at.at[i], acc);
    }
}

/* Starts a query about what s does to the array; whether it does anything. Its memory is freed with
 * k->a. */
static bool begin(Query *k, const TdAsk *q, const TdStmt *s, TdSym array, const TdType *t) {
  *k = (Query){.q = q, .a = td_arena_scratch(td_affine_ctx(q->affine)), .type = t};
  k->space = td_access_space(k->a);
  k->rank = t->kind == TD_T_TENSOR ? t->rank : 0;
  for (int d = 0; d < k->rank; d++) k->element[d] = ELEMENT + d;
  TdNestMaker m = {q->prog->store->session, k->space, &(TdEnv){.unit = q->unit}};
  k->context = td_nest_context(&m, s);
  collect(k, td_access_list(q, k->space, &s, 1), array);
  bool *not_size = TD_NEWN(k->a, bool, k->space->at.n);
  for (size_t i = 0; i < k->space->at.n; i++) not_size[i] = !k->space->at.at[i].is_size;
  k->not_size = not_size;
  return k->part.n > 0;
}

bool td_footprint_of(const TdAsk *q, const TdStmt *s, TdSym array, const TdType *t,
                     TdFootprint *out) {
  Query k;
  TdAff lo[TD_MAX_RANK], extent[TD_MAX_RANK];
  bool ok = begin(&k, q, s, array, t);
  *out = (TdFootprint){.box = {.rank = k.rank}};
  for (int d = 0; ok && d < k.rank; d++) ok = box_dim(&k, d, &lo[d], &extent[d]);
  if (ok) describe(&k, lo, extent, out);
  for (int d = 0; ok && d < k.rank; d++) {
    out->box.lo[d] = expr_of(&k, lo[d]);
    out->box.extent[d] = expr_of(&k, extent[d]);
  }
  td_arena_free(k.a);
  return ok;
}

/* b and one more bound, without those that others imply. */
static Bounds tightest(const Query *k, Bounds b, TdAff one) {
  if (b.n == MOST_BOUNDS) b.n--;
  b.at[b.n++] = one;
  for (size_t i = 0; i < b.n;) {
    size_t j = 0;
    while (j < b.n && (j == i || !is_known(k, td_sys_plus(k->a, b.at[j], -1, b.at[i])))) j++;
    if (j < b.n)
      b.at[i] = b.at[--b.n];
    else
      i++;
  }
  return b;
}

/* The greatest of sign * b + c, or (op MIN) the least. */
static const TdExpr *extreme(const Query *k, TdOp op, const Bounds *b, int sign, int64_t c) {
  const TdExpr *r = NULL;
  for (size_t i = 0; i < b->n; i++) {
    const TdExpr *e = expr_of(k, td_sys_scale(k->a, sign, b->at[i], c));
    r = r ? td_expr_op2(k->q->arena, op, e->type, r, e) : e;
  }
  return r;
}

/* Bounds on what is moved, in each dimension. */
typedef struct Moves {
  bool any;
  Bounds low[TD_MAX_RANK], high[TD_MAX_RANK];
} Moves;

/* Bounds on what the chosen parts touch. */
static Moves moves_of(const Query *k, const bool *chosen) {
  Moves m = {0};
  for (size_t p = 0; p < k->part.n; p++) m.any |= chosen[p];
  for (int d = 0; m.any && d < k->rank; d++) {
    TdAff whole = whole_extent(k, d);
    m.low[d] = tightest(k, common_bounds(k, chosen, d, 1), td_sys_const(0));
    m.high[d] = common_bounds(k, chosen, d, -1);
    if (!whole.bad) m.high[d] = tightest(k, m.high[d], td_sys_scale(k->a, -1, whole, 1));
  }
  return m;
}

/* Adds the bounds of y, which hold for what x moves too, so that x lies in y. */
static void meet(const Query *k, Moves *x, const Moves *y) {
  for (int d = 0; x->any && d < k->rank; d++) {
    if (x->low[d].n + y->low[d].n > MOST_BOUNDS) x->low[d].n = 0;
    if (x->high[d].n + y->high[d].n > MOST_BOUNDS) x->high[d].n = 0;
    for (size_t i = 0; i < y->low[d].n; i++) x->low[d] = tightest(k, x->low[d], y->low[d].at[i]);
    for (size_t i = 0; i < y->high[d].n; i++)
      x->high[d] = tightest(k, x->high[d], y->high[d].at[i]);
  }
}

/* What is moved, as rows over the element columns. */
static TdSys points_of(const Query *k, const Moves *m) {
  TdSys points = td_sys_copy(k->a, &k->context->dom[0]);
  for (int d = 0; m->any && d < k->rank; d++) {
    TdAff e = td_sys_col(k->a, k->element[d]), minus = td_sys_scale(k->a, -1, e, 0);
    for (size_t i = 0; i < m->low[d].n; i++) td_sys_le(k->a, &points, m->low[d].at[i], e);
    for (size_t i = 0; i < m->high[d].n; i++)
      td_sys_nonneg(k->a, &points, td_sys_plus(k->a, minus, -1, m->high[d].at[i]));
  }
  return points;
}

/* Where what is moved ends in dimension d. An extent that is not affine is a bound of its own. */
static const TdExpr *end_of(const Query *k, const Moves *m, int d) {
  const TdExpr *end = extreme(k, TD_OP_MIN, &m->high[d], -1, 1), *whole = k->type->dim[d];
  if (!whole_extent(k, d).bad) return end;
  return end ? td_expr_op2(k->q->arena, TD_OP_MIN, whole->type, end, whole) : whole;
}

/* The same as expressions. */
static TdMoved moved(const Query *k, const Moves *m) {
  TdMoved out = {.any = m->any, .rank = k->rank};
  for (int d = 0; m->any && d < k->rank; d++) {
    out.from[d] = extreme(k, TD_OP_MAX, &m->low[d], 1, 0);
    out.to[d] = end_of(k, m, d);
  }
  return out;
}

/* Whether a part reads whatever it writes before it does; a call whose inside is not known may
 * write first. */
static bool reads_first(const Part *p) {
  return p->x->read && !(p->x->write && p->leaf->stmt->kind == TD_STMT_CALL);
}

bool td_footprint_moves(const TdAsk *q, const TdStmt *s, TdSym array, const TdType *t,
                        TdMoved *load, TdMoved *store) {
  Query k;
  bool ok = begin(&k, q, s, array, t);
  if (ok) {
    bool *chosen = TD_NEWN(k.a, bool, k.part.n);
    for (size_t i = 0; i < k.part.n; i++) chosen[i] = k.part.at[i].x->write;
    Moves stores = moves_of(&k, chosen);
    TdSys points = points_of(&k, &stores);
    bool filled = stores.any && is_covered(&k, &points, WRITE, NULL);
    for (size_t i = 0; i < k.part.n; i++)
      chosen[i] = (!filled && k.part.at[i].x->write) ||
                  (k.part.at[i].x->read && !is_prepared(&k, &k.part.at[i]));
    Moves loads = moves_of(&k, chosen);
    if (!filled) meet(&k, &stores, &loads);
    points = points_of(&k, &loads);
    *load = moved(&k, &loads);
    load->read = loads.any && is_covered(&k, &points, READ, chosen);
    for (size_t i = 0; i < k.part.n; i++) load->read &= reads_first(&k.part.at[i]);
    *store = moved(&k, &stores);
  }
  td_arena_free(k.a);
  return ok;
}

/* How much e grows when v grows by step; false if that is not constant. */
static bool growth(const TdAsk *q, const TdExpr *e, TdSym v, int64_t step, int64_t *by) {
  TdLin x = td_lin_of(q->prog->store->session, q->arena, e);
  for (size_t i = 0; i < x.n; i++)
    if (x.term[i].atom->kind != TD_EXPR_VAR && td_walk_uses_expr(x.term[i].atom, v)) return false;
  return td_sys_mul64(td_lin_coef(&x, v), step, by);
}

bool td_footprint_step(const TdAsk *q, const TdBox *box, const TdStmt *loop, TdFootprintStep *out) {
  TdSession *s = q->prog->store->session;
  *out = (TdFootprintStep){.dim = -1, .fresh = *box};
  for (int d = 0; d < box->rank; d++) {
    int64_t by;
    if (!growth(q, box->lo[d], loop->sym, loop->step, &by)) return false;
    if (by && out->dim >= 0) return false;
    if (by) {
      out->dim = d;
      out->shift = by;
    }
  }
  int64_t n, d = out->dim, size = out->shift < 0 ? -out->shift : out->shift;
  if (d < 0) {
    if (box->rank) out->fresh.extent[0] = td_expr_index(s, q->arena, 0, loop->loc);
    return true;
  }
  if (td_expr_is_const(box->extent[d], &n) && n <= size) return true;
  const TdExpr *fresh = td_expr_index(s, q->arena, size, loop->loc);
  if (out->shift > 0)
    out->fresh.lo[d] =
        td_lin_plus(s, q->arena, box->lo[d], td_lin_minus(s, q->arena, box->extent[d], fresh));
  out->fresh.extent[d] = fresh;
  return true;
}
