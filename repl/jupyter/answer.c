/* answer.c - requests by type; those that need no Lua are answered while a cell runs. */
#include "repl/jupyter/answer.h"

#include <string.h>

#include "repl/jupyter/inputs.h"

/* What the kernel is. */
static json_t *kernel_info(TdServer *s, TdArena *a, const TdMessage *m) {
  (void)a, (void)m;
  return json_incref(s->info);
}

/* Inputs of this session. */
static json_t *history(TdServer *s, TdArena *a, const TdMessage *m) {
  (void)a;
  return td_inputs_answer(s->history, m->content);
}

/* There are no comms. */
static json_t *comm_info(TdServer *s, TdArena *a, const TdMessage *m) {
  (void)s, (void)a, (void)m;
  return json_pack("{s:s, s:{}}", "status", "ok", "comms");
}

/* A comm whose target is unknown is closed at once. */
static json_t *comm_open(TdServer *s, TdArena *a, const TdMessage *m) {
  json_t *id = json_object_get(m->content, "comm_id");
  td_server_publish(s, a, m->header, "comm_close", json_pack("{s:O, s:{}}", "comm_id", id, "data"));
  return NULL;
}

/* What is sent to no comm is heard and forgotten. */
static json_t *comm_end(TdServer *s, TdArena *a, const TdMessage *m) {
  (void)s, (void)a, (void)m;
  return NULL;
}

/* Interrupts the cell that runs. */
static json_t *interrupt(TdServer *s, TdArena *a, const TdMessage *m) {
  (void)a, (void)m;
  td_server_interrupt(s);
  return json_pack("{s:s}", "status", "ok");
}

/* Ends the kernel; who restarts it starts a new one. */
static json_t *shut_down(TdServer *s, TdArena *a, const TdMessage *m) {
  (void)a;
  td_server_stop(s);
  bool restart = json_is_true(json_object_get(m->content, "restart"));
  return json_pack("{s:s, s:b}", "status", "ok", "restart", restart);
}

static const TdAnswer answers[] = {
    {"execute_request", "execute_reply", "code", NULL},
    {"complete_request", "complete_reply", "code", NULL},
    {"inspect_request", "inspect_reply", "code", NULL},
    {"is_complete_request", "is_complete_reply", "code", NULL},
    {"kernel_info_request", "kernel_info_reply", NULL, kernel_info},
    {"history_request", "history_reply", NULL, history},
    {"comm_info_request", "comm_info_reply", NULL, comm_info},
    {"comm_open", NULL, "comm_id", comm_open},
    {"comm_msg", NULL, NULL, comm_end},
    {"comm_close", NULL, NULL, comm_end},
    {"interrupt_request", "interrupt_reply", NULL, interrupt},
    {"shutdown_request", "shutdown_reply", NULL, shut_down},
};

const TdAnswer *td_answer_find(const char *request) {
  for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
    if (strcmp(answers[i].request, request) == 0) return &answers[i];
  return NULL;
}
