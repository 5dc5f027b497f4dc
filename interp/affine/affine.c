/* affine.c - systems to isl sets and back. */
#include "affine/affine.h"

#include <isl/ctx.h>
#include <isl/version.h>
#include <isl/ilp.h>
#include <isl/mat.h>
#include <isl/options.h>
#include <isl/point.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>
#include <limits.h>

/* Some tenths of a second of isl's work. */
#define DEFAULT_BUDGET 500000ul

struct TdAffine {
  isl_ctx *isl;
  TdCtx *ctx;
  unsigned long budget;
  TdAffineCount count;
};

/* Deferred on the arena of a solver. */
static void free_isl(void *p) {
  TdAffine *x = p;
  isl_ctx_free(x->isl);
}

TdAffine *td_affine_new(TdArena *a) {
  TdAffine *x = TD_NEW(a, TdAffine);
  x->ctx = td_arena_ctx(a);
  x->budget = DEFAULT_BUDGET;
  td_arena_defer(a, free_isl, x);
  x->isl = isl_ctx_alloc();
  if (!x->isl) td_ctx_escape(x->ctx, TD_WHY_MEMORY);
  isl_options_set_on_error(x->isl, ISL_ON_ERROR_CONTINUE);
  return x;
}

void td_affine_set_budget(TdAffine *x, unsigned long steps) {
  x->budget = steps;
}

void td_affine_abort(TdAffine *x) {
  isl_ctx_abort(x->isl);
}

const char *td_affine_version(void) {
  return isl_version();
}

TdCtx *td_affine_ctx(const TdAffine *x) {
  return x->ctx;
}

TdAffineCount td_affine_count(const TdAffine *x) {
  return x->count;
}

/* Counts a question; escapes when the user has interrupted. */
static void ask(TdAffine *x) {
  td_ctx_tick(x->ctx, 1);
  x->count.asked++;
}

/* Readies isl for one question; escapes when the user has interrupted. */
static void begin(TdAffine *x) {
  isl_ctx_resume(x->isl);
  td_ctx_tick(x->ctx, 1);
  td_ctx_need_room(x->ctx);
  isl_ctx_reset_error(x->isl);
  isl_ctx_reset_operations(x->isl);
  isl_ctx_set_max_operations(x->isl, x->budget);
  x->count.solved++;
}

/* After a question, whose objects are freed: escapes if there was too little memory for it. */
static void end(TdAffine *x) {
  if (isl_ctx_last_error(x->isl) == isl_error_alloc) td_ctx_escape(x->ctx, TD_WHY_MEMORY);
}

/* m with element (r, c) set to v. */
static isl_mat *set_element(isl_ctx *isl, isl_mat *m, int r, int c, int64_t v) {
  if (v >= INT_MIN && v <= INT_MAX) return isl_mat_set_element_si(m, r, c, (int)v);
  return isl_mat_set_element_val(m, r, c, isl_val_int_from_si(isl, (long)v));
}

/* The rows of d that are equalities (or are not). */
static isl_mat *matrix_of(isl_ctx *isl, const TdDense *d, bool eq) {
  unsigned n = 0;
  for (size_t r = 0; r < d->n; r++) n += d->eq[r] == eq;
  isl_mat *m = isl_mat_alloc(isl, n, (unsigned)d->ncol + 1);
  int at = 0;
  for (size_t r = 0; r < d->n; r++) {
    if (d->eq[r] != eq) continue;
    for (size_t c = 0; c <= d->ncol; c++)
      m = set_element(isl, m, at, (int)c, td_dense_row(d, r)[c]);
    at++;
  }
  return m;
}

/* d as a set of its first `nset` columns; the others are existential. */
static isl_basic_set *set_of(TdAffine *x, const TdDense *d, size_t nset) {
  isl_mat *eq = matrix_of(x->isl, d, true), *ineq = matrix_of(x->isl, d, false);
  return isl_basic_set_from_constraint_matrices(isl_space_set_alloc(x->isl, 0, (unsigned)nset), eq,
                                                ineq, isl_dim_cst, isl_dim_param, isl_dim_set,
                                                isl_dim_div);
}

/* isl's answer as ours; an error is not known. */
static TdTruth truth_of(isl_bool b) {
  return b == isl_bool_error ? TD_UNKNOWN : b ? TD_YES : TD_NO;
}

/* v as a 64-bit integer; false if it is none. Takes v. */
static bool take_int(isl_val *v, int64_t *out) {
  bool ok = v && isl_val_is_int(v) == isl_bool_true && isl_val_cmp_si(v, LONG_MAX) < 0 &&
            isl_val_cmp_si(v, LONG_MIN) > 0;
  if (ok) *out = isl_val_get_num_si(v);
  isl_val_free(v);
  return ok;
}

/* Whether d has a point, asked of isl. */
static TdTruth solve(TdAffine *x, const TdDense *d) {
  begin(x);
  isl_basic_set *b = set_of(x, d, d->ncol);
  isl_bool empty = isl_basic_set_is_empty(b);
  isl_basic_set_free(b);
  end(x);
  return truth_of(isl_bool_not(empty));
}

