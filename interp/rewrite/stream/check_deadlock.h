/* check_deadlock.h - what only a whole design can get wrong: ends of streams, counts of tokens,
 * waiting for
 * ever. */
#ifndef TD_REWRITE_STREAM_CHECK_DEADLOCK_H
#define TD_REWRITE_STREAM_CHECK_DEADLOCK_H

#include "rewrite/prim.h"

/* Whether every design of p, made by a step from r->prog, runs to its end as far as can be told
 * without data; else r->diag says why not. */
bool td_check_deadlock_check(TdRewrite *r, const TdProg *p);

#endif
