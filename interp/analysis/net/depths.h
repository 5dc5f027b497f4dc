/* depths.h - how deep streams must be for a design to run to its end. */
#ifndef TD_ANALYSIS_NET_DEPTHS_H
#define TD_ANALYSIS_NET_DEPTHS_H

#include "analysis/net/token_run.h"

typedef enum {
  TD_DEPTHS_FOUND,
  TD_DEPTHS_NONE,   /* no depths are enough */
  TD_DEPTHS_UNKNOWN /* the data decides the order, or the budget is spent */
} TdDepthsAnswer;

/* Sets depth[line] to a vector that is enough and of which no component, the others kept, can be
 * lowered without going below `floor` (NULL: 1). Wide streams are kept low first. */
TdDepthsAnswer td_depths_least(TdOrder *o, const int64_t *floor, int64_t *depth, uint64_t budget);
/* Whether the design ends at these depths, one for each line. */
typedef bool (*TdDepthsEnds)(void *ud, const int64_t *depth);
/* The same for one input, by runs: of depths up to `most`, the least that `ends` says are enough.
 */
TdDepthsAnswer td_depths_least_by(const TdTraffic *n, TdDepthsEnds ends, void *ud, int64_t most,
                                  int64_t *depth);
/* The bits that the streams in use hold at these depths; those of each line, owned by n. */
uint64_t td_depths_bits(const TdTraffic *n, const int64_t *depth);
const uint64_t *td_depths_line_bits(const TdTraffic *n, const int64_t *depth);

#endif
