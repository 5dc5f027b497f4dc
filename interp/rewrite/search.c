/* search.c - branch and reduce over bundles and chains: each step leaves fewer nodes, those that
 * promise least cycles go first, and the search stops once it has enough mappings. A design of few
 * nodes is searched to the end. */
#include "rewrite/search.h"

#include <string.h>

#include "analysis/cost.h"
#include "rewrite/schedule.h"
#include "rewrite/search_cost.h"
#include "rewrite/search_turns.h"

enum {
  SMALL = TD_TURNS_MOST, /* nodes of a design that is searched to the end */
  ENOUGH = 24,           /* mappings of a larger one */
  MOST_STATES = 600,     /* of a larger one */
  MOST_LISTED = 64,      /* nodes of a task that is bundled by lists */
  MOST_CHILDREN = 6,     /* of one of its states */
};

typedef TD_VEC(TdSearchMove) Moves;

/* A design on the way. */
typedef struct State {
  const struct State *parent;
  const TdProg *prog;
  TdPrimStep step; /* from the parent */
  TdSearchCost cost;
  TdTurns turns;     /* in a small search */
  uint32_t uid, sym; /* that statements and symbols made from it go on from */
  bool fits;
} State;
typedef TD_VEC(State *) States;

typedef struct Search {
  TdRewrite *r;
  const TdSearchLimits *limits;
  TdArena *arena;
  TdMap seen;  /* keys of programs */
  TdMap tried; /* keys of turns, in a small search */
  bool small, timed;
  size_t states, found;
  const State *best, *fewest;
} Search;

/* ---- cost ---- */

/* Negative: x is better. */
static int compare(const TdSearchCost *x, const TdSearchCost *y) {
  const int64_t a[] = {x->cycles, x->longest, x->tokens, x->ports, x->nodes};
  const int64_t b[] = {y->cycles, y->longest, y->tokens, y->ports, y->nodes};
  for (int i = 0; i < 5; i++)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  return 0;
}

/* Whether x takes longer than y. */
static bool is_slower(const TdSearchCost *x, const TdSearchCost *y) {
  return x->cycles != y->cycles ? x->cycles > y->cycles : x->longest > y->longest;
}

/* ---- limits ---- */

static bool is_within(int64_t n, int64_t limit) {
  return limit < 0 || n <= limit;
}

/* Whether one node is within its limits; *line is scratch, one entry for each declared stream. */
static bool node_fits(const Search *q, const TdGraph *g, uint32_t node, uint8_t *line) {
  int64_t in = 0, out = 0;
  memset(line, 0, g->net->line.n);
  for (size_t i = 0; i < g->port.n; i++) {
    if (g->port.at[i].node != node) continue;
    in += g->port.at[i].read;
    out += g->port.at[i].write;
  }
  for (size_t i = 0; i < g->edge.n; i++) {
    const TdGraphEdge *e = &g->edge.at[i];
    uint8_t *used = &line[g->net->chan.at[e->chan].line];
    if (e->from == e->to) continue;
    if (e->to == node && !(*used & 1)) in++, *used |= 1;
    if (e->from == node && !(*used & 2)) out++, *used |= 2;
  }
  return is_within(in, q->limits->node_inputs) && is_within(out, q->limits->node_outputs);
}

static bool fits(const Search *q, TdArena *a, const TdGraph *g) {
  const TdSearchLimits *l = q->limits;
  if (!is_within((int64_t)g->node.n, l->pes)) return false;
  if (!is_within((int64_t)td_graph_ports(g, false), l->inputs)) return false;
  if (!is_within((int64_t)td_graph_ports(g, true), l->outputs)) return false;
  uint8_t *line = TD_NEWN(a, uint8_t, g->net->line.n + 1);
  bool any = l->node_inputs < 0 && l->node_outputs < 0;
  for (uint32_t i = 0; i < g->node.n && !any; i++)
    if (!node_fits(q, g, i, line)) return false;
  return true;
}

/* ---- moves ---- */

