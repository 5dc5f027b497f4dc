/* eval_test.c - kernels run with numbers: control, calls, views, states, tensor statements, faults.
 */
#include "build_ir.h"
#include "eval/eval.h"

static TdDiag failure;
static TdEvalResult result;

/* Runs p on n arguments; what went wrong is in `failure`. */
static bool run_with(const TdProg *p, TdEvalArg *arg, size_t n, const TdEvalOptions *o) {
  failure = (TdDiag){.arena = B.a};
  return td_eval_run(B.a, p, arg, n, o, &failure, &result);
}

static TdTensor *filled(const TdType *t, const int64_t *v) {
  TdTensor *x = td_tensor_new(B.a, t, !v);
  int64_t i[TD_MAX_RANK] = {0}, k = 0;
  if (!v || !td_tensor_count(x)) return x;
  do
    td_tensor_put(
        x, i, t->elem->kind == TD_T_FLOAT ? td_num_of_double((double)v[k++]) : (uint64_t)v[k++]);
  while (td_tensor_next(x, i));
  return x;
}
#define TENSOR(t, ...) filled(t, (int64_t[]){__VA_ARGS__})

/* The elements of x as "1 2 3". */
static const char *shown(const TdTensor *x) {
  TdText out = td_text_new(B.a);
  int64_t i[TD_MAX_RANK] = {0};
  do {
    if (out.n) td_text_putc(&out, ' ');
    if (td_tensor_is_written(x, i))
      td_num_print(&out, td_type_scalar(x->type), td_tensor_get(x, i));
    else
      td_text_putc(&out, '-');
  } while (td_tensor_next(x, i));
  return td_text_str(&out);
}

/* The code of the last failure with its line: "index-out-of-range:3". */
static const char *fault(void) {
  return td_text_fmt(B.a, "%s:%u", failure.code ? failure.code : "none", failure.loc.line);
}

/* Runs p on one tensor and compares what it leaves, or the fault. */
static void gives(const TdProg *p, TdTensor *x, const char *want, const char *name) {
  TdEvalArg arg = {.tensor = x};
  is_text(run_with(p, &arg, 1, NULL) ? shown(x) : fault(), want, name);
}

/* y[i] = x for each of four. */
static void test_loops(void) {
  TdSym A = arg("A"), i = loop("i"), k = loop("k"), s = local("s");
  const TdType *t = T(B.i32, 4);
  const TdStmt *sum = FOR(k, num(0), OP(ADD, var(i), num(1)),
                          store(get(s, B.i32), OP(ADD, get(s, B.i32), cast(B.i32, var(k)))));
  const TdStmt *body = BLOCK(FOR(i, num(0), num(4), declare(s, B.i32, lit(B.i32, 0)), sum,
                                 store(LD(A, B.i32, var(i)), get(s, B.i32))));
  gives(PROG(KERNEL("tri", body, P(A, t))), filled(t, NULL), "0 1 3 6", "triangular loops");
  const TdExpr *c = OP(LT, var(i), num(2));
  const TdStmt *leave = IF(OP(EQ, var(i), num(3)), jump(TD_STMT_BREAK));
  const TdStmt *either =
      td_stmt_if(B.st, c, BLOCK(store(LD(A, B.i32, var(i)), lit(B.i32, 7))),
                 BLOCK(leave, store(LD(A, B.i32, var(i)), lit(B.i32, 8))), here());
  gives(PROG(KERNEL("iff", BLOCK(FOR(i, num(0), num(4), either)), P(A, t))), filled(t, NULL),
        "7 7 8 -", "if, else and break");
  const TdStmt *halt =
      BLOCK(FOR(i, num(0), num(4),
                FOR(k, num(0), num(4), IF(OP(EQ, var(k), num(2)), jump(TD_STMT_RETURN)),
                    store(LD(A, B.i32, var(k)), lit(B.i32, 5)))));
  gives(PROG(KERNEL("ret", halt, P(A, t))), filled(t, NULL), "5 5 - -", "return leaves all loops");
  const TdStmt *step = td_stmt_for(B.st, i, num(0), num(4), 3,
                                   BLOCK(store(LD(A, B.i32, var(i)), lit(B.i32, 1))), here());
  gives(PROG(KERNEL("step", BLOCK(step), P(A, t))), filled(t, NULL), "1 - - 1", "a step of 3");
}

