/* graph.c - nodes, edges and ports of a design, read off its net and what its kernels touch. */
#include "analysis/graph.h"

#include "analysis/classes.h"
#include "analysis/effects.h"
#include "analysis/ends.h"

const char *td_graph_name(TdArena *a, const TdGraph *g, uint32_t node) {
  return td_net_inst_name(a, g->net, g->node.at[node].inst);
}

uint32_t td_graph_node(const TdGraph *g, uint32_t inst) {
  size_t lo = 0, hi = g->node.n;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (g->node.at[mid].inst < inst)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < g->node.n && g->node.at[lo].inst == inst ? (uint32_t)lo : TD_NET_NONE;
}

/* Adds the instances of run r that do something, of which the first is `inst`; returns the next. */
static uint32_t add_nodes(const TdAsk *q, TdGraph *g, uint32_t r, uint32_t inst) {
  const TdRun *run = &g->design->run[r];
  uint32_t end = inst;
  while (end < g->net->group.at[0].n && g->net->inst.at[end].run == run) end++;
  TdClasses c;
  bool known = td_classes_of(q->arena, q->prog, g->design, run, &c) && c.instances == end - inst;
  for (uint32_t i = inst; i < end; i++) {
    uint32_t body = known ? c.of[i - inst] : 0;
    if (body == TD_CLASSES_EMPTY) continue;
    td_vec_push(q->arena, &g->node, ((TdGraphNode){.run = r, .inst = i, .body = body}));
  }
  return end;
}

/* The node at an end of a channel. */
static uint32_t end_node(const TdGraph *g, uint32_t inst) {
  return inst == TD_NET_NONE ? TD_NET_NONE : td_graph_node(g, inst);
}

static void add_edges(const TdAsk *q, TdGraph *g, const TdEnds *ends) {
  for (uint32_t c = 0; c < g->net->chan.n; c++) {
    if (g->net->chan.at[c].group != 0) continue;
    TdGraphEdge e = {c, end_node(g, ends[c].producer), end_node(g, ends[c].consumer), {0, 0}};
    if (e.from == TD_NET_NONE && e.to == TD_NET_NONE) continue;
    bool put = e.from != TD_NET_NONE;
    const TdMove *m = g->net->inst.at[put ? ends[c].producer : ends[c].consumer].move;
    const TdCount *k = td_move_count(m, c);
    e.tokens = put ? k->put : k->get;
    td_vec_push(q->arena, &g->edge, e);
  }
}

/* Adds what the nodes of each run touch of the design's arguments. */
static void add_ports(const TdAsk *q, TdGraph *g) {
  uint32_t of = TD_NET_NONE;
  const TdEffect *e = NULL;
  size_t n = 0;
  for (uint32_t i = 0; i < g->node.n; i++) {
    const TdRun *run = &g->design->run[g->node.at[i].run];
    TdAsk ask = *q;
    ask.unit = td_prog_unit(q->prog, run->unit);
    if (g->node.at[i].run != of) n = td_effects_of(&ask, ask.unit->body, &e);
    of = g->node.at[i].run;
    for (size_t k = 0; k < run->nbind; k++) {
      const TdEffect *x = td_effects_find(e, n, run->bind[k].param);
      if (!x) continue;
      TdGraphPort p = {i, run->bind[k].arg, x->read, x->write};
      td_vec_push(q->arena, &g->port, p);
    }
  }
}

bool td_graph_of(const TdAsk *q, TdGraph *out, TdDiag *d) {
  *out = (TdGraph){.design = td_prog_root(q->prog)};
  const TdNet *n = td_net_of(q->arena, q->prog, d);
  if (!n) return false;
  if (n->open)
    return td_diag_set(d, TD_UNSUPPORTED, "open", out->design->loc, "no graph of '%s': %s",
                       out->design->sym->name, n->open);
  out->net = n;
  const TdEnds *ends = td_ends_of(q->arena, n, d);
  if (!ends) return false;
  uint32_t inst = 0;
  for (uint32_t r = 0; r < out->design->nrun; r++) inst = add_nodes(q, out, r, inst);
  add_edges(q, out, ends);
  add_ports(q, out);
  return true;
}

typedef TD_VEC(uint32_t) Nodes;

/* Breadth first from `from` over streams, each node's predecessor in back[]; the stream straight to
 * `to` does not count. */
static bool reach(TdArena *a, const TdGraph *g, uint32_t from, uint32_t to, uint32_t *back) {
  uint32_t *queue = TD_NEWN(a, uint32_t, g->node.n), head = 0, n = 1;
  Nodes *next = TD_NEWN(a, Nodes, g->node.n);
  for (uint32_t i = 0; i < g->edge.n; i++) {
    const TdGraphEdge *e = &g->edge.at[i];
    if (e->from != TD_NET_NONE && e->to != TD_NET_NONE) td_vec_push(a, &next[e->from], e->to);
  }
  for (uint32_t i = 0; i < g->node.n; i++) back[i] = TD_NET_NONE;
  queue[0] = from;
  back[from] = from;
  for (; head < n; head++) {
    uint32_t x = queue[head];
    for (size_t i = 0; i < next[x].n; i++) {
      uint32_t y = next[x].at[i];
      if (y == to && x != from) return back[to] = x, true;
      if (y == to || back[y] != TD_NET_NONE) continue;
      back[y] = x;
      queue[n++] = y;
    }
  }
  return false;
}

size_t td_graph_detour(TdArena *a, const TdGraph *g, uint32_t from, uint32_t to,
                       const uint32_t **way) {
  uint32_t *back = TD_NEWN(a, uint32_t, g->node.n);
  if (!reach(a, g, from, to, back)) return 0;
  size_t n = 2;
  for (uint32_t x = back[to]; x != from; x = back[x]) n++;
  uint32_t *w = TD_NEWN(a, uint32_t, n);
  w[n - 1] = to;
  uint32_t x = back[to];
  for (size_t i = n - 1; i-- > 0; x = back[x]) w[i] = x;
  *way = w;
  return n;
}

const char *td_graph_way_name(TdArena *a, const TdGraph *g, const uint32_t *way, size_t n) {
  TdText t = td_text_new(a);
  for (size_t i = 0; i < n; i++)
    td_text_putf(&t, "%s%s", i ? " -> " : "", td_graph_name(a, g, way[i]));
  return td_text_str(&t);
}

/* Sums that may be without bound. */
static int64_t sum(int64_t x, int64_t y) {
  return x == INT64_MAX || y == INT64_MAX || x > INT64_MAX - y ? INT64_MAX : x + y;
}

TdRange td_graph_tokens(const TdGraph *g) {
  TdRange r = {0, 0};
  for (size_t i = 0; i < g->edge.n; i++) {
    r.lo = sum(r.lo, g->edge.at[i].tokens.lo);
    r.hi = sum(r.hi, g->edge.at[i].tokens.hi);
  }
  return r;
}

size_t td_graph_ports(const TdGraph *g, bool write) {
  size_t n = 0;
  for (size_t i = 0; i < g->port.n; i++) n += write ? g->port.at[i].write : g->port.at[i].read;
  return n;
}
