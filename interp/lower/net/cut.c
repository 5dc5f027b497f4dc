/* cut.c - arrays of streams in a shape that calls can pass. C++ passes elements and rows: where
 * a task holds the streams Z[k][j] of one j, or Z[4 * j + k], the array is declared with its
 * dimensions in another order, or one of them in two digits, so that what belongs to a task is a
 * row. */
#include "analysis/net/classes.h"
#include "lower/net/net.h"
#include "lower/specialise.h"

/* What the classes so far want of a dimension: the least length of equal parts, shorter than all of
 * it, such that each instance of some class has one of them, but no single stream. */
typedef struct Wish {
  int64_t extent, part; /* part: extent if there is none */
  bool *crossed;        /* by length: the class under way crosses from one such part to the next */
  bool wide;            /* it has more than a single stream */
} Wish;

/* A digit of an index: index / unit % extent. */
typedef struct Digit {
  int dim;
  int64_t unit, extent;
  uint32_t fixed; /* classes for which it is known */
} Digit;

/* The new shape of a stream. */
typedef struct Shape {
  Digit digit[TD_MAX_RANK];
  int rank;
  bool changed;
} Shape;

typedef struct Cut {
  TdNet *n;
  TdNetFacts facts; /* of the class under way, and its ids */
  const int64_t *id;
  Wish *wish;      /* of each dimension of each stream */
  Shape *shape;    /* of each stream */
  uint32_t *loose; /* of each stream: digits that the class under way does not know */
  bool *used;      /* of each stream: by the class under way */
} Cut;

static size_t stream_of(const Cut *c, TdSym sym) {
  size_t i = 0;
  while (i < c->n->design->nstream && c->n->design->stream[i].sym != sym) i++;
  return i;
}

/* Tells `fn` about each index of a stream of the design that e has. */
static bool visit(Cut *c, const TdExpr *e,
                  void (*fn)(Cut *c, size_t stream, int dim, int64_t lo, int64_t hi)) {
  if (e->kind != TD_EXPR_VIEW || e->sym->kind != TD_SYM_STREAM) return true;
  size_t s = stream_of(c, e->sym);
  if (s == c->n->design->nstream) return true;
  c->used[s] = true;
  for (int d = 0; d < (int)e->nkid; d++) {
    int64_t extent = 1;
    td_unit_value(c->n->design, c->n->design->stream[s].type->dim[d], &extent);
    TdSpan x = {.lo = 0, .hi = extent - 1};
    if (e->u.dim[d].out < 0) x = td_net_facts_span(&c->facts, c->id, e->kid[d]);
    fn(c, s, d, x.lo < 0 ? 0 : x.lo, x.hi >= extent ? extent - 1 : x.hi);
  }
  return true;
}

static Wish *wish_of(const Cut *c, size_t stream, int dim) {
  return &c->wish[stream * TD_MAX_RANK + (size_t)dim];
}

static void note_range(Cut *c, size_t stream, int dim, int64_t lo, int64_t hi) {
  Wish *w = wish_of(c, stream, dim);
  if (lo == hi) return;
  w->wide = true;
  for (int64_t q = 2; q < w->extent; q++) w->crossed[q] |= lo / q != hi / q;
}

/* Ends a class: what it wants counts if it is less than what others want. */
static void end_wishes(Cut *c) {
  for (size_t i = 0; i < c->n->design->nstream * TD_MAX_RANK; i++) {
    Wish *w = &c->wish[i];
    for (int64_t q = 2; w->wide && q < w->part; q++)
      if (w->extent % q == 0 && !w->crossed[q]) w->part = q;
    for (int64_t q = 2; w->wide && q < w->extent; q++) w->crossed[q] = false;
    w->wide = false;
  }
}