/* A step with its arguments, in the search's arena. */
static TdPrimStep step_of(const Search *q, const TdSearchMove *m) {
  TdArgValue *arg = TD_NEWN(q->arena, TdArgValue, TD_PRIM_ARGS);
  if (strcmp(m->prim->name, "chain") == 0) {
    arg[0] = (TdArgValue){.given = true, .text = m->first};
    arg[1] = (TdArgValue){.given = true, .text = m->second};
    return (TdPrimStep){.prim = m->prim, .arg = arg};
  }
  if (m->list) {
    arg[0] = (TdArgValue){.given = true, .names = m->list, .n = m->n};
    return (TdPrimStep){.prim = m->prim, .arg = arg};
  }
  const char **name = TD_NEWN(q->arena, const char *, 2);
  name[0] = m->first, name[1] = m->second;
  arg[0] = (TdArgValue){.given = true, .names = name, .n = m->second ? 2 : 1};
  if (m->axis >= 0) arg[1] = (TdArgValue){.given = true, .integer = m->axis};
  if (m->factor >= 0) arg[2] = (TdArgValue){.given = true, .integer = m->factor};
  return (TdPrimStep){.prim = m->prim, .arg = arg};
}

/* What is known of the tasks of a state. */
typedef struct Tasks {
  const TdUnit *design;
  const TdGraph *graph;
  const TdCost *cost;
  int64_t *nodes; /* of each run */
  double work;    /* of all: cycles times nodes */
} Tasks;

static Tasks tasks_of(TdArena *a, const TdGraph *g, const TdCost *c) {
  Tasks t = {g->design, g, c, TD_NEWN(a, int64_t, g->design->nrun), 0};
  for (size_t i = 0; i < g->node.n; i++) t.nodes[g->node.at[i].run]++;
  for (size_t i = 0; c && i < g->design->nrun; i++)
    t.work += (double)t.nodes[i] * (double)c->stage.at[i].cycles;
  return t;
}

/* The least divisor of n that is at least `least`. */
static int64_t divisor_from(int64_t n, int64_t least) {
  int64_t f = least < 2 ? 2 : least;
  while (f < n && n % f) f++;
  return f < n ? f : n;
}

static void add_bundle(const Search *q, Moves *to, const TdRun *run, int axis, int64_t extent,
                       int64_t factor) {
  TdSearchMove m = {td_prim_find("bundle"),        run->sym->name, NULL, axis,
                    factor < extent ? factor : -1, NULL,           0};
  for (size_t i = 0; i < to->n; i++) {
    const TdSearchMove *x = &to->at[i];
    if (x->first == m.first && x->axis == m.axis && x->factor == m.factor && !x->second) return;
  }
  td_vec_push(q->arena, to, m);
}

/* Adds a bundle of the first nodes of a run with one axis: for shares that do not divide it. */
static void add_list(const Search *q, Moves *to, const Tasks *t, size_t r, int64_t size) {
  const TdGraph *g = t->graph;
  const char **name = TD_NEWN(q->arena, const char *, size);
  size_t n = 0;
  for (uint32_t i = 0; i < g->node.n && n < (size_t)size; i++)
    if (g->node.at[i].run == r) name[n++] = td_graph_name(q->arena, g, i);
  TdSearchMove m = {td_prim_find("bundle"), name[0], NULL, -1, -1, name, n};
  if (n > 1) td_vec_push(q->arena, to, m);
}

/* Ways of bundling a run along an axis: all divisors in a small search; else all of the axis, and
 * as many as leave the run its share of the nodes by number, by work, or all that others leave. */
static void add_bundles(const Search *q, Moves *to, const Tasks *t, size_t r, int axis) {
  const TdRun *run = &t->design->run[r];
  int64_t extent = 0, n = t->nodes[r], pes = q->limits->pes, all = (int64_t)t->graph->node.n;
  td_unit_value(t->design, run->map[axis], &extent);
  if (extent < 2) return;
  for (int64_t f = 2; q->small && f <= extent; f++)
    if (extent % f == 0) add_bundle(q, to, run, axis, extent, f);
  if (q->small) return;
  double work = t->work > 0 ? (double)n * (double)t->cost->stage.at[r].cycles / t->work : 1;
  int64_t share[] = {pes * n / all, (int64_t)((double)pes * work), pes - (all - n)};
  for (size_t i = 0; i < sizeof share / sizeof *share; i++) {
    int64_t left = share[i] < 1 ? 1 : share[i];
    int64_t size = (n + left - 1) / left;
    add_bundle(q, to, run, axis, extent, divisor_from(extent, size));
    bool uneven = size > 1 && (n < extent || extent % size != 0);
    if (uneven && run->rank == 1 && n <= MOST_LISTED) add_list(q, to, t, r, size);
  }
  add_bundle(q, to, run, axis, extent, extent);
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
    if (e->from == TD_NET_NONE || e->to == TD_NET_NONE) continue;
    uint32_t from = runs ? g->node.at[e->from].run : e->from;
    uint32_t to = runs ? g->node.at[e->to].run : e->to;
    if (from == x && to == y) return true;
  }
  return false;
}

