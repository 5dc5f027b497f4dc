/* stp_rule_source.c - shapes of sources, sinks and on-chip memory. */
#include <string.h>

#include "step/stp_rule.h"

/* The tiles of a tensor: rows of tiles, and tiles in each; -1 where a size has no value, and as
 * expressions. */
typedef struct Grid {
  int64_t down, across;
  const TdStpExpr *rows, *cols;
} Grid;

/* An extent over sizes; NULL: no sum or product of them. */
static const TdStpExpr *extent_of(const TdStpRule *r, const TdExpr *e) {
  int64_t v;
  if (td_expr_is_const(e, &v)) return td_stp_rule_number(r, v);
  if (e->kind == TD_EXPR_SIZE) return td_stp_expr_symbol(r->g->exprs, e->u.name);
  bool sum = e->kind == TD_EXPR_OP && e->op == TD_OP_ADD;
  if (!sum && (e->kind != TD_EXPR_OP || e->op != TD_OP_MUL)) return NULL;
  const TdStpExpr *x = extent_of(r, e->kid[0]), *y = extent_of(r, e->kid[1]);
  if (!x || !y) return NULL;
  return sum ? td_stp_expr_add(r->g->exprs, x, y) : td_stp_expr_mul(r->g->exprs, x, y);
}

/* Whether tiles of `part` may cut the extent, as far as it is known; how many there are. */
static bool cuts(const TdStpRule *r, const TdStpExpr *extent, int64_t part, int64_t *n,
                 const TdStpExpr **parts) {
  int64_t v;
  *n = -1;
  if (part < 1) return false;
  *parts = td_stp_expr_ceil(r->g->exprs, extent, part);
  if (!td_stp_expr_is_const(extent, &v)) return true;
  *n = v / part;
  return v % part == 0;
}

/* Takes the whole tensor as a tile where none is given; the tiles of the tensor. */
static bool grid_of(const TdStpRule *r, Grid *g) {
  const TdType *t = r->n->tensor.type;
  const TdStpExpr *rows = td_stp_rule_number(r, 1), *cols = rows;
  int64_t whole[2] = {1, 1};
  for (int d = 0; d < t->rank; d++) {
    const TdStpExpr *e = extent_of(r, t->dim[d]);
    if (!e)
      return td_diag_set(r->d, TD_USAGE, "step-tile", r->n->loc,
                         "the extents of %s are no sums or products of sizes",
                         td_type_str(r->d->arena, t));
    if (d + 1 < t->rank)
      rows = td_stp_expr_mul(r->g->exprs, rows, e);
    else
      cols = e;
  }
  bool known = td_stp_expr_is_const(rows, &whole[0]) && td_stp_expr_is_const(cols, &whole[1]);
  if (!r->n->rows && !known)
    return td_diag_set(r->d, TD_USAGE, "step-tile", r->n->loc,
                       "tile = {rows, cols} is needed where the extents of %s have no values",
                       td_type_str(r->d->arena, t));
  if (!r->n->rows) r->n->rows = whole[0], r->n->cols = whole[1];
  bool down = cuts(r, rows, r->n->rows, &g->down, &g->rows);
  if (down && cuts(r, cols, r->n->cols, &g->across, &g->cols)) return true;
  td_diag_set(r->d, TD_ILLEGAL, "step-tile", r->n->loc,
              "tiles of [%lld, %lld] do not cut %s evenly", (long long)r->n->rows,
              (long long)r->n->cols, td_type_str(r->d->arena, t));
  td_diag_help(r->d, "tile = {rows, cols}, which divide %s and %s",
               td_stp_expr_str(r->d->arena, rows), td_stp_expr_str(r->d->arena, cols));
  return false;
}

/* Takes the shape of the tensor where none is given; strides in tiles. */
static void settle_shape(TdStpNode *n, const Grid *g) {
  if (!n->has_shape) {
    n->nshape = 2;
    n->shape[0] = g->down, n->shape[1] = g->across;
    n->stride[0] = g->across, n->stride[1] = 1;
    n->has_shape = true;
  }
}

/* Refuses reads beyond the tensor, where its sizes have values. */
static bool check_reach(const TdStpRule *r, const Grid *g) {
  const TdStpNode *n = r->n;
  int64_t last = 0, all = 1;
  if (g->down < 0 || g->across < 0) return true;
  for (int k = 0; k < n->nshape; k++) {
    all *= n->shape[k];
    if (n->shape[k]) last += (n->shape[k] - 1) * n->stride[k];
  }
  if (!all || last < g->down * g->across) return true;
  td_diag_set(r->d, TD_ILLEGAL, "step-address", n->loc,
              "the last tile read is number %lld, and the tensor has %lld", (long long)last,
              (long long)(g->down * g->across));
  td_diag_help(r->d, "shape and stride count tiles: the tensor is %lld by %lld tiles",
               (long long)g->down, (long long)g->across);
  return false;
}

