/* cpu_twin_test.c - programs compared by the fingerprints of their twins, and by the evaluator. */
/* [slow] */
#include <time.h>

#include "backends/cpu/twin/twin.h"
#include "build_ir.h"
#include "eval/eval.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void say(const TdDiag *d) {
  if (td_diag_failed(d)) printf("# %s: %s\n", d->code, d->message);
}

/* Expressions that counted as wholes in the last run. */
static size_t terms;

/* 1: the twins of x and y leave the same; 0: they do not; -1: not decided here. */
static int same_twins_by(TdTwinHow how, const TdProg *x, const TdProg *y, TdTier tier,
                         const TdTwinArg *arg) {
  TdArena *a = td_arena_new(B.ctx);
  TdDiag d = {.arena = a};
  TdTwinResult r[2];
  how.options = &(TdCpuOptions){.tier = tier};
  const TdUnit *u = td_prog_root(x);
  TdTwinArg none[8] = {{0}};
  if (!arg) arg = none;
  int same = 1;
  if (!td_cpu_twin_run(a, x, how, arg, u->nparam, &r[0], &d) ||
      !td_cpu_twin_run(a, y, how, arg, u->nparam, &r[1], &d)) {
    if (strcmp(d.code, "not-here") != 0) say(&d);
    same = -1;
  }
  terms = same < 0 ? 0 : r[1].terms;
  for (size_t i = 0; same > 0 && i < u->nparam; i++) {
    int64_t n = 0;
    if (r[0].of[i] && td_type_count(u->param[i].type, &n))
      same = memcmp(r[0].of[i], r[1].of[i], (size_t)n * sizeof(TdFingerprint)) == 0;
  }
  td_arena_free(a);
  return same;
}

/* The same in whatever way sums are kept. */
static int same_twins(const TdProg *x, const TdProg *y, TdTwinLevel level, TdTier tier,
                      const TdTwinArg *arg) {
  int same = same_twins_by((TdTwinHow){level, .seed = 99}, x, y, tier, arg);
  return same ? same : same_twins_by((TdTwinHow){level, .wide = true, .seed = 99}, x, y, tier, arg);
}

/* The evaluator's verdict in the same words. */
static int same_runs(const TdProg *x, const TdProg *y, TdTwinLevel level) {
  TdEvalOptions o = {.seed = 99};
  TdEvalAnswer answer = td_eval_compare(B.a, x, y, (TdLevel)level, NULL, &o);
  return answer.verdict == TD_EVAL_EQUAL ? 1 : answer.verdict == TD_EVAL_DIFFERS ? 0 : -1;
}

/* Beside the strictest level: none; not decided. */
enum { NEVER = TD_TWIN_RING + 1, UNDECIDED };

/* The strictest level at which x and y are equal must be `want`, by both compilers, and the
 * evaluator must agree. */
static void equal_at(const char *name, const TdProg *x, const TdProg *y, int want) {
  bool right = true;
  for (int level = TD_TWIN_STRICT; level <= TD_TWIN_RING; level++) {
    int expected = want == UNDECIDED ? -1 : level >= want;
    int tcc = same_twins(x, y, (TdTwinLevel)level, TD_TIER_TCC, NULL);
    int cc = same_twins(x, y, (TdTwinLevel)level, TD_TIER_CC, NULL);
    int eval = same_runs(x, y, (TdTwinLevel)level);
    if (tcc != expected || cc != expected || (want != UNDECIDED && eval != expected)) {
      printf("# level %d: tcc %d, cc %d, evaluator %d\n", level, tcc, cc, eval);
      right = false;
    }
  }
  ok(right, name);
}

enum { IJK, IKJ, REVERSED, SWAPPED, SHORT };

/* A gemm of n x n x n whose loops or operands are changed in some way. */
static const TdProg *gemm(const TdType *in, const TdType *out, int64_t n, int how) {
  TdSym a = arg("A"), b = arg("B"), c = arg("C"), i = loop("i"), j = loop("j"), k = loop("k");
  const TdExpr *kk = how == REVERSED ? OP(SUB, num(n - 1), var(k)) : var(k);
  const TdExpr *x = LD(a, in, var(i), kk), *y = LD(b, in, kk, var(j)),
               *at = LD(c, out, var(i), var(j));
  const TdExpr *product = how == SWAPPED ? OP(MUL, y, x) : OP(MUL, x, y);
  const TdStmt *s = store(at, OP(ADD, at, product));
  const TdExpr *end = num(n), *kend = num(how == SHORT ? n - 1 : n);
  if (how == IKJ)
    s = FOR(k, num(0), kend, FOR(j, num(0), end, s));
  else
    s = FOR(j, num(0), end, FOR(k, num(0), kend, s));
  s = FOR(i, num(0), end, s);
  return PROG(KERNEL("gemm", BLOCK(s), P(a, T(in, n, n)), P(b, T(in, n, n)), P(c, T(out, n, n))));
}

