/* stp_tile_all.c - tile_all: every node on the physical tile (hierarchical tiling, STeP B.2). A
 * stream whose tiles are larger has two dimensions more, innermost: rows of physical tiles, and
 * tiles in each. Products read their operands again out of buffers, each in a scratchpad of its
 * own, in order of the parts of the result; sums over other dimensions keep a buffer of parts. What
 * the graph returns is put together again. */
#include <string.h>

#include "step/stp_rewrite.h"

enum { TILE };

/* Physical tiles of one tile: down and across; both 1: as it was. */
typedef struct Cut {
  int64_t down, across;
} Cut;

typedef struct Cutting {
  TdStpRewrite *r;
  TdStpEdit *e;
  int64_t rows, cols; /* of the physical tile */
  Cut **cut;          /* by uid of the nodes before, and output */
  TdStpNode *at;      /* the node at work */
  bool reorders;      /* some sum is made in another order */
} Cutting;

static bool refuse(const Cutting *c, const TdStpNode *n, const char *why) {
  return td_stp_rewrite_refuse(c->r, TD_ILLEGAL, "step-tile", n->loc, "'%s' %s",
                               td_stp_rewrite_name(c->r, n), why);
}

static bool is_cut(Cut c) {
  return c.down * c.across > 1;
}

/* What a node read first in the graph before. */
static const TdStpNode *read_by(const Cutting *c, const TdStpNode *n) {
  return td_stp_graph_node(c->r->g, td_stp_graph_node(c->r->g, n->uid)->in[0].uid);
}

/* How input i of a node of the graph before is cut. */
static Cut cut_in(const Cutting *c, const TdStpNode *n, size_t i) {
  TdStpRef r = td_stp_graph_node(c->r->g, n->uid)->in[i];
  return c->cut[r.uid][r.out];
}

static void set(TdStpNode *n, TdStpKey k, int64_t v) {
  n->opt[k] = v;
  n->has |= 1u << k;
}

/* How the tiles of a stream are cut; others than tiles are not. False: their extents do not fit. */
static bool measure(const Cutting *c, const TdStpNode *n, const TdStpType *t, Cut *cut) {
  int64_t rows, cols;
  *cut = (Cut){1, 1};
  if (t->kind != TD_STP_TILE) return true;
  if (!td_stp_expr_is_const(t->rows, &rows) || !td_stp_expr_is_const(t->cols, &cols))
    return refuse(c, n, "has tiles whose extents data decides");
  if ((rows > c->rows && rows % c->rows) || (cols > c->cols && cols % c->cols))
    return refuse(c, n, "has tiles that the physical tile does not cut evenly");
  if (rows > c->rows) cut->down = rows / c->rows;
  if (cols > c->cols) cut->across = cols / c->cols;
  return true;
}

/* ---- nodes between ---- */

static TdStpRef put(const Cutting *c, TdStpOp op, const char *ending, const TdStpRef *in, size_t n,
                    TdStpNode with) {
  const char *name = td_text_fmt(c->r->arena, "%s_%s", c->at->name, ending);
  with.op = op;
  with.name = td_names_str(c->r->g->session->names, name);
  with.loc = c->at->loc;
  with.site = c->at->site;
  with.in = in;
  with.nin = n;
  return (TdStpRef){td_stp_edit_add(c->e, c->at->uid, &with), 0};
}

static TdStpRef promote(const Cutting *c, TdStpRef x, int64_t at) {
  TdStpNode n = {0};
  set(&n, TD_STP_KEY_AT, at);
  return put(c, TD_STP_PROMOTE, "dim", &x, 1, n);
}

/* A scratchpad that no buffer lies in yet, named after the node at work. */
static const char *free_place(const Cutting *c) {
  const char *node = td_stp_rewrite_name(c->r, c->at), *name = NULL;
  for (int k = 1; !name; k++) {
    name = td_names_str(c->r->g->session->names, td_text_fmt(c->r->arena, "%s:%d", node, k));
    for (size_t i = 0; i < c->e->node.n && name; i++)
      if (c->e->node.at[i] && c->e->node.at[i]->place == name) name = NULL;
  }
  return name;
}

