/* stp_metric.c - off-chip traffic and on-chip memory, a term for each node. */
#include "step/stp_kernel.h"
#include "step/stp_metric.h"

/* What the terms of one graph are made with. */
typedef struct Metric {
  TdStpGraph *g;
  TdStpMetric o;
} Metric;

static const TdStpExpr *zero(const Metric *m) {
  return td_stp_expr_const(m->g->exprs, 0);
}

/* Bytes of an element: what moves may count other bytes than its type. */
static int64_t element_bytes(const Metric *m, const TdType *t, bool moves) {
  if (m->o.bytes && t->kind == TD_T_FLOAT && (moves || m->o.as == TD_STP_AS_TYPES))
    return m->o.bytes;
  return (int64_t)td_type_bytes(t);
}

/* Bytes of one element of a type; buffers and selectors: what they hold. */
static const TdStpExpr *bytes_of(const Metric *m, const TdStpType *t, bool moves) {
  TdStpExprs *x = m->g->exprs;
  const TdStpExpr *sum = zero(m);
  switch (t->kind) {
  case TD_STP_TILE:
    return td_stp_expr_scale(x, td_stp_shape_elements(m->g, t), element_bytes(m, t->elem, moves));
  case TD_STP_BUFFER: {
    TdStpStream s = {.type = t->part[0], .ndim = t->ndim};
    for (int k = 0; k < t->ndim; k++) s.dim[k] = t->dim[k];
    return td_stp_expr_mul(x, td_stp_shape_count(m->g, &s, 0), bytes_of(m, t->part[0], moves));
  }
  case TD_STP_SELECTOR: return td_stp_expr_const(x, t->ways);
  case TD_STP_TUPLE:
    for (size_t i = 0; i < t->nparts; i++)
      sum = td_stp_expr_add(x, sum, bytes_of(m, t->part[i], moves));
    return sum;
  }
  return sum;
}

static const TdStpStream *input(const Metric *m, const TdStpNode *n, size_t i) {
  return td_stp_graph_stream(m->g, n->in[i]);
}

/* The tile that a node loads or stores. */
static const TdStpType *moved(const Metric *m, const TdStpNode *n) {
  if (n->op == TD_STP_STORE) return input(m, n, 0)->type;
  if (n->op == TD_STP_STORE_AT) return input(m, n, 1)->type;
  return n->out[0].type;
}

/* Off-chip bytes of one node. */
const TdStpExpr *td_stp_metric_traffic_of(TdStpGraph *g, const TdStpNode *n, TdStpMetric o) {
  Metric m = {g, o};
  bool stores = n->op == TD_STP_STORE || n->op == TD_STP_STORE_AT;
  if (!stores && n->op != TD_STP_LOAD && n->op != TD_STP_LOAD_AT) return zero(&m);
  const TdStpStream *s = n->op == TD_STP_STORE ? input(&m, n, 0) : &n->out[0];
  return td_stp_expr_mul(g->exprs, td_stp_shape_count(g, s, 0),
                         bytes_of(&m, moved(&m, n), !stores));
}

/* Tiles at the ends of a node's FIFOs. */
static const TdStpExpr *endpoints(const Metric *m, const TdStpNode *n) {
  const TdStpExpr *sum = zero(m);
  for (size_t i = 0; i < n->nin; i++)
    sum = td_stp_expr_add(m->g->exprs, sum, bytes_of(m, input(m, n, i)->type, false));
  for (size_t i = 0; i < n->nout; i++)
    sum = td_stp_expr_add(m->g->exprs, sum, bytes_of(m, n->out[i].type, false));
  return sum;
}

static bool is_matmul(const TdStpNode *n) {
  return n->fn.kind == TD_STP_FN_MATMUL || n->fn.kind == TD_STP_FN_MATMUL_T;
}

/* The paper's product: a row of 16 operands, the weights, the result. */
static const TdStpExpr *paper_matmul(const Metric *m, const TdStpNode *n) {
  const TdStpType *t = input(m, n, 0)->type;
  if (t->kind != TD_STP_TUPLE || t->nparts < 2) return zero(m);
  TdStpExprs *x = m->g->exprs;
  const TdStpExpr *part[] = {td_stp_expr_scale(x, t->part[0]->cols, 16),
                             bytes_of(m, t->part[1], false), bytes_of(m, n->out[0].type, false)};
  return td_stp_expr_sum(x, part, 3);
}

static const TdStpExpr *held(const Metric *m, const TdStpNode *n) {
  TdStpExprs *x = m->g->exprs;
  bool paper = m->o.as == TD_STP_AS_PAPER;
  switch (n->op) {
  case TD_STP_LOAD:
  case TD_STP_LOAD_AT:
    return td_stp_expr_scale(x, bytes_of(m, moved(m, n), true),
                             td_stp_opt(n, TD_STP_KEY_AHEAD, 1) + paper);
  case TD_STP_STORE:
  case TD_STP_STORE_AT: return td_stp_expr_scale(x, bytes_of(m, moved(m, n), false), paper ? 2 : 1);
  case TD_STP_BUFFERIZE:
    return td_stp_expr_add(x, bytes_of(m, n->out[0].type->part[0], false),
                           td_stp_expr_scale(x, bytes_of(m, n->out[0].type, false), 2));
  case TD_STP_STREAMIFY:
    if (paper) return zero(m);
    return td_stp_expr_add(x, bytes_of(m, n->out[0].type, false),
                           bytes_of(m, input(m, n, 0)->type, false));
  case TD_STP_MAP_ACCUM:
    if (paper && is_matmul(n)) return paper_matmul(m, n);
    return bytes_of(m, n->out[0].type, false);
  case TD_STP_EXPAND:
  case TD_STP_REP:
  case TD_STP_ACCUM:
  case TD_STP_SCAN: return bytes_of(m, n->out[0].type, false);
  case TD_STP_MAP: return paper && is_matmul(n) ? paper_matmul(m, n) : zero(m);
  default: return zero(m);
  }
}

