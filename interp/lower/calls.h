/* calls.h - calls as machines can make them: whole arrays or leading rows are passed, state is
 * handed down. */
#ifndef TD_LOWER_CALLS_H
#define TD_LOWER_CALLS_H

#include "lower/net/region.h"

/* p with every call passing whole arrays or leading rows of them, all state declared in the root or
 * the tasks of regions, and foreign units in C replaced by their models. New nodes are owned by p's
 * store, scratch by a; `regions` says what was a design, `machine` names the target in messages.
 * NULL with d filled. */
const TdProg *td_calls_prog(TdArena *a, const TdProg *p, const TdNetRegions *regions,
                            const char *machine, TdDiag *d);

#endif
