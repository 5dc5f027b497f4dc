/* stp_shape.c - the shape rules of the operators: outputs from inputs. */
#include <string.h>

#include "step/stp_graph.h"

const TdStpExpr *td_stp_shape_count(TdStpGraph *g, const TdStpStream *s, int dim) {
  int ragged = dim;
  while (ragged < s->ndim && !s->dim[ragged].ragged) ragged++;
  const TdStpExpr *n = td_stp_expr_const(g->exprs, 1);
  for (int d = dim; d < s->ndim && d <= ragged; d++)
    n = td_stp_expr_mul(g->exprs, n, s->dim[d].extent);
  return n;
}

const TdStpExpr *td_stp_shape_elements(TdStpGraph *g, const TdStpType *t) {
  return td_stp_expr_mul(g->exprs, t->rows, t->cols);
}

static void print_dims(TdText *out, const TdStpDim *dim, int ndim) {
  td_text_putc(out, '[');
  for (int d = ndim; d-- > 0;) {
    if (dim[d].ragged) td_text_puts(out, "~");
    td_stp_expr_print(out, dim[d].extent);
    if (d) td_text_puts(out, ", ");
  }
  td_text_putc(out, ']');
}

void td_stp_shape_print_type(TdText *out, const TdStpType *t) {
  switch (t->kind) {
    case TD_STP_TILE:
      td_text_putc(out, '[');
      td_stp_expr_print(out, t->rows);
      td_text_puts(out, ", ");
      td_stp_expr_print(out, t->cols);
      td_text_puts(out, "] ");
      td_type_print(out, t->elem);
      return;
    case TD_STP_BUFFER:
      td_text_puts(out, "buffers ");
      print_dims(out, t->dim, t->ndim);
      td_text_puts(out, " of ");
      td_stp_shape_print_type(out, t->part[0]);
      return;
    case TD_STP_SELECTOR:
      td_text_putf(out, "selectors of %lld", (long long)t->ways);
      return;
    case TD_STP_TUPLE:
      td_text_putc(out, '(');
      for (size_t i = 0; i < t->nparts; i++) {
        if (i) td_text_puts(out, ", ");
        td_stp_shape_print_type(out, t->part[i]);
      }
      td_text_putc(out, ')');
      return;
  }
}

void td_stp_shape_print(TdText *out, const TdStpStream *s) {
  print_dims(out, s->dim, s->ndim);
  td_text_puts(out, " of ");
  td_stp_shape_print_type(out, s->type);
}

const char *td_stp_shape_str(TdArena *a, const TdStpStream *s) {
  TdText t = td_text_new(a);
  td_stp_shape_print(&t, s);
  return td_text_str(&t);
}

/* ---- helpers ---- */

/* What a rule works on. */
typedef struct Rule {
  TdStpGraph *g;
  TdStpNode *n;
  TdDiag *d;
} Rule;

static const TdStpStream *input(const Rule *r, size_t i) {
  return td_stp_graph_stream(r->g, r->n->in[i]);
}

static const char *shown(const Rule *r, const TdStpStream *s) {
  return td_stp_shape_str(r->d->arena, s);
}

static const char *op_name(const Rule *r) {
  return td_stp_ops[r->n->op].name;
}

static TdStpDim regular(const TdStpExpr *e) {
  return (TdStpDim){.extent = e};
}

static const TdStpExpr *number(const Rule *r, int64_t v) {
  return td_stp_expr_const(r->g->exprs, v);
}

/* A new symbol for dimension dim of output `out` of the node. */
static const TdStpExpr *fresh(const Rule *r, const char *letter, uint32_t *count, size_t out,
                              int dim, bool ragged) {
  const char *name = td_names_str(r->g->session->names,
                                  td_text_fmt(r->g->arena, "%s%u", letter, (*count)++));
  TdStpSymbol s = {name, {r->n->uid, (uint16_t)out}, dim, ragged};
  td_vec_push(r->g->arena, &r->g->symbol, s);
  return td_stp_expr_symbol(r->g->exprs, name);
}

static const TdStpExpr *fresh_count(const Rule *r, size_t out, int dim, bool ragged) {
  return fresh(r, "R", &r->g->nfresh, out, dim, ragged);
}

static TdStpStream *outputs(Rule *r, size_t n) {
  r->n->out = TD_NEWN(r->g->arena, TdStpStream, n);
  r->n->nout = n;
  return r->n->out;
}

