/* stp_shape.c - shapes in words and as counts; which rule an operator has. */
#include "step/stp_rule.h"

/* Whether extents are not two different numbers. */
static bool may_equal(const TdStpExpr *a, const TdStpExpr *b) {
  int64_t x, y;
  return !td_stp_expr_is_const(a, &x) || !td_stp_expr_is_const(b, &y) || x == y;
}

bool td_stp_shape_agrees(const TdStpType *a, const TdStpType *b) {
  bool ok = a->kind == b->kind && a->nparts == b->nparts && a->ndim == b->ndim;
  if (ok && a->kind == TD_STP_TILE)
    return a->elem == b->elem && may_equal(a->rows, b->rows) && may_equal(a->cols, b->cols);
  if (ok && a->kind == TD_STP_SELECTOR) return !a->ways || !b->ways || a->ways == b->ways;
  for (int k = 0; ok && k < a->ndim; k++)
    ok = a->dim[k].ragged || b->dim[k].ragged || may_equal(a->dim[k].extent, b->dim[k].extent);
  for (size_t i = 0; ok && i < a->nparts; i++) ok = td_stp_shape_agrees(a->part[i], b->part[i]);
  return ok;
}

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
  case TD_STP_SELECTOR: td_text_putf(out, "selectors of %lld", (long long)t->ways); return;
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

static void put_shape(TdText *out, const TdStpStream *s) {
  print_dims(out, s->dim, s->ndim);
  td_text_puts(out, " of ");
  td_stp_shape_print_type(out, s->type);
}

const char *td_stp_shape_str(TdArena *a, const TdStpStream *s) {
  TdText t = td_text_new(a);
  put_shape(&t, s);
  return td_text_str(&t);
}

bool td_stp_shape_of(TdStpGraph *g, TdStpNode *n, TdDiag *d) {
  static bool (*const rule[])(TdStpRule *) = {
      [TD_STP_LOAD] = td_stp_rule_load,
      [TD_STP_LOAD_AT] = td_stp_rule_load_at,
      [TD_STP_STORE] = td_stp_rule_store,
      [TD_STP_STORE_AT] = td_stp_rule_store_at,
      [TD_STP_SELECTORS] = td_stp_rule_selectors,
      [TD_STP_VALUES] = td_stp_rule_values,
      [TD_STP_SINK] = td_stp_rule_sink,
      [TD_STP_FEEDBACK] = td_stp_rule_feedback,
      [TD_STP_BUFFERIZE] = td_stp_rule_bufferize,
      [TD_STP_STREAMIFY] = td_stp_rule_streamify,
      [TD_STP_PARTITION] = td_stp_rule_partition,
      [TD_STP_REASSEMBLE] = td_stp_rule_reassemble,
      [TD_STP_EAGER_MERGE] = td_stp_rule_eager_merge,
      [TD_STP_PARALLELIZE] = td_stp_rule_parallelize,
      [TD_STP_ZIP] = td_stp_rule_zip,
      [TD_STP_MAP] = td_stp_rule_map,
      [TD_STP_ACCUM] = td_stp_rule_accum,
      [TD_STP_MAP_ACCUM] = td_stp_rule_accum,
      [TD_STP_SCAN] = td_stp_rule_accum,
      [TD_STP_FLAT_MAP] = td_stp_rule_flat_map,
      [TD_STP_FLATTEN] = td_stp_rule_flatten,
      [TD_STP_RESHAPE] = td_stp_rule_reshape,
      [TD_STP_PROMOTE] = td_stp_rule_promote,
      [TD_STP_EXPAND] = td_stp_rule_expand,
      [TD_STP_REP] = td_stp_rule_rep,
      [TD_STP_ASSUME_SHAPE] = td_stp_rule_assume_shape,
  };
  TdStpRule r = {g, n, d};
  return rule[n->op](&r);
}
