/* graph.c - nodes, edges and ports of a design, read off its net and what its kernels touch. */
#include "analysis/net/graph.h"

#include "analysis/net/classes.h"
#include "analysis/order/effects.h"
#include "analysis/net/ends.h"

const char *td_graph_name(TdArena *a, const TdGraph *g, uint32_t node) {
  return td_traffic_inst_name(a, g->net, g->node.at[node].inst);
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
  return lo < g->node.n && g->node.at[lo].inst == inst ? (uint32_t)lo : TD_TRAFFIC_NONE;
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
  return inst == TD_TRAFFIC_NONE ? TD_TRAFFIC_NONE : td_graph_node(g, inst);
}

static void add_edges(const TdAsk *q, TdGraph *g, const TdEnds *ends) {
  for (uint32_t c = 0; c < g->net->chan.n; c++) {
    if (g->net->chan.at[c].group != 0) continue;
    TdGraphEdge e = {c, end_node(g, ends[c].producer), end_node(g, ends[c].consumer), {0, 0}};
    if (e.from == TD_TRAFFIC_NONE && e.to == TD_TRAFFIC_NONE) continue;
    bool put = e.from != TD_TRAFFIC_NONE;
    const TdMove *m = g->net->inst.at[put ? ends[c].producer : ends[c].consumer].move;
    const TdCount *k = td_token_trace_count(m, c);
    e.tokens = put ? k->put : k->get;
    td_vec_push(q->arena, &g->edge, e);
  }
}

/* Adds what the nodes of each run touch of the design's arguments. */
static void add_ports(const TdAsk *q, TdGraph *g) {
  uint32_t of = TD_TRAFFIC_NONE;
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

/* Sorts the streams between nodes by their producers. */
static void sort_edges(TdArena *a, TdGraph *g) {
  uint32_t *start = TD_NEWN(a, uint32_t, g->node.n + 2);
  uint32_t *next = TD_NEWN(a, uint32_t, g->edge.n + 1);
  for (size_t i = 0; i < g->edge.n; i++)
    if (g->edge.at[i].from != TD_TRAFFIC_NONE) start[g->edge.at[i].from + 2]++;
  for (size_t i = 2; i < g->node.n + 2; i++) start[i] += start[i - 1];
  for (size_t i = 0; i < g->edge.n; i++)
    if (g->edge.at[i].from != TD_TRAFFIC_NONE)
      next[start[g->edge.at[i].from + 1]++] = g->edge.at[i].to;
  g->start = start;
  g->next = next;
}

bool td_graph_of(const TdAsk *q, TdGraph *out, TdDiag *d) {
  *out = (TdGraph){.design = td_prog_root(q->prog)};
  const TdTraffic *n = td_traffic_of(q->arena, q->prog, d);
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
  sort_edges(q->arena, out);
  add_ports(q, out);
  return true;
}

/* Breadth first, from all starts at once: of each node that was reached, the one before it and the
 * start it was reached from. */
typedef struct Reach {
  uint32_t *back, *source;
  uint32_t last, hit; /* the way ends with these */
  bool turned_back;   /* a start was reached, but from itself */
} Reach;

static bool reach(TdArena *a, const TdGraph *g, const TdGraphAsk *q, Reach *r) {
  uint32_t *queue = TD_NEWN(a, uint32_t, g->node.n), n = 0;
  *r = (Reach){TD_NEWN(a, uint32_t, g->node.n), TD_NEWN(a, uint32_t, g->node.n), 0, 0, false};
  for (size_t i = 0; i < g->node.n; i++) r->source[i] = TD_TRAFFIC_NONE;
  for (size_t i = 0; i < q->n; i++) {
    queue[n++] = q->from[i];
    r->source[q->from[i]] = r->back[q->from[i]] = q->from[i];
  }
  for (uint32_t head = 0; head < n; head++) {
    uint32_t x = queue[head], source = r->source[x];
    td_ctx_tick(td_arena_ctx(a), 1);
    for (uint32_t i = g->start[x]; i < g->start[x + 1]; i++) {
      uint32_t y = g->next[i];
      if (y == TD_TRAFFIC_NONE) continue;
      r->last = x, r->hit = y;
      if (q->target[y] && y != source && !(q->apart && x == source)) return true;
      r->turned_back |= y == source && x != y;
      if (r->source[y] != TD_TRAFFIC_NONE || q->target[y]) continue;
      r->source[y] = source;
      r->back[y] = x;
      queue[n++] = y;
    }
  }
  return false;
}

size_t td_graph_way(TdArena *a, const TdGraph *g, const TdGraphAsk *q, const uint32_t **way) {
  Reach r;
  bool found = reach(a, g, q, &r);
  for (size_t i = 0; i < q->n && q->n > 1 && r.turned_back && !found; i++) {
    TdGraphAsk one = {&q->from[i], 1, q->target, q->apart};
    found = reach(a, g, &one, &r);
    r.turned_back = true;
  }
  if (!found) return 0;
  size_t n = 2;
  for (uint32_t x = r.last; r.back[x] != x; x = r.back[x]) n++;
  uint32_t *w = TD_NEWN(a, uint32_t, n), x = r.last;
  w[n - 1] = r.hit;
  for (size_t i = n - 1; i-- > 0; x = r.back[x]) w[i] = x;
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

size_t td_graph_bodies(const TdGraph *g) {
  size_t n = 0, first = 0;
  for (size_t i = 0; i < g->node.n; i++) {
    const TdGraphNode *x = &g->node.at[i];
    if (x->run != g->node.at[first].run) first = i;
    size_t k = first;
    while (g->node.at[k].body != x->body) k++;
    n += k == i;
  }
  return n;
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
