/* relay_first.h - the first value of an array that a stage accumulates on or overwrites. */
#ifndef TD_REWRITE_STREAM_RELAY_FIRST_H
#define TD_REWRITE_STREAM_RELAY_FIRST_H

#include "rewrite/util.h"

typedef struct TdRelayFirst {
  TdRewrite *r;
  const TdProg *prog;
  const TdUnit *unit;  /* where the array is declared */
  const TdStmt *stage; /* the first statement of it that uses the array */
  TdSym array;
  const TdExpr *fill;    /* of the declaration, or NULL */
  const TdExpr *value;   /* out: what all reads in the stage find, or NULL: there are none */
  TD_VEC(uint32_t) dead; /* out: stores of that value which are overwritten */
} TdRelayFirst;

/* Whether the stage reads of the array nothing but one constant that each element holds first, by
 * its declaration or by stores of the stage. */
bool td_relay_first(TdRelayFirst *f);

/* root, the stage or the body of what it calls, with f->value where it reads `array`, its name
 * there; what is written stays. */
const TdStmt *td_relay_first_put(const TdRelayFirst *f, const TdStmt *root, TdSym array);

#endif