/* Nothing is wanted yet. */
static void start_wishes(Cut *c) {
  const TdUnit *d = c->n->design;
  c->wish = TD_NEWN(c->n->arena, Wish, d->nstream * TD_MAX_RANK + 1);
  for (size_t i = 0; i < d->nstream; i++)
    for (int k = 0; k < d->stream[i].type->rank; k++) {
      Wish *w = wish_of(c, i, k);
      td_unit_value(d, d->stream[i].type->dim[k], &w->extent);
      w->part = w->extent;
      w->crossed = TD_NEWN(c->n->arena, bool, (size_t)w->extent + 1);
    }
}

static bool find_range(void *ud, const TdExpr *e) {
  return visit(ud, e, note_range);
}

/* Notes the digits that do not have one value. */
static void note_loose(Cut *c, size_t stream, int dim, int64_t lo, int64_t hi) {
  const Shape *s = &c->shape[stream];
  for (int k = 0; k < s->rank; k++)
    if (s->digit[k].dim == dim && lo / s->digit[k].unit != hi / s->digit[k].unit)
      c->loose[stream] |= 1u << k;
}

static bool find_loose(void *ud, const TdExpr *e) {
  return visit(ud, e, note_loose);
}

/* Visits the streams that each class uses, at each of its instances; `end` ends a class. */
static bool visit_classes(Cut *c, TdExprVisit fn, void (*end)(Cut *)) {
  TdNet *n = c->n;
  for (size_t r = 0; r < n->design->nrun; r++) {
    const TdRun *run = &n->design->run[r];
    const TdUnit *of = td_prog_unit(n->prog, run->unit);
    TdClasses x;
    if (!td_classes_of(n->arena, n->prog, n->design, run, &x)) return false;
    size_t skip = run->rank > of->ncoord ? run->rank - of->ncoord : 0;
    for (uint32_t k = 0; k < x.n; k++) {
      const TdStmt *body = td_specialise_body(n->arena, n->prog, n->design, run, x.first[k]);
      TdUnit *u = td_unit_copy(n->store, of);
      u->body = body;
      c->facts = td_net_facts_of(n->arena, n->store->session, u);
      for (uint32_t i = x.first[k]; i != UINT32_MAX; i = td_classes_next(&x, k, i)) {
        int64_t id[TD_MAX_RANK];
        td_classes_ids(n->design, run, i, id);
        c->id = id + skip;
        td_walk_exprs(n->store->session->ctx, body, fn, c);
      }
      if (end) end(c);
    }
  }
  return true;
}

/* Cuts the dimensions of a stream in digits. */
static void find_digits(Cut *c, size_t stream) {
  const TdStream *s = &c->n->design->stream[stream];
  Shape *h = &c->shape[stream];
  for (int d = 0; d < s->type->rank; d++) {
    int64_t extent = wish_of(c, stream, d)->extent, q = wish_of(c, stream, d)->part;
    bool two = q < extent && h->rank + s->type->rank - d < TD_MAX_RANK;
    if (two) h->digit[h->rank++] = (Digit){.dim = d, .unit = q, .extent = extent / q};
    h->digit[h->rank++] = (Digit){.dim = d, .unit = 1, .extent = two ? q : extent};
    h->changed |= two;
  }
}

/* Counts, for each digit, the classes that know it. */
static void count_fixed(Cut *c) {
  for (size_t i = 0; i < c->n->design->nstream; i++) {
    for (int k = 0; k < c->shape[i].rank; k++)
      c->shape[i].digit[k].fixed += c->used[i] && !(c->loose[i] >> k & 1);
    c->loose[i] = 0;
    c->used[i] = false;
  }
}

/* Puts the digits first that more classes know. */
static void sort_digits(Shape *h) {
  for (int i = 1; i < h->rank; i++)
    for (int k = i; k > 0 && h->digit[k].fixed > h->digit[k - 1].fixed; k--) {
      Digit x = h->digit[k];
      h->digit[k] = h->digit[k - 1];
      h->digit[k - 1] = x;
      h->changed = true;
    }
}

