/* apart.c - a copy of this process serves the calls of a library: it opens it, is told of each call
 * by a socket, and finds the arguments in memory that both share. */
#define _GNU_SOURCE /* memfd_create */
#include "backends/host/apart.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/host/child.h"
#include "backends/host/ffi.h"
#include "backends/host/foreign.h"

enum { MOST_BACKS = 8, MOST_BACK_ARGS = 16, NAME = 256, GRAIN = 64, NAP = 20 /* ms */ };

/* A type as both sides know it: its kind and width; 0: an array, or nothing. */
typedef uint32_t TypeCode;

typedef struct WireArg {
  TypeCode type;
  int32_t back; /* which function that is called back; -1: none */
  uint64_t at;  /* bytes from the beginning of the shared memory */
} WireArg;

/* A function that is called back, and its call under way. */
typedef struct WireBack {
  TypeCode result, type[MOST_BACK_ARGS];
  uint64_t bytes[MOST_BACK_ARGS], at[MOST_BACK_ARGS];
  uint32_t narg;
  uint64_t value; /* the cell of its result */
} WireBack;

/* What stands at the beginning of the shared memory. */
typedef struct Wire {
  char symbol[NAME];
  TypeCode result;
  uint32_t narg;
  uint64_t value; /* the cell of the result */
  WireArg arg[TD_FOREIGN_MOST];
  WireBack back[MOST_BACKS];
} Wire;

/* A message: what, and its number; `size` of the shared memory. */
typedef enum { CALL, RETURNED, MISSING, BACK, ANSWERED } What;
typedef struct Message {
  uint32_t what, number;
  uint64_t size;
} Message;

struct TdApart {
  TdSession *session;
  const char *path;
  pid_t pid, owner; /* pid 0: it does not run */
  int socket, memory;
  Wire *wire;
  size_t size;
  bool busy; /* a call is under way */
};

/* ---- both sides ---- */

static bool say(const TdApart *x, What what, uint32_t number) {
  Message m = {(uint32_t)what, number, x->size};
  return send(x->socket, &m, sizeof m, MSG_NOSIGNAL) == (ssize_t)sizeof m;
}

/* Maps the shared memory, now of `size` bytes. */
static bool map(TdApart *x, size_t size) {
  if (x->wire) munmap(x->wire, x->size);
  void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, x->memory, 0);
  x->wire = at == MAP_FAILED ? NULL : at;
  x->size = size;
  return x->wire;
}

static void *place(const TdApart *x, uint64_t at) {
  return (char *)x->wire + at;
}

static TypeCode code_of(const TdType *t) {
  return t ? 1u + (TypeCode)t->kind * 256u + (TypeCode)t->w : 0;
}

static const TdType *type_of(TdSession *s, TypeCode code) {
  int w = code ? (int)((code - 1) % 256) : 0;
  switch (code ? (int)((code - 1) / 256) : -1) {
  case TD_T_INT: return td_type_int(s, w);
  case TD_T_UINT: return td_type_uint(s, w);
  case TD_T_FLOAT: return td_type_float(s, w);
  case TD_T_BOOL: return td_type_bool(s);
  case TD_T_INDEX: return td_type_index(s);
  default: return NULL;
  }
}

/* ---- the process of the library ---- */

/* A function that the library calls. */
typedef struct Served {
  TdApart *apart;
  uint32_t number;
} Served;

/* Has the other side run it; on the way arrays go through shared memory. */
static void on_back(void *served, void *result, void *const *arg) {
  const Served *s = served;
  TdApart *x = s->apart;
  WireBack *b = &x->wire->back[s->number];
  Message m;
  for (uint32_t i = 0; i < b->narg; i++)
    memcpy(place(x, b->at[i]), b->type[i] ? arg[i] : *(void **)arg[i], b->bytes[i]);
  if (!say(x, BACK, s->number) || recv(x->socket, &m, sizeof m, 0) != (ssize_t)sizeof m) _exit(1);
  memcpy(result, &b->value, sizeof b->value);
  for (uint32_t i = 0; i < b->narg; i++)
    if (!b->type[i]) memcpy(*(void **)arg[i], place(x, b->at[i]), b->bytes[i]);
}

/* The C function for one that is called back. */
static const void *function_of(TdArena *a, TdApart *x, uint32_t number) {
  const WireBack *b = &x->wire->back[number];
  TdFfiType type[MOST_BACK_ARGS];
  Served *s = TD_NEW(a, Served);
  *s = (Served){x, number};
  for (uint32_t i = 0; i < b->narg; i++)
    type[i] = (TdFfiType){.number = type_of(x->session, b->type[i])};
  TdFfi *ffi = td_ffi_new(a, type_of(x->session, b->result), type, b->narg);
  return td_ffi_function(a, ffi, on_back, s);
}

