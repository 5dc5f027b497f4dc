/* hostile_test.c - runs hostile.lua in a session whose memory, files and time can be cut short.
 * Beside what session.h does it gives the script:
 *   limit(what, n)    cuts "memory" (of the core, n bytes from now on), "lua" (of Lua, the same),
 *                     "files" (bytes that a file may have), "space" (of addresses, n bytes more) or
 *                     "work" (units of the core); without n as before
 *   setenv(name, value)
 *   thorough          whether memory is to fail wherever it can (make hostile)
 *   sanitized         whether addresses are checked, which needs all of them */
/* [slow] */
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "session.h"

#if defined(__SANITIZE_ADDRESS__)
#  define SANITIZED true
#else
#  define SANITIZED false
#endif

#if defined(TIDE_HOSTILE)
#  define THOROUGH true
#else
#  define THOROUGH false
#endif

static size_t lua_bytes, lua_most; /* of Lua: in use, and at most (0: no limit) */

/* Lua's allocator, with a limit. */
static void *allocate(void *ud, void *old, size_t old_size, size_t new_size) {
  (void)ud;
  if (!old) old_size = 0;
  if (!new_size) {
    free(old);
    lua_bytes -= old_size;
    return NULL;
  }
  if (new_size > old_size && lua_most && lua_bytes + (new_size - old_size) > lua_most) return NULL;
  void *p = realloc(old, new_size);
  if (p) lua_bytes = lua_bytes - old_size + new_size;
  return p;
}

/* Bytes of addresses in use. */
static rlim_t space_used(void) {
  unsigned long pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (f && fscanf(f, "%lu", &pages) != 1) pages = 0;
  if (f) fclose(f);
  return (rlim_t)pages * 4096;
}

/* Sets the soft limit of a resource; n < 0: as high as may be. */
static void set_limit(int what, lua_Integer n) {
  struct rlimit r;
  getrlimit(what, &r);
  r.rlim_cur = n < 0 ? r.rlim_max : (rlim_t)n;
  setrlimit(what, &r);
}

static int l_limit(lua_State *L) {
  static const char *const what[] = {"memory", "lua", "files", "space", "work", NULL};
  lua_Integer n = luaL_optinteger(L, 2, -1);
  TdCtx *c = td_prompt_ctx(L);
  switch (luaL_checkoption(L, 1, NULL, what)) {
  case 0: td_ctx_set_memory_limit(c, n < 0 ? 0 : td_ctx_bytes(c) + (size_t)n); break;
  case 1: lua_most = n < 0 ? 0 : lua_bytes + (size_t)n; break;
  case 2: set_limit(RLIMIT_FSIZE, n); break;
  case 3: set_limit(RLIMIT_AS, n < 0 ? n : (lua_Integer)space_used() + n); break;
  default: td_ctx_set_budget(c, n < 0 ? 0 : (uint64_t)n);
  }
  return 0;
}

static int l_setenv(lua_State *L) {
  const char *value = luaL_optstring(L, 2, NULL);
  if (value)
    setenv(luaL_checkstring(L, 1), value, 1);
  else
    unsetenv(luaL_checkstring(L, 1));
  return 0;
}

int main(void) {
  signal(SIGXFSZ, SIG_IGN);
  lua_State *L = lua_newstate(allocate, NULL);
  session_open(L);
  lua_register(L, "limit", l_limit);
  lua_register(L, "setenv", l_setenv);
  lua_pushboolean(L, THOROUGH);
  lua_setglobal(L, "thorough");
  lua_pushboolean(L, SANITIZED);
  lua_setglobal(L, "sanitized");
  return session_run(L, "tests/unit/hostile.lua");
}
