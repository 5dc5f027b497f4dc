/* stp_rule_map.c - shapes of the operators with a function, and of the shape operators. */
#include <string.h>

#include "step/stp_rule.h"

bool td_stp_rule_zip(TdStpRule *r) {
  const TdStpStream *x = td_stp_rule_input(r, 0), *y = td_stp_rule_input(r, 1);
  if (!td_stp_rule_check_outer(r, 0, 0, 1, 0)) return false;
  TdStpStream *out = td_stp_rule_outputs(r, 1);
  *out = *x;
  for (int k = 0; k < x->ndim; k++)
    if (x->dim[k].ragged && !y->dim[k].ragged) out->dim[k] = y->dim[k];
  TdStpType *t = td_stp_rule_new_type(r, TD_STP_TUPLE);
  const TdStpType **part = TD_NEWN(r->g->arena, const TdStpType *, 2 + x->type->nparts);
  if (x->type->kind == TD_STP_TUPLE) {
    memcpy(part, x->type->part, x->type->nparts * sizeof *part);
    t->nparts = x->type->nparts;
  } else {
    part[t->nparts++] = x->type;
  }
  part[t->nparts++] = y->type;
  if (t->nparts > TD_STP_PARTS)
    return td_diag_set(r->d, TD_LIMIT, "step-rank", r->n->loc, "a tuple has at most %d parts",
                       TD_STP_PARTS);
  t->part = part;
  out->type = t;
  return true;
}

bool td_stp_rule_map(TdStpRule *r) {
  const TdStpType *t = td_stp_fn_type(r->g, r->n, td_stp_rule_input(r, 0), r->d);
  if (!t) return false;
  TdStpStream *out = td_stp_rule_outputs(r, 1);
  *out = *td_stp_rule_input(r, 0);
  out->type = t;
  return true;
}

/* Whether tensors of type t are tiles of a type with constant extents. */
static bool is_tile_of(const TdType *t, const TdStpType *x) {
  int64_t rows = 0, cols = 0, a = -1, b = -1;
  if (x->kind != TD_STP_TILE || t->kind != TD_T_TENSOR || t->rank != 2 || t->elem != x->elem)
    return false;
  td_type_extent(t, 0, &a);
  td_type_extent(t, 1, &b);
  return td_stp_expr_is_const(x->rows, &rows) && td_stp_expr_is_const(x->cols, &cols) &&
         rows == a && cols == b;
}

/* Whether a fold may begin with the tile that is given: sums alone do, kernels see to theirs. */
static bool check_init(const TdStpRule *r, const TdStpType *state) {
  const TdType *t = r->n->extra.type;
  bool sums = r->n->fn.kind == TD_STP_FN_ADD || r->n->op == TD_STP_MAP_ACCUM;
  if (!t || r->n->fn.kind == TD_STP_FN_KERNEL || (sums && is_tile_of(t, state))) return true;
  if (!sums)
    return td_diag_set(r->d, TD_ILLEGAL, "step-shape", r->n->loc,
                       "%s begins with no tile: init = fn.empty, or none", r->n->fn.name);
  TdStpStream s = {.type = state};
  return td_diag_set(r->d, TD_ILLEGAL, "step-shape", r->n->loc, "init is %s, and the sum %s",
                     td_type_str(r->d->arena, t), td_stp_rule_shown(r, &s));
}

bool td_stp_rule_accum(TdStpRule *r) {
  const TdStpStream *in = td_stp_rule_input(r, 0);
  int64_t b = td_stp_opt(r->n, TD_STP_KEY_RANK, 1);
  if (!td_stp_rule_check_rank(r, b, 1, in->ndim - (r->n->op == TD_STP_SCAN ? 0 : 1))) return false;
  const TdStpType *t = td_stp_fn_type(r->g, r->n, in, r->d);
  if (!t || !check_init(r, t)) return false;
  TdStpStream *out = td_stp_rule_outputs(r, 1);
  td_stp_rule_append(out, in, r->n->op == TD_STP_SCAN ? 0 : (int)b, in->ndim);
  out->type = t;
  return true;
}

