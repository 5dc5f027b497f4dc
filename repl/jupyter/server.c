/* server.c - one turn after another: what front ends send, what the cell prints, what the worker
 * tells. */
#include "repl/jupyter/server.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#include "repl/jupyter/answer.h"
#include "repl/jupyter/inputs.h"
#include "repl/jupyter/log.h"
#include "repl/jupyter/own.h"

/* Milliseconds: between two looks at output that comes, from its first byte to its message, between
 * two looks at the parent process, and for a cell that runs at the end. */
enum { GLANCE = 1, GATHER = 8, WATCH = 1000, FAREWELL = 1000 };

/* The time by a clock that nobody sets. */
static int64_t milliseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Whether the worker owes a reply. */
static bool is_busy(const TdServer *s) {
  return s->request.arena != NULL;
}

/* Publishes a message; false when it was dropped. */
static bool publish(TdServer *s, TdArena *a, TdBytes parent, const char *type,
                    const json_t *content, bool may_drop) {
  TdBytes topic = {type, strlen(type)};
  TdFrames to = {&topic, 1, 1}, m = td_message_write(a, &s->author, &to, type, parent, content);
  return td_sockets_send(&s->sockets, TD_IOPUB, &m, may_drop);
}

void td_server_publish(TdServer *s, TdArena *a, TdBytes parent, const char *type, json_t *content) {
  td_own(a, content);
  if (!content || !publish(s, a, parent, type, content, false)) td_log("%s is lost", type);
}

/* Publishes that the kernel is "busy" or "idle" with a request, or "starting". */
static void publish_state(TdServer *s, TdArena *a, TdBytes parent, const char *state) {
  td_server_publish(s, a, parent, "status", json_pack("{s:s}", "execution_state", state));
}

/* Sends a reply to who asked, and says that it is done. */
static void finish(TdServer *s, TdArena *a, TdChannel channel, const TdMessage *m, const char *type,
                   const json_t *content) {
  TdFrames reply = td_message_write(a, &s->author, &m->from, type, m->header, content);
  if (!td_sockets_send(&s->sockets, channel, &reply, false)) td_log("%s is lost", type);
  publish_state(s, a, m->header, "idle");
}

/* Publishes the output that was read: up to the last whole code point, or all. */
static void publish_output(TdServer *s, TdStream *o, bool all) {
  TdArena *a = td_arena_scratch(s->ctx);
  const json_t *content = td_own(a, td_stream_take(o, a, all));
  if (content) publish(s, a, s->cell_header, "stream", content, true);
  td_arena_free(a);
}

/* Publishes all that was written so far. A pipe holds no more than is read here. */
static void drain(TdServer *s) {
  TdStream *const streams[] = {&s->out, &s->err};
  for (int i = 0; i < 2; i++) {
    while (td_stream_read(streams[i], 0) && streams[i]->n == TD_STREAM_BYTES)
      publish_output(s, streams[i], false);
    publish_output(s, streams[i], true);
  }
}

/* Reads output, and publishes it when there is much, or when it waited long enough. */
static void read_output(TdServer *s, TdStream *o) {
  int64_t now = milliseconds();
  td_stream_read(o, now);
  if (o->n == TD_STREAM_BYTES || (o->n && now - o->since >= GATHER)) publish_output(s, o, false);
}

void td_server_interrupt(TdServer *s) {
  if (!is_busy(s)) return;
  if (getpgrp() == getpid())
    kill(0, SIGINT);
  else
    pthread_kill(s->worker, SIGINT);
}

void td_server_stop(TdServer *s) {
  s->deadline = milliseconds() + FAREWELL;
  td_server_interrupt(s);
}

/* Whether a flag of a request is set. */
static bool flag(const TdMessage *m, const char *name, bool otherwise) {
  const json_t *value = json_object_get(m->content, name);
  return json_is_boolean(value) ? json_is_true(value) : otherwise;
}

/* Numbers a cell, keeps it, and shows it to all front ends. */
static void begin_cell(TdServer *s, TdArena *a, const TdMessage *m) {
  json_t *code = json_object_get(m->content, "code");
  bool silent = flag(m, "silent", false);
  if (s->cell) td_arena_free(s->cell);
  s->cell = td_arena_new(s->ctx);
  s->cell_header = (TdBytes){td_arena_copy(s->cell, m->header.at, m->header.n), m->header.n};
  if (!silent && flag(m, "store_history", true)) td_inputs_add(s->history, ++s->count, code);
  json_object_set_new(m->content, "execution_count", json_integer(s->count));
  if (!silent)
    td_server_publish(s, a, m->header, "execute_input",
                      json_pack("{s:O, s:I}", "code", code, "execution_count", s->count));
}

