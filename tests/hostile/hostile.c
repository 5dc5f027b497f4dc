/* hostile.c - one session in which something fails: the n-th allocation of Tide or of Lua (once, or
 * from then on), Ctrl-C or a spent budget at the n-th poll, the collector at every point. Whatever
 * happens, an error is one that says so, what the session had made is whole, new work is possible,
 * and no memory is left.
 *   hostile [-r RUNS] [-j JOBS] [-m MODE] [-f FROM] [-n N] SESSION PROBE
 * The session runs once for a mode. Where an event of it is to fail, the process forks: in the
 * child it fails, and the child comes to an end; in the parent it does not. So nothing runs twice,
 * and a crash or a hang is that of one child. RUNS are spread over all events of a mode (default
 * 60; 0: every event), beginning with number FROM; so many JOBS run beside the parent. Where the
 * session has called alone(true) until alone(false), because a child and its parent would share
 * files, the child runs a session of its own. -n runs such a one: event N of MODE fails in it. */
#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alarm.h"
#include "base/ctx.h"
#include "tide.h"

/* Of sanitizer/lsan_interface.h, which not every compiler comes with. */
int __lsan_do_recoverable_leak_check(void);

typedef enum { TIDE_ONCE, TIDE_ON, LUA_ONCE, LUA_ON, INTERRUPT, BUDGET, COLLECT, MODES } Mode;

/* What strikes, and the code of the error that it may cause. */
static const struct {
  const char *name, *code;
} modes[MODES] = {
    {"tide-once", "memory"}, {"tide-on", "memory"},        {"lua-once", "memory"},
    {"lua-on", "memory"},    {"interrupt", "interrupted"}, {"budget", "budget"},
    {"collect", ""},
};

/* What the command line asks for. */
static struct {
  const char *self, *session, *probe, *mode;
  uint64_t runs, from, only; /* only: 0: none */
  int jobs;
} want = {.runs = 60, .from = 1, .jobs = 1};

/* The run under way. */
static struct {
  Mode mode;
  uint64_t at;         /* events so far */
  uint64_t step, from; /* a child fails at `from`, and every `step` after; step 0: none does */
  uint64_t struck;     /* the event that failed in this process; 0: none did */
  uint64_t tried;
  bool armed, is_child, is_alone, good;
  size_t lua_bytes, tide_bytes;
} run;

enum { MOST_JOBS = 64, SECONDS = 300 /* that a child may take */, TOLD = 1000 };

/* The children that were not waited for, by the events that fail in them: a ring. */
static struct {
  pid_t pid[MOST_JOBS];
  uint64_t event[MOST_JOBS];
  int first, n;
} children;