/* The number of elements that flat_map makes of each, where it is the same for all; else 0. */
bool td_stp_rule_flat_map(TdStpRule *r) {
  const TdStpStream *in = td_stp_rule_input(r, 0);
  int64_t b = td_stp_opt(r->n, TD_STP_KEY_RANK, 0);
  if (!td_stp_rule_check_rank(r, b, 0, 1) || !td_stp_rule_check_room(r, in->ndim + (int)b))
    return false;
  const TdStpType *t = td_stp_fn_type(r->g, r->n, in, r->d);
  if (!t) return false;
  bool fixed = r->n->fn.kind == TD_STP_FN_ADDRESSES;
  TdStpStream *out = td_stp_rule_outputs(r, 1);
  out->type = t;
  if (b) {
    out->ndim = 1;
    out->dim[0] = fixed ? td_stp_rule_regular(td_stp_rule_number(r, r->n->fn.n))
                        : (TdStpDim){td_stp_rule_fresh_count(r, 0, 0, true), true};
    td_stp_rule_append(out, in, 0, in->ndim);
    return true;
  }
  td_stp_rule_append(out, in, 0, in->ndim);
  if (fixed) {
    out->dim[0].extent = td_stp_expr_scale(r->g->exprs, in->dim[0].extent, r->n->fn.n);
  } else {
    out->dim[0].ragged = in->ndim > 1;
    out->dim[0].extent = td_stp_rule_fresh_count(r, 0, 0, in->ndim > 1);
  }
  return true;
}

/* ---- shape ---- */

bool td_stp_rule_flatten(TdStpRule *r) {
  const TdStpStream *in = td_stp_rule_input(r, 0);
  int64_t lo = r->n->lo, hi = r->n->hi;
  if (lo < 0 || hi < lo || hi >= in->ndim) {
    td_diag_set(r->d, TD_ILLEGAL, "step-rank", r->n->loc, "flatten(%lld, %lld) does not fit %s",
                (long long)lo, (long long)hi, td_stp_rule_shown(r, in));
    td_diag_help(r->d, "dimensions count from the innermost: here 0 to %d", in->ndim - 1);
    return false;
  }
  TdStpStream *out = td_stp_rule_outputs(r, 1);
  out->type = in->type;
  td_stp_rule_append(out, in, 0, (int)lo);
  int ragged = (int)lo;
  while (ragged <= hi && !in->dim[ragged].ragged) ragged++;
  const TdStpExpr *n = td_stp_rule_number(r, 1);
  for (int k = (int)lo; k <= hi && k <= ragged; k++)
    n = td_stp_expr_mul(r->g->exprs, n, in->dim[k].extent);
  out->dim[out->ndim++] = (TdStpDim){n, ragged <= hi && hi + 1 < in->ndim};
  td_stp_rule_append(out, in, (int)hi + 1, in->ndim);
  return true;
}

/* Whether a fill of a reshape is a tile of its stream. */
static bool check_pad(const TdStpRule *r) {
  const TdType *t = r->n->extra.type;
  const TdStpType *x = td_stp_rule_input(r, 0)->type;
  if (!t || x->kind != TD_STP_TILE || is_tile_of(t, x)) return true;
  td_diag_set(r->d, TD_ILLEGAL, "step-shape", r->n->loc, "pad is %s, and the stream %s",
              td_type_str(r->d->arena, t), td_stp_rule_shown(r, td_stp_rule_input(r, 0)));
  return false;
}

bool td_stp_rule_reshape(TdStpRule *r) {
  const TdStpStream *in = td_stp_rule_input(r, 0);
  int64_t b = td_stp_opt(r->n, TD_STP_KEY_RANK, 0), s = td_stp_opt(r->n, TD_STP_KEY_CHUNK, 0);
  bool outer = td_stp_opt(r->n, TD_STP_KEY_OUTER, 0) != 0;
  if (s < 1)
    return td_diag_set(r->d, TD_USAGE, "step-argument", r->n->loc,
                       "reshape needs chunk = n, at least 1");
  if (!td_stp_rule_check_rank(r, b, 0, in->ndim - 1) ||
      !td_stp_rule_check_room(r, in->ndim + 1 + outer))
    return false;
  if (outer && (in->ndim != 1 || b))
    return td_diag_set(r->d, TD_ILLEGAL, "step-rank", r->n->loc,
                       "outer = true is for streams of one dimension, not %s",
                       td_stp_rule_shown(r, in));
  TdStpDim old = in->dim[b];
  if (b && (old.ragged || !td_stp_expr_divides(old.extent, s))) {
    td_diag_set(r->d, TD_ILLEGAL, "step-shape", r->n->loc,
                "chunks of %lld do not cut dimension %lld of %s evenly", (long long)s, (long long)b,
                td_stp_rule_shown(r, in));
    td_diag_help(r->d, "only dimension 0 is padded");
    return false;
  }
  if (!check_pad(r)) return false;
  TdStpStream *out = td_stp_rule_outputs(r, 2);
  out[0].type = in->type;
  td_stp_rule_append(&out[0], in, 0, (int)b);
  out[0].dim[out[0].ndim++] = td_stp_rule_regular(td_stp_rule_number(r, s));
  int at = out[0].ndim++;
  out[0].dim[at] = old.ragged ? (TdStpDim){td_stp_rule_fresh_count(r, 0, at, true), true}
                              : td_stp_rule_regular(td_stp_expr_ceil(r->g->exprs, old.extent, s));
  td_stp_rule_append(&out[0], in, (int)b + 1, in->ndim);
  if (outer)
    out[0].dim[out[0].ndim++] = td_stp_rule_regular(td_stp_expr_positive(r->g->exprs, old.extent));
  out[1] = out[0];
  out[1].type = td_stp_rule_tile(r, td_type_bool(r->g->session), 1, 1);
  return true;
}

