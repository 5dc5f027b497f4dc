/* vpace.c - static control: in which cycles tokens move, where that is known before the run. Each
 * task is one pipelined loop; its first firing is due when the tokens for it are there, the others
 * follow in the loop's interval. So the start of each instance is the longest path to it in the
 * graph of first tokens. A stream of which each token stays equally long is a delay line; puts that
 * always find a place need no credits. Tasks that get nothing may be held up by a stream that is
 * full, which delays nobody as long as its depth covers the way there and back. */
#include "backends/verilog/vdesign.h"
#include "backends/verilog/vunit.h"

static TdVlogPace irregular(TdLoc loc, const char *why) {
  return (TdVlogPace){.irregular = why, .loc = loc};
}

/* Whether the operations up to the state `run` take a time that is known; adds it. */
static bool is_straight(const TdVkUnit *k, size_t run, int64_t *cycles) {
  size_t i = 0;
  for (; k->op.at[i].kind != TD_VK_STATE || k->op.at[i].state != run; i++) {
    const TdVkOp *x = &k->op.at[i];
    if (x->kind == TD_VK_STATE) *cycles += k->state.at[x->state].length;
    if (x->kind != TD_VK_STATE && x->kind != TD_VK_CLEAR) return false;
  }
  for (size_t j = i; j < k->op.n; j++)
    if (k->op.at[j].kind == TD_VK_JUMP && k->op.at[j].target <= i) return false;
  return true;
}

/* Whether each iteration moves a token at each end of a firing, all gets in the cycle `at`. */
static bool is_plain(const TdVkUnit *k, const TdVkLeaf *l, const TdVkFiring *f) {
  for (size_t j = 0; j < f->got.n; j++) {
    const TdReach *r = f->got.at[j].reach;
    int64_t from = td_flow_cycle(&l->t->flow, l->t->flow.node.at[r->node].start);
    if (r->guard || from < f->time->at) return false;
  }
  for (size_t j = 0; j < f->put.n; j++)
    if (f->put.at[j]->guard) return false;
  for (size_t i = 0; i < k->port.n; i++)
    if (k->port.at[i]->count != 1 || k->port.at[i]->beats != 1 || k->port.at[i]->block)
      return false;
  return k->port.n == f->got.n + f->put.n;
}

TdVlogPace td_vpace_unit(const TdVkUnit *k) {
  const TdVkLeaf *l = NULL;
  for (size_t i = 0; i < k->leaf.n; i++) {
    const TdVkLeaf *x = k->leaf.at[i];
    if (!x->firing.n) continue;
    if (l) return irregular(x->step->stmt->loc, "it moves tokens in several places");
    l = x;
  }
  if (!l) return (TdVlogPace){0};
  TdLoc loc = l->step->stmt->loc;
  int64_t cycles = 1, trip = 1;
  for (size_t i = 0; i < l->nest.n; i++) trip *= k->counter.at[l->nest.at[i]].trip;
  const TdVkFiring *f = l->firing.at[0];
  if (!l->pipe) return irregular(loc, "what moves its tokens is no pipelined loop");
  if (!trip) return irregular(loc, "the loop's trip is not known");
  if (l->left) return irregular(loc, "the loop may be left");
  if (l->firing.n > 1) return irregular(loc, "gets follow puts in an iteration");
  if (!is_straight(k, l->state, &cycles)) return irregular(loc, "control before it depends");
  if (!is_plain(k, l, f))
    return irregular(loc, "some iterations move no token, one of several, or a block");
  if (l->time->shares && l->ii > 1) return irregular(loc, "its delays are whole intervals");
  return (TdVlogPace){.loc = loc,
                      .first = cycles + f->time->at,
                      .latency = f->time->latency,
                      .ii = l->ii,
                      .trip = trip,
                      .gets = f->got.n,
                      .puts = f->put.n};
}

/* A stream between two instances. */
typedef struct Edge {
  TdVdStream *stream;
  int64_t at; /* its number in the box */
  struct Node *from, *to;
  struct Edge *next; /* that `from` puts to */
} Edge;

/* An instance: its class's pace, and when its first firing starts. */
typedef struct Node {
  const TdVlogPace *pace;
  const TdNetClass *cls;
  size_t number; /* of the class */
  int64_t start;
  size_t wants; /* gets whose other end is not settled */
  Edge *put;
} Node;

typedef struct Graph {
  TdVdDesign *d;
  Node *node;
  size_t n;
  TD_VEC(Edge *) edge;
  TdDiag *why;
} Graph;

static bool fail(Graph *g, TdLoc loc, const char *name, const char *why) {
  td_diag_set(g->why, TD_UNSUPPORTED, "not-static", loc, "cycles of '%s' are not static: %s", name,
              why);
  td_diag_help(g->why, "control = \"auto\" gives its streams handshakes");
  return false;
}

