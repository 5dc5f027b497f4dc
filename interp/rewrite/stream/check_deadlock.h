/* check_deadlock.h - what only a whole design can get wrong: ends of streams, counts of tokens,
 * waiting for
 * ever. */
#ifndef TD_REWRITE_STREAM_CHECK_DEADLOCK_H
#define TD_REWRITE_STREAM_CHECK_DEADLOCK_H

#include "rewrite/prim.h"

/* Whether every design of p, made by a step from r->prog, runs to its end as far as can be told
 * without data; else r->diag says why not. */
bool td_check_deadlock_check(TdRewrite *r, const TdProg *p);
/* p with the assumption that its sizes keep their values, where at multiples or halves of these
 * tasks would wait for each other for ever, or be left with tokens, and those of r->prog would not:
 * depths are numbers, and the order in which a step puts instances may be right for few tokens
 * only. */
const TdProg *td_check_deadlock_elsewhere(TdRewrite *r, const TdProg *p);

#endif
