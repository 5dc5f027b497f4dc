/* stp_rule_route.c - shapes of routing and merging. */
#include <stdlib.h>

#include "step/stp_rule.h"

static bool check_selector(const TdStpRule *r, size_t i, int64_t *ways) {
  if (!td_stp_rule_check_kind(r, i, TD_STP_SELECTOR, "selectors")) return false;
  int64_t has = td_stp_rule_input(r, i)->type->ways;
  if (*ways && *ways != has)
    return td_diag_set(r->d, TD_ILLEGAL, "step-selector", r->n->loc,
                       "%s has %lld ways, and its selectors choose among %lld", td_stp_rule_name(r),
                       (long long)*ways, (long long)has);
  *ways = has;
  return true;
}

/* The number of chunks that way i gets: the same symbol for all partitions by one control. */
static const TdStpExpr *routed(const TdStpRule *r, TdStpRef control, int64_t ways, int64_t i,
                               int dim) {
  uint64_t key = (uint64_t)control.uid << 16 | control.out, first = 0;
  if (!td_map_get(&r->g->control, key, &first)) {
    if (i) return NULL;
    uint32_t next = r->g->nroute;
    for (int64_t k = 0; k < ways; k++) {
      td_stp_rule_fresh(r, "D", &next, (size_t)k, dim, false);
      if (!k) first = strtoul(r->g->symbol.at[r->g->symbol.n - 1].name + 1, NULL, 10);
    }
    r->g->nroute = next;
    td_map_put(r->g->arena, &r->g->control, key, first);
  }
  const char *name = td_text_fmt(r->d->arena, "D%lld", (long long)((int64_t)first + i));
  return td_stp_expr_symbol(r->g->exprs, name);
}

bool td_stp_rule_partition(TdStpRule *r) {
  const TdStpStream *x = td_stp_rule_input(r, 0), *sel = td_stp_rule_input(r, 1);
  int64_t b = td_stp_opt(r->n, TD_STP_KEY_RANK, 0), ways = td_stp_opt(r->n, TD_STP_KEY_N, 0);
  if (!check_selector(r, 1, &ways) || !td_stp_rule_check_rank(r, b, 0, x->ndim - 1)) return false;
  r->n->opt[TD_STP_KEY_N] = ways;
  r->n->has |= 1u << TD_STP_KEY_N;
  if (!td_stp_rule_check_outer(r, 0, (int)b, 1, 0)) return false;
  TdStpRef control = td_stp_graph_source(r->g, r->n->in[1]);
  TdStpStream *out = td_stp_rule_outputs(r, (size_t)ways);
  for (int64_t i = 0; i < ways; i++) {
    out[i].type = x->type;
    td_stp_rule_append(&out[i], x, 0, (int)b);
    for (int k = 0; k < b; k++)
      if (out[i].dim[k].ragged)
        out[i].dim[k].extent = td_stp_rule_fresh_count(r, (size_t)i, k, true);
    out[i].dim[out[i].ndim++] = td_stp_rule_regular(routed(r, control, ways, i, (int)b));
  }
  (void)sel;
  return true;
}

/* The inner dimensions that inputs from .. share; a ragged one gets a sum of its own. */
static bool join_inner(TdStpRule *r, size_t from, size_t to, int inner, TdStpStream *out) {
  const TdStpStream *first = td_stp_rule_input(r, from);
  out->type = first->type;
  td_stp_rule_append(out, first, 0, inner);
  for (size_t i = from; i < to; i++) {
    const TdStpStream *x = td_stp_rule_input(r, i);
    bool fits = x->ndim == inner + 1 && td_stp_shape_agrees(x->type, first->type);
    for (int k = 0; fits && k < inner; k++) {
      fits = !td_stp_rule_clash(x->dim[k], first->dim[k]);
      out->dim[k].ragged |= x->dim[k].ragged || x->dim[k].extent != first->dim[k].extent;
    }
    if (fits) continue;
    td_diag_set(r->d, TD_ILLEGAL, "step-shape", r->n->loc, "the shapes %s and %s do not fit %s",
                td_stp_rule_shown(r, first), td_stp_rule_shown(r, x), td_stp_rule_name(r));
    td_diag_help(r->d, "inputs have %d dimension%s here: chunks of rank %d", inner + 1,
                 inner ? "s" : "", inner);
    return false;
  }
  for (int k = 0; k < inner; k++)
    if (out->dim[k].ragged) out->dim[k].extent = td_stp_rule_fresh_count(r, 0, k, true);
  return true;
}