/* Answers a cell that is not run because one before it failed. */
static void abort_cell(TdServer *s, TdArena *a, const TdMessage *m) {
  json_t *content = json_pack("{s:s, s:I}", "status", "aborted", "execution_count", s->count);
  finish(s, a, TD_SHELL, m, "execute_reply", td_own(a, content));
}

/* Has the worker answer; takes over the arena of the message. */
static void ask(TdServer *s, TdArena *a, const TdMessage *m) {
  s->request = (TdRequest){a, *m, false};
  td_mailbox_send(&s->asks, m->type, json_incref(m->content));
}

/* Answers a message, or a cell among what was held back; whether its arena was taken over. */
static bool answer(TdServer *s, TdArena *a, TdChannel channel, const TdMessage *m, bool held) {
  const TdAnswer *known = td_answer_find(m->type);
  bool cell = strcmp(m->type, "execute_request") == 0;
  if (!known || (channel == TD_CONTROL && !known->make)) {
    td_log("a message is ignored: there is no %s here", m->type);
    return false;
  }
  if (known->needs && !json_is_string(json_object_get(m->content, known->needs))) {
    td_log("a message is ignored: %s without %s", m->type, known->needs);
    return false;
  }
  publish_state(s, a, m->header, "busy");
  if (cell && held) {
    abort_cell(s, a, m);
  } else if (!known->make) {
    if (cell) begin_cell(s, a, m);
    ask(s, a, m);
    return true;
  } else {
    const json_t *content = td_own(a, known->make(s, a, m));
    if (content)
      finish(s, a, channel, m, known->reply, content);
    else
      publish_state(s, a, m->header, "idle");
  }
  return false;
}

/* Gives the worker a line that the user typed. */
static void pass_line(TdServer *s, const TdMessage *m) {
  if (!s->request.wants_line || strcmp(m->type, "input_reply") != 0) {
    td_log("a message is ignored: nothing waits for %s", m->type);
    return;
  }
  s->request.wants_line = false;
  td_mailbox_send(&s->asks, m->type, json_incref(m->content));
}

/* The next message of a channel, or NULL. */
static TdHeard *receive(TdServer *s, TdChannel channel) {
  if (!td_sockets_has(&s->sockets, channel)) return NULL;
  TdArena *a = td_arena_scratch(s->ctx);
  TdHeard *h = TD_NEW(a, TdHeard);
  h->arena = a;
  if (td_sockets_receive(&s->sockets, channel, a, &h->frames)) return h;
  td_arena_free(a);
  return NULL;
}

/* Hears one message of a channel, NULL: there is none. */
static void hear(TdServer *s, TdChannel channel, TdHeard *h, bool held) {
  TdMessage m = {0};
  bool taken = false;
  if (!h) return;
  const char *why = td_message_read(h->arena, s->author.signer, &h->frames, &m);
  if (why)
    td_log("a message is ignored: %s", why);
  else if (channel == TD_STDIN)
    pass_line(s, &m);
  else
    taken = answer(s, h->arena, channel, &m, held);
  if (taken)
    td_arena_keep(h->arena);
  else
    td_arena_free(h->arena);
}

/* Holds back the requests that have come, behind those that are held back. */
static void hold(TdServer *s) {
  TdHeard **end = &s->held;
  while (*end) end = &(*end)->next;
  while ((*end = receive(s, TD_SHELL)) != NULL) {
    td_arena_keep((*end)->arena);
    end = &(*end)->next;
  }
}

/* Hears one request. */
static void hear_request(TdServer *s) {
  TdHeard *h = s->held;
  if (h) s->held = h->next;
  hear(s, TD_SHELL, h ? h : receive(s, TD_SHELL), h != NULL);
}

/* Sends a heartbeat back. */
static void echo(TdServer *s) {
  TdHeard *h = receive(s, TD_HEARTBEAT);
  if (!h) return;
  td_sockets_send(&s->sockets, TD_HEARTBEAT, &h->frames, true);
  td_arena_free(h->arena);
}

