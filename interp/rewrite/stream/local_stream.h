/* local_stream.h - a stream both of whose ends come to one body, as a local buffer. */
#ifndef TD_REWRITE_STREAM_LOCAL_STREAM_H
#define TD_REWRITE_STREAM_LOCAL_STREAM_H

#include "rewrite/task/mapping.h"

/* One end: the only statement that moves tokens there, and the loops around it. */
typedef struct TdStreamEnd {
  const TdStmt *stmt;
  const TdStmt *slot; /* that takes the buffers of a block stream, or NULL */
  const TdStmt *const *loop;
  size_t nloop;
  bool plain; /* nothing but loops and their blocks is around it */
} TdStreamEnd;

/* A stream, or elements of an array of them, that one statement of a block puts to and one of a
 * second block gets from. */
typedef struct TdLocalStream {
  TdRewrite *r;
  const TdUnit *unit; /* whose sizes hold */
  const TdStream *stream;
  TdStreamEnd put, get;
  /* the buffer: its symbol, and the extents before those of a token */
  TdSym buffer;
  int rank;
  const TdExpr *extent[TD_MAX_RANK], *at_put[TD_MAX_RANK], *at_get[TD_MAX_RANK];
} TdLocalStream;

/* Fills the ends: the statements of these uids in the blocks. False: they are no put and get of the
 * blocks, or slots leave open whose buffer is put. */
bool td_local_stream_find(TdLocalStream *z, const TdStmt *puts, uint32_t put, const TdStmt *gets,
                          uint32_t get);

/* Whether each iteration of the first n loops around both ends gets what it put, one token at each
 * place of a buffer that is found here. The loops at the get's end stand for those at the put's. */
bool td_local_stream_match(TdLocalStream *z, size_t n);

/* What comes first in the block that holds both ends; NULL: nothing. */
const TdStmt *td_local_stream_declare(TdLocalStream *z, const char *name, bool put_is_direct);
/* The blocks with the buffer in the place of the stream. */
const TdStmt *td_local_stream_puts(const TdLocalStream *z, const TdStmt *block, bool direct);
const TdStmt *td_local_stream_gets(const TdLocalStream *z, const TdStmt *block);

#endif
