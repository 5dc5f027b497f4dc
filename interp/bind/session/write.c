/* write.c - the module tide.file of stdlib: files that appear whole. */
#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "bind/bind.h"

int td_bind_write(lua_State *L, const char *path, const char *text, size_t n) {
  TdArena *a = td_bind_arena(L);
  if (td_file_write(a, path, text, n)) return 0;
  return td_bind_fail(L, "write", "cannot write %s: %s", path, strerror(errno));
}

/* write(path, text): true, or nil and why not all was written. */
static int l_write(lua_State *L) {
  size_t n;
  const char *path = luaL_checkstring(L, 1), *text = luaL_checklstring(L, 2, &n);
  if (td_file_write(td_bind_arena(L), path, text, n)) {
    lua_pushboolean(L, 1);
    return 1;
  }
  const char *why = strerror(errno);
  lua_pushnil(L);
  lua_pushfstring(L, "cannot write %s: %s", path, why);
  return 2;
}

static int l_load(lua_State *L) {
  static const luaL_Reg functions[] = {{"write", l_write}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}

void td_bind_open_write(lua_State *L) {
  td_bind_set_module(L, "tide.file", l_load);
}
