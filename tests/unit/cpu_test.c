/* cpu_test.c - kernels on the CPU, by both compilers, against the evaluator; memory, state, calls,
 * faults. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "backends/cpu/cpu.h"
#include "build_ir.h"
#include "eval/eval.h"

static uint64_t seed = 88172645463325252u;

static uint64_t random_bits(void) {
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return seed * 0x2545F4914F6CDD1Du;
}

/* A tensor of small random numbers. */
static TdTensor *filled(const TdType *t) {
  TdTensor *x = td_tensor_new(B.a, t, false);
  int64_t i[TD_MAX_RANK] = {0};
  const TdType *e = td_type_scalar(t);
  TdFault none;
  do td_tensor_put(x, i, td_num_cast(e, B.i8, (uint64_t)(int64_t)(int8_t)random_bits(), &none));
  while (td_tensor_next(x, i));
  return x;
}

static TdTensor *copy_of(const TdTensor *x) {
  TdTensor *y = td_tensor_new(B.a, x->type, false);
  td_tensor_copy(B.ctx, y, x);
  return y;
}

static bool equal(const TdTensor *x, const TdTensor *y) {
  int64_t i[TD_MAX_RANK] = {0};
  do
    if (td_tensor_get(x, i) != td_tensor_get(y, i)) return false;
  while (td_tensor_next(x, i));
  return true;
}

static void say(const TdDiag *d) {
  if (!td_diag_failed(d)) return;
  TdText t = td_text_new(d->arena);
  td_diag_print(&t, d, B.s->sources);
  printf("# %s\n", td_text_str(&t));
}

static TdCpu *compiled(TdArena *a, const TdProg *p, TdTier tier, TdDiag *d) {
  TdCpuOptions o = {.tier = tier};
  TdCpu *c = td_cpu_new(a, p, &o, d);
  say(d);
  return c;
}

/* Runs p by one compiler `calls` times on copies of the arguments; whether it leaves what the
 * evaluator left. */
static bool agrees(const TdProg *p, TdTier tier, const TdCallArg *arg, TdTensor *const *want,
                   size_t n, int calls) {
  TdArena *a = td_arena_new(B.ctx);
  TdDiag d = {.arena = a};
  TdCpu *c = compiled(a, p, tier, &d);
  TdCallArg own[8];
  for (size_t i = 0; i < n; i++) {
    own[i] = arg[i];
    if (arg[i].tensor) own[i].tensor = copy_of(arg[i].tensor);
  }
  bool good = c != NULL;
  for (int k = 0; good && k < calls; k++) good = td_cpu_call(c, own, n, &d);
  say(&d);
  for (size_t i = 0; good && i < n; i++)
    if (want[i]) good = equal(own[i].tensor, want[i]);
  if (c && !good) printf("# %s\n", td_cpu_source(c)->text);
  td_arena_free(a);
  return good;
}

/* A test: p called `calls` times on n arguments, by the evaluator and both compilers. */
static void same(const char *name, const TdProg *p, const TdCallArg *arg, size_t n, int calls) {
  TdTensor *want[8] = {NULL};
  TdEvalArg in[8] = {{0}};
  TdDiag d = {.arena = B.a};
  TdEvalOptions o = {.state = td_state_new(B.a)};
  TdEvalResult result;
  for (size_t i = 0; i < n; i++) {
    if (arg[i].tensor) want[i] = copy_of(arg[i].tensor);
    in[i] = (TdEvalArg){.tensor = want[i], .scalar = arg[i].scalar, .has_scalar = true};
  }
  bool good = true;
  for (int k = 0; good && k < calls; k++) good = td_eval_run(B.a, p, in, n, &o, &d, &result);
  say(&d);
  ok(good && agrees(p, TD_TIER_TCC, arg, want, n, calls) &&
         agrees(p, TD_TIER_CC, arg, want, n, calls),
     name);
}
#define TENSOR(t) ((TdCallArg){.tensor = filled(t)})

