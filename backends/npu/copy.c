/* copy.c - enumerates what copies move. A nest of loops over one store whose indices are sums, of
 * which each term has one loop's variable, is done by tables: what each turn of a loop adds to a
 * place. Any other is done statement by statement. Where loops outside of a copy only shift what it
 * moves, it is done once for all their turns. */
#include "backends/npu/copy.h"

#include <string.h>

#include "ir/lin.h"

/* Where the elements of an array lie: of a token in its block, of a parameter in the design's
 * argument. */
typedef struct Frame {
  TdSym sym;
  int rank;
  int64_t extent[TD_MAX_RANK], stride[TD_MAX_RANK];
  int64_t origin; /* the place of the first */
} Frame;

/* The frame of an array of type t that lies in one of type `all`, in the part that a layout says.
 */
static void lay_out(Frame *x, const TdNpuInst *inst, const TdType *t, const TdType *all,
                    const char *layout) {
  int64_t stride = 1, extent = 0, part[TD_MAX_RANK] = {0};
  x->rank = t->rank;
  for (int d = 0; d < t->rank; d++) {
    td_type_extent(t, d, &x->extent[d]);
    if (layout && *layout == 'S') part[d] = inst->id[layout[1] - '0'];
    if (layout) layout += *layout == 'S' ? 2 : 1;
  }
  for (int d = t->rank; d-- > 0; stride *= extent) {
    td_type_extent(all, d, &extent);
    x->stride[d] = stride;
    x->origin += stride * part[d] * x->extent[d];
  }
}

static bool frame_of(const TdNpuCopies *w, TdSym sym, Frame *x) {
  const TdNpuForm *f = w->f;
  const TdNpuInst *inst = &f->inst.at[w->inst];
  const TdType *block = td_map_getp(&w->block, sym);
  const TdParam *p = td_unit_param(inst->kernel, sym);
  const TdRunArg *b = inst->run->bind;
  if (!block && !p) return false;
  *x = (Frame){.sym = sym};
  if (block) {
    lay_out(x, inst, block, block, NULL);
    return true;
  }
  while (b->param != sym) b++;
  TdSession *ss = f->prog->store->session;
  lay_out(x, inst, td_unit_type(ss, inst->kernel, p->type),
          td_unit_type(ss, f->design, td_unit_param(f->design, b->arg)->type), b->layout);
  return true;
}

/* A copy being done. */
typedef struct Doing {
  TdNpuCopies *w;
  TdSym to, from;
  bool first;   /* only the first element is asked for */
  bool inside;  /* of a nest that tables do not do */
  Frame lie[2]; /* of the last places asked for: to, from */
  TD_VEC(int64_t) dst;
  TD_VEC(int64_t) src;
} Doing;

static bool refuse(const Doing *g, TdLoc loc, const char *what) {
  const TdNpuForm *f = g->w->f;
  return td_diag_set(f->diag, TD_UNSUPPORTED, "npu-copy", loc, "%s: %s",
                     f->inst.at[g->w->inst].name, what);
}

static bool bad_copy(const Doing *g, TdLoc loc) {
  refuse(g, loc, "does more than copy elements between an argument and a block");
  td_diag_help(g->w->f->diag, "what computes belongs on a core: isolate takes the copy alone");
  return false;
}

static const TdExpr *bare(const TdExpr *e) {
  while (e->kind == TD_EXPR_CAST && e->implicit && e->type == e->kid[0]->type) e = e->kid[0];
  return e;
}

/* The frame of what an expression of a side (0: to, 1: from) names. */
static const Frame *lie_of(Doing *g, int side, const TdExpr *e) {
  Frame *x = &g->lie[side];
  return x->sym == e->sym || frame_of(g->w, e->sym, x) ? x : NULL;
}

/* The place of a view's element `at`, or of a load. */
static bool element(Doing *g, int side, const TdExpr *e, const int64_t *at, int64_t *place) {
  const Frame *x = lie_of(g, side, e);
  if (!x) return false;
  *place = x->origin;
  for (uint32_t d = 0; d < e->nkid; d++) {
    int64_t index;
    if (!td_npu_value(g->w->f, &g->w->at, e->kid[d], &index)) return false;
    if (e->kind == TD_EXPR_VIEW && e->u.dim[d].out >= 0)
      index += e->u.dim[d].step * at[e->u.dim[d].out];
    if (index < 0 || index >= x->extent[d]) return false;
    *place += index * x->stride[d];
  }
  return true;
}