bool td_stp_rule_load(TdStpRule *r) {
  TdStpNode *n = r->n;
  Grid g;
  if (!grid_of(r, &g)) return false;
  settle_shape(n, &g);
  TdStpStream *out = td_stp_rule_outputs(r, 1);
  out->type = td_stp_rule_tile(r, n->tensor.type->elem, n->rows, n->cols);
  int ref = n->has_ref ? td_stp_rule_input(r, 0)->ndim : 0;
  if (!td_stp_rule_check_room(r, ref + n->nshape)) return false;
  for (int k = n->nshape; k-- > 0;) {
    const TdStpExpr *whole = k ? g.cols : g.rows;
    out->dim[out->ndim++] =
        td_stp_rule_regular(n->shape[k] < 0 ? whole : td_stp_rule_number(r, n->shape[k]));
  }
  if (!check_reach(r, &g)) return false;
  if (n->has_ref) td_stp_rule_append(out, td_stp_rule_input(r, 0), 0, ref);
  return true;
}

static bool is_number(const TdStpType *t) {
  int64_t rows, cols;
  return t->kind == TD_STP_TILE && td_type_is_integer(t->elem) &&
         td_stp_expr_is_const(t->rows, &rows) && td_stp_expr_is_const(t->cols, &cols) &&
         rows == 1 && cols == 1;
}

static bool check_address(const TdStpRule *r) {
  if (is_number(td_stp_rule_input(r, 0)->type)) return true;
  return td_diag_set(r->d, TD_ILLEGAL, "step-type", r->n->loc,
                     "%s takes addresses, [1, 1] tiles of integers, not %s", td_stp_rule_name(r),
                     td_stp_rule_shown(r, td_stp_rule_input(r, 0)));
}

bool td_stp_rule_load_at(TdStpRule *r) {
  Grid g;
  if (!check_address(r) || !grid_of(r, &g)) return false;
  TdStpStream *out = td_stp_rule_outputs(r, 1);
  *out = *td_stp_rule_input(r, 0);
  out->type = td_stp_rule_tile(r, r->n->tensor.type->elem, r->n->rows, r->n->cols);
  return true;
}

/* A store's tile is that of its stream, of constant extents which cut the tensor evenly. */
static bool check_stored(TdStpRule *r, size_t i) {
  Grid g;
  const TdStpType *t = td_stp_rule_input(r, i)->type;
  if (!td_stp_rule_check_kind(r, i, TD_STP_TILE, "tiles")) return false;
  if (!td_stp_expr_is_const(t->rows, &r->n->rows) || !td_stp_expr_is_const(t->cols, &r->n->cols))
    return td_diag_set(r->d, TD_ILLEGAL, "step-shape", r->n->loc,
                       "%s takes tiles of one shape, not %s", td_stp_rule_name(r),
                       td_stp_rule_shown(r, td_stp_rule_input(r, i)));
  if (t->elem != r->n->tensor.type->elem)
    return td_diag_set(r->d, TD_ILLEGAL, "step-type", r->n->loc, "%s is stored into %s",
                       td_stp_rule_shown(r, td_stp_rule_input(r, i)),
                       td_type_str(r->d->arena, r->n->tensor.type));
  return grid_of(r, &g);
}

bool td_stp_rule_store(TdStpRule *r) {
  td_stp_rule_outputs(r, 0);
  return check_stored(r, 0);
}

bool td_stp_rule_store_at(TdStpRule *r) {
  if (!check_address(r) || !check_stored(r, 1)) return false;
  TdStpStream *out = td_stp_rule_outputs(r, 1);
  *out = *td_stp_rule_input(r, r->n->opt[TD_STP_KEY_ACK] ? 1 : 0);
  out->type = td_stp_rule_tile(r, td_type_bool(r->g->session), 1, 1);
  return true;
}

bool td_stp_rule_selectors(TdStpRule *r) {
  TdStpStream *out = td_stp_rule_outputs(r, 1);
  for (int k = r->n->sel->ndim; k-- > 0;)
    out->dim[out->ndim++] = td_stp_rule_regular(td_stp_rule_number(r, r->n->sel->extent[k]));
  out->type = td_stp_rule_selector(r, r->n->opt[TD_STP_KEY_N]);
  return true;
}

bool td_stp_rule_values(TdStpRule *r) {
  TdStpStream *out = td_stp_rule_outputs(r, 1);
  const TdType *t = r->n->tensor.type;
  for (int k = t->rank; k-- > 0;) {
    int64_t extent = 0;
    td_type_extent(t, k, &extent);
    out->dim[out->ndim++] = td_stp_rule_regular(td_stp_rule_number(r, extent));
  }
  out->type = td_stp_rule_tile(r, t->elem, 1, 1);
  return true;
}

