/* bounds_test.c - index ranges and facts at statements, on programs written out and against
 * enumeration. */
#include "tests/unit/tap.h"
#include "tests/unit/trace.h"

#include <time.h>

#include "analysis/range/bounds.h"
#include "analysis/range/range.h"

static TdSession *session;
static TdAffine *affine;
static TdArena *results;

/* A query on the kernel m with this body. */
static TdAsk ask(Mini *m, const TdStmt *body) {
  return (TdAsk){affine, results, mini_prog(m, body), m->unit};
}

/* "in", "in at values: 1 of 'A'", "unproved: ..", or the error. */
static const char *verdict(Mini *m, const char *text) {
  TdAsk q = ask(m, mini_parse(m, text));
  const TdBoundsItem *item;
  size_t n;
  TdDiag d = {.arena = results};
  if (!td_bounds_check(&q, &item, &n, &d))
    return d.notes.n ? td_text_fmt(results, "%s %s", d.message, d.notes.at[0].text) : d.message;
  if (!n) return "in";
  return td_text_fmt(results, "%s: %d of '%s'",
                     item[0].kind == TD_BOUNDS_AT_VALUES ? "in at values" : "unproved", item[0].dim,
                     item[0].expr->sym->name);
}

/* One program in a kernel of its own. */
static void check(const char *name, const char *sizes, const char *params, const char *text,
                  const char *want) {
  Mini *m = mini_new(session, sizes, params);
  is_text(verdict(m, text), want, name);
  mini_free(m);
}

static void test_written(void) {
  const char *params = "A[M][K] B[K][N] x:i32[N] s:index";
  check("a rectangle", "M N K", params, "for i = 0, M { for k = 0, K { A[i][k] = 1; } }", "in");
  check("Lua's inclusive bound", "M=8 N=8 K=40", params,
        "for i = 0, M { for k = 0, K + 1 { A[i][k] = 1; } }",
        "index 40 is out of range for dimension 1 of 'A' (size 40) when i = 0, k = 40");
  check("the same for any size", "M N K", params,
        "for i = 0, M { for k = 0, K + 1 { A[i][k] = 1; } }",
        "index 0 is out of range for dimension 1 of 'A' (size 0) when i = 0, k = 0");
  check("a constant that needs a size", "M=8 N=8 K=8", params, "A[0][5] = 1;",
        "in at values: 0 of 'A'");
  check("a constant that some sizes do not hold", "M N K", params, "A[0][5] = 1;",
        "unproved: 0 of 'A'");
  check("a triangle", "M N K", "A[N][N]",
        "for i = 0, N { for j = i + 1, N { A[i][j] = A[j - 1][i]; } }", "in");
  check("a stencil", "N", "A[N] B[N]", "for i = 1, N - 1 { B[i] = A[i - 1] + A[i + 1]; }", "in");
  check("a stencil too wide", "N=9", "A[N] B[N]", "for i = 0, N - 1 { B[i] = A[i - 1]; }",
        "index -1 is out of range for dimension 0 of 'A' (size 9) when i = 0");
  check("a tile with its guard", "N", "A[N]",
        "for io = 0, (N + 7) // 8 { for ii = 0, 8 { if 8 * io + ii < N { A[8 * io + ii] = 1; } } }",
        "in");
  check("a tile with a short end", "N", "A[N]",
        "for io = 0, (N + 7) // 8 { for ii = 0, min(8, N - 8 * io) { A[8 * io + ii] = 1; } }",
        "in");
  check("// and %", "N", "A[N][4]", "for i = 0, 4 * N { A[i // 4][i % 4] = 1; }", "in");
  check("an unknown subscript", "M N K", params, "for i = 0, N { x[x[i]] = 1; }",
        "unproved: 0 of 'x'");
  check("a guard on data", "N=8", "A[N] x:i32[N]", "for i = 0, N { if x[i] > 0 { A[i + 1] = 1; } }",
        "unproved: 0 of 'A'");
  check("a statement that never runs", "N=8", "A[N]", "for i = 4, 4 { A[i + 20] = 1; }", "in");
  check("a loop left early", "N=8", "A[N]", "for i = 0, N { if A[i] > 0 { break; } A[i + 1] = 1; }",
        "unproved: 0 of 'A'");
  check("a scalar parameter", "M N K", params, "A[0][s] = 1;", "unproved: 0 of 'A'");
  check("a local tensor", "N", "A[N]", "for i = 0, N { local b[4]; b[i % 4] = A[i]; }", "in");
}

