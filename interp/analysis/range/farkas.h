/* farkas.h - bounds of a form as sums of known inequalities: what settles ordinary subscripts. */
#ifndef TD_ANALYSIS_RANGE_FARKAS_H
#define TD_ANALYSIS_RANGE_FARKAS_H

#include "affine/sys.h"

/* Whether f >= 0 is a sum of multiples of the rows of n systems (over the same columns): replaces
 * each column, innermost first, by a bound that the rows give it. False says nothing. */
bool td_farkas_follows(TdArena *a, const TdSys *const *facts, size_t n, TdAff f);

/* Lower bounds of f found in the same way, over the parameters that are not marked in `drop` (one
 * entry for each parameter, or NULL): at most `most`, into out. Returns how many. Owned by a. */
size_t td_farkas_lower(TdArena *a, const TdSys *const *facts, size_t n, TdAff f, const bool *drop,
                       TdAff *out, size_t most);

#endif
