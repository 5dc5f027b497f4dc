/* accept.h - the verdict on a rewrite, told to the user. */
#ifndef TD_ACCEPT_H
#define TD_ACCEPT_H

#include "rewrite/util.h"

/* Whether v allows to turn r->prog into `now`, by a rewrite that `what` names (td_verdict_accept):
 * what is right only because accumulations may change their order is noted; what would change the
 * order of a stream is refused with the orders of both sides. */
bool td_accept_rewrite(TdRewrite *r, const TdVerdict *v, bool reassociate, TdLoc loc,
                       const char *what, const TdProg *now);

#endif
