/* bits.h - whether two expressions have the same value whatever their inputs are, decided bit by
 * bit: so min is a select of a comparison, x // 8 a shift, x % 8 a mask, and so on, in the width of
 * every type. What has no bits of its own is an unknown, one for equal operands: products of two
 * unknowns, quotients by other numbers than powers of two, all on floats but selects. */
#ifndef TD_EVAL_BITS_H
#define TD_EVAL_BITS_H

#include "eval/value/domain.h"

typedef struct TdBits TdBits;

/* For values of a graph of td_intern_new; owned by a. */
TdBits *td_bits_new(TdArena *a, const void *graph);
/* Whether symbolic values x and y are surely equal; false: they differ, or are too large. */
bool td_bits_same(TdBits *b, TdValue x, TdValue y);

#endif
