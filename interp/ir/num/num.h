/* num.h - arithmetic on typed scalars of up to 64 bits: one definition for folding, the evaluator
 * and the tests. A value is 64 bits: integers and raw words of fixed point sign- or zero-extended;
 * floats of every width as the bits of the double that holds them exactly; bool 0 or 1; index
 * int64. Values of exact types wider than 64 bits are kept modulo 2^64, which commuting operators
 * cannot tell. */
#ifndef TD_IR_NUM_H
#define TD_IR_NUM_H

#include "ir/expr.h"

typedef enum {
  TD_FAULT_NONE,
  TD_FAULT_ZERO_DIVISION, /* x // 0 or x % 0: stops every CPU run */
  TD_FAULT_NEGATIVE_SHIFT,
  TD_FAULT_FLOAT_RANGE /* float to int out of range or NaN */
} TdFault;

/* op on n operands v of types t giving type `to`; faults are reported in *fault (never NULL) and
 * give a defined value. */
uint64_t td_num_op(int op, const TdType *to, const TdType *const *t, const uint64_t *v, int n,
                   TdFault *fault);
/* v of type `from` converted to `to`, by `to`'s mode. */
uint64_t td_num_cast(const TdType *to, const TdType *from, uint64_t v, TdFault *fault);

/* Canonical bits of v as type t (wraps): what a memory cell of type t can hold. */
uint64_t td_num_wrap(const TdType *t, uint64_t v);
/* The double of canonical bits of a float type, and the bits of a double. */
double td_num_double(uint64_t v);
uint64_t td_num_of_double(double x);
/* x rounded to float type t. */
double td_num_round(const TdType *t, double x);
/* Value of any scalar as a double (for printing and tolerance). */
double td_num_to_double(const TdType *t, uint64_t v);

/* The bits of v as t's own format has them, and back. */
uint64_t td_num_word(const TdType *t, uint64_t v);
uint64_t td_num_of_word(const TdType *t, uint64_t word);
/* Memory cells: an element of type t at p (td_type_bytes(t) bytes, host order). */
uint64_t td_num_load(const TdType *t, const void *p);
void td_num_store(const TdType *t, void *p, uint64_t v);

/* v as Lua text: "3", "-2.5", "true", fixed point as its exact decimal value. */
void td_num_print(TdText *out, const TdType *t, uint64_t v);

#endif