/* Adds the moves that make one of two runs, or nodes, x before y: a chain the way that streams go;
 * or a bundle, or a chain in order, where none does. Whether one did. */
static bool add_pair(const Search *q, Moves *to, const TdGraph *g, bool runs, const uint32_t *at,
                     const char *const *name) {
  const TdPrim *chain = td_prim_find("chain"), *bundle = td_prim_find("bundle");
  bool there = feeds(g, runs, at[0], at[1]), back = feeds(g, runs, at[1], at[0]);
  if (there && back) return true;
  if (!there && !back)
    td_vec_push(q->arena, to, ((TdSearchMove){bundle, name[0], name[1], -1, -1, NULL, 0}));
  TdSearchMove m = {chain, name[back ? 1 : 0], name[back ? 0 : 1], -1, -1, NULL, 0};
  td_vec_push(q->arena, to, m);
  return there || back;
}

/* The same of a small search, in which what no stream joins goes either way: where the streams of
 * one of them lead elsewhere that is not the same. */
static void add_both(const Search *q, Moves *to, const TdTurns *turns, const TdGraph *g, bool runs,
                     const uint32_t *at, const char *const *name) {
  if (add_pair(q, to, g, runs, at, name) || !turns) return;
  if (td_turns_are_alone(turns, name[0]) && td_turns_are_alone(turns, name[1])) return;
  add_pair(q, to, g, runs, (uint32_t[]){at[1], at[0]}, (const char *[]){name[1], name[0]});
}

/* Adds those of two nodes of which one at least is an instance among several. */
static void add_instances(const Search *q, Moves *to, const TdTurns *turns, const Tasks *t) {
  const TdGraph *g = t->graph;
  for (uint32_t x = 0; x < g->node.n; x++)
    for (uint32_t y = x + 1; y < g->node.n; y++) {
      bool rank = t->design->run[g->node.at[x].run].rank || t->design->run[g->node.at[y].run].rank;
      const char *name[] = {td_graph_name(q->arena, g, x), td_graph_name(q->arena, g, y)};
      if (rank) add_both(q, to, turns, g, false, (uint32_t[]){x, y}, name);
    }
}

/* All moves that may be legal: bundles of runs in order, then of two runs, then, in a small search,
 * whose turns are given, of two nodes. */
static Moves moves_of(const Search *q, const TdTurns *turns, const Tasks *t) {
  Moves all = {0};
  const TdUnit *d = t->design;
  for (uint32_t r = 0; r < d->nrun; r++)
    for (int axis = 0; axis < d->run[r].rank; axis++) add_bundles(q, &all, t, r, axis);
  for (uint32_t x = 0; x < d->nrun; x++)
    for (uint32_t y = x + 1; y < d->nrun; y++) {
      const char *name[] = {d->run[x].sym->name, d->run[y].sym->name};
      if (is_same_map(t, &d->run[x], &d->run[y]))
        add_both(q, &all, turns, t->graph, true, (uint32_t[]){x, y}, name);
    }
  if (turns) add_instances(q, &all, turns, t);
  return all;
}

/* ---- the tree ---- */

/* The program that a step makes of another; NULL when it is refused. Scratch in a. */
static const TdProg *try_step(const Search *q, TdArena *a, const TdProg *p, TdPrimStep step) {
  TdDiag quiet = {.arena = a};
  TdRewrite one = {.prog = p,
                   .since = q->r->since,
                   .store = q->r->store,
                   .session = q->r->session,
                   .arena = a,
                   .affine = q->r->affine,
                   .arg = step.arg,
                   .diag = &quiet};
  return td_schedule_attempt(&one, step.prim);
}

