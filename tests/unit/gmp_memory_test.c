/* gmp_memory_test.c - memory ends while isl computes: each block of GMP's numbers is refused in
 * turn, once and from then on. A question is answered as with memory, or escapes; the next is
 * answered. */
#include "affine/affine.h"
#include "failing_malloc.h"
#include "tap.h"

enum { COLS = 4, ESCAPED = -1, WRONG = -2 };

static TdAffine *affine;
static TdArena *arena;

/* 0 <= x, y, z < w, and w at most a number that several of them make up, in wide numbers. */
static TdSys system_of(int64_t scale) {
  TdSys s = {0};
  TdAff w = td_sys_col(arena, COLS - 1), sum = td_sys_const(7 * scale);
  for (int c = 0; c < COLS - 1; c++) {
    TdAff x = td_sys_col(arena, c);
    td_sys_le(arena, &s, td_sys_const(0), x);
    td_sys_le(arena, &s, td_sys_plus(arena, x, 1, td_sys_const(1)), w);
    sum = td_sys_plus(arena, sum, -scale * (2 * c + 3), x);
  }
  td_sys_le(arena, &s, w, td_sys_const(1000));
  td_sys_nonneg(arena, &s, sum);
  return s;
}

/* Asks a question of each kind; what the answers come to, or ESCAPED. */
static int64_t ask(const TdSys *s, const TdSys *part) {
  static const int32_t col[COLS] = {0, 1, 2, 3};
  int64_t x[COLS], most = 0;
  TdSys hull = {0};
  if (setjmp(out)) {
    failing.armed = false;
    td_arena_free_scratch(td_arena_ctx(arena));
    return ESCAPED;
  }
  int64_t all = td_affine_has_point(affine, s);
  all = all * 10 + td_affine_point(affine, s, col, COLS, x);
  all = all * 10 + td_affine_max(affine, s, td_sys_col(arena, COLS - 1), &most);
  all = all * 10 + td_affine_covers(affine, s, part, 1, col, COLS);
  all = all * 10 + td_affine_hull(affine, arena, part, 1, col, COLS, &hull);
  failing.armed = false;
  return all * 10000 + most;
}

/* Has each allocation fail in turn, until none does; counts those that ended a question. */
static int sweep(bool on, const TdSys *s, const TdSys *part, int64_t want, bool *good) {
  int escaped = 0;
  for (int n = 1;; n++) {
    failing.on = on;
    let_fail(n);
    int64_t got = ask(s, part);
    bool struck = failing.at >= n;
    escaped += got == ESCAPED;
    *good &= got == want || (got == ESCAPED && struck);
    *good &= ask(s, part) == want;
    if (!struck) return escaped;
  }
}

int main(void) {
  TdCtx *c = td_ctx_new();
  td_ctx_set_escape(c, escape, NULL);
  arena = td_arena_new(c);
  affine = td_affine_new(arena);
  TdSys s = system_of(1), part = system_of(1000003);
  int64_t want = ask(&s, &part);
  bool good = true;
  ok(want > 0, "with enough memory");
  int once = sweep(false, &s, &part, want, &good), always = sweep(true, &s, &part, want, &good);
  printf("# %d and %d allocations ended questions\n", once, always);
  ok(good, "each question is answered or escapes, and is answered then");
  ok(once > 20 && always > 20, "GMP would have ended the process");
  td_arena_free(arena);
  td_ctx_free(c);
  return done_testing();
}
