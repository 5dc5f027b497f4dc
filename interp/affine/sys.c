/* sys.c - sparse affine forms with checked arithmetic. */
#include "affine/sys.h"

bool td_sys_add64(int64_t x, int64_t y, int64_t *r) {
  if (y > 0 ? x > INT64_MAX - y : x < INT64_MIN - y) return false;
  *r = x + y;
  return true;
}

bool td_sys_mul64(int64_t x, int64_t y, int64_t *r) {
  const int64_t small = INT64_C(1) << 31;
  if (x < -small || x > small || y < -small || y > small) {
    if (x && (x == INT64_MIN || y == INT64_MIN)) return false;
    int64_t ax = x < 0 ? -x : x, ay = y < 0 ? -y : y;
    if (ax && ay > INT64_MAX / ax) return false;
  }
  *r = x * y;
  return true;
}

int64_t td_sys_floor64(int64_t x, int64_t y) {
  int64_t q = x / y;
  return q * y != x && (x < 0) != (y < 0) ? q - 1 : q;
}

int64_t td_sys_gcd64(int64_t x, int64_t y) {
  uint64_t a = x < 0 ? 0 - (uint64_t)x : (uint64_t)x, b = y < 0 ? 0 - (uint64_t)y : (uint64_t)y;
  while (b) {
    uint64_t r = a % b;
    a = b;
    b = r;
  }
  return a > INT64_MAX ? 1 : (int64_t)a;
}

TdAff td_sys_const(int64_t c) {
  return (TdAff){.c = c};
}

TdAff td_sys_col(TdArena *a, int32_t col) {
  TdMono *m = TD_NEW(a, TdMono);
  *m = (TdMono){1, col};
  return (TdAff){.m = m, .n = 1};
}

/* Whether x + k * y fits, and its value. */
static bool multiply_add(int64_t x, int64_t k, int64_t y, int64_t *r) {
  int64_t p;
  return td_sys_mul64(k, y, &p) && td_sys_add64(x, p, r);
}

TdAff td_sys_plus(TdArena *a, TdAff x, int64_t k, TdAff y) {
  if (x.bad || y.bad) return (TdAff){.bad = true};
  TdAff r = {0};
  r.bad = !multiply_add(x.c, k, y.c, &r.c);
  if (!k || !y.n) {
    r.m = x.m;
    r.n = x.n;
    return r;
  }
  TdMono *m = TD_NEWN(a, TdMono, x.n + y.n);
  for (uint32_t i = 0, j = 0; i < x.n || j < y.n;) {
    bool left = j == y.n || (i < x.n && x.m[i].col <= y.m[j].col);
    bool right = i == x.n || (j < y.n && y.m[j].col <= x.m[i].col);
    TdMono t = {left ? x.m[i].coef : 0, left ? x.m[i].col : y.m[j].col};
    if (right) r.bad |= !multiply_add(t.coef, k, y.m[j].coef, &t.coef);
    if (t.coef) m[r.n++] = t;
    i += left;
    j += right;
  }
  r.m = m;
  return r;
}

TdAff td_sys_scale(TdArena *a, int64_t k, TdAff x, int64_t c) {
  return td_sys_plus(a, td_sys_const(c), k, x);
}

int64_t td_sys_coef(TdAff f, int32_t col) {
  for (uint32_t i = 0; i < f.n; i++)
    if (f.m[i].col == col) return f.m[i].coef;
  return 0;
}

bool td_sys_is_const(TdAff f, int64_t *v) {
  if (f.n || f.bad) return false;
  *v = f.c;
  return true;
}

/* Whether v can be negated, doubled and the like without care. */
static bool is_tame(int64_t v) {
  return v > -TD_SYS_MOST && v < TD_SYS_MOST;
}

/* Adds a row; one with a coefficient beyond TD_SYS_MOST makes the system bad. */
static void add_row(TdArena *a, TdSys *s, TdAff f, bool eq) {
  bool tame = !f.bad && is_tame(f.c);
  for (uint32_t i = 0; tame && i < f.n; i++) tame = is_tame(f.m[i].coef);
  s->bad |= !tame;
  if (f.n || (eq ? f.c != 0 : f.c < 0)) td_vec_push(a, &s->row, ((TdRow){f, eq}));
}

void td_sys_zero(TdArena *a, TdSys *s, TdAff f) {
  add_row(a, s, f, true);
}

void td_sys_nonneg(TdArena *a, TdSys *s, TdAff f) {
  add_row(a, s, f, false);
}

void td_sys_le(TdArena *a, TdSys *s, TdAff x, TdAff y) {
  add_row(a, s, td_sys_plus(a, y, -1, x), false);
}

void td_sys_lt(TdArena *a, TdSys *s, TdAff x, TdAff y) {
  add_row(a, s, td_sys_plus(a, td_sys_scale(a, 1, y, -1), -1, x), false);
}

TdAff td_sys_fresh(TdArena *a, TdSys *s) {
  return td_sys_col(a, TD_COL_EXTRA + s->nextra++);
}

TdSys td_sys_copy(TdArena *a, const TdSys *s) {
  TdSys r = *s;
  r.row.at = td_arena_copy(a, s->row.at, s->row.n * sizeof *s->row.at);
  r.row.cap = s->row.n;
  return r;
}

TdAff td_sys_shift(TdArena *a, TdAff f, TdShift by) {
  if (!f.n || f.m[f.n - 1].col < 0 || (!by.block && !by.extra)) return f;
  TdMono *m = td_arena_copy(a, f.m, f.n * sizeof *m);
  for (uint32_t i = 0; i < f.n; i++)
    if (m[i].col >= 0) m[i].col += m[i].col < TD_COL_EXTRA ? by.block * TD_COL_BLOCK : by.extra;
  f.m = m;
  return f;
}

TdShift td_sys_join(TdArena *a, TdSys *dst, const TdSys *src, int32_t block) {
  TdShift by = {block, dst->nextra};
  for (size_t i = 0; i < src->row.n; i++)
    td_vec_push(a, &dst->row, ((TdRow){td_sys_shift(a, src->row.at[i].f, by), src->row.at[i].eq}));
  dst->nextra += src->nextra;
  dst->bad |= src->bad;
  return by;
}
