/* eval_net_test.c - designs run with numbers: order, blocking, deadlock, races, layouts, nesting.
 */
#include "build_net.h"
#include "eval/eval.h"

static TdDiag failure;
static TdEvalResult result;

/* A kernel of the two arguments with a body. */
static TdUnit *kernel(const char *name, const TdType *row, const TdStmt *body, TdSym A, TdSym R) {
  return KERNEL(name, body, P(A, row), P(R, row));
}

/* What R holds after a run on A = 1, 2, .., or the fault. */
static const char *outcome(const TdProg *p, const TdEvalOptions *o) {
  const TdType *row = td_prog_root(p)->param[0].type;
  TdTensor *a = td_tensor_new(B.a, row, false), *r = td_tensor_new(B.a, row, true);
  for (int64_t i = 0; i < a->extent[0]; i++) td_tensor_put(a, &i, (uint64_t)i + 1);
  TdEvalArg arg[] = {{.tensor = a}, {.tensor = r}};
  failure = (TdDiag){.arena = B.a};
  if (!td_eval_run(B.a, p, arg, 2, o, &failure, &result))
    return td_text_fmt(B.a, "%s:%u", failure.code, failure.loc.line);
  TdText out = td_text_new(B.a);
  for (int64_t i = 0; i < r->extent[0]; i++) {
    if (i) td_text_putc(&out, ' ');
    if (td_tensor_is_written(r, &i))
      td_num_print(&out, B.i32, td_tensor_get(r, &i));
    else
      td_text_putc(&out, '-');
  }
  return td_text_str(&out);
}

/* Whether a note of the last failure holds the text. */
static void notes(const char *text, const char *name) {
  bool found = false;
  for (size_t i = 0; i < failure.notes.n; i++)
    found |= strstr(failure.notes.at[i].text, text) != NULL;
  ok(found, name);
  for (size_t i = 0; i < failure.notes.n && !found; i++)
    printf("#   %s\n", failure.notes.at[i].text);
}

/* Producer of n tokens A[i] and consumer of m into R. */
static const char *pipe_of(int64_t n, int64_t m, int64_t depth) {
  Net x = net(T(B.i32, 4));
  TdSym Z = stream("Z"), i = loop("i"), v = local("v"), A = arg("A"), R = arg("R"), A2 = arg("A"),
        R2 = arg("R");
  const TdType *port = add_stream(x.d, Z, B.i32, 1, depth, false);
  const TdExpr *z = element_of(Z, port, num(0));
  task(&x, kernel("prod", x.row, BLOCK(FOR(i, num(0), num(n), put(z, LD(A, B.i32, var(i))))), A, R),
       0, NULL, NULL);
  task(&x,
       kernel("cons", x.row,
              BLOCK(FOR(i, num(0), num(m), take(v, z),
                        store(LD(R2, B.i32, var(i)), OP(MUL, get(v, B.i32), lit(B.i32, 10))))),
              A2, R2),
       0, NULL, NULL);
  return outcome(program(&x), &(TdEvalOptions){.log = true});
}

static void test_pipe(void) {
  is_text(pipe_of(4, 4, 1), "10 20 30 40", "producer and consumer at depth 1");
  ok(result.nstream == 1 && result.stream[0].tokens == 4, "its stream is logged");
  uint64_t h = result.stream[0].hash;
  pipe_of(4, 4, 3);
  ok(result.stream[0].hash == h, "with a hash that no depth changes");
  is_text(pipe_of(4, 2, 2), "leftover:1", "tokens left over");
  is_text(failure.message, "Z[0] is not empty at the end: 4 tokens were put, 2 were got",
          "both counts");
  notes("Z[0] holds 3, 4", "and the tokens");
  is_text(pipe_of(2, 4, 2), "deadlock:1", "too few tokens");
  notes("the task at the other end has ended", "say that nobody puts");
}

/* func0 and func1 pass tokens to and fro; get_first: each waits before it puts. */
static const char *ring(bool get_first) {
  Net x = net(T(B.i32, 2));
  TdSym AB = stream("sAB"), BA = stream("sBA"), i = loop("i"), v = local("v");
  const TdType *p = add_stream(x.d, AB, B.i32, 1, 1, false);
  add_stream(x.d, BA, B.i32, 1, 1, false);
  TdSym to[] = {AB, BA}, from[] = {BA, AB};
  for (int k = 0; k < 2; k++) {
    TdSym A = arg("A"), R = arg("R");
    const TdExpr *out = element_of(to[k], p, num(0)), *in = element_of(from[k], p, num(0));
    B.line = (uint32_t)k + 4;
    const TdStmt *sends = put(out, LD(A, B.i32, num(k))), *gets = take(v, in);
    const TdStmt *keep = store(LD(R, B.i32, num(k)), get(v, B.i32));
    const TdStmt *body = get_first ? BLOCK(gets, sends, keep) : BLOCK(sends, gets, keep);
    B.line = 1;
    task(&x, kernel(k ? "func1" : "func0", x.row, BLOCK(FOR(i, num(0), num(3), body)), A, R), 0,
         NULL, NULL);
  }
  return outcome(program(&x), NULL);
}