static void test_gemm(void) {
  const TdType *f = B.f32;
  equal_at("gemm reordered", gemm(f, f, 9, IJK), gemm(f, f, 9, IKJ), TD_TWIN_STRICT);
  equal_at("operands swapped", gemm(f, f, 9, IJK), gemm(f, f, 9, SWAPPED), TD_TWIN_STRICT);
  equal_at("k reversed", gemm(f, f, 9, IJK), gemm(f, f, 9, REVERSED), TD_TWIN_ASSOCIATIVE);
  equal_at("k one short", gemm(f, f, 9, IJK), gemm(f, f, 9, SHORT), NEVER);
  equal_at("k reversed, i8 into i32", gemm(B.i8, B.i32, 7, IJK), gemm(B.i8, B.i32, 7, REVERSED),
           TD_TWIN_ASSOCIATIVE);
}

/* r[i] = e(x[i], y[i], z[i]) for f32 or integers. */
static const TdProg *map(const TdType *t, int which) {
  TdSym x = arg("x"), y = arg("y"), z = arg("z"), r = arg("r"), i = loop("i");
  const TdExpr *a = LD(x, t, var(i)), *b = LD(y, t, var(i)), *c = LD(z, t, var(i)), *e;
  switch (which) {
  case 0: e = OP(ADD, OP(MUL, a, b), OP(MUL, a, c)); break;
  case 1: e = OP(MUL, a, OP(ADD, b, c)); break;
  case 2: e = OP(FMA, a, b, c); break;
  case 3: e = OP(ADD, OP(MUL, a, b), c); break;
  case 4: e = OP(MIN, OP(MIN, a, b), c); break;
  case 5: e = OP(MIN, c, OP(MIN, b, a)); break;
  case 6: e = OP(SUB, OP(SUB, a, b), c); break;
  case 7: e = OP(SUB, a, OP(ADD, b, c)); break;
  case 8: e = OP(SUB, OP(ADD, a, b), b); break;
  case 9: e = cast(t, lit(t, 3)); break;
  default: e = a; break;
  }
  const TdStmt *s = FOR(i, num(0), num(4), store(LD(r, t, var(i)), e));
  return PROG(KERNEL("map", BLOCK(s), P(x, T(t, 4)), P(y, T(t, 4)), P(z, T(t, 4)), P(r, T(t, 4))));
}

static void test_levels(void) {
  const TdType *f = B.f32;
  equal_at("factored", map(f, 0), map(f, 1), TD_TWIN_RING);
  equal_at("fma", map(f, 2), map(f, 3), TD_TWIN_FUSED);
  equal_at("min regrouped", map(B.i16, 4), map(B.i16, 5), TD_TWIN_ASSOCIATIVE);
  equal_at("differences regrouped", map(f, 6), map(f, 7), TD_TWIN_ASSOCIATIVE);
  equal_at("a sum taken back", map(f, 8), map(f, 10), TD_TWIN_RING);
  equal_at("another value", map(f, 9), map(f, 10), NEVER);
}

/* r[0] = sum of 4 values of type `cell`, filled from x, in a sum that wraps at type t; they are
 * added from either end. */
static const TdProg *cut_sum(const TdType *t, const TdType *cell, bool down) {
  TdSym x = arg("x"), r = arg("r"), b = local("b"), i = loop("i"), j = loop("j");
  const TdExpr *at = LD(r, t, num(0)), *from = down ? OP(SUB, num(3), var(j)) : var(j);
  const TdStmt *fill = store(LD(b, cell, var(i)), cast(cell, LD(x, B.i64, var(i))));
  const TdStmt *add = store(at, cast(t, OP(ADD, at, LD(b, cell, from))));
  return PROG(KERNEL("cut",
                     BLOCK(declare(b, T(cell, 4), NULL), FOR(i, num(0), num(4), fill),
                           FOR(j, num(0), num(4), add)),
                     P(x, T(B.i64, 4)), P(r, T(t, 1))));
}

