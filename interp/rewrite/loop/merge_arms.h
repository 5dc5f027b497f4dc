/* merge_arms.h - the two arms of a condition as one block that shares their loops. */
#ifndef TD_REWRITE_LOOP_MERGE_ARMS_H
#define TD_REWRITE_LOOP_MERGE_ARMS_H

#include "rewrite/util.h"

/* A block that does what `then` does where cond holds, else what `otherwise` does; both are blocks,
 * and nothing in them changes what cond reads. Loops of equal range are one loop, equal statements
 * one statement, in the order of both. */
const TdStmt *td_merge_arms_merge(TdRewrite *r, const TdExpr *cond, const TdStmt *then,
                                  const TdStmt *otherwise);

#endif