/* Settles which two arrays a copy is between. */
static bool settle(Doing *g, const TdExpr *to, const TdExpr *from, TdLoc loc) {
  if (g->to && (g->to != to->sym || g->from != from->sym))
    return refuse(g, loc, "copies between several arrays in one nest of loops");
  g->to = to->sym;
  g->from = from->sym;
  return true;
}

/* Moves one element. */
static bool move(Doing *g, const TdExpr *to, const TdExpr *from, const int64_t *at, TdLoc loc) {
  int64_t dst, src;
  if (!element(g, 0, to, at, &dst) || !element(g, 1, from, at, &src)) return bad_copy(g, loc);
  if (!settle(g, to, from, loc)) return false;
  td_vec_push(g->w->f->arena, &g->dst, dst);
  td_vec_push(g->w->f->arena, &g->src, src);
  return true;
}

/* Moves all elements of a view. */
static bool set_view(Doing *g, const TdStmt *s, const TdExpr *from) {
  int64_t at[TD_MAX_RANK] = {0}, extent[TD_MAX_RANK];
  const TdExpr *to = s->expr[0];
  int rank = to->type->rank;
  for (int d = 0; d < rank; d++)
    if (!td_npu_value(g->w->f, &g->w->at, to->type->dim[d], &extent[d]) || extent[d] <= 0)
      return bad_copy(g, s->loc);
  for (;;) {
    if (!move(g, to, from, at, s->loc)) return false;
    int d = rank - 1;
    while (d >= 0 && ++at[d] == extent[d]) at[d--] = 0;
    if (d < 0 || g->first) return true;
  }
}

/* ---- nests ---- */

enum { MOST_LOOPS = 2 * TD_MAX_RANK };

/* A loop of a nest, or a dimension of the view that is stored beneath them. */
typedef struct Turn {
  TdSym var; /* NULL: a dimension */
  int64_t lo, step, trips;
  int64_t *index;  /* what each turn adds to the index that is looked at */
  int64_t *add[2]; /* what it adds to the place in `to`, in `from` */
} Turn;

/* Loops around one store. */
typedef struct Nest {
  int n;
  Turn turn[MOST_LOOPS];
  const TdStmt *store;
  const TdExpr *side[2];
  int64_t first[2];
} Nest;

static bool add_turn(const Doing *g, Nest *x, TdSym var, int64_t lo, int64_t step, int64_t trips) {
  TdArena *a = g->w->f->arena;
  if (x->n == MOST_LOOPS || trips <= 0) return false;
  Turn *t = &x->turn[x->n++];
  *t = (Turn){.var = var, .lo = lo, .step = step, .trips = trips};
  t->index = TD_NEWN(a, int64_t, trips);
  for (int i = 0; i < 2; i++) t->add[i] = TD_NEWN(a, int64_t, trips);
  return true;
}

/* The number of the nest's one loop that e uses, n: none, -1: several. */
static int loop_of(const Nest *x, const TdExpr *e) {
  int at = x->n;
  for (int i = 0; i < x->n; i++) {
    if (!x->turn[i].var || !td_walk_uses_expr(e, x->turn[i].var)) continue;
    if (at < x->n) return -1;
    at = i;
  }
  return at;
}

/* The value of what uses none of the nest's loops. */
static bool outer_value(const Doing *g, const Nest *x, const TdExpr *e, int64_t *v) {
  return loop_of(x, e) == x->n && td_npu_value(g->w->f, &g->w->at, e, v);
}

/* Reads s as a nest; false: it is none. */
static bool nest_of(const Doing *g, const TdStmt *s, Nest *x) {
  int64_t lo, hi;
  *x = (Nest){.n = 0};
  for (; s->kind == TD_STMT_FOR || (s->kind == TD_STMT_BLOCK && s->nkid == 1);
       s = s->kind == TD_STMT_FOR ? td_for_body(s) : s->kid[0]) {
    if (s->kind == TD_STMT_BLOCK) continue;
    if (s->step < 1 || !outer_value(g, x, td_for_lo(s), &lo) ||
        !outer_value(g, x, td_for_hi(s), &hi) ||
        !add_turn(g, x, s->sym, lo, s->step, (hi - lo + s->step - 1) / s->step))
      return false;
  }
  bool set = s->kind == TD_STMT_SET;
  if (s->kind != TD_STMT_STORE && !set) return false;
  const TdType *t = s->expr[0]->type;
  x->store = s;
  x->side[0] = s->expr[0];
  x->side[1] = bare(s->expr[1]);
  if (x->side[1]->kind != (set ? TD_EXPR_VIEW : TD_EXPR_LOAD)) return false;
  if (set && s->expr[1]->type != t) return false;
  for (int d = 0; set && d < t->rank; d++)
    if (!outer_value(g, x, t->dim[d], &hi) || !add_turn(g, x, NULL, 0, 1, hi)) return false;
  return true;
}