/* Makes the call that the shared memory holds. */
static What serve(TdApart *x, void *library) {
  Wire *w = x->wire;
  const void *address = library ? dlsym(library, w->symbol) : NULL;
  TdFfiType type[TD_FOREIGN_MOST];
  void *arg[TD_FOREIGN_MOST];
  const void *pointer[TD_FOREIGN_MOST];
  if (!address) return MISSING;
  TdArena *a = td_arena_new(x->session->ctx);
  for (uint32_t i = 0; i < w->narg; i++) {
    const WireArg *v = &w->arg[i];
    type[i] = (TdFfiType){.number = type_of(x->session, v->type)};
    pointer[i] = v->back >= 0 ? function_of(a, x, (uint32_t)v->back) : place(x, v->at);
    arg[i] = v->type ? place(x, v->at) : (void *)&pointer[i];
  }
  TdFfi *ffi = td_ffi_new(a, type_of(x->session, w->result), type, w->narg);
  td_ffi_call(ffi, address, &w->value, arg);
  fflush(NULL);
  td_arena_free(a);
  return RETURNED;
}

/* Serves calls until the other side is gone. */
_Noreturn static void live(TdApart *x, pid_t parent) {
  Message m;
  td_child_become_copy(parent);
  void *library = dlopen(x->path, RTLD_NOW | RTLD_LOCAL);
  while (recv(x->socket, &m, sizeof m, 0) == (ssize_t)sizeof m) {
    if ((!x->wire || m.size != x->size) && !map(x, m.size)) break;
    if (!say(x, serve(x, library), 0)) break;
  }
  _exit(0);
}

/* ---- this side ---- */

/* Ends the process, if it runs. */
static void stop(void *apart) {
  TdApart *x = apart;
  if (!x->pid || x->owner != getpid()) return;
  kill(x->pid, SIGKILL);
  while (waitpid(x->pid, NULL, 0) < 0 && errno == EINTR) continue;
  if (x->wire) munmap(x->wire, x->size);
  close(x->socket);
  close(x->memory);
  x->wire = NULL;
  x->pid = 0;
}

TdApart *td_apart_new(TdSession *s, const char *path) {
  TdApart *x = TD_NEW(s->arena, TdApart);
  *x = (TdApart){.session = s, .path = path};
  td_arena_defer(s->arena, stop, x);
  return x;
}

/* Starts the process. */
static bool start(TdApart *x) {
  int pair[2];
  pid_t parent = getpid();
  x->memory = memfd_create("tide-foreign", MFD_CLOEXEC);
  if (x->memory < 0) return false;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
    close(x->memory);
    return false;
  }
  fflush(NULL);
  pid_t pid = fork();
  x->socket = pair[pid == 0];
  close(pair[pid != 0]);
  if (pid == 0) live(x, parent);
  x->owner = parent;
  x->pid = pid > 0 ? pid : 0;
  if (pid > 0) return true;
  close(x->socket);
  close(x->memory);
  return false;
}

/* Bytes that an array or number takes in shared memory. */
static uint64_t room_for(uint64_t bytes) {
  return (bytes + GRAIN) / GRAIN * GRAIN;
}

/* Lays a function that is called back out from `at` on; where its arguments end. */
static uint64_t lay_back(WireBack *b, const TdCallback *c, uint64_t at) {
  b->result = code_of(c->result);
  b->narg = (uint32_t)c->nparam;
  for (uint32_t i = 0; i < b->narg; i++) {
    const TdType *t = c->param[i];
    int64_t n = 1;
    td_type_count(t, &n);
    b->type[i] = code_of(td_type_is_scalar(t) ? t : NULL);
    b->bytes[i] = (uint64_t)n * td_type_bytes(t);
    b->at[i] = at;
    at += room_for(b->bytes[i]);
  }
  return at;
}