static TdStpType *new_type(const Rule *r, TdStpKind kind) {
  TdStpType *t = TD_NEW(r->g->arena, TdStpType);
  t->kind = kind;
  return t;
}

static const TdStpType *tile_type(const Rule *r, const TdType *elem, int64_t rows, int64_t cols) {
  TdStpType *t = new_type(r, TD_STP_TILE);
  t->elem = elem;
  t->rows = number(r, rows);
  t->cols = number(r, cols);
  return t;
}

static const TdStpType *selector_type(const Rule *r, int64_t ways) {
  TdStpType *t = new_type(r, TD_STP_SELECTOR);
  t->ways = ways;
  return t;
}

/* Whether two dimensions cannot be equal. */
static bool clash(TdStpDim a, TdStpDim b) {
  int64_t x, y;
  return !a.ragged && !b.ragged && td_stp_expr_is_const(a.extent, &x) &&
         td_stp_expr_is_const(b.extent, &y) && x != y;
}

/* Refuses unless `rank` is in lo .. hi. */
static bool check_rank(const Rule *r, int64_t rank, int64_t lo, int64_t hi) {
  if (rank >= lo && rank <= hi) return true;
  td_diag_set(r->d, TD_ILLEGAL, "step-rank", r->n->loc, "%s of rank %lld does not fit %s",
              op_name(r), (long long)rank, shown(r, input(r, 0)));
  if (hi < lo)
    td_diag_help(r->d, "the stream has too few dimensions: promote inserts one");
  else
    td_diag_help(r->d, "rank counts inner dimensions: here %lld to %lld", (long long)lo,
                 (long long)hi);
  return false;
}

static bool check_bytes(const Rule *r, size_t i, TdStpKind kind, const char *what) {
  const TdStpStream *s = input(r, i);
  if (s->type->kind == kind) return true;
  return td_diag_set(r->d, TD_ILLEGAL, "step-type", r->n->loc, "%s takes %s, not %s", op_name(r),
                     what, shown(r, s));
}

/* Refuses streams a and b whose outer dimensions, from `from_a` and `from_b` on, differ. */
static bool check_outer(const Rule *r, size_t ia, int from_a, size_t ib, int from_b) {
  const TdStpStream *a = input(r, ia), *b = input(r, ib);
  bool fits = a->ndim - from_a == b->ndim - from_b;
  for (int k = 0; fits && k < a->ndim - from_a; k++)
    fits = !clash(a->dim[from_a + k], b->dim[from_b + k]);
  if (fits) return true;
  td_diag_set(r->d, TD_ILLEGAL, "step-shape", r->n->loc, "the shapes %s and %s do not fit %s",
              shown(r, a), shown(r, b), op_name(r));
  return false;
}

/* Copies dimensions from .. to - 1 of s behind those of out. */
static void append(TdStpStream *out, const TdStpStream *s, int from, int to) {
  for (int k = from; k < to; k++) out->dim[out->ndim++] = s->dim[k];
}

static bool check_room(const Rule *r, int ndim) {
  if (ndim <= TD_STP_RANK) return true;
  return td_diag_set(r->d, TD_LIMIT, "step-rank", r->n->loc, "a stream has at most %d dimensions",
                     TD_STP_RANK);
}

/* ---- sources ---- */

/* The tiles of the tensor: rows of tiles, and tiles in each. */
static bool grid_of(const Rule *r, int64_t *down, int64_t *across) {
  const TdType *t = r->n->tensor.type;
  int64_t rows = 1, cols = 1, extent;
  for (int d = 0; d < t->rank; d++) {
    if (!td_type_extent(t, d, &extent))
      return td_diag_set(r->d, TD_USAGE, "step-tile", r->n->loc, "the extents of %s need values",
                         td_type_str(r->d->arena, t));
    if (d + 1 < t->rank)
      rows *= extent;
    else
      cols = extent;
  }
  if (!r->n->rows) {
    r->n->rows = rows;
    r->n->cols = cols;
  }
  if (r->n->rows < 1 || r->n->cols < 1 || rows % r->n->rows || cols % r->n->cols) {
    td_diag_set(r->d, TD_ILLEGAL, "step-tile", r->n->loc,
                "tiles of [%lld, %lld] do not cut %s evenly", (long long)r->n->rows,
                (long long)r->n->cols, td_type_str(r->d->arena, t));
    td_diag_help(r->d, "tile = {rows, cols}, which divide %lld and %lld", (long long)rows,
                 (long long)cols);
    return false;
  }
  *down = rows / r->n->rows;
  *across = cols / r->n->cols;
  return true;
}

