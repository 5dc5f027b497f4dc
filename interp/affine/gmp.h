/* gmp.h - want of memory in GMP, isl's numbers. */
#ifndef TD_GMP_H
#define TD_GMP_H

#include "base/base.h"

/* Has GMP, if isl computes with it, take memory here, in all of the process; blocks that it had
 * before and blocks that others free stay those of malloc. */
void td_gmp_open(void);
/* From now on calls stop(ud) each time there is no memory for a number, which gets some of a
 * reserve of 4 MiB. The reserve is whole again when none of its blocks is in use; only when it is
 * spent the process aborts. */
void td_gmp_watch(void (*stop)(void *ud), void *ud);
/* Whether memory was lacking since. */
bool td_gmp_lacked(void);

#endif
