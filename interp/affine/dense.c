/* dense.c - exact simplification of small integer systems, in the manner of the Omega test. */
#include "affine/dense.h"

#include <string.h>

/* An elimination may add this many rows, and a system may have at most so many. */
enum { GROWTH = 6, MOST_ROWS = 160 };

int64_t *td_dense_row(const TdDense *d, size_t r) {
  return d->at + r * (d->ncol + 1);
}

/* Position of `col` among n columns, or n. */
static size_t position(const int32_t *at, size_t n, int32_t col) {
  size_t i = 0;
  while (i < n && at[i] != col) i++;
  return i;
}

/* The columns of s: `first`, then the others in ascending order. */
static size_t list_columns(TdArena *a, const TdSys *s, const int32_t *first, size_t nfirst,
                           const int32_t **out) {
  TD_VEC(int32_t) c = {0};
  for (size_t i = 0; i < nfirst; i++) td_vec_push(a, &c, first[i]);
  for (size_t r = 0; r < s->row.n; r++)
    for (uint32_t i = 0; i < s->row.at[r].f.n; i++) {
      int32_t col = s->row.at[r].f.m[i].col;
      if (position(c.at, c.n, col) == c.n) td_vec_push(a, &c, col);
    }
  for (size_t i = nfirst + 1; i < c.n; i++)
    for (size_t j = i; j > nfirst && c.at[j - 1] > c.at[j]; j--) {
      int32_t t = c.at[j];
      c.at[j] = c.at[j - 1];
      c.at[j - 1] = t;
    }
  *out = c.at;
  return c.n;
}

/* Gives d room for `cap` rows. */
static void reserve(TdArena *a, TdDense *d, size_t cap) {
  int64_t *at = TD_NEWN(a, int64_t, cap * (d->ncol + 1));
  bool *eq = TD_NEWN(a, bool, cap);
  if (d->n) {
    memcpy(at, d->at, d->n * (d->ncol + 1) * sizeof *at);
    memcpy(eq, d->eq, d->n * sizeof *eq);
  }
  d->at = at;
  d->eq = eq;
  d->cap = cap;
}

TdDense td_dense_of(TdArena *a, const TdSys *s, const int32_t *first, size_t nfirst) {
  TdDense d = {0};
  d.ncol = list_columns(a, s, first, nfirst, &d.col);
  reserve(a, &d, s->row.n);
  d.n = s->row.n;
  for (size_t r = 0; r < d.n; r++) {
    TdAff f = s->row.at[r].f;
    int64_t *row = td_dense_row(&d, r);
    row[0] = f.c;
    for (uint32_t i = 0; i < f.n; i++) row[1 + position(d.col, d.ncol, f.m[i].col)] = f.m[i].coef;
    d.eq[r] = s->row.at[r].eq;
  }
  return d;
}

TdDense td_dense_copy(TdArena *a, const TdDense *d) {
  TdDense r = *d;
  reserve(a, &r, d->n);
  return r;
}

/* Forgets row r; the last row takes its place. */
static void drop(TdDense *d, size_t r) {
  d->n--;
  if (r == d->n) return;
  memcpy(td_dense_row(d, r), td_dense_row(d, d->n), (d->ncol + 1) * sizeof *d->at);
  d->eq[r] = d->eq[d->n];
}

/* into = x * row p + y * row q; false on overflow. `into` may be row p or q itself. */
static bool combine(const TdDense *d, int64_t *into, int64_t x, const int64_t *p, int64_t y,
                    const int64_t *q) {
  for (size_t i = 0; i <= d->ncol; i++) {
    int64_t s, t;
    if (!td_sys_mul64(x, p[i], &s) || !td_sys_mul64(y, q[i], &t) || !td_sys_add64(s, t, &s) ||
        s <= -TD_SYS_MOST || s >= TD_SYS_MOST)
      return false;
    into[i] = s;
  }
  return true;
}

/* Divides row r by the gcd of its coefficients and tightens it. NO: no integers satisfy it; YES:
 * all do; UNKNOWN: it stays. */
static TdTruth tidy_row(const TdDense *d, size_t r) {
  int64_t *row = td_dense_row(d, r), g = 0;
  for (size_t i = 1; i <= d->ncol; i++)
    if (row[i]) g = td_sys_gcd64(g, row[i]);
  if (!g) return (d->eq[r] ? row[0] == 0 : row[0] >= 0) ? TD_YES : TD_NO;
  if (g == 1) return TD_UNKNOWN;
  if (d->eq[r] && row[0] % g) return TD_NO;
  row[0] = td_sys_floor64(row[0], g);
  for (size_t i = 1; i <= d->ncol; i++) row[i] /= g;
  return TD_UNKNOWN;
}

/* 1 if rows p and q have equal coefficients, -1 if opposite ones, else 0. */
static int parallel(const TdDense *d, const int64_t *p, const int64_t *q) {
  int sign = 0;
  for (size_t i = 1; i <= d->ncol; i++) {
    if (!p[i] && !q[i]) continue;
    int s = p[i] == q[i] ? 1 : p[i] == -q[i] ? -1 : 0;
    if (!s || (sign && s != sign)) return 0;
    sign = s;
  }
  return sign;
}

/* Merges the parallel rows p < q: NO when they contradict each other, YES when q is now implied by
 * p, UNKNOWN when both are needed. */
