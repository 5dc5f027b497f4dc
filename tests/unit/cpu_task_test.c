/* cpu_task_test.c - designs on the CPU against the evaluator: pipes, grids, blocks, tensor tokens,
 * calls of units with ports; deadlock and leftovers; speed. */
#include <time.h>

#include "backends/cpu/cpu.h"
#include "build_net.h"
#include "eval/eval.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* What R holds after a run on A = 1, 2, .., or the fault with its line and its first note. */
static const char *outcome(bool failed, const TdDiag *d, const TdTensor *r) {
  if (failed) return td_text_fmt(B.a, "%s:%u", d->code, d->loc.line);
  TdText out = td_text_new(B.a);
  int64_t i[TD_MAX_RANK] = {0};
  do {
    td_text_putc(&out, ' ');
    td_num_print(&out, td_type_scalar(r->type), td_tensor_get(r, i));
  } while (td_tensor_next(r, i));
  return td_text_str(&out);
}

static void number(TdTensor *x) {
  int64_t i[TD_MAX_RANK] = {0};
  uint64_t v = 1;
  do td_tensor_put(x, i, v++);
  while (td_tensor_next(x, i));
}

static const char *evaluated(const TdProg *p) {
  const TdType *row = td_prog_root(p)->param[0].type;
  TdTensor *a = td_tensor_new(B.a, row, false), *r = td_tensor_new(B.a, row, false);
  TdDiag d = {.arena = B.a};
  TdEvalResult result;
  TdEvalOptions o = {0};
  number(a);
  TdEvalArg arg[] = {{.tensor = a}, {.tensor = r}};
  bool good = td_eval_run(B.a, p, arg, 2, &o, &d, &result);
  return outcome(!good, &d, r);
}

static TdDiag failure;

static const char *compiled(const TdProg *p, TdTier tier) {
  const TdType *row = td_prog_root(p)->param[0].type;
  TdTensor *a = td_tensor_new(B.a, row, false), *r = td_tensor_new(B.a, row, false);
  failure = (TdDiag){.arena = B.a};
  TdCpuOptions o = {.tier = tier};
  TdArena *arena = td_arena_new(B.ctx);
  number(a);
  TdCpu *c = td_cpu_new(arena, p, &o, &failure);
  TdCallArg arg[] = {{.tensor = a}, {.tensor = r}};
  bool good = c && td_cpu_call(c, arg, 2, &failure) && td_cpu_call(c, arg, 2, &failure);
  const char *s = td_arena_strdup(B.a, outcome(!good, &failure, r));
  if (!c) printf("# %s\n", failure.message);
  if (c && getenv("DUMP")) puts(td_cpu_source(c)->text);
  td_arena_free(arena);
  return s;
}

/* A test: both compilers twice over do what the evaluator does. */
static void same(const char *name, const TdProg *p) {
  const char *want = evaluated(p);
  const char *tcc = compiled(p, TD_TIER_TCC), *cc = compiled(p, TD_TIER_CC);
  is_text(tcc, want, name);
  if (strcmp(cc, want) != 0) is_text(cc, want, name);
}

/* for i < n: Z[to] gets A[i], or Z[from] + 1. */
static TdUnit *stage(Net *x, TdSym Z, const TdType *port, int from, int to, int64_t n) {
  TdSym i = loop("i"), v = local("v"), A = arg("A"), R = arg("R");
  const TdExpr *in = from < 0 ? NULL : element_of(Z, port, num(from));
  const TdExpr *out = to < 0 ? NULL : element_of(Z, port, num(to));
  const TdExpr *value = from < 0 ? LD(A, B.i32, var(i)) : OP(ADD, get(v, B.i32), lit(B.i32, 1));
  const TdStmt *give = out ? put(out, value) : store(LD(R, B.i32, var(i)), value);
  const TdStmt *loop =
      in ? FOR(i, num(0), num(n), take(v, in), give) : FOR(i, num(0), num(n), give);
  return KERNEL(from < 0 ? "source"
                : to < 0 ? "sink"
                         : "stage",
                BLOCK(loop), P(A, x->row), P(R, x->row));
}

