/* lua_memory_test.c - memory that ends while Lua makes its first large text leaves it able to make
 * the next. */
#include <stdlib.h>

#include "session.h"

static int left = -1; /* allocations until all fail; negative: none does */

/* Lua's allocator; what grows fails once none is left. */
static void *allocate(void *ud, void *old, size_t old_size, size_t new_size) {
  (void)ud;
  if (new_size > (old ? old_size : 0) && left >= 0 && left-- == 0) return left = 0, NULL;
  if (new_size) return realloc(old, new_size);
  free(old);
  return NULL;
}

/* A new session makes a large text, after n allocations without memory, then with it again. Whether
 * it could at first; *again: whether it could then. */
static bool attempt(int n, bool *again) {
  static const char large[] = "assert(#('x'):rep(9999) == 9999)";
  lua_State *L = lua_newstate(allocate, NULL);
  session_open(L);
  left = n;
  bool could = luaL_dostring(L, large) == LUA_OK;
  left = -1;
  lua_settop(L, 0);
  *again = luaL_dostring(L, large) == LUA_OK;
  if (!*again) printf("# %d: %s\n", n, lua_tostring(L, -1));
  lua_close(L);
  return could;
}

int main(void) {
  bool again, always = true;
  int n = 0;
  while (!attempt(n, &again)) {
    always &= again;
    n++;
  }
  ok(n > 3, "memory ended at some of the allocations");
  ok(always && again, "large texts are made as soon as there is memory");
  return done_testing();
}
