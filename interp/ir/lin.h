/* lin.h - quasi-affine normal form of index expressions: constant + sum of coefficient * atom. */
#ifndef TD_LIN_H
#define TD_LIN_H

#include "ir/unit.h"

/* An atom is a VAR, a SIZE, `x // c` or `x % c` of a canonical x by a constant, or an opaque index
 * expression. */
typedef struct TdTerm {
  int64_t coef; /* not 0 */
  const TdExpr *atom;
} TdTerm;
typedef struct TdLin {
  int64_t constant;
  size_t n;
  TdTerm *term; /* in order of first occurrence, atoms distinct */
} TdLin;

/* The normal form of an index (or integer) expression; always succeeds, what is not affine is an
 * opaque atom. */
TdLin td_lin_of(TdSession *s, TdArena *a, const TdExpr *e);
/* a + k * b. */
TdLin td_lin_add(TdSession *s, TdArena *a, TdLin x, int64_t k, TdLin y);
/* Coefficient of variable or size; 0 if absent. Occurrences inside atoms do not count. */
int64_t td_lin_coef(const TdLin *x, TdSym var);
/* Whether some atom is opaque (not VAR, SIZE, or // and % of such). */
bool td_lin_is_affine(const TdLin *x);
/* The canonical expression of type index, owned by a. */
const TdExpr *td_lin_expr(TdSession *s, TdArena *a, const TdLin *x, TdLoc loc);
/* e in the one form that equal sums share: canonical, with terms in the order of their names. */
const TdExpr *td_lin_sorted(TdSession *s, TdArena *a, const TdExpr *e);
/* e in canonical form. */
const TdExpr *td_lin_simplify(TdSession *s, TdArena *a, const TdExpr *e);
/* Whether x - y is a constant, and which: equality that needs no facts about variables. */
bool td_lin_diff(TdSession *s, const TdExpr *x, const TdExpr *y, int64_t *d);

/* Shorthands for building index expressions, simplified. */
const TdExpr *td_lin_plus(TdSession *s, TdArena *a, const TdExpr *x, const TdExpr *y);
const TdExpr *td_lin_minus(TdSession *s, TdArena *a, const TdExpr *x, const TdExpr *y);
const TdExpr *td_lin_times(TdSession *s, TdArena *a, const TdExpr *x, int64_t k);
const TdExpr *td_lin_floordiv(TdSession *s, TdArena *a, const TdExpr *x, int64_t k);
const TdExpr *td_lin_ceildiv(TdSession *s, TdArena *a, const TdExpr *x, int64_t k);
const TdExpr *td_lin_mod(TdSession *s, TdArena *a, const TdExpr *x, int64_t k);

#endif
