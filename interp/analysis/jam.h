/* jam.h - a deadlock told to people. */
#ifndef TD_JAM_H
#define TD_JAM_H

#include "analysis/depths.h"

/* Fills d ("deadlock") from an order that is stuck at the declared depths: the wait cycle, the
 * fills, the lines, and the depths with which it would run. Uses o up. Returns false. */
bool td_jam_report(TdOrder *o, TdDiag *d);

#endif
