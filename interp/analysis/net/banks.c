/* banks.c - the lattice of partition types, and types by work list. */
#include "analysis/net/banks.h"

#include <string.h>

static const char *const kinds[] = {"none", "cyclic", "block", "complete"};

TdBanks td_banks_norm(TdBanks x, int64_t extent) {
  bool some = x.kind == TD_BANKS_CYCLIC || x.kind == TD_BANKS_BLOCK;
  if (some && x.n < 2) return (TdBanks){TD_BANKS_NONE, 0};
  if (some && extent && x.n >= extent) return (TdBanks){TD_BANKS_COMPLETE, 0};
  return x;
}

bool td_banks_equal(TdBanks x, TdBanks y) {
  return x.kind == y.kind && x.n == y.n;
}

bool td_banks_serves(TdBanks x, TdBanks y, int64_t extent) {
  if (td_banks_equal(x, y) || x.kind == TD_BANKS_COMPLETE || y.kind == TD_BANKS_NONE) return true;
  if (x.kind != y.kind || x.n % y.n != 0) return false;
  return x.kind == TD_BANKS_CYCLIC || (extent && extent % x.n == 0);
}

/* The least common multiple, or INT64_MAX where it is beyond. */
static int64_t lcm(int64_t x, int64_t y) {
  int64_t a = x, b = y;
  while (b) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return x / a > INT64_MAX / y ? INT64_MAX : x / a * y;
}

TdBanks td_banks_meet(TdBanks x, TdBanks y, int64_t extent) {
  const TdBanks bottom = {TD_BANKS_COMPLETE, 0};
  if (td_banks_serves(x, y, extent)) return x;
  if (td_banks_serves(y, x, extent)) return y;
  if (x.kind != y.kind) return bottom;
  TdBanks both = td_banks_norm((TdBanks){x.kind, lcm(x.n, y.n)}, extent);
  bool below = td_banks_serves(both, x, extent) && td_banks_serves(both, y, extent);
  return below && both.n != INT64_MAX ? both : bottom;
}

/* ---- as attributes ---- */

/* Whether an attribute is the partition of dimension d. */
static bool is_partition(const TdAttr *x, int d) {
  return x->kind == TD_ATTR_PARTITION && x->arg[0].i == d;
}

TdBanks td_banks_of(TdAttrs l, int d, int64_t extent) {
  for (size_t i = 0; i < l.n; i++)
    for (int k = TD_BANKS_CYCLIC; is_partition(&l.at[i], d) && k <= TD_BANKS_COMPLETE; k++)
      if (strcmp(l.at[i].arg[1].s, kinds[k]) == 0)
        return td_banks_norm((TdBanks){(TdBanksKind)k, l.at[i].arg[2].i}, extent);
  return (TdBanks){TD_BANKS_NONE, 0};
}

TdAttrs td_banks_set(TdArena *a, TdNames *names, TdAttrs l, int d, TdBanks x) {
  TdAttr now = {.kind = TD_ATTR_PARTITION,
                .arg = {{.i = d}, {.s = td_names_str(names, kinds[x.kind])}, {.i = x.n}}};
  for (size_t i = 0; i < l.n; i++)
    if (is_partition(&l.at[i], d)) {
      TdAttr *at = td_arena_copy(a, l.at, l.n * sizeof *at);
      at[i] = now;
      return (TdAttrs){at, l.n};
    }
  return td_attrs_add(a, l, now);
}

TdAttrs td_banks_join(TdArena *a, TdNames *names, TdAttrs x, TdAttrs y, const TdType *t) {
  for (int d = 0; t->kind == TD_T_TENSOR && d < t->rank; d++) {
    int64_t n = 0;
    if (!td_type_extent(t, d, &n)) n = 0;
    TdBanks own = td_banks_of(x, d, n), both = td_banks_meet(own, td_banks_of(y, d, n), n);
    if (!td_banks_equal(own, both)) x = td_banks_set(a, names, x, d, both);
  }
  return x;
}

const char *td_banks_word(TdBanks x) {
  return kinds[x.kind];
}

