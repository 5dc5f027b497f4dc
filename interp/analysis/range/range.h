/* range.h - what is known of index expressions and conditions where a statement stands. */
#ifndef TD_ANALYSIS_RANGE_H
#define TD_ANALYSIS_RANGE_H

#include "affine/access.h"

/* Whether a condition over loop variables, sizes and parameters is true whenever control reaches
 * the statement `at` of q->unit, for all sizes or at the unit's values. */
TdTruth td_range_holds(const TdAsk *q, const TdStmt *at, const TdExpr *cond, bool at_values);

/* The least and the greatest value of an index expression at `at`, at the unit's sizes. False:
 * not bounded, or not known. */
bool td_range_of(const TdAsk *q, const TdStmt *at, const TdExpr *e, int64_t *lo, int64_t *hi);

/* Whether a loop runs at least once whenever it is reached. */
bool td_range_runs(const TdAsk *q, const TdStmt *loop, bool at_values);
/* How often a loop runs if that is always the same, at the unit's sizes. */
bool td_range_trip(const TdAsk *q, const TdStmt *loop, int64_t *n);
/* How often it runs, as an expression over what surrounds it. Owned by q->arena. */
const TdExpr *td_range_trip_expr(const TdAsk *q, const TdStmt *loop);

#endif
