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

/* What a walk asks of the nodes: that they take each tile, or request, by itself; and each row of a
 * tile by itself, up to split_rows. */
typedef enum { TD_STP_EACH_ROW, TD_STP_EACH_TILE, TD_STP_EACH_REQUEST } TdStpFlowMode;

#define TD_STP_PARTS 8
/* Of a stream: the kinds of its parts, and which dimension counts the tiles; or (`routed`) it is
 * what selectors of node `by` send to one of their ways. */
typedef struct TdStpFlow {
  uint8_t kind[TD_STP_PARTS];
  int n, at;
  bool routed;
  uint32_t by, way;
} TdStpFlow;

/* What a walk from a stream of tiles finds. */
typedef struct TdStpFlows {
  const TdStpGraph *g;
  TdStpFlow **of; /* by uid and output */
  TdStpFlowMode mode;
  uint32_t end;         /* the node at whose outputs the walk ends; UINT32_MAX: none */
  const TdStpNode *bad; /* the first node that takes tiles together, or mixes their rows */
  const char *why;
} TdStpFlows;

/* Follows streams of the graph, whose outermost dimension counts the tiles. */
TdStpFlows td_stp_flow_follow(TdArena *a, const TdStpGraph *g, const TdStpRef *from, size_t nfrom,
                              TdStpFlowMode mode, uint32_t end);
/* What is known of a stream. */
TdStpFlow td_stp_flow_of(const TdStpFlows *f, TdStpRef r);
/* Whether the node reads what depends on the tiles. */
bool td_stp_flow_reads(const TdStpFlows *f, const TdStpNode *n);
/* Whether the node depends on the tiles. */
bool td_stp_flow_reaches(const TdStpFlows *f, const TdStpNode *n);

#endif
