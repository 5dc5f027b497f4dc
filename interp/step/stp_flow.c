/* stp_flow.c - following the tiles of a stream through a graph, in order of nodes. */
#include "step/stp_flow.h"
#include "step/stp_kernel.h"

/* A node that reads what depends on the tiles. */
typedef struct Visit {
  TdStpFlows *f;
  const TdStpNode *n;
  TdStpFlow in[TD_STP_PARTS]; /* of its first inputs */
} Visit;

static TdStpFlow one(TdStpFlowKind kind, int at) {
  return (TdStpFlow){.kind = {(uint8_t)kind}, .n = 1, .at = at};
}

TdStpFlow td_stp_flow_of(const TdStpFlows *f, TdStpRef r) {
  TdStpRef s = td_stp_graph_source(f->g, r);
  return f->of[s.uid][s.out];
}

static bool depends(TdStpFlow x) {
  for (int i = 0; i < x.n; i++)
    if (x.kind[i] != TD_STP_APART) return true;
  return false;
}

/* The kind of all parts together: of the tile if one is. */
static TdStpFlowKind joint(TdStpFlow x) {
  TdStpFlowKind k = TD_STP_APART;
  for (int i = 0; i < x.n; i++)
    if (x.kind[i] > k) k = (TdStpFlowKind)x.kind[i];
  return k;
}

static bool refuse(Visit *v, const char *why) {
  if (!v->f->bad) {
    v->f->bad = v->n;
    v->f->why = why;
  }
  return false;
}

static void set(Visit *v, size_t out, TdStpFlow x) {
  v->f->of[v->n->uid][out] = x;
}

static bool is_one_row(const TdStpGraph *g, TdStpRef r, int part) {
  const TdStpType *t = td_stp_graph_stream(g, r)->type;
  int64_t rows;
  if (t->kind == TD_STP_TUPLE) t = t->part[part];
  return t->kind == TD_STP_TILE && td_stp_expr_is_const(t->rows, &rows) && rows == 1;
}

/* The same of a kernel: what has the rows of the tile is read by them, what has not is read whole.
 */
static bool kernel_is_by_rows(Visit *v, TdStpFlow x) {
  const TdStpFn *f = &v->n->fn;
  size_t first = v->n->op == TD_STP_ACCUM || v->n->op == TD_STP_SCAN;
  bool fits = td_stp_kernel_is_by_rows(f);
  for (int i = 0; fits && i < x.n; i++) {
    bool rows = td_stp_kernel_has_rows(f, td_stp_kernel_read(f, (size_t)i + first));
    fits = x.kind[i] == TD_STP_APART || rows == (x.kind[i] == TD_STP_OF_TILE);
  }
  return fits || refuse(v, "is a kernel that does not treat each row of a tile by itself");
}

/* Whether row i of the result is made of row i of every part of the tile, and of nothing else of
 * it. */
static bool is_by_rows(Visit *v, TdStpFlow x) {
  if (v->n->fn.kind == TD_STP_FN_KERNEL) return kernel_is_by_rows(v, x);
  switch (v->n->fn.kind) {
  case TD_STP_FN_MATMUL:
  case TD_STP_FN_MATMUL_T:
    if (x.kind[1] == TD_STP_OF_TILE) return refuse(v, "sums over the rows of a tile");
    return true;
  case TD_STP_FN_MUL:
  case TD_STP_FN_DIV:
  case TD_STP_FN_ADD:
    for (int i = 0; i < x.n; i++)
      if (x.kind[i] == TD_STP_ALIKE && !is_one_row(v->f->g, v->n->in[0], i))
        return refuse(v, "combines the rows of a tile with others by their number");
    return true;
  case TD_STP_FN_SILU:
  case TD_STP_FN_EXP:
  case TD_STP_FN_ROW_SUM:
  case TD_STP_FN_RETILE_COL: return true;
  default: return refuse(v, "does not treat each row of a tile by itself");
  }
}