const char *td_banks_str(TdArena *a, TdBanks x) {
  if (x.kind == TD_BANKS_NONE) return "in one bank";
  if (x.kind == TD_BANKS_COMPLETE) return kinds[x.kind];
  return td_text_fmt(a, "%s %lld", kinds[x.kind], (long long)x.n);
}

/* ---- over a graph ---- */

TdBanks td_banks_needed(const TdBanksGraph *g, const TdBanksEdge *e) {
  TdBanks x = g->node.at[e->as].banks;
  bool passes = e->link == TD_BANKS_SAME || e->link == TD_BANKS_FIXED || x.kind == TD_BANKS_NONE ||
                (e->link == TD_BANKS_RANGE && x.kind == TD_BANKS_CYCLIC);
  return passes ? x : (TdBanks){TD_BANKS_COMPLETE, 0};
}

bool td_banks_holds(const TdBanksGraph *g, const TdBanksEdge *e) {
  const TdBanksNode *of = &g->node.at[e->of], *as = &g->node.at[e->as];
  return td_banks_serves(of->banks, td_banks_needed(g, e), of->extent) &&
         (e->link != TD_BANKS_SAME || td_banks_serves(as->banks, of->banks, as->extent));
}

/* The nodes to look at, each at most once at a time; edge[start[i]] up to edge[start[i + 1]] are
 * the edges of node i. */
typedef struct Work {
  TdArena *arena;
  TdBanksGraph *graph;
  uint32_t *edge, *start;
  bool *seen, *waiting;
  TD_VEC(uint32_t) list;
} Work;

/* Lists the edges of each node. */
static void list_edges(Work *w) {
  const TdBanksGraph *g = w->graph;
  w->start = TD_NEWN(w->arena, uint32_t, g->node.n + 2);
  w->edge = TD_NEWN(w->arena, uint32_t, 2 * g->edge.n);
  for (size_t i = 0; i < g->edge.n; i++) {
    w->start[g->edge.at[i].of + 2]++;
    w->start[g->edge.at[i].as + 2]++;
  }
  for (size_t i = 2; i < g->node.n + 2; i++) w->start[i] += w->start[i - 1];
  for (uint32_t i = 0; i < g->edge.n; i++) {
    w->edge[w->start[g->edge.at[i].of + 1]++] = i;
    w->edge[w->start[g->edge.at[i].as + 1]++] = i;
  }
}

static void add(Work *w, uint32_t node) {
  w->seen[node] = true;
  if (w->waiting[node]) return;
  w->waiting[node] = true;
  td_vec_push(w->arena, &w->list, node);
}

/* Lowers a node to what it must serve; looks at it again if that is new. */
static void lower(Work *w, uint32_t node, TdBanks need) {
  TdBanksNode *n = &w->graph->node.at[node];
  TdBanks next = td_banks_meet(n->banks, need, n->extent);
  bool changed = !td_banks_equal(next, n->banks);
  n->banks = next;
  if (changed || !w->seen[node]) add(w, node);
}

/* Has an edge hold. */
static void meet_ends(Work *w, const TdBanksEdge *e) {
  const TdBanksNode *node = w->graph->node.at;
  lower(w, e->of, td_banks_needed(w->graph, e));
  lower(w, e->as, node[e->link == TD_BANKS_SAME ? e->of : e->as].banks);
}

void td_banks_solve(TdArena *a, TdBanksGraph *g, uint32_t from) {
  Work w = {.arena = a, .graph = g};
  w.seen = TD_NEWN(a, bool, g->node.n);
  w.waiting = TD_NEWN(a, bool, g->node.n);
  list_edges(&w);
  add(&w, from);
  while (w.list.n) {
    uint32_t node = w.list.at[--w.list.n];
    w.waiting[node] = false;
    td_ctx_tick(td_arena_ctx(a), 1);
    for (uint32_t i = w.start[node]; i < w.start[node + 1]; i++)
      meet_ends(&w, &g->edge.at[w.edge[i]]);
  }
}
