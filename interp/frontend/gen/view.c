/* view.c - parts of tensors: indices, slices, transposition. */
#include "frontend/gen/irgen.h"

/* The first dimension of the base that a view has not fixed; -1 when there is none. */
static int first_free(const TdExpr *v) {
  for (uint32_t d = 0; d < v->nkid; d++)
    if (v->u.dim[d].out == 0) return (int)d;
  return -1;
}

/* lo + step * i. */
static const TdExpr *element(TdIrgen *l, const TdExpr *lo, int64_t step, const TdExpr *i) {
  int64_t at;
  if (step != 1) i = td_lin_times(l->session, l->arena, i, step);
  if (td_expr_is_const(lo, &at) && at == 0) return i;
  return td_lin_plus(l->session, l->arena, lo, i);
}

/* View v with its outermost dimension fixed at i. */
static const TdExpr *fix_first(TdIrgen *l, const TdExpr *v, const TdExpr *i, TdLoc loc) {
  const TdExpr *lo[TD_MAX_RANK];
  TdViewDim dim[TD_MAX_RANK];
  int d = first_free(v);
  for (uint32_t k = 0; k < v->nkid; k++) {
    lo[k] = v->kid[k];
    dim[k] = v->u.dim[k];
    if (dim[k].out > 0) dim[k].out--;
  }
  lo[d] = element(l, lo[d], v->u.dim[d].step, i);
  dim[d] = (TdViewDim){.step = 0, .out = -1};
  bool port = v->type->kind == TD_T_PORT;
  int rank = v->type->rank - 1;
  const TdType *t =
      port   ? td_type_port(l->session, v->type->elem, rank, v->type->dim + 1, v->type->block)
      : rank ? td_type_tensor(l->session, v->type->elem, rank, v->type->dim + 1)
             : v->type->elem;
  if (!port && !rank) return td_expr_load(l->arena, v->sym, t, lo, (int)v->nkid, loc);
  return td_expr_view(l->arena, v->sym, t, lo, dim, (int)v->nkid, loc);
}

TdVal td_irgen_named(TdIrgen *l, TdVal v) {
  if (v.e->kind == TD_EXPR_VIEW) return v;
  return td_irgen_settle(l, (TdVal){.kind = TD_V_FRESH, .type = v.e->type, .e = v.e, .loc = v.loc},
                         "t");
}

/* Says that a value has no elements: an element of a tensor has all its indices. */
static void refuse_index(TdIrgen *l, TdVal of, TdLoc loc) {
  const TdExpr *e = of.kind == TD_V_SCALAR ? of.e : NULL;
  if (e && e->kind == TD_EXPR_LOAD && e->nkid) {
    td_irgen_fail(l, "not-indexable", loc, "'%s' has %d dimension%s, and this is one index more",
                  e->sym->name, (int)e->nkid, e->nkid == 1 ? "" : "s");
    return;
  }
  td_irgen_fail(l, "not-indexable", loc, "only tensors, streams and constant tables are indexed");
  if (e)
    td_diag_help(l->diag, "this is a number, of type %s", td_type_str(l->arena, e->type));
  else if (of.kind == TD_V_CONST)
    td_diag_help(l->diag, "this is %s", td_value_words(&of.c));
}

TdVal td_irgen_index(TdIrgen *l, TdVal of, TdVal key, TdLoc loc) {
  bool stream = of.kind == TD_V_STREAM;
  if (of.kind != TD_V_TENSOR && !stream) {
    refuse_index(l, of, loc);
    return td_irgen_failed();
  }
  of = td_irgen_named(l, of);
  if (!td_irgen_ok(&of)) return of;
  if (of.e->type->rank == 0) {
    td_irgen_fail(l, "rank", loc, "'%s' has no more dimensions to index", of.e->sym->name);
    return td_irgen_failed();
  }
  const TdExpr *i = td_irgen_to_index(l, key);
  if (!i) return td_irgen_failed();
  TdLoc at = of.e->loc;
  if (loc.line == at.line && loc.col > at.col) at.len = (uint16_t)(loc.col + loc.len - at.col + 1);
  const TdExpr *e = fix_first(l, of.e, i, at);
  if (e->kind == TD_EXPR_LOAD) return td_irgen_scalar(e);
  return (TdVal){.kind = of.kind, .e = e, .loc = of.loc};
}

/* {lo, hi}, {lo, hi, step} or {}: fills lo, step and extent of base dimension of extent n; what is
 * wrong with the length is told of the slice at `at`. */
