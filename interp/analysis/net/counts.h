/* counts.h - tokens as linear resources: what is put to a stream is got from it. */
#ifndef TD_ANALYSIS_NET_COUNTS_H
#define TD_ANALYSIS_NET_COUNTS_H

#include "analysis/net/ends.h"

/* Whether no stream is surely out of balance; else d ("imbalance") tells both counts. *open is set
 * to the first channel whose balance the data decides, or TD_TRAFFIC_NONE. */
bool td_counts_check(const TdTraffic *n, const TdEnds *ends, uint32_t *open, TdDiag *d);

#endif
