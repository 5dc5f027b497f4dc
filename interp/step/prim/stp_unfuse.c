/* stp_unfuse.c - unfuse: a map_accum as a map and the sum of what it makes. */
#include "step/stp_rewrite.h"

enum { NODE };

static bool unfuse(TdStpRewrite *r, TdStpEdit *e, const TdStpNode *n) {
  if (n->op != TD_STP_MAP_ACCUM)
    return td_stp_rewrite_refuse(r, TD_ILLEGAL, "step-fuse", n->loc, "'%s' is no map_accum",
                                 td_stp_rewrite_name(r, n));
  TdStpNode map = {.op = TD_STP_MAP, .name = n->name, .loc = n->loc, .site = n->site, .fn = n->fn};
  map.in = n->in, map.nin = n->nin;
  map.has = n->has & 1u << TD_STP_KEY_BW;
  map.opt[TD_STP_KEY_BW] = n->opt[TD_STP_KEY_BW];
  map.name = td_names_str(r->g->session->names, td_text_fmt(r->arena, "%s_map", n->name));
  TdStpRef in = {td_stp_edit_add(e, n->uid, &map), 0};
  TdStpNode *sum = td_stp_edit_node(e, n->uid);
  sum->op = TD_STP_ACCUM;
  sum->fn = (TdStpFn){.kind = TD_STP_FN_ADD, .name = "fn.add"};
  sum->in = td_arena_copy(r->arena, &in, sizeof in);
  sum->nin = 1;
  return true;
}

static const TdStpGraph *rewire(TdStpRewrite *r) {
  return td_stp_edit_each(r, r->arg[NODE].text, unfuse);
}

const TdPrim td_stp_prim_unfuse = {
    .name = "unfuse",
    .on = "graph",
    .summary = "Make a map and a sum of a map_accum.",
    .args = {{"node", TD_ARG_FAMILY, TD_ARG_NEEDED, "the map_accum, or all of a name", NULL}},
    .rewrite = "x:map_accum(f, o)  =>  x:map(f):accum(fn.add, o)",
    .legal = "for every map_accum",
    .errors = "step-fuse step-name",
    .example = "s:unfuse(\"product\")",
    .rewire = rewire,
};