/* Whether memory is counted where only tiles pass: what a load or store keeps is its tile. */
static bool has_endpoints(const TdStpNode *n) {
  return n->op != TD_STP_LOAD && n->op != TD_STP_LOAD_AT && n->op != TD_STP_STORE &&
         n->op != TD_STP_STORE_AT && n->op != TD_STP_ASSUME_SHAPE && n->op != TD_STP_FEEDBACK &&
         n->op != TD_STP_ZIP;
}

const TdStpExpr *td_stp_metric_memory_of(TdStpGraph *g, const TdStpNode *n, TdStpMetric o) {
  Metric m = {g, o};
  const TdStpExpr *e = held(&m, n);
  if (o.as == TD_STP_AS_FIFOS && has_endpoints(n))
    e = td_stp_expr_add(g->exprs, e, endpoints(&m, n));
  if (!o.live) return e;
  const TdStpStream *s = n->nout ? &n->out[0] : input(&m, n, 0);
  const TdStpExpr *some = td_stp_expr_positive(g->exprs, td_stp_shape_count(g, s, 0));
  return td_stp_expr_mul(g->exprs, e, some);
}

typedef const TdStpExpr *(*Term)(TdStpGraph *g, const TdStpNode *n, TdStpMetric o);

static const TdStpExpr *sum_of(TdStpGraph *g, TdStpMetric o, Term f) {
  const TdStpExpr **part = TD_NEWN(g->arena, const TdStpExpr *, g->node.n + 1);
  for (size_t i = 0; i < g->node.n; i++) part[i] = f(g, g->node.at[i], o);
  return td_stp_expr_sum(g->exprs, part, g->node.n);
}

const TdStpExpr *td_stp_metric_traffic(TdStpGraph *g, TdStpMetric o) {
  return sum_of(g, o, td_stp_metric_traffic_of);
}

const TdStpExpr *td_stp_metric_memory(TdStpGraph *g, TdStpMetric o) {
  return sum_of(g, o, td_stp_metric_memory_of);
}

/* FLOPs of a node's function on one element. */
static const TdStpExpr *flops_of_one(const Metric *m, const TdStpNode *n) {
  TdStpExprs *x = m->g->exprs;
  const TdStpType *in = input(m, n, 0)->type;
  const TdStpType *a = in->kind == TD_STP_TUPLE ? in->part[0] : in, *out = n->out[0].type;
  if (n->fn.kind == TD_STP_FN_KERNEL) {
    bool tuple = in->kind == TD_STP_TUPLE;
    TdDiag known = {.arena = m->g->arena};
    return td_stp_kernel_flops(m->g, n, tuple ? in->part : &in, tuple ? in->nparts : 1, &known);
  }
  if (a->kind == TD_STP_BUFFER && out->kind == TD_STP_BUFFER) {
    TdStpStream s = {.type = a->part[0], .ndim = a->ndim};
    for (int k = 0; k < a->ndim; k++) s.dim[k] = a->dim[k];
    return td_stp_expr_mul(x, td_stp_shape_count(m->g, &s, 0),
                           td_stp_shape_elements(m->g, a->part[0]));
  }
  if (out->kind != TD_STP_TILE || a->kind != TD_STP_TILE) return zero(m);
  const TdStpExpr *each = td_stp_shape_elements(m->g, out);
  switch (n->fn.kind) {
  case TD_STP_FN_MATMUL:
  case TD_STP_FN_MATMUL_T: return td_stp_expr_scale(x, td_stp_expr_mul(x, each, a->cols), 2);
  case TD_STP_FN_SILU: return td_stp_expr_scale(x, each, 8);
  case TD_STP_FN_EXP: return td_stp_expr_scale(x, each, 4);
  case TD_STP_FN_ROW_SUM: return td_stp_shape_elements(m->g, a);
  case TD_STP_FN_MUL:
  case TD_STP_FN_DIV:
  case TD_STP_FN_ADD: return each;
  default: return zero(m);
  }
}

const TdStpExpr *td_stp_metric_flops_of(TdStpGraph *g, const TdStpNode *n, TdStpMetric o) {
  Metric m = {g, o};
  bool computes = n->op == TD_STP_MAP || n->op == TD_STP_ACCUM || n->op == TD_STP_MAP_ACCUM ||
                  n->op == TD_STP_SCAN;
  if (!computes) return zero(&m);
  const TdStpExpr *count = td_stp_shape_count(g, input(&m, n, 0), 0);
  return td_stp_expr_mul(g->exprs, count, flops_of_one(&m, n));
}

const TdStpExpr *td_stp_metric_flops(TdStpGraph *g) {
  return sum_of(g, (TdStpMetric){.as = TD_STP_AS_TYPES}, td_stp_metric_flops_of);
}
