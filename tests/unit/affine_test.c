/* affine_test.c - questions about systems against enumeration, and answers that are cut short. */
#include "tests/unit/tap.h"
#include "tests/unit/trace.h"

#include <setjmp.h>

#include "affine/affine.h"
#include "analysis/range/farkas.h"

enum { COLS = 3, REACH = 5 };

static TdAffine *affine;
static TdArena *arena;
static uint64_t seed;

/* The next random number below n. */
static int roll(int n) {
  return trace_random(&seed, n);
}

/* A random form over the first n columns. */
static TdAff random_form(int n) {
  TdAff f = td_sys_const(roll(13) - 6);
  for (int c = 0; c < n; c++) f = td_sys_plus(arena, f, roll(7) - 3, td_sys_col(arena, c));
  return f;
}

/* Columns between -REACH and REACH under a few random rows. */
static TdSys random_sys(int rows) {
  TdSys s = {0};
  for (int c = 0; c < COLS; c++) {
    TdAff x = td_sys_col(arena, c);
    td_sys_le(arena, &s, td_sys_const(-REACH), x);
    td_sys_le(arena, &s, x, td_sys_const(REACH));
  }
  for (int r = 0; r < rows; r++) {
    if (roll(3))
      td_sys_nonneg(arena, &s, random_form(COLS));
    else
      td_sys_zero(arena, &s, random_form(COLS));
  }
  return s;
}

/* f at a point. */
static int64_t value(TdAff f, const int64_t *x) {
  int64_t v = f.c;
  for (uint32_t i = 0; i < f.n; i++) v += f.m[i].coef * x[f.m[i].col];
  return v;
}

/* Whether a point is in s. */
static bool satisfies(const TdSys *s, const int64_t *x) {
  for (size_t r = 0; r < s->row.n; r++) {
    int64_t v = value(s->row.at[r].f, x);
    if (s->row.at[r].eq ? v != 0 : v < 0) return false;
  }
  return true;
}

/* Moves x on in the box; false at its end. */
static bool next(int64_t *x) {
  for (int c = 0; c < COLS; c++) {
    if (++x[c] <= REACH) return true;
    x[c] = -REACH;
  }
  return false;
}

/* Whether s has a point, the greatest f over it, and whether all its points (seen in the first two
 * columns) are among those of t. */
static bool enumerate(const TdSys *s, TdAff f, const TdSys *t, int64_t *most, bool *covered) {
  static bool in_s[2 * REACH + 1][2 * REACH + 1], in_t[2 * REACH + 1][2 * REACH + 1];
  int64_t x[COLS] = {-REACH, -REACH, -REACH};
  bool some = false;
  memset(in_s, 0, sizeof in_s);
  memset(in_t, 0, sizeof in_t);
  do {
    if (satisfies(t, x)) in_t[x[0] + REACH][x[1] + REACH] = true;
    if (!satisfies(s, x)) continue;
    in_s[x[0] + REACH][x[1] + REACH] = true;
    if (!some || value(f, x) > *most) *most = value(f, x);
    some = true;
  } while (next(x));
  *covered = true;
  for (int i = 0; i <= 2 * REACH; i++)
    for (int j = 0; j <= 2 * REACH; j++) *covered &= !in_s[i][j] || in_t[i][j];
  return some;
}

static void test_random(int cases) {
  const int32_t col[] = {0, 1, 2};
  int wrong[5] = {0}, full = 0, covers = 0;
  for (int i = 0; i < cases; i++) {
    TdMark m = td_arena_mark(arena);
    TdSys s = random_sys(1 + roll(4)), t = random_sys(roll(2));
    TdAff f = random_form(COLS);
    int64_t most = 0, got = 0, x[COLS];
    bool covered, some = enumerate(&s, f, &t, &most, &covered);
    full += some;
    covers += covered && some;
    wrong[0] += td_affine_has_point(affine, &s) != (some ? TD_YES : TD_NO);
    TdTruth point = td_affine_point(affine, &s, col, COLS, x);
    wrong[1] += point != (some ? TD_YES : TD_NO) || (some && !satisfies(&s, x));
    TdTruth max = td_affine_max(affine, &s, f, &got);
    wrong[2] += max != (some ? TD_YES : TD_NO) || (some && got != most);
    wrong[3] += td_affine_covers(affine, &s, &t, 1, col, 2) != (covered ? TD_YES : TD_NO);
    TdSys hull = {0};
    bool ok_hull = td_affine_hull(affine, arena, &s, 1, col, COLS, &hull);
    int64_t p[COLS] = {-REACH, -REACH, -REACH};
    do wrong[4] += !ok_hull || (satisfies(&s, p) && !satisfies(&hull, p));
    while (next(p));
    td_arena_release(arena, m);
  }
  printf("# %d random systems, %d with points, %d covered\n", cases, full, covers);
  ok(wrong[0] == 0, "has_point");
  ok(wrong[1] == 0, "point");
  ok(wrong[2] == 0, "max");
  ok(wrong[3] == 0, "covers");
  ok(wrong[4] == 0, "hull");
  ok(full > cases / 5 && full < cases && covers > 0 && covers < full, "all answers occur");
}