/* A buffer in a scratchpad of its own. */
static TdStpRef bufferize(const Cutting *c, TdStpRef x, int64_t rank) {
  TdStpNode n = {0};
  set(&n, TD_STP_KEY_RANK, rank);
  n.place = free_place(c);
  return put(c, TD_STP_BUFFERIZE, "kept", &x, 1, n);
}

static TdStpRef streamify(const Cutting *c, TdStpRef x, int64_t times) {
  TdStpNode n = {.nshape = times ? 1 : 0, .shape = {times}};
  return put(c, TD_STP_STREAMIFY, "again", &x, 1, n);
}

static TdStpRef flatten(const Cutting *c, TdStpRef x, int64_t lo, int64_t hi) {
  return put(c, TD_STP_FLATTEN, "flat", &x, 1, (TdStpNode){.lo = lo, .hi = hi});
}

static TdStpRef accum(const Cutting *c, TdStpRef x, TdStpFnKind fn, int64_t rank) {
  TdStpNode n = {0};
  const char *name = td_text_fmt(c->r->arena, "fn.%s", td_stp_fns[fn].name);
  n.fn = (TdStpFn){.kind = fn, .name = td_names_str(c->r->g->session->names, name)};
  set(&n, TD_STP_KEY_RANK, rank);
  return put(c, TD_STP_ACCUM, "sum", &x, 1, n);
}

/* The stream with its two dimensions, also where it is not cut. */
static TdStpRef spread(const Cutting *c, TdStpRef x, Cut cut) {
  return is_cut(cut) ? x : promote(c, promote(c, x, 0), 0);
}

/* The stream without its two dimensions, where what they hold is one tile. */
static TdStpRef gather(const Cutting *c, TdStpRef x) {
  return flatten(c, flatten(c, x, 0, 1), 0, 1);
}

static TdStpRef *inputs(TdStpNode *n) {
  return (TdStpRef *)(uintptr_t)n->in;
}

/* ---- operators ---- */

/* A load reads the parts of each tile in order, as many under way as a tile has. */
static bool cut_load(const Cutting *c, TdStpNode *n, Cut cut) {
  int64_t cols = 1, reach = 0;
  if (n->has_valid) return refuse(c, n, "has tiles whose valid rows a stream tells");
  if (n->tensor.tile) return refuse(c, n, "reads a tensor that a step put together");
  if (n->nshape + 2 > TD_STP_RANK) return refuse(c, n, "has no room for two dimensions");
  td_type_extent(n->tensor.type, n->tensor.type->rank - 1, &cols);
  int64_t across = cols / n->cols, wide = across * cut.across;
  for (int k = 0; k < n->nshape; k++)
    if (n->shape[k]) reach += (n->shape[k] - 1) * (n->stride[k] % across);
  if (reach >= across) return refuse(c, n, "goes from one row of tiles to the next in a dimension");
  for (int k = 0; k < n->nshape; k++)
    n->stride[k] = n->stride[k] / across * cut.down * wide + n->stride[k] % across * cut.across;
  n->shape[n->nshape] = cut.down, n->stride[n->nshape++] = wide;
  n->shape[n->nshape] = cut.across, n->stride[n->nshape++] = 1;
  n->rows /= cut.down;
  n->cols /= cut.across;
  int64_t ahead = td_stp_opt(n, TD_STP_KEY_AHEAD, 1) * cut.down * cut.across;
  set(n, TD_STP_KEY_AHEAD, ahead < TD_STP_AHEAD ? ahead : TD_STP_AHEAD);
  return true;
}

/* Parts come row by row of a tile, and are written in order: they fill the tensor where a tile is
 * as wide as it, or as high as the physical tile. */
static bool cut_store(const Cutting *c, TdStpNode *n, Cut cut) {
  int64_t cols = 1;
  td_type_extent(n->tensor.type, n->tensor.type->rank - 1, &cols);
  if (cut.down == 1 || n->cols == cols) return true;
  return refuse(c, n, "writes tiles that are neither as wide as the tensor nor one part high");
}

