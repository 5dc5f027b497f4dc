/* search_map.c - the space of mappings: states are designs, moves are bundles and chains, each of
 * which leaves fewer nodes. A design of few nodes is searched to the end; of a larger one the moves
 * that promise most are tried. */
#include "rewrite/task/search_map.h"

#include <string.h>

#include "rewrite/take.h"
#include "rewrite/task/search_moves.h"

enum { SMALL = TD_TURNS_MOST }; /* nodes of a design that is searched to the end */
enum { MOST_STEPS = 4000, LEAST_STEPS = 100, MOST_WORK = 1 << 18 };

/* What does not fit into block RAM may lie in other memory: mappings that exceed it are taken where
 * none keeps to it. */
static const unsigned SOFT = 1u << TD_MAP_BRAM;

/* A design on the way. */
typedef struct State {
  const TdProg *prog;
  TdPrimStep step; /* from the one before */
  TdSearchCost cost;
  TdTurns turns;             /* in a small search */
  TdSearchMoves moves;       /* once it is open */
  uint32_t uid, sym;         /* that statements and symbols made from it go on from */
  int64_t used[TD_MAP_MOST]; /* of what is limited */
  unsigned over;             /* bits of the limits that it exceeds */
} State;

typedef struct Mapping {
  TdRewrite *r;
  const TdMapAsk *ask;
  TdArena *arena; /* of states */
  TdSearchMeter meter;
  TdMap tried; /* keys of turns, in a small search */
  bool small;
} Mapping;

/* ---- limits ---- */

/* The most ports of one node, in->[..] of arguments and of streams of other nodes; *line is
 * scratch, one entry for each declared stream. */
static void count_node(const TdGraph *g, uint32_t node, uint8_t *line, int64_t *used) {
  int64_t in = 0, out = 0;
  memset(line, 0, g->net->line.n);
  for (size_t i = 0; i < g->port.n; i++) {
    if (g->port.at[i].node != node) continue;
    in += g->port.at[i].read;
    out += g->port.at[i].write;
  }
  for (size_t i = 0; i < g->edge.n; i++) {
    const TdGraphEdge *e = &g->edge.at[i];
    uint8_t *seen = &line[g->net->chan.at[e->chan].line];
    if (e->from == e->to) continue;
    if (e->to == node && !(*seen & 1)) in++, *seen |= 1;
    if (e->from == node && !(*seen & 2)) out++, *seen |= 2;
  }
  if (in > used[TD_MAP_NODE_INPUTS]) used[TD_MAP_NODE_INPUTS] = in;
  if (out > used[TD_MAP_NODE_OUTPUTS]) used[TD_MAP_NODE_OUTPUTS] = out;
}

static void count(TdArena *a, const TdGraph *g, const TdSearchCost *c, int64_t *used) {
  uint8_t *line = TD_NEWN(a, uint8_t, g->net->line.n + 1);
  used[TD_MAP_PES] = (int64_t)g->node.n;
  used[TD_MAP_INPUTS] = (int64_t)td_graph_ports(g, false);
  used[TD_MAP_OUTPUTS] = (int64_t)td_graph_ports(g, true);
  used[TD_MAP_DSP] = c->area.dsp;
  used[TD_MAP_BRAM] = c->area.bram;
  for (uint32_t i = 0; i < g->node.n; i++) count_node(g, i, line, used);
}

static unsigned exceeded(const TdMapAsk *ask, const int64_t *used) {
  unsigned over = 0;
  for (int i = 0; i < TD_MAP_MOST; i++)
    if (ask->most[i] >= 0 && used[i] > ask->most[i]) over |= 1u << i;
  return over;
}

static const char *limit_name(int limit) {
  static const char *const words[] = {
#define X(NAME, words) words,
      TD_MAP_LIMITS(X)
#undef X
  };
  return words[limit];
}

static int bits(unsigned over) {
  int n = 0;
  for (; over; over &= over - 1) n++;
  return n;
}

/* ---- points ---- */

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

/* Fills in rank, cost and floor of x from its state's cost. */
static void weigh(const Mapping *q, TdSearchPoint *x, const State *s) {
  const TdSearchCost *c = &s->cost;
  const int64_t cost[TD_SEARCH_COSTS] = {c->cycles, c->longest, c->tokens, c->ports, c->nodes, 0};
  memcpy(x->cost, cost, sizeof cost);
  memcpy(x->rank, cost, sizeof cost);
  x->solves = (s->over & ~SOFT) == 0;
  x->exceeds = s->over != 0;
  if (q->small || q->meter.clock != q->meter.parts) return;
  int64_t pes = q->ask->most[TD_MAP_PES];
  int64_t share = x->from || pes < 0 ? 0 : c->work / pes;
  x->floor = share > c->longest ? share : c->longest;
}

/* Fills in cost and limits of s, whose program and turns (after the step) are there, and x. False
 * with d filled when they cannot be known, and when it was met before. */