/* Takes the shape of the tensor where none is given; strides in tiles. */
static void settle_shape(TdStpNode *n, int64_t down, int64_t across) {
  if (!n->has_shape) {
    n->nshape = 2;
    n->shape[0] = down, n->shape[1] = across;
    n->stride[0] = across, n->stride[1] = 1;
    n->has_shape = true;
  }
}

static bool load(Rule *r) {
  TdStpNode *n = r->n;
  int64_t down, across;
  if (!grid_of(r, &down, &across)) return false;
  settle_shape(n, down, across);
  TdStpStream *out = outputs(r, 1);
  out->type = tile_type(r, n->tensor.type->elem, n->rows, n->cols);
  int ref = n->has_ref ? input(r, 0)->ndim : 0;
  if (!check_room(r, ref + n->nshape)) return false;
  int64_t last = 0;
  for (int k = n->nshape; k-- > 0;) {
    out->dim[out->ndim++] = regular(number(r, n->shape[k]));
    if (n->shape[k]) last += (n->shape[k] - 1) * n->stride[k];
  }
  if (last >= down * across) {
    td_diag_set(r->d, TD_ILLEGAL, "step-address", n->loc,
                "the last tile read is number %lld, and the tensor has %lld", (long long)last,
                (long long)(down * across));
    td_diag_help(r->d, "shape and stride count tiles: the tensor is %lld by %lld tiles",
                 (long long)down, (long long)across);
    return false;
  }
  if (n->has_ref) append(out, input(r, 0), 0, ref);
  return true;
}

static bool is_number(const TdStpType *t) {
  int64_t rows, cols;
  return t->kind == TD_STP_TILE && td_type_is_integer(t->elem) &&
         td_stp_expr_is_const(t->rows, &rows) && td_stp_expr_is_const(t->cols, &cols) &&
         rows == 1 && cols == 1;
}

static bool check_address(const Rule *r) {
  if (is_number(input(r, 0)->type)) return true;
  return td_diag_set(r->d, TD_ILLEGAL, "step-type", r->n->loc,
                     "%s takes addresses, [1, 1] tiles of integers, not %s", op_name(r),
                     shown(r, input(r, 0)));
}

static bool load_at(Rule *r) {
  int64_t down, across;
  if (!check_address(r) || !grid_of(r, &down, &across)) return false;
  TdStpStream *out = outputs(r, 1);
  *out = *input(r, 0);
  out->type = tile_type(r, r->n->tensor.type->elem, r->n->rows, r->n->cols);
  return true;
}

/* A store's tile is that of its stream, of constant extents which cut the tensor evenly. */
static bool check_stored(Rule *r, size_t i) {
  int64_t down, across;
  const TdStpType *t = input(r, i)->type;
  if (!check_bytes(r, i, TD_STP_TILE, "tiles")) return false;
  if (!td_stp_expr_is_const(t->rows, &r->n->rows) || !td_stp_expr_is_const(t->cols, &r->n->cols))
    return td_diag_set(r->d, TD_ILLEGAL, "step-shape", r->n->loc,
                       "%s takes tiles of one shape, not %s", op_name(r), shown(r, input(r, i)));
  if (t->elem != r->n->tensor.type->elem)
    return td_diag_set(r->d, TD_ILLEGAL, "step-type", r->n->loc, "%s is stored into %s",
                       shown(r, input(r, i)), td_type_str(r->d->arena, r->n->tensor.type));
  return grid_of(r, &down, &across);
}

static bool store(Rule *r) {
  outputs(r, 0);
  return check_stored(r, 0);
}

static bool store_at(Rule *r) {
  if (!check_address(r) || !check_stored(r, 1)) return false;
  TdStpStream *out = outputs(r, 1);
  *out = *input(r, r->n->opt[TD_STP_KEY_ACK] ? 1 : 0);
  out->type = tile_type(r, td_type_bool(r->g->session), 1, 1);
  return true;
}

static bool selectors(Rule *r) {
  TdStpStream *out = outputs(r, 1);
  for (int k = r->n->sel->ndim; k-- > 0;)
    out->dim[out->ndim++] = regular(number(r, r->n->sel->extent[k]));
  out->type = selector_type(r, r->n->opt[TD_STP_KEY_N]);
  return true;
}

static bool values(Rule *r) {
  TdStpStream *out = outputs(r, 1);
  const TdType *t = r->n->tensor.type;
  for (int k = t->rank; k-- > 0;) {
    int64_t extent = 0;
    td_type_extent(t, k, &extent);
    out->dim[out->ndim++] = regular(number(r, extent));
  }
  out->type = tile_type(r, t->elem, 1, 1);
  return true;
}

