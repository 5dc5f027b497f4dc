/* streams_test.c - what the checks of designs are made of: spans, moves, classes of instances, and
 * shared arguments against the evaluator. */
#include "analysis/net/classes.h"
#include "analysis/net/token_run.h"
#include "analysis/net/races.h"
#include "analysis/range/span.h"
#include "build_ir.h"
#include "eval/eval.h"

static uint64_t seed;

static int64_t pick(int64_t n) {
  seed = td_map_mix(seed, 0x9e3779b97f4a7c15u);
  return (int64_t)((seed >> 16) % (uint64_t)n);
}

/* ---- spans ---- */

/* The values of two loop variables in a question about spans. */
typedef struct Two {
  TdSym sym[2];
  TdSpan span[2];
} Two;

static TdSpan look(void *ud, const TdExpr *e, const TdSpan *index) {
  const Two *two = ud;
  (void)index;
  return two->span[e->sym == two->sym[1]];
}

/* A random expression of integers over two variables. */
static const TdExpr *any_expr(const Two *two, int depth) {
  static const TdOp ops[] = {TD_OP_ADD, TD_OP_SUB, TD_OP_MUL, TD_OP_MIN, TD_OP_MAX};
  if (!depth || !pick(5))
    return pick(3) ? td_expr_var(B.a, two->sym[pick(2)], B.i8, here()) : lit(B.i8, pick(11) - 5);
  const TdExpr *x = any_expr(two, depth - 1);
  switch (pick(8)) {
  case 0: return OP(FLOORDIV, x, lit(B.i8, pick(4) + 1));
  case 1: return OP(MOD, x, lit(B.i8, pick(4) + 1));
  case 2: return OP(NEG, x);
  case 3: return cast(pick(2) ? B.i8 : B.i16, x);
  case 4: return OP(SELECT, OP(LT, x, any_expr(two, depth - 1)), x, any_expr(two, depth - 1));
  default: return op(ops[pick(5)], 2, EXPRS(x, any_expr(two, depth - 1)));
  }
}

/* The span of e with variables in boxes; and at one point of them. */
static TdSpan span_at(Two *two, const TdExpr *e, TdSpan x, TdSpan y) {
  TdSpanEnv env = {NULL, look, two};
  two->span[0] = x, two->span[1] = y;
  return td_span_of(&env, e);
}

static void test_spans(void) {
  Two two = {.sym = {loop("i"), loop("j")}};
  int outside = 0, vague = 0, loose = 0;
  for (int n = 0; n < 2000; n++) {
    seed = (uint64_t)n + 1;
    int64_t lo[2] = {pick(9) - 4, pick(9) - 4}, hi[2] = {lo[0] + pick(4), lo[1] + pick(4)};
    const TdExpr *e = OP(LT, any_expr(&two, 3), any_expr(&two, 3));
    if (n % 2) e = e->kid[0];
    TdSpan all = span_at(&two, e, (TdSpan){.lo = lo[0], .hi = hi[0], .loops = 1},
                         (TdSpan){.lo = lo[1], .hi = hi[1], .loops = 2});
    for (int64_t i = lo[0]; i <= hi[0]; i++)
      for (int64_t j = lo[1]; j <= hi[1]; j++) {
        TdSpan one = span_at(&two, e, td_span_const(i), td_span_const(j));
        vague += !td_span_is_one(one);
        outside += one.lo < all.lo || one.lo > all.hi;
      }
    loose += !td_span_is_one(all) && !all.loops;
  }
  ok(!outside, "spans hold every value");
  ok(!vague, "an expression of numbers is a number");
  ok(!loose, "what is not known says because of which loops");
}

/* ---- moves ---- */

/* A design of one task with a body, which uses Z[0] as a producer; and its net. */
typedef struct Solo {
  TdSym Z, id;
  const TdType *port;
  TdUnit *d;
} Solo;

static Solo solo(void) {
  Solo x = {.Z = stream("Z"), .id = coord("t"), .d = unit(TD_UNIT_DESIGN, "top", 0, NULL)};
  x.port = add_stream(x.d, x.Z, B.i32, 1, 1, false);
  return x;
}

