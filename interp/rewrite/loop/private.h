/* private.h - locals that each iteration of a loop has to itself. */
#ifndef TD_REWRITE_LOOP_PRIVATE_H
#define TD_REWRITE_LOOP_PRIVATE_H

#include "rewrite/util.h"

/* u with the locals that only the loop `uid` uses, and of which an iteration reads nothing but what
 * it has written, declared in the loop's body; what moved is noted. u itself if there are none. */
const TdUnit *td_private_locals(TdRewrite *r, const TdUnit *u, uint32_t uid);

#endif
