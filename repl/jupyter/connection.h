/* connection.h - the connection file, by which a front end says where and how it talks. */
#ifndef TD_REPL_JUPYTER_CONNECTION_H
#define TD_REPL_JUPYTER_CONNECTION_H

#include "base/text.h"
#include "repl/jupyter/frames.h"

typedef enum {
  TD_SHELL,     /* requests */
  TD_CONTROL,   /* requests that do not wait for a cell */
  TD_STDIN,     /* lines that the user types */
  TD_IOPUB,     /* what happens, for all */
  TD_HEARTBEAT, /* echoes */
  TD_CHANNELS
} TdChannel;

typedef struct TdConnection {
  const char *address[TD_CHANNELS]; /* "tcp://127.0.0.1:50001" */
  TdBytes key;
} TdConnection;

/* Reads a file; its strings are owned by a. False with *why filled. */
bool td_connection_read(TdArena *a, const char *path, TdConnection *out, TdText *why);

#endif
