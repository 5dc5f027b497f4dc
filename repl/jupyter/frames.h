/* frames.h - bytes, and a message as ZeroMQ carries it: a list of them. */
#ifndef TD_REPL_JUPYTER_FRAMES_H
#define TD_REPL_JUPYTER_FRAMES_H

#include "base/vec.h"

typedef struct TdBytes {
  const char *at;
  size_t n;
} TdBytes;

typedef struct TdFrames {
  TdBytes *at;
  size_t n, cap;
} TdFrames;

#endif