static const TdProg *pipe_of(int64_t stages, int64_t n, int64_t depth) {
  Net x = net(T(B.i32, n));
  TdSym Z = stream("Z");
  const TdType *port = add_stream(x.d, Z, B.i32, stages + 1, depth, false);
  for (int s = -1; s <= stages; s++)
    task(&x, stage(&x, Z, port, s, s == stages ? -1 : s + 1, n), 0, NULL, NULL);
  return program(&x);
}

/* Tokens are rows; the middle task is one of a grid and works on its block, by a callee with
 * ports. */
static const TdProg *rows(bool blocks) {
  Net x = net(T(B.i32, 4, 3));
  TdSym Z = stream("Z"), A = arg("A"), R = arg("R"), p = coord("p"), v = local("v"), t = local("t");
  const TdType *three = T(B.i32, 3), *part = T(B.i32, 1, 3);
  const TdType *port = add_stream(x.d, Z, three, 4, 2, blocks);
  const TdType *one = td_type_port(B.s, three, 0, NULL, blocks);
  TdSym end = stream("end"), k = loop("k");
  const TdExpr *ports = td_expr_whole(B.s, B.a, end, one, here());
  const TdUnit *send = KERNEL("send", BLOCK(FOR(k, num(0), num(2), put(ports, whole(t, three)))),
                              P(end, one), P(t, three));
  x.unit[x.n++] = send;
  TdSym A2 = arg("A"), R2 = arg("R"), q = coord("p");
  const TdStmt *produce = CALL(send, element_of(Z, port, var(p)), row(A, three, num(0)));
  task(&x, IDS(KERNEL("produce", BLOCK(produce), P(A, part), P(R, part)), p), MAP(4), "S0R");
  const TdExpr *sum = OP(ADD, whole(v, three), row(R2, three, num(0)));
  const TdStmt *consume =
      BLOCK(set(row(R2, three, num(0)), lit(B.i32, 7)),
            FOR(k, num(0), num(2), take(v, element_of(Z, port, OP(SUB, num(3), var(q)))),
                set(row(R2, three, num(0)), cast(three, sum))));
  task(&x, IDS(KERNEL("consume", consume, P(A2, part), P(R2, part)), q), MAP(4), "S0R");
  return program(&x);
}

/* A block stream: the producer fills slots and hands them over. */
static const TdProg *ping_pong(int64_t depth) {
  Net x = net(T(B.i32, 6, 4));
  TdSym Z = stream("Z"), A = arg("A"), R = arg("R"), A2 = arg("A"), R2 = arg("R"), i = loop("i"),
        j = loop("j");
  TdSym s = local("s"), b = local("b");
  const TdType *four = T(B.i32, 4), *port = add_stream(x.d, Z, four, 1, depth, true);
  const TdExpr *z = element_of(Z, port, num(0));
  const TdStmt *fill =
      FOR(j, num(0), num(4), store(LD(s, B.i32, var(j)), LD(A, B.i32, var(i), var(j))));
  task(&x,
       KERNEL("fill", BLOCK(FOR(i, num(0), num(6), slot(s, z), fill, put(z, whole(s, four)))),
              P(A, x.row), P(R, x.row)),
       0, NULL, NULL);
  const TdStmt *use =
      FOR(j, num(0), num(4),
          store(LD(R2, B.i32, var(i), var(j)), LD(b, B.i32, OP(SUB, num(3), var(j)))));
  task(&x,
       KERNEL("use", BLOCK(FOR(i, num(0), num(6), take(b, z), use)), P(A2, x.row), P(R2, x.row)), 0,
       NULL, NULL);
  return program(&x);
}

/* Two tasks that both put, or both get, first. */
static const TdProg *ring(bool get_first, int64_t depth) {
  Net x = net(T(B.i32, 4));
  TdSym Z = stream("Z");
  const TdType *port = add_stream(x.d, Z, B.i32, 2, depth, false);
  for (int k = 0; k < 2; k++) {
    TdSym i = loop("i"), v = local("v"), A = arg("A"), R = arg("R");
    const TdStmt *g = take(v, element_of(Z, port, num(k)));
    const TdStmt *p = put(element_of(Z, port, num(1 - k)), LD(A, B.i32, var(i)));
    const TdStmt *s = store(LD(R, B.i32, var(i)), get(v, B.i32));
    const TdStmt *body = get_first ? BLOCK(g, p) : k ? BLOCK(p, g) : BLOCK(p, g, s);
    task(&x,
         KERNEL(k ? "second" : "first",
                BLOCK(td_stmt_for(B.st, i, num(0), num(4), 1, body, here())), P(A, x.row),
                P(R, x.row)),
         0, NULL, NULL);
  }
  return program(&x);
}