static bool range(TdIrgen *l, const TdAstExpr *t, const TdExpr *n, TdLoc at, const TdExpr **lo,
                  int64_t *step, const TdExpr **extent) {
  *step = 1;
  if (t->table.n == 0) {
    *lo = td_expr_index(l->session, l->arena, 0, t->loc);
    *extent = n;
    return true;
  }
  if (!td_irgen_is_list(t, 2, 3))
    return td_irgen_fail(l, "slice", t->loc, "a range is {lo, hi}, {lo, hi, step} or {}");
  const TdExpr *hi;
  *lo = td_irgen_to_index(l, td_irgen_expr(l, t->table.at[0].value));
  hi = *lo ? td_irgen_to_index(l, td_irgen_expr(l, t->table.at[1].value)) : NULL;
  if (!hi) return false;
  if (t->table.n == 3 &&
      !td_irgen_constant(l, t->table.at[2].value, "slice",
                         "the step of a range is a constant of at least 1", 1, step))
    return false;
  *extent = td_irgen_length(l, *lo, hi, *step, at);
  if (!*extent) return false;
  int64_t length;
  if (td_sizes_value(l->sizes, *extent, &length) && length < 0)
    return td_irgen_fail(l, "slice", t->loc, "this range ends before it begins");
  td_sizes_use(l->sizes, *extent);
  return true;
}

/* A slice under construction: what becomes of the dimensions of the base. */
typedef struct Slice {
  const TdExpr *lo[TD_MAX_RANK], *extent[TD_MAX_RANK];
  TdViewDim dim[TD_MAX_RANK];
  int rank;
} Slice;

/* Applies argument a (NULL: all) to dimension d of view v. */
static bool slice_dim(TdIrgen *l, const TdExpr *v, int d, const TdAstExpr *a, TdLoc loc, Slice *s) {
  uint32_t base = 0;
  while (v->u.dim[base].out != d) base++;
  const TdExpr *from = td_expr_index(l->session, l->arena, 0, loc), *extent = v->type->dim[d];
  int64_t step = 1, by = v->u.dim[base].step;
  bool fixed = a && a->kind != TD_AST_TABLE;
  if (fixed && !(from = td_irgen_to_index(l, td_irgen_expr(l, a)))) return false;
  if (a && !fixed && !range(l, a, extent, loc, &from, &step, &extent)) return false;
  s->lo[base] = element(l, v->kid[base], by, from);
  s->dim[base] =
      fixed ? (TdViewDim){.step = 0, .out = -1} : (TdViewDim){.step = step * by, .out = s->rank};
  if (fixed) return true;
  s->extent[s->rank++] = extent;
  return true;
}

TdVal td_irgen_slice(TdIrgen *l, TdVal of, const TdAstExpr *call) {
  TdAstExprs args = call->call.args;
  TdLoc loc = call->loc;
  of = td_irgen_named(l, of);
  if (!td_irgen_ok(&of)) return of;
  const TdExpr *v = of.e;
  if (args.n > v->type->rank) {
    td_irgen_fail(l, "rank", loc, "slice: %zu ranges for %d dimensions", args.n, v->type->rank);
    return td_irgen_failed();
  }
  Slice s = {.rank = 0};
  for (uint32_t k = 0; k < v->nkid; k++) s.lo[k] = v->kid[k], s.dim[k] = v->u.dim[k];
  for (int d = 0; d < v->type->rank; d++)
    if (!slice_dim(l, v, d, (size_t)d < args.n ? args.at[d] : NULL, loc, &s))
      return td_irgen_failed();
  if (!s.rank)
    return td_irgen_scalar(td_expr_load(l->arena, v->sym, v->type->elem, s.lo, (int)v->nkid, loc));
  const TdType *t = td_type_tensor(l->session, v->type->elem, s.rank, s.extent);
  return td_irgen_tensor(td_expr_view(l->arena, v->sym, t, s.lo, s.dim, (int)v->nkid, loc), loc);
}

TdVal td_irgen_transpose(TdIrgen *l, TdVal of, TdLoc loc) {
  const TdExpr *v = of.e, *extent[TD_MAX_RANK];
  TdViewDim dim[TD_MAX_RANK];
  if (v->kind != TD_EXPR_VIEW) {
    td_irgen_fail(l, "transpose", loc, "only a tensor with a name can be transposed");
    return td_irgen_failed();
  }
  int rank = v->type->rank;
  for (int d = 0; d < rank; d++) extent[d] = v->type->dim[rank - 1 - d];
  for (uint32_t k = 0; k < v->nkid; k++) {
    dim[k] = v->u.dim[k];
    if (dim[k].out >= 0) dim[k].out = rank - 1 - dim[k].out;
  }
  const TdType *t = td_type_tensor(l->session, v->type->elem, rank, extent);
  return td_irgen_tensor(td_expr_view(l->arena, v->sym, t, v->kid, dim, (int)v->nkid, loc), loc);
}
