/* flow_test.c - least intervals and times of random graphs against iterations run one by one. */
#include "tests/unit/tap.h"
#include "tests/unit/trace.h"

#include "analysis/time/flow.h"

enum { NODES = 9, BACKS = 4, PERIOD = 10, ITERATIONS = 160, LATE = 40, CASES = 20000 };

/* Starts and ends of the nodes in all iterations, in the order in which they follow. */
typedef struct Run {
  int64_t start[ITERATIONS][NODES + 1], end[ITERATIONS][NODES + 1];
} Run;

static int64_t next_edge(int64_t t) {
  int64_t rest = ((t % PERIOD) + PERIOD) % PERIOD;
  return rest ? t + PERIOD - rest : t;
}

/* Node v of iteration n, whose operands and predecessors have run. */
static void run_node(const TdFlow *f, Run *r, int64_t ii, int n, uint32_t v) {
  const TdFlowNode *x = &f->node.at[v];
  int64_t t = n * ii * PERIOD;
  for (uint32_t i = 0; i < x->n; i++) {
    int64_t e = r->end[n][f->operand.at[x->first + i]];
    if (e > t) t = e;
  }
  bool registered = x->stages > 0 || x->edge;
  for (size_t i = 0; i < f->back.n; i++) {
    const TdFlowWait *b = &f->back.at[i];
    if (b->to != v || n < b->distance) continue;
    int64_t e = next_edge(r->end[n - b->distance][b->from]);
    if (e > t) t = e;
  }
  int64_t at = ((t % PERIOD) + PERIOD) % PERIOD;
  r->start[n][v] = registered || at + x->delay > PERIOD ? next_edge(t) : t;
  r->end[n][v] = r->start[n][v] + x->stages * PERIOD + x->delay;
}

/* Runs iterations `ii` cycles apart; whether they do not fall behind further and further. */
static bool keeps_up(const TdFlow *f, Run *r, int64_t ii) {
  for (int n = 0; n < ITERATIONS; n++)
    for (uint32_t v = 1; v < f->node.n; v++) run_node(f, r, ii, n, v);
  for (uint32_t v = 1; v < f->node.n; v++)
    if (r->start[ITERATIONS - 1][v] - r->start[ITERATIONS - 1 - LATE][v] != ii * LATE * PERIOD)
      return false;
  return true;
}

/* A random graph. */
static TdFlow random_flow(TdArena *a, uint64_t *seed) {
  TdFlow f = td_flow_new(a, PERIOD);
  int n = 2 + trace_random(seed, NODES - 1);
  for (int v = 1; v <= n; v++) {
    uint32_t operand[3];
    int k = trace_random(seed, 3);
    for (int i = 0; i < k; i++) operand[i] = (uint32_t)trace_random(seed, v);
    TdFlowNode x = {.width = 1};
    if (trace_random(seed, 2))
      x.stages = 1 + trace_random(seed, 4);
    else
      x.delay = trace_random(seed, PERIOD + 1);
    if (trace_random(seed, 4) == 0) x.delay = trace_random(seed, PERIOD);
    td_flow_add(&f, x, operand, (size_t)k);
  }
  for (int i = trace_random(seed, BACKS + 1); i > 0; i--)
    td_flow_wait(&f, 1 + (uint32_t)trace_random(seed, n), 1 + (uint32_t)trace_random(seed, n),
                 1 + trace_random(seed, 3));
  return f;
}

/* Whether the graph's least interval and times are those of the run. */
static bool agrees(TdArena *a, uint64_t *seed, Run *r) {
  TdFlow f = random_flow(a, seed);
  TdFlowCycle why = {0};
  int64_t ii = td_flow_settle(&f, 1, &why), want = 1;
  while (!keeps_up(&f, r, want)) want++;
  if (ii != want || (ii > 1 && why.cycles <= (ii - 1) * why.distance)) return false;
  for (uint32_t v = 1; v < f.node.n; v++)
    if (f.node.at[v].start != r->start[ITERATIONS - 1][v] - (ITERATIONS - 1) * ii * PERIOD)
      return false;
  return true;
}

