/* foreign.c - foreign functions of a session: a library stays open, and what it keeps between calls
 * stays, for as long as the session lives. */
#include "backends/host/foreign.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/stat.h>

#include "backends/host/apart.h"
#include "backends/host/ffi.h"
#include "backends/host/library.h"
#include "backends/host/source.h"

/* A library, open here or in a process of its own. */
typedef struct TdLibraries {
  struct TdLibraries *next;
  const char *key;
  void *handle;
  TdApart *apart;
} Library;

/* A function that C is given in place of a Lua one. */
typedef struct Back {
  TdSession *session;
  const TdCallback *type;
  int fn;
  const void *code;
} Back;

struct TdForeignFn {
  TdSession *session;
  const TdUnit *unit;
  const void *address;
  TdApart *apart;
  TdFfi *ffi;
  const TdType *result; /* NULL: nothing */
  size_t narg;          /* of C */
  Back *back;
};

/* What a library is known by: its file, if it is one, as it is now. */
static const char *key_of(TdArena *a, const char *path, bool process) {
  struct stat st;
  bool file = strchr(path, '/') && stat(path, &st) == 0;
  return td_text_fmt(a, "%d %s %ld %ld.%ld", process, path, file ? (long)st.st_ino : 0L,
                     file ? (long)st.st_mtim.tv_sec : 0L, file ? st.st_mtim.tv_nsec : 0L);
}

/* The library of a path, opened; NULL with d filled. */
static Library *open_library(TdSession *s, const char *path, bool process, TdDiag *d) {
  const char *key = key_of(d->arena, path, process);
  for (Library *l = s->libraries; l; l = l->next)
    if (strcmp(l->key, key) == 0) return l;
  Library *l = TD_NEW(s->arena, Library);
  *l = (Library){.next = s->libraries, .key = td_arena_strdup(s->arena, key)};
  if (process) {
    l->apart = td_apart_new(s, td_arena_strdup(s->arena, path));
  } else {
    TdLibrary x = td_library_open(s->arena, path);
    l->handle = x.handle;
    if (!x.handle && x.end.how) {
      s->is_broken = true;
      td_library_tell(&x, d);
    } else if (!x.handle) {
      const char *missing = strstr(x.why, "undefined symbol");
      td_diag_set(d, TD_USAGE, "no-symbol", (TdLoc){0},
                  missing ? "the foreign code is not whole: %s" : "the library is not there: %s",
                  missing ? missing : x.why);
    }
    if (!x.handle) return NULL;
  }
  s->libraries = l;
  return l;
}

/* C calls back: the Lua side answers, outside of the guard that the call is under. */
typedef struct Entry {
  const Back *back;
  void *result, *const *at;
} Entry;

static void enter(void *entry) {
  const Entry *e = entry;
  const TdForeignBack *to = e->back->session->back;
  if (to) to->run(to->ud, e->back->fn, e->back->type, e->result, e->at);
}

static void on_back(void *back, void *result, void *const *arg) {
  const Back *b = back;
  void *at[TD_FOREIGN_MOST];
  for (size_t i = 0; i < b->type->nparam; i++)
    at[i] = b->type->param[i]->kind == TD_T_TENSOR ? *(void **)arg[i] : arg[i];
  td_guard_outside(enter, &(Entry){b, result, at});
}

/* How C has a parameter. */
static TdFfiType type_of(const TdType *t) {
  return (TdFfiType){.number = t && td_type_is_scalar(t) ? t : NULL};
}

/* The callback that stands at place i of the arguments of C, or NULL. */
static const TdCallback *callback_at(const TdForeign *f, size_t i) {
  for (size_t k = 0; k < f->ncallback; k++)
    if (f->callback[k].at == i) return &f->callback[k];
  return NULL;
}

