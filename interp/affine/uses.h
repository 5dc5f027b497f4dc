/* uses.h - what a unit does with what it is passed, as a whole. */
#ifndef TD_USES_H
#define TD_USES_H

#include "ir/ir.h"

/* How memory or a stream may be used; bits. */
typedef enum {
  TD_USES_READ = 1,
  TD_USES_WRITE = 2,
  TD_USES_PUT = 4,
  TD_USES_GET = 8,
  TD_USES_ALL = 15
} TdUses;

/* How unit u of p may use its parameter, through all that it calls or runs; a foreign unit without
 * model in every way. */
unsigned td_uses_param(const TdProg *p, const TdUnit *u, TdSym param);

#endif
