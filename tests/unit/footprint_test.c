/* footprint_test.c - boxes of what a statement touches, written out and against enumeration. */
#include "tests/unit/tap.h"
#include "tests/unit/trace.h"

#include "analysis/range/footprint.h"

static TdSession *session;
static TdAffine *affine;
static TdArena *results;

/* A query on the kernel m with this body. */
static TdAsk ask(Mini *m, const TdStmt *body) {
  return (TdAsk){affine, results, mini_prog(m, body), m->unit};
}

/* "[i]", "[3]". */
static void put_index(TdText *t, const TdExpr *e) {
  int64_t v;
  if (td_expr_is_const(e, &v))
    td_text_putf(t, "[%lld]", (long long)v);
  else
    td_text_putf(t, "[%s]", td_print_expr_str(results, e));
}

/* "[i][0] + [1][K] exact, read, filled". */
static const char *box_text(const TdBox *b) {
  TdText t = td_text_new(results);
  for (int d = 0; d < b->rank; d++) put_index(&t, b->lo[d]);
  td_text_puts(&t, " + ");
  for (int d = 0; d < b->rank; d++) put_index(&t, b->extent[d]);
  return td_text_str(&t);
}

/* A footprint as text. */
static const char *text_of(const TdFootprint *f) {
  return td_text_fmt(results, "%s%s%s%s%s%s", box_text(&f->box), f->box.exact ? " exact" : "",
                     f->read ? " read" : "", f->write ? " written" : "", f->filled ? " filled" : "",
                     f->prepared ? " prepared" : "");
}

/* The statement that `depth` loops of b lead to. */
static const TdStmt *inside(const TdStmt *b, int depth) {
  const TdStmt *s = b->kid[0];
  for (int d = 0; d < depth; d++)
    s = s->kid[0]->nkid == 1 && d + 1 < depth ? s->kid[0]->kid[0] : s->kid[0];
  return s;
}

/* The footprint of `array` below `depth` loops. */
static void check(const char *name, const char *sizes, const char *params, const char *text,
                  int depth, const char *array, const char *want) {
  Mini *m = mini_new(session, sizes, params);
  const TdStmt *b = mini_parse(m, text);
  TdAsk q = ask(m, b);
  MiniName *n = mini_find(m, array);
  TdFootprint f;
  bool found = td_footprint_of(&q, inside(b, depth), n->sym, n->type, &f);
  is_text(found ? text_of(&f) : "none", want, name);
  mini_free(m);
}

static void test_written(void) {
  const char *gemm = "for i = 0, M { for j = 0, N { for k = 0, K { "
                     "C[i][j] = C[i][j] + A[i][k] * B[k][j]; } } }";
  const char *params = "A[M][K] B[K][N] C[M][N]";
  check("a row of A", "M N K", params, gemm, 1, "A", "[i][0] + [1][K] read");
  check("all of B", "M N K", params, gemm, 1, "B", "[0][0] + [K][N] exact read");
  check("an element of C", "M N K", params, gemm, 2, "C", "[i][j] + [1][1] read written");
  check("nothing of D", "M N K", "A[M][K] B[K][N] C[M][N] D[M]", gemm, 2, "D", "none");
  const char *init = "for i = 0, M { for j = 0, N { C[i][j] = 0; for k = 0, K { "
                     "C[i][j] = C[i][j] + A[i][k] * B[k][j]; } } }";
  check("a row that is initialised first", "M N K", params, init, 1, "C",
        "[i][0] + [1][N] exact read written filled prepared");
  check("a window of a stencil", "N", "A[N] B[N]",
        "for i = 1, N - 1 { B[i] = A[i - 1] + A[i] + A[i + 1]; }", 1, "A",
        "[i - 1] + [3] exact read");
  check("a tile with a short end", "N", "A[N] B[N]",
        "for io = 0, (N + 7) // 8 { for ii = 0, min(8, N - 8 * io) { B[8 * io + ii] = "
        "A[8 * io + ii]; } }",
        1, "A", "[io * 8] + [8] read");
  check("a row of a triangle", "N", "A[N][N] B[N]",
        "for i = 0, N { for j = 0, i { B[j] = A[i][j]; } }", 1, "A", "[i][0] + [1][N - 1] read");
  check("every other element", "N=9", "A[32] B[N]",
        "for i = 0, N { for j = 0, 4 { B[i] = A[2 * j]; } }", 1, "A", "[0] + [7] read");
  check("an unknown subscript", "N", "A[N] x:i32[N]", "for i = 0, N { A[x[i]] = 1; }", 1, "A",
        "[0] + [N] written prepared");
  check("written under a condition on data", "N", "A[N] x:i32[N]",
        "for i = 0, N { if x[i] > 0 { A[i] = 1; } }", 1, "A", "[i] + [1] written prepared");
}