static void test_while(void) {
  TdSym A = arg("A"), x = local("x"), n = local("n");
  const TdType *t = T(B.i32, 1);
  const TdExpr *big = OP(LT, lit(B.i32, 0), get(x, B.i32));
  const TdStmt *halve = store(get(x, B.i32), OP(FLOORDIV, get(x, B.i32), lit(B.i32, 2)));
  const TdStmt *count = store(get(n, B.i32), OP(ADD, get(n, B.i32), lit(B.i32, 1)));
  const TdStmt *loops[] = {WHILE(big, halve, count), REPEAT(big, halve, count)};
  const char *none[] = {"0", "1"};
  for (int k = 0; k < 2; k++)
    for (int64_t from = 0; from <= 10; from += 10) {
      const TdStmt *body =
          BLOCK(declare(x, B.i32, lit(B.i32, from)), declare(n, B.i32, lit(B.i32, 0)), loops[k],
                store(LD(A, B.i32, num(0)), get(n, B.i32)));
      gives(PROG(KERNEL("w", body, P(A, t))), filled(t, NULL), from ? "4" : none[k],
            k ? "repeat" : "while");
    }
}

/* f(row, v): row[j] = row[j] * v; called on every other row of a matrix. */
static void test_calls(void) {
  TdSym R = arg("R"), v = scalar("v"), j = loop("j"), A = arg("A"), i = loop("i");
  const TdType *m = T(B.i32, 4, 2), *r = T(B.i32, 2);
  const TdExpr *e = LD(R, B.i32, var(j));
  const TdExpr *times = OP(MUL, e, td_expr_var(B.a, v, B.i32, here()));
  const TdStmt *scale = BLOCK(FOR(j, num(0), num(2), store(e, times)));
  TdUnit *f = KERNEL("f", scale, P(R, r), P(v, B.i32));
  const TdStmt *all = td_stmt_for(B.st, i, num(0), num(4), 2,
                                  BLOCK(CALL(f, row(A, r, var(i)), cast(B.i32, var(i)))), here());
  gives(PROG(f, KERNEL("g", BLOCK(all), P(A, m))), TENSOR(m, 1, 2, 3, 4, 5, 6, 7, 8),
        "0 0 3 4 10 12 7 8", "views and scalars as arguments");
  TdSym X = arg("X"), Y = arg("Y");
  const TdType *half = T(B.i32, 2), *t = T(B.i32, 4);
  TdUnit *copy = KERNEL("copy", BLOCK(set(whole(Y, half), whole(X, half))), P(X, half), P(Y, half));
  B.line = 3;
  const TdStmt *apart = CALL(copy, part(A, half, num(0), 2), part(A, half, num(1), 2));
  const TdStmt *over = CALL(copy, part(A, half, num(0), 1), part(A, half, num(1), 1));
  B.line = 1;
  gives(PROG(copy, KERNEL("g", BLOCK(apart), P(A, t))), TENSOR(t, 1, 2, 3, 4), "1 1 3 3",
        "interleaved views do not overlap");
  gives(PROG(copy, KERNEL("g", BLOCK(over), P(A, t))), TENSOR(t, 1, 2, 3, 4), "overlap:3",
        "overlapping written argument");
}

/* A counter with a state, called through two units: each path has its own. */
static void test_state(void) {
  static const int32_t zero[] = {10};
  TdSym C = local("count"), O = arg("O"), A = arg("A");
  const TdType *one = T(B.i32, 1), *t = T(B.i32, 3);
  const TdExpr *c = LD(C, B.i32, num(0));
  TdUnit *tick = KERNEL("tick",
                        BLOCK(state(C, one, zero, 1), store(c, OP(ADD, c, lit(B.i32, 1))),
                              store(LD(O, B.i32, num(0)), c)),
                        P(O, one));
  TdUnit *via = KERNEL("via", BLOCK(CALL(tick, whole(O, one))), P(O, one));
  const TdStmt *body =
      BLOCK(CALL(tick, part(A, one, num(0), 1)), CALL(tick, part(A, one, num(1), 1)),
            CALL(via, part(A, one, num(2), 1)));
  const TdProg *p = PROG(tick, via, KERNEL("g", body, P(A, t)));
  TdEvalOptions o = {.state = td_state_new(B.a)};
  TdTensor *x = filled(t, NULL);
  TdEvalArg arg0 = {.tensor = x};
  ok(run_with(p, &arg0, 1, &o), "states run");
  is_text(shown(x), "11 12 11", "a state is one per path and survives calls");
  run_with(p, &arg0, 1, &o);
  is_text(shown(x), "13 14 12", "and runs");
  td_state_reset(o.state);
  run_with(p, &arg0, 1, &o);
  is_text(shown(x), "11 12 11", "until it is reset");
}

