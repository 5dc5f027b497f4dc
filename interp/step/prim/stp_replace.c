/* stp_replace.c - replace: another program as the function of a node, proved to be the same. */
#include "step/stp_rewrite.h"

enum { NODE, PROGRAM, REASSOCIATE };

static bool replace(TdStpRewrite *r, TdStpEdit *e, const TdStpNode *n) {
  TdStpFn f = {0};
  if (!n->fn.name || n->op == TD_STP_FLAT_MAP)
    return td_stp_rewrite_refuse(r, TD_ILLEGAL, "step-replace", n->loc,
                                 "'%s' is no map, accum, map_accum or scan",
                                 td_stp_rewrite_name(r, n));
  const TdStpTools *t = r->tools;
  bool sums = r->arg[REASSOCIATE].integer != 0;
  if (!t->function(t->proof.ud, r->arg[PROGRAM].prog, &f, r->diag)) return false;
  if (!td_stp_prove_same(&t->proof, r->arena, r->g, n, &n->fn, &f, sums, r->diag)) return false;
  td_stp_edit_node(e, n->uid)->fn = f;
  return true;
}

static const TdStpGraph *rewire(TdStpRewrite *r) {
  return td_stp_edit_each(r, r->arg[NODE].text, replace);
}

const TdPrim td_stp_prim_replace = {
    .name = "replace",
    .on = "graph",
    .summary = "Make another program the function of a node, or of a family of nodes.",
    .args = {{"node", TD_ARG_FAMILY, TD_ARG_NEEDED, "the node, or all of a name", NULL},
             {"program", TD_ARG_KERNEL, TD_ARG_NEEDED,
              "a kernel or design, with the parameters of the function in its order", NULL},
             {"reassociate", TD_ARG_FLAG, TD_ARG_OPTION, "allows sums in another order", NULL}},
    .rewrite = "x:map(f)  =>  x:map(g)",
    .legal = "where the program is proved to compute what the function does",
    .errors = "step-replace step-function step-name",
    .example = "s:replace(\"act\", relu)",
    .rewire = rewire,
};
