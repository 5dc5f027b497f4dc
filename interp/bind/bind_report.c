/* bind_report.c - errors on standard error: as drawn, or as JSON for programs that read them. */
#include <stdio.h>

#include "bind/bind.h"
#include "tide.h"

#define KEY_JSON "tide.report_json"

void td_report_as_json(lua_State *L) {
  lua_pushboolean(L, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, KEY_JSON);
}

/* Replaces the error on top by its line of JSON, if that was asked for. */
static void to_json(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, KEY_JSON);
  bool json = lua_toboolean(L, -1) != 0;
  lua_pop(L, 1);
  if (!json) return;
  lua_getglobal(L, "require");
  lua_pushliteral(L, "tide.diagnostics");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, "text");
  lua_pushvalue(L, -3);
  lua_call(L, 1, 1);
  lua_replace(L, -3);
  lua_pop(L, 1);
}

void td_report_error(lua_State *L) {
  size_t n;
  fflush(stdout);
  to_json(L);
  const char *s = luaL_tolstring(L, -1, &n);
  fwrite(s, 1, n, stderr);
  if (!n || s[n - 1] != '\n') fputc('\n', stderr);
  lua_pop(L, 2);
}