/* Logic that fits shares a cycle; what does not starts at the next edge. */
static void test_chaining(TdArena *a) {
  TdFlow f = td_flow_new(a, PERIOD);
  TdFlowCycle why;
  uint32_t x = td_flow_add(&f, (TdFlowNode){.delay = 4}, NULL, 0);
  uint32_t y = td_flow_add(&f, (TdFlowNode){.delay = 6}, &x, 1);
  uint32_t z = td_flow_add(&f, (TdFlowNode){.delay = 6}, &y, 1);
  td_flow_add(&f, (TdFlowNode){.stages = 2}, &z, 1);
  ok(td_flow_settle(&f, 1, &why) == 1 && f.node.at[y].end == 10 && f.node.at[z].start == 10,
     "logic is chained while it fits");
  ok(td_flow_length(&f) == 4, "a registered operation starts on an edge");
}

/* A cycle is reported with its nodes, its length and its distance. */
static void test_cycle(TdArena *a) {
  TdFlow f = td_flow_new(a, PERIOD);
  TdFlowCycle why;
  uint32_t x = td_flow_add(&f, (TdFlowNode){.stages = 1, .delay = 3}, NULL, 0);
  uint32_t y = td_flow_add(&f, (TdFlowNode){.stages = 7}, &x, 1);
  uint32_t z = td_flow_add(&f, (TdFlowNode){.delay = 5}, &y, 1);
  td_flow_wait(&f, x, z, 2);
  ok(td_flow_settle(&f, 1, &why) == 5, "10 cycles in 2 iterations: every 5");
  ok(why.n == 3 && why.node[0] == x && why.node[2] == z && why.cycles == 10 && why.distance == 2,
     "the cycle that says so");
}

/* Whether postponing keeps what each node waits for, moves nothing forward, and lengthens nothing.
 */
static bool postpones(TdArena *a, uint64_t *seed) {
  TdFlow f = random_flow(a, seed);
  TdFlowCycle why;
  td_flow_settle(&f, 1, &why);
  int64_t length = td_flow_length(&f);
  int64_t start[NODES + 1];
  for (uint32_t v = 1; v < f.node.n; v++) start[v] = f.node.at[v].start;
  int64_t latest[64];
  for (size_t i = 0; i < 64; i++) latest[i] = INT64_MAX;
  td_flow_postpone(&f, latest);
  for (uint32_t v = 1; v < f.node.n; v++) {
    const TdFlowNode *x = &f.node.at[v];
    bool edge = x->start % PERIOD == 0, inside = x->start % PERIOD + x->delay <= PERIOD;
    if (x->start < start[v] || (x->stages || x->edge ? !edge : !inside)) return false;
    for (uint32_t i = 0; i < x->n; i++)
      if (f.node.at[f.operand.at[x->first + i]].end > x->start) return false;
  }
  return td_flow_length(&f) == length;
}

int main(void) {
  TdCtx *ctx = td_ctx_new();
  TdArena *a = td_arena_new(ctx);
  Run *r = TD_NEW(a, Run);
  uint64_t seed = 1;
  int wrong = 0, late = 0;
  test_chaining(a);
  test_cycle(a);
  for (int i = 0; i < CASES; i++) {
    TdMark m = td_arena_mark(a);
    wrong += !agrees(a, &seed, r);
    late += !postpones(a, &seed);
    td_arena_release(a, m);
  }
  if (wrong) printf("# %d of %d\n", wrong, CASES);
  ok(wrong == 0, "20,000 random graphs: interval and times as their iterations run");
  ok(late == 0, "and what is postponed still keeps its order");
  td_arena_free(a);
  td_ctx_free(ctx);
  return done_testing();
}