/* Adds k times an expression of one loop's variable to the index that is looked at; false: it has
 * no value. */
static bool add_atom(const Doing *g, Turn *t, int64_t k, const TdExpr *atom) {
  TdNpuCopies *w = g->w;
  for (int64_t i = 0; i < t->trips; i++) {
    int64_t v = t->lo + i * t->step;
    if (atom->kind != TD_EXPR_VAR) {
      td_map_put(w->f->arena, &w->at, (uint64_t)(uintptr_t)t->var, (uint64_t)v);
      if (!td_npu_value(w->f, &w->at, atom, &v)) return false;
    }
    t->index[i] += k * v;
  }
  return true;
}

/* Sums up what the loops' turns add to an index, *first without them; false: it is no such sum. */
static bool index_of(const Doing *g, Nest *x, const TdExpr *e, int64_t *first) {
  TdNpuForm *f = g->w->f;
  TdLin l = td_lin_of(f->prog->store->session, f->arena, e);
  for (int i = 0; i < x->n; i++)
    memset(x->turn[i].index, 0, (size_t)x->turn[i].trips * sizeof *x->turn[i].index);
  *first = l.constant;
  for (size_t i = 0; i < l.n; i++) {
    const TdExpr *atom = l.term[i].atom;
    int at = loop_of(x, atom);
    int64_t v;
    if (at < 0) return false;
    if (at < x->n) {
      if (!add_atom(g, &x->turn[at], l.term[i].coef, atom)) return false;
    } else {
      if (!td_npu_value(f, &g->w->at, atom, &v)) return false;
      *first += l.term[i].coef * v;
    }
  }
  return true;
}

/* Adds an index of a side, of this extent, to what the turns add to its place; false: it leaves the
 * array. */
static bool add_index(Nest *x, int side, int64_t first, int64_t extent, int64_t stride) {
  int64_t least = first, most = first;
  x->first[side] += first * stride;
  for (int i = 0; i < x->n; i++) {
    Turn *t = &x->turn[i];
    int64_t lo = t->index[0], hi = t->index[0];
    for (int64_t k = 0; k < t->trips; k++) {
      lo = t->index[k] < lo ? t->index[k] : lo;
      hi = t->index[k] > hi ? t->index[k] : hi;
      t->add[side][k] += t->index[k] * stride;
    }
    least += lo;
    most += hi;
  }
  return least >= 0 && most < extent;
}

/* Sums up what the turns add to the place of a side; false: refused, or no such sum. */
static bool side_of(Doing *g, Nest *x, int side) {
  const TdExpr *e = x->side[side];
  const Frame *lie = lie_of(g, side, e);
  int64_t first;
  if (!lie) return false;
  x->first[side] = lie->origin;
  for (uint32_t d = 0; d < e->nkid; d++) {
    if (!index_of(g, x, e->kid[d], &first)) return false;
    int out = e->kind == TD_EXPR_VIEW ? e->u.dim[d].out : -1;
    Turn *t = out < 0 ? NULL : &x->turn[x->n - x->store->expr[0]->type->rank + out];
    for (int64_t i = 0; t && i < t->trips; i++) t->index[i] += i * e->u.dim[d].step;
    if (!add_index(x, side, first, lie->extent[d], lie->stride[d])) return false;
  }
  return true;
}

/* Does the turns of loop `at` of a nest and those inside, from these places. */
static void do_turns(Doing *g, const Nest *x, int at, int64_t dst, int64_t src) {
  TdArena *a = g->w->f->arena;
  if (at == x->n) {
    td_vec_push(a, &g->dst, dst);
    td_vec_push(a, &g->src, src);
    return;
  }
  const Turn *t = &x->turn[at];
  td_ctx_tick(td_arena_ctx(a), (uint64_t)t->trips);
  for (int64_t i = 0; i < t->trips; i++)
    do_turns(g, x, at + 1, dst + t->add[0][i], src + t->add[1][i]);
}

/* Does a nest whose indices are sums of what each loop adds; false: it is none, or refused. */
static bool do_nest(Doing *g, const TdStmt *s) {
  Nest x;
  if (!nest_of(g, s, &x) || !side_of(g, &x, 0) || !side_of(g, &x, 1)) return false;
  if (g->to && (g->to != x.side[0]->sym || g->from != x.side[1]->sym)) return false;
  settle(g, x.side[0], x.side[1], x.store->loc);
  do_turns(g, &x, 0, x.first[0], x.first[1]);
  return true;
}

/* ---- statement by statement ---- */

