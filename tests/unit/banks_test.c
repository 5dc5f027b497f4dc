/* banks_test.c - the lattice of partition types, and the solver against all assignments. */
#include "analysis/net/banks.h"
#include "base/base.h"
#include "tap.h"

enum { MOST_TYPES = 64, NODES = 4, GRAPHS = 3000 };

/* All types of a dimension of some extent. */
typedef struct Types {
  int64_t extent;
  size_t n;
  TdBanks at[MOST_TYPES];
} Types;

static Types types_of(int64_t extent) {
  Types t = {.extent = extent, .n = 2, .at = {{TD_BANKS_NONE, 0}, {TD_BANKS_COMPLETE, 0}}};
  for (int64_t f = 2; f < extent; f++) {
    t.at[t.n++] = (TdBanks){TD_BANKS_CYCLIC, f};
    t.at[t.n++] = (TdBanks){TD_BANKS_BLOCK, f};
  }
  return t;
}

/* The bank of element i. */
static int64_t bank_of(TdBanks x, int64_t extent, int64_t i) {
  if (x.kind == TD_BANKS_COMPLETE) return i;
  if (x.kind == TD_BANKS_NONE) return 0;
  return x.kind == TD_BANKS_CYCLIC ? i % x.n : i / ((extent + x.n - 1) / x.n);
}

/* Whether elements that y puts into banks of their own are so in x too. */
static bool refines(TdBanks x, TdBanks y, int64_t extent) {
  for (int64_t i = 0; i < extent; i++)
    for (int64_t k = 0; k < i; k++)
      if (bank_of(x, extent, i) == bank_of(x, extent, k) &&
          bank_of(y, extent, i) != bank_of(y, extent, k))
        return false;
  return true;
}

/* Whether m is the greatest of the types that serve both x and y. */
static bool is_meet(const Types *t, TdBanks x, TdBanks y, TdBanks m) {
  bool below = td_banks_serves(m, x, t->extent) && td_banks_serves(m, y, t->extent);
  for (size_t i = 0; i < t->n && below; i++)
    if (td_banks_serves(t->at[i], x, t->extent) && td_banks_serves(t->at[i], y, t->extent))
      below = td_banks_serves(t->at[i], m, t->extent);
  return below;
}

static void test_lattice(void) {
  bool order = true, sound = true, exact = true, meets = true;
  for (int64_t extent = 2; extent <= 24; extent++) {
    Types t = types_of(extent);
    for (size_t i = 0; i < t.n; i++)
      for (size_t k = 0; k < t.n; k++) {
        TdBanks x = t.at[i], y = t.at[k];
        bool serves = td_banks_serves(x, y, extent), back = td_banks_serves(y, x, extent);
        bool whole = extent % (x.n ? x.n : 1) == 0 && extent % (y.n ? y.n : 1) == 0;
        order &= i == k || !serves || !back;
        sound &= !serves || refines(x, y, extent);
        exact &= !whole || x.kind != y.kind || serves == refines(x, y, extent);
        meets &= is_meet(&t, x, y, td_banks_meet(x, y, extent));
      }
  }
  ok(order, "no two types serve each other");
  ok(sound, "what serves keeps elements apart");
  ok(exact, "factors that divide: serving is keeping apart");
  ok(meets, "the meet is the greatest type below both");
}

static void test_text(TdArena *a) {
  const TdBanks c4 = {TD_BANKS_CYCLIC, 4}, b2 = {TD_BANKS_BLOCK, 2}, c6 = {TD_BANKS_CYCLIC, 6};
  is_text(td_banks_str(a, td_banks_meet(c4, b2, 8)), "complete", "figure 10: C4 and B2");
  is_text(td_banks_str(a, td_banks_meet(c4, c6, 0)), "cyclic 12", "an extent without value");
  is_text(td_banks_str(a, td_banks_meet(b2, (TdBanks){TD_BANKS_BLOCK, 4}, 0)), "complete",
          "blocks of it");
  is_text(td_banks_str(a, td_banks_norm(c4, 4)), "complete", "as many banks as elements");
  const TdBanks big = {TD_BANKS_CYCLIC, INT64_MAX / 2}, odd = {TD_BANKS_CYCLIC, 5};
  is_text(td_banks_str(a, td_banks_meet(big, odd, 0)), "complete", "beyond 64 bits");
}

