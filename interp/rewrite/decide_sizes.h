/* decide_sizes.h - what depends on sizes in a way that the printed form would not load back becomes
 * what it
 * is at their values. */
#ifndef TD_REWRITE_DECIDE_SIZES_H
#define TD_REWRITE_DECIDE_SIZES_H

#include "rewrite/util.h"

/* u, of p, with the choices made that sizes alone decide: conditions, and min and max in bounds.
 * What does not follow from what is known of the sizes is assumed. */
const TdUnit *td_decide_choices(TdRewrite *r, const TdProg *p, const TdUnit *u);

/* p with u, whose sizes that are in no type or loop bound are replaced by their values. What the
 * root shares of them is assumed to have that value. */
const TdProg *td_decide_sizes(TdRewrite *r, const TdProg *p, const TdUnit *u);

#endif
