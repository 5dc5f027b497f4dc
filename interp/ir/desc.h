/* desc.h - the descriptor: an offset and digits (size, stride), outermost first. It maps the digit
 * vectors of its box, in lexicographic order, to places, and so is a function of the ordinal and a
 * sequence of places at once: a layout, the copies of a DMA, the addresses of a stream.
 * docs/layouts.md.
 *
 * Places are one number. Banks, lanes or PEs are digits of the place itself: a place p of four
 * banks of 64 words is in bank p // 64. */
#ifndef TD_DESC_H
#define TD_DESC_H

#include "base/base.h"

/* A stride may be 0 (the same place again) or negative. */
typedef struct TdDigit {
  int64_t n, s;
} TdDigit;

#define TD_DESC_DIGITS 24
typedef struct TdDesc {
  int64_t offset;
  int n;
  TdDigit at[TD_DESC_DIGITS];
} TdDesc;

/* A box of these extents in row-major order: the identity on its ordinals. */
TdDesc td_desc_row_major(const int64_t *extent, int rank);
/* How many ordinals there are; false beyond 2^62. */
bool td_desc_count(const TdDesc *d, int64_t *n);
/* The place of an ordinal in range. */
int64_t td_desc_place(const TdDesc *d, int64_t ordinal);

/* The one form that equal sequences share: no digit of size 1, no two neighbours that are one
 * digit. */
TdDesc td_desc_normal(const TdDesc *d);
/* Whether it is the identity from `offset` on. */
bool td_desc_is_identity(const TdDesc *d);
/* Digit k as two, the inner one of size `inner`; false when that does not divide it. */
bool td_desc_split(TdDesc *d, int k, int64_t inner);

/* The descriptor of n places, in normal form; false when there is none of so few digits. */
bool td_desc_of_places(const int64_t *place, int64_t n, TdDesc *out);

/* Why two descriptors have no composition: digit `inner` of the second, and the digit of the first
 * whose range it leaves or does not meet (-1: an ordinal out of range). */
typedef struct TdDescCarry {
  int outer, inner;
} TdDescCarry;
/* x after y: ordinal k of y is place x(y(k)). y's digits are split where they cross a digit of x;
 * where sums carry, places are enumerated up to 2^12. False with *why: it is no descriptor. */
bool td_desc_compose(const TdDesc *x, const TdDesc *y, TdDesc *out, TdDescCarry *why);

/* The descriptor from places to ordinals; false unless d is one-to-one onto [0, count). */
bool td_desc_inverse(const TdDesc *d, TdDesc *out);

/* "<8; (4, 16)(16, 1)>". */
void td_desc_print(TdText *out, const TdDesc *d);

#endif
