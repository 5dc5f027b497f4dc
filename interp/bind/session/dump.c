/* dump.c - tide --dump-ir=dir: the program of every schedule after each step, in numbered
 * files.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "bind/program/unit.h"
#include "tide.h"

#define KEY_FOLDER "tide.dump"
#define KEY_NUMBER "tide.dumped"

void td_dump_to(lua_State *L, const char *dir) {
  if (mkdir(dir, 0777) != 0 && errno != EEXIST)
    luaL_error(L, "--dump-ir: %s: %s", dir, strerror(errno));
  lua_pushstring(L, dir);
  lua_setfield(L, LUA_REGISTRYINDEX, KEY_FOLDER);
}

/* The number of the next file. */
static int next_number(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, KEY_NUMBER);
  int n = (int)lua_tointeger(L, -1) + 1;
  lua_pop(L, 1);
  lua_pushinteger(L, n);
  lua_setfield(L, LUA_REGISTRYINDEX, KEY_NUMBER);
  return n;
}

/* Writes a text to a file; false when it cannot be. */
static bool write_file(const char *path, const TdText *t) {
  FILE *f = fopen(path, "w");
  if (!f) return false;
  bool written = fwrite(td_text_str(t), 1, t->n, f) == t->n;
  return fclose(f) == 0 && written;
}

void td_bind_dump(lua_State *L, const TdProg *p, const char *prim, const char *call) {
  int top = lua_gettop(L);
  lua_getfield(L, LUA_REGISTRYINDEX, KEY_FOLDER);
  const char *dir = lua_tostring(L, -1);
  if (dir) {
    TdText t = td_text_new(td_bind_arena(L));
    td_text_putf(&t, "-- %s\n", call);
    td_print_prog(&t, p);
    const char *path = td_text_fmt(t.arena, "%s/%04d_%s_%s.lua", dir, next_number(L),
                                   td_prog_root(p)->sym->name, prim);
    if (!write_file(path, &t)) td_bind_fail(L, "dump", "--dump-ir: %s: %s", path, strerror(errno));
  }
  td_bind_settop(L, top);
}
