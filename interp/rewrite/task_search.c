/* task_search.c - search: bundles and chains that bring a design down to so many PEs. */
#include "analysis/collective.h"
#include "rewrite/search.h"

enum { PES, PORTS };
enum { INPUTS, OUTPUTS, NODE_INPUTS, NODE_OUTPUTS };

static int64_t port_limit(const TdArgValue *v, int which) {
  return v->given ? v->ints[which] : -1;
}

static const TdProg *apply(TdRewrite *r) {
  r->prog = td_collective_expand(r->prog);
  const TdUnit *u = td_prog_root(r->prog);
  const TdArgValue *ports = &r->arg[PORTS];
  if (u->kind != TD_UNIT_DESIGN)
    return td_util_refuse(r, TD_USAGE, "not-a-design", u->loc, "'%s' has no tasks to map",
                          u->sym->name);
  if (!r->arg[PES].given || r->arg[PES].integer < 1)
    return td_util_refuse(r, TD_USAGE, "pes", u->loc, "search needs pes, at least 1");
  TdSearchLimits limits = {.pes = r->arg[PES].integer,
                           .inputs = port_limit(ports, INPUTS),
                           .outputs = port_limit(ports, OUTPUTS),
                           .node_inputs = port_limit(ports, NODE_INPUTS),
                           .node_outputs = port_limit(ports, NODE_OUTPUTS)};
  return td_search_map(r, &limits);
}

const TdPrim td_prim_task_search = {
    .name = "search",
    .on = "task",
    .summary = "Find bundles and chains that map a design onto so many PEs.",
    .args = {{"pes", TD_ARG_INT, TD_ARG_OPTION, "processing elements that there are", NULL},
             {"ports", TD_ARG_COUNTS, TD_ARG_OPTION,
              "ports for arguments of all nodes (inputs, outputs), and of one node, streams "
              "included",
              "inputs|outputs|node_inputs|node_outputs"}},
    .rewrite = "the design  =>  the design after the bundles and chains of the best mapping found",
    .legal = "some sequence of legal bundles and chains leaves at most that many nodes, and keeps "
             "to the ports",
    .errors = "not-a-design pes infeasible open",
    .example = "s:unfold(\"PE\"); s:search({pes = 16})",
    .apply = apply,
};
