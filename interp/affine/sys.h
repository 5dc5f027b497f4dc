/* sys.h - affine forms and systems of integer constraints, as plain data in an arena. */
#ifndef TD_SYS_H
#define TD_SYS_H

#include "base/base.h"

/* Columns. A parameter (size, scalar parameter, loop around the query) is negative. Loops come in
 * blocks, one block for each set of loops that a system speaks about; from TD_COL_EXTRA on are
 * existential columns, numbered within their system. */
#define TD_COL_BLOCK 64
#define TD_COL_EXTRA 256

/* c + sum of coef * col, columns ascending and coefficients not 0. `bad`: a coefficient overflowed,
 * the form means nothing. */
typedef struct TdMono {
  int64_t coef;
  int32_t col;
} TdMono;
typedef struct TdAff {
  int64_t c;
  const TdMono *m;
  uint32_t n;
  bool bad;
} TdAff;

/* The forms c and 1 * col. */
TdAff td_sys_const(int64_t c);
TdAff td_sys_col(TdArena *a, int32_t col);
/* x + k * y. */
TdAff td_sys_plus(TdArena *a, TdAff x, int64_t k, TdAff y);
/* k * x + c. */
TdAff td_sys_scale(TdArena *a, int64_t k, TdAff x, int64_t c);
/* The coefficient of a column, 0 if f does not have it. */
int64_t td_sys_coef(TdAff f, int32_t col);
/* Whether f has no column, and its value. */
bool td_sys_is_const(TdAff f, int64_t *v);

/* Sums, products and floor division of 64-bit integers; false when the result does not fit. */
bool td_sys_add64(int64_t x, int64_t y, int64_t *r);
bool td_sys_mul64(int64_t x, int64_t y, int64_t *r);
int64_t td_sys_floor64(int64_t x, int64_t y);
int64_t td_sys_gcd64(int64_t x, int64_t y);

/* f == 0, or f >= 0. */
typedef struct TdRow {
  TdAff f;
  bool eq;
} TdRow;

/* Numbers in rows are smaller than this. */
#define TD_SYS_MOST (INT64_C(1) << 62)

/* A conjunction. Zeroed is "true". `bad`: some row overflowed, nothing can be told. */
typedef struct TdSys {
  TD_VEC(TdRow) row;
  int32_t nextra;
  bool bad;
} TdSys;

/* Add the rows f == 0 and f >= 0 to s. */
void td_sys_zero(TdArena *a, TdSys *s, TdAff f);
void td_sys_nonneg(TdArena *a, TdSys *s, TdAff f);
/* The same for x <= y and x < y. */
void td_sys_le(TdArena *a, TdSys *s, TdAff x, TdAff y);
void td_sys_lt(TdArena *a, TdSys *s, TdAff x, TdAff y);
/* A new existential column of s, as a form. */
TdAff td_sys_fresh(TdArena *a, TdSys *s);
/* A copy that grows apart from s. */
TdSys td_sys_copy(TdArena *a, const TdSys *s);

/* Where the columns of a form go when it joins another system. */
typedef struct TdShift {
  int32_t block, extra;
} TdShift;
/* f over the columns of a system that td_sys_join has added to another, over those of the other. */
TdAff td_sys_shift(TdArena *a, TdAff f, TdShift by);
/* Adds the rows of src to dst, its loop blocks moved up by `block`, its existential columns made
 * new ones; returns the shift that forms over src's columns need. */
TdShift td_sys_join(TdArena *a, TdSys *dst, const TdSys *src, int32_t block);

#endif
