/* stp_buffer.c - buffer: tiles that a load reads several times over are read once, kept in a buffer
 * on the chip, and streamed from there as often. */
#include <string.h>

#include "step/stp_rewrite.h"

enum { LOAD };

/* The outermost dimension along which the load reads the same tiles again, or -1. */
static int again_of(const TdStpNode *n) {
  for (int k = 0; k < n->nshape; k++)
    if (n->shape[k] > 1 && !n->stride[k]) return k;
  return -1;
}

/* A node on one stream, named as the load with an ending. */
static TdStpRef add(TdStpEdit *e, const TdStpNode *load, TdStpOp op, const char *ending,
                    TdStpRef in, TdStpNode with) {
  TdStpRewrite *r = e->r;
  with.op = op;
  with.name = td_names_str(r->g->session->names, td_text_fmt(r->arena, "%s%s", load->name, ending));
  with.loc = load->loc;
  with.site = load->site;
  with.in = &in;
  with.nin = 1;
  return (TdStpRef){td_stp_edit_add(e, load->uid, &with), 0};
}

static TdStpNode option(TdStpKey k, int64_t v) {
  TdStpNode n = {.has = 1u << k};
  n.opt[k] = v;
  return n;
}

/* The load without its dimension k; where nothing is left within, one of 1. */
static TdStpNode once(const TdStpNode *load, int k) {
  TdStpNode n = *load;
  n.nshape = 0;
  for (int i = 0; i < load->nshape; i++) {
    if (i == k) continue;
    n.shape[n.nshape] = load->shape[i];
    n.stride[n.nshape++] = load->stride[i];
  }
  if (k == load->nshape - 1) {
    n.shape[n.nshape] = 1;
    n.stride[n.nshape++] = 0;
  }
  return n;
}

static bool buffer(TdStpRewrite *r, TdStpEdit *e, const TdStpNode *load) {
  const char *name = td_stp_rewrite_name(r, load);
  int k = load->op == TD_STP_LOAD ? again_of(load) : -1;
  if (k < 0 || load->has_valid) {
    td_stp_rewrite_refuse(r, TD_ILLEGAL, "step-buffer", load->loc,
                          load->op != TD_STP_LOAD ? "'%s' is no load"
                          : load->has_valid       ? "'%s' has tiles whose valid rows a stream tells"
                                                  : "'%s' reads no tile again",
                          name);
    td_diag_help(r->diag, "a buffer pays where a dimension of a load has stride 0");
    return false;
  }
  bool last = k == load->nshape - 1, whole = k == 0 && !load->has_ref;
  int inner = last ? 1 : load->nshape - 1 - k;
  TdStpNode read = once(load, k);
  read.name = td_names_str(r->g->session->names, td_text_fmt(r->arena, "%s_once", load->name));
  TdStpRef x = {td_stp_edit_add(e, load->uid, &read), 0};
  if (whole) x = add(e, load, TD_STP_PROMOTE, "_list", x, (TdStpNode){0});
  x = add(e, load, TD_STP_BUFFERIZE, "_kept", x, option(TD_STP_KEY_RANK, inner));
  TdStpNode times = {.nshape = 1, .shape = {load->shape[k]}};
  x = add(e, load, TD_STP_STREAMIFY, "", x, times);
  if (whole)
    x = add(e, load, TD_STP_FLATTEN, "_flat", x, (TdStpNode){.lo = inner, .hi = inner + 1});
  if (last) x = add(e, load, TD_STP_FLATTEN, "_flat", x, (TdStpNode){.lo = 0, .hi = 1});
  td_stp_edit_rewire(e, (TdStpRef){load->uid, 0}, x);
  td_stp_edit_remove(e, load->uid);
  return true;
}

static const TdStpGraph *rewire(TdStpRewrite *r) {
  return td_stp_edit_each(r, r->arg[LOAD].text, buffer);
}

const TdPrim td_stp_prim_buffer = {
    .name = "buffer",
    .on = "graph",
    .summary = "Read what a load reads again and again once, into a buffer on the chip.",
    .args = {{"load", TD_ARG_FAMILY, TD_ARG_NEEDED, "the load, or all of a name", NULL}},
    .rewrite = "load(t, { shape = {a, n, b}, stride = {s, 0, q} })  =>  load(t, { shape = {a, b} })"
               ":bufferize():streamify { times = {n} }",
    .legal = "where a dimension of the load has stride 0",
    .errors = "step-buffer step-name",
    .example = "s:buffer(\"x\")",
    .rewire = rewire,
};