/* Makes the C functions that stand for the Lua ones; false: the system gives no memory for code. */
static bool make_backs(TdArena *a, TdForeignFn *x) {
  const TdForeign *f = x->unit->foreign;
  x->back = TD_NEWN(a, Back, f->ncallback + 1);
  for (size_t i = 0; i < f->ncallback; i++) {
    const TdCallback *c = &f->callback[i];
    TdFfiType *arg = TD_NEWN(a, TdFfiType, c->nparam + 1);
    for (size_t k = 0; k < c->nparam; k++) arg[k] = type_of(c->param[k]);
    x->back[i] = (Back){x->session, c, c->fn, NULL};
    TdFfi *ffi = td_ffi_new(a, c->result, arg, c->nparam);
    x->back[i].code = td_ffi_function(a, ffi, on_back, &x->back[i]);
    if (!x->back[i].code) return false;
  }
  return true;
}

/* Prepares the signature. */
static void prepare(TdArena *a, TdForeignFn *x) {
  const TdUnit *u = x->unit;
  const TdForeign *f = u->foreign;
  size_t given = f->returns, n = u->nparam - given + f->ncallback;
  TdFfiType *arg = TD_NEWN(a, TdFfiType, n + 1);
  for (size_t i = 0; i < n; i++)
    arg[i] = callback_at(f, i) ? (TdFfiType){0} : type_of(u->param[given++].type);
  x->result = f->returns ? td_type_scalar(u->param[0].type) : NULL;
  x->narg = n;
  x->ffi = td_ffi_new(a, x->result, arg, n);
}

static TdForeignFn *open_function(TdArena *a, TdSession *s, const TdUnit *u, TdDiag *d) {
  const TdForeign *f = u->foreign;
  const char *path = td_source_library(a, f, d);
  Library *l = path ? open_library(s, path, f->process, d) : NULL;
  if (!l) return NULL;
  TdForeignFn *x = TD_NEW(a, TdForeignFn);
  *x = (TdForeignFn){.session = s, .unit = u, .apart = l->apart};
  x->address = l->handle ? dlsym(l->handle, f->symbol) : NULL;
  if (!x->address && !l->apart) {
    td_diag_set(d, TD_USAGE, "no-symbol", u->loc, "'%s' is not found in %s", f->symbol,
                f->source ? f->source : f->library);
    return NULL;
  }
  prepare(a, x);
  if (make_backs(a, x)) return x;
  td_diag_set(d, TD_UNSUPPORTED, "callback", u->loc,
              "this system gives no memory for code, so C cannot call Lua back");
  return NULL;
}

const void *td_foreign_address(const TdForeignFn *f) {
  return f->apart || f->unit->foreign->ncallback ? NULL : f->address;
}

/* A call here. */
typedef struct Call {
  TdForeignFn *f;
  void *result;
  void *const *arg;
} Call;

static void do_call(void *call) {
  const Call *k = call;
  td_ffi_call(k->f->ffi, k->f->address, k->result, k->arg);
}

static TdForeignEnd call_here(TdForeignFn *f, void *result, void *const *arg) {
  static const volatile int foreign = 1;
  TdGuardEnd end = td_guard_call(do_call, &(Call){f, result, arg}, &foreign);
  if (!end.how) return (TdForeignEnd){0};
  if (td_ctx_must_stop(f->session->ctx)) return (TdForeignEnd){.how = TD_FOREIGN_STOPPED};
  return (TdForeignEnd){TD_FOREIGN_CRASHED, end.how};
}

/* What is given to the process of its own. */
static TdForeignEnd call_apart(TdForeignFn *f, void *result, void *const *at) {
  TdApartArg arg[TD_FOREIGN_MOST];
  const TdUnit *u = f->unit;
  size_t given = u->foreign->returns;
  for (size_t i = 0; i < f->narg; i++) {
    const TdCallback *c = callback_at(u->foreign, i);
    const TdType *t = c ? NULL : td_unit_type(f->session, u, u->param[given].type);
    int64_t n = 1;
    if (t) td_type_count(t, &n);
    arg[i] = (TdApartArg){.back = c};
    if (c) {
      arg[i].fn = f->back[c - u->foreign->callback].fn;
      continue;
    }
    arg[i].type = td_type_is_scalar(t) ? t : NULL;
    arg[i].at = at[given++];
    arg[i].bytes = (size_t)n * td_type_bytes(t);
  }
  return td_apart_call(f->apart,
                       &(TdApartCall){u->foreign->symbol, f->result, result, arg, f->narg});
}