static void test_faults(void) {
  const TdProg *p = ring(true, 1);
  is_text(compiled(p, TD_TIER_CC), "deadlock:1", "get first: a deadlock");
  ok(failure.notes.n == 3 &&
         strcmp(failure.notes.at[1].text, "second waits to get from Z[1] (0 of 1)") == 0 &&
         strcmp(failure.notes.at[2].text, "wait cycle: first -> Z[0] -> second -> Z[1] -> first") ==
             0,
     "which tells who waits for what");
  is_text(compiled(p, TD_TIER_TCC), "deadlock:1", "so by tcc");
  Net x = net(T(B.i32, 4));
  TdSym Z = stream("Z");
  const TdType *port = add_stream(x.d, Z, B.i32, 1, 4, false);
  task(&x, stage(&x, Z, port, -1, 0, 4), 0, NULL, NULL);
  task(&x, stage(&x, Z, port, 0, -1, 2), 0, NULL, NULL);
  same("tokens that are left", program(&x));
}

/* An output-stationary array of n x n, with tasks that feed and drain it. */
static const TdProg *systolic(int64_t n, int64_t depth_k, int64_t depth) {
  const TdType *square = T(B.i8, n, depth_k), *out = T(B.i32, n, n);
  TdSym A = arg("A"), W = arg("B"), C = arg("C"), h = stream("h"), v = stream("v");
  TdUnit *d = UNIT(DESIGN, "top", P(A, square), P(W, square), P(C, out));
  const TdExpr *dims[] = {num(n), num(n + 1)};
  const TdType *port = td_type_port(B.s, B.i8, 2, dims, false);
  TdStream *list = TD_NEWN(B.a, TdStream, 2);
  list[0] = (TdStream){.sym = h, .loc = here(), .type = port, .depth = num(depth)};
  list[1] = (TdStream){.sym = v, .loc = here(), .type = port, .depth = num(depth)};
  d->stream = list, d->nstream = 2;
  const TdType *end = td_type_port(B.s, B.i8, 0, NULL, false);
  const TdViewDim both[] = {{1, -1}, {1, -1}};
#define END(s, i, j) td_expr_view(B.a, s, end, EXPRS(i, j), both, 2, here())
  TdSym i = coord("i"), j = coord("j"), k = loop("k"), a = local("a"), b = local("b"),
        acc = local("acc"), c = arg("C");
  const TdExpr *sum = OP(ADD, get(acc, B.i32), OP(MUL, get(a, B.i8), get(b, B.i8)));
  const TdStmt *step = FOR(
      k, num(0), num(depth_k), take(a, END(h, var(i), var(j))), take(b, END(v, var(j), var(i))),
      store(get(acc, B.i32), sum),
      IF(OP(LT, var(j), num(n - 1)), put(END(h, var(i), OP(ADD, var(j), num(1))), get(a, B.i8))),
      IF(OP(LT, var(i), num(n - 1)), put(END(v, var(j), OP(ADD, var(i), num(1))), get(b, B.i8))));
  TdUnit *pe = IDS(KERNEL("pe",
                          BLOCK(declare(acc, B.i32, lit(B.i32, 0)), step,
                                store(LD(c, B.i32, var(i), var(j)), get(acc, B.i32))),
                          P(c, out)),
                   i, j);
  TdSym fa = arg("A"), f = coord("f"), q = loop("k"), fb = arg("B"), g = coord("g"), r = loop("k");
  TdUnit *left = IDS(KERNEL("left",
                            BLOCK(FOR(q, num(0), num(depth_k),
                                      put(END(h, var(f), num(0)), LD(fa, B.i8, var(f), var(q))))),
                            P(fa, square)),
                     f);
  TdUnit *top = IDS(KERNEL("above",
                           BLOCK(FOR(r, num(0), num(depth_k),
                                     put(END(v, var(g), num(0)), LD(fb, B.i8, var(g), var(r))))),
                           P(fb, square)),
                    g);
  add_run(d, left, MAP(n), BIND({fa, A, NULL}));
  add_run(d, top, MAP(n), BIND({fb, W, NULL}));
  add_run(d, pe, MAP(n, n), BIND({c, C, NULL}));
  return PROG(left, top, pe, d);
}

