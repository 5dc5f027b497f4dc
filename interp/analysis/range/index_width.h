/* index_width.h - what intervals tell of indices, at the sizes that a unit has. */
#ifndef TD_ANALYSIS_RANGE_INDEX_WIDTH_H
#define TD_ANALYSIS_RANGE_INDEX_WIDTH_H

#include "affine/access.h"

/* Checks that each index or size beside data in q->unit's body, which is an int(32) there, fits one
 * at the unit's sizes. What depends on data or on a size without value is left to the run. False: d
 * says which does not, code index-wide. */
bool td_index_width_check(const TdAsk *q, TdDiag *d);

/* Whether every index of q->unit's body is seen to be in range. False says nothing: ask
 * td_bounds_check. */
bool td_index_width_inside(const TdAsk *q);

#endif
