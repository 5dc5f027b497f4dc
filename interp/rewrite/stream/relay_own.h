/* relay_own.h - what an instance adds to a gather, where it is a token that it gets itself. */
#ifndef TD_REWRITE_STREAM_RELAY_OWN_H
#define TD_REWRITE_STREAM_RELAY_OWN_H

#include "rewrite/prim.h"

/* The declaration of a scalar and the get that sets it; get: NULL if there is none. */
typedef struct TdRelayOwn {
  const TdStmt *decl, *get;
} TdRelayOwn;

/* Finds, in a block, a scalar `inner` that is got right before `move` and of use there alone. */
TdRelayOwn td_relay_own(TdCtx *c, const TdStmt *block, const TdStmt *move, const TdExpr *inner);

/* body without both statements. */
const TdStmt *td_relay_without(TdStore *st, const TdStmt *body, const TdRelayOwn *own);

#endif
