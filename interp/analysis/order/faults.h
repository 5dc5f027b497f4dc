/* faults.h - whether evaluating an expression may stop a run: asked by every step that evaluates
 * one
 * where it perhaps was not evaluated before. docs/soundness.md, 4. */
#ifndef TD_ANALYSIS_ORDER_FAULTS_H
#define TD_ANALYSIS_ORDER_FAULTS_H

#include "affine/access.h"

/* The first part of e that may fault where the statement `at` of q->unit stands: a division whose
 * divisor may be 0, a shift whose count may be negative, an element of an array; NULL: none. */
const TdExpr *td_faults_may(const TdAsk *q, const TdStmt *at, const TdExpr *e);

#endif