/* Waits for the oldest child, and tells of one that did not end well. */
static void reap(void) {
  int status, i = children.first;
  waitpid(children.pid[i], &status, 0);
  children.first = (children.first + 1) % MOST_JOBS;
  children.n--;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  printf("# %s %llu: ended with %s %d\n", modes[run.mode].name,
         (unsigned long long)children.event[i], WIFSIGNALED(status) ? "signal" : "status",
         WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  run.good = false;
}

/* Becomes a session of its own in which the same event fails. */
_Noreturn static void start_anew(void) {
  char event[24];
  snprintf(event, sizeof event, "%llu", (unsigned long long)run.at);
  execl(want.self, want.self, "-m", modes[run.mode].name, "-n", event, want.session, want.probe,
        (char *)NULL);
  perror("hostile: exec");
  _exit(1);
}

/* Forks; whether this is the child, in which the event fails. */
static bool is_in_child(void) {
  if (children.n == want.jobs) reap();
  fflush(stdout);
  if (++run.tried % TOLD == 0)
    fprintf(stderr, "# %s: event %llu\n", modes[run.mode].name, (unsigned long long)run.at);
  pid_t pid = fork();
  if (pid < 0) {
    perror("hostile: fork");
    exit(1);
  }
  if (pid == 0) {
    alarm(SECONDS);
    if (run.is_alone) start_anew();
    run.is_child = true;
    return true;
  }
  int i = (children.first + children.n++) % MOST_JOBS;
  children.pid[i] = pid;
  children.event[i] = run.at;
  return false;
}

/* Whether the event that was just counted is one that fails in a child. */
static bool is_due(void) {
  return run.step && run.at >= run.from && (run.at - run.from) % run.step == 0;
}

/* Counts an event of mode `once`; whether it fails. */
static bool strikes(Mode once) {
  bool is_on = run.mode == once + 1 && once != INTERRUPT;
  if (!run.armed || (run.mode != once && !is_on)) return false;
  run.at++;
  if (run.struck) return is_on;
  if (want.only ? run.at == want.only : is_due() && is_in_child()) run.struck = run.at;
  return run.struck != 0;
}

/* Lua's allocator; what grows may fail. */
static void *lua_memory(void *ud, void *old, size_t old_size, size_t new_size) {
  (void)ud;
  if (!old) old_size = 0;
  if (new_size > old_size && strikes(LUA_ONCE)) return NULL;
  void *p = new_size ? realloc(old, new_size) : NULL;
  if (!new_size) free(old);
  if (p || !new_size) run.lua_bytes += new_size - old_size;
  return p;
}

void *__real_td_ctx_take(TdCtx *c, size_t size);
void *__wrap_td_ctx_take(TdCtx *c, size_t size);
void __real_td_ctx_give(TdCtx *c, void *p, size_t size);
void __wrap_td_ctx_give(TdCtx *c, void *p, size_t size);
void __real_td_ctx_tick(TdCtx *c, uint64_t n);
void __wrap_td_ctx_tick(TdCtx *c, uint64_t n);

/* The memory of arenas, which may fail. */
void *__wrap_td_ctx_take(TdCtx *c, size_t size) {
  void *p = strikes(TIDE_ONCE) ? NULL : __real_td_ctx_take(c, size);
  if (p) run.tide_bytes += size;
  return p;
}

void __wrap_td_ctx_give(TdCtx *c, void *p, size_t size) {
  run.tide_bytes -= size;
  __real_td_ctx_give(c, p, size);
}

/* A poll, at which Ctrl-C may come or the budget be spent. */
void __wrap_td_ctx_tick(TdCtx *c, uint64_t n) {
  if (run.mode == INTERRUPT && strikes(INTERRUPT)) td_ctx_interrupt(c);
  if (run.mode == BUDGET && strikes(BUDGET)) {
    td_ctx_set_budget(c, 1);
    n = UINT64_MAX;
  }
  __real_td_ctx_tick(c, n);
}

bool __wrap_td_alarm_start(TdAlarm *a, double seconds, void (*ring)(void *ud), void *ud);
void __wrap_td_alarm_stop(TdAlarm *a);

/* No alarm rings: its thread would be missing in children, and the parent waits for them. */
bool __wrap_td_alarm_start(TdAlarm *a, double seconds, void (*ring)(void *ud), void *ud) {
  (void)a, (void)seconds, (void)ring, (void)ud;
  return true;
}

void __wrap_td_alarm_stop(TdAlarm *a) {
  (void)a;
}

/* alone(whether): children do, or do not, run sessions of their own. */
static int l_alone(lua_State *L) {
  run.is_alone = lua_toboolean(L, 1);
  return 0;
}

/* Opens the libraries and Tide. */
static void open_libraries(lua_State *L) {
  lua_register(L, "alone", l_alone);
  luaL_openlibs(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, luaopen_tide);
  lua_setfield(L, -2, "tide");
  lua_settop(L, 0);
}

/* Runs a file; arguments: its name, the table of what the session has made. */
static int run_file(lua_State *L) {
  const char *file = lua_touserdata(L, 1);
  if (run.mode == COLLECT) lua_gc(L, LUA_GCINC, 1, 1000, 1);
  if (!lua_istable(L, 2)) open_libraries(L);
  if (luaL_loadfile(L, file) != LUA_OK) return lua_error(L);
  if (lua_istable(L, 2))
    lua_pushvalue(L, 2);
  else
    lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, "hostile.made");
  lua_call(L, 1, 0);
  return 0;
}

/* Runs a file protected, with the session's table when there is one; the status. */
static int call_file(lua_State *L, const char *file, bool again) {
  lua_pushcfunction(L, run_file);
  union {
    const char *from;
    void *to;
  } name = {file};
  lua_pushlightuserdata(L, name.to);
  if (again && lua_getfield(L, LUA_REGISTRYINDEX, "hostile.made") != LUA_TTABLE) {
    lua_pop(L, 1);
    again = false;
  }
  return lua_pcall(L, again ? 2 : 1, 0, 0);
}

