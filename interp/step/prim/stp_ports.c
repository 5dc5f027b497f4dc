/* stp_ports.c - ports: requests per cycle of a load or store. */
#include "step/stp_rewrite.h"

enum { NODE, PORTS };

static const TdStpGraph *rewire(TdStpRewrite *r) {
  return td_stp_rewrite_set_option(r, r->arg[NODE].text, TD_STP_KEY_PORTS, r->arg[PORTS].integer,
                                   "ports");
}

const TdPrim td_stp_prim_ports = {
    .name = "ports",
    .on = "graph",
    .summary = "Set how many requests a load or store, or a family of them, asks for in a cycle.",
    .args = {{"node", TD_ARG_FAMILY, TD_ARG_NEEDED, "the load or store, or all of a name", NULL},
             {"ports", TD_ARG_INT, TD_ARG_NEEDED, "requests per cycle", NULL}},
    .rewrite = "x = step.load(t)  =>  x = step.load(t, { ports = n })",
    .legal = "for load, load_at, store and store_at",
    .errors = "step-name step-option",
    .example = "s:ports(\"weight\", 4)",
    .rewire = rewire,
};