bool td_stp_rule_feedback(TdStpRule *r) {
  TdStpStream *out = td_stp_rule_outputs(r, 1);
  out->ndim = 1;
  out->dim[0] = td_stp_rule_regular(td_stp_rule_fresh(r, "F", &r->g->nfresh, 0, 0, false));
  const TdType *t = r->n->tensor.type;
  int64_t rows = 1, cols = 1;
  if (!t) {
    out->type = td_stp_rule_selector(r, r->n->opt[TD_STP_KEY_N]);
    return true;
  }
  if (t->kind == TD_T_TENSOR && t->rank == 2 && td_type_extent(t, 0, &rows) &&
      td_type_extent(t, 1, &cols)) {
    out->type = td_stp_rule_tile(r, t->elem, rows, cols);
    return true;
  }
  return td_diag_set(r->d, TD_USAGE, "step-type", r->n->loc,
                     "a loop is of \"selector\"s or of tiles T[rows][cols], not of %s",
                     td_type_str(r->d->arena, t));
}

/* ---- memory ---- */

bool td_stp_rule_bufferize(TdStpRule *r) {
  const TdStpStream *in = td_stp_rule_input(r, 0);
  int64_t b = td_stp_opt(r->n, TD_STP_KEY_RANK, 1), v;
  if (!td_stp_rule_check_kind(r, 0, TD_STP_TILE, "tiles") ||
      !td_stp_rule_check_rank(r, b, 1, in->ndim - 1))
    return false;
  for (int k = 0; k + 1 < b; k++)
    if (in->dim[k].ragged || !td_stp_expr_is_const(in->dim[k].extent, &v))
      return td_diag_set(r->d, TD_ILLEGAL, "step-shape", r->n->loc,
                         "only the outermost dimension of a buffer may come from data: %s",
                         td_stp_rule_shown(r, in));
  TdStpType *t = td_stp_rule_new_type(r, TD_STP_BUFFER);
  const TdStpType **part = TD_NEW(r->g->arena, const TdStpType *);
  part[0] = in->type;
  t->part = part;
  t->nparts = 1;
  t->ndim = (int)b;
  memcpy(t->dim, in->dim, sizeof t->dim);
  TdStpStream *out = td_stp_rule_outputs(r, 1);
  td_stp_rule_append(out, in, (int)b, in->ndim);
  out->type = t;
  return true;
}

/* An affine read of a buffer: of constant extents, and within it. */
static bool check_view(const TdStpRule *r, const TdStpType *buffer) {
  const TdStpNode *n = r->n;
  int64_t count = 1, last = 0, v;
  for (int k = 0; k < buffer->ndim; k++) {
    if (buffer->dim[k].ragged || !td_stp_expr_is_const(buffer->dim[k].extent, &v))
      return td_diag_set(r->d, TD_ILLEGAL, "step-shape", n->loc,
                         "shape reads buffers of one shape, not %s",
                         td_stp_rule_shown(r, td_stp_rule_input(r, 0)));
    count *= v;
  }
  for (int k = 0; k < n->nview; k++) last += (n->view[k] - 1) * n->stride[k];
  if (last < count) return true;
  td_diag_set(r->d, TD_ILLEGAL, "step-address", n->loc,
              "the last element read is number %lld, and the buffer has %lld", (long long)last,
              (long long)count);
  td_diag_help(r->d, "shape and stride count elements of the buffer, from 0");
  return false;
}

/* The inner dimensions of what streamify gives. */
static void read_dims(TdStpRule *r, TdStpStream *out, const TdStpType *buffer) {
  for (int k = r->n->nview; k-- > 0;)
    out->dim[out->ndim++] = td_stp_rule_regular(td_stp_rule_number(r, r->n->view[k]));
  if (r->n->nview) return;
  memcpy(out->dim, buffer->dim, sizeof out->dim);
  out->ndim = buffer->ndim;
  int last = buffer->ndim - 1;
  if (buffer->dim[last].ragged) out->dim[last].extent = td_stp_rule_fresh_count(r, 0, last, true);
}

bool td_stp_rule_streamify(TdStpRule *r) {
  const TdStpStream *in = td_stp_rule_input(r, 0);
  if (!td_stp_rule_check_kind(r, 0, TD_STP_BUFFER, "buffers")) return false;
  TdStpStream *out = td_stp_rule_outputs(r, 1);
  const TdStpType *t = in->type;
  const TdStpStream *outer = r->n->has_ref ? td_stp_rule_input(r, 1) : in;
  int inner = r->n->nview ? r->n->nview : t->ndim;
  if (r->n->nview && !check_view(r, t)) return false;
  if (!td_stp_rule_check_room(r, inner + outer->ndim + r->n->nshape)) return false;
  read_dims(r, out, t);
  if (!r->n->has_ref)
    for (int k = r->n->nshape; k-- > 0;)
      out->dim[out->ndim++] = td_stp_rule_regular(td_stp_rule_number(r, r->n->shape[k]));
  td_stp_rule_append(out, outer, 0, outer->ndim);
  out->type = t->part[0];
  if (!r->n->has_ref) return true;
  if (!td_stp_rule_check_rank(r, outer->ndim - in->ndim, 1, TD_STP_RANK)) return false;
  return td_stp_rule_check_outer(r, 0, 0, 1, outer->ndim - in->ndim);
}

bool td_stp_rule_sink(TdStpRule *r) {
  td_stp_rule_outputs(r, 0);
  return true;
}