static const TdStmt *send(const Solo *x) {
  return put(element_of(x->Z, x->port, num(0)), lit(B.i32, 1));
}

/* What the body puts to Z[0] in all: "4", "0..4", "1.." without end. */
static const char *sent(const Solo *x, const TdStmt *body) {
  TdUnit *k = with_body(unit(TD_UNIT_KERNEL, "t", 0, NULL), body);
  add_run(x->d, k, 0, NULL, 0, NULL);
  TdDiag d = {.arena = B.a};
  const TdTraffic *n = td_traffic_of(B.a, PROG(k, x->d), &d);
  if (!n || n->open) return "not followed";
  const TdCount *c = td_token_trace_count(n->inst.at[0].move, 0);
  TdRange r = c ? c->put : (TdRange){0, 0};
  if (r.lo == r.hi) return td_text_fmt(B.a, "%lld", (long long)r.lo);
  if (r.hi == INT64_MAX) return td_text_fmt(B.a, "%lld..", (long long)r.lo);
  return td_text_fmt(B.a, "%lld..%lld", (long long)r.lo, (long long)r.hi);
}

/* Some datum: an element of a local that nothing is known of. */
static const TdExpr *datum(TdSym v) {
  return OP(LT, LD(v, B.i32, num(0)), lit(B.i32, 0));
}

static void test_counted_loops(void) {
  Solo x = solo();
  TdSym i = loop("i"), j = loop("j");
  is_text(sent(&x, BLOCK(FOR(i, num(0), num(1000000), FOR(j, num(0), num(1000000), send(&x))))),
          "1000000000000", "a rectangle is counted at once");
  x = solo();
  is_text(sent(&x, BLOCK(FOR(i, num(0), num(100), FOR(j, num(0), var(i), send(&x))))), "4950",
          "a triangle");
  x = solo();
  const TdExpr *even = OP(EQ, OP(MOD, var(i), lit(B.i8, 2)), lit(B.i8, 0));
  is_text(sent(&x, BLOCK(FOR(i, num(0), num(7), IF(even, send(&x))))), "4", "a guard");
  x = solo();
  TdSym c = local("c");
  const TdExpr *v = get(c, B.i32);
  const TdStmt *more = store(v, cast(B.i32, OP(ADD, v, lit(B.i8, 2))));
  is_text(sent(&x, BLOCK(declare(c, B.i32, lit(B.i32, 0)),
                         WHILE(OP(LT, v, lit(B.i32, 9)), send(&x), more))),
          "5", "a while loop that counts");
}

static void test_jumps(void) {
  Solo x = solo();
  TdSym i = loop("i"), a = local("a");
  const TdStmt *fresh = declare(a, T(B.i32, 1), NULL), *out = jump(TD_STMT_BREAK);
  is_text(sent(&x, BLOCK(FOR(i, num(0), num(9), send(&x), IF(OP(EQ, var(i), num(3)), out)))), "4",
          "a break at a known turn");
  x = solo();
  is_text(sent(&x, BLOCK(fresh, FOR(i, num(0), num(9), send(&x), IF(datum(a), out)))), "1..9",
          "a break that data decides");
  x = solo();
  is_text(sent(&x, BLOCK(fresh, IF(datum(a), jump(TD_STMT_RETURN)), send(&x))), "0..1",
          "a return that data decides");
  x = solo();
  is_text(sent(&x, BLOCK(send(&x), jump(TD_STMT_RETURN), send(&x))), "1", "a return");
}

static void test_data(void) {
  Solo x = solo();
  TdSym i = loop("i"), a = local("a");
  const TdStmt *fresh = declare(a, T(B.i32, 1), NULL);
  const TdStmt *yes = BLOCK(send(&x)), *no = BLOCK(FOR(i, num(0), num(1), send(&x)));
  is_text(sent(&x, BLOCK(fresh, td_stmt_if(B.st, datum(a), yes, no, here()))), "1",
          "arms that do the same");
  x = solo();
  is_text(sent(&x, BLOCK(fresh, FOR(i, num(0), num(4), IF(datum(a), send(&x))))), "0..4",
          "arms that do not");
  x = solo();
  is_text(sent(&x, BLOCK(fresh, WHILE(datum(a), send(&x)))), "0..", "a while loop of data");
  x = solo();
  is_text(sent(&x, BLOCK(fresh, REPEAT(datum(a), send(&x)))), "1..", "which runs once first");
}