/* Ends the request under way with the worker's reply. */
static void end_request(TdServer *s, const char *type, const json_t *content) {
  TdRequest *r = &s->request;
  const char *status = json_string_value(json_object_get(content, "status"));
  bool failed = status && strcmp(status, "error") == 0;
  if (failed && strcmp(type, "execute_reply") == 0 && flag(&r->message, "stop_on_error", true))
    hold(s);
  finish(s, r->arena, TD_SHELL, &r->message, type, content);
  td_arena_free(r->arena);
  *r = (TdRequest){0};
}

/* Passes on what the worker tells: a question to the user, something to show, its reply. */
static void tell(TdServer *s, const char *type, json_t *content) {
  TdRequest *r = &s->request;
  size_t n = strlen(type);
  if (!is_busy(s)) return;
  drain(s);
  if (n > 6 && strcmp(type + n - 6, "_reply") == 0) {
    end_request(s, type, content);
  } else if (strcmp(type, "input_request") == 0) {
    TdFrames m =
        td_message_write(r->arena, &s->author, &r->message.from, type, r->message.header, content);
    r->wants_line = td_sockets_send(&s->sockets, TD_STDIN, &m, false);
  } else {
    if (strcmp(type, "execute_result") == 0)
      td_inputs_show(s->history, json_object_get(json_object_get(content, "data"), "text/plain"));
    td_server_publish(s, r->arena, r->message.header, type, json_incref(content));
  }
}

/* Waits until there is something to do, or to look at again. */
static void wait(TdServer *s, zmq_pollitem_t *told) {
  bool output = s->out.n || s->err.n;
  short shell = is_busy(s) || s->deadline ? 0 : ZMQ_POLLIN, look = output ? 0 : ZMQ_POLLIN;
  zmq_pollitem_t item[] = {{NULL, s->tells.from, ZMQ_POLLIN, 0},
                           {s->sockets.at[TD_CONTROL], 0, ZMQ_POLLIN, 0},
                           {s->sockets.at[TD_STDIN], 0, ZMQ_POLLIN, 0},
                           {s->sockets.at[TD_HEARTBEAT], 0, ZMQ_POLLIN, 0},
                           {s->sockets.at[TD_SHELL], 0, shell, 0},
                           {NULL, s->out.from, look, 0},
                           {NULL, s->err.from, look, 0}};
  bool soon = output || s->held;
  zmq_poll(item, sizeof item / sizeof *item, soon ? GLANCE : s->deadline ? GATHER : WATCH);
  *told = item[0];
}

/* Waits, and does what there is to do. */
static void turn(TdServer *s) {
  zmq_pollitem_t told;
  json_t *mail;
  wait(s, &told);
  hear(s, TD_CONTROL, receive(s, TD_CONTROL), false);
  hear(s, TD_STDIN, receive(s, TD_STDIN), false);
  echo(s);
  read_output(s, &s->out);
  read_output(s, &s->err);
  if ((told.revents & ZMQ_POLLIN) && td_mailbox_receive(&s->tells, &mail) == TD_MAIL) {
    tell(s, td_mail_type(mail), td_mail_content(mail));
    json_decref(mail);
  }
  if (!is_busy(s) && !s->deadline) hear_request(s);
  if (s->parent && getppid() != s->parent && !s->deadline) td_server_stop(s);
}

/* Out of memory: leaves for td_server_run. */
static void escape(void *ud, TdWhy why) {
  TdServer *s = ud;
  (void)why;
  longjmp(s->escape, 1);
}

void *td_server_run(void *server) {
  TdServer *s = server;
  const TdBytes nobody = {0};
  td_ctx_set_escape(s->ctx, escape, s);
  if (setjmp(s->escape)) {
    td_arena_free_scratch(s->ctx);
    if (is_busy(s)) td_arena_free(s->request.arena);
    s->request = (TdRequest){0};
    td_log("not enough memory: a message is lost");
  } else {
    publish_state(s, s->arena, nobody, "starting");
  }
  while (!s->deadline || (is_busy(s) && milliseconds() < s->deadline)) turn(s);
  td_sockets_close(&s->sockets);
  td_mailbox_end(&s->asks);
  if (is_busy(s)) _exit(0);
  return NULL;
}