static void test_range(void) {
  Mini *m = mini_new(session, "N=20 K", "A[N]");
  const TdStmt *b = mini_parse(m, "for i = 2, N { for j = i, N, 3 { S: A[j] = A[i]; } }"
                                  "for k = 0, K { A[k] = 1; }");
  TdAsk q = ask(m, b);
  const TdStmt *in = b->kid[0]->kid[0]->kid[0]->kid[0]->kid[0];
  int64_t lo, hi, n;
  ok(td_range_of(&q, in, mini_index(m, "3 * i - j"), &lo, &hi) && lo == -11 && hi == 38,
     "range of an index under two loops");
  ok(!td_range_of(&q, b->kid[1]->kid[0]->kid[0], mini_index(m, "k"), &lo, &hi),
     "no range without a value of the size");
  ok(td_range_holds(&q, in, mini_index(m, "i <= j"), false) == TD_YES, "what loops say holds");
  ok(td_range_holds(&q, in, mini_index(m, "i < j"), false) == TD_NO, "what they refute does not");
  ok(td_range_holds(&q, b->kid[0], mini_index(m, "N % 4 == 0"), false) == TD_NO &&
         td_range_holds(&q, b->kid[0], mini_index(m, "N % 4 == 0"), true) == TD_YES,
     "what holds at the values only");
  mini_assert(m, "K % 8 == 0");
  ok(td_range_holds(&q, b->kid[1], mini_index(m, "K // 4 * 4 == K"), false) == TD_YES,
     "what an assert says holds");
  ok(td_range_trip(&q, b->kid[0], &n) && n == 18, "a trip count");
  ok(!td_range_trip(&q, b->kid[0]->kid[0]->kid[0], &n), "none of a loop that varies");
  ok(td_range_runs(&q, b->kid[0], true) && !td_range_runs(&q, b->kid[0], false) &&
         td_range_runs(&q, b->kid[0]->kid[0]->kid[0], false),
     "loops that run at least once");
  is_text(td_print_expr_str(results, td_range_trip_expr(&q, b->kid[0]->kid[0]->kid[0])),
          td_print_expr_str(results,
                            td_lin_simplify(session, results, mini_index(m, "(N - i + 2) // 3"))),
          "a trip count as an expression");
  mini_free(m);
}

/* The next random number below n. */
static int roll(uint64_t *seed, int n) {
  return trace_random(seed, n);
}

/* A random nest of one store to X[a][b], with extents that hold it or nearly. */
static const char *random_nest(uint64_t *seed) {
  TdText t = td_text_new(results);
  const char *const v[] = {"i", "j", "k"};
  int depth = 1 + roll(seed, 3);
  for (int d = 0; d < depth; d++) {
    const char *outer = d ? v[roll(seed, d)] : "1";
    const char *const lo[] = {"0", "1", outer, "max(1, 2)"};
    const char *const hi[] = {"3", "N", "4", "2 * N - 3"};
    const char *const step[] = {"", "", ", 2"};
    td_text_putf(&t, "for %s = %s, ", v[d], lo[roll(seed, 4)]);
    if (roll(seed, 3))
      td_text_puts(&t, hi[roll(seed, 4)]);
    else
      td_text_putf(&t, "min(%s + 2, N)", outer);
    td_text_putf(&t, "%s { ", step[roll(seed, 3)]);
  }
  const char *x = v[roll(seed, depth)], *y = v[roll(seed, depth)];
  const char *const guard[] = {"if 0 == 0 ", "if %s == %s ", "if %s < %s ", "if %s + %s ~= 3 ",
                               "if %s %% 2 == 1 or %s > 2 "};
  td_text_puts(&t, td_text_fmt(results, guard[roll(seed, 5)], x, y));
  const char *const index[] = {"%s + %s",        "2 * %s - %s",        "%s",         "%s - %s + 2",
                               "(%s + %s) // 2", "(%s + 2 * %s) %% 5", "max(%s, %s)"};
  td_text_puts(&t, "{ X[");
  td_text_puts(&t, td_text_fmt(results, index[roll(seed, 7)], x, y));
  td_text_puts(&t, "][");
  td_text_puts(&t, td_text_fmt(results, index[roll(seed, 7)], y, x));
  td_text_puts(&t, "] = 1; }");
  for (int d = 0; d < depth; d++) td_text_puts(&t, " }");
  return td_text_str(&t);
}

