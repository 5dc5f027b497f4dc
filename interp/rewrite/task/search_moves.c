/* search_moves.c - bundles along axes, by lists and of two; chains. */
#include "rewrite/task/search_moves.h"

#include <string.h>

enum { MOST_LISTED = 64 }; /* nodes of a task that is bundled by lists */

TdPrimStep td_search_step(TdArena *a, const TdSearchMove *m) {
  TdArgValue *arg = TD_NEWN(a, TdArgValue, TD_PRIM_ARGS);
  if (strcmp(m->prim->name, "chain") == 0) {
    arg[0] = (TdArgValue){.given = true, .text = m->first};
    arg[1] = (TdArgValue){.given = true, .text = m->second};
    return (TdPrimStep){.prim = m->prim, .arg = arg};
  }
  if (m->list) {
    arg[0] = (TdArgValue){.given = true, .names = m->list, .n = m->n};
    return (TdPrimStep){.prim = m->prim, .arg = arg};
  }
  const char **name = TD_NEWN(a, const char *, 2);
  name[0] = m->first, name[1] = m->second;
  arg[0] = (TdArgValue){.given = true, .names = name, .n = m->second ? 2 : 1};
  if (m->axis >= 0) arg[1] = (TdArgValue){.given = true, .integer = m->axis};
  if (m->factor >= 0) arg[2] = (TdArgValue){.given = true, .integer = m->factor};
  return (TdPrimStep){.prim = m->prim, .arg = arg};
}

/* A state and its moves. */
typedef struct Tasks {
  const TdSearchFrom *from;
  TdArena *arena;
  const TdUnit *design;
  const TdGraph *graph;
  int64_t *nodes; /* of each run */
  double work;    /* of all: cycles times nodes */
  TdSearchMoves all;
} Tasks;

static Tasks tasks_of(const TdSearchFrom *f) {
  const TdGraph *g = f->graph;
  Tasks t = {.from = f, .arena = f->arena, .design = g->design, .graph = g};
  t.nodes = TD_NEWN(f->arena, int64_t, g->design->nrun);
  for (size_t i = 0; i < g->node.n; i++) t.nodes[g->node.at[i].run]++;
  for (size_t i = 0; f->stage && i < g->design->nrun; i++)
    t.work += (double)t.nodes[i] * (double)f->stage[i].cycles;
  return t;
}

/* The least divisor of n that is at least `least`. */
static int64_t divisor_from(int64_t n, int64_t least) {
  int64_t f = least < 2 ? 2 : least;
  while (f < n && n % f) f++;
  return f < n ? f : n;
}

static void add_bundle(Tasks *t, const TdRun *run, int axis, int64_t extent, int64_t factor) {
  TdSearchMove m = {td_prim_find("bundle"),        run->sym->name, NULL, axis,
                    factor < extent ? factor : -1, NULL,           0};
  for (size_t i = 0; i < t->all.n; i++) {
    const TdSearchMove *x = &t->all.at[i];
    if (x->first == m.first && x->axis == m.axis && x->factor == m.factor && !x->second) return;
  }
  td_vec_push(t->arena, &t->all, m);
}

/* Adds a bundle of the first nodes of a run with one axis: for shares that do not divide it. */
static void add_list(Tasks *t, size_t r, int64_t size) {
  const TdGraph *g = t->graph;
  const char **name = TD_NEWN(t->arena, const char *, size);
  size_t n = 0;
  for (uint32_t i = 0; i < g->node.n && n < (size_t)size; i++)
    if (g->node.at[i].run == r) name[n++] = td_graph_name(t->arena, g, i);
  TdSearchMove m = {td_prim_find("bundle"), name[0], NULL, -1, -1, name, n};
  if (n > 1) td_vec_push(t->arena, &t->all, m);
}

/* Ways of bundling a run along an axis: all divisors in a small search; else all of the axis, and
 * as many as leave the run its share of the nodes by number, by work, or all that others leave. */
