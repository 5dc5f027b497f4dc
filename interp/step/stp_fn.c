/* stp_fn.c - the types of what functions on tiles make. */
#include <string.h>

#include "step/stp_kernel.h"

/* A function on the parts of an element. */
typedef struct Call {
  TdStpGraph *g;
  const TdStpNode *n;
  const TdStpStream *in;
  const TdStpType *const *part;
  size_t nparts;
  TdDiag *d;
} Call;

static TdStpType *tile(const Call *c, const TdType *elem, const TdStpExpr *rows,
                       const TdStpExpr *cols) {
  TdStpType *t = TD_NEW(c->g->arena, TdStpType);
  *t = (TdStpType){.kind = TD_STP_TILE, .elem = elem, .rows = rows, .cols = cols};
  return t;
}

static const TdStpExpr *number(const Call *c, int64_t v) {
  return td_stp_expr_const(c->g->exprs, v);
}

static const TdStpType *refuse(const Call *c, const char *why) {
  td_diag_set(c->d, TD_ILLEGAL, "step-function", c->n->loc, "%s does not take %s: %s",
              c->n->fn.name, td_stp_shape_str(c->d->arena, c->in), why);
  td_diag_help(c->d, "%s: %s", c->n->fn.name, td_stp_fns[c->n->fn.kind].help);
  return NULL;
}

/* Whether two extents cannot be equal. */
static bool differ(const TdStpExpr *a, const TdStpExpr *b) {
  int64_t x, y;
  return td_stp_expr_is_const(a, &x) && td_stp_expr_is_const(b, &y) && x != y;
}

static bool is_one(const TdStpExpr *e) {
  int64_t v;
  return td_stp_expr_is_const(e, &v) && v == 1;
}

static bool is_index(const TdStpType *t) {
  return t->kind == TD_STP_TILE && td_type_is_integer(t->elem) && is_one(t->rows) &&
         is_one(t->cols);
}

static const TdStpType *matmul(const Call *c, bool transposed) {
  const TdStpType *x = c->part[0], *y = c->part[1];
  const TdStpExpr *k = transposed ? y->cols : y->rows;
  if (x->elem != y->elem) return refuse(c, "the elements are of two types");
  if (differ(x->cols, k))
    return refuse(c, td_text_fmt(c->d->arena, "the inner extents are %s and %s",
                                 td_stp_expr_str(c->d->arena, x->cols),
                                 td_stp_expr_str(c->d->arena, k)));
  return tile(c, x->elem, x->rows, transposed ? y->rows : y->cols);
}

/* Elementwise; extents of 1 are repeated. */
static const TdStpType *combine(const Call *c) {
  const TdStpType *x = c->part[0], *y = c->part[1];
  if (x->elem != y->elem) return refuse(c, "the elements are of two types");
  bool rows = is_one(x->rows) || is_one(y->rows) || !differ(x->rows, y->rows);
  bool cols = is_one(x->cols) || is_one(y->cols) || !differ(x->cols, y->cols);
  if (!rows || !cols) return refuse(c, "extents are equal, or one is 1");
  return tile(c, x->elem, is_one(x->rows) ? y->rows : x->rows, is_one(x->cols) ? y->cols : x->cols);
}

/* The number of elements that a fold takes: the inner dimensions' product; where they are ragged,
 * a symbol for the most rows (or columns) of a result, of tiles of one. */
static const TdStpExpr *folded(const Call *c, bool down) {
  int64_t b = td_stp_opt(c->n, TD_STP_KEY_RANK, 1);
  const TdStpExpr *n = number(c, 1);
  for (int k = 0; k < b && k < c->in->ndim; k++) {
    if (c->in->dim[k].ragged) {
      TdStpSymbol of = {.dim = down ? -1 : -2};
      const char *name = td_stp_graph_symbol(c->g, c->n, "R", &c->g->nfresh, of);
      return td_stp_expr_symbol(c->g->exprs, name);
    }
    n = td_stp_expr_mul(c->g->exprs, n, c->in->dim[k].extent);
  }
  return n;
}

/* A fold that stacks tiles. */
static const TdStpType *stack(const Call *c, bool down) {
  const TdStpType *x = c->part[0];
  const TdStpExpr *n = folded(c, down);
  return tile(c, x->elem, down ? td_stp_expr_mul(c->g->exprs, x->rows, n) : x->rows,
              down ? x->cols : td_stp_expr_mul(c->g->exprs, x->cols, n));
}

static const TdStpType *selector(const Call *c, int64_t ways) {
  TdStpType *t = TD_NEW(c->g->arena, TdStpType);
  *t = (TdStpType){.kind = TD_STP_SELECTOR, .ways = ways};
  return t;
}

