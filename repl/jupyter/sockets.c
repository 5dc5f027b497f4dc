/* sockets.c - ZeroMQ. */
#include "repl/jupyter/sockets.h"

#include <string.h>
#include <zmq.h>

enum { PATIENCE = 1000, FRAMES = 1024 }; /* milliseconds for a slow front end; of one message */

static const int64_t most_bytes = 64 << 20; /* of one frame */

static const int kinds[TD_CHANNELS] = {ZMQ_ROUTER, ZMQ_ROUTER, ZMQ_ROUTER, ZMQ_PUB, ZMQ_REP};

/* Sets an option that is a number. */
static void set(void *socket, int option, int value) {
  zmq_setsockopt(socket, option, &value, sizeof value);
}

/* Opens and binds one; false with *why filled. */
static bool open_one(TdSockets *s, TdChannel i, const char *address, TdText *why) {
  void *socket = s->at[i] = zmq_socket(s->context, kinds[i]);
  if (socket) {
    set(socket, ZMQ_LINGER, PATIENCE);
    set(socket, ZMQ_SNDTIMEO, PATIENCE);
    zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &most_bytes, sizeof most_bytes);
    if (kinds[i] == ZMQ_ROUTER) set(socket, ZMQ_ROUTER_HANDOVER, 1);
    if (kinds[i] == ZMQ_PUB) set(socket, ZMQ_XPUB_NODROP, 1);
    if (zmq_bind(socket, address) == 0) return true;
  }
  td_text_putf(why, "%s: %s", address, zmq_strerror(zmq_errno()));
  return false;
}

bool td_sockets_open(TdSockets *s, const TdConnection *c, TdText *why) {
  memset(s, 0, sizeof *s);
  s->context = zmq_ctx_new();
  bool ok = s->context != NULL;
  if (!ok) td_text_puts(why, zmq_strerror(zmq_errno()));
  for (TdChannel i = 0; ok && i < TD_CHANNELS; i++) ok = open_one(s, i, c->address[i], why);
  if (!ok) td_sockets_close(s);
  return ok;
}

void td_sockets_close(TdSockets *s) {
  for (int i = 0; i < TD_CHANNELS; i++)
    if (s->at[i]) zmq_close(s->at[i]);
  if (s->context) zmq_ctx_term(s->context);
  memset(s, 0, sizeof *s);
}

bool td_sockets_receive(TdSockets *s, TdChannel channel, TdArena *a, TdFrames *out) {
  zmq_msg_t frame;
  int more = 1;
  for (size_t n = 0; more; n++) {
    zmq_msg_init(&frame);
    if (zmq_msg_recv(&frame, s->at[channel], ZMQ_DONTWAIT) < 0) return false;
    more = zmq_msg_more(&frame);
    TdBytes copy = {NULL, zmq_msg_size(&frame)};
    if (n < FRAMES) {
      copy.at = td_arena_copy(a, zmq_msg_data(&frame), copy.n);
      td_vec_push(a, out, copy);
    }
    zmq_msg_close(&frame);
  }
  return true;
}

bool td_sockets_has(TdSockets *s, TdChannel channel) {
  int events = 0;
  size_t n = sizeof events;
  return zmq_getsockopt(s->at[channel], ZMQ_EVENTS, &events, &n) == 0 && (events & ZMQ_POLLIN);
}

bool td_sockets_send(TdSockets *s, TdChannel channel, const TdFrames *m, bool may_drop) {
  for (size_t i = 0; i < m->n; i++) {
    int flags = (i + 1 < m->n ? ZMQ_SNDMORE : 0) | (may_drop ? ZMQ_DONTWAIT : 0);
    if (zmq_send(s->at[channel], m->at[i].at, m->at[i].n, flags) < 0) return false;
  }
  return true;
}