/* The sum of the outermost extents of inputs from .. to - 1. */
static const TdStpExpr *sum_outer(const TdStpRule *r, size_t from, size_t to) {
  const TdStpExpr **part = TD_NEWN(r->d->arena, const TdStpExpr *, to - from + 1);
  for (size_t i = from; i < to; i++)
    part[i - from] = td_stp_rule_input(r, i)->dim[td_stp_rule_input(r, i)->ndim - 1].extent;
  return td_stp_expr_sum(r->g->exprs, part, to - from);
}

bool td_stp_rule_reassemble(TdStpRule *r) {
  size_t last = r->n->nin - 1;
  int64_t b = td_stp_opt(r->n, TD_STP_KEY_RANK, 0), ways = (int64_t)last;
  const TdStpStream *sel = td_stp_rule_input(r, last);
  if (!td_stp_rule_check_rank(r, b, 0, TD_STP_RANK) || !check_selector(r, last, &ways))
    return false;
  if (!td_stp_rule_check_room(r, (int)b + 1 + sel->ndim)) return false;
  TdStpStream *out = td_stp_rule_outputs(r, 1);
  if (!join_inner(r, 0, last, (int)b, out)) return false;
  out->dim[out->ndim++] = (TdStpDim){.extent = sum_outer(r, 0, last), .ragged = true};
  td_stp_rule_append(out, sel, 0, sel->ndim);
  return true;
}

bool td_stp_rule_eager_merge(TdStpRule *r) {
  int64_t a = td_stp_opt(r->n, TD_STP_KEY_RANK, 0);
  if (!td_stp_rule_check_rank(r, a, 0, TD_STP_RANK - 1)) return false;
  TdStpStream *out = td_stp_rule_outputs(r, 2);
  if (!join_inner(r, 0, r->n->nin, (int)a, &out[0])) return false;
  out[0].dim[out[0].ndim++] = td_stp_rule_regular(sum_outer(r, 0, r->n->nin));
  out[1].ndim = 1;
  out[1].dim[0] = out[0].dim[a];
  out[1].type = td_stp_rule_selector(r, (int64_t)r->n->nin);
  return true;
}

bool td_stp_rule_parallelize(TdStpRule *r) {
  const TdStpStream *x = td_stp_rule_input(r, 0);
  int64_t n = r->n->opt[TD_STP_KEY_N], b = td_stp_opt(r->n, TD_STP_KEY_RANK, x->ndim - 1), v;
  r->n->opt[TD_STP_KEY_RANK] = b;
  r->n->has |= 1u << TD_STP_KEY_RANK;
  if (!td_stp_rule_check_rank(r, b, x->ndim - 1, x->ndim - 1)) return false;
  if (n < 1)
    return td_diag_set(r->d, TD_USAGE, "step-argument", r->n->loc, "parallelize needs n >= 1");
  const TdStpExpr *all = x->dim[b].extent;
  TdStpStream *out = td_stp_rule_outputs(r, (size_t)n);
  for (int64_t i = 0; i < n; i++) {
    out[i] = *x;
    int64_t mine = td_stp_expr_is_const(all, &v) ? v / n + (i < v % n) : 0;
    out[i].dim[b].extent = td_stp_expr_is_const(all, &v) ? td_stp_rule_number(r, mine)
                           : td_stp_expr_divides(all, n)
                               ? td_stp_expr_floor(r->g->exprs, all, n)
                               : td_stp_rule_fresh_count(r, (size_t)i, (int)b, false);
    for (int k = 0; k < b; k++)
      if (out[i].dim[k].ragged)
        out[i].dim[k].extent = td_stp_rule_fresh_count(r, (size_t)i, k, true);
  }
  return true;
}
