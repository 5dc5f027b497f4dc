/* owner.h - who owns a state: an instance, which is a path of runs and calls from the root. A step
 * may move statements to other paths, but two uses of a state that shared it still do, and two that
 * did not still do not. docs/soundness.md, 2. */
#ifndef TD_OWNER_H
#define TD_OWNER_H

#include "rewrite/prim.h"

/* Whether the uses of each state, in all units below the root, are owned as in r->prog; else
 * refuses ("state") and names two places that a step would put together or apart. */
bool td_owner_check(TdRewrite *r, const TdProg *now);

#endif