/* Writes a call into the shared memory; false: there is not enough. */
static bool lay_out(TdApart *x, const TdApartCall *k) {
  static const Wire none;
  Wire wire = none, *w = &wire;
  uint64_t at = room_for(sizeof *w);
  int32_t backs = 0;
  snprintf(w->symbol, NAME, "%s", k->symbol);
  w->result = code_of(k->result);
  w->narg = (uint32_t)k->narg;
  for (size_t i = 0; i < k->narg; i++) {
    const TdApartArg *v = &k->arg[i];
    w->arg[i] = (WireArg){code_of(v->type), v->back ? backs++ : -1, at};
    at = v->back ? lay_back(&w->back[backs - 1], v->back, at) : at + room_for(v->bytes);
  }
  bool ok = at <= x->size && x->wire;
  if (!ok) ok = ftruncate(x->memory, (off_t)(2 * at)) == 0 && map(x, 2 * at);
  if (ok) memcpy(x->wire, w, sizeof *w);
  for (size_t i = 0; ok && i < k->narg; i++)
    if (!k->arg[i].back) memcpy(place(x, w->arg[i].at), k->arg[i].at, k->arg[i].bytes);
  return ok;
}

/* How the process ended that does not answer any more. */
static TdForeignEnd end_of(TdApart *x) {
  int status = 0;
  pid_t ended = 0;
  for (int i = 0; i < 50 && ended == 0; i++) {
    ended = waitpid(x->pid, &status, WNOHANG);
    if (ended == 0) poll(NULL, 0, 2);
  }
  if (ended != x->pid) {
    stop(x);
    return (TdForeignEnd){.how = TD_FOREIGN_REPLACED};
  }
  munmap(x->wire, x->size);
  close(x->socket);
  close(x->memory);
  x->wire = NULL;
  x->pid = 0;
  return WIFSIGNALED(status) ? (TdForeignEnd){TD_FOREIGN_CRASHED, WTERMSIG(status)}
                             : (TdForeignEnd){TD_FOREIGN_EXITED, WEXITSTATUS(status)};
}

/* Whether it ended while something that it started still holds the socket. */
static bool is_gone(const TdApart *x) {
  siginfo_t info = {0};
  return waitid(P_PID, (id_t)x->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid;
}

/* The next message; false with *end filled: there will be none. */
static bool listen_to(TdApart *x, Message *m, TdForeignEnd *end) {
  for (;;) {
    struct pollfd at = {.fd = x->socket, .events = POLLIN};
    int n = poll(&at, 1, NAP);
    if (td_ctx_must_stop(x->session->ctx)) {
      stop(x);
      *end = (TdForeignEnd){.how = TD_FOREIGN_STOPPED};
      return false;
    }
    if (n > 0 && recv(x->socket, m, sizeof *m, 0) == (ssize_t)sizeof *m) return true;
    if (n > 0 || is_gone(x)) {
      *end = end_of(x);
      return false;
    }
  }
}

/* Runs a function that is called back. */
static bool answer(TdApart *x, const TdApartCall *k, uint32_t number) {
  const TdForeignBack *back = x->session->back;
  WireBack *b = &x->wire->back[number];
  void *at[MOST_BACK_ARGS];
  for (uint32_t i = 0; i < b->narg; i++) at[i] = place(x, b->at[i]);
  size_t i = 0;
  while (i < k->narg && !(k->arg[i].back && number-- == 0)) i++;
  b->value = 0;
  if (back && i < k->narg) back->run(back->ud, k->arg[i].fn, k->arg[i].back, &b->value, at);
  return say(x, ANSWERED, 0);
}

/* A call of a process that runs and does nothing else. */
static TdForeignEnd call(TdApart *x, const TdApartCall *k) {
  static const TdForeignEnd absent = {.how = TD_FOREIGN_ABSENT};
  Message m = {0};
  TdForeignEnd end = {0};
  if (!lay_out(x, k)) return absent;
  bool told = say(x, CALL, 0);
  do {
    if (!listen_to(x, &m, &end)) return end;
    if (m.what == BACK) told = answer(x, k, m.number);
  } while (told && m.what == BACK);
  if (m.what == MISSING) return absent;
  for (size_t i = 0; i < k->narg; i++)
    if (!k->arg[i].back && !k->arg[i].type)
      memcpy(k->arg[i].at, place(x, x->wire->arg[i].at), k->arg[i].bytes);
  if (k->result) memcpy(k->to, &x->wire->value, td_type_bytes(k->result));
  return end;
}

TdForeignEnd td_apart_call(TdApart *x, const TdApartCall *k) {
  if (x->busy) return (TdForeignEnd){.how = TD_FOREIGN_BUSY};
  if ((!x->pid || x->owner != getpid()) && !start(x))
    return (TdForeignEnd){.how = TD_FOREIGN_ABSENT};
  x->busy = true;
  TdForeignEnd end = call(x, k);
  x->busy = false;
  return end;
}
