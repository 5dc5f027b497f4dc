/* box.c - the box around the elements of an array that a body touches at one instance. */
#include "lower/net/net.h"

typedef struct Reach {
  TdNet *n;
  TdNetFacts *f;
  TdSym sym;
  const TdType *type;
  const int64_t *at;
  TdNetBox *box;
} Reach;

/* The part of x, whose values lie `step` apart (0: one value), that is from 0 to before size: what
 * lies outside is under a condition and never touched. */
static TdSpan clip(TdSpan x, int64_t step, int64_t size) {
  int64_t by = step ? step : size;
  if (step && x.lo < 0) x.lo += (by - 1 - x.lo) / by * by;
  if (step && x.hi >= size && x.lo < size) x.hi = x.lo + (size - 1 - x.lo) / by * by;
  if (x.lo < 0 || x.hi >= size) x.hi = x.lo - 1;
  return x;
}

/* Where dimension d of e, an element or a view, reaches, in which steps: in all of it, where
 * nothing tells. */
static TdSpan reach_in(Reach *r, const TdExpr *e, int d, int64_t *step) {
  const TdUnit *k = r->f->unit;
  const TdExpr *at = td_net_facts_index(r->n->store, k, e->kid[d]);
  int64_t size = 1, more = 0;
  td_type_extent(r->type, d, &size);
  TdSpan x = td_net_facts_span(r->f, r->at, at), all = {.hi = size - 1};
  bool known = !x.data && x.lo > -INT32_MAX && x.hi < INT32_MAX;
  *step = td_net_facts_stride(r->f, r->at, at);
  if (known && e->kind == TD_EXPR_VIEW && e->u.dim[d].out >= 0) {
    known = td_unit_value(k, e->type->dim[e->u.dim[d].out], &more) && more < INT32_MAX;
    more = (more - 1) * e->u.dim[d].step;
    if (more) *step = td_net_facts_gcd(*step, e->u.dim[d].step);
  }
  if (!known) {
    *step = 1;
    return all;
  }
  x.lo += more < 0 ? more : 0;
  x.hi += more > 0 ? more : 0;
  return x.lo <= x.hi ? clip(x, *step, size) : x;
}

/* Widens the box by what e addresses. */
static bool reach(void *ud, const TdExpr *e) {
  Reach *r = ud;
  TdNetBox *box = r->box;
  TdSpan x[TD_MAX_RANK];
  int64_t step[TD_MAX_RANK];
  if ((e->kind != TD_EXPR_LOAD && e->kind != TD_EXPR_VIEW) || e->sym != r->sym) return true;
  for (uint32_t d = 0; d < e->nkid; d++) {
    x[d] = reach_in(r, e, (int)d, &step[d]);
    if (x[d].hi < x[d].lo) return true;
  }
  for (uint32_t d = 0; d < e->nkid; d++) {
    if (box->hi[d] >= 0) step[d] = td_net_facts_gcd(step[d], x[d].lo - box->lo[d]);
    box->step[d] = td_net_facts_gcd(box->step[d], step[d]);
    if (x[d].lo < box->lo[d]) box->lo[d] = x[d].lo;
    if (x[d].hi > box->hi[d]) box->hi[d] = x[d].hi;
  }
  return true;
}

bool td_net_box_of(TdNet *n, TdNetFacts *f, TdSym array, const TdType *t, const int64_t *at,
                   TdNetBox *box) {
  Reach r = {n, f, array, t, at, box};
  for (int d = 0; d < t->rank; d++) box->lo[d] = INT64_MAX, box->hi[d] = -1;
  td_walk_exprs(n->store->session->ctx, f->unit->body, reach, &r);
  return t->rank == 0 || box->hi[0] >= 0;
}