static bool measure(Mapping *q, const TdSearch *search, TdArena *a, TdSearchPoint *x, State *s,
                    TdDiag *d) {
  TdGraph g;
  TdAsk ask = {q->r->affine, a, s->prog, td_prog_root(s->prog)};
  const State *from = x->from ? x->from->is : NULL;
  if (!td_graph_of(&ask, &g, d)) return false;
  if (!from) q->small = g.node.n <= SMALL;
  if (!from && q->small) s->turns = td_turns_of(q->arena, &g);
  if (from && (int64_t)g.node.n >= from->cost.nodes) return false;
  if (from && q->small && !td_turns_settle(q->arena, &s->turns, &g)) return false;
  x->key = key_of(a, s->prog);
  if (td_search_is_known(search, x->key)) return false;
  if (!td_search_estimate(&q->meter, q->arena, s->prog, &g, &s->cost, d)) return false;
  count(a, &g, &s->cost, s->used);
  s->over = exceeded(q->ask, s->used);
  bool needed = (s->over & ~SOFT) == 0 || !q->small || !from;
  if (q->meter.timed && needed && !td_search_clock(&q->meter, a, s->prog, &s->cost.cycles))
    return false;
  weigh(q, x, s);
  return true;
}

/* Has what is made next be numbered from what s holds: analyses keep tables of that length. */
static void go_on_from(const Mapping *q, const State *s) {
  q->r->store->next_uid = s->uid;
  q->r->store->next_sym = s->sym;
}

static bool is_tried(Mapping *q, uint64_t key) {
  if (td_map_get(&q->tried, key, NULL)) return true;
  td_map_put(q->arena, &q->tried, key, 1);
  return false;
}

/* The state that a step from another leads to, in *s; false when it is refused. */
static bool make_step(Mapping *q, TdArena *a, const State *from, const TdSearchMove *m, State *s) {
  if (q->small) {
    s->turns = td_turns_after(q->arena, &from->turns, m);
    if (is_tried(q, td_turns_key(&s->turns))) return false;
  }
  s->step = td_search_step(q->arena, m);
  go_on_from(q, from);
  s->prog = td_take_try(q->r, a, from->prog, s->step);
  return s->prog != NULL;
}

static TdSearchAnswer take(void *ud, const TdSearch *search, TdSearchPoint *x) {
  Mapping *q = ud;
  TdStore *st = q->r->store;
  const State *from = x->from ? x->from->is : NULL;
  State s = {.prog = q->r->prog};
  TdArena *a = td_arena_scratch(q->r->session->ctx);
  TdDiag quiet = {.arena = a};
  TdMark mark = td_arena_mark(st->arena);
  bool good = !from || make_step(q, a, from, &from->moves.at[x->move], &s);
  s.uid = st->next_uid;
  s.sym = st->next_sym;
  good = good && measure(q, search, a, x, &s, &quiet);
  td_arena_free(a);
  if (!good) td_arena_release(st->arena, mark);
  if (good) x->is = td_arena_copy(q->arena, &s, sizeof s);
  return good ? TD_SEARCH_MADE : TD_SEARCH_NONE;
}

static TdSearchAnswer open(void *ud, TdSearchPoint *p) {
  Mapping *q = ud;
  State *s = p->is;
  TdArena *a = td_arena_scratch(q->r->session->ctx);
  TdAsk ask = {q->r->affine, a, s->prog, td_prog_root(s->prog)};
  TdDiag quiet = {.arena = a};
  TdGraph g;
  go_on_from(q, s);
  if (td_graph_of(&ask, &g, &quiet)) {
    int64_t pes = q->ask->most[TD_MAP_PES];
    TdSearchFrom from = {.arena = q->arena,
                         .graph = &g,
                         .turns = q->small ? &s->turns : NULL,
                         .stage = s->cost.stage,
                         .pes = pes < 0 ? (int64_t)g.node.n : pes};
    s->moves = td_search_moves(&from);
  }
  td_arena_free(a);
  p->moves = s->moves.n;
  return TD_SEARCH_MADE;
}

/* ---- the result ---- */

/* "PEs", "DSP of u280": those of a set. */
static const char *limits_text(const Mapping *q, unsigned over) {
  TdText t = td_text_new(q->r->arena);
  for (int i = 0, n = 0; i < TD_MAP_MOST; i++) {
    if (!(over >> i & 1)) continue;
    td_text_putf(&t, "%s%s", n++ ? " and " : "", limit_name(i));
    if (q->ask->device && (i == TD_MAP_DSP || i == TD_MAP_BRAM))
      td_text_putf(&t, " of %s", q->ask->device->name);
  }
  return td_text_str(&t);
}

/* Of the points that no limit admits, the one that exceeds fewest, then has fewest nodes; NULL if
 * there is none. `faster` than this, where it is given. */
static const State *nearest(const TdSearchResult *out, const State *faster) {
  const State *best = NULL;
  for (size_t i = 0; i < out->nmade; i++) {
    const State *s = out->made[i]->is;
    if (!(s->over & ~(faster ? faster->over : 0)) ||
        (faster && s->cost.cycles >= faster->cost.cycles))
      continue;
    int n = bits(s->over), m = best ? bits(best->over) : 0;
    if (!best || n < m || (n == m && s->cost.nodes < best->cost.nodes)) best = s;
  }
  return best;
}