static bool feedback(Rule *r) {
  TdStpStream *out = outputs(r, 1);
  out->ndim = 1;
  out->dim[0] = regular(fresh(r, "F", &r->g->nfresh, 0, 0, false));
  const TdType *t = r->n->tensor.type;
  int64_t rows = 1, cols = 1;
  if (!t) {
    out->type = selector_type(r, r->n->opt[TD_STP_KEY_N]);
    return true;
  }
  if (t->kind == TD_T_TENSOR && t->rank == 2 && td_type_extent(t, 0, &rows) &&
      td_type_extent(t, 1, &cols)) {
    out->type = tile_type(r, t->elem, rows, cols);
    return true;
  }
  return td_diag_set(r->d, TD_USAGE, "step-type", r->n->loc,
                     "a loop is of \"selector\"s or of tiles T[rows][cols], not of %s",
                     td_type_str(r->d->arena, t));
}

/* ---- memory ---- */

static bool bufferize(Rule *r) {
  const TdStpStream *in = input(r, 0);
  int64_t b = td_stp_opt(r->n, TD_STP_KEY_RANK, 1), v;
  if (!check_bytes(r, 0, TD_STP_TILE, "tiles") || !check_rank(r, b, 1, in->ndim - 1)) return false;
  for (int k = 0; k + 1 < b; k++)
    if (in->dim[k].ragged || !td_stp_expr_is_const(in->dim[k].extent, &v))
      return td_diag_set(r->d, TD_ILLEGAL, "step-shape", r->n->loc,
                         "only the outermost dimension of a buffer may come from data: %s",
                         shown(r, in));
  TdStpType *t = new_type(r, TD_STP_BUFFER);
  const TdStpType **part = TD_NEW(r->g->arena, const TdStpType *);
  part[0] = in->type;
  t->part = part;
  t->nparts = 1;
  t->ndim = (int)b;
  memcpy(t->dim, in->dim, sizeof t->dim);
  TdStpStream *out = outputs(r, 1);
  append(out, in, (int)b, in->ndim);
  out->type = t;
  return true;
}

static bool streamify(Rule *r) {
  const TdStpStream *in = input(r, 0);
  if (!check_bytes(r, 0, TD_STP_BUFFER, "buffers")) return false;
  TdStpStream *out = outputs(r, 1);
  const TdStpType *t = in->type;
  const TdStpStream *outer = r->n->has_ref ? input(r, 1) : in;
  if (!check_room(r, t->ndim + outer->ndim + r->n->nshape)) return false;
  memcpy(out->dim, t->dim, sizeof out->dim);
  out->ndim = t->ndim;
  if (!r->n->has_ref)
    for (int k = r->n->nshape; k-- > 0;)
      out->dim[out->ndim++] = regular(number(r, r->n->shape[k]));
  append(out, outer, 0, outer->ndim);
  out->type = t->part[0];
  if (t->dim[t->ndim - 1].ragged)
    out->dim[t->ndim - 1].extent = fresh_count(r, 0, t->ndim - 1, true);
  if (!r->n->has_ref) return true;
  if (!check_rank(r, outer->ndim - in->ndim, 1, TD_STP_RANK)) return false;
  return check_outer(r, 0, 0, 1, outer->ndim - in->ndim);
}

/* ---- routing ---- */

static bool check_selector(const Rule *r, size_t i, int64_t *ways) {
  if (!check_bytes(r, i, TD_STP_SELECTOR, "selectors")) return false;
  int64_t has = input(r, i)->type->ways;
  if (*ways && *ways != has)
    return td_diag_set(r->d, TD_ILLEGAL, "step-selector", r->n->loc,
                       "%s has %lld ways, and its selectors choose among %lld", op_name(r),
                       (long long)*ways, (long long)has);
  *ways = has;
  return true;
}

/* The number of chunks that way i gets: the same symbol for all partitions by one control. */
static const TdStpExpr *routed(const Rule *r, TdStpRef control, int64_t ways, int64_t i, int dim) {
  uint64_t key = (uint64_t)control.uid << 16 | control.out, first = 0;
  if (!td_map_get(&r->g->control, key, &first)) {
    if (i) return NULL;
    first = r->g->nroute;
    r->g->nroute += (uint32_t)ways;
    td_map_put(r->g->arena, &r->g->control, key, first);
    for (int64_t k = 0; k < ways; k++) {
      uint32_t count = (uint32_t)(first + (uint64_t)k);
      fresh(r, "D", &count, (size_t)k, dim, false);
    }
  }
  const char *name = td_text_fmt(r->d->arena, "D%lld", (long long)((int64_t)first + i));
  return td_stp_expr_symbol(r->g->exprs, name);
}