static void test_step(void) {
  Mini *m = mini_new(session, "N", "A[N][N] B[N][N]");
  const TdStmt *b =
      mini_parse(m, "for i = 1, N - 1 { for j = 1, N - 1, 2 { B[i][j] = A[i - 1][j] + "
                    "A[i + 1][j + 1] + A[i][j - 1]; } }");
  TdAsk q = ask(m, b);
  const TdStmt *outer = b->kid[0], *inner = outer->kid[0]->kid[0];
  MiniName *a = mini_find(m, "A");
  TdFootprint f;
  TdFootprintStep step;
  ok(td_footprint_of(&q, inner->kid[0], a->sym, a->type, &f) &&
         td_footprint_step(&q, &f.box, inner, &step) && step.dim == 1 && step.shift == 2,
     "a window moves along its loop");
  is_text(box_text(&f.box), "[i - 1][j - 1] + [3][3]", "the window");
  is_text(box_text(&step.fresh), "[i - 1][j] + [3][2]", "what is new in it");
  ok(td_footprint_of(&q, outer->kid[0], a->sym, a->type, &f) &&
         td_footprint_step(&q, &f.box, outer, &step) && step.dim == 0 && step.shift == 1,
     "rows move along the outer loop");
  is_text(box_text(&step.fresh),
          td_text_fmt(results, "[i + 1][0] + [1]%s", strrchr(box_text(&f.box), '[')),
          "one row is new");
  f.box.lo[1] = mini_index(m, "i");
  ok(!td_footprint_step(&q, &f.box, outer, &step), "a diagonal motion is no box");
  mini_free(m);
}

/* The next random number below n. */
static int roll(uint64_t *seed, int n) {
  return trace_random(seed, n);
}

/* One or two statements on X under a loop i and one or two loops below. */
static const char *random_nest(uint64_t *seed) {
  TdText t = td_text_new(results);
  int depth = 1 + roll(seed, 2), stmts = 1 + roll(seed, 2);
  const char *const v[] = {"j", "k"};
  const char *const hi[] = {"3", "4", "i + 2", "min(3, i + 1)", "i", "2"};
  const char *const lo[] = {"0", "1", "0", "i"};
  td_text_puts(&t, "for i = 1, 4 { ");
  for (int s = 0; s < stmts; s++) {
    for (int d = 0; d < depth; d++)
      td_text_putf(&t, "for %s%d = %s, %s { ", v[d], s, lo[roll(seed, 4)], hi[roll(seed, 6)]);
    const char *j = td_text_fmt(results, "j%d", s);
    const char *k = td_text_fmt(results, "%s%d", v[depth - 1], s);
    const char *const index[] = {"%s + %s - %s", "%s + 1",        "i + %s", "%s",
                                 "2 * %s",       "(%s + i) // 2", "5 - %s", "%s %% 2"};
    const char *const guard[] = {"if 0 == 0 ", "if %s ~= 2 ", "if 0 == 0 "};
    const char *x[4];
    for (int n = 0; n < 4; n++) {
      const char *w = roll(seed, 2) ? j : k;
      x[n] = td_text_fmt(results, index[1 + roll(seed, 7)], w);
    }
    td_text_puts(&t, td_text_fmt(results, guard[roll(seed, 3)], j));
    if (roll(seed, 3))
      td_text_putf(&t, "{ X[%s][%s] = X[%s][%s]; }", x[0], x[1], x[roll(seed, 2) * 2],
                   x[roll(seed, 2) ? 1 : 3]);
    else
      td_text_putf(&t, "{ X[%s][%s] = 1; }", x[0], x[1]);
    for (int d = 0; d < depth; d++) td_text_puts(&t, " }");
  }
  td_text_puts(&t, " }");
  return td_text_str(&t);
}

