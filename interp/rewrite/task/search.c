/* search.c - search: bundles and chains that bring a design down to so many PEs. */
#include "lower/collective.h"
#include "rewrite/task/search_budget.h"
#include "rewrite/task/search_map.h"

enum { PES, PORTS, DEVICE, STEPS, SECONDS, REASSOCIATE };
enum { INPUTS, OUTPUTS, NODE_INPUTS, NODE_OUTPUTS, PORT_KINDS };

/* What a device has, then what is asked for. */
static void set_limits(const TdRewrite *r, TdMapAsk *ask) {
  static const TdMapLimit port[] = {TD_MAP_INPUTS, TD_MAP_OUTPUTS, TD_MAP_NODE_INPUTS,
                                    TD_MAP_NODE_OUTPUTS};
  const TdTarget *t = ask->device;
  for (int i = 0; i < TD_MAP_MOST; i++) ask->most[i] = -1;
  if (t && t->dsp) ask->most[TD_MAP_DSP] = t->dsp;
  if (t && t->bram) ask->most[TD_MAP_BRAM] = t->bram;
  for (int i = 0; r->arg[PORTS].given && i < PORT_KINDS; i++)
    if (r->arg[PORTS].ints[i] >= 0) ask->most[port[i]] = r->arg[PORTS].ints[i];
  if (r->arg[PES].given) ask->most[TD_MAP_PES] = r->arg[PES].integer;
}

static const TdProg *apply(TdRewrite *r) {
  TdMapAsk ask = {.device = r->arg[DEVICE].given ? td_target_find(r->arg[DEVICE].text) : NULL};
  r->prog = td_collective_expand(r->prog);
  const TdUnit *u = td_prog_root(r->prog);
  if (u->kind != TD_UNIT_DESIGN)
    return td_util_refuse(r, TD_USAGE, "not-a-design", u->loc, "'%s' has no tasks to map",
                          u->sym->name);
  if (r->arg[PES].given ? r->arg[PES].integer < 1 : !ask.device)
    return td_util_refuse(r, TD_USAGE, "pes", u->loc,
                          "search needs pes, at least 1, or a device to keep to");
  if (r->arg[REASSOCIATE].given)
    return td_util_refuse(r, TD_USAGE, "device", u->loc,
                          "sums in another order are made on NPUs alone: device = \"npu1\"");
  set_limits(r, &ask);
  if (!td_search_budget(r, &r->arg[STEPS], &r->arg[SECONDS], &ask.search)) return NULL;
  return td_search_map(r, &ask);
}

const TdPrim td_prim_search = {
    .name = "search",
    .on = "task",
    .summary = "Find bundles and chains that map a design onto so many PEs.",
    .args = {{"pes", TD_ARG_INT, TD_ARG_OPTION, "processing elements that there are", NULL},
             {"ports", TD_ARG_COUNTS, TD_ARG_OPTION,
              "ports for arguments of all nodes (inputs, outputs), and of one node, streams "
              "included",
              "inputs|outputs|node_inputs|node_outputs"},
             {"device", TD_ARG_DEVICE, TD_ARG_OPTION,
              "whose clock counts, and whose DSP, BRAM and ports are kept to; else runs of ideal "
              "hardware, or estimates of the u280 where those take too long",
              NULL},
             {"steps", TD_ARG_INT, TD_ARG_OPTION,
              "moves to try, with the same result everywhere (default: 4000, fewer for hundreds of "
              "nodes)",
              NULL},
             {"seconds", TD_ARG_NUMBER, TD_ARG_OPTION,
              "cut it short after so many; the best so far is taken", NULL},
             {"reassociate", TD_ARG_FLAG, TD_ARG_OPTION,
              "of an NPU, whose whole schedule is found: sums of floats in another order, too",
              NULL}},
    .rewrite = "the design  =>  the design after the bundles and chains of the best mapping found",
    .legal = "some sequence of legal bundles and chains leaves at most that many nodes, and keeps "
             "to the ports and to the parts of the device",
    .errors = "not-a-design pes steps seconds device infeasible size-unknown open",
    .example = "s:unfold(\"PE\"); s:search({pes = 16})",
    .apply = apply,
};
