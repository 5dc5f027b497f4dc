/* work.h - how many operations on data a program does at its sizes. */
#ifndef TD_ANALYSIS_TIME_WORK_H
#define TD_ANALYSIS_TIME_WORK_H

#include "ir/ir.h"

/* Counts operations on numbers other than indices: each operator one, fma two, a product of
 * matrices two for each term. A branch that data decides counts as the larger of its two. False:
 * a loop runs as data says, or a size has no value, which d tells. Scratch is in a. */
bool td_work_count(TdArena *a, const TdProg *p, int64_t *count, TdDiag *d);

#endif