/* Has callback i be fn[i] (NULL: what it is); what it was comes back in `was`. */
static void set_backs(TdForeignFn *f, const int *fn, int *was) {
  for (size_t i = 0; i < f->unit->foreign->ncallback; i++) {
    was[i] = f->back[i].fn;
    if (fn) f->back[i].fn = fn[i];
  }
}

static TdForeignEnd call_function(TdForeignFn *f, void *const *at, const int *fn) {
  const TdForeign *x = f->unit->foreign;
  const void *code[TD_FOREIGN_MOST];
  void *arg[TD_FOREIGN_MOST], *pointer[TD_FOREIGN_MOST];
  int was[TD_FOREIGN_MOST];
  const TdForeignBack *back = f->session->back;
  size_t given = x->returns;
  for (size_t i = 0; i < f->narg && !f->apart; i++) {
    const TdCallback *c = callback_at(x, i);
    if (c) code[i] = f->back[c - x->callback].code;
    bool number = !c && td_type_is_scalar(f->unit->param[given].type);
    if (!c) pointer[i] = at[given++];
    arg[i] = c ? (void *)&code[i] : number ? pointer[i] : (void *)&pointer[i];
  }
  set_backs(f, fn, was);
  void *result = x->returns ? at[0] : NULL;
  TdForeignEnd end = f->apart ? call_apart(f, result, at) : call_here(f, result, arg);
  if (back && x->ncallback && back->failed(back->ud)) {
    if (end.how == TD_FOREIGN_DONE)
      end.how = TD_FOREIGN_RAISED;
    else
      back->forget(back->ud);
  }
  set_backs(f, was, (int[TD_FOREIGN_MOST]){0});
  return end;
}

static bool tell(TdSession *s, const TdUnit *u, TdForeignEnd end, TdLoc loc, TdDiag *d) {
  const char *name = u->foreign->ip ? u->foreign->ip->symbol : u->foreign->symbol;
  bool process = u->foreign->process;
  const char *how = td_guard_text(d->arena, (TdGuardEnd){end.code});
  switch (end.how) {
  case TD_FOREIGN_DONE: return true;
  case TD_FOREIGN_CRASHED:
    td_diag_set(d, TD_ILLEGAL, "crash", loc, "the foreign function '%s' %s", name, how);
    if (process) break;
    s->is_broken = true;
    td_diag_note(d, (TdLoc){0}, "the memory of this session can no longer be trusted");
    td_diag_help(d, "save what you need and begin a new session; process = true gives foreign code "
                    "a process of its own");
    return false;
  case TD_FOREIGN_EXITED:
    td_diag_set(d, TD_ILLEGAL, "foreign-exit", loc,
                "the foreign function '%s' ended its process with status %d", name, end.code);
    break;
  case TD_FOREIGN_REPLACED:
    td_diag_set(d, TD_ILLEGAL, "foreign-exit", loc,
                "the foreign function '%s' left its process, to another program or for good", name);
    break;
  case TD_FOREIGN_RAISED:
    return td_diag_set(d, TD_ILLEGAL, TD_FOREIGN_HELD, loc, "a function that '%s' called failed",
                       name);
  case TD_FOREIGN_STOPPED:
    td_ctx_tick(s->ctx, 1);
    return td_diag_set(d, TD_LIMIT, "interrupted", loc, "interrupted");
  case TD_FOREIGN_BUSY:
    return td_diag_set(d, TD_USAGE, "running", loc,
                       "the process of '%s' waits for a function that it called back, and takes no "
                       "other call meanwhile",
                       name);
  case TD_FOREIGN_ABSENT:
    return td_diag_set(d, TD_USAGE, "no-symbol", loc, "'%s' is not found in %s", name,
                       u->foreign->source ? u->foreign->source : u->foreign->library);
  }
  td_diag_help(d, "arrays are as they were before the call; the next call begins a new process, "
                  "without what the library kept");
  return false;
}

const TdForeignHost td_foreign_host = {open_function, call_function, tell};
