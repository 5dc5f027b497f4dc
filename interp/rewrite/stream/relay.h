/* relay.h - the two ways in which an array becomes a stream. */
#ifndef TD_REWRITE_STREAM_RELAY_H
#define TD_REWRITE_STREAM_RELAY_H

#include "rewrite/task/network.h"

/* What relay is asked for. */
typedef struct TdRelay {
  TdRewrite *r;
  const TdUnit *to;   /* the kernel or task that reads the array, or NULL: */
  const TdStmt *loop; /* the stage that does */
  TdPlace array;
  int64_t depth;
  int64_t axis;        /* of the task's map, or -1 */
  bool apart;          /* along none: each instance is fed, or drained, by itself */
  bool back;           /* along it from the last instance to the first */
  const char *name;    /* of the task that feeds or drains, or NULL */
  const int64_t *keep; /* the axes of the task that this one has too; NULL: all others */
  size_t nkeep;
} TdRelay;

/* relay_axis.c: the buffer array.sym of each instance of the task `to` is filled from (or emptied
 * to) its neighbour along an axis; a task feeds (or drains) the first (last) of each row. */
const TdProg *td_relay_axis(const TdRelay *q);

/* relay_stage.c: a local array between two stages of a kernel becomes a stream of scalars. */
const TdProg *td_relay_stage(const TdRelay *q);

/* relay_stage.c: the array that the task `from` of a design hands to `to` over a block stream
 * becomes a stream of scalars. */
const TdProg *td_relay_token(const TdRelay *q, const TdUnit *design, TdSym stream,
                             const TdUnit *from, const TdUnit *to);

/* One stream of `array`, at n indices. */
const TdExpr *td_relay_end(TdRewrite *r, TdSym stream, const TdType *token,
                           const TdExpr *const *index, int n, TdLoc loc);
/* A stream for tokens `token`, dim[0..rank), called like the symbol `like` in the design u. */
TdStream td_relay_stream(const TdRelay *q, const TdUnit *u, TdSym like, const TdType *token,
                         int rank, const TdExpr *const *dim);

#endif
