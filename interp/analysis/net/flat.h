/* flat.h - a design as a kernel, for questions about memory: each run is a nest of loops over its
 * ids around the body, on the design's arguments. Streams and meetings are gone; what is put is
 * still read. */
#ifndef TD_ANALYSIS_NET_FLAT_H
#define TD_ANALYSIS_NET_FLAT_H

#include "affine/access.h"

typedef struct TdFlat {
  const TdProg *prog; /* in a store of its own, at the sizes of the design */
  const TdUnit *unit; /* its root, a kernel that still lists its runs */
} TdFlat;

/* The design that is p's root (statement r of the body is run r), with a lifetime of a. False: a
 * size has no value, or a task has no kernel. */
bool td_flat_of(TdArena *a, TdAffine *x, const TdProg *p, TdFlat *out);

#endif