/* C[i][j] += A[i][k] * B[k][j], parallel over i. */
static const TdUnit *gemm(const TdType *in, const TdType *out, int64_t m, int64_t n, int64_t k) {
  TdSym a = arg("A"), b = arg("B"), c = arg("C"), i = loop("i"), j = loop("j"), l = loop("k");
  const TdExpr *at = LD(c, out, var(i), var(j));
  const TdExpr *product = OP(MUL, LD(a, in, var(i), var(l)), LD(b, in, var(l), var(j)));
  const TdStmt *inner = FOR(l, num(0), num(k), store(at, OP(ADD, at, product)));
  const TdStmt *outer = FOR(i, num(0), num(m), FOR(j, num(0), num(n), inner));
  TdAttr parallel = {.kind = TD_ATTR_PARALLEL};
  outer = td_stmt_with_attrs(B.st, outer, td_attrs_add(B.a, outer->attrs, parallel));
  return KERNEL("gemm", BLOCK(outer), P(a, T(in, m, k)), P(b, T(in, k, n)), P(c, T(out, m, n)));
}

static void test_gemm(void) {
  const TdProg *p = PROG(gemm(B.i8, B.i32, 7, 5, 9));
  same("gemm, i8 into i32", p,
       (TdCallArg[]){TENSOR(T(B.i8, 7, 9)), TENSOR(T(B.i8, 9, 5)), TENSOR(T(B.i32, 7, 5))}, 3, 2);
  const TdType *half = td_type_bf16(B.s);
  p = PROG(gemm(half, half, 5, 6, 7));
  same("gemm, bf16", p,
       (TdCallArg[]){TENSOR(T(half, 5, 7)), TENSOR(T(half, 7, 6)), TENSOR(T(half, 5, 6))}, 3, 1);
}

/* x[i] = x[i] + x[j] for j < i: a triangle with steps, a while, a repeat and a break. */
static void test_control(void) {
  TdSym x = arg("x"), i = loop("i"), j = loop("j"), n = local("n"), k = local("n");
  const TdExpr *xi = LD(x, B.i32, var(i)), *xj = LD(x, B.i32, var(j));
  const TdStmt *triangle =
      FOR(i, num(0), num(20),
          td_stmt_for(B.st, j, num(0), var(i), 3,
                      BLOCK(IF(OP(LT, xj, lit(B.i32, -90)), jump(TD_STMT_BREAK)),
                            store(xi, OP(ADD, xi, xj))),
                      here()));
  const TdExpr *count = get(n, B.i32), *again = get(k, B.i32);
  const TdStmt *loops = BLOCK(
      declare(n, B.i32, lit(B.i32, 0)),
      WHILE(OP(LT, count, lit(B.i32, 7)), store(get(n, B.i32), OP(ADD, count, lit(B.i32, 2)))),
      store(LD(x, B.i32, num(0)), count),
      REPEAT(OP(LT, again, lit(B.i32, 5)), declare(k, B.i32, LD(x, B.i32, num(1))),
             store(LD(x, B.i32, num(1)), OP(ADD, again, lit(B.i32, 1)))),
      IF(OP(LT, lit(B.i32, 0), count), jump(TD_STMT_RETURN)),
      store(LD(x, B.i32, num(3)), lit(B.i32, 1234)));
  same("loops, while, repeat, break, return",
       PROG(KERNEL("control", BLOCK(triangle, loops), P(x, T(B.i32, 20)))),
       (TdCallArg[]){TENSOR(T(B.i32, 20))}, 1, 1);
}

/* A kernel that doubles a vector and counts its calls in a state. */
static const TdUnit *doubler(const int32_t *start) {
  TdSym x = arg("x"), n = local("count"), i = loop("i");
  const TdExpr *xi = LD(x, B.i32, var(i)), *c = LD(n, B.i32, num(0));
  return KERNEL("double",
                BLOCK(state(n, T(B.i32, 2), start, 2), store(c, OP(ADD, c, lit(B.i32, 1))),
                      FOR(i, num(0), num(6), store(xi, OP(ADD, OP(MUL, xi, lit(B.i32, 2)), c)))),
                P(x, T(B.i32, 6)));
}

