/* stp_flow.h - what becomes of the tiles of a stream: which streams come once for each of them, and
 * whether their rows are those of the tile. */
#ifndef TD_STP_FLOW_H
#define TD_STP_FLOW_H

#include "step/stp_rewrite.h"

typedef enum {
  TD_STP_APART,  /* does not depend on the tiles */
  TD_STP_ALIKE,  /* comes for each tile, the same whatever that holds */
  TD_STP_OF_TILE /* comes for each tile; in a walk by rows, row i is made of row i */
} TdStpFlowKind;

#define TD_STP_PARTS 8
/* Of a stream: the kinds of its parts, and which dimension counts the tiles. */
typedef struct TdStpFlow {
  uint8_t kind[TD_STP_PARTS];
  int n, at;
} TdStpFlow;

/* What a walk from a stream of tiles finds. */
typedef struct TdStpFlows {
  const TdStpGraph *g;
  TdStpFlow **of;       /* by uid and output */
  bool by_rows;         /* only what treats each row of a tile by itself; split_rows ends it */
  uint32_t end;         /* the node at whose outputs the walk ends; UINT32_MAX: none */
  const TdStpNode *bad; /* the first node that takes tiles together, or mixes their rows */
  const char *why;
} TdStpFlows;

/* Follows output `from` of the graph, whose outermost dimension counts the tiles. */
TdStpFlows td_stp_flow_follow(TdArena *a, const TdStpGraph *g, TdStpRef from, bool by_rows,
                              uint32_t end);
/* Whether the node depends on the tiles. */
bool td_stp_flow_reaches(const TdStpFlows *f, const TdStpNode *n);

#endif
