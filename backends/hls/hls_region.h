/* hls_region.h - a design as a dataflow region: a unit whose body calls one task after the other.
 */
#ifndef TD_HLS_REGION_H
#define TD_HLS_REGION_H

#include "backends/hls/hls_net.h"

/* Streams that are listed as one argument of a call; n is 0 for any other argument. */
typedef struct TdHlsGiven {
  uint32_t n;
  const TdExpr **at;
} TdHlsGiven;

/* A region: the calls of its body by name, and the streams that lead to an earlier call. */
typedef struct TdHlsRegion {
  const char **label; /* parallel to the body's calls */
  TdHlsGiven **given; /* the same, each parallel to the parameters */
  const TdSym *feedback;
  size_t nfeedback;
  bool is_stateful;
} TdHlsRegion;

/* What is known of units beside their text. */
typedef struct TdHlsRegions {
  TdMap region; /* symbol of a unit -> TdHlsRegion *, of those that were designs */
  TdMap task;   /* symbol of a unit -> TdHlsClass *, of those that regions call */
  TdMap apart;  /* uid of a unit -> what it says, of those that hls_apart.c made */
} TdHlsRegions;

/* p with its designs as regions, owned by p's store; what `out` says is owned by a. NULL with d
 * filled. */
const TdProg *td_hls_region_prog(TdArena *a, const TdProg *p, TdHlsRegions *out, TdDiag *d);

#endif
