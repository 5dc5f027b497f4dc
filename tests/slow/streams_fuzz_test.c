/* streams_fuzz_test.c - random networks: what the static checks say of a design is what happens
 * when the evaluator runs it, and least depths are least. */
#include "analysis/net/counts.h"
#include "analysis/net/depths.h"
#include "analysis/net/streams.h"
#include "tests/unit/build_ir.h"
#include "eval/eval.h"

enum {
  NETWORKS = 3000,
  LEAP_NETWORKS = 800,
  DEPTH_NETWORKS = 300,
  BUDGET = 1 << 22,
  MOST_TASKS = 4,
  MOST_STREAMS = 4
};

static uint64_t seed;

/* A number below n. */
static int64_t pick(int64_t n) {
  seed = td_map_mix(seed, 0x9e3779b97f4a7c15u);
  return (int64_t)((seed >> 16) % (uint64_t)n);
}

/* A network to build: tasks on a map of two, streams in arrays of two. */
typedef struct Plan {
  int tasks, streams;
  int64_t rounds, tokens[MOST_STREAMS], depth[MOST_STREAMS];
  int end[MOST_STREAMS][2]; /* task that puts, task that gets */
  bool block[MOST_STREAMS], meets[MOST_TASKS];
  int64_t extra; /* 1 in so many ends moves a token too many; 0: none */
} Plan;

/* A task being built. */
typedef struct Task {
  TdSym id, round;
  const TdType *port;
  TdSym stream;
  bool block, puts, other; /* other: it uses the element of its neighbour */
} Task;

static const TdType *one(void) {
  return T(B.i32, 1);
}

/* The stream that an end uses. */
static const TdExpr *element(const Task *t) {
  const TdExpr *at = var(t->id);
  if (t->other) at = OP(MOD, OP(ADD, at, num(1)), lit(B.i8, 2));
  return element_of(t->stream, t->port, cast(B.idx, at));
}

/* One token through an end; what a block stream's consumer holds is given back at once. */
static const TdStmt *token(const Task *t) {
  TdSym v = local("v");
  if (!t->puts) return t->block ? BLOCK(take(v, element(t))) : take(v, element(t));
  if (!t->block) return put(element(t), lit(B.i32, 7));
  return BLOCK(slot(v, element(t)), store(LD(v, B.i32, num(0)), lit(B.i32, 7)),
               put(element(t), whole(v, one())));
}

static const TdStmt *tokens(const Task *t, int64_t n) {
  return FOR(loop("k"), num(0), num(n), token(t));
}

/* n tokens in a while loop. */
static const TdStmt *counted(const Task *t, int64_t n) {
  TdSym c = local("c");
  const TdExpr *value = get(c, B.i32);
  const TdStmt *step = store(value, cast(B.i32, OP(ADD, value, lit(B.i8, 1))));
  return BLOCK(declare(c, B.i32, lit(B.i32, 0)),
               WHILE(OP(LT, value, lit(B.i32, n)), token(t), step));
}

/* In round r of a triangle 0, 1, .., n - 1 tokens: those of a whole one in rounds 0 and n. */
static const TdStmt *triangle(const Task *t, int64_t n) {
  TdSym i = loop("i");
  int64_t whole_one = n * (n - 1) / 2;
  return BLOCK(FOR(i, num(0), num(n), FOR(loop("j"), num(0), var(i), token(t))),
               tokens(t, n - whole_one > 0 ? n - whole_one : 0));
}

/* The statements of one end: before the rounds, in them, after them; n tokens in each round. */
typedef struct Part {
  const TdStmt *at[3];
} Part;