static bool partition(Rule *r) {
  const TdStpStream *x = input(r, 0), *sel = input(r, 1);
  int64_t b = td_stp_opt(r->n, TD_STP_KEY_RANK, 0), ways = td_stp_opt(r->n, TD_STP_KEY_N, 0);
  if (!check_selector(r, 1, &ways) || !check_rank(r, b, 0, x->ndim - 1)) return false;
  r->n->opt[TD_STP_KEY_N] = ways;
  r->n->has |= 1u << TD_STP_KEY_N;
  if (!check_outer(r, 0, (int)b, 1, 0)) return false;
  TdStpRef control = td_stp_graph_source(r->g, r->n->in[1]);
  TdStpStream *out = outputs(r, (size_t)ways);
  for (int64_t i = 0; i < ways; i++) {
    out[i].type = x->type;
    append(&out[i], x, 0, (int)b);
    for (int k = 0; k < b; k++)
      if (out[i].dim[k].ragged) out[i].dim[k].extent = fresh_count(r, (size_t)i, k, true);
    out[i].dim[out[i].ndim++] = regular(routed(r, control, ways, i, (int)b));
  }
  (void)sel;
  return true;
}

/* The inner dimensions that inputs from .. share; a ragged one gets a sum of its own. */
static bool join_inner(Rule *r, size_t from, size_t to, int inner, TdStpStream *out) {
  const TdStpStream *first = input(r, from);
  out->type = first->type;
  append(out, first, 0, inner);
  for (size_t i = from; i < to; i++) {
    const TdStpStream *x = input(r, i);
    bool fits = x->ndim == inner + 1 && x->type->kind == first->type->kind;
    for (int k = 0; fits && k < inner; k++) {
      fits = !clash(x->dim[k], first->dim[k]);
      out->dim[k].ragged |= x->dim[k].ragged || x->dim[k].extent != first->dim[k].extent;
    }
    if (fits) continue;
    td_diag_set(r->d, TD_ILLEGAL, "step-shape", r->n->loc, "the shapes %s and %s do not fit %s",
                shown(r, first), shown(r, x), op_name(r));
    td_diag_help(r->d, "inputs have %d dimension%s here: chunks of rank %d", inner + 1,
                 inner ? "s" : "", inner);
    return false;
  }
  for (int k = 0; k < inner; k++)
    if (out->dim[k].ragged) out->dim[k].extent = fresh_count(r, 0, k, true);
  return true;
}

/* The sum of the outermost extents of inputs from .. to - 1. */
static const TdStpExpr *sum_outer(const Rule *r, size_t from, size_t to) {
  const TdStpExpr **part = TD_NEWN(r->d->arena, const TdStpExpr *, to - from + 1);
  for (size_t i = from; i < to; i++) part[i - from] = input(r, i)->dim[input(r, i)->ndim - 1].extent;
  return td_stp_expr_sum(r->g->exprs, part, to - from);
}

static bool reassemble(Rule *r) {
  size_t last = r->n->nin - 1;
  int64_t b = td_stp_opt(r->n, TD_STP_KEY_RANK, 0), ways = (int64_t)last;
  const TdStpStream *sel = input(r, last);
  if (!check_rank(r, b, 0, TD_STP_RANK) || !check_selector(r, last, &ways)) return false;
  if (!check_room(r, (int)b + 1 + sel->ndim)) return false;
  TdStpStream *out = outputs(r, 1);
  if (!join_inner(r, 0, last, (int)b, out)) return false;
  out->dim[out->ndim++] = (TdStpDim){.extent = sum_outer(r, 0, last), .ragged = true};
  append(out, sel, 0, sel->ndim);
  return true;
}

static bool eager_merge(Rule *r) {
  int64_t a = td_stp_opt(r->n, TD_STP_KEY_RANK, 0);
  if (!check_rank(r, a, 0, TD_STP_RANK - 1)) return false;
  TdStpStream *out = outputs(r, 2);
  if (!join_inner(r, 0, r->n->nin, (int)a, &out[0])) return false;
  out[0].dim[out[0].ndim++] = regular(sum_outer(r, 0, r->n->nin));
  out[1].ndim = 1;
  out[1].dim[0] = out[0].dim[a];
  out[1].type = selector_type(r, (int64_t)r->n->nin);
  return true;
}