static void test_cut(void) {
  const TdType *u8 = td_type_uint(B.s, 8);
  equal_at("cut values in a wider sum", cut_sum(B.i64, u8, false), cut_sum(B.i64, u8, true),
           TD_TWIN_ASSOCIATIVE);
  equal_at("and in a narrower one", cut_sum(B.i8, B.i32, false), cut_sum(B.i8, B.i32, true),
           TD_TWIN_ASSOCIATIVE);
  equal_at("of other signs", cut_sum(B.i64, u8, false), cut_sum(B.i64, B.i8, true), NEVER);
  equal_at("and where they do not matter", cut_sum(B.i8, u8, false), cut_sum(B.i8, B.i8, true),
           TD_TWIN_ASSOCIATIVE);
}

/* If x[i] < y[i] then r[i] = x[i] (else r[i] = y[i]), or the select that it is. */
static const TdProg *lesser(int how) {
  TdSym x = arg("x"), y = arg("y"), r = arg("r"), i = loop("i");
  const TdExpr *a = LD(x, B.i32, var(i)), *b = LD(y, B.i32, var(i)), *c = LD(r, B.i32, var(i));
  const TdStmt *s;
  if (how == 0)
    s = td_stmt_if(B.st, OP(LT, a, b), BLOCK(store(c, a)), BLOCK(store(c, b)), here());
  else if (how == 1)
    s = store(c, OP(SELECT, OP(LT, a, b), a, b));
  else if (how == 2)
    s = IF(OP(LT, a, b), store(c, a));
  else
    s = IF(OP(LT, a, b), store(LD(r, B.i32, cast(B.idx, a)), b));
  s = FOR(i, num(0), num(4), s);
  const TdType *t = T(B.i32, 4);
  return PROG(KERNEL("lesser", BLOCK(s), P(x, t), P(y, t), P(r, t)));
}

static void test_control(void) {
  equal_at("an if is its select", lesser(0), lesser(1), TD_TWIN_STRICT);
  equal_at("an arm that is missing", lesser(2), lesser(1), NEVER);
  equal_at("a symbolic index is not decided", lesser(3), lesser(3), UNDECIDED);
  int64_t at[] = {3};
  TdTensor *x = td_tensor_new(B.a, T(B.i32, 4), false);
  td_tensor_put(x, at, 2);
  TdTwinArg concrete[] = {{0}, {.tensor = x, .concrete = true}, {0}};
  ok(same_twins(lesser(3), lesser(3), TD_TWIN_STRICT, TD_TIER_TCC, concrete) == -1,
     "nor by a condition half concrete");
  TdTwinArg both[] = {{.tensor = x, .concrete = true}, {.tensor = x, .concrete = true}, {0}};
  ok(same_twins(lesser(3), lesser(3), TD_TWIN_STRICT, TD_TIER_TCC, both) == 1,
     "but with its inputs concrete");
}

/* C = A x B, said as a tensor statement, through a kernel called on rows. */
static void test_calls(void) {
  TdSym a = arg("A"), b = arg("B"), c = arg("C"), x = arg("x"), n = scalar("n"), i = loop("i"),
        k = loop("k");
  const TdType *t = T(B.f32, 4, 4), *v = T(B.f32, 4);
  const TdExpr *at = LD(x, B.f32, var(k)), *by = td_expr_var(B.a, n, B.f32, here());
  const TdUnit *scale = KERNEL("scale", BLOCK(FOR(k, num(0), num(4), store(at, OP(MUL, at, by)))),
                               P(x, v), P(n, B.f32));
  const TdExpr *product = td_expr_tensor(B.a, TD_OP_MATMUL, t, EXPRS(whole(a, t), whole(b, t)), 2,
                                         TD_OP_ADD, 0, here());
  const TdStmt *rows = FOR(i, num(0), num(4), CALL(scale, row(c, v, var(i)), lit(B.f32, 2)));
  const TdProg *p = PROG(
      scale, KERNEL("main", BLOCK(set(whole(c, t), product), rows), P(a, t), P(b, t), P(c, t)));
  TdSym j = loop("j"), l = loop("l");
  const TdExpr *cij = LD(c, B.f32, var(i), var(j));
  const TdExpr *sum =
      OP(ADD, cij, OP(MUL, LD(a, B.f32, var(i), var(l)), LD(b, B.f32, var(l), var(j))));
  const TdStmt *loops =
      FOR(i, num(0), num(4),
          FOR(j, num(0), num(4), store(cij, lit(B.f32, 0)), FOR(l, num(0), num(4), store(cij, sum)),
              store(cij, OP(MUL, cij, lit(B.f32, 2)))));
  equal_at("tensor statements and calls are their loops", p,
           PROG(KERNEL("loops", BLOCK(loops), P(a, t), P(b, t), P(c, t))), TD_TWIN_STRICT);
}