static bool function(Visit *v) {
  TdStpFlow x = v->in[0];
  TdStpFlowKind k = joint(x);
  if ((v->f->mode == TD_STP_EACH_ROW) && k == TD_STP_OF_TILE && !is_by_rows(v, x)) return false;
  int b = 0;
  if (v->n->op == TD_STP_ACCUM || v->n->op == TD_STP_MAP_ACCUM || v->n->op == TD_STP_SCAN)
    b = (int)td_stp_opt(v->n, TD_STP_KEY_RANK, 1);
  if (b > x.at) return refuse(v, "folds over several tiles");
  if (v->n->extra.type && (v->f->mode == TD_STP_EACH_ROW) && k == TD_STP_OF_TILE)
    return refuse(v, "begins with a tile of its own");
  TdStpFlow out = one(k, v->n->op == TD_STP_SCAN ? x.at : x.at - b);
  out.routed = x.routed, out.by = x.by, out.way = x.way;
  set(v, 0, out);
  return true;
}

static bool flat_map(Visit *v) {
  TdStpFlow x = v->in[0];
  int b = (int)td_stp_opt(v->n, TD_STP_KEY_RANK, 0);
  if ((v->f->mode == TD_STP_EACH_ROW) && joint(x) == TD_STP_OF_TILE) {
    if (v->n->fn.kind != TD_STP_FN_SPLIT_ROWS) return refuse(v, "is not split_rows");
    if (x.at > 0 || b) return refuse(v, "splits several tiles of a group, one after the other");
    return true; /* rows again, in their order */
  }
  if ((x.at == 0 && !b) || x.routed) return refuse(v, "joins what comes of several tiles");
  set(v, 0, one(joint(x), x.at + b));
  return true;
}

static bool flatten(Visit *v) {
  TdStpFlow x = v->in[0];
  const TdStpStream *in = td_stp_graph_stream(v->f->g, v->n->in[0]);
  int lo = (int)v->n->lo, hi = (int)v->n->hi;
  if (x.routed && x.at >= lo && x.at <= hi && lo < hi)
    return refuse(v, "joins what selectors chose of several tiles");
  if (x.at >= lo && x.at <= hi) {
    for (int k = lo; k <= hi; k++) {
      int64_t e;
      bool is_one = !in->dim[k].ragged && td_stp_expr_is_const(in->dim[k].extent, &e) && e == 1;
      if (k != x.at && k < x.at && !is_one) return refuse(v, "joins tiles with what is within one");
    }
    x.at = lo;
  } else if (x.at > hi) {
    x.at -= hi - lo;
  }
  set(v, 0, x);
  return true;
}

static bool reshape(Visit *v) {
  TdStpFlow x = v->in[0];
  int64_t b = td_stp_opt(v->n, TD_STP_KEY_RANK, 0);
  if (b >= x.at || td_stp_opt(v->n, TD_STP_KEY_OUTER, 0))
    return refuse(v, "makes groups of several tiles");
  x.at++;
  set(v, 0, x);
  set(v, 1, one(TD_STP_ALIKE, x.at));
  return true;
}

/* Whether what is routed comes once for each tile: last_tile sends one of each to way 0. */
static bool is_one_each(const Visit *v, TdStpFlow x) {
  const TdStpNode *by = td_stp_graph_node(v->f->g, x.by);
  return by->op == TD_STP_FLAT_MAP && by->fn.kind == TD_STP_FN_LAST_TILE && !x.way && !x.at;
}

/* Whether the elements of two streams belong to the same tiles, pair by pair. */
static bool pairs(const Visit *v, TdStpFlow x, TdStpFlow y) {
  if (x.routed && y.routed) return x.by == y.by && x.way == y.way && x.at == y.at;
  if (x.routed) return is_one_each(v, x) && !y.at;
  if (y.routed) return is_one_each(v, y) && !x.at;
  return x.at == y.at;
}

