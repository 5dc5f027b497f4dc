/* unfuse.h - fused multiply-adds as products and sums. */
#ifndef TD_IR_TEXT_UNFUSE_H
#define TD_IR_TEXT_UNFUSE_H

#include "ir/unit.h"

/* p with each fma(a, b, c) as a * b + c, typed as the two operators are; p itself if it has none.
 * What is new is owned by a. */
const TdProg *td_unfuse_prog(TdArena *a, const TdProg *p);

#endif