enum { FORWARD, BACKWARD, OTHER_ORDER, BY_LOCAL, OTHER_OPERAND, OTHER_LITERAL, OTHER_OP };

/* r[i] = ((a * b + c) * a + 3) * b for i < 8, with one thing changed; b is y[i + 1]. */
static const TdProg *poly(int how) {
  TdSym x = arg("x"), y = arg("y"), r = arg("r"), i = loop("i"), v = local("v");
  const TdType *f = B.f32, *t = T(f, 9);
  const TdExpr *at = how == BACKWARD ? OP(SUB, num(7), var(i)) : var(i);
  const TdExpr *a = LD(x, f, at), *b = LD(y, f, OP(ADD, at, num(1))), *c = LD(y, f, at);
  const TdExpr *e = how == OTHER_ORDER ? OP(MUL, b, a) : OP(MUL, a, b);
  const TdStmt *product = how == BY_LOCAL ? declare(v, f, e) : NULL;
  if (product) e = td_expr_var(B.a, v, f, here());
  e = how == OTHER_OP ? OP(SUB, e, c) : OP(ADD, e, how == OTHER_OPERAND ? b : c);
  e = OP(ADD, OP(MUL, e, a), lit(f, how == OTHER_LITERAL ? 4 : 3));
  const TdStmt *s = store(LD(r, f, at), OP(MUL, e, b));
  s = product ? FOR(i, num(0), num(8), product, s) : FOR(i, num(0), num(8), s);
  return PROG(KERNEL("poly", BLOCK(s), P(x, t), P(y, t), P(r, t)));
}

/* x and y are equal with their expressions as wholes, or strictly, or not at all. */
static void equal_whole(const char *name, const TdProg *x, const TdProg *y, int whole, int strict) {
  bool right = true;
  for (int tier = TD_TIER_TCC; tier <= TD_TIER_CC; tier++) {
    right &= same_twins(x, y, TD_TWIN_WHOLE, (TdTier)tier, NULL) == whole && terms == 1;
    right &= same_twins(x, y, TD_TWIN_STRICT, (TdTier)tier, NULL) == strict && terms == 0;
  }
  ok(right && same_runs(x, y, TD_TWIN_STRICT) == strict, name);
}

static void test_terms(void) {
  const TdProg *x = poly(FORWARD);
  equal_whole("an expression is one operator", x, poly(BACKWARD), 1, 1);
  equal_whole("the same by another expression", x, poly(OTHER_ORDER), 0, 1);
  equal_whole("the same by a local", x, poly(BY_LOCAL), 0, 1);
  equal_whole("another operand", x, poly(OTHER_OPERAND), 0, 0);
  equal_whole("another constant", x, poly(OTHER_LITERAL), 0, 0);
  equal_whole("another operator", x, poly(OTHER_OP), 0, 0);
  ok(same_twins(gemm(B.f32, B.f32, 5, IJK), gemm(B.f32, B.f32, 5, SWAPPED), TD_TWIN_WHOLE,
                TD_TIER_TCC, NULL) == 1 &&
         !terms,
     "what saves nothing stays as it is");
}

/* Two gemm of 256^3. */
static void test_speed(void) {
  const TdProg *x = gemm(B.f32, B.f32, 256, IJK), *y = gemm(B.f32, B.f32, 256, REVERSED);
  for (int tier = TD_TIER_TCC; tier <= TD_TIER_CC; tier++) {
    double from = now();
    int same = same_twins(x, y, TD_TWIN_STRICT, (TdTier)tier, NULL);
    printf("# %s: %.2f s\n", tier == TD_TIER_TCC ? "tcc" : "cc", now() - from);
    ok(same == 0, "two gemm 256^3 differ when k is reversed");
  }
}

int main(void) {
  build_open();
  test_gemm();
  test_levels();
  test_cut();
  test_control();
  test_calls();
  test_terms();
  test_speed();
  build_close();
  return done_testing();
}