TdTruth td_affine_has_point(TdAffine *x, const TdSys *s) {
  ask(x);
  if (s->bad) return TD_UNKNOWN;
  TdArena *a = td_arena_scratch(x->ctx);
  TdDense d = td_dense_of(a, s, NULL, 0), reduced = td_dense_copy(a, &d);
  bool usable;
  TdTruth t = td_dense_reduce(a, &reduced, &usable);
  if (t == TD_UNKNOWN) t = solve(x, usable ? &reduced : &d);
  td_arena_free(a);
  return t;
}

/* Takes the first n coordinates of p into val; false if p is void or a value does not fit. Takes p.
 */
static bool take_point(isl_point *p, size_t n, int64_t *val) {
  bool ok = p && isl_point_is_void(p) == isl_bool_false;
  for (size_t i = 0; ok && i < n; i++)
    ok = take_int(isl_point_get_coordinate_val(p, isl_dim_set, (int)i), &val[i]);
  isl_point_free(p);
  return ok;
}

/* b without the points that have a negative coordinate. */
static isl_basic_set *non_negative(isl_basic_set *b, size_t n) {
  for (size_t i = 0; i < n; i++)
    b = isl_basic_set_lower_bound_val(b, isl_dim_set, (unsigned)i,
                                      isl_val_zero(isl_basic_set_get_ctx(b)));
  return b;
}

TdTruth td_affine_point(TdAffine *x, const TdSys *s, const int32_t *col, size_t n, int64_t *val) {
  ask(x);
  if (s->bad) return TD_UNKNOWN;
  TdArena *a = td_arena_scratch(x->ctx);
  TdDense d = td_dense_of(a, s, col, n);
  begin(x);
  isl_basic_set *b = set_of(x, &d, d.ncol);
  isl_set *least = isl_basic_set_lexmin(non_negative(isl_basic_set_copy(b), d.ncol));
  bool found = take_point(isl_set_sample_point(least), n, val);
  if (!found) found = take_point(isl_basic_set_sample_point(isl_basic_set_copy(b)), n, val);
  isl_bool empty = found ? isl_bool_false : isl_basic_set_is_empty(b);
  isl_basic_set_free(b);
  end(x);
  td_arena_free(a);
  return found ? TD_YES : empty == isl_bool_true ? TD_NO : TD_UNKNOWN;
}

TdTruth td_affine_max(TdAffine *x, const TdSys *s, TdAff f, int64_t *v) {
  ask(x);
  if (s->bad || f.bad) return TD_UNKNOWN;
  TdArena *a = td_arena_scratch(x->ctx);
  TdSys with = td_sys_copy(a, s);
  TdAff goal = td_sys_fresh(a, &with);
  td_sys_zero(a, &with, td_sys_plus(a, goal, -1, f));
  TdDense d = td_dense_of(a, &with, &goal.m->col, 1);
  begin(x);
  isl_val *most = isl_basic_set_dim_max_val(set_of(x, &d, d.ncol), 0);
  bool known = most && (isl_val_is_nan(most) || isl_val_is_infty(most));
  bool found = take_int(most, v);
  end(x);
  td_arena_free(a);
  return found ? TD_YES : known ? TD_NO : TD_UNKNOWN;
}

/* The parameters of n systems and the columns `keep`, all of which a set must show. */
static size_t shown_columns(TdArena *a, const TdSys *s, size_t n, const int32_t *keep, size_t nkeep,
                            int32_t **out) {
  TD_VEC(int32_t) c = {0};
  for (size_t i = 0; i < nkeep; i++) td_vec_push(a, &c, keep[i]);
  for (size_t i = 0; i < n; i++)
    for (size_t r = 0; r < s[i].row.n; r++) {
      TdAff f = s[i].row.at[r].f;
      for (uint32_t t = 0; t < f.n && f.m[t].col < 0; t++) {
        size_t k = 0;
        while (k < c.n && c.at[k] != f.m[t].col) k++;
        if (k == c.n) td_vec_push(a, &c, f.m[t].col);
      }
    }
  *out = c.at;
  return c.n;
}

/* Systems as matrices whose first nset columns are the same: `shown`, those asked for and all
 * parameters. */
typedef struct Matrices {
  TdDense *at;
  size_t nset;
  int32_t *shown;
} Matrices;

/* n systems as matrices; false if one of them is bad. */
static bool dense_list(TdArena *a, const TdSys *s, size_t n, const int32_t *keep, size_t nkeep,
                       Matrices *m) {
  m->nset = shown_columns(a, s, n, keep, nkeep, &m->shown);
  m->at = TD_NEWN(a, TdDense, n);
  for (size_t i = 0; i < n; i++) {
    if (s[i].bad) return false;
    m->at[i] = td_dense_of(a, &s[i], m->shown, m->nset);
  }
  return true;
}

