/* dense.h - a system as a matrix, and the steps that decide most systems before a solver is asked.
 */
#ifndef TD_DENSE_H
#define TD_DENSE_H

#include "affine/sys.h"

/* The third answer is for whatever could not be decided: never a yes. */
typedef enum { TD_NO, TD_YES, TD_UNKNOWN } TdTruth;

/* n rows of 1 + ncol numbers: constant, then coefficients; eq[r] says "== 0", else ">= 0". */
typedef struct TdDense {
  size_t n, cap, ncol;
  int64_t *at;
  bool *eq;
  const int32_t *col; /* the column of the system that each column here stands for */
} TdDense;

/* The rows of s. `first` names columns that come first, in that order, used or not; the others
 * follow in ascending order. */
TdDense td_dense_of(TdArena *a, const TdSys *s, const int32_t *first, size_t nfirst);
TdDense td_dense_copy(TdArena *a, const TdDense *d);
/* Row r: number i of it. */
int64_t *td_dense_row(const TdDense *d, size_t r);

/* Simplifies d to rows that have an integer solution exactly when d has: unit equalities are
 * substituted, columns whose Fourier-Motzkin elimination is exact over the integers leave. YES or
 * NO when that settles whether a solution exists; UNKNOWN otherwise, and then *usable says whether
 * d is still equivalent (false: a coefficient overflowed, ask about the original). */
TdTruth td_dense_reduce(TdArena *a, TdDense *d, bool *usable);

/* Whether s is seen to have no point, without solving. */
bool td_dense_is_void(TdArena *a, const TdSys *s);

#endif