/* Whether the error on top of the stack is what the mode may cause. */
static bool is_expected(lua_State *L, int status) {
  const char *code = modes[run.mode].code;
  if (strcmp(code, "memory") == 0 &&
      (status == LUA_ERRMEM ||
       (lua_type(L, -1) == LUA_TSTRING && strstr(lua_tostring(L, -1), "not enough memory"))))
    return true;
  if (!lua_istable(L, -1) && !lua_isuserdata(L, -1)) return false;
  lua_getfield(L, -1, "code");
  bool same = lua_isstring(L, -1) && strcmp(lua_tostring(L, -1), code) == 0;
  lua_pop(L, 1);
  return same;
}

/* Prints what went wrong in the run; returns false. */
static bool complain(lua_State *L, const char *what) {
  printf("# %s %llu: %s: %s\n", modes[run.mode].name, (unsigned long long)run.struck, what,
         L ? luaL_tolstring(L, -1, NULL) : "");
  return false;
}

/* The session, and the probe after it; whether all is well in this process. */
static bool play(void) {
  lua_State *L = lua_newstate(lua_memory, NULL);
  bool good = true;
  if (L) {
    int status = call_file(L, want.session, false);
    run.armed = false;
    if (status != LUA_OK && !is_expected(L, status)) good = complain(L, "not the error due");
    lua_settop(L, 0);
    if (good && call_file(L, want.probe, true) != LUA_OK) good = complain(L, "afterwards");
    lua_close(L);
  }
  if (run.lua_bytes || run.tide_bytes) good = complain(NULL, "memory is left");
  if (__lsan_do_recoverable_leak_check()) good = complain(NULL, "memory of libraries is left");
  return good;
}

/* Plays the session in a mode, with a child for every `step`-th event from `from` on (0: none).
 * Returns whether it went well here and in all children. In a child it does not return. */
static bool try(Mode mode, uint64_t step, uint64_t from) {
  memset(&run, 0, sizeof run);
  run.mode = mode;
  run.step = step;
  run.from = from;
  run.armed = run.good = true;
  bool good = play();
  if (run.is_child) {
    fflush(stdout);
    _exit(!good);
  }
  while (children.n) reap();
  return good && run.good;
}

/* Prints line `number` of TAP for a mode. */
static void tell(bool good, int number, Mode mode, const char *what) {
  printf("%sok %d - %s: %s\n", good ? "" : "not ", number, modes[mode].name, what);
  fflush(stdout);
}

/* Counts the events of a mode, then has as many of them fail as are wanted; prints its line of TAP.
 */
static bool sweep(Mode mode, int number) {
  bool good = try(mode, 0, 0);
  uint64_t events = run.at, step = want.runs && events > want.runs ? events / want.runs : 1;
  char what[80] = "one session";
  if (want.only) return good;
  if (mode != COLLECT) {
    good &= try(mode, step, want.from);
    snprintf(what, sizeof what, "%llu of %llu events failed in turn", (unsigned long long)run.tried,
             (unsigned long long)events);
  }
  tell(good, number, mode, what);
  return good;
}

static int usage(void) {
  fputs("usage: hostile [-r RUNS] [-j JOBS] [-m MODE] [-f FROM] [-n N] SESSION PROBE\n", stderr);
  return 2;
}

/* Reads the command line; false if it is wrong. */
static bool read_options(int argc, char **argv) {
  for (int o; (o = getopt(argc, argv, "r:j:m:f:n:")) != -1;) {
    uint64_t n = o == '?' || o == 'm' ? 0 : strtoull(optarg, NULL, 10);
    switch (o) {
    case 'r': want.runs = n; break;
    case 'j': want.jobs = n < 1 ? 1 : n > MOST_JOBS ? MOST_JOBS : (int)n; break;
    case 'm': want.mode = optarg; break;
    case 'f': want.from = n ? n : 1; break;
    case 'n': want.only = n; break;
    default: return false;
    }
  }
  if (argc - optind != 2) return false;
  want.self = argv[0];
  want.session = argv[optind];
  want.probe = argv[optind + 1];
  return true;
}

int main(int argc, char **argv) {
  if (!read_options(argc, argv)) return usage();
  bool good = true;
  int number = 0;
  for (int m = 0; m < MODES; m++)
    if (!want.mode || strcmp(want.mode, modes[m].name) == 0) good &= sweep((Mode)m, ++number);
  if (!want.only) printf("1..%d\n", number);
  return !good || number == 0;
}