static bool parallelize(Rule *r) {
  const TdStpStream *x = input(r, 0);
  int64_t n = r->n->opt[TD_STP_KEY_N], b = td_stp_opt(r->n, TD_STP_KEY_RANK, x->ndim - 1), v;
  r->n->opt[TD_STP_KEY_RANK] = b;
  r->n->has |= 1u << TD_STP_KEY_RANK;
  if (!check_rank(r, b, x->ndim - 1, x->ndim - 1)) return false;
  if (n < 1)
    return td_diag_set(r->d, TD_USAGE, "step-argument", r->n->loc, "parallelize needs n >= 1");
  const TdStpExpr *all = x->dim[b].extent;
  TdStpStream *out = outputs(r, (size_t)n);
  for (int64_t i = 0; i < n; i++) {
    out[i] = *x;
    int64_t mine = td_stp_expr_is_const(all, &v) ? v / n + (i < v % n) : 0;
    out[i].dim[b].extent = td_stp_expr_is_const(all, &v) ? number(r, mine)
                           : td_stp_expr_divides(all, n)
                               ? td_stp_expr_floor(r->g->exprs, all, n)
                               : fresh_count(r, (size_t)i, (int)b, false);
    for (int k = 0; k < b; k++)
      if (out[i].dim[k].ragged) out[i].dim[k].extent = fresh_count(r, (size_t)i, k, true);
  }
  return true;
}

/* ---- functions ---- */

static bool zip(Rule *r) {
  const TdStpStream *x = input(r, 0), *y = input(r, 1);
  if (!check_outer(r, 0, 0, 1, 0)) return false;
  TdStpStream *out = outputs(r, 1);
  *out = *x;
  for (int k = 0; k < x->ndim; k++)
    if (x->dim[k].ragged && !y->dim[k].ragged) out->dim[k] = y->dim[k];
  TdStpType *t = new_type(r, TD_STP_TUPLE);
  const TdStpType **part = TD_NEWN(r->g->arena, const TdStpType *, 2 + x->type->nparts);
  if (x->type->kind == TD_STP_TUPLE) {
    memcpy(part, x->type->part, x->type->nparts * sizeof *part);
    t->nparts = x->type->nparts;
  } else {
    part[t->nparts++] = x->type;
  }
  part[t->nparts++] = y->type;
  t->part = part;
  out->type = t;
  return true;
}

static bool map(Rule *r) {
  const TdStpType *t = td_stp_fn_type(r->g, r->n, input(r, 0), r->d);
  if (!t) return false;
  TdStpStream *out = outputs(r, 1);
  *out = *input(r, 0);
  out->type = t;
  return true;
}

static bool accum(Rule *r) {
  const TdStpStream *in = input(r, 0);
  int64_t b = td_stp_opt(r->n, TD_STP_KEY_RANK, 1);
  if (!check_rank(r, b, 1, in->ndim - (r->n->op == TD_STP_SCAN ? 0 : 1))) return false;
  const TdStpType *t = td_stp_fn_type(r->g, r->n, in, r->d);
  if (!t) return false;
  TdStpStream *out = outputs(r, 1);
  append(out, in, r->n->op == TD_STP_SCAN ? 0 : (int)b, in->ndim);
  out->type = t;
  return true;
}

/* The number of elements that flat_map makes of each, where it is the same for all; else 0. */
static bool flat_map(Rule *r) {
  const TdStpStream *in = input(r, 0);
  int64_t b = td_stp_opt(r->n, TD_STP_KEY_RANK, 0);
  if (!check_rank(r, b, 0, 1) || !check_room(r, in->ndim + (int)b)) return false;
  const TdStpType *t = td_stp_fn_type(r->g, r->n, in, r->d);
  if (!t) return false;
  bool fixed = r->n->fn.kind == TD_STP_FN_ADDRESSES;
  TdStpStream *out = outputs(r, 1);
  out->type = t;
  if (b) {
    out->ndim = 1;
    out->dim[0] = fixed ? regular(number(r, r->n->fn.n))
                        : (TdStpDim){fresh_count(r, 0, 0, true), true};
    append(out, in, 0, in->ndim);
    return true;
  }
  append(out, in, 0, in->ndim);
  if (fixed) {
    out->dim[0].extent = td_stp_expr_scale(r->g->exprs, in->dim[0].extent, r->n->fn.n);
  } else {
    out->dim[0].ragged = in->ndim > 1;
    out->dim[0].extent = fresh_count(r, 0, 0, in->ndim > 1);
  }
  return true;
}

