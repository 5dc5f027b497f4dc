/* attempt.h - work that may be given up in the middle; its caller goes on with what there is. */
#ifndef TD_ATTEMPT_H
#define TD_ATTEMPT_H

#include "base/arena.h"

/* Runs fn(ud), which never calls Lua. Where the core escapes from it, scratch arenas that it made
 * are freed, everything else of the context is as before, *why says why, and false is returned. */
bool td_attempt(TdCtx *c, void (*fn)(void *ud), void *ud, TdWhy *why);

#endif