static bool zip(Visit *v) {
  TdStpFlow x = v->in[0], y = v->in[1];
  if (!depends(x) || !depends(y)) return refuse(v, "pairs tiles with what comes apart from them");
  if (!pairs(v, x, y)) return refuse(v, "pairs what selectors chose with what comes for each");
  TdStpFlow z = x.routed ? x : y;
  for (int i = 0; i < x.n; i++) z.kind[i] = x.kind[i];
  z.n = x.n;
  for (int i = 0; i < y.n && z.n < TD_STP_PARTS; i++) z.kind[z.n++] = y.kind[i];
  set(v, 0, z);
  return true;
}

static bool load(Visit *v) {
  if (v->n->has_valid) return refuse(v, "loads as many valid rows as a stream tells");
  if (v->in[0].routed) return refuse(v, "loads for what selectors chose");
  set(v, 0, one(TD_STP_ALIKE, v->in[0].at + v->n->nshape));
  return true;
}

static bool load_at(Visit *v) {
  if (v->n->has_valid) return refuse(v, "loads as many valid rows as a stream tells");
  TdStpFlow x = one(joint(v->in[0]), v->in[0].at);
  x.routed = v->in[0].routed, x.by = v->in[0].by, x.way = v->in[0].way;
  set(v, 0, x);
  return true;
}

static bool expand(Visit *v) {
  if (!depends(v->in[0]) || !depends(v->in[1]))
    return refuse(v, "repeats along what comes apart from it");
  if (v->in[0].routed || v->in[1].routed) return refuse(v, "repeats what selectors chose");
  set(v, 0, one(joint(v->in[0]), v->in[1].at));
  return true;
}

static bool promote(Visit *v) {
  TdStpFlow x = v->in[0];
  if (v->n->opt[TD_STP_KEY_AT] <= x.at) x.at++;
  set(v, 0, x);
  return true;
}

static bool rep(Visit *v) {
  TdStpFlow x = v->in[0];
  x.at++;
  set(v, 0, x);
  return true;
}

/* Chunks of a request that selectors of the request route. */
static bool partition(Visit *v) {
  TdStpFlow x = v->in[0], sel = v->in[1];
  int b = (int)td_stp_opt(v->n, TD_STP_KEY_RANK, 0);
  if (!depends(x) || !depends(sel) || x.routed || sel.routed || x.at - b != sel.at)
    return refuse(v, "routes chunks by selectors that are not of their request");
  for (size_t k = 0; k < v->n->nout; k++) {
    TdStpFlow y = x;
    y.at = b;
    y.routed = true;
    y.by = td_stp_graph_source(v->f->g, v->n->in[1]).uid;
    y.way = (uint32_t)k;
    set(v, k, y);
  }
  return true;
}

/* Chunks put back by the selectors that routed them. */
static bool reassemble(Visit *v) {
  size_t last = v->n->nin - 1;
  TdStpFlow sel = td_stp_flow_of(v->f, v->n->in[last]);
  uint32_t by = td_stp_graph_source(v->f->g, v->n->in[last]).uid;
  int b = (int)td_stp_opt(v->n, TD_STP_KEY_RANK, 0);
  bool own = depends(sel) && !sel.routed;
  for (size_t k = 0; k < last && own; k++) {
    TdStpFlow x = td_stp_flow_of(v->f, v->n->in[k]);
    own = x.routed && x.by == by && x.way == k && x.at == b;
  }
  if (!own) return refuse(v, "gathers chunks by selectors that did not route them");
  set(v, 0, one(TD_STP_OF_TILE, sel.at + b + 1));
  return true;
}

static bool store_at(Visit *v) {
  TdStpFlow a = v->in[0], x = v->in[1];
  if (!depends(a) || !depends(x) || a.routed || !pairs(v, a, x))
    return refuse(v, "writes at addresses that are not of the request");
  set(v, 0, a);
  return true;
}

/* A node that takes requests, besides those that take tiles. */
static bool visit_request(Visit *v) {
  switch (v->n->op) {
  case TD_STP_PARTITION: return partition(v);
  case TD_STP_REASSEMBLE: return reassemble(v);
  case TD_STP_STORE_AT: return store_at(v);
  case TD_STP_STORE: return refuse(v, "writes in order of arrival");
  default: return refuse(v, "takes requests together");
  }
}

