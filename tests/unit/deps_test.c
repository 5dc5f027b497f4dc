/* deps_test.c - the order check and the questions about one tree, on programs written out. */
#include "tests/unit/mini.h"
#include "tests/unit/tap.h"

#include <time.h>

#include "analysis/order/loop_carried.h"
#include "analysis/order/deps.h"
#include "analysis/order/effects.h"

static TdSession *session;
static TdAffine *affine;
static TdArena *results;

/* Milliseconds of all checks so far. */
static double spent[512];
static size_t nspent;

/* A query on the kernel m with this body. */
static TdAsk ask(Mini *m, const TdStmt *body) {
  return (TdAsk){affine, results, mini_prog(m, body), m->unit};
}

/* "i = 8*io + ii; j@S = jo" as a map; @S speaks of statement S alone. */
static size_t parse_map(Mini *m, const char *text, TdDepsMap *map) {
  size_t n = 0;
  for (m->at = text; mini_skip(m), *m->at;) {
    MiniName *old = mini_find(m, mini_word(m));
    uint32_t uid = 0;
    TdSym sym = old->sym;
    if (mini_take(m, "@")) uid = mini_find(m, td_text_fmt(m->a, "#%s", mini_word(m)))->uid;
    mini_need(m, "=");
    map[n++] = (TdDepsMap){uid, sym, mini_expr(m)};
    if (!mini_take(m, ";")) break;
  }
  return n;
}

