/* relay_order.h - whether one statement reads the elements of an array in the order in which
 * another writes them. */
#ifndef TD_REWRITE_STREAM_RELAY_ORDER_H
#define TD_REWRITE_STREAM_RELAY_ORDER_H

#include "rewrite/util.h"

/* In statement `writer` of `unit` (calls included) one statement writes `array`, in `reader` one
 * reads it. */
typedef struct TdRelayOrder {
  TdRewrite *r;
  const TdProg *prog;
  const TdUnit *unit;
  const TdStmt *writer, *reader;
  const char *by[2]; /* what the two are called in messages */
  TdSym array;
} TdRelayOrder;

/* Whether each element is written once and read once, in the same order; else r->diag says which
 * element breaks it. *at_values: that holds at the unit's sizes, not at all. */
bool td_relay_order_holds(const TdRelayOrder *q, bool *at_values);

#endif
