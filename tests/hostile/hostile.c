/* hostile.c - one session, again and again, while something fails in it: the n-th allocation of
   Tide or of Lua (once, or from then on), Ctrl-C or a spent budget at the n-th poll, the collector
   at every point. Whatever happens, an error is one that says so, what the session had made is
   whole, new work is possible, and no memory is left.
     hostile SESSION PROBE [RUNS [MODE [N]]]
   RUNS are spread over all n of a mode (default 60; 0: every n). MODE and N pick one run. */
#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "tide.h"

typedef enum { TIDE_ONCE, TIDE_ON, LUA_ONCE, LUA_ON, INTERRUPT, BUDGET, COLLECT, MODES } Mode;

/* What strikes, and the code of the error that it may cause. */
static const struct {
  const char *name, *code;
} modes[MODES] = {
    {"tide-once", "memory"}, {"tide-on", "memory"},        {"lua-once", "memory"},
    {"lua-on", "memory"},    {"interrupt", "interrupted"}, {"budget", "budget"},
    {"collect", ""},
};

/* The run under way. */
static struct {
  Mode mode;
  uint64_t strike, at; /* the event that fails, and how many there were */
  bool armed;
  size_t lua_bytes, tide_bytes;
} run;

/* Counts an event of mode `once`; whether it fails. */
static bool strikes(Mode once) {
  bool is_on = run.mode == once + 1 && once != INTERRUPT;
  if (!run.armed || (run.mode != once && !is_on)) return false;
  run.at++;
  return is_on ? run.at >= run.strike : run.at == run.strike;
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

/* Opens the libraries and Tide. */
static void open_libraries(lua_State *L) {
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
  printf("# %s %llu: %s: %s\n", modes[run.mode].name, (unsigned long long)run.strike, what,
         L ? luaL_tolstring(L, -1, NULL) : "");
  return false;
}

/* The session in which event n of a mode fails, and the probe after it. */
static bool try(const char *session, const char *probe, Mode mode, uint64_t n) {
  memset(&run, 0, sizeof run);
  run.mode = mode;
  run.strike = n;
  run.armed = true;
  lua_State *L = lua_newstate(lua_memory, NULL);
  bool good = true;
  if (L) {
    int status = call_file(L, session, false);
    run.armed = false;
    if (status != LUA_OK && !is_expected(L, status)) good = complain(L, "not the error due");
    lua_settop(L, 0);
    if (good && call_file(L, probe, true) != LUA_OK) good = complain(L, "afterwards");
    lua_close(L);
  }
  if (run.lua_bytes || run.tide_bytes) good = complain(NULL, "memory is left");
  return good;
}

/* Prints line `number` of TAP for a mode. */
static void tell(bool good, int number, Mode mode, const char *what) {
  printf("%sok %d - %s: %s\n", good ? "" : "not ", number, modes[mode].name, what);
  fflush(stdout);
}

/* Runs a mode `runs` times (0: for every event), or the one in which nothing fails once; prints its
   line of TAP. */
static bool sweep(const char *session, const char *probe, Mode mode, uint64_t runs, int number) {
  bool good = try(session, probe, mode, UINT64_MAX);
  uint64_t events = run.at, tried = 0;
  uint64_t step = runs && events > runs ? events / runs : 1;
  for (uint64_t n = 1; n <= events; n += step, tried++) good &= try(session, probe, mode, n);
  char what[80] = "one session";
  if (mode != COLLECT)
    snprintf(what, sizeof what, "%llu of %llu events failed in turn", (unsigned long long)tried,
             (unsigned long long)events);
  tell(good, number, mode, what);
  return good;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fputs("usage: hostile SESSION PROBE [RUNS [MODE [N]]]\n", stderr);
    return 2;
  }
  uint64_t runs = argc > 3 ? strtoull(argv[3], NULL, 10) : 60;
  bool good = true;
  int number = 0;
  for (int m = 0; m < MODES; m++) {
    if (argc > 4 && strcmp(argv[4], modes[m].name) != 0) continue;
    number++;
    if (argc <= 5) {
      good &= sweep(argv[1], argv[2], (Mode)m, runs, number);
      continue;
    }
    good &= try(argv[1], argv[2], (Mode)m, strtoull(argv[5], NULL, 10));
    tell(good, number, (Mode)m, argv[5]);
  }
  printf("1..%d\n", number);
  return !good || number == 0;
}
