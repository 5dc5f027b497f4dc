/* order.h - the order of a tensor in memory, as text: "m k -> m/8 k/8 m%8 k%8" names the dimensions
 * that it has to those who use it, and says of which parts of them its own dimensions are,
 * outermost first. Where a tensor lies in bytes, "m k -> m:72 k" says also how far apart the values
 * of a part are. */
#ifndef TD_ORDER_H
#define TD_ORDER_H

#include "ir/desc.h"

#define TD_ORDER_DIMS 8
#define TD_ORDER_PLACES 16

/* name // div % mod; mod 0: no remainder. pitch: bytes from value to value, 0: not said. */
typedef struct TdOrderPlace {
  int name;
  int64_t div, mod, pitch;
} TdOrderPlace;

typedef struct TdOrder {
  int nname, nplace;
  const char *name[TD_ORDER_DIMS];
  int64_t extent[TD_ORDER_DIMS]; /* of each name */
  TdOrderPlace place[TD_ORDER_PLACES];
} TdOrder;

/* Reads `text` for a tensor of these extents, outermost first; names are owned by a. False with
 *why: it is no such text, or the parts are not those that the extents have. */
bool td_order_read(TdArena *a, const char *text, const int64_t *extent, int rank, TdOrder *out,
                   const char **why);

/* The order of a tensor in bytes: where its digits lie. A dimension that its digits do not divide
 * is padded. */
typedef struct TdOrderBytes {
  TdOrder order;
  int64_t room[TD_ORDER_DIMS]; /* of each name: values that its digits have places for */
  int64_t bytes;               /* from the first element to behind the last one, pads included */
  TdDesc at; /* from ordinals, row-major over `room`, to bytes; a digit for each part, those of a
              * name together and the name's most significant first */
  int part[TD_ORDER_PLACES]; /* digit of `at` -> place of the order */
} TdOrderBytes;

/* Reads `text` for a tensor of these extents of elements of so many bytes; its names are the
 * tensor's dimensions, in order. False with *why. */
bool td_order_read_bytes(TdArena *a, const char *text, const int64_t *extent, int rank,
                         int64_t element, TdOrderBytes *out, const char **why);
/* A part as it is written: "k%8". */
const char *td_order_part(TdArena *a, const TdOrder *o, int place);

#endif
