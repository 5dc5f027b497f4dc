/* set.c - fields of the table on top of the stack, and modules that are made when required. */
#include "bind/bind.h"

void td_bind_set_integer(lua_State *L, const char *key, int64_t v) {
  lua_pushinteger(L, (lua_Integer)v);
  lua_setfield(L, -2, key);
}

void td_bind_set_number(lua_State *L, const char *key, double v) {
  lua_pushnumber(L, v);
  lua_setfield(L, -2, key);
}

void td_bind_set_boolean(lua_State *L, const char *key, bool v) {
  lua_pushboolean(L, v);
  lua_setfield(L, -2, key);
}

void td_bind_set_string(lua_State *L, const char *key, const char *v) {
  if (!v) return;
  lua_pushstring(L, v);
  lua_setfield(L, -2, key);
}

void td_bind_set_module(lua_State *L, const char *name, lua_CFunction loader) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, loader);
  lua_setfield(L, -2, name);
  lua_pop(L, 1);
}
