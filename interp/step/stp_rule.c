/* stp_rule.c - what the shape rules share. */
#include "step/stp_rule.h"

const TdStpStream *td_stp_rule_input(const TdStpRule *r, size_t i) {
  return td_stp_graph_stream(r->g, r->n->in[i]);
}

const char *td_stp_rule_shown(const TdStpRule *r, const TdStpStream *s) {
  return td_stp_shape_str(r->d->arena, s);
}

const char *td_stp_rule_name(const TdStpRule *r) {
  return td_stp_ops[r->n->op].name;
}

TdStpDim td_stp_rule_regular(const TdStpExpr *e) {
  return (TdStpDim){.extent = e};
}

const TdStpExpr *td_stp_rule_number(const TdStpRule *r, int64_t v) {
  return td_stp_expr_const(r->g->exprs, v);
}

const TdStpExpr *td_stp_rule_fresh(const TdStpRule *r, const char *letter, uint32_t *count,
                                   size_t out, int dim, bool ragged) {
  TdStpSymbol s = {.of = {0, (uint16_t)out}, .dim = dim, .ragged = ragged};
  const char *name = td_stp_graph_symbol(r->g, r->n, letter, count, s);
  return td_stp_expr_symbol(r->g->exprs, name);
}

const TdStpExpr *td_stp_rule_fresh_count(const TdStpRule *r, size_t out, int dim, bool ragged) {
  return td_stp_rule_fresh(r, "R", &r->g->nfresh, out, dim, ragged);
}

TdStpStream *td_stp_rule_outputs(TdStpRule *r, size_t n) {
  r->n->out = TD_NEWN(r->g->arena, TdStpStream, n);
  r->n->nout = n;
  return r->n->out;
}

TdStpType *td_stp_rule_new_type(const TdStpRule *r, TdStpKind kind) {
  TdStpType *t = TD_NEW(r->g->arena, TdStpType);
  t->kind = kind;
  return t;
}

const TdStpType *td_stp_rule_tile(const TdStpRule *r, const TdType *elem, int64_t rows,
                                  int64_t cols) {
  TdStpType *t = td_stp_rule_new_type(r, TD_STP_TILE);
  t->elem = elem;
  t->rows = td_stp_rule_number(r, rows);
  t->cols = td_stp_rule_number(r, cols);
  return t;
}

const TdStpType *td_stp_rule_selector(const TdStpRule *r, int64_t ways) {
  TdStpType *t = td_stp_rule_new_type(r, TD_STP_SELECTOR);
  t->ways = ways;
  return t;
}

bool td_stp_rule_clash(TdStpDim a, TdStpDim b) {
  int64_t x, y;
  return !a.ragged && !b.ragged && td_stp_expr_is_const(a.extent, &x) &&
         td_stp_expr_is_const(b.extent, &y) && x != y;
}

bool td_stp_rule_check_rank(const TdStpRule *r, int64_t rank, int64_t lo, int64_t hi) {
  if (rank >= lo && rank <= hi) return true;
  td_diag_set(r->d, TD_ILLEGAL, "step-rank", r->n->loc, "%s of rank %lld does not fit %s",
              td_stp_rule_name(r), (long long)rank, td_stp_rule_shown(r, td_stp_rule_input(r, 0)));
  if (hi < lo)
    td_diag_help(r->d, "the stream has too few dimensions: promote inserts one");
  else
    td_diag_help(r->d, "rank counts inner dimensions: here %lld to %lld", (long long)lo,
                 (long long)hi);
  return false;
}

bool td_stp_rule_check_kind(const TdStpRule *r, size_t i, TdStpKind kind, const char *what) {
  const TdStpStream *s = td_stp_rule_input(r, i);
  if (s->type->kind == kind) return true;
  return td_diag_set(r->d, TD_ILLEGAL, "step-type", r->n->loc, "%s takes %s, not %s",
                     td_stp_rule_name(r), what, td_stp_rule_shown(r, s));
}

bool td_stp_rule_check_outer(const TdStpRule *r, size_t ia, int from_a, size_t ib, int from_b) {
  const TdStpStream *a = td_stp_rule_input(r, ia), *b = td_stp_rule_input(r, ib);
  bool fits = a->ndim - from_a == b->ndim - from_b;
  for (int k = 0; fits && k < a->ndim - from_a; k++)
    fits = !td_stp_rule_clash(a->dim[from_a + k], b->dim[from_b + k]);
  if (fits) return true;
  td_diag_set(r->d, TD_ILLEGAL, "step-shape", r->n->loc, "the shapes %s and %s do not fit %s",
              td_stp_rule_shown(r, a), td_stp_rule_shown(r, b), td_stp_rule_name(r));
  return false;
}

void td_stp_rule_append(TdStpStream *out, const TdStpStream *s, int from, int to) {
  for (int k = from; k < to; k++) out->dim[out->ndim++] = s->dim[k];
}

bool td_stp_rule_check_room(const TdStpRule *r, int ndim) {
  if (ndim <= TD_STP_RANK) return true;
  return td_diag_set(r->d, TD_LIMIT, "step-rank", r->n->loc, "a stream has at most %d dimensions",
                     TD_STP_RANK);
}