static TdTruth merge(TdDense *d, size_t p, size_t q) {
  int64_t *x = td_dense_row(d, p), *y = td_dense_row(d, q), gap;
  int sign = parallel(d, x, y);
  if (!sign) return TD_UNKNOWN;
  if (sign > 0 ? !td_sys_add64(y[0], -x[0], &gap) : !td_sys_add64(x[0], y[0], &gap))
    return TD_UNKNOWN;
  if (d->eq[p] && d->eq[q]) return gap ? TD_NO : TD_YES;
  if (sign > 0 && !d->eq[p] && !d->eq[q]) {
    if (gap < 0) x[0] = y[0];
    return TD_YES;
  }
  if (sign < 0 && !d->eq[p] && !d->eq[q]) {
    if (gap > 0) return TD_UNKNOWN;
    d->eq[p] = true;
    return gap < 0 ? TD_NO : TD_YES;
  }
  /* one is an equality, which fixes the value of the other */
  int64_t slack = sign < 0 ? gap : d->eq[p] ? gap : -gap;
  if (slack < 0) return TD_NO;
  if (d->eq[q]) memcpy(x, y, (d->ncol + 1) * sizeof *x);
  d->eq[p] = true;
  return TD_YES;
}

/* Tidies all rows and merges parallel ones; NO when that shows that there is no solution. */
static TdTruth tidy(TdDense *d) {
  for (size_t r = 0; r < d->n;) {
    TdTruth t = tidy_row(d, r);
    for (size_t p = 0; t == TD_UNKNOWN && p < r; p++) t = merge(d, p, r);
    if (t == TD_NO) return TD_NO;
    if (t == TD_YES)
      drop(d, r);
    else
      r++;
  }
  return TD_UNKNOWN;
}

/* Uses an equality with a unit coefficient to rid all other rows of its column. YES when one was
 * found, UNKNOWN when there is none, NO on overflow. */
static TdTruth substitute(TdDense *d) {
  for (size_t r = 0; r < d->n; r++) {
    if (!d->eq[r]) continue;
    int64_t *row = td_dense_row(d, r);
    size_t c = 1;
    while (c <= d->ncol && row[c] != 1 && row[c] != -1) c++;
    if (c > d->ncol) continue;
    for (size_t i = 0; i < d->n; i++) {
      int64_t *other = td_dense_row(d, i), k = i == r ? 0 : other[c];
      if (k && !combine(d, other, 1, other, row[c] == 1 ? -k : k, row)) return TD_NO;
    }
    drop(d, r);
    return TD_YES;
  }
  return TD_UNKNOWN;
}

/* What bounds a column: rows below and above it, and whether eliminating it is exact. */
typedef struct Bounds {
  size_t lower, upper;
  bool exact, in_equality;
} Bounds;

/* What bounds column c. */
static Bounds bounds_of(const TdDense *d, size_t c) {
  Bounds b = {0};
  bool unit_lower = true, unit_upper = true;
  for (size_t r = 0; r < d->n; r++) {
    int64_t k = td_dense_row(d, r)[c];
    b.in_equality |= k && d->eq[r];
    b.lower += k > 0;
    b.upper += k < 0;
    unit_lower &= k <= 1;
    unit_upper &= k >= -1;
  }
  b.exact = unit_lower || unit_upper;
  return b;
}

/* The column that is cheapest to eliminate exactly, or 0. */
static size_t cheapest(const TdDense *d) {
  size_t best = 0, cost = 0;
  for (size_t c = 1; c <= d->ncol; c++) {
    Bounds b = bounds_of(d, c);
    if (b.in_equality || b.lower + b.upper == 0) continue;
    bool free = !b.lower || !b.upper;
    if (!free && (!b.exact || b.lower * b.upper > b.lower + b.upper + GROWTH)) continue;
    size_t price = free ? 0 : b.lower * b.upper;
    if (!best || price < cost) {
      best = c;
      cost = price;
    }
  }
  return best;
}

/* Projects column c away; false on overflow. */
static bool eliminate(TdArena *a, TdDense *d, size_t c) {
  size_t old = d->n;
  Bounds b = bounds_of(d, c);
  if (d->cap < old + b.lower * b.upper) reserve(a, d, old + b.lower * b.upper);
  for (size_t p = 0; p < old; p++)
    for (size_t q = 0; q < old; q++) {
      int64_t *x = td_dense_row(d, p), *y = td_dense_row(d, q);
      if (x[c] <= 0 || y[c] >= 0) continue;
      if (!combine(d, td_dense_row(d, d->n), -y[c], x, x[c], y)) return false;
      d->eq[d->n++] = false;
    }
  for (size_t r = old; r-- > 0;)
    if (td_dense_row(d, r)[c]) drop(d, r);
  return true;
}

TdTruth td_dense_reduce(TdArena *a, TdDense *d, bool *usable) {
  for (*usable = true; d->n <= MOST_ROWS;) {
    if (tidy(d) == TD_NO) return TD_NO;
    TdTruth done = substitute(d);
    if (done == TD_NO) break;
    if (done == TD_YES) continue;
    size_t c = cheapest(d);
    if (!c) return d->n ? TD_UNKNOWN : TD_YES;
    if (!eliminate(a, d, c)) break;
  }
  *usable = false;
  return TD_UNKNOWN;
}

bool td_dense_is_void(TdArena *a, const TdSys *s) {
  if (s->bad) return false;
  TdMark m = td_arena_mark(a);
  TdDense d = td_dense_of(a, s, NULL, 0);
  bool usable, none = td_dense_reduce(a, &d, &usable) == TD_NO;
  td_arena_release(a, m);
  return none;
}
