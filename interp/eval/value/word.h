/* word.h - concrete words of more than 64 bits: moved, cut, put together, & | ~. */
#ifndef TD_EVAL_VALUE_WORD_H
#define TD_EVAL_VALUE_WORD_H

#include "eval/value/domain.h"
#include "ir/tensor.h"

/* Whether an operator on concrete values needs more than their low words. */
bool td_word_is_needed(const TdApply *x);
/* Folds it; the value is owned by a. False: words of more than 64 bits have no such operator. */
bool td_word_fold(TdArena *a, const TdApply *x, TdValue *out);

/* A memory cell: an element of scalar type t at p. The value is owned by a. */
TdValue td_word_load(TdArena *a, const TdType *t, const void *p);
void td_word_store(const TdType *t, void *p, TdValue v);

/* What a wide value of type t is in 64 bits, if it fits them: false if not. */
bool td_word_fits(const TdType *t, TdValue v, uint64_t *bits);
/* A hash fed with all of a wide value. */
TdHash td_word_feed(TdHash h, TdValue v);

#endif
