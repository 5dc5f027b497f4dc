/* search.c - branch and reduce over bundles and chains: each step leaves fewer nodes, those that
 * promise least cycles go first, and the search stops once it has enough mappings. A design of few
 * nodes is searched to the end. */
#include "rewrite/search.h"

#include <string.h>

#include "analysis/cost.h"
#include "rewrite/schedule.h"
#include "rewrite/search_cost.h"

enum {
  SMALL = 6,         /* nodes of a design that is searched to the end */
  ENOUGH = 24,       /* mappings of a larger one */
  MOST_STATES = 600, /* of a larger one */
  MOST_CHILDREN = 6, /* of one of its states */
};

/* One step: bundle(first, {axis, factor}), bundle {first, second} or chain(first, second). */
typedef struct Move {
  const TdPrim *prim;
  const char *first, *second;
  int64_t axis, factor; /* -1: none */
} Move;
typedef TD_VEC(Move) Moves;

/* A design on the way. */
typedef struct State {
  const struct State *parent;
  const TdProg *prog;
  TdPrimStep step; /* from the parent */
  TdSearchCost cost;
  bool fits;
} State;
typedef TD_VEC(State *) States;

typedef struct Search {
  TdRewrite *r;
  const TdSearchLimits *limits;
  TdArena *arena;
  TdMap seen; /* hash of what a state prints as */
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
static TdPrimStep step_of(const Search *q, const Move *m) {
  TdArgValue *arg = TD_NEWN(q->arena, TdArgValue, TD_PRIM_ARGS);
  if (strcmp(m->prim->name, "chain") == 0) {
    arg[0] = (TdArgValue){.given = true, .text = m->first};
    arg[1] = (TdArgValue){.given = true, .text = m->second};
    return (TdPrimStep){m->prim, arg};
  }
  const char **name = TD_NEWN(q->arena, const char *, 2);
  name[0] = m->first, name[1] = m->second;
  arg[0] = (TdArgValue){.given = true, .names = name, .n = m->second ? 2 : 1};
  if (m->axis >= 0) arg[1] = (TdArgValue){.given = true, .integer = m->axis};
  if (m->factor >= 0) arg[2] = (TdArgValue){.given = true, .integer = m->factor};
  return (TdPrimStep){m->prim, arg};
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
  for (size_t i = 0; i < g->design->nrun; i++)
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
  Move m = {td_prim_find("bundle"), run->sym->name, NULL, axis, factor < extent ? factor : -1};
  for (size_t i = 0; i < to->n; i++) {
    const Move *x = &to->at[i];
    if (x->first == m.first && x->axis == m.axis && x->factor == m.factor && !x->second) return;
  }
  td_vec_push(q->arena, to, m);
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
    add_bundle(q, to, run, axis, extent, divisor_from(extent, (n + left - 1) / left));
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

/* All moves that may be legal: bundles of runs in order, then chains and bundles of two. */
static Moves moves_of(const Search *q, const Tasks *t) {
  Moves all = {0};
  const TdUnit *d = t->design;
  for (size_t r = 0; r < d->nrun; r++)
    for (int axis = 0; axis < d->run[r].rank; axis++) add_bundles(q, &all, t, r, axis);
  for (size_t x = 0; x < d->nrun; x++)
    for (size_t y = 0; y < d->nrun; y++) {
      if (x == y || !is_same_map(t, &d->run[x], &d->run[y])) continue;
      const char *one = d->run[x].sym->name, *two = d->run[y].sym->name;
      td_vec_push(q->arena, &all, ((Move){td_prim_find("chain"), one, two, -1, -1}));
    }
  return all;
}

/* ---- the tree ---- */

/* The state that a step makes of a program, new in q->arena; NULL when the step is refused, leaves
 * as many nodes, or its result was met before. */
static State *make_state(Search *q, const State *from, TdPrimStep step) {
  TdRewrite *r = q->r;
  TdArena *a = td_arena_scratch(r->session->ctx);
  TdDiag quiet = {.arena = a};
  TdRewrite one = *r;
  one.arena = a;
  one.diag = &quiet;
  one.prog = from ? from->prog : r->prog;
  one.arg = step.arg;
  one.naming = (TdNaming){0};
  memset(&one.made, 0, sizeof one.made);
  memset(&one.did, 0, sizeof one.did);
  memset(&one.note, 0, sizeof one.note);
  const TdProg *p = from ? td_schedule_attempt(&one, step.prim) : r->prog;
  TdGraph g;
  State s = {.parent = from, .prog = p, .step = step}, *made = NULL;
  TdAsk ask = {r->affine, a, p, p ? td_prog_root(p) : NULL};
  bool good = p && td_graph_of(&ask, &g, &quiet) &&
              td_search_cost(r, a, p, &g, q->timed, &s.cost, &quiet) &&
              (!from || s.cost.nodes < from->cost.nodes);
  TdText text = td_text_new(a);
  if (good) td_print_prog(&text, p);
  uint64_t key = good ? td_map_hash(text.at, text.n) : 0;
  if (good && !td_map_get(&q->seen, key, NULL)) {
    td_map_put(q->arena, &q->seen, key, 1);
    s.fits = fits(q, a, &g);
    made = td_arena_copy(q->arena, &s, sizeof s);
  } else if (!from) {
    *r->diag = quiet;
    r->diag->message = td_arena_strdup(r->arena, quiet.message ? quiet.message : "no graph");
  }
  td_arena_free(a);
  return made;
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
  if (td_graph_of(&ask, &g, &quiet) &&
      td_cost_estimate(q->r->affine, a, s->prog, td_target_find("u280"), &c, &quiet)) {
    Tasks t = tasks_of(a, &g, &c);
    moves = moves_of(q, &t);
  }
  td_arena_free(a);
  for (size_t i = 0; i < moves.n; i++) {
    State *x = make_state(q, s, step_of(q, &moves.at[i]));
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
  for (size_t i = 0; i < n && p; i++) {
    TdRewrite one = *r;
    one.prog = p;
    one.arg = step[i].arg;
    one.naming = (TdNaming){0};
    memset(&one.made, 0, sizeof one.made);
    memset(&one.did, 0, sizeof one.did);
    p = td_schedule_attempt(&one, step[i].prim);
    r->note.at = one.note.at, r->note.n = one.note.n, r->note.cap = one.note.cap;
    r->used_value |= one.used_value;
    td_vec_push(r->arena, &r->did, step[i]);
  }
  return p;
}

const TdProg *td_search_map(TdRewrite *r, const TdSearchLimits *limits) {
  Search q = {.r = r, .limits = limits, .arena = r->arena};
  TdMark mark = td_arena_mark(r->store->arena);
  uint32_t uid = r->store->next_uid, sym = r->store->next_sym;
  q.timed = td_search_is_timed(r, r->prog);
  const State *root = make_state(&q, NULL, (TdPrimStep){0});
  if (!root) return NULL;
  q.small = root->cost.nodes <= SMALL;
  span(&q, root);
  TD_VEC(TdPrimStep) steps = {0};
  for (const State *s = q.best; s && s->parent; s = s->parent)
    td_vec_push(r->arena, &steps, s->step);
  for (size_t i = 0; i < steps.n / 2; i++) {
    TdPrimStep x = steps.at[i];
    steps.at[i] = steps.at[steps.n - 1 - i];
    steps.at[steps.n - 1 - i] = x;
  }
  if (!q.best) return refuse(&q);
  td_arena_release(r->store->arena, mark);
  r->store->next_uid = uid;
  r->store->next_sym = sym;
  return replay(r, steps.at, steps.n);
}
