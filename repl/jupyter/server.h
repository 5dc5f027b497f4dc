/* server.h - the thread that talks to front ends, while the thread of Lua, the worker, runs cells.
 */
#ifndef TD_REPL_JUPYTER_SERVER_H
#define TD_REPL_JUPYTER_SERVER_H

#include <pthread.h>
#include <setjmp.h>
#include <sys/types.h>

#include "repl/jupyter/mailbox.h"
#include "repl/jupyter/message.h"
#include "repl/jupyter/sockets.h"
#include "repl/jupyter/stream.h"

/* A request that the worker answers. */
typedef struct TdRequest {
  TdArena *arena; /* NULL: none is under way */
  TdMessage message;
  bool wants_line; /* it waits for what the user types */
} TdRequest;

/* A message as it came, in an arena of its own. */
typedef struct TdHeard {
  TdArena *arena;
  TdFrames frames;
  struct TdHeard *next;
} TdHeard;

typedef struct TdServer {
  TdCtx *ctx;
  TdArena *arena;
  TdSockets sockets;
  TdAuthor author;
  TdStream out, err;
  TdMailbox asks, tells; /* to the worker, and from it */
  pthread_t worker;
  pid_t parent;     /* 0, or whose end is the kernel's */
  json_t *info;     /* the content of kernel_info_reply */
  json_t *history;  /* inputs.h */
  json_int_t count; /* of inputs */
  TdRequest request;
  TdArena *cell; /* holds cell_header, of the cell whose output comes */
  TdBytes cell_header;
  TdHeard *held;    /* what had come when a cell failed: cells among it are not run */
  int64_t deadline; /* 0, or when it ends even if a cell still runs */
  jmp_buf escape;
} TdServer;

/* Serves until the end; argument: the TdServer. */
void *td_server_run(void *server);

/* Publishes a message about a request with that header; content's reference is taken over. */
void td_server_publish(TdServer *s, TdArena *a, TdBytes parent, const char *type, json_t *content);
/* Interrupts the cell that runs, if one does, and what it started: the group of processes, where
 * that is the kernel's own. */
void td_server_interrupt(TdServer *s);
/* Ends soon, a cell that runs or not. */
void td_server_stop(TdServer *s);

#endif
