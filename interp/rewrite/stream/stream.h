/* stream.h - streams of designs by name, and their tokens in another arrangement. */
#ifndef TD_REWRITE_STREAM_H
#define TD_REWRITE_STREAM_H

#include "rewrite/util.h"

/* A stream and the design that declares it. */
typedef struct TdStreamAt {
  const TdUnit *design;
  size_t at;
} TdStreamAt;

/* "design:stream", or a stream of the root, or the only one of that name; false: refused. */
bool td_stream_find(TdRewrite *r, const char *spec, TdStreamAt *out);
/* Whether unit u names a stream only as the one that a statement moves a token of; else *loc is
 * where it hands it to a call, or means several. */
bool td_stream_is_only_moved(TdRewrite *r, const TdUnit *u, TdSym stream, TdLoc *loc);

#endif
