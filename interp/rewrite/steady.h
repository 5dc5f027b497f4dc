/* steady.h - bounds that may be read more often than they were. */
#ifndef TD_STEADY_H
#define TD_STEADY_H

#include "rewrite/util.h"

/* Whether the body of the loop, in unit u, leaves alone what its bounds read: they are read once,
 * and may then be read again. False with r->diag filled. */
bool td_steady_bounds(TdRewrite *r, const TdUnit *u, const TdStmt *loop);

#endif
