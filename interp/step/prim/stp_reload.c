/* stp_reload.c - reload: tiles that lie in a buffer of a load are read from off-chip memory each
 * time: the inverse of buffer. */
#include <string.h>

#include "step/stp_rewrite.h"

enum { NODE };

static bool refuse(TdStpRewrite *r, const TdStpNode *n, const char *why) {
  return td_stp_rewrite_refuse(r, TD_ILLEGAL, "step-buffer", n->loc, "'%s' %s",
                               td_stp_rewrite_name(r, n), why);
}

static bool reload(TdStpRewrite *r, TdStpEdit *e, const TdStpNode *n) {
  if (n->op != TD_STP_STREAMIFY || n->has_ref || n->nshape != 1 || n->nview)
    return refuse(r, n, "is no streamify that repeats a buffer a number of times");
  const TdStpNode *keep = td_stp_graph_node(r->g, n->in[0].uid);
  if (keep->op != TD_STP_BUFFERIZE) return refuse(r, keep, "is no bufferize");
  const TdStpNode *load = td_stp_graph_node(r->g, keep->in[0].uid);
  bool promoted = load->op == TD_STP_PROMOTE &&
                  load->opt[TD_STP_KEY_AT] == td_stp_graph_stream(r->g, load->in[0])->ndim;
  if (promoted) load = td_stp_graph_node(r->g, load->in[0].uid);
  if (load->op != TD_STP_LOAD) return refuse(r, load, "is no load");
  int64_t inner = td_stp_opt(keep, TD_STP_KEY_RANK, 1);
  int at = load->nshape - (int)inner;
  if (at < 0) return refuse(r, keep, "holds what several elements asked for");
  if (load->nshape == TD_STP_RANK) return refuse(r, load, "has no room for a dimension");
  TdStpNode own = *load;
  for (int k = load->nshape; k > at; k--) {
    own.shape[k] = load->shape[k - 1];
    own.stride[k] = load->stride[k - 1];
  }
  own.shape[at] = n->shape[0];
  own.stride[at] = 0;
  own.nshape++;
  own.name = n->name;
  TdStpRef x = {td_stp_edit_add(e, n->uid, &own), 0};
  const TdStpNode *joins = promoted ? td_stp_rewrite_reader(r, n) : NULL;
  bool dissolves =
      joins && joins->op == TD_STP_FLATTEN && joins->lo == inner && joins->hi == inner + 1;
  if (dissolves) {
    td_stp_edit_rewire(e, (TdStpRef){joins->uid, 0}, x);
    td_stp_edit_prune(e, joins->uid);
    return true;
  }
  if (promoted) {
    TdStpNode outer = {.op = TD_STP_PROMOTE, .name = n->name, .loc = n->loc, .site = n->site};
    outer.name = td_names_str(r->g->session->names, td_text_fmt(r->arena, "%s_list", n->name));
    outer.in = &x, outer.nin = 1;
    x = (TdStpRef){td_stp_edit_add(e, n->uid, &outer), 0};
  }
  td_stp_edit_rewire(e, (TdStpRef){n->uid, 0}, x);
  td_stp_edit_prune(e, n->uid);
  return true;
}

static const TdStpGraph *rewire(TdStpRewrite *r) {
  return td_stp_edit_each(r, r->arg[NODE].text, reload);
}

const TdPrim td_stp_prim_reload = {
    .name = "reload",
    .on = "graph",
    .summary = "Read what lies in a buffer of a load from off-chip memory each time.",
    .args = {{"node", TD_ARG_FAMILY, TD_ARG_NEEDED, "the streamify, or all of a name", NULL}},
    .rewrite = "load(t, { shape = {a, b} }):bufferize():streamify { times = {n} }  =>  load(t, { "
               "shape = {a, n, b}, stride = {s, 0, q} })",
    .legal = "where the buffer holds what a load of its own read",
    .errors = "step-buffer step-name",
    .example = "s:buffer(\"x\"):reload(\"x\")",
    .rewire = rewire,
};