static void test_proofs(int cases) {
  int wrong = 0, proved = 0, loose = 0;
  for (int i = 0; i < cases; i++) {
    TdMark m = td_arena_mark(arena);
    TdSys s = random_sys(roll(3)), none = {0};
    TdAff f = td_sys_scale(arena, 1, random_form(COLS), roll(20));
    const TdSys *facts[] = {&s};
    int64_t least = 0;
    bool covered, some = enumerate(&s, td_sys_scale(arena, -1, f, 0), &none, &least, &covered);
    bool yes = td_farkas_follows(arena, facts, 1, f);
    wrong += yes && some && least > 0;
    proved += yes;
    TdAff bound[8];
    size_t n = td_farkas_lower(arena, facts, 1, f, NULL, bound, 8);
    for (size_t b = 0; b < n; b++) loose += some && (bound[b].n || bound[b].c > -least);
    td_arena_release(arena, m);
  }
  ok(wrong == 0 && proved > cases / 10, "proofs by inequalities are right");
  ok(loose == 0, "and so are bounds");
}

/* A system that takes isl a little work. */
static TdSys knapsack(void) {
  TdSys s = {0};
  TdAff sum = td_sys_const(-99991);
  for (int c = 0; c < 6; c++) {
    TdAff x = td_sys_col(arena, c);
    td_sys_nonneg(arena, &s, x);
    td_sys_le(arena, &s, td_sys_scale(arena, 7, x, 0), td_sys_col(arena, (c + 1) % 6));
    sum = td_sys_plus(arena, sum, 12223 + 1001 * c, x);
  }
  td_sys_zero(arena, &s, sum);
  return s;
}

static jmp_buf out;

/* The way out for an interrupt. */
static void escape(void *ud, TdWhy why) {
  (void)ud;
  longjmp(out, 1 + (int)why);
}

static void test_limits(TdCtx *c) {
  TdSys s = knapsack(), big = {0};
  TdTruth free_answer = td_affine_has_point(affine, &s);
  td_affine_set_budget(affine, 1);
  ok(free_answer == TD_NO && td_affine_has_point(affine, &s) == TD_UNKNOWN,
     "a spent budget is no answer");
  td_affine_set_budget(affine, 500000);
  ok(td_affine_has_point(affine, &s) == free_answer, "and does no harm");
  TdAff f = td_sys_scale(arena, INT64_MAX / 2, td_sys_col(arena, 0), 0);
  td_sys_nonneg(arena, &big, td_sys_plus(arena, f, 3, f));
  ok(td_affine_has_point(affine, &big) == TD_UNKNOWN, "an overflow is no answer");
  td_affine_abort(affine);
  ok(td_affine_has_point(affine, &s) == free_answer, "an abort ends with its question");
  td_ctx_set_escape(c, escape, NULL);
  td_ctx_interrupt(c);
  int why = setjmp(out);
  if (!why) td_affine_has_point(affine, &s);
  td_arena_free_scratch(c);
  td_ctx_clear_interrupt(c);
  ok(why == 1 + TD_WHY_INTERRUPT, "an interrupt escapes");
  ok(td_affine_has_point(affine, &s) == free_answer, "and the solver goes on");
}

int main(int argc, char **argv) {
  int cases = argc > 1 ? atoi(argv[1]) : 2000;
  seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  printf("# seed %llu\n", (unsigned long long)seed);
  TdCtx *c = td_ctx_new();
  arena = td_arena_new(c);
  affine = td_affine_new(arena);
  test_random(cases);
  test_proofs(cases);
  test_limits(c);
  td_arena_free(arena);
  td_ctx_free(c);
  return done_testing();
}