/* The union of n matrices as sets of `nset` columns. */
static isl_set *union_of(TdAffine *x, const TdDense *d, size_t n, size_t nset) {
  isl_set *u = isl_set_empty(isl_space_set_alloc(x->isl, 0, (unsigned)nset));
  for (size_t i = 0; i < n; i++)
    u = isl_set_union(u, isl_set_from_basic_set(set_of(x, &d[i], nset)));
  return u;
}

TdTruth td_affine_covers(TdAffine *x, const TdSys *region, const TdSys *part, size_t nparts,
                         const int32_t *keep, size_t n) {
  ask(x);
  TdArena *a = td_arena_scratch(x->ctx);
  TdSys *all = TD_NEWN(a, TdSys, nparts + 1);
  all[0] = *region;
  for (size_t i = 0; i < nparts; i++) all[i + 1] = part[i];
  Matrices m;
  TdTruth t = TD_UNKNOWN;
  if (dense_list(a, all, nparts + 1, keep, n, &m)) {
    begin(x);
    isl_set *whole = union_of(x, m.at, 1, m.nset);
    isl_set *cover = union_of(x, m.at + 1, nparts, m.nset);
    t = truth_of(isl_set_is_subset(whole, cover));
    isl_set_free(whole);
    isl_set_free(cover);
    end(x);
  }
  td_arena_free(a);
  return t;
}

TdTruth td_affine_outside(TdAffine *x, const TdSys *region, const TdSys *part, size_t nparts,
                          const int32_t *keep, size_t n, int64_t *val) {
  ask(x);
  TdArena *a = td_arena_scratch(x->ctx);
  TdSys *all = TD_NEWN(a, TdSys, nparts + 1);
  all[0] = *region;
  for (size_t i = 0; i < nparts; i++) all[i + 1] = part[i];
  Matrices m;
  bool found = false;
  isl_bool empty = isl_bool_error;
  if (dense_list(a, all, nparts + 1, keep, n, &m)) {
    begin(x);
    isl_set *left =
        isl_set_subtract(union_of(x, m.at, 1, m.nset), union_of(x, m.at + 1, nparts, m.nset));
    empty = isl_set_is_empty(left);
    if (!empty) {
      found = take_point(isl_set_sample_point(isl_set_lexmin(isl_set_copy(left))), n, val);
      if (!found) found = take_point(isl_set_sample_point(isl_set_copy(left)), n, val);
    }
    isl_set_free(left);
    end(x);
  }
  td_arena_free(a);
  return found ? TD_YES : empty == isl_bool_true ? TD_NO : TD_UNKNOWN;
}

/* What a hull is read from; freed with the arena it hangs on. */
typedef struct Hull {
  isl_mat *eq, *ineq;
} Hull;

/* Deferred on the arena of a hull. */
static void free_hull(void *p) {
  Hull *h = p;
  isl_mat_free(h->eq);
  isl_mat_free(h->ineq);
}

/* Adds the rows of m to out; column c of m stands for col[c - 1]. False if a number does not fit.
 */
static bool add_rows(TdArena *a, isl_mat *m, bool eq, const int32_t *col, TdSys *out) {
  int rows = (int)isl_mat_rows(m), cols = (int)isl_mat_cols(m);
  for (int r = 0; r < rows; r++) {
    TdAff f = {0};
    for (int c = 0; c < cols; c++) {
      int64_t v;
      if (!take_int(isl_mat_get_element_val(m, r, c), &v)) return false;
      f = c ? td_sys_plus(a, f, v, td_sys_col(a, col[c - 1])) : td_sys_const(v);
    }
    if (eq)
      td_sys_zero(a, out, f);
    else
      td_sys_nonneg(a, out, f);
  }
  return rows >= 0 && !out->bad;
}

bool td_affine_hull(TdAffine *x, TdArena *a, const TdSys *part, size_t nparts, const int32_t *keep,
                    size_t n, TdSys *out) {
  ask(x);
  TdArena *scratch = td_arena_scratch(x->ctx);
  Matrices m;
  Hull *h = TD_NEW(scratch, Hull);
  td_arena_defer(scratch, free_hull, h);
  bool ok = dense_list(scratch, part, nparts, keep, n, &m);
  if (ok) {
    begin(x);
    isl_set *u = isl_set_remove_divs(union_of(x, m.at, nparts, m.nset));
    isl_basic_set *b = isl_basic_set_remove_divs(isl_set_simple_hull(u));
    h->eq =
        isl_basic_set_equalities_matrix(b, isl_dim_cst, isl_dim_param, isl_dim_set, isl_dim_div);
    h->ineq =
        isl_basic_set_inequalities_matrix(b, isl_dim_cst, isl_dim_param, isl_dim_set, isl_dim_div);
    isl_basic_set_free(b);
    ok = h->eq && h->ineq && add_rows(a, h->eq, true, m.shown, out) &&
         add_rows(a, h->ineq, false, m.shown, out);
    end(x);
  }
  td_arena_free(scratch);
  return ok;
}