/* A view of a stream in its new shape; e itself where that is the old one. */
static const TdExpr *recut(void *ud, const TdExpr *e) {
  Cut *c = ud;
  size_t s = e->kind == TD_EXPR_VIEW ? stream_of(c, e->sym) : c->n->design->nstream;
  if (s == c->n->design->nstream || !c->shape[s].changed) return e;
  const Shape *h = &c->shape[s];
  TdSession *session = c->n->store->session;
  TdArena *a = c->n->store->arena;
  const TdExpr *lo[TD_MAX_RANK];
  TdViewDim dim[TD_MAX_RANK];
  for (int k = 0; k < h->rank; k++) {
    const Digit *x = &h->digit[k];
    lo[k] = e->kid[x->dim];
    dim[k] = e->u.dim[x->dim];
    int64_t all = 1;
    td_unit_value(c->n->design, c->n->design->stream[s].type->dim[x->dim], &all);
    if (dim[k].out >= 0) continue;
    if (x->unit > 1) lo[k] = td_lin_floordiv(session, a, lo[k], x->unit);
    if (x->unit * x->extent < all) lo[k] = td_lin_mod(session, a, lo[k], x->extent);
  }
  return td_expr_view(a, e->sym, e->type, lo, dim, h->rank, e->loc);
}

/* The stream in its new shape. */
static TdStream reshape(const Cut *c, size_t stream) {
  TdStream s = c->n->design->stream[stream];
  const Shape *h = &c->shape[stream];
  const TdExpr *dim[TD_MAX_RANK];
  if (!h->changed) return s;
  for (int k = 0; k < h->rank; k++)
    dim[k] = td_expr_index(c->n->store->session, c->n->store->arena, h->digit[k].extent, s.loc);
  s.type = td_type_port(c->n->store->session, s.type->elem, h->rank, dim, s.type->block);
  return s;
}

/* Whether some view takes several streams of an array at once: its shape stays. */
static bool keep_ranges(void *ud, const TdExpr *e) {
  Cut *c = ud;
  size_t s = e->kind == TD_EXPR_VIEW ? stream_of(c, e->sym) : c->n->design->nstream;
  for (uint32_t d = 0; s < c->n->design->nstream && d < e->nkid; d++)
    if (e->u.dim[d].out >= 0) c->shape[s].changed = false;
  return true;
}

void td_net_cut(TdNet *n) {
  const TdUnit *d = n->design;
  Cut c = {.n = n, .shape = TD_NEWN(n->arena, Shape, d->nstream + 1)};
  c.loose = TD_NEWN(n->arena, uint32_t, d->nstream + 1);
  c.used = TD_NEWN(n->arena, bool, d->nstream + 1);
  start_wishes(&c);
  if (!visit_classes(&c, find_range, end_wishes)) return;
  for (size_t i = 0; i < d->nstream; i++) find_digits(&c, i);
  for (size_t i = 0; i < d->nstream; i++) c.used[i] = false;
  visit_classes(&c, find_loose, count_fixed);
  for (size_t i = 0; i < d->nstream; i++) sort_digits(&c.shape[i]);
  for (size_t r = 0; r < d->nrun; r++) {
    const TdUnit *k = td_prog_unit(n->prog, d->run[r].unit);
    td_walk_exprs(n->store->session->ctx, k->body, keep_ranges, &c);
  }
  TdUnit *u = td_unit_copy(n->store, d);
  TdStream *list = TD_NEWN(n->store->arena, TdStream, d->nstream + 1);
  for (size_t i = 0; i < d->nstream; i++) list[i] = reshape(&c, i);
  u->stream = list;
  for (size_t r = 0; r < d->nrun; r++) {
    const TdUnit *k = td_prog_unit(n->prog, d->run[r].unit);
    bool again = false;
    for (size_t o = 0; o < r; o++) again |= d->run[o].unit == k->sym;
    if (again) continue;
    const TdStmt *body = td_walk_map(n->store, k->body, recut, &c);
    n->prog = td_prog_with(n->prog, td_unit_with_body(n->store, k, body));
  }
  n->design = u;
}
