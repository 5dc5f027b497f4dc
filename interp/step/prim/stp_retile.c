/* stp_retile.c - retile: how many rows a packed tile has: a number, or all that come. */
#include <string.h>

#include "step/stp_flow.h"

enum { PACK, ROWS, REASSOCIATE };

/* The nodes that pack rows: x -> reshape -> (flatten ->) accum, or x -> promote -> accum. */
typedef struct Pack {
  const TdStpNode *fold, *flatten, *split;
  bool outer; /* an outermost dimension of groups, dissolved by the flatten */
} Pack;

static bool refuse(TdStpRewrite *r, const TdStpNode *n, const char *why) {
  td_stp_rewrite_refuse(r, TD_USAGE, "step-pack", n->loc, "'%s' packs no rows: %s",
                        td_stp_rewrite_name(r, n), why);
  td_diag_help(r->diag, "rows are packed by x:reshape { chunk = n, pad = .. } or x:promote(), "
                        "then :accum(fn.retile_row, { rank = 1 })");
  return false;
}

static const TdStpNode *input_of(const TdStpRewrite *r, const TdStpNode *n) {
  return td_stp_graph_node(r->g, n->in[0].uid);
}

static bool find_pack(TdStpRewrite *r, const TdStpNode *n, Pack *p) {
  *p = (Pack){.fold = n};
  if (n->op != TD_STP_ACCUM || n->fn.kind != TD_STP_FN_RETILE_ROW)
    return refuse(r, n, "it is no accum of fn.retile_row");
  if (td_stp_opt(n, TD_STP_KEY_RANK, 1) != 1) return refuse(r, n, "it folds several dimensions");
  const TdStpNode *x = input_of(r, n);
  if (x->op == TD_STP_FLATTEN) {
    p->flatten = x;
    x = input_of(r, x);
  }
  p->split = x;
  bool reshapes = x->op == TD_STP_RESHAPE && !td_stp_opt(x, TD_STP_KEY_RANK, 0);
  p->outer = reshapes && td_stp_opt(x, TD_STP_KEY_OUTER, 0) != 0;
  if (!reshapes && x->op != TD_STP_PROMOTE) return refuse(r, n, "its groups come of no reshape");
  if (p->outer != (p->flatten != NULL)) return refuse(r, n, "its groups are joined again");
  const TdStpStream *rows = td_stp_graph_stream(r->g, x->in[0]);
  int64_t one;
  if (rows->ndim != 1) return refuse(r, n, "its rows come in lists of lists");
  if (rows->type->kind != TD_STP_TILE || !td_stp_expr_is_const(rows->type->rows, &one) || one != 1)
    return refuse(r, n, "it stacks tiles of several rows");
  return true;
}

/* A tile of zeros of the stream's shape, to fill the last group. */
static TdStpTensor zeros(TdStpRewrite *r, const TdStpType *t) {
  int64_t extent[2] = {1, 1};
  td_stp_expr_is_const(t->rows, &extent[0]);
  td_stp_expr_is_const(t->cols, &extent[1]);
  const TdType *type = td_type_tensor_of(r->g->session, t->elem, 2, extent);
  return (TdStpTensor){.type = type, .data = td_tensor_new(r->store->arena, type, false)};
}

/* Sets an option of a node. */
static void set(TdStpNode *n, TdStpKey k, int64_t v) {
  n->opt[k] = v;
  n->has |= 1u << k;
}

/* Groups of n rows, all rows where n is 0. */
static void regroup(TdStpRewrite *r, TdStpEdit *e, const Pack *p, int64_t n) {
  TdStpNode *split = td_stp_edit_node(e, p->split->uid);
  const TdStpType *rows = td_stp_graph_stream(r->g, split->in[0])->type;
  if (p->outer) {
    TdStpNode *flatten = td_stp_edit_node(e, p->flatten->uid);
    set(split, TD_STP_KEY_CHUNK, n ? n : 1);
    flatten->lo = n ? 1 : 0;
    flatten->hi = n ? 2 : 1;
    return;
  }
  split->op = n ? TD_STP_RESHAPE : TD_STP_PROMOTE;
  split->has &= ~(1u << TD_STP_KEY_CHUNK | 1u << TD_STP_KEY_AT | 1u << TD_STP_KEY_RANK);
  split->drops_second = n != 0;
  if (n) {
    set(split, TD_STP_KEY_CHUNK, n);
    if (!split->extra.type) split->extra = zeros(r, rows);
  } else {
    split->extra = (TdStpTensor){0};
  }
}

/* Whether the fold's tiles keep their rows apart up to split_rows. */
static bool check_flow(TdStpRewrite *r, const TdStpNode *fold) {
  TdStpRef from = {fold->uid, 0};
  TdStpFlows f = td_stp_flow_follow(r->arena, r->g, &from, 1, TD_STP_EACH_ROW, UINT32_MAX);
  if (!f.bad) return true;
  td_stp_rewrite_refuse(r, TD_ILLEGAL, "step-rows", f.bad->loc,
                        "'%s', between '%s' and split_rows, %s", td_stp_rewrite_name(r, f.bad),
                        td_stp_rewrite_name(r, fold), f.why);
  td_diag_help(r->diag, "tiles of other rows give the same rows only where every node treats each "
                        "row by itself");
  return false;
}

static bool retile(TdStpRewrite *r, TdStpEdit *e, const TdStpNode *node, int64_t n) {
  Pack p;
  if (!find_pack(r, node, &p) || !check_flow(r, node)) return false;
  regroup(r, e, &p, n);
  return true;
}

static const TdStpGraph *rewire(TdStpRewrite *r) {
  const TdStpNode *const *node;
  size_t count = td_stp_rewrite_family(r, r->arg[PACK].text, &node);
  if (!count) return NULL;
  int64_t n = r->arg[ROWS].text ? 0 : r->arg[ROWS].integer;
  if (!r->arg[ROWS].text && n < 1) {
    td_stp_rewrite_refuse(r, TD_USAGE, "step-option", node[0]->loc,
                          "a tile has at least 1 row, not %lld", (long long)n);
    return NULL;
  }
  if (!td_stp_rewrite_check_order(r, r->arg[REASSOCIATE].integer)) return NULL;
  TdStpEdit e = td_stp_edit_new(r);
  for (size_t i = 0; i < count; i++)
    if (!retile(r, &e, node[i], n)) return NULL;
  return td_stp_edit_end(&e);
}

const TdPrim td_stp_prim_retile = {
    .name = "retile",
    .on = "graph",
    .summary = "Pack other numbers of rows into a tile: n, the last filled, or all that come.",
    .args = {{"pack", TD_ARG_FAMILY, TD_ARG_NEEDED, "the accum of fn.retile_row, or all of a name",
              NULL},
             {"rows", TD_ARG_INT, TD_ARG_NEEDED, "rows of a tile, or \"dynamic\": all that come",
              "dynamic"},
             {"reassociate", TD_ARG_FLAG, TD_ARG_OPTION,
              "allows another order of arrival at sums of floats", NULL}},
    .rewrite = "x:reshape { chunk = n }:accum(fn.retile_row)  =>  x:promote():accum(fn.retile_row)",
    .legal = "where every node between the packing and split_rows treats each row by itself",
    .errors = "step-pack step-rows step-name step-option step-order",
    .example = "s:retile(\"tile\", \"dynamic\")",
    .rewire = rewire,
};
