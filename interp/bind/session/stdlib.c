/* stdlib.c - modules of stdlib run over an environment of their own, the globals as they were when
 * Tide was opened, so that a user's global `table`, `string` or `io` is nobody else's; and they are
 * required by what `require` was then. Tables of libraries are shared, names are not. */
#include "bind/bind.h"

#define KEY_OWN "tide.own"

void td_stdlib_open(lua_State *L) {
  lua_newtable(L);
  lua_pushglobaltable(L);
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, -6);
  }
  lua_pop(L, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, KEY_OWN);
}

void td_stdlib_push_global(lua_State *L, const char *name) {
  lua_getfield(L, LUA_REGISTRYINDEX, KEY_OWN);
  lua_getfield(L, -1, name);
  lua_remove(L, -2);
}

void td_stdlib_push_module(lua_State *L, const char *name) {
  td_stdlib_push_global(L, "require");
  lua_pushstring(L, name);
  lua_call(L, 1, 1);
}

void td_stdlib_enclose(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, KEY_OWN);
  if (!lua_setupvalue(L, -2, 1)) lua_pop(L, 1);
}

/* The loader of the module tide.globals: each name of tide that no global has becomes one. */
static int l_globals(lua_State *L) {
  td_stdlib_push_module(L, "tide");
  lua_pushglobaltable(L);
  lua_pushliteral(L, "tide");
  lua_pushvalue(L, -3);
  lua_rawset(L, -3);
  for (lua_pushnil(L); lua_next(L, -3); lua_pop(L, 1)) {
    lua_pushvalue(L, -2);
    lua_rawget(L, -4);
    bool free = lua_isnil(L, -1);
    lua_pop(L, 1);
    if (!free) continue;
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, -5);
  }
  lua_pop(L, 1);
  return 1;
}

void td_stdlib_open_globals(lua_State *L) {
  td_bind_set_module(L, "tide.globals", l_globals);
}