static bool do_copy(Doing *g, const TdStmt *s) {
  TdNpuCopies *w = g->w;
  int64_t lo, hi, cond;
  bool inside = g->inside, loops = s->kind == TD_STMT_FOR || s->kind == TD_STMT_SET;
  td_ctx_tick(td_arena_ctx(w->f->arena), 1);
  if (loops && !g->first && !inside && do_nest(g, s)) return true;
  g->inside |= loops;
  switch ((TdStmtKind)s->kind) {
  case TD_STMT_BLOCK:
    for (uint32_t i = 0; i < s->nkid && !(g->first && g->dst.n); i++)
      if (!do_copy(g, s->kid[i])) return false;
    return true;
  case TD_STMT_FOR:
    if (!td_npu_value(w->f, &w->at, td_for_lo(s), &lo) ||
        !td_npu_value(w->f, &w->at, td_for_hi(s), &hi))
      return bad_copy(g, s->loc);
    for (int64_t i = lo; i < hi && !(g->first && g->dst.n); i += s->step) {
      td_map_put(w->f->arena, &w->at, (uint64_t)(uintptr_t)s->sym, (uint64_t)i);
      if (!do_copy(g, td_for_body(s))) return false;
    }
    g->inside = inside;
    return true;
  case TD_STMT_IF:
    if (!td_npu_value(w->f, &w->at, s->expr[0], &cond)) return bad_copy(g, s->loc);
    return cond ? do_copy(g, s->kid[0]) : s->nkid < 2 || do_copy(g, s->kid[1]);
  case TD_STMT_STORE:
    if (bare(s->expr[1])->kind != TD_EXPR_LOAD) return bad_copy(g, s->loc);
    return move(g, s->expr[0], bare(s->expr[1]), NULL, s->loc);
  case TD_STMT_SET:
    if (bare(s->expr[1])->kind != TD_EXPR_VIEW || s->expr[1]->type != s->expr[0]->type)
      return bad_copy(g, s->loc);
    return set_view(g, s, bare(s->expr[1]));
  default: return bad_copy(g, s->loc);
  }
}

/* A look at a copy: whether the loops outside only shift it. */
typedef struct Shift {
  const TdNpuCopies *w;
  TdMap inside; /* its own loops */
  bool shifts;
} Shift;

static bool is_inside(void *ud, const TdExpr *e) {
  const Shift *k = ud;
  return e->kind != TD_EXPR_VAR || td_map_getp(&k->inside, e->sym);
}

/* Whether the variables of outer loops are terms of an index, and nothing else. */
static bool is_linear(Shift *k, const TdExpr *e) {
  TdNpuForm *f = k->w->f;
  TdLin l = td_lin_of(f->prog->store->session, f->arena, e);
  for (size_t i = 0; i < l.n; i++)
    if (l.term[i].atom->kind != TD_EXPR_VAR && !td_walk_expr(l.term[i].atom, is_inside, k))
      return false;
  return true;
}

static bool look_shift(void *ud, const TdStmt *s) {
  Shift *k = ud;
  if (s->kind == TD_STMT_FOR) td_map_putp(k->w->f->arena, &k->inside, s->sym, k);
  bool moves = s->kind == TD_STMT_STORE || s->kind == TD_STMT_SET;
  for (uint32_t i = 0; i < s->nexpr && k->shifts; i++) {
    const TdExpr *e = moves ? bare(s->expr[i]) : s->expr[i];
    if (!moves) k->shifts &= td_walk_expr(e, is_inside, k);
    for (uint32_t d = 0; moves && d < e->nkid; d++) k->shifts &= is_linear(k, e->kid[d]);
  }
  return k->shifts;
}

const TdNpuPairs *td_npu_copy_pairs(TdNpuCopies *w, const TdStmt *s, int64_t *dst, int64_t *src) {
  TdNpuPairs *p = td_map_getp(&w->pairs, s);
  Doing g = {.w = w, .first = p && p->shifts};
  if (!do_copy(&g, s)) return NULL;
  *dst = *src = 0;
  if (g.first && g.dst.n) {
    *dst = g.dst.at[0] - p->dst[0];
    *src = g.src.at[0] - p->src[0];
    return p;
  }
  Shift k = {.w = w, .shifts = true};
  td_walk_stmt(w->f->prog->store->session->ctx, s, look_shift, &k);
  p = TD_NEW(w->f->arena, TdNpuPairs);
  *p = (TdNpuPairs){g.to, g.from, k.shifts, g.dst.n, g.dst.at, g.src.at};
  td_map_putp(w->f->arena, &w->pairs, s, p);
  return p;
}
