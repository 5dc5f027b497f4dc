/* isomorphic.c - nodes of one task are compared by what their ids decide, those of two by their
 * kernels. */
#include "rewrite/task/isomorphic.h"

static const TdRun *run_of(const TdMapping *m, uint32_t node) {
  return &m->design->run[m->graph.node.at[node].run];
}

static TdRange sum(TdRange x, TdRange y) {
  bool any = x.hi == INT64_MAX || y.hi == INT64_MAX || x.hi > INT64_MAX - y.hi;
  return (TdRange){x.lo + y.lo, any ? INT64_MAX : x.hi + y.hi};
}

/* The tokens that a node puts to (and gets from) the streams of one declaration. */
static void count_tokens(const TdGraph *g, uint32_t node, uint32_t line, TdRange *put,
                         TdRange *get) {
  const TdMove *m = g->net->inst.at[g->node.at[node].inst].move;
  *put = *get = (TdRange){0, 0};
  for (size_t i = 0; i < m->ncount; i++) {
    const TdCount *c = &m->count[i];
    if (g->net->chan.at[c->channel].line != line) continue;
    *put = sum(*put, c->put);
    *get = sum(*get, c->get);
  }
}

static bool is_range(TdRange x, TdRange y) {
  return x.lo == y.lo && x.hi == y.hi;
}

/* Nodes of one task. */
static bool are_alike(const TdMapping *m, uint32_t x, uint32_t y) {
  const TdGraph *g = &m->graph;
  TdRewrite *r = m->r;
  const char *one = td_graph_name(r->arena, g, x), *two = td_graph_name(r->arena, g, y);
  if (g->node.at[x].body != g->node.at[y].body) {
    td_util_refuse(r, TD_ILLEGAL, "isomorphic", run_of(m, x)->loc,
                   "%s and %s are not isomorphic: their ids decide on other statements", one, two);
    return false;
  }
  for (uint32_t l = 0; l < g->net->line.n; l++) {
    TdRange p1, g1, p2, g2;
    count_tokens(g, x, l, &p1, &g1);
    count_tokens(g, y, l, &p2, &g2);
    if (is_range(p1, p2) && is_range(g1, g2)) continue;
    td_util_refuse(r, TD_ILLEGAL, "interface", g->net->line.at[l].loc,
                   "%s and %s %s other numbers of tokens of '%s'", one, two,
                   is_range(p1, p2) ? "get" : "put", g->net->line.at[l].sym->name);
    return false;
  }
  return true;
}

/* Whether two kernels have parameters of equal types; else says which differ. */
static bool is_same_interface(const TdMapping *m, const TdRun *x, const TdRun *y) {
  const TdUnit *one = td_prog_unit(m->prog, x->unit), *two = td_prog_unit(m->prog, y->unit);
  TdRewrite *r = m->r;
  size_t n = one->nparam < two->nparam ? one->nparam : two->nparam, i = 0;
  while (i < n && one->param[i].type == two->param[i].type) i++;
  if (i == one->nparam && i == two->nparam) return true;
  const char *is = i < one->nparam ? td_type_str(r->arena, one->param[i].type) : "nothing";
  const char *other = i < two->nparam ? td_type_str(r->arena, two->param[i].type) : "nothing";
  td_util_refuse(r, TD_ILLEGAL, "interface", y->loc,
                 "'%s' and '%s' have other interfaces: parameter %zu is %s and %s", x->sym->name,
                 y->sym->name, i + 1, is, other);
  return false;
}

bool td_isomorphic_nodes(const TdMapping *m, uint32_t x, uint32_t y) {
  const TdRun *one = run_of(m, x), *two = run_of(m, y);
  if (one == two) return are_alike(m, x, y);
  if (!is_same_interface(m, one, two)) return false;
  if (td_equal_shape(m->r->session->ctx, td_prog_unit(m->prog, one->unit),
                     td_prog_unit(m->prog, two->unit)))
    return true;
  td_util_refuse(m->r, TD_ILLEGAL, "isomorphic", two->loc,
                 "'%s' and '%s' are not isomorphic: they have other statements", one->sym->name,
                 two->sym->name);
  return false;
}

bool td_isomorphic_apart(const TdMapping *m, const uint32_t *node, size_t n, bool *mark) {
  const TdGraph *g = &m->graph;
  TdRewrite *r = m->r;
  const uint32_t *way;
  for (size_t i = 0; i < n; i++) mark[node[i]] = true;
  TdGraphAsk q = {node, n, mark, false};
  size_t len = n ? td_graph_way(r->arena, g, &q, &way) : 0;
  for (size_t i = 0; i < n; i++) mark[node[i]] = false;
  if (!len) return true;
  td_util_refuse(r, TD_ILLEGAL, "path", run_of(m, way[0])->loc, "%s feeds %s: %s",
                 td_graph_name(r->arena, g, way[0]), td_graph_name(r->arena, g, way[len - 1]),
                 td_graph_way_name(r->arena, g, way, len));
  if (len == 2) td_diag_help(r->diag, "chain runs a producer and its consumer in turn");
  return false;
}
