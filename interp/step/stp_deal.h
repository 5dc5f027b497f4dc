/* stp_deal.h - dealing requests out over regions: in turn, or to the region that is free first. */
#ifndef TD_STP_DEAL_H
#define TD_STP_DEAL_H

#include "step/stp_rewrite.h"

/* Adds what deals `requests` requests to the region that is free first: idle[p] tells that region p
 * is. Returns the stream of selectors: regions in turn at first. */
TdStpRef td_stp_deal_free(TdStpEdit *e, const TdStpNode *like, const TdStpRef *idle, int64_t n,
                          int64_t requests);
/* Adds a stream with one element for each of the outermost dimension of x, when that has passed. */
TdStpRef td_stp_deal_signal(TdStpEdit *e, const TdStpNode *like, TdStpRef x, int ndim);

#endif