/* ---- shape ---- */

static bool flatten(Rule *r) {
  const TdStpStream *in = input(r, 0);
  int64_t lo = r->n->lo, hi = r->n->hi;
  if (lo < 0 || hi < lo || hi >= in->ndim) {
    td_diag_set(r->d, TD_ILLEGAL, "step-rank", r->n->loc, "flatten(%lld, %lld) does not fit %s",
                (long long)lo, (long long)hi, shown(r, in));
    td_diag_help(r->d, "dimensions count from the innermost: here 0 to %d", in->ndim - 1);
    return false;
  }
  TdStpStream *out = outputs(r, 1);
  out->type = in->type;
  append(out, in, 0, (int)lo);
  int ragged = (int)lo;
  while (ragged <= hi && !in->dim[ragged].ragged) ragged++;
  const TdStpExpr *n = number(r, 1);
  for (int k = (int)lo; k <= hi && k <= ragged; k++)
    n = td_stp_expr_mul(r->g->exprs, n, in->dim[k].extent);
  out->dim[out->ndim++] = (TdStpDim){n, ragged <= hi && hi + 1 < in->ndim};
  append(out, in, (int)hi + 1, in->ndim);
  return true;
}

/* Whether a fill of a reshape is a tile of its stream. */
static bool check_pad(const Rule *r) {
  const TdType *t = r->n->extra.type;
  const TdStpType *x = input(r, 0)->type;
  int64_t rows = 0, cols = 0, a = -1, b = -1;
  if (!t || x->kind != TD_STP_TILE) return true;
  if (t->kind == TD_T_TENSOR && t->rank == 2 && t->elem == x->elem) {
    td_type_extent(t, 0, &a);
    td_type_extent(t, 1, &b);
  }
  if (td_stp_expr_is_const(x->rows, &rows) && td_stp_expr_is_const(x->cols, &cols) && rows == a &&
      cols == b)
    return true;
  td_diag_set(r->d, TD_ILLEGAL, "step-shape", r->n->loc, "pad is %s, and the stream %s",
              td_type_str(r->d->arena, t), shown(r, input(r, 0)));
  return false;
}

static bool reshape(Rule *r) {
  const TdStpStream *in = input(r, 0);
  int64_t b = td_stp_opt(r->n, TD_STP_KEY_RANK, 0), s = td_stp_opt(r->n, TD_STP_KEY_CHUNK, 0);
  bool outer = td_stp_opt(r->n, TD_STP_KEY_OUTER, 0) != 0;
  if (s < 1)
    return td_diag_set(r->d, TD_USAGE, "step-argument", r->n->loc,
                       "reshape needs chunk = n, at least 1");
  if (!check_rank(r, b, 0, in->ndim - 1) || !check_room(r, in->ndim + 1 + outer)) return false;
  if (outer && (in->ndim != 1 || b))
    return td_diag_set(r->d, TD_ILLEGAL, "step-rank", r->n->loc,
                       "outer = true is for streams of one dimension, not %s", shown(r, in));
  TdStpDim old = in->dim[b];
  if (b && (old.ragged || !td_stp_expr_divides(old.extent, s))) {
    td_diag_set(r->d, TD_ILLEGAL, "step-shape", r->n->loc,
                "chunks of %lld do not cut dimension %lld of %s evenly", (long long)s, (long long)b,
                shown(r, in));
    td_diag_help(r->d, "only dimension 0 is padded");
    return false;
  }
  if (!check_pad(r)) return false;
  TdStpStream *out = outputs(r, 2);
  out[0].type = in->type;
  append(&out[0], in, 0, (int)b);
  out[0].dim[out[0].ndim++] = regular(number(r, s));
  int at = out[0].ndim++;
  out[0].dim[at] = old.ragged ? (TdStpDim){fresh_count(r, 0, at, true), true}
                              : regular(td_stp_expr_ceil(r->g->exprs, old.extent, s));
  append(&out[0], in, (int)b + 1, in->ndim);
  if (outer)
    out[0].dim[out[0].ndim++] = regular(td_stp_expr_positive(r->g->exprs, old.extent));
  out[1] = out[0];
  out[1].type = tile_type(r, td_type_bool(r->g->session), 1, 1);
  return true;
}

