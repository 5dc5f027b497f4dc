/* vop.h - operators of the language on numbers in Verilog. */
#ifndef TD_VOP_H
#define TD_VOP_H

#include "backends/verilog/vtree.h"
#include "ir/ir.h"

/* A number: bits, how they are read, and (fixed point) the weight of the lowest, 2^-f. */
typedef struct TdVlNum {
  const TdVl *e;
  bool is_signed;
  int f;
  const TdType *real; /* of a float: its type */
} TdVlNum;

/* What e says as a value of scalar type t. */
TdVlNum td_vop_num(const TdVl *e, const TdType *t);
/* A constant, on as few bits as hold it. */
TdVlNum td_vop_const(TdVlModule *m, int64_t v);
/* The low `width` bits of x. */
const TdVl *td_vop_fit(TdVlModule *m, TdVlNum x, int width);
/* x as a value of scalar type t, by its mode. */
TdVlNum td_vop_cast(TdVlModule *m, const TdType *t, TdVlNum x);
/* op of n operands, whose result is of type t and right in its low `bits` bits; e is NULL where
 * there is no text for it. */
TdVlNum td_vop_apply(TdVlModule *m, TdOp op, const TdType *t, int bits, const TdVlNum *x);
/* vfloat.c: the same where an operand or the result is a float. */
bool td_vfloat_is(const TdType *t);
TdVlNum td_vfloat_apply(TdVlModule *m, TdOp op, const TdType *t, const TdVlNum *x);
TdVlNum td_vfloat_cast(TdVlModule *m, const TdType *t, TdVlNum x);
/* The bits that numbers from lo to hi take; *is_signed: as signed ones. */
int td_vop_width(int64_t lo, int64_t hi, bool *is_signed);

#endif