static Part end_of(const Task *t, const Plan *p, int64_t n, int64_t extra) {
  Part x = {{NULL, NULL, NULL}};
  const TdExpr *parity = OP(MOD, var(t->round), lit(B.i8, 2));
  int64_t odd = p->rounds / 2;
  switch (pick(8)) {
  case 0: x.at[0] = tokens(t, n * p->rounds + extra); return x;
  case 1: x.at[2] = counted(t, n * p->rounds + extra); return x;
  case 2:
    x.at[1] = IF(OP(EQ, var(t->round), num(pick(p->rounds))), tokens(t, n * p->rounds + extra));
    return x;
  case 3:
    x.at[0] = tokens(t, n * (p->rounds - odd) + extra);
    x.at[1] = IF(OP(EQ, parity, lit(B.i8, 1)), tokens(t, n));
    return x;
  case 4:
    if (n * p->rounds + extra <= 3) {
      x.at[2] = triangle(t, n * p->rounds + extra);
      return x;
    }
    x.at[1] = tokens(t, n);
    break;
  case 5: x.at[1] = n == 1 ? token(t) : BLOCK(token(t), tokens(t, n - 1)); break;
  default: x.at[1] = tokens(t, n); break;
  }
  if (extra) x.at[pick(2) * 2] = token(t);
  return x;
}

/* Puts the parts of all ends of a task in some order. */
static const TdStmt *shuffle(const TdStmt **s, size_t n) {
  for (size_t i = n; i > 1; i--) {
    size_t k = (size_t)pick((int64_t)i);
    const TdStmt *t = s[i - 1];
    s[i - 1] = s[k];
    s[k] = t;
  }
  return block(n, s);
}

/* A meeting of all instances of the task. */
static const TdStmt *meeting(void) {
  TdSym L = local("L"), M = local("M");
  const TdExpr *in = whole(L, one());
  const TdStmt *fill = td_stmt_local(B.st, L, one(), TD_INIT_FILL, lit(B.i32, 1), here());
  return BLOCK(
      fill,
      declare(M, one(), td_expr_tensor(B.a, TD_OP_ALLREDUCE, one(), &in, 1, TD_OP_ADD, 0, here())));
}

static const TdUnit *make_task(const Plan *p, int which, const TdSym *stream,
                               const TdType *const *port) {
  const TdStmt *part[3][2 * MOST_STREAMS + 1];
  size_t n[3] = {0};
  Task t = {.id = coord("t"), .round = loop("r")};
  for (int s = 0; s < p->streams; s++)
    for (int end = 0; end < 2; end++) {
      if (p->end[s][end] != which) continue;
      t.stream = stream[s], t.port = port[s], t.block = p->block[s], t.puts = end == 0;
      t.other = end == 1 && pick(2);
      bool too_many = p->extra && pick(p->extra) == 0;
      Part x = end_of(&t, p, p->tokens[s], too_many);
      for (int k = 0; k < 3; k++)
        if (x.at[k]) part[k][n[k]++] = x.at[k];
    }
  if (p->meets[which]) part[1][n[1]++] = meeting();
  const TdStmt *rounds =
      td_stmt_for(B.st, t.round, num(0), num(p->rounds), 1, shuffle(part[1], n[1]), here());
  const TdStmt *before = shuffle(part[0], n[0]), *after = shuffle(part[2], n[2]);
  TdUnit *k = unit(TD_UNIT_KERNEL, td_text_fmt(B.a, "t%d", which), 0, NULL);
  return IDS(with_body(k, BLOCK(before, rounds, after)), t.id);
}

static const TdProg *build(const Plan *p) {
  TdUnit *d = unit(TD_UNIT_DESIGN, "top", 0, NULL);
  const TdUnit *all[MOST_TASKS + 1];
  TdSym z[MOST_STREAMS];
  const TdType *port[MOST_STREAMS];
  for (int s = 0; s < p->streams; s++) {
    z[s] = stream(td_text_fmt(B.a, "z%d", s));
    port[s] = add_stream(d, z[s], p->block[s] ? one() : B.i32, 2, p->depth[s], p->block[s]);
  }
  for (int t = 0; t < p->tasks; t++) {
    all[t] = make_task(p, t, z, port);
    add_run(d, all[t], MAP(2), 0, NULL);
  }
  all[p->tasks] = d;
  return prog((size_t)p->tasks + 1, all);
}

