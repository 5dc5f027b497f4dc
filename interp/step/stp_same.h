/* stp_same.h - do two graphs store and return the same? By runs of both on fingerprints. */
#ifndef TD_STP_SAME_H
#define TD_STP_SAME_H

#include "step/stp_prove.h"
#include "step/stp_run.h"

typedef enum { TD_STP_EQUAL, TD_STP_DIFFERS, TD_STP_UNDECIDED } TdStpVerdict;

typedef struct TdStpSame {
  TdStpVerdict verdict;
  TdLevel level;       /* EQUAL: strict, or associative where sums come in another order */
  bool by_rows;        /* EQUAL: every function is opaque on rows; else on elements */
  unsigned routings;   /* EQUAL: at this control, and at so many drawn ones */
  const char *element; /* DIFFERS: what differs */
  const char *shown;
  TdDiag diag; /* UNDECIDED: why */
} TdStpSame;

/* Compares what g and h store into tensors and return, at their control and at drawn ones, arrival
 * in the order of index. calls: of runs on shapes of both; prover: of functions that differ. Texts
 * are owned by a. */
TdStpSame td_stp_same_compare(TdArena *a, TdStpGraph *g, TdStpGraph *h, const TdStpCalls *calls,
                              const TdStpProver *prover);

#endif