static void test_moves(void) {
  TdMoves m = {.arena = B.a};
  const TdMove *p = td_token_trace_event(&m, TD_MOVE_PUT, 0, NULL);
  const TdMove *g = td_token_trace_event(&m, TD_MOVE_GET, 1, NULL);
  const TdMove *row[] = {p, g, p, g, p, g, p};
  const TdMove *pair = td_token_trace_seq(&m, row, 2), *six = td_token_trace_seq(&m, row, 6);
  ok(pair == td_token_trace_seq(&m, row + 2, 2), "equal moves are one");
  ok(six == td_token_trace_repeat(&m, pair, 3, 3), "a period is a repetition");
  const TdMove *seven = td_token_trace_seq(&m, row, 7);
  ok(td_token_trace_count(seven, 0)->put.lo == 4 && td_token_trace_count(seven, 1)->get.hi == 3,
     "and the rest");
  ok(td_token_trace_repeat(&m, six, 5, 5) == td_token_trace_repeat(&m, pair, 15, 15),
     "repeated repetitions");
  ok(td_token_trace_choice(&m, p, p) == p && !td_token_trace_choice(&m, p, g)->fixed, "choices");
}

/* ---- classes ---- */

/* The classes of a grid whose inner instances do all, and those at the edges less. */
static TdClasses classes_of(int64_t rows, int64_t cols, bool corner) {
  TdSym id[] = {coord("i"), coord("j")}, L = local("L"), i = loop("k");
  const TdStmt *work = declare(L, B.i32, lit(B.i32, 1));
  const TdExpr *below = OP(LT, var(id[0]), num(rows - 1)),
               *right = OP(LT, var(id[1]), num(cols - 1));
  TdSym Z = stream("Z"), edge = local("edge");
  TdUnit *d = unit(TD_UNIT_DESIGN, "top", 0, NULL);
  const TdType *port = add_stream(d, Z, B.i32, 1, 1, false);
  const TdStmt *p = put(element_of(Z, port, num(0)), lit(B.i32, 1));
  const TdStmt *body = corner ? BLOCK(work, IF(below, IF(right, p)))
                              : BLOCK(declare(edge, B.bit, below), IF(get(edge, B.bit), p),
                                      IF(right, p), FOR(i, num(0), var(id[0]), p));
  TdUnit *k = with_ids(with_body(unit(TD_UNIT_KERNEL, "pe", 0, NULL), body), 2, id);
  add_run(d, k, MAP(rows, cols), 0, NULL);
  TdClasses c = {0};
  td_classes_of(B.a, PROG(k, d), d, &d->run[0], &c);
  return c;
}

static void test_classes(void) {
  TdClasses c = classes_of(3, 3, false), large = classes_of(40, 70, false);
  ok(c.n == 6 && large.n == 6, "as many classes whatever the extents");
  uint32_t total = 0;
  for (uint32_t i = 0; i < large.n; i++) total += large.count[i];
  ok(total == 2800, "which hold all instances");
  uint32_t seen = 0, last = large.first[1];
  for (uint32_t i = last; i != UINT32_MAX; i = td_classes_next(&large, 1, i)) seen++;
  ok(seen == large.count[1] && large.of[last] == 1, "one after the other");
  c = classes_of(3, 4, true);
  ok(c.n == 1 && c.count[0] == 6 && c.of[11] == TD_CLASSES_EMPTY, "empty instances are dropped");
}

/* ---- order ---- */

