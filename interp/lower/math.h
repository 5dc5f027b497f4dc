/* math.h - functions of floats as the programs of integers that stand for them. */
#ifndef TD_LOWER_MATH_H
#define TD_LOWER_MATH_H

#include "ir/ir.h"

/* A function that a program asks for, and a kernel k(x, y) that stores it of x[0] to y[0] as its
 * last statement; NULL: it stays. */
typedef struct TdMathUse {
  TdOp op;
  const TdType *type;
  TdLoc loc;
  const TdUnit *kernel;
} TdMathUse;
typedef TD_VEC(TdMathUse) TdMathUses;

/* What p asks for, each once, in source order; kernels are left to fill in. */
TdMathUses td_math_uses(TdArena *a, const TdProg *p);
/* A copy of p, owned by a, with the kernels' bodies in front of the statements that use them. NULL
 * with d filled where no place is there: tests of WHILE, and operands that are read only if what
 * stands before holds. */
const TdProg *td_math_expand(TdArena *a, const TdProg *p, const TdMathUses *uses, TdDiag *d);

#endif
