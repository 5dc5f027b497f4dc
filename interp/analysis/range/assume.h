/* assume.h - what units assume of their sizes and index parameters: proved where they are called,
 * or to be checked there in every run. No analysis of a body may rest on an assumption that is
 * neither. */
#ifndef TD_ANALYSIS_RANGE_ASSUME_H
#define TD_ANALYSIS_RANGE_ASSUME_H

#include "analysis/range/range.h"

/* Whether assumption i of unit u holds whenever a call of it, a statement of q->unit, is reached:
 * for all sizes of that unit, or at their values. */
bool td_assume_holds(const TdAsk *q, const TdUnit *u, size_t i, const TdStmt *call, bool at_values);
/* Which assumptions of q->unit a run must check, because a call or task of it does not prove them;
 * those of the root its caller checks. Owned by q->arena. */
const bool *td_assume_open(const TdAsk *q);

#endif