static void test_deadlock(void) {
  is_text(ring(false), "2 1", "a put-then-get ring at depth 1 runs");
  is_text(ring(true), "deadlock:4", "a get-first ring does not");
  ok(failure.kind == TD_ILLEGAL, "which is illegal");
  notes("func0 at i = 0 waits to get from sBA[0], which holds 0 of 1 tokens", "who waits for what");
  notes("wait cycle: func0 -> sBA[0] -> func1 -> sAB[0] -> func0", "the cycle");
  ok(failure.notes.n && failure.notes.at[0].loc.line == 4, "with the line");
}

/* Two instances write R[f(id)] and read R[g(id)]. */
static const char *sharing(int64_t write_step, int64_t read_at) {
  Net x = net(T(B.i32, 4));
  TdSym A = arg("A"), R = arg("R"), t = coord("t"), v = local("v");
  B.line = 2;
  const TdStmt *writes =
      store(LD(R, B.i32, OP(MUL, var(t), num(write_step))), LD(A, B.i32, var(t)));
  B.line = 3;
  const TdStmt *reads = IF(OP(EQ, var(t), num(1)), declare(v, B.i32, LD(R, B.i32, num(read_at))));
  B.line = 1;
  const TdStmt *body = read_at < 0 ? BLOCK(writes) : BLOCK(writes, reads);
  task(&x, IDS(kernel("pe", x.row, body, A, R), t), MAP(2), NULL);
  return outcome(program(&x), NULL);
}

static void test_race(void) {
  is_text(sharing(1, -1), "1 2 - -", "instances write elements of their own");
  is_text(sharing(0, -1), "race:2", "two write one");
  ok(failure.witness && strcmp(failure.witness->element, "R[0]") == 0 &&
         strcmp(failure.witness->first_at, "pe[0]") == 0 &&
         strcmp(failure.witness->second_at, "pe[1]") == 0,
     "with both instances");
  is_text(sharing(1, 0), "race:3", "one reads what another wrote");
  ok(failure.witness && failure.witness->first.line == 2 && failure.witness->second.line == 3,
     "with both lines");
  is_text(sharing(1, 1), "1 2 - -", "or what it wrote itself");
}

/* pe[0] reads A[1], then pe[1] writes it. */
static void test_late_write(void) {
  Net x = net(T(B.i32, 2));
  TdSym A = arg("A"), R = arg("R"), t = coord("t");
  B.line = 2;
  const TdStmt *reads =
      IF(OP(EQ, var(t), num(0)), store(LD(R, B.i32, num(0)), LD(A, B.i32, num(1))));
  B.line = 3;
  const TdStmt *writes = IF(OP(EQ, var(t), num(1)), store(LD(A, B.i32, num(1)), lit(B.i32, 0)));
  B.line = 1;
  task(&x, IDS(kernel("pe", x.row, BLOCK(reads, writes), A, R), t), MAP(2), NULL);
  is_text(outcome(program(&x), NULL), "race:3", "one writes what another has read");
}

/* fill and use over a block stream: the token is the storage. */
static const char *ping_pong(int64_t depth, int64_t gets, bool after_put) {
  Net x = net(T(B.i32, 3));
  const TdType *token = T(B.i32, 2);
  TdSym Z = stream("Z"), i = loop("i"), b = local("b"), c = local("c"), A = arg("A"), R = arg("R"),
        A2 = arg("A"), R2 = arg("R");
  const TdType *port = add_stream(x.d, Z, token, 1, depth, true);
  const TdExpr *z = element_of(Z, port, num(0));
  const TdStmt *first = store(LD(b, B.i32, num(0)), LD(A, B.i32, var(i)));
  const TdStmt *second =
      store(LD(b, B.i32, num(1)), OP(MUL, LD(A, B.i32, var(i)), LD(b, B.i32, num(0))));
  const TdStmt *fill = after_put ? BLOCK(slot(b, z), first, put(z, whole(b, token)), second)
                                 : BLOCK(slot(b, z), first, second, put(z, whole(b, token)));
  const TdExpr *sum = OP(ADD, LD(c, B.i32, num(0)), LD(c, B.i32, num(1)));
  const TdStmt *use = BLOCK(take(c, z), store(LD(R2, B.i32, var(i)), sum));
  task(&x, kernel("fill", x.row, BLOCK(FOR(i, num(0), num(3), fill)), A, R), 0, NULL, NULL);
  task(&x, kernel("use", x.row, BLOCK(FOR(i, num(0), num(gets), use)), A2, R2), 0, NULL, NULL);
  return outcome(program(&x), NULL);
}