/* An operand of a function of elements, for each part of the result. */
static void broadcast(const Cutting *c, TdStpRef *x, Cut from, Cut to, TdStpRef ref) {
  TdStpNode n = {0};
  TdStpRef pair[2] = {*x, ref};
  if (from.down == to.down && from.across == to.across) return;
  if (from.across > 1) {
    *x = flatten(c, streamify(c, bufferize(c, *x, 1), to.down), 1, 2);
    return;
  }
  pair[0] = spread(c, *x, from);
  set(&n, TD_STP_KEY_RANK, from.down == to.down ? 1 : 2);
  *x = put(c, TD_STP_EXPAND, "each", pair, 2, n);
}

/* The pair that a function reads, which nobody else does; NULL with the reason told. */
static TdStpNode *pair_of(const Cutting *c, const TdStpNode *n) {
  const TdStpNode *zip = read_by(c, n);
  if (zip->op == TD_STP_ZIP && zip->nin == 2 && td_stp_rewrite_reader(c->r, zip))
    return td_stp_edit_node(c->e, zip->uid);
  refuse(c, zip, "is no pair that one function alone reads");
  return NULL;
}

static bool cut_elementwise(const Cutting *c, const TdStpNode *n, Cut out) {
  if (read_by(c, n)->op != TD_STP_ZIP) return true;
  TdStpNode *zip = pair_of(c, n);
  if (!zip) return false;
  Cut a = cut_in(c, zip, 0), b = cut_in(c, zip, 1);
  bool first = a.down == out.down && a.across == out.across;
  bool second = b.down == out.down && b.across == out.across;
  if (!first && !second) return refuse(c, n, "repeats both of its operands");
  Cutting own = *c;
  own.at = zip;
  size_t i = first ? 1 : 0;
  broadcast(&own, &inputs(zip)[i], first ? b : a, out, zip->in[1 - i]);
  return true;
}

/* The second operand of a product, column by column of its parts. A load that nobody else reads
 * reads them in this order, else a buffer is read by columns. */
static TdStpRef by_columns(const Cutting *c, TdStpRef x, Cut w, int64_t times) {
  const TdStpNode *zip = td_stp_graph_node(c->r->g, c->at->uid);
  const TdStpNode *from = td_stp_graph_node(c->r->g, zip->in[1].uid);
  if (from->op == TD_STP_LOAD && is_cut(w) && td_stp_rewrite_reader(c->r, from)) {
    TdStpNode *load = td_stp_edit_node(c->e, from->uid);
    int at = load->nshape - 2;
    int64_t step = load->stride[at];
    load->shape[at] = w.across, load->stride[at] = 1;
    load->shape[at + 1] = w.down, load->stride[at + 1] = step;
  } else if (w.down == 1 || w.across == 1) {
    x = promote(c, flatten(c, spread(c, x, w), 0, 1), w.down == 1 ? 0 : 1);
  } else {
    TdStpNode n = {.nshape = 1, .shape = {times}, .nview = 2, .has_shape = true};
    n.view[0] = w.across, n.stride[0] = 1;
    n.view[1] = w.down, n.stride[1] = w.across;
    TdStpRef kept = bufferize(c, x, 2);
    return put(c, TD_STP_STREAMIFY, "again", &kept, 1, n);
  }
  return times > 1 ? streamify(c, bufferize(c, x, 2), times) : promote(c, x, 2);
}

/* The parts of a product's operands, for each part of the result in turn: those of a row, and those
 * of a column. */
static void cut_operands(const Cutting *c, TdStpNode *zip, bool transposed) {
  Cut x = cut_in(c, zip, 0), w = cut_in(c, zip, 1);
  int64_t across = transposed ? w.down : w.across;
  Cutting own = *c;
  own.at = zip;
  TdStpRef *in = inputs(zip), a = spread(&own, in[0], x);
  in[0] = across > 1 ? streamify(&own, bufferize(&own, a, 1), across) : promote(&own, a, 1);
  if (!transposed) {
    in[1] = by_columns(&own, in[1], w, x.down);
    return;
  }
  TdStpRef b = spread(&own, in[1], w);
  in[1] = x.down > 1 ? streamify(&own, bufferize(&own, b, 2), x.down) : promote(&own, b, 2);
}