static bool promote(Rule *r) {
  const TdStpStream *in = input(r, 0);
  int64_t at = td_stp_opt(r->n, TD_STP_KEY_AT, in->ndim);
  r->n->opt[TD_STP_KEY_AT] = at;
  if (!check_rank(r, at, 0, in->ndim) || !check_room(r, in->ndim + 1)) return false;
  TdStpStream *out = outputs(r, 1);
  out->type = in->type;
  append(out, in, 0, (int)at);
  out->dim[out->ndim++] = regular(at < in->ndim ? number(r, 1)
                                                : td_stp_expr_positive(r->g->exprs,
                                                                       in->dim[at - 1].extent));
  append(out, in, (int)at, in->ndim);
  return true;
}

static bool expand(Rule *r) {
  const TdStpStream *in = input(r, 0), *ref = input(r, 1);
  int64_t b = td_stp_opt(r->n, TD_STP_KEY_RANK, 1), v;
  if (!check_rank(r, b, 1, in->ndim)) return false;
  for (int k = 0; k < b; k++)
    if (in->dim[k].ragged || (td_stp_expr_is_const(in->dim[k].extent, &v) && v != 1)) {
      td_diag_set(r->d, TD_ILLEGAL, "step-shape", r->n->loc,
                  "expand of rank %lld repeats streams whose %lld inner dimension%s 1, not %s",
                  (long long)b, (long long)b, b == 1 ? " is" : "s are", shown(r, in));
      td_diag_help(r->d, "promote {at = 0} gives an inner dimension of 1");
      return false;
    }
  if (!check_outer(r, 0, (int)b, 1, (int)b)) return false;
  TdStpStream *out = outputs(r, 1);
  *out = *ref;
  out->type = in->type;
  return true;
}

static bool rep(Rule *r) {
  const TdStpStream *in = input(r, 0);
  if (r->n->opt[TD_STP_KEY_N] < 1)
    return td_diag_set(r->d, TD_USAGE, "step-argument", r->n->loc,
                       "rep(n) takes a number of at least 1");
  if (!check_room(r, in->ndim + 1)) return false;
  TdStpStream *out = outputs(r, 1);
  out->type = in->type;
  out->dim[out->ndim++] = regular(number(r, r->n->opt[TD_STP_KEY_N]));
  append(out, in, 0, in->ndim);
  return true;
}

static bool assume_shape(Rule *r) {
  const TdStpStream *in = input(r, 0);
  bool fits = in->ndim == r->n->assumed.ndim;
  for (int k = 0; fits && k < in->ndim; k++) fits = !clash(in->dim[k], r->n->assumed.dim[k]);
  TdStpStream *out = outputs(r, 1);
  *out = r->n->assumed;
  out->type = in->type;
  if (fits) return true;
  return td_diag_set(r->d, TD_ILLEGAL, "step-shape", r->n->loc, "%s is never %s", shown(r, in),
                     shown(r, out));
}

static bool sink(Rule *r) {
  outputs(r, 0);
  return true;
}

bool td_stp_shape_of(TdStpGraph *g, TdStpNode *n, TdDiag *d) {
  static bool (*const rule[])(Rule *) = {
      [TD_STP_LOAD] = load,           [TD_STP_LOAD_AT] = load_at,
      [TD_STP_STORE] = store,         [TD_STP_STORE_AT] = store_at,
      [TD_STP_SELECTORS] = selectors, [TD_STP_VALUES] = values,
      [TD_STP_SINK] = sink,           [TD_STP_FEEDBACK] = feedback,
      [TD_STP_BUFFERIZE] = bufferize, [TD_STP_STREAMIFY] = streamify,
      [TD_STP_PARTITION] = partition, [TD_STP_REASSEMBLE] = reassemble,
      [TD_STP_EAGER_MERGE] = eager_merge, [TD_STP_PARALLELIZE] = parallelize,
      [TD_STP_ZIP] = zip,             [TD_STP_MAP] = map,
      [TD_STP_ACCUM] = accum,         [TD_STP_MAP_ACCUM] = accum,
      [TD_STP_SCAN] = accum,          [TD_STP_FLAT_MAP] = flat_map,
      [TD_STP_FLATTEN] = flatten,     [TD_STP_RESHAPE] = reshape,
      [TD_STP_PROMOTE] = promote,     [TD_STP_EXPAND] = expand,
      [TD_STP_REP] = rep,             [TD_STP_ASSUME_SHAPE] = assume_shape,
  };
  Rule r = {g, n, d};
  return rule[n->op](&r);
}