/* Functions of numbers and selectors; NULL where they do not fit, *known false where it is none. */
static const TdStpType *of_numbers(const Call *c, bool *known) {
  const TdType *u64 = td_type_uint(c->g->session, 64);
  *known = true;
  switch (c->n->fn.kind) {
  case TD_STP_FN_SIGNAL: return tile(c, u64, number(c, 1), number(c, 1));
  case TD_STP_FN_ADDRESSES:
    if (c->part[0]->kind != TD_STP_SELECTOR) return refuse(c, "it takes selectors");
    return tile(c, u64, number(c, 1), number(c, 1));
  case TD_STP_FN_CACHE_ADDRESSES:
  case TD_STP_FN_CACHE_SLOT:
    if (!is_index(c->part[0]) || !is_index(c->part[1])) return refuse(c, "it takes two numbers");
    return tile(c, u64, number(c, 1), number(c, 1));
  case TD_STP_FN_ONE_HOT:
    if (!is_index(c->part[0])) return refuse(c, "it takes numbers");
    return selector(c, c->n->fn.n);
  case TD_STP_FN_LAST_TILE:
    if (!is_index(c->part[0])) return refuse(c, "it takes numbers");
    return selector(c, 2);
  default: *known = false; return NULL;
  }
}

/* Sums of buffers of one shape, tile by tile. */
static const TdStpType *of_buffers(const Call *c) {
  const TdStpType *x = c->part[0];
  int64_t v;
  for (int k = 0; k < x->ndim; k++)
    if (x->dim[k].ragged || !td_stp_expr_is_const(x->dim[k].extent, &v))
      return refuse(c, "it adds buffers of one shape");
  return x->part[0]->kind == TD_STP_TILE ? x : refuse(c, "it adds buffers of tiles");
}

static const TdStpType *of_tiles(const Call *c) {
  const TdStpType *x = c->part[0];
  bool buffers = c->nparts == 1 && x->kind == TD_STP_BUFFER;
  if (buffers && c->n->op == TD_STP_ACCUM && c->n->fn.kind == TD_STP_FN_ADD) return of_buffers(c);
  for (size_t i = 0; i < c->nparts; i++)
    if (c->part[i]->kind != TD_STP_TILE) return refuse(c, "it takes tiles");
  switch (c->n->fn.kind) {
  case TD_STP_FN_MATMUL:
  case TD_STP_FN_MATMUL_T: return matmul(c, c->n->fn.kind == TD_STP_FN_MATMUL_T);
  case TD_STP_FN_DIV:
    if (x->elem->kind != TD_T_FLOAT) return refuse(c, "it takes floats");
    return combine(c);
  case TD_STP_FN_MUL: return combine(c);
  case TD_STP_FN_ADD: return c->nparts == 1 ? x : combine(c);
  case TD_STP_FN_SILU:
  case TD_STP_FN_EXP:
    if (x->elem->kind != TD_T_FLOAT) return refuse(c, "it takes floats");
    return x;
  case TD_STP_FN_ROW_SUM: return tile(c, x->elem, x->rows, number(c, 1));
  case TD_STP_FN_SET_OFFSET:
    if (!is_index(c->part[1])) return refuse(c, "it takes a tile and a number");
    return x;
  case TD_STP_FN_APPEND_ROW:
    if (differ(x->cols, c->part[1]->cols) || c->part[1]->elem != x->elem)
      return refuse(c, "the row is of other columns");
    return x;
  case TD_STP_FN_RETILE_ROW:
  case TD_STP_FN_RETILE_COL: return stack(c, c->n->fn.kind == TD_STP_FN_RETILE_ROW);
  case TD_STP_FN_SPLIT_ROWS: return tile(c, x->elem, number(c, 1), x->cols);
  default: return refuse(c, "it does not stand here");
  }
}

const TdStpType *td_stp_fn_type(TdStpGraph *g, const TdStpNode *n, const TdStpStream *in,
                                TdDiag *d) {
  bool is_tuple = in->type->kind == TD_STP_TUPLE;
  Call c = {g, n, in, is_tuple ? in->type->part : &in->type, is_tuple ? in->type->nparts : 1, d};
  if (n->fn.kind == TD_STP_FN_KERNEL && n->op == TD_STP_FLAT_MAP)
    return refuse(&c, "a kernel gives one tile for each");
  if (n->fn.kind == TD_STP_FN_KERNEL) return td_stp_kernel_type(g, n, c.part, c.nparts, d);
  const TdStpFnRow *row = &td_stp_fns[n->fn.kind];
  bool folds = n->op == TD_STP_ACCUM || n->op == TD_STP_SCAN;
  char place = folds ? 'a' : n->op == TD_STP_FLAT_MAP ? 'f' : 'm';
  if (!strchr(row->place, place)) return refuse(&c, "the function does not stand in this operator");
  size_t want = (size_t)row->parts - (folds ? 1 : 0);
  if (c.nparts != want)
    return refuse(&c,
                  td_text_fmt(d->arena, "it takes %zu part%s here", want, want == 1 ? "" : "s"));
  bool known;
  const TdStpType *t = of_numbers(&c, &known);
  return known ? t : of_tiles(&c);
}
