/* order.h - the order of a tensor in memory, as text: "m k -> m/8 k/8 m%8 k%8" names the dimensions
 * that it has to those who use it, and says of which parts of them its own dimensions are. */
#ifndef TD_ORDER_H
#define TD_ORDER_H

#include "ir/desc.h"

#define TD_ORDER_DIMS 8

/* name // div % mod; mod 0: no remainder. */
typedef struct TdOrderPlace {
  int name;
  int64_t div, mod;
} TdOrderPlace;

typedef struct TdOrder {
  int nname, nplace;
  const char *name[TD_ORDER_DIMS];
  int64_t extent[TD_ORDER_DIMS]; /* of each name */
  TdOrderPlace place[TD_ORDER_DIMS];
} TdOrder;

/* Reads `text` for a tensor of these extents, outermost first; names are owned by a. False with
 *why: it is no such text, or the parts are not those that the extents have. */
bool td_order_read(TdArena *a, const char *text, const int64_t *extent, int rank, TdOrder *out,
                   const char **why);

#endif