/* Begins to replace what node n gives: whoever reads it waits for its end. */
enum { MARK = UINT32_MAX };
static TdStpRef begin_output(const Cutting *c, const TdStpNode *n) {
  TdStpRef out = {n->uid, 0};
  td_stp_edit_rewire(c->e, out, (TdStpRef){MARK, 0});
  return out;
}

static void end_output(const Cutting *c, TdStpRef y) {
  td_stp_edit_rewire(c->e, (TdStpRef){MARK, 0}, y);
}

static bool has_init(const TdStpNode *n) {
  return n->extra.type || n->is_empty_init;
}

/* Whether the sum of node n is over lists of one element. */
static bool sums_one(const Cutting *c, const TdStpNode *n, int64_t rank) {
  const TdStpStream *in = &read_by(c, n)->out[0];
  int64_t v;
  for (int k = 0; k < rank; k++)
    if (in->dim[k].ragged || !td_stp_expr_is_const(in->dim[k].extent, &v) || v != 1) return false;
  return true;
}

/* A product: a sum over the parts of its terms, for each part of the result; a sum of products
 * keeps the parts of the result in a buffer, where there are several. */
static bool cut_product(Cutting *c, TdStpNode *n, Cut out) {
  bool sums = n->op == TD_STP_MAP_ACCUM, transposed = n->fn.kind == TD_STP_FN_MATMUL_T;
  TdStpNode *zip = pair_of(c, n);
  if (!zip) return false;
  Cut x = cut_in(c, zip, 0), w = cut_in(c, zip, 1);
  if (!is_cut(x) && !is_cut(w)) return true;
  if (has_init(n)) return refuse(c, n, "begins its sum with a tile of its own");
  if (x.across != (transposed ? w.across : w.down))
    return refuse(c, n, "needs physical tiles with as many rows as columns");
  c->reorders |= x.across > 1;
  cut_operands(c, zip, transposed);
  int64_t rank = sums ? td_stp_opt(n, TD_STP_KEY_RANK, 1) : 0;
  int64_t back = td_stp_opt(n, TD_STP_KEY_WRITE_BACK, 0);
  n->op = TD_STP_MAP_ACCUM;
  if (!is_cut(out)) {
    set(n, TD_STP_KEY_RANK, rank ? rank + 3 : 1);
    if (!rank) end_output(c, gather(c, begin_output(c, n)));
    return true;
  }
  set(n, TD_STP_KEY_RANK, 1);
  if (!sums) return true;
  if (sums_one(c, n, rank)) {
    end_output(c, flatten(c, begin_output(c, n), 2, 2 + rank));
    return true;
  }
  n->has &= ~(1u << TD_STP_KEY_WRITE_BACK);
  TdStpRef y = accum(c, bufferize(c, begin_output(c, n), 2), TD_STP_FN_ADD, rank);
  if (back) set(td_stp_edit_node(c->e, y.uid), TD_STP_KEY_WRITE_BACK, back);
  end_output(c, streamify(c, y, 0));
  return true;
}

static bool cut_row_sum(const Cutting *c, TdStpNode *n, Cut in) {
  if (in.across == 1) return true;
  TdStpRef y = accum(c, begin_output(c, n), TD_STP_FN_ADD, 1);
  end_output(c, in.down > 1 ? promote(c, y, 0) : flatten(c, y, 0, 1));
  return true;
}

static bool cut_fold(const Cutting *c, TdStpNode *n, Cut in) {
  if (n->fn.kind == TD_STP_FN_SIGNAL) {
    set(n, TD_STP_KEY_RANK, td_stp_opt(n, TD_STP_KEY_RANK, 1) + 2);
    return true;
  }
  if (n->fn.kind != TD_STP_FN_ADD || has_init(n) || !is_cut(in))
    return refuse(c, n, "folds tiles in a way that has no parts");
  inputs(n)[0] = bufferize(c, n->in[0], 2);
  end_output(c, streamify(c, begin_output(c, n), 0));
  return true;
}