/* A key that programs share which differ in nothing but names and order of tasks. */
static uint64_t key_of(TdArena *a, const TdProg *p) {
  TdText text = td_text_new(a);
  td_print_prog(&text, p);
  const char *at = td_text_str(&text), *task = "\n  d.";
  uint64_t key = 0;
  while (at) {
    const char *next = strstr(at + 1, task);
    key += td_map_mix(1, td_map_hash(at, next ? (size_t)(next - at) : strlen(at)));
    if (next) next += strlen(task) + strcspn(next + strlen(task), " ");
    at = next;
  }
  return key;
}

/* Notes a key; whether it is there for the first time. */
static bool is_new(const Search *q, TdMap *keys, uint64_t key) {
  if (td_map_get(keys, key, NULL)) return false;
  td_map_put(q->arena, keys, key, 1);
  return true;
}

/* Fills in cost and limits of s, whose program and turns (after the step) are there; in a small
 * search only what fits needs a cost. False with d filled when they cannot be known, and when it
 * was met before. */
static bool measure(Search *q, TdArena *a, State *s, TdDiag *d) {
  TdRewrite *r = q->r;
  TdGraph g;
  TdAsk ask = {r->affine, a, s->prog, td_prog_root(s->prog)};
  if (!td_graph_of(&ask, &g, d)) return false;
  if (!s->parent) q->small = g.node.n <= SMALL;
  if (!s->parent && q->small) s->turns = td_turns_of(q->arena, &g);
  s->cost.nodes = (int64_t)g.node.n;
  if (s->parent && s->cost.nodes >= s->parent->cost.nodes) return false;
  if (s->parent && q->small && !td_turns_settle(q->arena, &s->turns, &g)) return false;
  if (!is_new(q, &q->seen, key_of(a, s->prog))) return false;
  s->fits = fits(q, a, &g);
  bool needed = s->fits || !q->small || !s->parent;
  return !needed || td_search_cost(r, a, s->prog, &g, q->timed, &s->cost, d);
}

/* Has what is made next be numbered from what s holds: analyses keep tables of that length. */
static void go_on_from(const Search *q, const State *s) {
  q->r->store->next_uid = s->uid;
  q->r->store->next_sym = s->sym;
}

/* The state that a move leads to, new in q->arena; NULL when the move is refused, or leads to what
 * was met before. */
static State *make_state(Search *q, const State *from, const TdSearchMove *m) {
  State s = {.parent = from};
  if (q->small) {
    s.turns = td_turns_after(q->arena, &from->turns, m);
    if (!is_new(q, &q->tried, td_turns_key(&s.turns))) return NULL;
  }
  s.step = step_of(q, m);
  TdArena *a = td_arena_scratch(q->r->session->ctx);
  TdDiag quiet = {.arena = a};
  go_on_from(q, from);
  s.prog = try_step(q, a, from->prog, s.step);
  s.uid = q->r->store->next_uid;
  s.sym = q->r->store->next_sym;
  State *made = NULL;
  if (s.prog && measure(q, a, &s, &quiet)) made = td_arena_copy(q->arena, &s, sizeof s);
  td_arena_free(a);
  return made;
}

/* The design as it is; NULL with the diag filled when its graph or its times cannot be known. */
static const State *make_root(Search *q) {
  State s = {.prog = q->r->prog, .uid = q->r->store->next_uid, .sym = q->r->store->next_sym};
  TdArena *a = td_arena_scratch(q->r->session->ctx);
  q->timed = td_search_is_timed(q->r, s.prog);
  bool good = measure(q, a, &s, q->r->diag);
  td_arena_free(a);
  return good ? td_arena_copy(q->arena, &s, sizeof s) : NULL;
}