static void test_budget(void) {
  Solo x = solo();
  TdSym i = loop("i"), v = local("v");
  const TdExpr *z = element_of(x.Z, x.port, num(0));
  const TdStmt *both = FOR(i, num(0), num(1000000), put(z, lit(B.i32, 1)), take(v, z));
  TdUnit *k = with_body(unit(TD_UNIT_KERNEL, "t", 0, NULL), BLOCK(both));
  add_run(x.d, k, 0, NULL, 0, NULL);
  TdDiag d = {.arena = B.a};
  TdOrder *o = td_token_run_new(B.a, td_traffic_of(B.a, PROG(k, x.d), &d));
  td_token_run_reset(o, NULL);
  ok(td_token_run_go(o, 100) == TD_ORDER_LONG, "a budget is kept");
  td_token_run_reset(o, NULL);
  ok(td_token_run_go(o, 1 << 20) == TD_ORDER_DONE && td_token_run_leftover(o) == TD_TRAFFIC_NONE,
     "a task may hold both ends of a stream, and a long loop is leapt over");
}

/* ---- shared arguments ---- */

/* R[a * t + b * i + c], or what it stands for in a random design. */
static const TdExpr *place_of(TdSym R, TdSym t, TdSym i) {
  const TdExpr *at = OP(ADD, OP(MUL, var(t), num(pick(4))), OP(MUL, var(i), num(pick(3))));
  if (!pick(4)) at = OP(FLOORDIV, at, lit(B.i8, 2));
  return LD(R, B.i32, cast(B.idx, OP(ADD, at, num(pick(6)))));
}

/* A task that writes some elements of R and reads others. */
static TdUnit *toucher(const char *name, const TdType *row, TdSym R) {
  TdSym t = coord("t"), i = loop("i"), v = local("v");
  const TdStmt *writes = store(place_of(R, t, i), lit(B.i32, 1));
  const TdStmt *reads = declare(v, B.i32, place_of(R, t, i));
  const TdExpr *guard = OP(LT, var(t), num(pick(3)));
  if (!pick(3)) writes = IF(guard, writes);
  const TdStmt *body = pick(2) ? reads : pick(2) ? writes : BLOCK(writes, reads);
  TdUnit *k = KERNEL(name, BLOCK(FOR(i, num(0), num(pick(3) + 1), body)), P(R, row));
  return IDS(k, t);
}

static void test_sharing(void) {
  int races = 0, wrong = 0;
  const int designs = 600;
  for (int n = 0; n < designs; n++) {
    build_close();
    build_open();
    seed = (uint64_t)n + 1;
    TdSym R = arg("R"), R1 = arg("R"), R2 = arg("R");
    const TdType *row = T(B.i32, 24);
    TdUnit *d = UNIT(DESIGN, "top", P(R, row));
    TdUnit *x = toucher("x", row, R1), *y = toucher("y", row, R2);
    add_run(d, x, MAP(pick(3) + 1), BIND({R1, R, NULL}));
    add_run(d, y, MAP(pick(2) + 1), BIND({R2, R, NULL}));
    const TdProg *p = PROG(x, y, d);
    TdDiag ran = {.arena = B.a}, told = {.arena = B.a};
    TdEvalArg a = {.tensor = td_tensor_new(B.a, row, false)};
    TdEvalResult r;
    bool good = td_eval_run(B.a, p, &a, 1, NULL, &ran, &r);
    TdAsk q = {td_affine_new(B.a), B.a, p, d};
    const char *open = NULL;
    bool accepted = td_races_check(&q, &open, &told);
    races += !good;
    if ((good != accepted || open) && ++wrong < 4)
      printf("# seed %d: ran %s, told %s\n", n + 1, good ? "well" : ran.message,
             accepted ? "nothing" : told.message);
  }
  printf("# %d of %d designs race\n", races, designs);
  ok(races > 100 && races < designs - 100, "designs that race, and that do not");
  ok(!wrong, "exactly those that race are refused");
}

int main(void) {
  void (*const test[])(void) = {test_spans, test_counted_loops, test_jumps,  test_data,
                                test_moves, test_classes,       test_budget, test_sharing};
  for (size_t i = 0; i < sizeof test / sizeof *test; i++) {
    build_open();
    test[i]();
    build_close();
  }
  return done_testing();
}
