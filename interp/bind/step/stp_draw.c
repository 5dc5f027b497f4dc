/* stp_draw.c - a graph of STeP as a drawing, a page, and the arguments of its printed form. */
#include <string.h>

#include "bind/step/stp.h"
#include "bind/program/unit.h"
#include "step/text/stp_picture.h"
#include "step/text/stp_print.h"

/* g:dot(): Graphviz text, a box for each family. */
int td_stp_l_dot(lua_State *L) {
  TdArena *a = td_bind_arena(L);
  TdPicture p = td_stp_picture_of(a, td_stp_check_program(L, 1));
  TdText t = td_text_new(a);
  td_picture_dot(&t, &p);
  lua_pushlstring(L, td_text_str(&t), t.n);
  return 1;
}

/* g:svg(): the same, drawn. */
int td_stp_l_svg(lua_State *L) {
  td_stp_l_dot(L);
  return td_bind_draw(L, "dot");
}

/* g:html(path): a page with the drawing and the text; without a path, returns it. */
int td_stp_l_html(lua_State *L) {
  td_stp_check_program(L, 1);
  if (!lua_isnoneornil(L, 2) && !lua_isstring(L, 2))
    return td_bind_fail(L, "argument", "html: the path of a page is a string");
  lua_settop(L, 2);
  td_stdlib_push_module(L, "tide.tool.graph_page");
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_call(L, 2, 2);
  if (lua_isstring(L, -1)) td_bind_fail(L, "write", "%s", lua_tostring(L, -1));
  lua_pop(L, 1);
  return lua_isnil(L, -1) ? 0 : 1;
}

/* Pushes the Lua value of a tensor or kernel that the table on top keeps, or those that its graphs
 * keep; false and nothing where there is none. */
static bool push_kept(lua_State *L, TdStpDatum x) {
  int table = lua_gettop(L);
  luaL_checkstack(L, 8, "constants");
  for (lua_Integer i = 1; lua_rawgeti(L, table, i) != LUA_TNIL; i++, lua_settop(L, table)) {
    TdTensorBox *box = td_bind_test_tensor(L, -1);
    const TdProg *p = td_bind_test_unit(L, -1);
    bool found = (box && box->tensor == x.tensor) || (p && p == x.prog);
    bool inner = !found && lua_type(L, -1) == LUA_TUSERDATA && !box && !p;
    if (inner && lua_getiuservalue(L, -1, 1)) found = lua_istable(L, -1) && push_kept(L, x);
    if (!found) continue;
    lua_copy(L, -1, table + 1);
    lua_settop(L, table + 1);
    return true;
  }
  lua_settop(L, table);
  return false;
}

void td_stp_push_datum(lua_State *L, int graph, TdStpDatum x) {
  graph = lua_absindex(L, graph);
  lua_createtable(L, 1, 0);
  lua_pushvalue(L, graph);
  lua_rawseti(L, -2, 1);
  if (push_kept(L, x)) {
    lua_remove(L, -2);
    return;
  }
  lua_pop(L, 1);
  if (x.prog) {
    td_stp_push_kept(L, x.prog);
    return;
  }
  TdTensor *t = td_bind_push_tensor(L, x.tensor->type, false);
  td_tensor_copy(td_bind_enter(L)->ctx, t, x.tensor);
}

/* g:constants(): the tensors and kernels that the printed chunk wants. */
int td_stp_l_constants(lua_State *L) {
  const TdStpGraph *g = td_stp_check_program(L, 1);
  TdArena *a = td_bind_arena(L);
  const TdStpDatum *data;
  size_t n = td_stp_print_data(a, g, &data);
  luaL_checkstack(L, (int)n + 8, "constants");
  for (size_t i = 0; i < n; i++) td_stp_push_datum(L, 1, data[i]);
  return (int)n;
}

/* g:metric(name, ...) and g:intensity(): stdlib's, with the module's function of this name. */
static int call_stdlib(lua_State *L, const char *name) {
  td_stp_check_program(L, 1);
  td_stdlib_push_module(L, "tide.step.metrics");
  lua_getfield(L, -1, name);
  lua_insert(L, 1);
  lua_pop(L, 1);
  lua_call(L, lua_gettop(L) - 1, 1);
  return 1;
}

int td_stp_l_metric(lua_State *L) {
  return call_stdlib(L, "of");
}

int td_stp_l_intensity(lua_State *L) {
  return call_stdlib(L, "intensity");
}

/* g:design {depth =, bound =}: a design of Tide, and its arguments. */
int td_stp_l_design(lua_State *L) {
  td_stp_check_program(L, 1);
  lua_settop(L, 2);
  td_stdlib_push_module(L, "tide.step.design");
  lua_insert(L, 1);
  lua_call(L, 2, LUA_MULTRET);
  return lua_gettop(L);
}
