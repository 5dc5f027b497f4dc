/* lower.h - a program as HLS C++ can say it. */
#ifndef TD_HLS_LOWER_H
#define TD_HLS_LOWER_H

#include "lower/net/region.h"

/* p with its designs as regions, every call passing whole arrays or leading rows of them, all state
 * declared in the root or the tasks of regions, and foreign units in C replaced by their models.
 * The result is in a store of its own that a releases; `regions` says what was a design. NULL with
 * d filled: the root takes streams, or there are foreign units without a model, or what
 * region.c refuses. */
const TdProg *td_hls_lower_prog(TdArena *a, const TdProg *p, TdNetRegions *regions, TdDiag *d);

/* apart.c: p, which is in a store of its own, with kernels `apart` called in front of
 * statements whose views must lie apart and may not; `said` gets what each says, by its uid. */
const TdProg *td_hls_apart_prog(const TdProg *p, TdMap *said);

#endif