static Plan draw(int64_t extra) {
  int64_t most = pick(3) ? 3 : 60;
  Plan p = {.tasks = (int)pick(MOST_TASKS) + 1, .rounds = pick(most) + 1, .extra = extra};
  p.streams = (int)pick(MOST_STREAMS) + 1;
  for (int s = 0; s < p.streams; s++) {
    p.tokens[s] = pick(3) + 1;
    p.depth[s] = pick(4) + 1;
    p.block[s] = pick(4) == 0;
    for (int end = 0; end < 2; end++) p.end[s][end] = (int)pick(p.tasks);
  }
  for (int t = 0; t < p.tasks; t++) p.meets[t] = pick(6) == 0;
  return p;
}

/* "completes", "deadlock" or "leftover" when it runs. */
static const char *dynamic(const TdProg *p) {
  TdDiag d = {.arena = B.a};
  TdEvalResult r;
  return td_eval_run(B.a, p, NULL, 0, NULL, &d, &r) ? "completes" : d.code;
}

/* The same without running it. */
static const char *still(const TdProg *p) {
  TdDiag d = {.arena = B.a};
  TdTraffic *n = td_traffic_of(B.a, p, &d);
  TdOrder *o = n && !n->open ? td_token_run_new(B.a, n) : NULL;
  if (!o || o->partial || !td_ends_of(B.a, n, &d)) return "not decided";
  td_token_run_reset(o, NULL);
  TdOrderEnd end = td_token_run_go(o, BUDGET);
  if (end != TD_ORDER_DONE) return end == TD_ORDER_STUCK ? "deadlock" : "not decided";
  return td_token_run_leftover(o) == TD_TRAFFIC_NONE ? "completes" : "leftover";
}

static bool accepts(TdAffine *x, const TdProg *p) {
  TdDiag d = {.arena = B.a};
  TdAsk q = {x, B.a, p, td_prog_root(p)};
  TdStreamsOpen open;
  return td_streams_check(&q, &open, &d) && !open.order && !open.shared;
}

static void test_verdicts(void) {
  static const char *const names[] = {"completes", "deadlock", "leftover"};
  int seen[3] = {0}, wrong = 0, refused = 0, missed = 0;
  int n = tap_times() * NETWORKS;
  for (int i = 0; i < n; i++) {
    build_open();
    seed = tap_seed() + (uint64_t)i;
    Plan plan = draw(i % 2 ? 0 : 5);
    const TdProg *p = build(&plan);
    const char *run = dynamic(p), *told = still(p);
    if (strcmp(run, told) && ++wrong <= 3) printf("# case %d: ran %s, told %s\n", i, run, told);
    for (int k = 0; k < 3; k++) seen[k] += !strcmp(run, names[k]);
    bool good = !strcmp(run, "completes"), accepted = accepts(td_affine_new(B.a), p);
    refused += good && !accepted;
    missed += !good && accepted;
    build_close();
  }
  printf("# %d complete, %d deadlock, %d leave tokens\n", seen[0], seen[1], seen[2]);
  ok(seen[0] > 300 && seen[1] > 300 && seen[2] > 40, "networks of all outcomes");
  ok(!wrong, "the order without data ends as the run does");
  ok(!refused, "no network that runs is refused");
  ok(!missed, "no network that fails is accepted");
}

/* Runs o to its end without leaps, or with; then whether it ended as `like` did. */
static bool ends_like(TdOrder *o, bool leaps, const TdOrder *like) {
  o->leaps &= leaps;
  td_token_run_reset(o, NULL);
  if (td_token_run_go(o, BUDGET) == TD_ORDER_LONG || !like) return !like;
  size_t insts = o->net->inst.n, chans = o->net->chan.n;
  return !memcmp(o->now.pc, like->now.pc, insts * sizeof *o->now.pc) &&
         !memcmp(o->now.left, like->now.left, insts * sizeof *o->now.left) &&
         !memcmp(o->now.counter, like->now.counter, o->first[insts] * sizeof *o->now.counter) &&
         !memcmp(o->now.full, like->now.full, chans * sizeof *o->now.full);
}