enum { SPAN = 24, ZERO = 8 };

/* What one iteration of i does to X, by enumeration, against a footprint. */
typedef struct Seen {
  bool outside, all, filled, prepared;
} Seen;

/* Compares iteration i of the trace with a box. */
static Seen look(const Trace *t, int64_t i, const int64_t *lo, const int64_t *extent) {
  static unsigned char touched[SPAN][SPAN];
  Seen s = {.prepared = true, .all = true, .filled = true};
  memset(touched, 0, sizeof touched);
  for (size_t k = 0; k < t->at.n; k++) {
    const TraceEvent *v = &t->at.at[k];
    if (v->value[0] != i) continue;
    for (int c = 0; c < v->ncell; c++) {
      const int64_t *x = v->cell[c].index;
      s.outside |=
          x[0] < lo[0] || x[1] < lo[1] || x[0] >= lo[0] + extent[0] || x[1] >= lo[1] + extent[1];
      unsigned char *at = &touched[x[0] + ZERO][x[1] + ZERO];
      if (!v->cell[c].write && !(*at & 2)) s.prepared = false;
      *at |= v->cell[c].write ? 2 : 1;
    }
  }
  for (int64_t x = lo[0]; x < lo[0] + extent[0]; x++)
    for (int64_t y = lo[1]; y < lo[1] + extent[1]; y++) {
      s.all &= touched[x + ZERO][y + ZERO] != 0;
      s.filled &= (touched[x + ZERO][y + ZERO] & 2) != 0;
    }
  return s;
}

static void test_random(int cases, uint64_t seed) {
  int outside = 0, wrong = 0, none = 0, exact = 0, prepared = 0;
  uint64_t first = seed;
  for (int n = 0; n < cases; n++) {
    const char *text = random_nest(&seed);
    Mini *m = mini_new(session, "", "X[12][12]");
    const TdStmt *b = mini_parse(m, text);
    TdAsk q = ask(m, b);
    Trace t = trace_of(results, m->unit, b);
    MiniName *x = mini_find(m, "X");
    TdFootprint f;
    if (!td_footprint_of(&q, inside(b, 1), x->sym, x->type, &f)) {
      none += t.at.n > 0;
      mini_free(m);
      continue;
    }
    Seen all = {.all = true, .filled = true, .prepared = true};
    Trace env = {.unit = m->unit, .nloop = 1, .loop = {b->kid[0]->sym}};
    for (int64_t i = 1; i < 4; i++) {
      env.value[0] = i;
      int64_t lo[2], extent[2];
      for (int d = 0; d < 2; d++) {
        lo[d] = trace_eval(&env, f.box.lo[d]);
        extent[d] = trace_eval(&env, f.box.extent[d]);
      }
      Seen s = look(&t, i, lo, extent);
      all = (Seen){all.outside | s.outside, all.all & s.all, all.filled & s.filled,
                   all.prepared & s.prepared};
    }
    bool bad =
        f.box.exact != all.all || f.filled != (all.filled && f.write) || f.prepared != all.prepared;
    outside += all.outside;
    wrong += bad;
    exact += f.box.exact;
    prepared += f.prepared && f.read;
    if (bad || all.outside) printf("# %s\n#   %s\n", text, text_of(&f));
    mini_free(m);
  }
  printf("# %d random nests from seed %llu: %d exact, %d read what they wrote\n", cases,
         (unsigned long long)first, exact, prepared);
  ok(outside == 0 && none == 0, "boxes hold what is touched");
  ok(wrong == 0, "exact, filled and prepared agree with enumeration");
  ok(exact > cases / 100 && prepared > 0, "all kinds occur");
}

int main(int argc, char **argv) {
  TdCtx *c = td_ctx_new();
  session = td_session_new(c);
  results = td_arena_new(c);
  affine = td_affine_new(results);
  test_written();
  test_step();
  test_random(argc > 1 ? atoi(argv[1]) : 1000, argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
  td_arena_free(results);
  td_session_free(session);
  td_ctx_free(c);
  return done_testing();
}
