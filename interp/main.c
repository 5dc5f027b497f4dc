/* main.c - arguments -> Lua state -> script. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tide.h"

/* Puts the stdlib beside the executable first in package.path, and tide among the preloaded
 * modules. */
static void open_libraries(lua_State *L) {
  luaL_openlibs(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, luaopen_tide);
  lua_setfield(L, -2, "tide");
  lua_pop(L, 1);
  char path[4096];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  if (n <= 0) return;
  path[n] = 0;
  char *slash = strrchr(path, '/');
  if (!slash) return;
  *slash = 0;
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "path");
  lua_pushfstring(L, "%s/stdlib/?.lua;%s", path, lua_tostring(L, -1));
  lua_setfield(L, -3, "path");
  lua_pop(L, 2);
}

/* Loads tide first, so that sources are kept from the first chunk on, then runs the script with its
 * arguments. */
static int protected_main(lua_State *L) {
  char **argv = lua_touserdata(L, 1);
  open_libraries(L);
  lua_getglobal(L, "require");
  lua_pushliteral(L, "tide");
  lua_call(L, 1, 0);
  if (!argv[1]) return luaL_error(L, "usage: tide script.lua");
  lua_newtable(L);
  for (int i = 0; argv[i]; i++) {
    lua_pushstring(L, argv[i]);
    lua_rawseti(L, -2, i - 1);
  }
  lua_setglobal(L, "arg");
  lua_getglobal(L, "dofile");
  lua_pushstring(L, argv[1]);
  lua_call(L, 1, 0);
  return 0;
}

static int message(lua_State *L) {
  luaL_tolstring(L, 1, NULL);
  return 1;
}

int main(int argc, char **argv) {
  (void)argc;
  lua_State *L = luaL_newstate();
  if (!L) return 1;
  lua_pushcfunction(L, message);
  lua_pushcfunction(L, protected_main);
  lua_pushlightuserdata(L, argv);
  int status = lua_pcall(L, 1, 0, 1);
  if (status != LUA_OK) fprintf(stderr, "%s\n", lua_tostring(L, -1));
  lua_close(L);
  return status == LUA_OK ? 0 : 1;
}
