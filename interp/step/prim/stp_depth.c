/* stp_depth.c - depth: places of the streams that a node puts into. */
#include "step/stp_rewrite.h"

enum { NODE, DEPTH };

static const TdStpGraph *rewire(TdStpRewrite *r) {
  return td_stp_rewrite_set_option(r, r->arg[NODE].text, TD_STP_KEY_DEPTH, r->arg[DEPTH].integer,
                                   NULL);
}

const TdPrim td_stp_prim_depth = {
    .name = "depth",
    .on = "graph",
    .summary = "Set the places of the streams that a node, or a family of nodes, puts into.",
    .args = {{"node", TD_ARG_FAMILY, TD_ARG_NEEDED, "the node, or all of a name", NULL},
             {"depth", TD_ARG_INT, TD_ARG_NEEDED, "elements that each of its streams holds", NULL}},
    .rewrite = "n = step.op(..)  =>  n = step.op(.., { depth = d })",
    .legal = "for every node that gives a stream, unless the graph then stops",
    .errors = "step-name step-option step-deadlock",
    .example = "s:depth(\"tile\", 4)",
    .rewire = rewire,
};
