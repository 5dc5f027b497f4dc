/* graph_draw.c - a task graph as a table, as Graphviz text and as an SVG drawing. */
#include "analysis/graph.h"

#include <string.h>

/* What is drawn: boxes, and arrows between them (TD_NET_NONE: an end outside). */
typedef struct Arrow {
  uint32_t from, to;
  const char *label;
} Arrow;
typedef struct Picture {
  TdArena *arena;
  const char *title;
  const char **box;
  uint32_t *layer, *column;
  size_t n;
  TD_VEC(Arrow) arrow;
} Picture;

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
  return node == TD_NET_NONE ? TD_NET_NONE : g->node.at[node].run;
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
static Picture picture_of_tasks(TdArena *a, const TdGraph *g) {
  Picture p = {.arena = a, .title = g->design->sym->name, .n = g->design->nrun};
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
    Arrow x = {b->from, b->to, NULL};
    x.label =
        td_text_fmt(a, "%s, %s", g->net->line.at[b->line].sym->name, tokens_text(a, b->tokens));
    td_vec_push(a, &p.arrow, x);
  }
  return p;
}

static Picture picture_of(TdArena *a, const TdGraph *g, TdGraphBy by) {
  if (by == TD_GRAPH_TASKS) return picture_of_tasks(a, g);
  Picture p = {.arena = a, .title = g->design->sym->name, .n = g->node.n};
  p.box = TD_NEWN(a, const char *, p.n);
  for (uint32_t i = 0; i < p.n; i++) p.box[i] = td_graph_name(a, g, i);
  for (size_t i = 0; i < g->edge.n; i++) {
    const TdGraphEdge *e = &g->edge.at[i];
    Arrow x = {e->from, e->to, NULL};
    x.label =
        td_text_fmt(a, "%s, %s", td_net_chan_name(a, g->net, e->chan), tokens_text(a, e->tokens));
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
  uint32_t first = TD_NET_NONE;
  for (size_t i = 0; i < g->port.n; i++) {
    const TdGraphPort *p = &g->port.at[i];
    if (g->node.at[p->node].run != run || !(write ? p->write : p->read)) continue;
    if (first != TD_NET_NONE && p->node != first) return;
    td_text_puts(t, first != TD_NET_NONE ? ", " : write ? "  writes " : "  reads ");
    td_text_puts(t, p->arg->name);
    first = p->node;
  }
}

static const char *end_name(const TdGraph *g, uint32_t run) {
  return run == TD_NET_NONE ? "outside" : g->design->run[run].sym->name;
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

/* ---- Graphviz ---- */

static void put_dot_end(TdText *t, const Picture *p, uint32_t box) {
  const char *name = box == TD_NET_NONE ? "outside" : p->box[box];
  td_text_put_quoted(t, name, strlen(name));
}

void td_graph_dot(TdText *out, const TdGraph *g, TdGraphBy by) {
  Picture p = picture_of(out->arena, g, by);
  td_text_putf(out, "digraph \"%s\" {\n  node [shape=box];\n", p.title);
  for (uint32_t i = 0; i < p.n; i++) {
    td_text_puts(out, "  ");
    put_dot_end(out, &p, i);
    td_text_puts(out, ";\n");
  }
  for (size_t i = 0; i < p.arrow.n; i++) {
    td_text_puts(out, "  ");
    put_dot_end(out, &p, p.arrow.at[i].from);
    td_text_puts(out, " -> ");
    put_dot_end(out, &p, p.arrow.at[i].to);
    td_text_putf(out, " [label=\"%s\"];\n", p.arrow.at[i].label);
  }
  td_text_puts(out, "}\n");
}

/* ---- SVG ---- */

enum { BOX_W = 120, BOX_H = 26, GAP_X = 24, GAP_Y = 54, MARGIN = 16 };

/* Puts each box below those that feed it, as far as there is no way back. */
static void set_layers(Picture *p) {
  p->layer = TD_NEWN(p->arena, uint32_t, p->n);
  bool moved = true;
  for (size_t turn = 0; moved && turn < p->n; turn++) {
    moved = false;
    for (size_t i = 0; i < p->arrow.n; i++) {
      const Arrow *x = &p->arrow.at[i];
      if (x->from == TD_NET_NONE || x->to == TD_NET_NONE || x->from == x->to) continue;
      uint32_t want = p->layer[x->from] + 1;
      if (p->layer[x->to] >= want || want >= p->n) continue;
      p->layer[x->to] = want;
      moved = true;
    }
  }
}

/* Layers without a box are closed up; boxes get their columns in order. Returns how many layers
 * there are, and in *width the boxes of the widest. */
static uint32_t set_columns(Picture *p, uint32_t *width) {
  uint32_t *count = TD_NEWN(p->arena, uint32_t, p->n + 1),
           *rank = TD_NEWN(p->arena, uint32_t, p->n + 1);
  uint32_t n = 0;
  p->column = TD_NEWN(p->arena, uint32_t, p->n);
  for (size_t i = 0; i < p->n; i++) p->column[i] = count[p->layer[i]]++;
  *width = 1;
  for (size_t l = 0; l < p->n; l++) {
    rank[l] = n;
    n += count[l] > 0;
    if (count[l] > *width) *width = count[l];
  }
  for (size_t i = 0; i < p->n; i++) p->layer[i] = rank[p->layer[i]];
  return n ? n : 1;
}

static int64_t box_x(const Picture *p, uint32_t i) {
  return MARGIN + (int64_t)p->column[i] * (BOX_W + GAP_X);
}

static int64_t box_y(const Picture *p, uint32_t i) {
  return MARGIN + (int64_t)p->layer[i] * (BOX_H + GAP_Y);
}

/* A curve from the foot of one box to the head of the other; an end outside is above or below. */
static void put_arrow(TdText *t, const Picture *p, const Arrow *x) {
  uint32_t from = x->from == TD_NET_NONE ? x->to : x->from;
  uint32_t to = x->to == TD_NET_NONE ? x->from : x->to;
  int64_t x1 = box_x(p, from) + BOX_W / 2, y1 = box_y(p, from) + BOX_H;
  int64_t x2 = box_x(p, to) + BOX_W / 2, y2 = box_y(p, to);
  if (x->from == TD_NET_NONE) y1 = y2 - GAP_Y / 2;
  if (x->to == TD_NET_NONE) y2 = y1 + GAP_Y / 2;
  td_text_putf(t,
               "  <path d=\"M%lld %lldC%lld %lld %lld %lld %lld %lld\"><title>%s</title></path>\n",
               (long long)x1, (long long)y1, (long long)x1, (long long)y1 + GAP_Y / 2,
               (long long)x2, (long long)y2 - GAP_Y / 2, (long long)x2, (long long)y2, x->label);
}

static void put_box(TdText *t, const Picture *p, uint32_t i) {
  td_text_putf(t,
               "  <rect x=\"%lld\" y=\"%lld\" width=\"%d\" height=\"%d\"/>"
               "<text x=\"%lld\" y=\"%lld\">%s</text>\n",
               (long long)box_x(p, i), (long long)box_y(p, i), BOX_W, BOX_H,
               (long long)box_x(p, i) + BOX_W / 2, (long long)box_y(p, i) + 17, p->box[i]);
}

void td_graph_svg(TdText *out, const TdGraph *g) {
  Picture p = picture_of(out->arena, g, TD_GRAPH_INSTANCES);
  uint32_t wide;
  set_layers(&p);
  uint32_t high = set_columns(&p, &wide);
  td_text_putf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%lld\" height=\"%lld\" "
               "font-family=\"sans-serif\" font-size=\"11\">\n  <title>%s</title>\n"
               "  <style>path { fill: none; stroke: #777; marker-end: url(#to) } "
               "rect { fill: #eef3fa; stroke: #345 } text { text-anchor: middle }</style>\n"
               "  <marker id=\"to\" viewBox=\"0 0 6 6\" refX=\"6\" refY=\"3\" orient=\"auto\">"
               "<path d=\"M0 0L6 3L0 6z\" style=\"fill: #777; marker-end: none\"/></marker>\n",
               2LL * MARGIN + (int64_t)wide * (BOX_W + GAP_X) - GAP_X,
               2LL * MARGIN + (int64_t)high * (BOX_H + GAP_Y) - GAP_Y, p.title);
  for (size_t i = 0; i < p.arrow.n; i++) put_arrow(out, &p, &p.arrow.at[i]);
  for (uint32_t i = 0; i < p.n; i++) put_box(out, &p, i);
  td_text_puts(out, "</svg>\n");
}