static const TdProg *refuse(const Mapping *q, const TdSearchResult *out) {
  const TdUnit *u = td_prog_root(q->r->prog);
  const State *s = NULL;
  for (size_t i = 0; i < out->nmade; i++) {
    const State *x = out->made[i]->is;
    if (!s || x->cost.nodes < s->cost.nodes) s = x;
  }
  bool few = !(s->over >> TD_MAP_PES & 1), all = out->end == TD_SEARCH_ALL && q->small;
  unsigned parts = 1u << TD_MAP_DSP;
  bool area = few && (s->over & parts);
  TdText t = td_text_new(q->r->arena);
  td_text_putf(&t, "no mapping of '%s'", u->sym->name);
  if (q->ask->most[TD_MAP_PES] >= 0)
    td_text_putf(&t, " on %lld PEs", (long long)q->ask->most[TD_MAP_PES]);
  if (area)
    td_text_putf(&t, " that keeps to the %s", limits_text(q, s->over & parts));
  else if (few)
    td_text_puts(&t, " that keeps to the ports");
  td_text_puts(&t, all ? " exists" : " was found");
  if (out->end == TD_SEARCH_SECONDS) td_text_putf(&t, " in %g s", q->ask->search.seconds);
  td_text_putf(&t, ": the smallest has %lld nodes", (long long)s->cost.nodes);
  if (area)
    td_text_putf(&t, ", %lld DSP", (long long)s->cost.area.dsp);
  else
    td_text_putf(&t, ", %lld ports", (long long)s->cost.ports);
  td_util_refuse(q->r, TD_ILLEGAL, "infeasible", u->loc, "%s", td_text_str(&t));
  td_diag_help(q->r->diag, area  ? "name a larger device"
                           : few ? "allow more ports"
                                 : "allow more PEs");
  return NULL;
}

/* Says how the search ended, and what keeps the mapping s from being faster. */
static void tell(const Mapping *q, const TdSearchResult *out, const State *s) {
  TdText t = td_text_new(q->r->arena);
  bool timed = q->meter.timed;
  const TdTarget *device = timed ? q->meter.clock : q->meter.parts;
  td_search_tell(&t, out, &q->ask->search,
                 td_text_fmt(q->r->arena, "cycles (%s, %s)", device->name,
                             timed ? "of a run" : "as estimated"));
  td_vec_push(q->r->arena, &q->r->note, td_text_str(&t));
  if (s->over) {
    const char *none =
        "no mapping that was found keeps to the BRAM of %s: this one needs %lld of %lld";
    td_vec_push(q->r->arena, &q->r->note,
                td_text_fmt(q->r->arena, none, device->name, (long long)s->used[TD_MAP_BRAM],
                            (long long)q->ask->most[TD_MAP_BRAM]));
  }
  const State *left_out = nearest(out, s);
  if (!left_out) return;
  TdText b = td_text_new(q->r->arena);
  td_text_putf(&b, "bound by %s: it has", limits_text(q, left_out->over));
  for (int i = 0, n = 0; i < TD_MAP_MOST; i++)
    if (left_out->over >> i & 1)
      td_text_putf(&b, "%s %lld of %lld %s", n++ ? "," : "", (long long)s->used[i],
                   (long long)q->ask->most[i], limit_name(i));
  td_vec_push(q->r->arena, &q->r->note, td_text_str(&b));
}

/* Tries where nothing is said: as many as a graph of so many nodes gets in some seconds. */
static uint64_t some_steps(const TdSearchMeter *m) {
  int64_t n = MOST_WORK / (m->nodes + 1);
  return (uint64_t)(n < LEAST_STEPS ? LEAST_STEPS : n > MOST_STEPS ? MOST_STEPS : n);
}

/* Takes the steps to x again, in order; what the search left in the store is gone by now. */
static const TdProg *replay(TdRewrite *r, const TdSearchPoint *x) {
  size_t n;
  const TdSearchPoint **way = td_search_way(r->arena, x, &n);
  const TdProg *p = r->prog;
  const char *const *made;
  for (size_t i = 0; i < n && p; i++) {
    const State *s = way[i]->is;
    p = td_take_part(r, p, s->step, &made);
  }
  return p;
}

const TdProg *td_search_map(TdRewrite *r, const TdMapAsk *ask) {
  Mapping q = {.r = r, .ask = ask, .arena = r->arena};
  if (!td_search_meter(&q.meter, r, ask->device, r->prog, r->diag)) return NULL;
  TdMark mark = td_arena_mark(r->store->arena);
  uint32_t uid = r->store->next_uid, sym = r->store->next_sym;
  TdSearchSpace space = {&q, 1, open, take, true};
  TdSearchLimits limits = ask->search;
  if (!limits.steps) limits.steps = some_steps(&q.meter);
  TdSearchResult out = td_search_run(r->arena, &space, limits);
  r->store->next_uid = uid;
  r->store->next_sym = sym;
  if (!out.best) return refuse(&q, &out);
  tell(&q, &out, out.best->is);
  td_arena_release(r->store->arena, mark);
  return replay(r, out.best);
}