static void test_block_stream(void) {
  is_text(ping_pong(2, 3, false), "2 6 12", "a block stream of depth 2");
  is_text(ping_pong(1, 3, false), "2 6 12", "and of depth 1");
  is_text(ping_pong(1, 1, false), "deadlock:1", "a slot that never comes free");
  notes("waits for a free buffer of Z[0] (1 in all: 1 full, 0 taken)", "is told");
  is_text(ping_pong(2, 3, true), "no-longer-held:1", "a slot that was put is gone");
}

/* Each instance of the map adds its id to its block of A. */
static const char *layout(int64_t n, const char *how, int rank, const int64_t *map, bool by_id) {
  Net x = net(T(B.i32, n));
  TdSym A = arg("A"), R = arg("R"), t = coord("t"), u = coord("u"), i = loop("i");
  int64_t local_n = n / map[0];
  const TdType *part_type = T(B.i32, local_n);
  const TdExpr *sum = OP(ADD, LD(A, B.i32, var(i)), cast(B.i32, by_id ? var(u) : num(0)));
  TdUnit *k = KERNEL("pe", BLOCK(FOR(i, num(0), num(local_n), store(LD(R, B.i32, var(i)), sum))),
                     P(A, part_type), P(R, part_type));
  task(&x, rank == 2 ? IDS(k, t, u) : IDS(k, u), rank, map, how);
  return outcome(program(&x), NULL);
}

static void test_layout(void) {
  is_text(layout(4, "S0", MAP(2), true), "1 2 4 5", "blocks by S0");
  is_text(layout(6, "S0", MAP(3, 2), false), "1 2 3 4 5 6", "copies along an axis that are equal");
  is_text(layout(6, "S0", MAP(3, 2), true), "copies-differ:1", "and that are not");
  is_text(layout(4, "S2", MAP(2), true), "layout:1", "an axis that is not there");
  is_text(layout(5, "S0", MAP(2), true), "layout:1", "a dimension that does not split");
}

/* Instances of a 3-D grid, in lexicographic order, send their ordinal down one chain each. */
static void test_grid(void) {
  Net x = net(T(B.i32, 8));
  TdSym id[] = {coord("a"), coord("b"), coord("c")}, A = arg("A"), R = arg("R");
  const TdExpr *at =
      OP(ADD, OP(MUL, OP(ADD, OP(MUL, var(id[0]), num(2)), var(id[1])), num(2)), var(id[2]));
  const TdExpr *value = OP(MUL, LD(A, B.i32, at), lit(B.i32, 3));
  TdUnit *k = kernel("pe", x.row, BLOCK(store(LD(R, B.i32, at), value)), A, R);
  task(&x, with_ids(k, 3, id), MAP(2, 2, 2), NULL);
  is_text(outcome(program(&x), NULL), "3 6 9 12 15 18 21 24", "a 3-D grid");
}

/* A task that calls a design twice; inner tasks of the two calls may share, tasks of one may not.
 */
static void test_nested(void) {
  Net x = net(T(B.i32, 2)), in = net(T(B.i32, 2));
  TdSym Z = stream("Z"), v = local("v"), t = coord("t"), A = arg("A"), R = arg("R"), A2 = arg("A"),
        R2 = arg("R");
  const TdType *port = add_stream(in.d, Z, B.i32, 1, 1, false);
  const TdExpr *z = element_of(Z, port, num(0)), *r0 = LD(R2, B.i32, num(0));
  task(&in, kernel("send", in.row, BLOCK(put(z, LD(A, B.i32, num(1)))), A, R), 0, NULL, NULL);
  task(&in,
       kernel("keep", in.row, BLOCK(take(v, z), store(r0, OP(ADD, get(v, B.i32), r0))), A2, R2), 0,
       NULL, NULL);
  program(&in);
  TdSym OA = arg("A"), OR = arg("R");
  const TdStmt *once = CALL(in.d, whole(OA, x.row), whole(OR, x.row));
  const TdStmt *zero = store(LD(OR, B.i32, num(0)), lit(B.i32, 0));
  TdUnit *outer = kernel("outer", x.row, BLOCK(zero, once, once), OA, OR);
  TdUnit *twice = IDS(kernel("outer", x.row, BLOCK(zero, once), OA, OR), t);
  Net y = x;
  for (size_t i = 0; i < in.n; i++) x.unit[x.n++] = y.unit[y.n++] = in.unit[i];
  y.d = UNIT(DESIGN, "top", P(y.A, y.row), P(y.R, y.row));
  task(&x, outer, 0, NULL, NULL);
  is_text(outcome(program(&x), NULL), "4 -", "a task calls a design twice");
  task(&y, twice, MAP(2), NULL);
  is_text(outcome(program(&y), NULL), "race:1", "two tasks that call it on one argument race");
}

