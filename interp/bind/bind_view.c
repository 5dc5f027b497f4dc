/* bind_view.c - the module tide.view: programs as data for the drawings and pages of stdlib. */
#include "bind/unit.h"
#include "bind/view.h"

/* The program of the kernel, design, schedule or graph at slot 1, or raises. */
static const TdProg *check_program(lua_State *L) {
  const TdProg *p = td_bind_test_schedule(L, 1);
  if (!p) p = td_bind_test_graph(L, 1);
  return p ? p : td_bind_check_unit(L, 1);
}

/* view.design(x): {name, tasks, streams, arguments} of a design; nil of a kernel. */
static int l_design(lua_State *L) {
  td_view_push_design(L, check_program(L));
  return 1;
}

/* The loader of the module. */
static int l_load(lua_State *L) {
  static const luaL_Reg functions[] = {{"design", l_design}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}

void td_bind_open_view(lua_State *L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, l_load);
  lua_setfield(L, -2, "tide.view");
  lua_pop(L, 1);
}
