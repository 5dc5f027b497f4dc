/* session.h - a Lua session with Tide for tests in Lua that see what C holds:
 *   program(s)     the address of the program of a schedule, for comparing
 *   counters(s)    how many uids and symbols its store has given out
 *   alike(x, y)    whether two kernels or schedules have the same structure and names */
#ifndef SESSION_H
#define SESSION_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "bind/bind.h"
#include "ir/text/print.h"
#include "tap.h"
#include "tide.h"

/* The program of the schedule or kernel at idx. */
static const TdProg *session_program(lua_State *L, int idx) {
  const TdProg *p = td_bind_test_schedule(L, idx);
  return p ? p : td_bind_check_unit(L, idx);
}

static int session_l_program(lua_State *L) {
  union {
    const TdProg *from;
    void *to;
  } p = {session_program(L, 1)};
  lua_pushlightuserdata(L, p.to);
  return 1;
}

static int session_l_counters(lua_State *L) {
  const TdStore *st = session_program(L, 1)->store;
  lua_pushinteger(L, st->next_uid);
  lua_pushinteger(L, st->next_sym);
  return 2;
}

static int session_l_alike(lua_State *L) {
  lua_pushboolean(L, td_equal_prog(session_program(L, 1), session_program(L, 2)));
  return 1;
}

/* Opens Lua's libraries, Tide and the functions above in L. */
static inline void session_open(lua_State *L) {
  luaL_openlibs(L);
  luaL_requiref(L, "tide", luaopen_tide, 0);
  lua_pushliteral(L, ".");
  lua_setfield(L, LUA_REGISTRYINDEX, "tide.home");
  lua_register(L, "program", session_l_program);
  lua_register(L, "counters", session_l_counters);
  lua_register(L, "alike", session_l_alike);
}

/* Runs a test in Lua, which prints TAP and ends the process when it comes to its end; returns
 * main's result otherwise. */
static inline int session_run(lua_State *L, const char *path) {
  lua_pushstring(L, path);
  lua_setglobal(L, "path");
  if (luaL_dostring(L,
                    "package.path = 'tests/?.lua;stdlib/?.lua;' .. package.path; dofile(path)") !=
      LUA_OK) {
    ok(false, lua_tostring(L, -1));
    return done_testing();
  }
  lua_close(L);
  return 0;
}

/* The main of a test in Lua, whose global `arg` holds the words of the command; the same program
 * runs another script when it is named, as `tide` does. */
static inline int session_main(int argc, char **argv, const char *path) {
  lua_State *L = luaL_newstate();
  session_open(L);
  lua_newtable(L);
  lua_pushstring(L, argv[0]);
  lua_rawseti(L, -2, -1);
  lua_setglobal(L, "arg");
  return session_run(L, argc > 1 ? argv[1] : path);
}

#endif