bool td_stp_rule_promote(TdStpRule *r) {
  const TdStpStream *in = td_stp_rule_input(r, 0);
  int64_t at = td_stp_opt(r->n, TD_STP_KEY_AT, in->ndim);
  r->n->opt[TD_STP_KEY_AT] = at;
  if (!td_stp_rule_check_rank(r, at, 0, in->ndim) || !td_stp_rule_check_room(r, in->ndim + 1))
    return false;
  TdStpStream *out = td_stp_rule_outputs(r, 1);
  out->type = in->type;
  td_stp_rule_append(out, in, 0, (int)at);
  out->dim[out->ndim++] = td_stp_rule_regular(
      at < in->ndim ? td_stp_rule_number(r, 1)
                    : td_stp_expr_positive(r->g->exprs, in->dim[at - 1].extent));
  td_stp_rule_append(out, in, (int)at, in->ndim);
  return true;
}

bool td_stp_rule_expand(TdStpRule *r) {
  const TdStpStream *in = td_stp_rule_input(r, 0), *ref = td_stp_rule_input(r, 1);
  int64_t b = td_stp_opt(r->n, TD_STP_KEY_RANK, 1), v;
  if (!td_stp_rule_check_rank(r, b, 1, in->ndim)) return false;
  for (int k = 0; k < b; k++)
    if (in->dim[k].ragged || (td_stp_expr_is_const(in->dim[k].extent, &v) && v != 1)) {
      td_diag_set(r->d, TD_ILLEGAL, "step-shape", r->n->loc,
                  "expand of rank %lld repeats streams whose %lld inner dimension%s 1, not %s",
                  (long long)b, (long long)b, b == 1 ? " is" : "s are", td_stp_rule_shown(r, in));
      td_diag_help(r->d, "promote {at = 0} gives an inner dimension of 1");
      return false;
    }
  if (!td_stp_rule_check_outer(r, 0, (int)b, 1, (int)b)) return false;
  TdStpStream *out = td_stp_rule_outputs(r, 1);
  *out = *ref;
  out->type = in->type;
  return true;
}

bool td_stp_rule_rep(TdStpRule *r) {
  const TdStpStream *in = td_stp_rule_input(r, 0);
  if (r->n->opt[TD_STP_KEY_N] < 1)
    return td_diag_set(r->d, TD_USAGE, "step-argument", r->n->loc,
                       "rep(n) takes a number of at least 1");
  if (!td_stp_rule_check_room(r, in->ndim + 1)) return false;
  TdStpStream *out = td_stp_rule_outputs(r, 1);
  out->type = in->type;
  out->dim[out->ndim++] = td_stp_rule_regular(td_stp_rule_number(r, r->n->opt[TD_STP_KEY_N]));
  td_stp_rule_append(out, in, 0, in->ndim);
  return true;
}

bool td_stp_rule_assume_shape(TdStpRule *r) {
  const TdStpStream *in = td_stp_rule_input(r, 0);
  bool fits = in->ndim == r->n->assumed.ndim;
  for (int k = 0; fits && k < in->ndim; k++)
    fits = !td_stp_rule_clash(in->dim[k], r->n->assumed.dim[k]);
  TdStpStream *out = td_stp_rule_outputs(r, 1);
  *out = r->n->assumed;
  out->type = in->type;
  if (fits) return true;
  return td_diag_set(r->d, TD_ILLEGAL, "step-shape", r->n->loc, "%s is never %s",
                     td_stp_rule_shown(r, in), td_stp_rule_shown(r, out));
}