/* The operators with a function. */
static bool cut_function(Cutting *c, TdStpNode *n, bool any, Cut out) {
  const TdStpNode *from = read_by(c, n);
  switch (n->fn.kind) {
  case TD_STP_FN_MATMUL:
  case TD_STP_FN_MATMUL_T: return cut_product(c, n, out);
  default: break;
  }
  for (size_t i = 0; from->op == TD_STP_ZIP && i < from->nin; i++)
    any |= is_cut(cut_in(c, from, i));
  if (!any && !is_cut(out)) return true;
  if (n->op == TD_STP_ACCUM) return cut_fold(c, n, cut_in(c, n, 0));
  if (n->op != TD_STP_MAP) return refuse(c, n, "is an operator whose tiles have no parts");
  switch (n->fn.kind) {
  case TD_STP_FN_MUL:
  case TD_STP_FN_DIV:
  case TD_STP_FN_ADD:
  case TD_STP_FN_SILU:
  case TD_STP_FN_EXP: return cut_elementwise(c, n, out);
  case TD_STP_FN_ROW_SUM: return cut_row_sum(c, n, cut_in(c, n, 0));
  default: return refuse(c, n, "has a function that takes whole tiles");
  }
}

/* Whether anybody takes output `out` of node n. */
static bool is_taken(const Cutting *c, const TdStpNode *n, size_t out) {
  const TdStpGraph *g = c->r->g;
  for (size_t i = 0; i < g->output.n; i++)
    if (g->output.at[i].uid == n->uid && g->output.at[i].out == out) return true;
  for (size_t i = 0; i < g->node.n; i++)
    for (size_t k = 0; k < g->node.at[i]->nin; k++)
      if (g->node.at[i]->in[k].uid == n->uid && g->node.at[i]->in[k].out == out) return true;
  return false;
}

/* A reshape of outer dimensions. */
static bool cut_reshape(const Cutting *c, TdStpNode *n) {
  const TdStpStream *in = td_stp_graph_stream(c->r->g, td_stp_graph_node(c->r->g, n->uid)->in[0]);
  int64_t rank = td_stp_opt(n, TD_STP_KEY_RANK, 0), chunk = n->opt[TD_STP_KEY_CHUNK];
  if (td_stp_opt(n, TD_STP_KEY_OUTER, 0)) return refuse(c, n, "adds an outermost dimension");
  if (in->dim[rank].ragged || !td_stp_expr_divides(in->dim[rank].extent, chunk))
    return refuse(c, n, "may fill its last chunk with tiles");
  if (is_taken(c, n, 1)) return refuse(c, n, "tells which of its tiles are fill");
  n->extra = (TdStpTensor){0};
  set(n, TD_STP_KEY_RANK, rank + 2);
  return true;
}

/* Operators that pass tiles: their dimensions count from behind the parts. */
static bool cut_other(const Cutting *c, TdStpNode *n, Cut in, bool later) {
  if (later) inputs(n)[n->nin - 1] = bufferize(c, n->in[n->nin - 1], 2);
  if (!is_cut(in)) return true;
  switch (n->op) {
  case TD_STP_FLATTEN: n->lo += 2, n->hi += 2; return true;
  case TD_STP_PROMOTE: set(n, TD_STP_KEY_AT, n->opt[TD_STP_KEY_AT] + 2); return true;
  case TD_STP_RESHAPE: return cut_reshape(c, n);
  case TD_STP_PARTITION:
  case TD_STP_REASSEMBLE:
  case TD_STP_EAGER_MERGE:
  case TD_STP_PARALLELIZE:
  case TD_STP_BUFFERIZE:
    set(n, TD_STP_KEY_RANK, td_stp_opt(n, TD_STP_KEY_RANK, n->op == TD_STP_BUFFERIZE) + 2);
    return true;
  case TD_STP_REP:
  case TD_STP_EXPAND:
    inputs(n)[0] = bufferize(c, n->in[0], 2);
    end_output(c, streamify(c, begin_output(c, n), 0));
    return true;
  case TD_STP_SINK: return true;
  default: return refuse(c, n, "takes whole tiles");
  }
}