/* A small random number below n, and the next state. */
static uint32_t next_random(uint32_t *state, uint32_t n) {
  *state = *state * 1664525u + 1013904223u;
  return (*state >> 16) % n;
}

/* A graph of NODES dimensions with random types and passes. */
static TdBanksGraph random_graph(TdArena *a, uint32_t *seed, const Types *t) {
  TdBanksGraph g = {0};
  for (uint32_t i = 0; i < NODES; i++) {
    TdBanks x = next_random(seed, 2) ? t->at[0] : t->at[next_random(seed, (uint32_t)t->n)];
    td_vec_push(a, &g.node, ((TdBanksNode){x, t->extent}));
  }
  for (uint32_t i = next_random(seed, 6); i-- > 0;) {
    TdBanksEdge e = {next_random(seed, NODES), next_random(seed, NODES),
                     (TdBanksLink)next_random(seed, 4)};
    td_vec_push(a, &g.edge, e);
  }
  return g;
}

/* The nodes that hang together with node 0. */
static void reach(const TdBanksGraph *g, bool *in) {
  in[0] = true;
  for (uint32_t turn = 0; turn < NODES; turn++)
    for (size_t i = 0; i < g->edge.n; i++)
      if (in[g->edge.at[i].of] || in[g->edge.at[i].as])
        in[g->edge.at[i].of] = in[g->edge.at[i].as] = true;
}

static bool all_hold(const TdBanksGraph *g, const bool *in) {
  for (size_t i = 0; i < g->edge.n; i++)
    if (in[g->edge.at[i].of] && !td_banks_holds(g, &g->edge.at[i])) return false;
  return true;
}

/* Whether `got` is above every assignment below `was` at which all edges hold. */
static bool is_greatest(TdArena *a, const TdBanksGraph *was, const TdBanksGraph *got,
                        const Types *t, const bool *in) {
  TdBanksGraph try = *was;
  size_t digit[NODES] = {0};
  uint32_t at = 0;
  while (at < NODES) {
    bool below = true, under = true;
    try.node.at = td_arena_copy(a, was->node.at, NODES * sizeof *try.node.at);
    for (uint32_t i = 0; i < NODES; i++) {
      if (in[i]) try.node.at[i].banks = t->at[digit[i]];
      below &= td_banks_serves(try.node.at[i].banks, was->node.at[i].banks, t->extent);
      under &= td_banks_serves(try.node.at[i].banks, got->node.at[i].banks, t->extent);
    }
    if (below && !under && all_hold(&try, in)) return false;
    for (at = 0; at < NODES; at++) {
      if (in[at] && ++digit[at] < t->n) break;
      digit[at] = 0;
    }
  }
  return true;
}

static void test_graphs(TdCtx *ctx) {
  const Types t = types_of(6);
  uint32_t seed = 7, changed = 0;
  bool holds = true, greatest = true, apart = true;
  for (int turn = 0; turn < GRAPHS; turn++) {
    TdArena *a = td_arena_new(ctx);
    TdBanksGraph was = random_graph(a, &seed, &t), got = was;
    bool in[NODES] = {false};
    got.node.at = td_arena_copy(a, was.node.at, NODES * sizeof *got.node.at);
    td_banks_solve(a, &got, 0);
    reach(&was, in);
    for (uint32_t i = 0; i < NODES; i++) {
      bool same = td_banks_equal(was.node.at[i].banks, got.node.at[i].banks);
      apart &= in[i] || same;
      changed += !same;
    }
    holds &= all_hold(&got, in);
    greatest &= is_greatest(a, &was, &got, &t, in);
    td_arena_free(a);
  }
  ok(holds, "every edge holds");
  ok(greatest, "types are the greatest below those that were");
  ok(apart, "what does not hang together with the node stays");
  ok(changed > GRAPHS / 4, "the graphs have something to solve");
}

int main(void) {
  TdCtx *ctx = td_ctx_new();
  TdArena *a = td_arena_new(ctx);
  test_lattice();
  test_text(a);
  test_graphs(ctx);
  td_arena_free(a);
  td_ctx_free(ctx);
  return done_testing();
}