static void test_calls(void) {
  static const int32_t start[] = {40, 2};
  const TdUnit *f = doubler(start);
  TdSym a = arg("A"), v = arg("v"), i = loop("i");
  const TdType *t = T(B.i32, 6, 12), *six = T(B.i32, 6);
  const TdExpr *column =
      td_expr_view(B.a, a, six, EXPRS(num(0), var(i)), (TdViewDim[]){{1, 0}, {1, -1}}, 2, here());
  const TdExpr *even =
      td_expr_view(B.a, a, six, EXPRS(num(2), num(1)), (TdViewDim[]){{1, -1}, {2, 0}}, 2, here());
  const TdStmt *body =
      BLOCK(FOR(i, num(0), num(12), CALL(f, column)), CALL(f, even), CALL(f, whole(v, six)));
  const TdProg *p = PROG(f, KERNEL("caller", body, P(a, t), P(v, six)));
  same("calls with views of three strides, state kept between calls", p,
       (TdCallArg[]){TENSOR(t), TENSOR(six)}, 2, 3);
  TdArena *scratch = td_arena_new(B.ctx);
  TdDiag d = {.arena = scratch};
  TdCpu *c = compiled(scratch, PROG(f), TD_TIER_TCC, &d);
  TdTensor *x = td_tensor_new(B.a, six, true);
  int64_t at = 5;
  td_tensor_fill(B.ctx, x, 0);
  for (int k = 0; k < 3; k++) td_cpu_call(c, &(TdCallArg){.tensor = x}, 1, &d);
  td_cpu_reset(c);
  td_tensor_fill(B.ctx, x, 0);
  td_cpu_call(c, &(TdCallArg){.tensor = x}, 1, &d);
  ok(td_tensor_get(x, &at) == 41, "reset starts the state again");
  td_arena_free(scratch);
}

/* Tensor statements: C = A x B + A' (elementwise), r = sum over rows, m = greatest of columns. */
static void test_tensors(void) {
  TdSym a = arg("A"), b = arg("B"), c = arg("C"), r = arg("r"), m = arg("m");
  const TdType *t = T(B.i16, 4, 4), *v = T(B.i32, 4), *big = T(B.i32, 4, 4);
  const TdExpr *va = whole(a, t), *vb = whole(b, t);
  const TdExpr *product =
      td_expr_tensor(B.a, TD_OP_MATMUL, big, EXPRS(va, vb), 2, TD_OP_ADD, 0, here());
  const TdExpr *sum = td_expr_tensor(B.a, TD_OP_REDUCE, v, EXPRS(va), 1, TD_OP_ADD, 1, here());
  const TdExpr *most = td_expr_tensor(B.a, TD_OP_REDUCE, v, EXPRS(vb), 1, TD_OP_MAX, 0, here());
  const TdExpr *value = cast(big, OP(ADD, product, LD(a, B.i16, num(1), num(1))));
  const TdStmt *body = BLOCK(set(whole(c, big), value), set(whole(r, v), sum),
                             set(whole(m, v), most), set(whole(a, t), OP(MIN, va, vb)));
  same("tensor statements",
       PROG(KERNEL("tensors", body, P(a, t), P(b, t), P(c, big), P(r, v), P(m, v))),
       (TdCallArg[]){TENSOR(t), TENSOR(t), TENSOR(big), TENSOR(v), TENSOR(v)}, 5, 1);
}

/* A kernel called floor that takes the floor of a rest, then a tensor without elements. */
static void test_names(void) {
  TdSym x = arg("exp"), y = arg("run"), z = arg("td_run"), i = loop("int"), j = loop("j");
  const TdExpr *xi = LD(x, B.f32, var(i)), *yi = LD(y, B.f32, var(i));
  const TdStmt *body = BLOCK(FOR(i, num(0), num(5), store(xi, OP(FLOOR, OP(MOD, xi, yi)))),
                             FOR(j, num(0), num(0), store(LD(z, B.f32, var(j)), lit(B.f32, 1))));
  const TdType *t = T(B.f32, 5), *none = T(B.f32, 0);
  TdTensor *empty = td_tensor_new(B.a, none, false);
  TdCallArg arg_[] = {TENSOR(t), TENSOR(t), {.tensor = empty}};
  const TdProg *p = PROG(KERNEL("floor", body, P(x, t), P(y, t), P(z, none)));
  for (int tier = TD_TIER_TCC; tier <= TD_TIER_CC; tier++) {
    TdArena *a = td_arena_new(B.ctx);
    TdDiag d = {.arena = a};
    TdCpu *c = compiled(a, p, (TdTier)tier, &d);
    ok(c && td_cpu_call(c, arg_, 3, &d), "names of the C library, of C, of the run time");
    td_arena_free(a);
  }
}

