/* graph_draw.c - a task graph as a table and as Graphviz text. */
#include "analysis/net/graph.h"
#include "analysis/net/picture.h"

/* "4 tokens", "0 to 8 tokens", "any number of tokens". */
static const char *tokens_text(TdArena *a, TdRange r) {
  if (r.hi == INT64_MAX) return "any number of tokens";
  if (r.lo != r.hi) return td_text_fmt(a, "%lld to %lld tokens", (long long)r.lo, (long long)r.hi);
  return td_text_fmt(a, "%lld token%s", (long long)r.lo, r.lo == 1 ? "" : "s");
}

/* The edges of one array of streams between the same two runs. */
typedef struct Bunch {
  uint32_t line, from, to; /* runs */
  size_t n;
  TdRange tokens;
} Bunch;
typedef TD_VEC(Bunch) Bunches;

static uint32_t run_of(const TdGraph *g, uint32_t node) {
  return node == TD_TRAFFIC_NONE ? TD_TRAFFIC_NONE : g->node.at[node].run;
}

static Bunches bunches_of(TdArena *a, const TdGraph *g) {
  Bunches all = {0};
  for (size_t i = 0; i < g->edge.n; i++) {
    const TdGraphEdge *e = &g->edge.at[i];
    Bunch b = {g->net->chan.at[e->chan].line, run_of(g, e->from), run_of(g, e->to), 1, e->tokens};
    Bunch *was = NULL;
    for (size_t k = 0; k < all.n && !was; k++) {
      Bunch *x = &all.at[k];
      if (x->line == b.line && x->from == b.from && x->to == b.to) was = x;
    }
    if (!was) {
      td_vec_push(a, &all, b);
      continue;
    }
    bool any = was->tokens.hi == INT64_MAX || b.tokens.hi == INT64_MAX;
    was->n++;
    was->tokens.lo += b.tokens.lo;
    was->tokens.hi = any ? INT64_MAX : was->tokens.hi + b.tokens.hi;
  }
  return all;
}

/* Boxes and arrows, one for each task and each array of streams. */
static TdPicture picture_of_tasks(TdArena *a, const TdGraph *g) {
  TdPicture p = {.arena = a, .title = g->design->sym->name, .n = g->design->nrun};
  size_t *count = TD_NEWN(a, size_t, p.n);
  p.box = TD_NEWN(a, const char *, p.n);
  for (size_t i = 0; i < g->node.n; i++) count[g->node.at[i].run]++;
  for (size_t i = 0; i < p.n; i++) {
    const char *name = g->design->run[i].sym->name;
    p.box[i] = count[i] == 1 ? name : td_text_fmt(a, "%s x %zu", name, count[i]);
  }
  Bunches all = bunches_of(a, g);
  for (size_t i = 0; i < all.n; i++) {
    const Bunch *b = &all.at[i];
    TdPictureArrow x = {b->from, b->to, NULL};
    x.label =
        td_text_fmt(a, "%s, %s", g->net->line.at[b->line].sym->name, tokens_text(a, b->tokens));
    td_vec_push(a, &p.arrow, x);
  }
  return p;
}

static TdPicture picture_of(TdArena *a, const TdGraph *g, TdGraphBy by) {
  if (by == TD_GRAPH_TASKS) return picture_of_tasks(a, g);
  TdPicture p = {.arena = a, .title = g->design->sym->name, .n = g->node.n};
  p.box = TD_NEWN(a, const char *, p.n);
  for (uint32_t i = 0; i < p.n; i++) p.box[i] = td_graph_name(a, g, i);
  for (size_t i = 0; i < g->edge.n; i++) {
    const TdGraphEdge *e = &g->edge.at[i];
    TdPictureArrow x = {e->from, e->to, NULL};
    x.label = td_text_fmt(a, "%s, %s", td_traffic_chan_name(a, g->net, e->chan),
                          tokens_text(a, e->tokens));
    td_vec_push(a, &p.arrow, x);
  }
  return p;
}

/* ---- the table ---- */

/* " {4, 2}" for the map of a run, or nothing. */
static void put_map(TdText *t, const TdGraph *g, const TdRun *r) {
  for (int d = 0; d < r->rank; d++) {
    int64_t n = 0;
    td_unit_value(g->design, r->map[d], &n);
    td_text_putf(t, "%s%lld", d ? ", " : " {", (long long)n);
  }
  if (r->rank) td_text_puts(t, "}");
}

/* The arguments that the nodes of a run read, or write. */
static void put_arguments(TdText *t, const TdGraph *g, uint32_t run, bool write) {
  uint32_t first = TD_TRAFFIC_NONE;
  for (size_t i = 0; i < g->port.n; i++) {
    const TdGraphPort *p = &g->port.at[i];
    if (g->node.at[p->node].run != run || !(write ? p->write : p->read)) continue;
    if (first != TD_TRAFFIC_NONE && p->node != first) return;
    td_text_puts(t, first != TD_TRAFFIC_NONE ? ", " : write ? "  writes " : "  reads ");
    td_text_puts(t, p->arg->name);
    first = p->node;
  }
}

static const char *end_name(const TdGraph *g, uint32_t run) {
  return run == TD_TRAFFIC_NONE ? "outside" : g->design->run[run].sym->name;
}

void td_graph_print(TdText *out, const TdGraph *g) {
  TdArena *a = out->arena;
  td_text_putf(out, "%s: %zu nodes, %zu ports, %zu streams, %s\n", g->design->sym->name, g->node.n,
               td_graph_ports(g, false) + td_graph_ports(g, true), g->edge.n,
               tokens_text(a, td_graph_tokens(g)));
  size_t *count = TD_NEWN(a, size_t, g->design->nrun + 1);
  for (size_t i = 0; i < g->node.n; i++) count[g->node.at[i].run]++;
  for (uint32_t r = 0; r < g->design->nrun; r++) {
    td_text_putf(out, "  task %s", g->design->run[r].sym->name);
    put_map(out, g, &g->design->run[r]);
    td_text_putf(out, ": %zu node%s", count[r], count[r] == 1 ? "" : "s");
    put_arguments(out, g, r, false);
    put_arguments(out, g, r, true);
    td_text_putc(out, '\n');
  }
  Bunches all = bunches_of(a, g);
  for (size_t i = 0; i < all.n; i++) {
    const Bunch *b = &all.at[i];
    const TdLine *l = &g->net->line.at[b->line];
    td_text_putf(out, "  stream %s: %s -> %s, %zu of %s, depth %lld, %s\n", l->sym->name,
                 end_name(g, b->from), end_name(g, b->to), b->n, td_type_str(a, l->type->elem),
                 (long long)l->depth, tokens_text(a, b->tokens));
  }
}

/* ---- drawings ---- */

void td_graph_dot(TdText *out, const TdGraph *g, TdGraphBy by) {
  TdPicture p = picture_of(out->arena, g, by);
  td_picture_dot(out, &p);
}
