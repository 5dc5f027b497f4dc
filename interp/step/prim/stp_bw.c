/* stp_bw.c - bw: FLOPs per cycle of the functions of a node. */
#include "step/stp_rewrite.h"

enum { NODE, BW };

static const TdStpGraph *rewire(TdStpRewrite *r) {
  return td_stp_rewrite_set_option(r, r->arg[NODE].text, TD_STP_KEY_BW, r->arg[BW].integer, "bw");
}

const TdPrim td_stp_prim_bw = {
    .name = "bw",
    .on = "graph",
    .summary = "Set the FLOPs per cycle of a node's function, or of a family of nodes.",
    .args = {{"node", TD_ARG_FAMILY, TD_ARG_NEEDED, "the node, or all of a name", NULL},
             {"bw", TD_ARG_INT, TD_ARG_NEEDED, "FLOPs per cycle", NULL}},
    .rewrite = "y = x:map(f)  =>  y = x:map(f, { bw = n })",
    .legal = "for map, accum, map_accum and scan",
    .errors = "step-name step-option",
    .example = "s:bw(\"matmul\", 2048)",
    .rewire = rewire,
};