/* A 64 MiB local, of which a part is used. */
static void test_room(void) {
  TdSym x = arg("x"), t = local("room"), i = loop("i");
  const TdType *big = T(B.i32, 4096, 4096);
  const TdExpr *cell = LD(t, B.i32, OP(MUL, var(i), num(100)), var(i));
  const TdStmt *body =
      BLOCK(declare(t, big, NULL), FOR(i, num(0), num(40), store(cell, LD(x, B.i32, var(i)))),
            FOR(i, num(0), num(40), store(LD(x, B.i32, OP(SUB, num(39), var(i))), cell)));
  same("a local of 64 MiB", PROG(KERNEL("run", body, P(x, T(B.i32, 40)))),
       (TdCallArg[]){TENSOR(T(B.i32, 40))}, 1, 1);
}

/* Runs p, which must fail by code at a line. */
static void fails(const char *name, const TdProg *p, const TdCallArg *arg_, size_t n,
                  const char *code, uint32_t line) {
  for (int tier = TD_TIER_TCC; tier <= TD_TIER_CC; tier++) {
    TdArena *a = td_arena_new(B.ctx);
    TdDiag d = {.arena = a};
    TdCpu *c = compiled(a, p, (TdTier)tier, &d);
    TdCallArg own[4];
    for (size_t i = 0; i < n; i++) {
      own[i] = arg_[i];
      bool again = i && arg_[i].tensor == arg_[0].tensor;
      if (arg_[i].tensor) own[i].tensor = again ? own[0].tensor : copy_of(arg_[i].tensor);
    }
    bool right = c && !td_cpu_call(c, own, n, &d) && strcmp(d.code, code) == 0;
    right = right && (!line || d.loc.line == line);
    if (c && !right) printf("# %s line %u\n%s", d.code, d.loc.line, td_cpu_source(c)->text);
    ok(right, name);
    td_arena_free(a);
  }
}

static void test_faults(void) {
  TdSym x = arg("x"), y = arg("y"), i = loop("i");
  const TdType *t = T(B.i32, 8);
  const TdExpr *xi = LD(x, B.i32, var(i)), *yi = LD(y, B.i32, var(i));
  B.line = 3;
  const TdStmt *divide = store(xi, OP(FLOORDIV, xi, yi));
  B.line = 5;
  const TdStmt *gather = store(xi, LD(y, B.i32, cast(B.idx, xi)));
  B.line = 1;
  TdTensor *small = td_tensor_new(B.a, t, false), *zero = td_tensor_new(B.a, t, false);
  int64_t at = 4;
  td_tensor_put(small, &at, (uint64_t)-3);
  const TdProg *p = PROG(KERNEL("divide", BLOCK(FOR(i, num(0), num(8), divide)), P(x, t), P(y, t)));
  TdCallArg args[] = {{.tensor = small}, {.tensor = zero}};
  fails("x // 0 stops with the line", p, args, 2, "zero-division", 3);
  TdTensor *bad = copy_of(small);
  TdCallArg indices[] = {{.tensor = bad}, {.tensor = zero}};
  p = PROG(KERNEL("gather", BLOCK(FOR(i, num(0), num(8), gather)), P(x, t), P(y, t)));
  td_tensor_put(bad, &at, (uint64_t)-3);
  fails("an index out of range stops with the line", p, indices, 2, "index-out-of-range", 5);
  TdCallArg twice[] = {{.tensor = small}, {.tensor = small}};
  fails("a written argument may share nothing", p, twice, 2, "overlap", 0);
  fails("arguments are counted", p, twice, 1, "argument-count", 0);
  TdCallArg shape[] = {{.tensor = small}, {.tensor = filled(T(B.i32, 9))}};
  fails("shapes must agree", p, shape, 2, "argument-type", 0);
  TdUnit *assume = td_unit_copy(B.st, KERNEL("f", BLOCK(store(LD(x, B.i32, num(0)), lit(B.i32, 1))),
                                             P(x, t), P(scalar("n"), B.idx)));
  const TdExpr *fact = OP(LT, var(assume->param[1].sym), num(5));
  assume->assert_ = td_arena_copy(B.a, &fact, sizeof fact), assume->nassert = 1;
  TdCallArg with_n[] = {{.tensor = small}, {.scalar = 5}};
  fails("what is assumed is checked", PROG(assume), with_n, 2, "assume", 0);
}

