/* deadlock_report.h - a deadlock told to people. */
#ifndef TD_ANALYSIS_NET_DEADLOCK_REPORT_H
#define TD_ANALYSIS_NET_DEADLOCK_REPORT_H

#include "analysis/net/depths.h"

/* Fills d ("deadlock") from an order that is stuck at the declared depths: the wait cycle, the
 * fills, the lines, and the depths with which it would run. Uses o up. Returns false. */
bool td_deadlock_report_report(TdOrder *o, TdDiag *d);

#endif
