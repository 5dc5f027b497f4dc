/* list.c - the streams of an array that the instances of a class use, one by one, where boxes
 * hold streams of other tasks too: `Z[s][p ~ (1 << s)]` of a butterfly. The loops around each use
 * are run through at each instance; an instance is given a list, and the body says which of it a
 * use names, as a sum of multiples of its loop variables and ids. */
#include "lower/net/net.h"

enum { MOST_POINTS = 1 << 14, MOST_DEPTH = 16 };

/* What is around a use: a loop, or an arm of a choice. */
typedef struct Around {
  const TdStmt *s;
  int arm;
} Around;

/* A stream that a use names at an instance, for some values of the loops that it follows. */
typedef struct Point {
  uint32_t instance;
  int64_t var[MOST_DEPTH];
  int64_t element; /* number of the stream */
  int64_t place;   /* in the list of its instance */
} Point;

typedef struct Use {
  const TdExpr *view;
  TD_VEC(TdSym) loop; /* that it follows */
  TD_VEC(Point) point;
  size_t list;
} Use;

typedef struct Find {
  TdNet *n;
  const TdNetClass *c;
  size_t skip;
  const TdStream *s;
  TdNetFacts facts;
  TD_VEC(Around) around;
  TD_VEC(Use *) use;
  Use *u; /* being looked at */
  uint32_t instance;
  int64_t at[TD_MAX_RANK + MOST_DEPTH]; /* ids, then the loops that have values */
  bool failed;
} Find;

static int64_t extent_of(const Find *f, int d) {
  int64_t v = 1;
  td_unit_value(f->n->design, f->s->type->dim[d], &v);
  return v;
}

static const int64_t *ids(const Find *f, uint32_t i) {
  return f->c->id + (size_t)i * (size_t)f->c->rank + f->skip;
}

/* Whether the value of e depends on loop variable v, also by way of scalars and other loops. */
typedef struct Depends {
  Find *f;
  TdSym v;
} Depends;

static bool is_apart(void *ud, const TdExpr *e) {
  const Depends *d = ud;
  const TdStmt *s = e->sym ? td_map_getp(&d->f->facts.decl, e->sym) : NULL;
  bool apart = e->sym != d->v;
  td_ctx_enter(d->f->n->store->session->ctx);
  for (uint32_t i = 0; s && i < s->nexpr && apart; i++)
    apart = td_walk_expr(s->expr[i], is_apart, ud);
  td_ctx_leave(d->f->n->store->session->ctx);
  return apart;
}

/* Notes which stream the use names now; what lies outside the array never runs. */
static void add_point(Find *f) {
  Point x = {.instance = f->instance};
  for (uint32_t d = 0; d < f->u->view->nkid; d++) {
    TdSpan at = td_net_facts_span(&f->facts, f->at, f->u->view->kid[d]);
    if (!td_span_is_one(at)) f->failed = true;
    if (at.lo < 0 || at.lo >= extent_of(f, (int)d)) return;
    x.element = x.element * extent_of(f, (int)d) + at.lo;
  }
  for (size_t i = 0; i < f->u->loop.n; i++) x.var[i] = f->at[f->c->kernel->ncoord + i];
  td_vec_push(f->n->arena, &f->u->point, x);
  f->failed |= f->u->point.n > MOST_POINTS;
}

static bool follows(const Use *u, TdSym loop) {
  for (size_t i = 0; i < u->loop.n; i++)
    if (u->loop.at[i] == loop) return true;
  return false;
}

/* Runs through the loops from the d-th around the use on, of which `bound` have values. */
static void enumerate(Find *f, size_t d, size_t bound) {
  if (f->failed) return;
  if (d == f->around.n) {
    add_point(f);
    return;
  }
  const TdStmt *s = f->around.at[d].s;
  if (s->kind == TD_STMT_IF) {
    TdSpan c = td_net_facts_span(&f->facts, f->at, s->expr[0]);
    if (!td_span_is_one(c) || (c.lo == 0) == (f->around.at[d].arm == 1)) enumerate(f, d + 1, bound);
    return;
  }
  if (!follows(f->u, s->sym)) {
    enumerate(f, d + 1, bound);
    return;
  }
  TdSpan lo = td_net_facts_span(&f->facts, f->at, td_for_lo(s));
  TdSpan hi = td_net_facts_span(&f->facts, f->at, td_for_hi(s));
  size_t slot = f->c->kernel->ncoord + bound;
  f->failed |= !td_span_is_one(lo) || !td_span_is_one(hi);
  for (int64_t v = lo.lo; v < hi.lo && !f->failed; v += s->step) {
    f->at[slot] = v;
    td_map_put(f->n->arena, &f->facts.coord, (uint64_t)(uintptr_t)s->sym, slot + 1);
    enumerate(f, d + 1, bound + 1);
    td_map_drop(&f->facts.coord, (uint64_t)(uintptr_t)s->sym);
  }
}