/* Whether some event of the trace is out of range; *said tells whether d names one of them. */
static bool is_out(const Trace *t, const int64_t *extent, const TdDiag *d, bool *said) {
  bool out = false;
  *said = false;
  for (size_t k = 0; k < t->at.n; k++)
    for (int x = 0; x < 2; x++) {
      int64_t v = t->at.at[k].cell[0].index[x];
      if (v >= 0 && v < extent[x]) continue;
      out = true;
      const char *text =
          td_text_fmt(results, "index %lld is out of range for dimension %d of 'X' (size %lld)",
                      (long long)v, x, (long long)extent[x]);
      *said |= d->message && strcmp(text, d->message) == 0;
    }
  return out;
}

static void test_random(int cases, uint64_t seed) {
  int wrong = 0, vague = 0, unsaid = 0, outs = 0;
  uint64_t first = seed;
  for (int i = 0; i < cases; i++) {
    int64_t size = 3 + roll(&seed, 3), extent[2] = {3 + roll(&seed, 6), 3 + roll(&seed, 6)};
    Mini *m = mini_new(session, td_text_fmt(results, "N=%d", (int)size),
                       td_text_fmt(results, "X[%d][%d]", (int)extent[0], (int)extent[1]));
    const char *text = random_nest(&seed);
    const TdStmt *b = mini_parse(m, text);
    TdAsk q = ask(m, b);
    Trace t = trace_of(results, m->unit, b);
    const TdBoundsItem *item;
    size_t n;
    TdDiag d = {.arena = results};
    bool in = td_bounds_check(&q, &item, &n, &d), said, out = is_out(&t, extent, &d, &said);
    bool unproved = false;
    for (size_t k = 0; in && k < n; k++) unproved |= item[k].kind == TD_BOUNDS_UNPROVED;
    outs += out;
    if (in == out)
      printf("# wrong: %s X[%d][%d] N=%d\n", text, (int)extent[0], (int)extent[1], (int)size);
    wrong += in == out;
    vague += unproved;
    unsaid += !in && !said;
    mini_free(m);
  }
  printf("# %d random nests from seed %llu, %d out of range\n", cases, (unsigned long long)first,
         outs);
  ok(wrong == 0 && vague == 0, "range checks agree with enumeration");
  ok(unsaid == 0, "errors name an index that occurs");
  ok(outs > cases / 10 && outs < cases * 9 / 10, "both kinds occur");
}

static void test_speed(void) {
  TdText t = td_text_new(results);
  Mini *m = mini_new(session, "N=64", "A[N][N] B[N][N] C[N][N]");
  for (int n = 0; n < 250; n++)
    td_text_putf(&t,
                 "for i%d = 1, N - 1 { for j%d = 0, i%d { A[i%d][j%d] = B[j%d][i%d + 1];"
                 " C[i%d][j%d] = A[i%d - 1][j%d]; C[%d][j%d] = A[i%d][0]; B[0][i%d] = 1; } }",
                 n, n, n, n, n, n, n, n, n, n, n, n % 64, n, n, n);
  const TdStmt *b = mini_parse(m, td_text_str(&t));
  TdAsk q = ask(m, b);
  const TdBoundsItem *item;
  size_t n;
  TdDiag d = {.arena = results};
  uint64_t solved = td_affine_count(affine).solved;
  struct timespec from, to;
  clock_gettime(CLOCK_MONOTONIC, &from);
  bool in = td_bounds_check(&q, &item, &n, &d);
  clock_gettime(CLOCK_MONOTONIC, &to);
  printf("# 1000 statements: %.2f ms, %llu questions reached isl\n",
         (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6,
         (unsigned long long)(td_affine_count(affine).solved - solved));
  ok(in && n < 250, "a kernel of 1000 statements is in range");
  mini_free(m);
}

int main(int argc, char **argv) {
  TdCtx *c = td_ctx_new();
  session = td_session_new(c);
  results = td_arena_new(c);
  affine = td_affine_new(results);
  test_written();
  test_range();
  test_random(argc > 1 ? atoi(argv[1]) : 2000, argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
  test_speed();
  td_arena_free(results);
  td_session_free(session);
  td_ctx_free(c);
  return done_testing();
}