/* Two calls of one design, in which the instances change places. */
static void test_calls_in_turn(void) {
  Net in = net(T(B.i32, 2)), x = net(T(B.i32, 4));
  TdSym A = arg("A"), R = arg("R"), t = coord("t"), OA = arg("A"), OR = arg("R");
  const TdExpr *half = OP(FLOORDIV, LD(A, B.i32, var(t)), lit(B.i32, 2));
  const TdExpr *at = cast(B.idx, OP(MOD, half, lit(B.i32, 2)));
  const TdStmt *body = BLOCK(store(LD(R, B.i32, at), LD(A, B.i32, var(t))));
  task(&in, IDS(kernel("pe", in.row, body, A, R), t), MAP(2), NULL);
  program(&in);
  const TdStmt *first = CALL(in.d, part(OA, in.row, num(0), 1), part(OR, in.row, num(0), 1));
  const TdStmt *second = CALL(in.d, part(OA, in.row, num(2), 1), part(OR, in.row, num(0), 1));
  for (size_t i = 0; i < in.n; i++) x.unit[x.n++] = in.unit[i];
  task(&x, kernel("outer", x.row, BLOCK(first, second), OA, OR), 0, NULL, NULL);
  is_text(outcome(program(&x), NULL), "4 3 - -", "calls of a design do not race with each other");
}

/* Every instance adds up what all hold, twice. */
static void test_allreduce(void) {
  Net x = net(T(B.i32, 3));
  const TdType *one = T(B.i32, 1);
  TdSym A = arg("A"), R = arg("R"), u = coord("u"), i = loop("i"), L = local("L");
  const TdExpr *in = whole(R, one);
  const TdExpr *all = td_expr_tensor(B.a, TD_OP_ALLREDUCE, one, &in, 1, TD_OP_ADD, 0, here());
  const TdStmt *body = BLOCK(set(whole(R, one), whole(A, one)),
                             FOR(i, num(0), num(2), declare(L, one, all), set(in, whole(L, one))));
  TdUnit *k = KERNEL("pe", body, P(A, one), P(R, one));
  task(&x, IDS(k, u), MAP(3), "S0");
  is_text(outcome(program(&x), NULL), "18 18 18", "an allreduce in a loop");
}

/* One consumer of a stream that two instances put to. */
static void test_ends(void) {
  Net x = net(T(B.i32, 2));
  TdSym Z = stream("Z"), v = local("v"), t = coord("t"), A = arg("A"), R = arg("R"), A2 = arg("A"),
        R2 = arg("R");
  const TdType *port = add_stream(x.d, Z, B.i32, 1, 2, false);
  const TdExpr *z = element_of(Z, port, num(0));
  task(&x, IDS(kernel("send", x.row, BLOCK(put(z, LD(A, B.i32, var(t)))), A, R), t), MAP(2), NULL);
  task(&x,
       kernel("keep", x.row,
              BLOCK(take(v, z), take(v, z), store(LD(R2, B.i32, num(0)), get(v, B.i32))), A2, R2),
       0, NULL, NULL);
  is_text(outcome(program(&x), NULL), "stream-ends:1", "two producers of one stream");
  is_text(failure.message, "both send[0] and send[1] put to Z[0]", "are named");
}

int main(void) {
  void (*const test[])(void) = {test_pipe,          test_deadlock,     test_race,   test_late_write,
                                test_calls_in_turn, test_block_stream, test_layout, test_grid,
                                test_nested,        test_allreduce,    test_ends};
  for (size_t i = 0; i < sizeof test / sizeof *test; i++) {
    build_open();
    test[i]();
    build_close();
  }
  return done_testing();
}