/* Notes a use and the streams that it names. */
static bool note_use(void *ud, const TdExpr *e) {
  Find *f = ud;
  if (e->kind != TD_EXPR_VIEW || e->sym != f->s->sym) return true;
  Use *u = f->u = TD_NEW(f->n->arena, Use);
  u->view = e;
  for (size_t i = 0; i < f->around.n; i++) {
    const TdStmt *loop = f->around.at[i].s;
    Depends d = {f, loop->kind == TD_STMT_FOR ? loop->sym : NULL};
    bool apart = true;
    for (uint32_t k = 0; d.v && k < e->nkid; k++) apart &= td_walk_expr(e->kid[k], is_apart, &d);
    if (!apart) td_vec_push(f->n->arena, &u->loop, d.v);
  }
  f->failed |= u->loop.n + f->c->kernel->ncoord > MOST_DEPTH;
  for (uint32_t i = 0; i < f->c->n && !f->failed; i++) {
    f->instance = i;
    for (size_t k = 0; k < f->c->kernel->ncoord; k++) f->at[k] = ids(f, i)[k];
    enumerate(f, 0, 0);
  }
  td_vec_push(f->n->arena, &f->use, u);
  return true;
}

static void visit(Find *f, const TdStmt *s) {
  td_ctx_enter(f->n->store->session->ctx);
  for (uint32_t i = 0; i < s->nexpr && !f->failed; i++) td_walk_expr(s->expr[i], note_use, f);
  for (uint32_t i = 0; i < s->nkid && !f->failed; i++) {
    bool around = s->kind == TD_STMT_FOR || s->kind == TD_STMT_IF;
    if (around) td_vec_push(f->n->arena, &f->around, ((Around){s, (int)i}));
    visit(f, s->kid[i]);
    f->around.n -= around;
  }
  td_ctx_leave(f->n->store->session->ctx);
}

/* Puts uses that share a stream at some instance into one list: its number is that of its first
 * use. */
static void group(Find *f) {
  TdMap user = {0};
  int64_t count = 1;
  for (int d = 0; d < f->s->type->rank; d++) count *= extent_of(f, d);
  for (size_t i = 0; i < f->use.n; i++) {
    Use *u = f->use.at[i];
    u->list = i;
    for (size_t k = 0; k < u->point.n; k++) {
      const Point *x = &u->point.at[k];
      uint64_t key = (uint64_t)(x->instance * count + x->element), other;
      if (!td_map_get(&user, key, &other)) td_map_put(f->n->arena, &user, key, other = i);
      size_t to = f->use.at[other]->list, from = u->list;
      for (size_t a = 0; a <= i; a++)
        if (f->use.at[a]->list == (to < from ? from : to))
          f->use.at[a]->list = to < from ? to : from;
    }
  }
}

/* The streams of list `first`, in the order in which each instance comes to them, of which the
 * points learn their places. False: instances have different numbers of them, or too many. */
static bool fill(Find *f, size_t first, TdNetArg *out) {
  uint32_t n = f->c->n, *have = TD_NEWN(f->n->arena, uint32_t, n);
  int64_t *list = TD_NEWN(f->n->arena, int64_t, n * TD_NET_MOST_LISTED);
  for (size_t i = first; i < f->use.n; i++) {
    Use *u = f->use.at[i];
    for (size_t k = 0; u->list == first && k < u->point.n; k++) {
      Point *x = &u->point.at[k];
      int64_t *own = list + (size_t)x->instance * TD_NET_MOST_LISTED;
      while (x->place < have[x->instance] && own[x->place] != x->element) x->place++;
      if (x->place < have[x->instance]) continue;
      if (x->place == TD_NET_MOST_LISTED) return false;
      own[have[x->instance]++] = x->element;
    }
  }
  size_t rank = (size_t)f->s->type->rank;
  *out = (TdNetArg){.sym = f->s->sym, .listed = have[0]};
  out->at = TD_NEWN(f->n->arena, int64_t, n * have[0] * rank + 1);
  for (uint32_t i = 0; i < n; i++) {
    if (have[i] != have[0] || !have[0]) return false;
    for (uint32_t k = 0; k < have[0]; k++) {
      int64_t rest = list[(size_t)i * TD_NET_MOST_LISTED + k];
      for (size_t d = rank; d-- > 0; rest /= extent_of(f, (int)d))
        out->at[(i * (size_t)have[0] + k) * rank + d] = rest % extent_of(f, (int)d);
    }
  }
  return true;
}

