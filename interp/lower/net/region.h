/* region.h - a design as a dataflow region: a unit whose body calls one task after the other.
 */
#ifndef TD_LOWER_NET_REGION_H
#define TD_LOWER_NET_REGION_H

#include "lower/net/net.h"

/* Streams that are listed as one argument of a call; n is 0 for any other argument. */
typedef struct TdNetGiven {
  uint32_t n;
  const TdExpr **at;
} TdNetGiven;

/* A region: the calls of its body by name, and the streams that lead to an earlier call. */
typedef struct TdNetRegion {
  const char **label; /* parallel to the body's calls */
  TdNetGiven **given; /* the same, each parallel to the parameters */
  const TdSym *feedback;
  size_t nfeedback;
  bool is_stateful;
} TdNetRegion;

/* What is known of units beside their text. */
typedef struct TdNetRegions {
  TdMap region; /* symbol of a unit -> TdNetRegion *, of those that were designs */
  TdMap task;   /* symbol of a unit -> TdNetClass *, of those that regions call */
  TdMap apart;  /* uid of a unit -> what it says, of those that apart.c made */
} TdNetRegions;

/* p with its designs as regions, owned by p's store; what `out` says is owned by a. NULL with d
 * filled. */
const TdProg *td_net_region_prog(TdArena *a, const TdProg *p, TdNetRegions *out, TdDiag *d);

#endif