/* The states that one step leads to, best first; of equal ones the earlier move. */
static States children(Search *q, const State *s) {
  TdArena *a = td_arena_scratch(q->r->session->ctx);
  TdAsk ask = {q->r->affine, a, s->prog, td_prog_root(s->prog)};
  TdDiag quiet = {.arena = a};
  TdGraph g;
  TdCost c;
  States all = {0};
  Moves moves = {0};
  go_on_from(q, s);
  bool known = td_graph_of(&ask, &g, &quiet);
  known = known && (q->small ||
                    td_cost_estimate(q->r->affine, a, s->prog, td_target_find("u280"), &c, &quiet));
  if (known) {
    Tasks t = tasks_of(a, &g, q->small ? NULL : &c);
    moves = moves_of(q, q->small ? &s->turns : NULL, &t);
  }
  td_arena_free(a);
  for (size_t i = 0; i < moves.n; i++) {
    State *x = make_state(q, s, &moves.at[i]);
    if (!x) continue;
    q->states++;
    td_vec_push(q->arena, &all, x);
    for (size_t k = all.n - 1; k && compare(&all.at[k]->cost, &all.at[k - 1]->cost) < 0; k--) {
      State *y = all.at[k];
      all.at[k] = all.at[k - 1];
      all.at[k - 1] = y;
    }
  }
  return all;
}

/* Notes a state that fits, or comes nearest. */
static void record(Search *q, const State *s) {
  if (!q->fewest || s->cost.nodes < q->fewest->cost.nodes) q->fewest = s;
  if (!s->fits) return;
  q->found++;
  if (!q->best || compare(&s->cost, &q->best->cost) < 0) q->best = s;
}

static bool is_enough(const Search *q) {
  return !q->small && (q->found >= ENOUGH || q->states >= MOST_STATES);
}

/* Records s and all below it; in a large search what already takes longer than the best is left
 * out. */
static void span(Search *q, const State *s) {
  record(q, s);
  if (is_enough(q)) return;
  td_ctx_enter(q->r->session->ctx);
  States next = children(q, s);
  size_t n = q->small || next.n < MOST_CHILDREN ? next.n : MOST_CHILDREN;
  for (size_t i = 0; i < n && !is_enough(q); i++) {
    bool worse = q->best && is_slower(&next.at[i]->cost, &q->best->cost);
    if (q->small || !worse) span(q, next.at[i]);
  }
  td_ctx_leave(q->r->session->ctx);
}

/* ---- the result ---- */

static const TdProg *refuse(Search *q) {
  const TdSearchLimits *l = q->limits;
  const TdUnit *u = td_prog_root(q->r->prog);
  bool few = is_within(q->fewest->cost.nodes, l->pes);
  TdText t = td_text_new(q->r->arena);
  td_text_putf(&t, "no mapping of '%s' on %lld PEs", u->sym->name, (long long)l->pes);
  td_text_puts(&t, few ? " that keeps to the ports" : "");
  td_text_puts(&t, q->small ? " exists" : " was found");
  td_text_putf(&t, ": the smallest has %lld nodes, %lld ports", (long long)q->fewest->cost.nodes,
               (long long)q->fewest->cost.ports);
  td_util_refuse(q->r, TD_ILLEGAL, "infeasible", u->loc, "%s", td_text_str(&t));
  td_diag_help(q->r->diag, few ? "allow more ports" : "allow more PEs");
  return NULL;
}

/* Takes the steps of s again, in order; what the search left in the store is gone by now. */
static const TdProg *replay(TdRewrite *r, const TdPrimStep *step, size_t n) {
  const TdProg *p = r->prog;
  const char *const *made;
  for (size_t i = 0; i < n && p; i++) p = td_schedule_part(r, p, step[i], &made);
  return p;
}

const TdProg *td_search_map(TdRewrite *r, const TdSearchLimits *limits) {
  Search q = {.r = r, .limits = limits, .arena = r->arena};
  TdMark mark = td_arena_mark(r->store->arena);
  const State *root = make_root(&q);
  if (!root) return NULL;
  span(&q, root);
  TD_VEC(TdPrimStep) steps = {0};
  for (const State *s = q.best; s && s->parent; s = s->parent)
    td_vec_push(r->arena, &steps, s->step);
  for (size_t i = 0; i < steps.n / 2; i++) {
    TdPrimStep x = steps.at[i];
    steps.at[i] = steps.at[steps.n - 1 - i];
    steps.at[steps.n - 1 - i] = x;
  }
  go_on_from(&q, root);
  if (!q.best) return refuse(&q);
  td_arena_release(r->store->arena, mark);
  return replay(r, steps.at, steps.n);
}
