/* float.h - f16, bf16, f32 and f64, each value as the double that equals it: what num.c and
 * promote.c need to know of them. */
#ifndef TD_IR_NUM_FLOAT_H
#define TD_IR_NUM_FLOAT_H

#include "ir/num/num.h"

/* Significant bits, and the exponent of the largest power of two. The last place of the smallest
 * numbers is 2^-(top + precision - 2). */
typedef struct TdFloatFormat {
  int precision, top;
} TdFloatFormat;
/* The format of a float type. */
TdFloatFormat td_num_float_format(const TdType *t);

/* A value of type t as the bits of its own format, and back; every NaN is one. */
uint64_t td_num_float_word(const TdType *t, double x);
double td_num_float_of_word(const TdType *t, uint64_t word);

/* An operator on values of float type t, rounded to t. Not comparisons, selections, or bits. */
double td_num_float_op(int op, const TdType *t, const double *x);

#endif
