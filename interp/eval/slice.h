/* slice.h - what is known of symbolic words: bits that were put in come out again, and so does a
 * value that was cast to bits of its own width. */
#ifndef TD_EVAL_SLICE_H
#define TD_EVAL_SLICE_H

#include "eval/domain.h"

/* How symbolic values were made, as far as that matters. Zeroed is empty. */
typedef struct TdSlices {
  TdMap made;
} TdSlices;

/* The value that x is, if that follows from how its operands were made; else an undefined one. */
TdValue td_slice_known(const TdSlices *s, const TdApply *x);
/* Notes that x gave v. Memory is of arena a. */
void td_slice_note(TdArena *a, TdSlices *s, const TdApply *x, TdValue v);

#endif
