/* sockets.h - the channels of a connection as ZeroMQ sockets. All calls come from one thread. */
#ifndef TD_REPL_JUPYTER_SOCKETS_H
#define TD_REPL_JUPYTER_SOCKETS_H

#include "base/text.h"
#include "repl/jupyter/connection.h"
#include "repl/jupyter/frames.h"

typedef struct TdSockets {
  void *context;
  void *at[TD_CHANNELS];
} TdSockets;

/* Opens and binds all; false with *why filled, and nothing open. */
bool td_sockets_open(TdSockets *s, const TdConnection *c, TdText *why);
/* Closes all, after a while for what is still to be sent. */
void td_sockets_close(TdSockets *s);

/* The next message of a channel, copied to a; false when there is none. */
bool td_sockets_receive(TdSockets *s, TdChannel channel, TdArena *a, TdFrames *out);
/* Whether a message waits. */
bool td_sockets_has(TdSockets *s, TdChannel channel);
/* Sends a message; one that may be dropped is where a front end does not keep up, others wait a
 * second for it. Returns whether it went. */
bool td_sockets_send(TdSockets *s, TdChannel channel, const TdFrames *m, bool may_drop);

#endif