static bool cut_node(Cutting *c, TdStpNode *n) {
  const TdStpNode *was = td_stp_graph_node(c->r->g, n->uid);
  bool any = false;
  for (size_t i = 0; i < n->nin; i++) any |= is_cut(cut_in(c, n, i));
  Cut in = n->nin ? cut_in(c, n, 0) : (Cut){1, 1}, out = n->nout ? c->cut[n->uid][0] : in;
  c->at = n;
  switch (n->op) {
  case TD_STP_LOAD:
    if (n->has_ref && is_cut(in)) inputs(n)[0] = bufferize(c, n->in[0], 2);
    return !is_cut(out) || cut_load(c, n, out);
  case TD_STP_STORE: return !is_cut(in) || cut_store(c, n, in);
  case TD_STP_ZIP: return !any || td_stp_rewrite_reader(c->r, was) || refuse(c, n, "has readers");
  case TD_STP_MAP:
  case TD_STP_ACCUM:
  case TD_STP_MAP_ACCUM:
  case TD_STP_SCAN:
  case TD_STP_FLAT_MAP: return cut_function(c, n, any, out);
  case TD_STP_EXPAND: return cut_other(c, n, in, is_cut(cut_in(c, n, 1)));
  case TD_STP_STREAMIFY: return cut_other(c, n, in, n->has_ref && is_cut(cut_in(c, n, 1)));
  default:
    if (!is_cut(in) && (any || (is_cut(out) && n->op != TD_STP_STREAMIFY)))
      return refuse(c, n, "takes whole tiles");
    return cut_other(c, n, in, false);
  }
}

/* Puts the outputs of the graph together again. */
static void join_outputs(Cutting *c) {
  for (size_t i = 0; i < c->e->output.n; i++) {
    TdStpRef was = c->r->g->output.at[i];
    if (!is_cut(c->cut[was.uid][was.out])) continue;
    c->at = td_stp_edit_node(c->e, was.uid);
    TdStpRef x = accum(c, c->e->output.at[i], TD_STP_FN_RETILE_COL, 1);
    c->e->output.at[i] = accum(c, x, TD_STP_FN_RETILE_ROW, 1);
  }
}

static const TdStpGraph *rewire(TdStpRewrite *r) {
  const TdArgValue *tile = &r->arg[TILE];
  TdStpEdit e = td_stp_edit_new(r);
  Cutting c = {.r = r, .e = &e};
  if (tile->n != 2 || tile->ints[0] < 1 || tile->ints[1] < 1) {
    td_stp_rewrite_refuse(r, TD_USAGE, "step-option", (TdLoc){0},
                          "tile_all takes {rows, cols}, each at least 1");
    return NULL;
  }
  c.rows = tile->ints[0], c.cols = tile->ints[1];
  c.cut = TD_NEWN(r->arena, Cut *, r->g->by_uid.n + 1);
  for (size_t i = 0; i < r->g->node.n; i++) {
    const TdStpNode *n = r->g->node.at[i];
    c.cut[n->uid] = TD_NEWN(r->arena, Cut, n->nout + 1);
    for (size_t k = 0; k < n->nout; k++)
      if (!measure(&c, n, n->out[k].type, &c.cut[n->uid][k])) return NULL;
  }
  for (size_t i = 0; i < r->g->node.n; i++)
    if (!cut_node(&c, td_stp_edit_node(&e, r->g->node.at[i]->uid))) return NULL;
  join_outputs(&c);
  if (c.reorders)
    td_vec_push(r->arena, &r->note, "sums of products add the parts of their terms one by one");
  return td_stp_edit_end(&e);
}

const TdPrim td_stp_prim_tile_all = {
    .name = "tile_all",
    .on = "graph",
    .summary = "Cut the tiles of every node to those of the fabric.",
    .args = {{"tile", TD_ARG_INTS, TD_ARG_NEEDED, "rows and columns of the physical tile", NULL}},
    .rewrite = "x:map(f) on [64, 32]  =>  [4, 2] of [16, 16] more: x:map(f); products read their "
               "operands again out of buffers",
    .legal = "where tiles have constant extents that the physical tile cuts evenly, and functions "
             "are products, sums or of elements; products add in another order",
    .errors = "step-tile step-option",
    .example = "s:tile_all { 16, 16 }",
    .rewire = rewire,
};
