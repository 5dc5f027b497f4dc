/* moved.h - a loop over a range that lies elsewhere, with a body that takes it back. */
#ifndef TD_REWRITE_LOOP_MOVED_H
#define TD_REWRITE_LOOP_MOVED_H

#include "rewrite/util.h"

/* `loop` with its range moved by `by`, over what surrounds the loop, and its variable less `by` in
 * the body: the same iterations in the same order. */
const TdStmt *td_moved_loop(TdRewrite *r, const TdStmt *loop, const TdExpr *by);

/* Argument i, by which something is multiplied or moved: not 0, and small enough that no index
 * comes near 64 bits. False with r->diag filled. */
bool td_moved_amount(TdRewrite *r, int i, TdLoc at, int64_t *n);

#endif