static void test_leaps(void) {
  uint64_t taken = 0, all = 0;
  int wrong = 0;
  int n = tap_times() * LEAP_NETWORKS;
  for (int i = 0; i < n; i++) {
    build_open();
    seed = tap_seed() + (uint64_t)i;
    Plan plan = draw(i % 2 ? 0 : 5);
    TdDiag d = {.arena = B.a};
    plan.rounds = pick(300) + 1;
    int64_t scale = pick(20) + 1;
    for (int s = 0; s < plan.streams; s++) plan.tokens[s] *= scale;
    const TdTraffic *net = td_traffic_of(B.a, build(&plan), &d);
    TdOrder *slow = td_token_run_new(B.a, net), *fast = td_token_run_new(B.a, net);
    wrong += !ends_like(slow, false, NULL) || !ends_like(fast, true, slow);
    taken += fast->steps;
    all += slow->steps;
    build_close();
  }
  printf("# %llu of %llu steps were taken\n", (unsigned long long)taken, (unsigned long long)all);
  ok(taken * 3 < all * 2, "many steps are leapt over");
  ok(!wrong, "which changes nothing");
}

/* Whether the network of a seed runs at these depths. */
static bool runs_at(uint64_t from, const int64_t *depth) {
  build_open();
  seed = from;
  Plan p = draw(0);
  memcpy(p.depth, depth, sizeof p.depth);
  bool good = !strcmp(dynamic(build(&p)), "completes");
  build_close();
  return good;
}

/* Whether a vector is enough, and no component can be lowered. */
static bool is_minimal(uint64_t from, int n, const int64_t *depth) {
  int64_t d[MOST_STREAMS] = {1, 1, 1, 1};
  memcpy(d, depth, (size_t)n * sizeof *d);
  if (!runs_at(from, d)) return false;
  for (int i = 0; i < n; i++) {
    if (d[i] == 1) continue;
    d[i]--;
    bool lower = runs_at(from, d);
    d[i]++;
    if (lower) return false;
  }
  return true;
}

static void test_depths(void) {
  int found = 0, deep = 0, none = 0, wrong = 0;
  for (uint64_t i = 1; i <= DEPTH_NETWORKS; i++) {
    int64_t depth[MOST_STREAMS] = {1, 1, 1, 1}, ample[MOST_STREAMS] = {200, 200, 200, 200};
    build_open();
    seed = i;
    Plan plan = draw(0);
    TdDiag d = {.arena = B.a};
    TdOrder *o = td_token_run_new(B.a, td_traffic_of(B.a, build(&plan), &d));
    TdDepthsAnswer answer = td_depths_least(o, NULL, depth, BUDGET);
    build_close();
    found += answer == TD_DEPTHS_FOUND;
    none += answer == TD_DEPTHS_NONE;
    for (int s = 0; s < plan.streams; s++) deep += depth[s] > 1 && answer == TD_DEPTHS_FOUND;
    wrong += answer == TD_DEPTHS_FOUND ? !is_minimal(i, plan.streams, depth)
                                       : runs_at(i, ample) || answer == TD_DEPTHS_UNKNOWN;
  }
  printf("# %d vectors with %d depths above 1; %d networks that no depth helps\n", found, deep,
         none);
  ok(found > 50 && deep > 50 && none > 10, "networks that need depth, and that none helps");
  ok(!wrong, "least depths are enough, and no component can be lowered");
}

int main(void) {
  test_verdicts();
  test_leaps();
  test_depths();
  return done_testing();
}