/* A node that reads the tiles: what of it comes for each of them, or why it does not. */
static bool visit(Visit *v) {
  switch (v->n->op) {
  case TD_STP_MAP:
  case TD_STP_ACCUM:
  case TD_STP_MAP_ACCUM:
  case TD_STP_SCAN: return function(v);
  case TD_STP_FLAT_MAP: return flat_map(v);
  case TD_STP_FLATTEN: return flatten(v);
  case TD_STP_RESHAPE: return reshape(v);
  case TD_STP_ZIP: return zip(v);
  case TD_STP_LOAD: return load(v);
  case TD_STP_LOAD_AT: return load_at(v);
  case TD_STP_EXPAND: return expand(v);
  case TD_STP_PROMOTE: return promote(v);
  case TD_STP_REP: return rep(v);
  case TD_STP_SINK: return true;
  default:
    return v->f->mode == TD_STP_EACH_REQUEST ? visit_request(v) : refuse(v, "takes tiles together");
  }
}

static bool is_output(const TdStpGraph *g, const TdStpNode *n) {
  for (size_t i = 0; i < g->output.n; i++)
    if (td_stp_graph_source(g, g->output.at[i]).uid == n->uid) return true;
  return false;
}

static bool is_from(const TdStpRef *from, size_t nfrom, uint32_t uid) {
  for (size_t i = 0; i < nfrom; i++)
    if (from[i].uid == uid) return true;
  return false;
}

TdStpFlows td_stp_flow_follow(TdArena *a, const TdStpGraph *g, const TdStpRef *from, size_t nfrom,
                              TdStpFlowMode mode, uint32_t end) {
  TdStpFlows f = {.g = g, .mode = mode, .end = end};
  f.of = TD_NEWN(a, TdStpFlow *, g->by_uid.n + 1);
  for (size_t i = 0; i < g->node.n; i++)
    f.of[g->node.at[i]->uid] = TD_NEWN(a, TdStpFlow, g->node.at[i]->nout + 1);
  for (size_t i = 0; i < nfrom; i++)
    f.of[from[i].uid][from[i].out] = one(TD_STP_OF_TILE, td_stp_graph_stream(g, from[i])->ndim - 1);
  for (size_t i = 0; i < g->node.n && !f.bad; i++) {
    Visit v = {.f = &f, .n = g->node.at[i]};
    if (v.n->op == TD_STP_ASSUME_SHAPE || v.n->op == TD_STP_FEEDBACK ||
        is_from(from, nfrom, v.n->uid))
      continue;
    bool some = false;
    for (size_t k = 0; k < v.n->nin; k++) {
      TdStpFlow x = td_stp_flow_of(&f, v.n->in[k]);
      if (td_stp_graph_source(g, v.n->in[k]).uid == end) x = (TdStpFlow){0};
      if (k < TD_STP_PARTS) v.in[k] = x;
      some |= depends(x);
    }
    if (some) visit(&v);
  }
  for (size_t i = 0; i < g->node.n && !f.bad && mode != TD_STP_EACH_REQUEST; i++) {
    Visit v = {.f = &f, .n = g->node.at[i]};
    if (v.n->uid != end && is_output(g, v.n) && td_stp_flow_reaches(&f, v.n))
      refuse(&v, "is an output of the graph");
  }
  return f;
}

bool td_stp_flow_reads(const TdStpFlows *f, const TdStpNode *n) {
  for (size_t k = 0; k < n->nin; k++)
    if (depends(td_stp_flow_of(f, n->in[k]))) return true;
  return false;
}

bool td_stp_flow_reaches(const TdStpFlows *f, const TdStpNode *n) {
  for (size_t k = 0; k < n->nout; k++)
    if (depends(f->of[n->uid][k])) return true;
  return false;
}