/* Checks one rewrite of the first statement of `before` (or of all of it). */
static TdVerdict order(Mini *m, const char *before, const char *after, const char *map) {
  TdDepsMap all[16];
  const TdStmt *old = mini_parse(m, before), *new = mini_parse(m, after);
  TdAsk q = ask(m, old);
  size_t n = parse_map(m, map, all);
  struct timespec from, to;
  clock_gettime(CLOCK_MONOTONIC, &from);
  bool one = old->nkid == 1 && new->nkid == 1;
  TdVerdict v = td_deps_order(&q, one ? old->kid[0] : old, one ? new->kid[0] : new, all, n);
  clock_gettime(CLOCK_MONOTONIC, &to);
  if (nspent < 512)
    spent[nspent++] =
        (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6;
  return v;
}

/* A verdict as text: "legal", "reassoc", "unknown: ..", "A[0][1]: i = 0 -> i = 1". */
static const char *text_of(const TdVerdict *v) {
  switch (v->kind) {
  case TD_VERDICT_LEGAL: return "legal";
  case TD_VERDICT_REASSOC: return v->ring ? "reassoc, exact" : "reassoc";
  case TD_VERDICT_UNKNOWN: return td_text_fmt(results, "unknown: %s", v->why);
  default:
    return td_text_fmt(results, "%s%s: %s -> %s%s%s", v->exact ? "" : "perhaps ",
                       v->witness.element, v->witness.first_at, v->witness.second_at,
                       v->sizes ? " when " : "", v->sizes ? v->sizes : "");
  }
}

/* One rewrite in a kernel of its own. */
static void check(const char *name, const char *sizes, const char *params, const char *before,
                  const char *after, const char *map, const char *want) {
  Mini *m = mini_new(session, sizes, params);
  TdVerdict v = order(m, before, after, map);
  is_text(text_of(&v), want, name);
  mini_free(m);
}

#define GEMM "C[i][j] = C[i][j] + A[i][k] * B[k][j];"
#define GEMM_OLD "for i = 0, M { for j = 0, N { for k = 0, K { " GEMM " } } }"

static void test_gemm(void) {
  static const char *const head[] = {"for i = 0, M { ", "for j = 0, N { ", "for k = 0, K { "};
  static const int perm[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  const char *params = "A[M][K] B[K][N] C[M][N]";
  for (int p = 0; p < 6; p++) {
    const char *after = td_text_fmt(results, "%s%s%s %s } } }", head[perm[p][0]], head[perm[p][1]],
                                    head[perm[p][2]], GEMM);
    check("gemm in each loop order", "M=8 N=8 K=8", params, GEMM_OLD, after, "", "legal");
  }
  const char *back = "for i = 0, M { for j = 0, N { for r = 0, K {"
                     "C[i][j] = C[i][j] + A[i][K - 1 - r] * B[K - 1 - r][j]; } } }";
  check("gemm with k reversed", "M=8 N=8 K=8", params, GEMM_OLD, back, "k = K - 1 - r", "reassoc");
  check("the same on integers", "M=8 N=8 K=8", "A:i8[M][K] B:i8[K][N] C:i32[M][N]", GEMM_OLD, back,
        "k = K - 1 - r", "reassoc, exact");
  check("a store that is no accumulation", "M=8 N=8 K=8", params,
        "for i = 0, M { for j = 0, N { for k = 0, K { C[i][j] = A[i][k] * B[k][j]; } } }",
        "for i = 0, M { for j = 0, N { for r = 0, K {"
        " C[i][j] = A[i][K - 1 - r] * B[K - 1 - r][j]; } } }",
        "k = K - 1 - r", "C[0][0]: i = 0, j = 0, k = 0 -> i = 0, j = 0, k = 1");
  check("gemm in tiles", "M N K", params, GEMM_OLD,
        "for io = 0, (M + 7) // 8 { for jo = 0, (N + 7) // 8 { for ko = 0, (K + 3) // 4 {"
        "for ki = 0, min(4, K - 4 * ko) { for ii = 0, min(8, M - 8 * io) {"
        "for ji = 0, min(8, N - 8 * jo) {"
        "C[8 * io + ii][8 * jo + ji] = C[8 * io + ii][8 * jo + ji] +"
        " A[8 * io + ii][4 * ko + ki] * B[4 * ko + ki][8 * jo + ji]; } } } } } }",
        "i = 8 * io + ii; j = 8 * jo + ji; k = 4 * ko + ki", "legal");
  check("k split with its halves exchanged", "M=8 N=8 K=8", params, GEMM_OLD,
        "for i = 0, M { for j = 0, N { for ki = 0, 4 { for ko = 0, K // 4 {"
        "C[i][j] = C[i][j] + A[i][4 * ko + ki] * B[4 * ko + ki][j]; } } } }",
        "k = 4 * ko + ki", "reassoc");
}

static void test_stencils(void) {
  const char *swap = "for j = 1, N - 1 { for i = 1, N { %s } }";
  const char *bad = "A[i][j] = A[i - 1][j + 1] + 1;", *good = "A[i][j] = A[i - 1][j - 1] + 1;";
  const char *nest = "for i = 1, N { for j = 1, N - 1 { %s } }";
  check("interchange across (1, -1)", "N=8", "A[N][N]", td_text_fmt(results, nest, bad),
        td_text_fmt(results, swap, bad), "", "A[1][2]: i = 1, j = 2 -> i = 2, j = 1");
  check("interchange across (1, 1)", "N=8", "A[N][N]", td_text_fmt(results, nest, good),
        td_text_fmt(results, swap, good), "", "legal");
  check("a violation that needs other sizes", "N=3", "A[N][N]", td_text_fmt(results, nest, bad),
        td_text_fmt(results, swap, bad), "", "A[1][2]: i = 1, j = 2 -> i = 2, j = 1 when N = 4");
  check("skewed, then interchanged", "N=8", "A[N][N]", td_text_fmt(results, nest, bad),
        "for s = 2, 2 * N - 2 { for i = max(1, s - N + 2), min(N, s) {"
        "A[i][s - i] = A[i - 1][s - i + 1] + 1; } }",
        "j = s - i", "legal");
  check("the same with the inner loop backwards", "N=8", "A[N][N]", td_text_fmt(results, nest, bad),
        "for s = 2, 2 * N - 2 { for r = max(1, s - N + 2), min(N, s) {"
        "A[s - r][r] = A[s - r - 1][r + 1] + 1; } }",
        "i = s - r; j = r", "A[1][2]: i = 1, j = 2 -> i = 2, j = 1");
}

static void test_triangles(void) {
  const char *solve = "for i = 0, N { for j = 0, i { x[i] = x[i] - L[i][j] * x[j]; } }";
  check("a triangular solve, by columns", "N=8", "L[N][N] x[N]", solve,
        "for j = 0, N { for i = j + 1, N { x[i] = x[i] - L[i][j] * x[j]; } }", "", "legal");
  check("a triangular solve, backwards", "N=8", "L[N][N] x[N]", solve,
        "for r = 0, N { for j = 0, N - 1 - r {"
        "x[N - 1 - r] = x[N - 1 - r] - L[N - 1 - r][j] * x[j]; } }",
        "i = N - 1 - r", "x[1]: i = 1, j = 0 -> i = 2, j = 1");
}

static void test_guards(void) {
  check("guards that keep iterations apart", "N=8", "A[N] B[N]",
        "for i = 0, N { if i < 4 { A[i] = 1; } if i % 2 == 1 { B[i] = A[i - i % 2]; } }",
        "for r = 0, N { if N - 1 - r < 4 { A[N - 1 - r] = 1; }"
        "if (N - 1 - r) % 2 == 1 { B[N - 1 - r] = A[N - 1 - r - (N - 1 - r) % 2]; } }",
        "i = N - 1 - r", "A[0]: i = 0 -> i = 1");
  check("guards that part what is written and read", "N=8", "A[N]",
        "for i = 0, N { if i % 2 == 1 { A[i] = A[i - 1] + 1; } }",
        "for r = 0, N { if (N - 1 - r) % 2 == 1 { A[N - 1 - r] = A[N - 1 - r - 1] + 1; } }",
        "i = N - 1 - r", "legal");
  check("a guard on data may be true", "N=8", "A[N] m:i32[N]",
        "for i = 1, N { if m[i] > 0 { A[i] = A[i - 1] + 1; } }",
        "for r = 0, N - 1 { if m[N - 1 - r] > 0 { A[N - 1 - r] = A[N - 2 - r] + 1; } }",
        "i = N - 1 - r", "perhaps A[1]: i = 1 -> i = 2");
  check("a disjunction, and an assert that refutes it", "N", "A[16]",
        "for i = 0, 8 { if i == 1 or i == N { A[i] = A[8 - i] + 1; } }",
        "for r = 0, 8 { if 7 - r == 1 or 7 - r == N { A[7 - r] = A[8 - (7 - r)] + 1; } }",
        "i = 7 - r", "A[7]: i = 1 -> i = 7 when N = 7");
}

static void test_imperfect(void) {
  const char *init =
      "for i = 0, M { for j = 0, N { I: C[i][j] = 0; for k = 0, K { U: " GEMM " } } }";
  check("an initialisation goes with its nest", "M=4 N=4 K=4", "A[M][K] B[K][N] C[M][N]", init,
        "for j = 0, N { for i = 0, M { I: C[i][j] = 0; for k = 0, K { U: " GEMM " } } }", "",
        "legal");
  check("an initialisation into the reduction", "M=4 N=4 K=4", "A[M][K] B[K][N] C[M][N]", init,
        "for i = 0, M { for k = 0, K { for j = 0, N { if k == 0 { I: C[i][j] = 0; } U: " GEMM
        " } } }",
        "", "legal");
  check("an initialisation too late", "M=4 N=4 K=4", "A[M][K] B[K][N] C[M][N]", init,
        "for i = 0, M { for k = 0, K { for j = 0, N { if k == 1 { I: C[i][j] = 0; } U: " GEMM
        " } } }",
        "", "C[0][0]: i = 0, j = 0 -> i = 0, j = 0, k = 0");
  check("a tail cut off", "N", "A[N] B[N]", "for i = 1, N { S: A[i] = A[i - 1] + B[i]; }",
        "for io = 0, (N - 1) // 4 { for ii = 0, 4 {"
        "S: A[1 + 4 * io + ii] = A[4 * io + ii] + B[1 + 4 * io + ii]; } }"
        "for it = 1 + 4 * ((N - 1) // 4), N { T of S: A[it] = A[it - 1] + B[it]; }",
        "i = 1 + 4 * io + ii; i@T = it", "legal");
  check("a tail before its loop", "N", "A[N] B[N]", "for i = 1, N { S: A[i] = A[i - 1] + B[i]; }",
        "for it = 1 + 4 * ((N - 1) // 4), N { T of S: A[it] = A[it - 1] + B[it]; }"
        "for io = 0, (N - 1) // 4 { for ii = 0, 4 {"
        "S: A[1 + 4 * io + ii] = A[4 * io + ii] + B[1 + 4 * io + ii]; } }",
        "i = 1 + 4 * io + ii; i@T = it", "A[4]: i = 4 -> i = 5 when N = 6");
}

static void test_fusion(void) {
  const char *two = "for i = 0, N { S: A[i] = B[i] + 1; } for j = 0, N - 1 { T: C[j] = A[%s]; }";
  const char *one = "for i = 0, N { S: A[i] = B[i] + 1; if %s { T: C[%s] = A[%s]; } }";
  const char *params = "A[N] B[N] C[N]";
  check("fusion of a pointwise pair", "N", params, td_text_fmt(results, two, "j"),
        td_text_fmt(results, one, "i < N - 1", "i", "i"), "j = i", "legal");
  check("fusion that reads ahead", "N", params, td_text_fmt(results, two, "j + 1"),
        td_text_fmt(results, one, "i < N - 1", "i", "i + 1"), "j = i",
        "A[1]: i = 1 -> j = 0 when N = 2");
  check("the same, shifted by one", "N", params, td_text_fmt(results, two, "j + 1"),
        td_text_fmt(results, one, "1 <= i", "i - 1", "i"), "j = i - 1", "legal");
  check("two statements exchanged", "N", params, "for i = 0, N { S: A[i] = B[i]; T: C[i] = A[i]; }",
        "for i = 0, N { T: C[i] = A[i]; S: A[i] = B[i]; }", "", "A[0]: i = 0 -> i = 0 when N = 1");
  check("two statements on different elements", "N", "A[9] B[N] C[N]",
        "for i = 0, N { S: A[0] = B[i]; T: C[i] = A[1]; }",
        "for i = 0, N { T: C[i] = A[1]; S: A[0] = B[i]; }", "", "legal");
}

static void test_locals(void) {
  const char *params = "A[N] B[N][N]";
  check("a scalar of each iteration", "N", params,
        "for i = 0, N { local t = A[i]; for j = 0, N { B[i][j] = t; } A[i] = t + 1; }",
        "for r = 0, N { local t = A[N - 1 - r]; for j = 0, N { B[N - 1 - r][j] = t; }"
        "A[N - 1 - r] = t + 1; }",
        "i = N - 1 - r", "legal");
  check("a scalar that outlives its iteration", "N", params,
        "local t = 0; for i = 0, N { t = t * A[i] + 1; }",
        "local t = 0; for r = 0, N { t = t * A[N - 1 - r] + 1; }", "i = N - 1 - r",
        "t: i = 0 -> i = 1 when N = 2");
  check("a declaration that sinks under a loop", "N", params,
        "for i = 0, N { local t = A[i]; for j = 0, N { t = t + B[i][j]; A[j] = t; } }",
        "for i = 0, N { for j = 0, N { local t = A[i]; t = t + B[i][j]; A[j] = t; } }", "",
        "t: i = 0 -> i = 0, j = 0 when N = 2");
  check("a declaration that sinks, with its value set once", "N", params,
        "for i = 0, N { local t; S: t = A[i]; for j = 0, N { T: B[i][j] = t; } }",
        "for i = 0, N { for j = 0, N { local t; if j == 0 { S: t = A[i]; } T: B[i][j] = t; } }", "",
        "t: i = 0 -> i = 0, j = 1 when N = 2");
  check("a declaration in two copies", "N", params,
        "for i = 0, N { local t; S: t = A[i]; T: B[i][0] = t; }",
        "for i = 0, N { local t; S: t = A[i]; local u of t; T: B[i][0] = u; }", "",
        "t: i = 0 -> i = 0 when N = 1");
  check("scratch that becomes shared", "N", params,
        "for i = 0, N { local b[4]; b[0] = A[i]; A[i] = b[0] + 1; }",
        "local b[4]; for i = 0, N { b[0] = A[i]; A[i] = b[0] + 1; }", "",
        "unknown: 'b' would serve several iterations");
  check("scratch under a split loop", "N", params,
        "for i = 0, N { local b[4]; b[0] = A[i]; A[i] = b[0] + 1; }",
        "for io = 0, N { for ii = 0, min(4, N - 4 * io) { local b[4]; b[0] = A[4 * io + ii];"
        " A[4 * io + ii] = b[0] + 1; } }",
        "i = 4 * io + ii", "legal");
}

static void test_streams(void) {
  const char *swap = "for j = 0, N { for i = 0, N { put %s <- A[i][j]; } }";
  const char *nest = "for i = 0, N { for j = 0, N { put %s <- A[i][j]; } }";
  check("puts to one stream", "N", "A[N][N] Z<", td_text_fmt(results, nest, "Z"),
        td_text_fmt(results, swap, "Z"), "", "Z: i = 0, j = 1 -> i = 1, j = 0 when N = 2");
  check("puts to a stream for each iteration", "N", "A[N][N] Z<[N][N]",
        td_text_fmt(results, nest, "Z[i][j]"), td_text_fmt(results, swap, "Z[i][j]"), "", "legal");
  check("gets and puts on two streams", "N", "Y< Z<", "for i = 0, N { get v <- Y;\n put Z <- v; }",
        "for r = 0, N { get v <- Y;\n put Z <- v; }", "i = N - 1 - r",
        "Y: i = 0 -> i = 1 when N = 2");
}

static void test_tensors(void) {
  const char *params = "A[4][4] B[4][4] C[4][4] D[4][4]";
  check("whole tensors in another order", "N", params, "S: C = A + B; T: D = A + C;",
        "T: D = A + C; S: C = A + B;", "", "C[0][0]:  -> ");
  check("whole tensors that do not meet", "N", params, "S: C = A + B; T: D = A + B;",
        "T: D = A + B; S: C = A + B;", "", "legal");
  check("an accumulation of tensors", "N", params, "for i = 0, N { C = C + A; }",
        "for r = 0, N { C = C + A; }", "i = N - 1 - r", "reassoc");
}

/* A kernel with a callee y = sweep(x), a stencil. */
static Mini *sweeps(void) {
  Mini *m = mini_new(session, "n", "x[n] y[n]");
  m->unit->body = mini_parse(m, "for i = 1, n - 1 { y[i] = x[i - 1] + x[i + 1]; }");
  mini_callee(m, "sweep", "N T", "A[N] B[N] C[N] D[N]");
  return m;
}

static void test_calls(void) {
  Mini *m = sweeps();
  TdVerdict v = order(m, "for t = 0, T { call sweep(A, B);\n call sweep(B, A); }",
                      "for r = 0, T { call sweep(A, B);\n call sweep(B, A); }", "t = T - 1 - r");
  is_text(text_of(&v), "B[1]: t = 0, i = 1 -> t = 1, i = 1 when N = 3, T = 2",
          "sweeps of a stencil to and fro");
  mini_free(m);
  m = sweeps();
  v = order(m, "call sweep(A, B);\n call sweep(C, D);", "\n call sweep(C, D);\n", "");
  is_text(text_of(&v), "unknown: the statement on line 1 is gone", "a call that is dropped");
  mini_free(m);
  m = sweeps();
  const TdStmt *b = mini_parse(m, "call sweep(A, B);\n call sweep(C, D);\n call sweep(B, C);");
  TdAsk q = ask(m, b);
  v = td_loop_carried_exchange(&q, b->kid[0], b->kid[1]);
  is_text(text_of(&v), "legal", "calls on different arrays may change places");
  v = td_loop_carried_exchange(&q, b->kid[1], b->kid[2]);
  is_text(text_of(&v), "C[1]: i = 2 -> i = 1 when N = 4",
          "a call that writes what was read may not");
  const TdEffect *e;
  size_t n = td_effects_of(&q, b->kid[0], &e);
  TdSym sa = mini_find(m, "A")->sym, sb = mini_find(m, "B")->sym;
  const TdEffect *ea = td_effects_find(e, n, sa), *eb = td_effects_find(e, n, sb);
  ok(n == 2 && ea && ea->read && !ea->write && eb && eb->write && !eb->read,
     "effects of a call are on its arguments");
  mini_free(m);
}

static void test_opaque(void) {
  const char *params = "A[N][N] x:i32[N]";
  check("an interchange across an unknown subscript", "N=4", params,
        "for i = 0, N { for j = 0, N { A[x[i]][j] = A[i][j] + 1; } }",
        "for j = 0, N { for i = 0, N { A[x[i]][j] = A[i][j] + 1; } }", "", "legal");
  check("a reversal across an unknown subscript", "N=4", params,
        "for i = 0, N { for j = 0, N { A[x[i]][j] = A[i][j] + 1; } }",
        "for r = 0, N { for j = 0, N { A[x[N - 1 - r]][j] = A[N - 1 - r][j] + 1; } }",
        "i = N - 1 - r", "perhaps A[0][0]: i = 0, j = 0 -> i = 1, j = 0");
  const char *leave = "for i = 0, N { for j = 0, N { if x[j] < 0 { break; } A[%s][0] = j; } }";
  const char *swap = "for j = 0, N { for i = 0, N { if x[j] < 0 { break; } A[%s][0] = j; } }";
  check("loops around a loop left early", "N=4", params, td_text_fmt(results, leave, "i"),
        "for r = 0, N { for j = 0, N { if x[j] < 0 { break; } A[N - 1 - r][0] = j; } }",
        "i = N - 1 - r", "legal");
  check("an interchange with a loop left early", "N=4", params, td_text_fmt(results, leave, "i"),
        td_text_fmt(results, swap, "i"), "",
        "unknown: it changes the inside of a loop that ends early");
  check("a while between two loops", "N=4", params,
        "for i = 0, N { while A[i][0] > 0 { for j = 0, N { A[i][j] = A[i][j] - 1; } } }",
        "for r = 0, N { while A[N - 1 - r][0] > 0 { for j = 0, N {"
        " A[N - 1 - r][j] = A[N - 1 - r][j] - 1; } } }",
        "i = N - 1 - r", "legal");
  Mini *m = mini_new(session, "N=4", params);
  const TdStmt *old = mini_one(m, "while A[0][0] > 0 { for i = 0, N { for j = 0, N {"
                                  "A[i][j] = A[i][j] - 1; } } }");
  const TdStmt *new = mini_one(m, "for j = 0, N { for i = 0, N { A[i][j] = A[i][j] - 1; } }");
  TdAsk q = ask(m, td_stmt_block(m->st, &old, 1, old->loc));
  TdVerdict v = td_deps_order(&q, old->kid[0]->kid[0], new, NULL, 0);
  is_text(text_of(&v), "legal", "affine loops inside a while");
  mini_free(m);
  check("a loop that can return", "N=4", params,
        "for i = 0, N { if x[i] < 0 { return; } A[i][0] = 1; }",
        "for r = 0, N { if x[N - 1 - r] < 0 { return; } A[N - 1 - r][0] = 1; }", "i = N - 1 - r",
        "unknown: it changes the inside of a loop that ends early");
}

/* td_loop_carried_loop of the loop named v. */
static void check_carry(const char *name, const char *sizes, const char *params, const char *text,
                        const char *v, const char *want) {
  Mini *m = mini_new(session, sizes, params);
  const TdStmt *b = mini_parse(m, text);
  TdAsk q = ask(m, b);
  const TdStmt *loop = td_edit_find(session->ctx, b, mini_find(m, v)->uid);
  TdVerdict verdict = td_loop_carried_loop(&q, loop);
  is_text(text_of(&verdict), want, name);
  mini_free(m);
}

static void test_carry(void) {
  check_carry("gemm carries nothing in i", "M N K", "A[M][K] B[K][N] C[M][N]", GEMM_OLD, "i",
              "legal");
  check_carry("gemm accumulates in k", "M N K", "A[M][K] B[K][N] C[M][N]", GEMM_OLD, "k",
              "reassoc");
  check_carry("scratch in the loop is private", "N", "A[N]",
              "for i = 0, N { local b[8]; for j = 0, 8 { b[j] = A[i]; } A[i] = b[0]; }", "i",
              "legal");
  check_carry("scratch outside is not", "N=4", "A[N]",
              "local b[8]; for i = 0, N { for j = 0, 8 { b[j] = A[i]; } A[i] = b[0]; }", "i",
              "b[0]: i = 0, j = 0 -> i = 1, j = 0");
  check_carry("a stencil in place carries in its inner loop", "N=8", "A[N][N]",
              "for i = 1, N { for j = 1, N { A[i][j] = A[i][j - 1] + 1; } }", "j",
              "A[1][1]: i = 1, j = 1 -> i = 1, j = 2");
  check_carry("but not in its outer one", "N=8", "A[N][N]",
              "for i = 1, N { for j = 1, N { A[i][j] = A[i][j - 1] + 1; } }", "i", "legal");
  check_carry("a loop left early is in order", "N=8", "A[N]",
              "for i = 0, N { if A[i] > 0 { break; } A[i] = 1; }", "i",
              "unknown: the loop may end early");
  Mini *m = mini_new(session, "N=8", "A[N] B[N] C[N]");
  const TdStmt *b = mini_parse(m, "for i = 1, N { S: A[i] = B[i]; T: C[i] = A[i - 1]; "
                                  "U: B[i] = C[i - 1]; }");
  TdAsk q = ask(m, b);
  const TdSym *sym;
  size_t n = td_loop_carried_free(&q, b->kid[0], &sym);
  ok(n == 1 && sym[0] == mini_find(m, "B")->sym, "arrays on which a loop carries nothing");
  mini_free(m);
}

static void test_refusal(void) {
  Mini *m = mini_new(session, "N=8", "A[N][N]");
  TdVerdict v = order(m, "for i = 1, N { for j = 1, N - 1 {\nA[i][j] = A[i - 1][j + 1] + 1; } }",
                      "for j = 1, N - 1 { for i = 1, N {\nA[i][j] = A[i - 1][j + 1] + 1; } }", "");
  TdDiag d = {.arena = results};
  bool yes = td_verdict_accept(&v, false, &d, (TdLoc){0}, "reorder of i and j");
  ok(!yes && d.kind == TD_ILLEGAL && d.witness && d.witness->second.line == 2,
     "a refusal has the witness");
  is_text(d.message, "reorder of i and j breaks a dependence on 'A'", "and says what it breaks");
  mini_free(m);
}

#define FIVE(X, i, j)                                                                              \
  X "[" i "][" j "] + " X "[" i "][" j " - 1] + " X "[" i "][" j " + 1] + " X "[" i " - 1][" j     \
    "] + " X "[" i " + 1][" j "];"

/* Kernels of PolyBench with symbolic sizes, whole nests rewritten: these are the times to watch. */
static void test_kernels(void) {
  const char *jacobi = "for t = 0, T { for i = 1, N - 1 { for j = 1, N - 1 { S: B[i][j] = " FIVE(
      "A", "i", "j") " } } for k = 1, N - 1 { for l = 1, N - 1 { R: A[k][l] = " FIVE("B", "k",
                                                                                     "l") " } } }";
  check("jacobi-2d, inner loops exchanged", "N=20 T=5", "A[N][N] B[N][N]", jacobi,
        "for t = 0, T { for j = 1, N - 1 { for i = 1, N - 1 { S: B[i][j] = " FIVE(
            "A", "i",
            "j") " } } for l = 1, N - 1 { for k = 1, N - 1 { R: A[k][l] = " FIVE("B", "k",
                                                                                 "l") " } } }",
        "", "legal");
  const char *fused =
      "for t = 0, T { for i = 1, N { for j = 1, N { if i < N - 1 and j < N - 1 { S: B[i][j] "
      "= " FIVE("A", "i", "j") " } if 1 < i and 1 < j { R: A[i - 1][j - 1] = " FIVE(
          "B", "(i - 1)", "(j - 1)") " } } } }";
  check("jacobi-2d, fused with a shift", "N=20 T=5", "A[N][N] B[N][N]", jacobi, fused,
        "k = i - 1; l = j - 1", "legal");
  check("jacobi-2d, fused without", "N=20 T=5", "A[N][N] B[N][N]", jacobi,
        "for t = 0, T { for i = 1, N - 1 { for j = 1, N - 1 { S: B[i][j] = " FIVE(
            "A", "i", "j") " R: A[i][j] = " FIVE("B", "i", "j") " } } }",
        "k = i; l = j", "A[1][1]: t = 0, i = 1, j = 2 -> t = 0, k = 1, l = 1");
  const char *lu = "for i = 0, N { for j = 0, i { for k = 0, j { S: A[i][j] = A[i][j] - A[i][k] * "
                   "A[k][j]; } R: A[i][j] = A[i][j] * A[j][j]; } for l = i, N { for h = 0, i { "
                   "U: A[i][l] = A[i][l] - A[i][h] * A[h][l]; } } }";
  check("lu, the update by rows", "N=20", "A[N][N]", lu,
        "for i = 0, N { for j = 0, i { for k = 0, j { S: A[i][j] = A[i][j] - A[i][k] * "
        "A[k][j]; } R: A[i][j] = A[i][j] * A[j][j]; } for h = 0, i { for l = i, N { "
        "U: A[i][l] = A[i][l] - A[i][h] * A[h][l]; } } }",
        "", "legal");
  check("lu, right-looking", "N=20", "A[N][N]", lu,
        "for k = 0, N { for i = k + 1, N { R: A[i][k] = A[i][k] * A[k][k]; for j = k + 1, N { "
        "if j < i { S: A[i][j] = A[i][j] - A[i][k] * A[k][j]; } "
        "if j >= i { U: A[i][j] = A[i][j] - A[i][k] * A[k][j]; } } } }",
        "j@R = k; l@U = j; h@U = k", "legal");
  check("seidel-2d, interchanged", "N=20 T=5", "A[N][N]",
        "for t = 0, T { for i = 1, N - 1 { for j = 1, N - 1 { A[i][j] = A[i - 1][j - 1] + " FIVE(
            "A", "i", "j") " } } }",
        "for t = 0, T { for j = 1, N - 1 { for i = 1, N - 1 { A[i][j] = A[i - 1][j - 1] + " FIVE(
            "A", "i", "j") " } } }",
        "", "legal");
}

/* A chain of 64 products, one of them tiled, all of it looked at. */
static void test_chain(void) {
  TdText old = td_text_new(results), new = td_text_new(results), params = td_text_new(results);
  td_text_puts(&params, "X0[N][N]");
  for (int n = 0; n < 64; n++) {
    td_text_putf(&params, " X%d[N][N]", n + 1);
    td_text_putf(&old,
                 "for i%d = 0, N { for j%d = 0, N { for k%d = 0, N { "
                 "X%d[i%d][j%d] = X%d[i%d][j%d] + X%d[i%d][k%d] * X%d[k%d][j%d]; } } }\n",
                 n, n, n, n + 1, n, n, n + 1, n, n, n, n, n, n, n, n);
    const char *tiled =
        "for io = 0, (N + 7) // 8 { for j%d = 0, N { for ii = 0, min(8, N - 8 * io) {"
        " for k%d = 0, N { X%d[8*io+ii][j%d] = X%d[8*io+ii][j%d] + X%d[8*io+ii][k%d] *"
        " X%d[k%d][j%d]; } } } }\n";
    if (n == 31)
      td_text_putf(&new, tiled, n, n, n + 1, n, n + 1, n, n, n, n, n, n);
    else
      td_text_putf(&new,
                   "for i%d = 0, N { for j%d = 0, N { for k%d = 0, N { "
                   "X%d[i%d][j%d] = X%d[i%d][j%d] + X%d[i%d][k%d] * X%d[k%d][j%d]; } } }\n",
                   n, n, n, n + 1, n, n, n + 1, n, n, n, n, n, n, n, n);
  }
  check("a chain of 64 products", "N", td_text_str(&params), td_text_str(&old), td_text_str(&new),
        "i31 = 8 * io + ii", "legal");
}

/* Orders times. */
static int by_size(const void *x, const void *y) {
  double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

int main(void) {
  TdCtx *c = td_ctx_new();
  session = td_session_new(c);
  results = td_arena_new(c);
  affine = td_affine_new(results);
  test_gemm();
  test_stencils();
  test_triangles();
  test_guards();
  test_imperfect();
  test_fusion();
  test_locals();
  test_streams();
  test_tensors();
  test_calls();
  test_opaque();
  test_carry();
  test_refusal();
  test_kernels();
  test_chain();
  qsort(spent, nspent, sizeof *spent, by_size);
  printf("# %zu order checks: median %.3f ms, worst %.3f ms\n", nspent, spent[nspent / 2],
         spent[nspent - 1]);
  td_arena_free(results);
  td_session_free(session);
  td_ctx_free(c);
  return done_testing();
}