static void add_bundles(Tasks *t, size_t r, int axis) {
  const TdRun *run = &t->design->run[r];
  int64_t extent = 0, n = t->nodes[r], pes = t->from->pes, all = (int64_t)t->graph->node.n;
  td_unit_value(t->design, run->map[axis], &extent);
  if (extent < 2) return;
  bool small = t->from->turns != NULL;
  for (int64_t f = 2; small && f <= extent; f++)
    if (extent % f == 0) add_bundle(t, run, axis, extent, f);
  if (small) return;
  double work = t->work > 0 ? (double)n * (double)t->from->stage[r].cycles / t->work : 1;
  int64_t share[] = {pes * n / all, (int64_t)((double)pes * work), pes - (all - n)};
  for (size_t i = 0; i < sizeof share / sizeof *share; i++) {
    int64_t left = share[i] < 1 ? 1 : share[i];
    int64_t size = (n + left - 1) / left;
    add_bundle(t, run, axis, extent, divisor_from(extent, size));
    bool uneven = size > 1 && (n < extent || extent % size != 0);
    if (uneven && run->rank == 1 && n <= MOST_LISTED) add_list(t, r, size);
  }
  add_bundle(t, run, axis, extent, extent);
}

/* Whether two runs have maps of equal extents. */
static bool is_same_map(const Tasks *t, const TdRun *x, const TdRun *y) {
  bool same = x->rank == y->rank;
  for (int d = 0; same && d < x->rank; d++) {
    int64_t n = 0, m = 0;
    td_unit_value(t->design, x->map[d], &n);
    td_unit_value(t->design, y->map[d], &m);
    same = n == m;
  }
  return same;
}

/* Whether a stream leads from run (or, without runs, from node) x to y. */
static bool feeds(const TdGraph *g, bool runs, uint32_t x, uint32_t y) {
  for (size_t i = 0; i < g->edge.n; i++) {
    const TdGraphEdge *e = &g->edge.at[i];
    if (e->from == TD_TRAFFIC_NONE || e->to == TD_TRAFFIC_NONE) continue;
    uint32_t from = runs ? g->node.at[e->from].run : e->from;
    uint32_t to = runs ? g->node.at[e->to].run : e->to;
    if (from == x && to == y) return true;
  }
  return false;
}

/* Adds the moves that make one of two runs, or nodes, x before y: a chain the way that streams go;
 * or a bundle, or a chain in order, where none does. Whether one did. */
static bool add_pair(Tasks *t, bool runs, const uint32_t *at, const char *const *name) {
  const TdGraph *g = t->graph;
  const TdPrim *chain = td_prim_find("chain"), *bundle = td_prim_find("bundle");
  bool there = feeds(g, runs, at[0], at[1]), back = feeds(g, runs, at[1], at[0]);
  if (there && back) return true;
  if (!there && !back)
    td_vec_push(t->arena, &t->all, ((TdSearchMove){bundle, name[0], name[1], -1, -1, NULL, 0}));
  TdSearchMove m = {chain, name[back ? 1 : 0], name[back ? 0 : 1], -1, -1, NULL, 0};
  td_vec_push(t->arena, &t->all, m);
  return there || back;
}

/* The same of a small search, in which what no stream joins goes either way: where the streams of
 * one of them lead elsewhere that is not the same. */
static void add_both(Tasks *t, bool runs, const uint32_t *at, const char *const *name) {
  const TdTurns *turns = t->from->turns;
  if (add_pair(t, runs, at, name) || !turns) return;
  if (td_turns_are_alone(turns, name[0]) && td_turns_are_alone(turns, name[1])) return;
  add_pair(t, runs, (uint32_t[]){at[1], at[0]}, (const char *[]){name[1], name[0]});
}

/* Adds those of two nodes of which one at least is an instance among several. */
static void add_instances(Tasks *t) {
  const TdGraph *g = t->graph;
  for (uint32_t x = 0; x < g->node.n; x++)
    for (uint32_t y = x + 1; y < g->node.n; y++) {
      bool rank = t->design->run[g->node.at[x].run].rank || t->design->run[g->node.at[y].run].rank;
      const char *name[] = {td_graph_name(t->arena, g, x), td_graph_name(t->arena, g, y)};
      if (rank) add_both(t, false, (uint32_t[]){x, y}, name);
    }
}

TdSearchMoves td_search_moves(const TdSearchFrom *f) {
  Tasks t = tasks_of(f);
  const TdUnit *d = t.design;
  for (uint32_t r = 0; r < d->nrun; r++)
    for (int axis = 0; axis < d->run[r].rank; axis++) add_bundles(&t, r, axis);
  for (uint32_t x = 0; x < d->nrun; x++)
    for (uint32_t y = x + 1; y < d->nrun; y++) {
      const char *name[] = {d->run[x].sym->name, d->run[y].sym->name};
      if (is_same_map(&t, &d->run[x], &d->run[y])) add_both(&t, true, (uint32_t[]){x, y}, name);
    }
  if (f->turns) add_instances(&t);
  return t.all;
}
