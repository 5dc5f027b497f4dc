/* stream.h - what is written to standard output or error, by anything in the process or by its
 * children, read as text for front ends. */
#ifndef TD_REPL_JUPYTER_STREAM_H
#define TD_REPL_JUPYTER_STREAM_H

#include <jansson.h>

#include "base/arena.h"

enum { TD_STREAM_BYTES = 1 << 16 };

typedef struct TdStream {
  const char *name; /* "stdout" */
  int fd, was;      /* the descriptor, and where it led before */
  int from;         /* where it is read */
  size_t n;
  int64_t since; /* milliseconds: when the first byte came */
  char text[TD_STREAM_BYTES];
} TdStream;

/* Leads a descriptor to the stream; false with errno. And back. */
bool td_stream_open(TdStream *s, const char *name, int fd);
void td_stream_close(TdStream *s);

/* Reads what is there, as far as there is room; whether anything came. */
bool td_stream_read(TdStream *s, int64_t now);

/* {"name":, "text":} of what was read, up to the last whole code point, or of all; a new reference,
 * NULL when there is nothing. */
json_t *td_stream_take(TdStream *s, TdArena *a, bool all);

#endif