static void test_tensor_statements(void) {
  TdSym A = arg("A"), X = arg("X"), Y = arg("Y"), Z = arg("Z"), L = local("L");
  const TdType *a = T(B.i8, 2, 3), *b = T(B.i8, 3, 2), *c = T(B.i32, 2, 2);
  const TdExpr *mm[] = {whole(X, a), whole(Y, b)};
  const TdExpr *product = td_expr_tensor(B.a, TD_OP_MATMUL, c, mm, 2, TD_OP_ADD, 0, here());
  const TdExpr *again[] = {product, whole(Z, c)};
  const TdExpr *twice = td_expr_tensor(B.a, TD_OP_MATMUL, c, again, 2, TD_OP_ADD, 0, here());
  const TdExpr *plus = td_expr_cast(B.a, c, OP(ADD, product, lit(B.i32, 1)), true);
  const TdExpr *values[] = {product, plus, twice};
  const char *name[] = {"matmul", "matmul + scalar", "matmul of a matmul"};
  for (int k = 0; k < 3; k++) {
    TdUnit *u = KERNEL("m", BLOCK(set(whole(A, c), values[k])), P(A, c), P(X, a), P(Y, b), P(Z, c));
    TdEvalArg arg[] = {{.tensor = filled(c, NULL)},
                       {.tensor = TENSOR(a, 1, 2, 3, -4, -5, 2)},
                       {.tensor = TENSOR(b, 7, 8, 9, 10, 11, 12)},
                       {.tensor = TENSOR(c, 0, 1, 1, 0)}};
    is_text(run_with(PROG(u), arg, 4, NULL) ? shown(arg[0].tensor) : fault(),
            k == 0   ? "58 64 -51 -58"
            : k == 1 ? "59 65 -50 -57"
                     : "64 58 -58 -51",
            name[k]);
  }
  const TdType *r = T(B.i32, 3), *q = T(B.i8, 2, 3);
  const TdExpr *in = whole(X, q);
  const TdExpr *sum = td_expr_tensor(B.a, TD_OP_REDUCE, r, &in, 1, TD_OP_ADD, 0, here());
  const TdExpr *most = td_expr_tensor(B.a, TD_OP_REDUCE, r, &in, 1, TD_OP_MAX, 0, here());
  const TdStmt *body = BLOCK(
      declare(L, r, sum), set(whole(A, r), td_expr_cast(B.a, r, OP(ADD, whole(L, r), most), true)));
  TdEvalArg arg[] = {{.tensor = filled(r, NULL)}, {.tensor = TENSOR(q, 1, 2, 3, -4, 5, -6)}};
  run_with(PROG(KERNEL("r", body, P(A, r), P(X, q))), arg, 2, NULL);
  is_text(shown(arg[0].tensor), "-2 12 0", "reductions along an axis, a tensor local");
  const TdType *t = T(B.i32, 4), *three = T(B.i32, 3);
  const TdExpr *same = td_expr_cast(B.a, t, OP(MUL, whole(A, t), lit(B.i32, 3)), true);
  gives(PROG(KERNEL("e", BLOCK(set(whole(A, t), same)), P(A, t))), TENSOR(t, 1, 2, 3, 4),
        "3 6 9 12", "a target may be its own operand at equal indices");
  B.line = 4;
  const TdStmt *shift = set(part(A, three, num(1), 1), part(A, three, num(0), 1));
  const TdType *square = T(B.i32, 2, 2);
  const TdExpr *self[] = {whole(A, square), whole(A, square)};
  const TdExpr *power = td_expr_tensor(B.a, TD_OP_MATMUL, square, self, 2, TD_OP_ADD, 0, here());
  gives(PROG(KERNEL("e", BLOCK(set(whole(A, square), power)), P(A, square))),
        TENSOR(square, 1, 2, 3, 4), "overlap:4", "nor the operand of a matmul");
  gives(PROG(KERNEL("e", BLOCK(shift), P(A, t))), TENSOR(t, 1, 2, 3, 4), "overlap:4",
        "but not at others");
  B.line = 1;
}

