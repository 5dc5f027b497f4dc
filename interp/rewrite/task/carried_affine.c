/* carried_affine.c - the iteration that writes an element, where loops were skewed or turned: the
 * indices are affine in several loops each, and the distance solves F s = d, by elimination without
 * fractions (Bareiss). */
#include "rewrite/task/carried.h"

enum { MOST = 1 << 20 }; /* of a factor: products of two stay far from 64 bits */

typedef struct System {
  int64_t row[TD_CARRIED_LOOPS][TD_CARRIED_LOOPS + 1]; /* the distance last */
  size_t rows, cols;
} System;

static int64_t gcd(int64_t x, int64_t y) {
  while (y) {
    int64_t rest = x % y;
    x = y;
    y = rest;
  }
  return x < 0 ? -x : x;
}

/* Reads the factors of the loops in dimension m of the place; false: too large, or too many. */
static bool read_row(const TdCarried *c, const TdCarriedArray *a, uint32_t m, int64_t d,
                     System *s) {
  TdLin x = td_lin_of(c->r->session, c->r->arena, a->place->kid[m]);
  if (s->rows == TD_CARRIED_LOOPS || d >= MOST || d <= -MOST || !td_lin_is_affine(&x)) return false;
  int64_t *row = s->row[s->rows++];
  for (size_t k = 0; k < c->nloop; k++) {
    row[k] = td_lin_coef(&x, c->loop[k]->sym);
    if (row[k] >= MOST || row[k] <= -MOST) return false;
  }
  row[c->nloop] = d;
  for (size_t i = 0; i < x.n; i++)
    for (size_t k = 0; k < c->nloop; k++)
      if (x.term[i].atom->kind != TD_EXPR_VAR && td_walk_uses_expr(x.term[i].atom, c->loop[k]->sym))
        return false;
  return true;
}

/* Takes column k out of all rows but `pivot`; false where factors grow too large. */
static bool eliminate(System *s, size_t pivot, size_t k) {
  for (size_t i = 0; i < s->rows; i++) {
    int64_t f = s->row[i][k], p = s->row[pivot][k], g = 0;
    if (i == pivot || !f) continue;
    for (size_t n = 0; n <= s->cols; n++) {
      int64_t x = s->row[i][n] * p - s->row[pivot][n] * f;
      s->row[i][n] = x;
      g = gcd(g, x);
    }
    for (size_t n = 0; n <= s->cols; n++) {
      if (g > 1) s->row[i][n] /= g;
      if (s->row[i][n] >= MOST || s->row[i][n] <= -MOST) return false;
    }
  }
  return true;
}

TdCarriedSolved td_carried_affine(const TdCarried *c, const TdCarriedArray *a, const int64_t *by,
                                  TdStride *out, bool *again) {
  System s = {.cols = c->nloop};
  size_t rank = 0, pivot[TD_CARRIED_LOOPS];
  for (uint32_t m = 0; m < a->place->nkid; m++)
    if (!read_row(c, a, m, by[m], &s)) return TD_SOLVED_MANY;
  *again = false;
  for (size_t k = 0; k < s.cols; k++) {
    size_t i = rank;
    bool used = false;
    while (i < s.rows && !s.row[i][k]) i++;
    for (size_t n = 0; n < s.rows; n++) used |= s.row[n][k] != 0;
    *again |= !used;
    if (i == s.rows && used) return TD_SOLVED_MANY;
    if (i == s.rows) continue;
    for (size_t n = 0; n <= s.cols; n++) {
      int64_t x = s.row[i][n];
      s.row[i][n] = s.row[rank][n];
      s.row[rank][n] = x;
    }
    pivot[rank] = k;
    if (!eliminate(&s, rank++, k)) return TD_SOLVED_MANY;
  }
  *out = (TdStride){0};
  for (size_t i = 0; i < s.rows; i++) {
    int64_t d = s.row[i][s.cols];
    if (i >= rank && d) return TD_SOLVED_NONE;
    if (i >= rank) continue;
    if (d % s.row[i][pivot[i]]) return TD_SOLVED_NONE;
    out->by[pivot[i]] = d / s.row[i][pivot[i]];
  }
  return TD_SOLVED_ONE;
}