/* Variable v at a point: an id, or a loop. */
static int64_t var_at(const Find *f, const Point *x, size_t v) {
  size_t n = f->c->kernel->ncoord;
  return v < n ? ids(f, x->instance)[v] : x->var[v - n];
}

/* How the place rises with variable v, as a fraction; found at points that differ in v alone. */
static bool rise(const Find *f, const Use *u, size_t nvar, size_t v, int64_t *up, int64_t *by) {
  enum { FEW = 64 };
  for (size_t a = 0; a < u->point.n && a < FEW; a++)
    for (size_t b = a + 1; b < u->point.n; b++) {
      const Point *x = &u->point.at[a], *y = &u->point.at[b];
      bool only = var_at(f, x, v) != var_at(f, y, v);
      for (size_t o = 0; o < nvar && only; o++) only = o == v || var_at(f, x, o) == var_at(f, y, o);
      if (!only) continue;
      *by = var_at(f, y, v) - var_at(f, x, v);
      *up = y->place - x->place;
      int64_t common = td_net_facts_gcd(*up, *by) * (*by < 0 ? -1 : 1);
      *up /= common, *by /= common;
      return true;
    }
  return false;
}

static int64_t floor_div(int64_t x, int64_t by) {
  return x / by - (x % by < 0);
}

/* The place of the streams of a use as an expression; NULL: it is none of its variables. */
static const TdExpr *place_of(Find *f, const Use *u) {
  const TdUnit *k = f->c->kernel;
  TdSession *s = f->n->store->session;
  TdArena *a = f->n->store->arena;
  size_t nvar = k->ncoord + u->loop.n;
  int64_t up[TD_MAX_RANK + MOST_DEPTH] = {0}, by[TD_MAX_RANK + MOST_DEPTH], all = 1;
  for (size_t v = 0; v < nvar; v++) {
    if (!rise(f, u, nvar, v, &up[v], &by[v])) up[v] = 0, by[v] = 1;
    all *= by[v] / td_net_facts_gcd(all, by[v]);
  }
  const Point *first = &u->point.at[0];
  int64_t start = first->place * all;
  for (size_t v = 0; v < nvar; v++) {
    up[v] *= all / by[v];
    start -= up[v] * var_at(f, first, v);
  }
  for (size_t i = 0; i < u->point.n; i++) {
    int64_t sum = start;
    for (size_t v = 0; v < nvar; v++) sum += up[v] * var_at(f, &u->point.at[i], v);
    if (floor_div(sum, all) != u->point.at[i].place) return NULL;
  }
  const TdExpr *e = td_expr_index(s, a, start, u->view->loc);
  for (size_t v = 0; v < nvar; v++) {
    TdSym sym = v < k->ncoord ? k->coord[v] : u->loop.at[v - k->ncoord];
    const TdExpr *x = td_expr_var(a, sym, td_type_index(s), u->view->loc);
    e = td_lin_plus(s, a, e, td_lin_times(s, a, x, up[v]));
  }
  return td_lin_floordiv(s, a, e, all);
}

bool td_net_list_find(TdNet *n, const TdNetClass *c, size_t skip, const TdStream *s,
                      TdNetLists *out) {
  Find f = {.n = n, .c = c, .skip = skip, .s = s};
  f.facts = td_net_facts_of(n->arena, n->store->session, c->kernel);
  visit(&f, c->kernel->body);
  if (f.failed) return false;
  group(&f);
  for (size_t i = 0; i < f.use.n; i++) {
    if (f.use.at[i]->list != i) continue;
    TdNetArg x;
    if (!fill(&f, i, &x)) return false;
    for (size_t k = i; k < f.use.n; k++) {
      Use *u = f.use.at[k];
      if (u->list != i) continue;
      TdNetListed use = {.view = u->view, .list = out->list.n};
      if (x.listed > 1 && (!u->point.n || !(use.place = place_of(&f, u)))) return false;
      td_vec_push(n->arena, &out->use, use);
    }
    td_vec_push(n->arena, &out->list, x);
  }
  return true;
}