/* A strided argument is packed and taken back; what is written is marked. */
static void test_arguments(void) {
  TdSym x = arg("x"), i = loop("i");
  const TdExpr *xi = LD(x, B.i32, var(i));
  const TdProg *p =
      PROG(KERNEL("more", BLOCK(FOR(i, num(0), num(5), store(xi, OP(ADD, xi, lit(B.i32, 1))))),
                  P(x, T(B.i32, 5))));
  TdTensor *base = td_tensor_new(B.a, T(B.i32, 5, 3), true), view = *base;
  view.type = T(B.i32, 5), view.data += 4, view.written += 1, view.extent[0] = 5,
  view.stride[0] = 3;
  TdArena *a = td_arena_new(B.ctx);
  TdDiag d = {.arena = a};
  TdCpu *c = compiled(a, p, TD_TIER_TCC, &d);
  bool good = c && td_cpu_call(c, &(TdCallArg){.tensor = &view}, 1, &d);
  int64_t in[] = {4, 1}, out[] = {4, 2};
  good = good && td_tensor_get(base, in) == 1 && td_tensor_get(base, out) == 0;
  ok(good && td_tensor_is_written(base, in) && !td_tensor_is_written(base, out),
     "a view with strides as argument");
  td_arena_free(a);
}

static TdWhy escaped;
static jmp_buf way_out;

static void leave(void *ud, TdWhy why) {
  (void)ud;
  escaped = why;
  longjmp(way_out, 1);
}

static void *press(void *ud) {
  nanosleep(&(struct timespec){0, 30 * 1000 * 1000}, NULL);
  td_ctx_interrupt(ud);
  return NULL;
}

/* Runs c, which would take hours, with Ctrl-C after 30 ms; returns the milliseconds that it took.
 */
static double interrupted_after(TdCpu *c, TdDiag *d) {
  TdTensor *x = filled(T(B.i32, 8));
  pthread_t thread;
  struct timespec from, to;
  td_ctx_set_escape(B.ctx, leave, NULL);
  pthread_create(&thread, NULL, press, B.ctx);
  clock_gettime(CLOCK_MONOTONIC, &from);
  if (!setjmp(way_out)) td_cpu_call(c, &(TdCallArg){.tensor = x}, 1, d);
  clock_gettime(CLOCK_MONOTONIC, &to);
  pthread_join(thread, NULL);
  td_ctx_clear_interrupt(B.ctx);
  td_arena_free_scratch(B.ctx);
  td_ctx_set_escape(B.ctx, bail, NULL);
  return (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) * 1e-6;
}

/* Ctrl-C ends a run of p. */
static void interrupted(const char *name, const TdProg *p, TdTier tier) {
  TdArena *a = td_arena_new(B.ctx);
  TdDiag d = {.arena = a};
  TdCpu *c = compiled(a, p, tier, &d);
  printf("# stopped after %.0f ms\n", interrupted_after(c, &d));
  ok(escaped == TD_WHY_INTERRUPT, name);
  td_arena_free(a);
}

static void test_interrupt(void) {
  TdSym x = arg("x"), i = loop("i"), j = loop("j");
  const TdExpr *x0 = LD(x, B.i32, num(0));
  const TdStmt *step = store(x0, OP(ADD, OP(MUL, x0, x0), lit(B.i32, 1)));
  const TdProg *deep =
      PROG(KERNEL("deep", BLOCK(FOR(i, num(0), num(1 << 30), FOR(j, num(0), num(100), step))),
                  P(x, T(B.i32, 8))));
  const TdProg *flat =
      PROG(KERNEL("flat", BLOCK(FOR(i, num(0), num(INT64_C(1) << 39), step)), P(x, T(B.i32, 8))));
  const TdProg *endless =
      PROG(KERNEL("endless", BLOCK(WHILE(lit(B.bit, 1), step)), P(x, T(B.i32, 8))));
  interrupted("Ctrl-C in a nest", deep, TD_TIER_CC);
  interrupted("Ctrl-C in one long loop", flat, TD_TIER_TCC);
  interrupted("Ctrl-C in while true", endless, TD_TIER_CC);
}

int main(void) {
  build_open();
  test_gemm();
  test_control();
  test_calls();
  test_tensors();
  test_names();
  test_room();
  test_faults();
  test_arguments();
  test_interrupt();
  build_close();
  return done_testing();
}
