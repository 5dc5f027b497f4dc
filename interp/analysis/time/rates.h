/* rates.h - FIFO depths from rates (Allo, 6.5): how many tokens a stage moves in how many cycles by
 * the estimate, slowed down by what feeds it, and the depth that eq. 4 asks for. */
#ifndef TD_ANALYSIS_TIME_RATES_H
#define TD_ANALYSIS_TIME_RATES_H

#include "analysis/time/cost.h"
#include "analysis/net/traffic.h"

/* So many tokens at the end of every cycles / per cycles; zeroed: not known. */
typedef struct TdRate {
  int64_t tokens, cycles, per;
} TdRate;

/* The depth between a source and a destination that move `volume` tokens: eq. 4, with the lesser of
 * both in eq. 3, where the paper prints the greater: nothing is consumed that is not there. */
int64_t td_rates_depth(TdCtx *c, TdRate source, TdRate destination, int64_t volume);

/* A stream between two stages; TD_TRAFFIC_NONE: outside. */
typedef struct TdRatesEdge {
  uint32_t chan, from, to; /* in the net */
  int64_t volume;          /* tokens; -1: the data decides */
  TdRate put, get;         /* of the stages by themselves; settled: as they can be */
  int64_t depth;           /* of eq. 4; 0: not known */
} TdRatesEdge;

typedef struct TdRates {
  TD_VEC(TdRatesEdge) edge;
  bool feedback; /* a cycle of streams whose rates do not agree: no rates are steady */
} TdRates;

/* Slows each of n stages down to the slowest of what feeds it, II' = II_src C_dst / C_src, from the
 * sources on; then finds the depths. */
void td_rates_settle(TdArena *a, TdRates *r, uint32_t n);

/* The streams of the design that is q's root, with rates on target t; owned by q->arena. False with
 * d filled when times cannot be known. */
bool td_rates_of(const TdAsk *q, const TdTraffic *n, const TdTarget *t, TdRates *out, TdDiag *d);

#endif
