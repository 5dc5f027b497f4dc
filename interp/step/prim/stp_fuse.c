/* stp_fuse.c - fuse: a map and the sum of what it makes as one node, which counts no FLOPs for the
 * sum. */
#include "step/stp_rewrite.h"

enum { MAP, SUM };

static bool fuse(TdStpRewrite *r, TdStpEdit *e, const TdStpNode *map, const TdStpNode *sum) {
  const char *a = td_stp_rewrite_name(r, map), *b = td_stp_rewrite_name(r, sum);
  if (map->op != TD_STP_MAP || sum->op != TD_STP_ACCUM || sum->fn.kind != TD_STP_FN_ADD)
    return td_stp_rewrite_refuse(r, TD_ILLEGAL, "step-fuse", sum->loc,
                                 "'%s' and '%s' are no map and accum of fn.add", a, b);
  if (sum->in[0].uid != map->uid)
    return td_stp_rewrite_refuse(r, TD_ILLEGAL, "step-fuse", sum->loc, "'%s' does not read '%s'", b,
                                 a);
  if (td_stp_rewrite_reader(r, map) != sum)
    return td_stp_rewrite_refuse(r, TD_ILLEGAL, "step-fuse", map->loc,
                                 "'%s' is read by others than '%s'", a, b);
  TdStpNode *own = td_stp_edit_node(e, sum->uid);
  own->op = TD_STP_MAP_ACCUM;
  own->fn = map->fn;
  own->in = map->in;
  own->has &= ~(1u << TD_STP_KEY_BW);
  own->has |= map->has & 1u << TD_STP_KEY_BW;
  own->opt[TD_STP_KEY_BW] = map->opt[TD_STP_KEY_BW];
  td_stp_edit_remove(e, map->uid);
  return true;
}

static const TdStpGraph *rewire(TdStpRewrite *r) {
  const TdStpNode *const *map, *const *sum;
  size_t n = td_stp_rewrite_family(r, r->arg[MAP].text, &map);
  size_t m = n ? td_stp_rewrite_family(r, r->arg[SUM].text, &sum) : 0;
  if (!m) return NULL;
  if (n != m) {
    td_stp_rewrite_refuse(r, TD_USAGE, "step-fuse", sum[0]->loc, "%zu maps and %zu sums", n, m);
    return NULL;
  }
  TdStpEdit e = td_stp_edit_new(r);
  for (size_t i = 0; i < n; i++)
    if (!fuse(r, &e, map[i], sum[i])) return NULL;
  return td_stp_edit_end(&e);
}

const TdPrim td_stp_prim_fuse = {
    .name = "fuse",
    .on = "graph",
    .summary = "Make one node of a map and the sum of what it makes.",
    .args = {{"map", TD_ARG_FAMILY, TD_ARG_NEEDED, "the map, or all of a name", NULL},
             {"sum", TD_ARG_FAMILY, TD_ARG_NEEDED, "the accum of fn.add that reads it", NULL}},
    .rewrite = "x:map(f):accum(fn.add, o)  =>  x:map_accum(f, o)",
    .legal = "where the sum alone reads the map",
    .errors = "step-fuse step-name",
    .example = "s:fuse(\"product\", \"sum\")",
    .rewire = rewire,
};