/* Makes an edge of each stream of an array that two instances hold. */
static bool add_edges(Graph *g, TdVdStream *w) {
  TdArena *a = g->d->arena;
  const char *name = w->stream->sym->name;
  if (w->outside) return fail(g, w->stream->loc, name, "it is an end of the design");
  if (w->beats != 1) return fail(g, w->stream->loc, name, "its tokens take several beats");
  w->line = TD_NEWN(a, bool, w->count + 1);
  for (int64_t k = 0; k < w->count; k++) {
    int32_t to = w->end[0][k], from = w->end[1][k];
    if (to < 0 && from < 0) continue;
    if (to < 0 || from < 0) return fail(g, w->stream->loc, name, "nobody holds its other end");
    Edge *e = TD_NEW(a, Edge);
    *e = (Edge){w, k, &g->node[from], &g->node[to], g->node[from].put};
    g->node[from].put = e;
    td_vec_push(a, &g->edge, e);
  }
  return true;
}

/* Makes the instances, and what is between them. */
static bool open(Graph *g, const TdVlogModule *const *m) {
  TdVdDesign *d = g->d;
  size_t all = 0;
  for (size_t c = 0; c < d->net->cls.n; c++) all += d->net->cls.at[c]->n;
  g->node = TD_NEWN(d->arena, Node, all + 1);
  for (size_t c = 0; c < d->net->cls.n; c++) {
    const TdNetClass *x = d->net->cls.at[c];
    const TdVlogPace *p = &m[c]->pace;
    if (p->irregular) return fail(g, p->loc, x->task, p->irregular);
    for (size_t k = 0; k < m[c]->nport; k++) td_vstream_hold(d, x, &m[c]->port[k], (int32_t)g->n);
    for (uint32_t i = 0; i < x->n; i++) g->node[g->n++] = (Node){p, x, c, p->first, p->gets, NULL};
  }
  for (size_t i = 0; i < d->stream.n; i++)
    if (!add_edges(g, &d->stream.at[i])) return false;
  return true;
}

/* The cycle from which the first token of a stream is there. */
static int64_t arrival(const Edge *e) {
  return e->from->start + e->from->pace->latency + e->stream->latency;
}

/* Finds the start of each instance. */
static bool find_starts(Graph *g) {
  size_t done = 0;
  TD_VEC(Node *) ready = {0};
  for (size_t i = 0; i < g->n; i++)
    if (!g->node[i].wants) td_vec_push(g->d->arena, &ready, &g->node[i]);
  for (; done < ready.n; done++)
    for (const Edge *e = ready.at[done]->put; e; e = e->next) {
      int64_t there = arrival(e);
      e->to->start = there > e->to->start ? there : e->to->start;
      if (!--e->to->wants) td_vec_push(g->d->arena, &ready, e->to);
    }
  td_ctx_tick(td_arena_ctx(g->d->arena), g->n);
  return done == g->n ||
         fail(g, g->node[0].pace->loc, g->node[0].cls->task, "streams run in circles");
}

/* Whether each put of a stream finds a place at once. */
static bool has_room(const Edge *e) {
  const TdVlogPace *p = e->from->pace;
  int64_t stays = e->to->start - e->from->start - p->latency;
  return p->trip <= e->stream->depth || p->ii * e->stream->depth > stays;
}

/* Whether each token is got in the cycle in which its firing starts: a first one that is there
 * before the others is got then. */
static bool is_prompt(const Edge *e) {
  return e->to->start == e->to->pace->first || arrival(e) == e->to->start;
}

/* Whether both ends of an edge keep pace, also where puts wait. */
static bool check_edge(Graph *g, const Edge *e, bool *waits) {
  const TdVlogPace *x = e->from->pace, *y = e->to->pace;
  const char *name = e->stream->stream->sym->name;
  if (x->trip != y->trip || (x->trip > 1 && x->ii != y->ii))
    return fail(g, e->stream->stream->loc, name, "its ends move at different rates");
  if (has_room(e)) return true;
  if (x->gets || x->puts > 1)
    return fail(g, e->stream->stream->loc, name, "it is full at times, which holds others up");
  if (y->ii * e->stream->depth <= e->stream->latency)
    return fail(g, e->stream->stream->loc, name, "its depth is below the way there and back");
  waits[e->from->number] = true;
  return true;
}

/* Has the streams whose tokens all stay equally long be delay lines. */
static void choose(Graph *g) {
  for (size_t i = 0; i < g->edge.n; i++) {
    Edge *e = g->edge.at[i];
    int64_t stays = e->to->start - e->from->start - e->from->pace->latency;
    if (!has_room(e) || !is_prompt(e)) continue;
    if (!e->stream->stay) e->stream->stay = stays;
    e->stream->line[e->at] = e->stream->stay == stays;
  }
}

bool td_vpace_settle(TdVdDesign *d, const TdVlogModule *const *m, bool *waits, TdDiag *why) {
  Graph g = {.d = d, .why = why};
  if (!open(&g, m) || !find_starts(&g)) return false;
  for (size_t i = 0; i < g.edge.n; i++)
    if (!check_edge(&g, g.edge.at[i], waits)) return false;
  choose(&g);
  return true;
}