/* Faults stop with the line, and the arguments are as they were. */
static void test_faults(void) {
  TdSym A = arg("A"), i = loop("i"), L = local("L"), x = local("x");
  const TdType *t = T(B.i32, 2);
  const TdExpr *a0 = LD(A, B.i32, num(0)), *f = lit(B.f32, 3);
  const TdExpr *huge = td_expr_lit(B.a, B.f32, td_num_of_double(1e30), here());
  const TdExpr *l0 = LD(L, B.i32, num(0));
  const TdStmt *keep = IF(OP(EQ, var(i), num(0)), store(l0, lit(B.i32, 1)));
  B.line = 5;
  const struct {
    const TdStmt *body;
    const char *want;
  } cases[] = {
      {BLOCK(FOR(i, num(0), num(3), store(LD(A, B.i32, var(i)), lit(B.i32, 9)))),
       "index-out-of-range:5"},
      {BLOCK(store(LD(A, B.i32, num(-1)), lit(B.i32, 9))), "index-out-of-range:5"},
      {BLOCK(declare(L, t, NULL), store(a0, LD(L, B.i32, num(1)))), "uninitialised:5"},
      {BLOCK(FOR(i, num(0), num(2), declare(L, t, NULL), keep, store(a0, LD(L, B.i32, num(0))))),
       "uninitialised:5"},
      {BLOCK(declare(x, B.i32, NULL), store(a0, get(x, B.i32))), "uninitialised:5"},
      {BLOCK(store(a0, OP(FLOORDIV, lit(B.i32, 1), OP(SUB, a0, a0)))), "zero-division:5"},
      {BLOCK(store(a0, OP(MOD, lit(B.i32, 1), OP(SUB, a0, a0)))), "zero-division:5"},
      {BLOCK(store(a0, OP(SHL, lit(B.i32, 1), OP(SUB, a0, lit(B.i32, 3))))), "negative-shift:5"},
      {BLOCK(store(a0, td_expr_cast(B.a, B.i32, OP(MUL, huge, f), false))), "float-range:5"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    TdTensor *v = TENSOR(t, 1, 2);
    gives(PROG(KERNEL("f", cases[k].body, P(A, t))), v, cases[k].want, cases[k].want);
    is_text(shown(v), "1 2", "and nothing was written");
  }
  ok(failure.kind == TD_ILLEGAL, "faults are illegal");
  B.line = 1;
  TdUnit *u = KERNEL("s", BLOCK(store(a0, lit(B.i32, 1))), P(A, t));
  const TdExpr *even = OP(EQ, OP(MOD, td_expr_size(B.s, B.a, "M", here()), num(2)), num(0));
  u->size = &(TdSize){"M", true, 3}, u->nsize = 1;
  u->assert_ = &even, u->nassert = 1;
  gives(PROG(u), TENSOR(t, 1, 2), "assume:1", "an assumption that does not hold");
  u->size = &(TdSize){"M", true, 4};
  gives(PROG(u), TENSOR(t, 5, 2), "1 2", "and one that does");
}

static void test_limits(void) {
  TdSym A = arg("A");
  const TdType *t = T(B.i32, 2);
  const TdExpr *always = td_expr_lit(B.a, B.bit, 1, here());
  const TdProg *p =
      PROG(KERNEL("f", BLOCK(WHILE(always, store(LD(A, B.i32, num(0)), lit(B.i32, 1)))), P(A, t)));
  TdEvalArg x = {.tensor = TENSOR(t, 7, 7)};
  TdEvalOptions o = {.steps = 1000};
  ok(!run_with(p, &x, 1, &o) && failure.kind == TD_LIMIT, "a budget of steps ends a run");
  is_text(shown(x.tensor), "7 7", "without results");
  TdSym L = local("L");
  const TdProg *q = PROG(KERNEL("f", BLOCK(declare(L, T(B.i32, 1 << 20), NULL)), P(A, t)));
  ok(!run_with(q, &x, 1, &(TdEvalOptions){.bytes = 1 << 16}) && failure.kind == TD_LIMIT,
     "and one of memory");
  const TdType *b = T(B.i8, 2);
  const TdExpr *sum = OP(ADD, LD(A, B.i8, num(0)), LD(A, B.i8, num(1)));
  const TdProg *r = PROG(KERNEL("f", BLOCK(store(LD(A, B.i8, num(0)), sum)), P(A, b)));
  TdEvalArg y = {.tensor = TENSOR(b, 100, 100)};
  run_with(r, &y, 1, &(TdEvalOptions){.overflow = true});
  ok(result.noverflow == 1 && result.overflow->count == 1, "an overflow is reported on request");
  is_text(result.overflow->value, "200", "with the value that was cut");
  y.tensor = TENSOR(b, 100, 20);
  run_with(r, &y, 1, &(TdEvalOptions){.overflow = true});
  ok(result.noverflow == 0, "and only then");
}

/* merge: two data-dependent gets, one put, as a kernel with ports. */
static void test_ports(void) {
  TdSym X = stream("X"), Y = stream("Y"), v = local("v"), i = loop("i");
  const TdType *port = td_type_port(B.s, B.i32, 0, NULL, false);
  const TdStmt *body = BLOCK(FOR(i, num(0), num(3), take(v, whole(X, port)),
                                 put(whole(Y, port), OP(MUL, get(v, B.i32), lit(B.i32, 2)))));
  const TdProg *p = PROG(KERNEL("dbl", body, P(X, port), P(Y, port)));
  TdEvalPort in = {.in = TENSOR(T(B.i32, 4), 1, 2, 3, 4)}, out = {0};
  TdEvalArg arg[] = {{.port = &in}, {.port = &out}};
  ok(run_with(p, arg, 2, &(TdEvalOptions){.log = true}) && in.consumed == 3, "a kernel with ports");
  is_text(shown(out.out), "2 4 6", "its tokens");
  uint64_t h = 0;
  for (uint64_t k = 2; k <= 6; k += 2) h = td_map_mix(h, k);
  ok(result.nstream == 2 && result.stream[1].hash == h && result.stream[1].tokens == 3,
     "and their hash");
  in.in = TENSOR(T(B.i32, 2), 1, 2);
  ok(!run_with(p, arg, 2, NULL), "too few tokens block");
  is_text(fault(), "deadlock:1", "for ever");
}

/* A foreign kernel means its model; without one it is opaque. */
static void test_foreign(void) {
  TdSym A = arg("A"), X = arg("X"), C = local("C");
  const TdType *t = T(B.i32, 2);
  static const int32_t table[] = {7, 9};
  const TdStmt *data = state(C, t, table, 2);
  ((TdStmt *)(uintptr_t)data)->cls = TD_LOCAL_CONST;
  TdUnit *model = KERNEL("model", BLOCK(data, set(whole(A, t), whole(C, t))), P(A, t));
  TdUnit *ext = UNIT(EXTERN, "ext", P(A, t));
  ext->foreign = &(TdForeign){.library = "m", .symbol = "ext", .pure = true, .model = model->sym};
  const TdProg *p = PROG(model, ext, KERNEL("g", BLOCK(CALL(ext, whole(X, t))), P(X, t)));
  gives(p, filled(t, NULL), "7 9", "a foreign kernel with a model, a constant table");
  ext->foreign = &(TdForeign){.library = "m", .symbol = "ext", .pure = true};
  gives(p, filled(t, NULL), "not-decided:1", "and one without");
}

static void test_tensors(void) {
  TdTensor *wide = td_tensor_new(B.a, T(B.i32, 3), true),
           *narrow = td_tensor_new(B.a, T(B.i8, 3), true);
  int64_t at = 1;
  td_tensor_put(wide, &at, 300);
  td_tensor_copy(B.ctx, narrow, wide);
  ok(td_tensor_get(narrow, &at) == 44, "a copy casts");
  ok(td_tensor_first_unwritten(B.ctx, narrow, &at) && at == 0, "and leaves unwritten what was");
  td_tensor_fill(B.ctx, narrow, 5);
  ok(!td_tensor_first_unwritten(B.ctx, narrow, &at), "a fill writes all");
  TdTensor *m = td_tensor_new(B.a, T(B.i8, 4, 6), false), rows = *m;
  rows.extent[0] = 2;
  ok(td_tensor_is_dense(m) && td_tensor_is_dense(&rows), "rows lie dense");
  rows.extent[1] = 3;
  ok(!td_tensor_is_dense(&rows) && td_tensor_count(&rows) == 6, "columns do not");
}

static void test_boxes(void) {
  const TdType *t = T(B.i8, 4, 6);
  TdTensor *x = td_tensor_new(B.a, t, false), a = *x, b = *x;
  a.extent[1] = b.extent[1] = 3, b.data += 3;
  ok(!td_tensor_overlap(&a, &b), "halves of rows are apart");
  b.data -= 1;
  ok(td_tensor_overlap(&a, &b), "and meet one further left");
  a = b = *x;
  a.extent[1] = b.extent[1] = 3, a.stride[1] = b.stride[1] = 2, b.data += 1;
  ok(!td_tensor_overlap(&a, &b), "even and odd columns are apart");
  b.stride[0] = 7, b.extent[0] = 3;
  ok(td_tensor_overlap(&a, &b), "unless rows shift");
}

int main(void) {
  void (*const test[])(void) = {
      test_loops,  test_while,  test_calls, test_state,   test_tensor_statements,
      test_faults, test_limits, test_ports, test_foreign, test_tensors,
      test_boxes};
  for (size_t i = 0; i < sizeof test / sizeof *test; i++) {
    build_open();
    test[i]();
    build_close();
  }
  return done_testing();
}
