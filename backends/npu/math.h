/* math.h - exp and its kin as cores compute them: in single precision, of additions, products and
 * quotients. */
#ifndef TD_NPU_MATH_H
#define TD_NPU_MATH_H

#include "base/base.h"

/* The C++ of those that a text of kernels calls from libm, which then stand for them; "": none. */
const char *td_npu_math_of(TdArena *a, const char *text);

#endif