/* C = A x B' of a systolic array; seconds of a call in *s. */
static bool right_product(int64_t n, int64_t depth_k, TdTier tier, double *s) {
  TdArena *a = td_arena_new(B.ctx);
  TdDiag d = {.arena = a};
  TdCpuOptions o = {.tier = tier};
  TdCpu *c = td_cpu_new(a, systolic(n, depth_k, 4), &o, &d);
  TdTensor *x = td_tensor_new(B.a, T(B.i8, n, depth_k), false),
           *y = td_tensor_new(B.a, T(B.i8, n, depth_k), false);
  TdTensor *z = td_tensor_new(B.a, T(B.i32, n, n), false);
  number(x), number(y);
  TdCallArg arg[] = {{.tensor = x}, {.tensor = y}, {.tensor = z}};
  bool good = c && td_cpu_call(c, arg, 3, &d);
  *s = 1e9;
  for (int k = 0; good && k < 10; k++) {
    double from = now();
    good = td_cpu_call(c, arg, 3, &d);
    if (now() - from < *s) *s = now() - from;
  }
  if (!good) printf("# %s\n", d.message);
  if (c && getenv("DUMP")) puts(td_cpu_source(c)->text);
  for (int64_t i = 0; good && i < n * n; i++) {
    int64_t at[] = {i / n, i % n}, sum = 0;
    for (int64_t k = 0; k < depth_k; k++)
      sum += (int64_t)td_tensor_get(x, (int64_t[]){at[0], k}) *
             (int64_t)td_tensor_get(y, (int64_t[]){at[1], k});
    good = (int64_t)td_tensor_get(z, at) == sum;
  }
  td_arena_free(a);
  return good;
}

static void test_speed(void) {
  double s;
  bool good = right_product(16, 256, TD_TIER_CC, &s);
  printf("# 16 x 16 x 256: %.0f M MAC/s by cc", 65536e-6 / s);
  good = good && right_product(16, 256, TD_TIER_TCC, &s);
  printf(", %.0f by tcc\n", 65536e-6 / s);
  ok(good, "a systolic array multiplies");
  enum { N = 1 << 20 };
  TdArena *a = td_arena_new(B.ctx);
  TdDiag d = {.arena = a};
  TdCpuOptions o = {.tier = TD_TIER_CC};
  TdCpu *c = td_cpu_new(a, pipe_of(8, N, 16), &o, &d);
  TdTensor *x = td_tensor_new(a, T(B.i32, N), false), *r = td_tensor_new(a, T(B.i32, N), false);
  TdCallArg arg[] = {{.tensor = x}, {.tensor = r}};
  good = c && td_cpu_call(c, arg, 2, &d);
  double best = 1e9;
  for (int k = 0; good && k < 5; k++) {
    double from = now();
    good = td_cpu_call(c, arg, 2, &d);
    if (now() - from < best) best = now() - from;
  }
  printf("# ten processes at depth 16: %.0f M tokens/s\n", N * 1e-6 / best);
  int64_t last = N - 1;
  ok(good && td_tensor_get(r, &last) == 9, "a pipe of ten processes");
  td_arena_free(a);
}

int main(void) {
  build_open();
  same("a pipe at depth 1", pipe_of(3, 5, 1));
  same("a pipe at depth 4", pipe_of(3, 5, 4));
  same("tensor tokens, layouts, a grid, a callee with ports", rows(false));
  same("the same on a block stream", rows(true));
  same("a block stream at depth 2", ping_pong(2));
  same("and at depth 1", ping_pong(1));
  same("put first", ring(false, 1));
  test_faults();
  test_speed();
  build_close();
  return done_testing();
}
