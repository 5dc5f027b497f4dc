/* jupyter.c - puts the kernel together: the connection, captured output, the server's thread. */
#include "repl/jupyter/jupyter.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "repl/jupyter/log.h"
#include "repl/jupyter/own.h"
#include "repl/jupyter/server.h"
#include "repl/jupyter/worker.h"

/* Reads the connection file and the info, and opens the sockets; false with *why filled. */
static bool connect_to(TdServer *s, const char *path, const char *info, TdText *why) {
  TdConnection connection;
  json_error_t error;
  if (!td_connection_read(s->arena, path, &connection, why)) return false;
  TdSigner *signer = td_signer_new(s->arena, connection.key);
  if (!signer) {
    td_text_puts(why, "libcrypto has no HMAC-SHA256");
    return false;
  }
  td_author_begin(&s->author, signer);
  s->history = td_own(s->arena, json_array());
  s->info = td_own(s->arena, json_loads(info, 0, &error));
  return s->info && td_sockets_open(&s->sockets, &connection, why);
}

/* Leads standard output and error to the server, and standard input to nothing. */
static bool capture(TdServer *s) {
  td_log_open();
  int nothing = open("/dev/null", O_RDONLY);
  bool ok = nothing >= 0 && dup2(nothing, STDIN_FILENO) == STDIN_FILENO;
  if (nothing > STDIN_FILENO) close(nothing);
  fflush(stdout);
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  return ok && td_stream_open(&s->out, "stdout", STDOUT_FILENO) &&
         td_stream_open(&s->err, "stderr", STDERR_FILENO);
}

/* Starts the server's thread, which no signal reaches; 0, or what errno would be. */
static int start(TdServer *s, pthread_t *thread) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int failed = pthread_create(thread, NULL, td_server_run, s);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return failed;
}

/* Serves with the sockets open; false with *why filled. */
static bool serve(TdServer *s, struct lua_State *L, TdText *why) {
  pthread_t thread;
  bool ready = td_mailbox_open(&s->asks) && td_mailbox_open(&s->tells) && capture(s);
  int failed = ready ? start(s, &thread) : errno;
  if (failed) {
    td_sockets_close(&s->sockets);
  } else {
    td_worker_run(L, &s->asks, &s->tells);
    pthread_join(thread, NULL);
  }
  fflush(stdout);
  td_stream_close(&s->out);
  td_stream_close(&s->err);
  td_mailbox_close(&s->asks);
  td_mailbox_close(&s->tells);
  if (failed) td_text_puts(why, strerror(failed));
  return !failed;
}

/* Opens and closes what a server has. */
static bool with_server(TdServer *s, struct lua_State *L, const char *path, const char *info,
                        TdText *why) {
  s->worker = pthread_self();
  s->parent = getenv("JPY_PARENT_PID") ? getppid() : 0;
  s->out.was = s->out.from = s->err.was = s->err.from = -1;
  s->asks = s->tells = (TdMailbox){-1, -1};
  bool ok = connect_to(s, path, info, why) && serve(s, L, why);
  if (s->cell) td_arena_free(s->cell);
  return ok;
}

bool td_jupyter_serve(struct lua_State *L, const char *connection, const char *info, TdText *why) {
  json_object_seed(0);
  TdCtx *ctx = td_ctx_new();
  if (!ctx) return false;
  TdArena *a = td_arena_new(ctx);
  TdServer *s = TD_NEW(a, TdServer);
  s->ctx = ctx;
  s->arena = a;
  bool ok = with_server(s, L, connection, info, why);
  td_arena_free(a);
  td_ctx_free(ctx);
  return ok;
}
