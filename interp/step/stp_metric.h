/* stp_metric.h - what a graph moves and holds, as expressions in sizes and symbols. */
#ifndef TD_STP_METRIC_H
#define TD_STP_METRIC_H

#include "step/stp_graph.h"

/* Accountings: of types alone; the artifact's (stores and tiles on the chip keep their type, where
 * loads count `bytes` an element); with FIFO endpoints; the paper's section 4.2. */
typedef enum { TD_STP_AS_ARTIFACT, TD_STP_AS_FIFOS, TD_STP_AS_PAPER, TD_STP_AS_TYPES } TdStpAs;

typedef struct TdStpMetric {
  TdStpAs as;
  int64_t bytes; /* of a float element in transfers; 0: those of its type */
  bool live;     /* only where an element comes */
} TdStpMetric;

/* Off-chip bytes. */
const TdStpExpr *td_stp_metric_traffic(TdStpGraph *g, TdStpMetric o);
/* On-chip bytes of one node; of all. */
const TdStpExpr *td_stp_metric_memory_of(TdStpGraph *g, const TdStpNode *n, TdStpMetric o);
const TdStpExpr *td_stp_metric_memory(TdStpGraph *g, TdStpMetric o);

/* FLOPs of all functions, padding included. */
const TdStpExpr *td_stp_metric_flops(TdStpGraph *g);
/* The terms of one node. */
const TdStpExpr *td_stp_metric_traffic_of(TdStpGraph *g, const TdStpNode *n, TdStpMetric o);
const TdStpExpr *td_stp_metric_flops_of(TdStpGraph *g, const TdStpNode *n, TdStpMetric o);

#endif
