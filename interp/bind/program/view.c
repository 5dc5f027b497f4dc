/* view.c - the module tide.view: programs as data for the drawings and pages of stdlib. */
#include "backends/host/graphviz.h"
#include "bind/program/unit.h"
#include "bind/program/view.h"
#include "rewrite/prim.h"

/* The program of the kernel, design, schedule or graph at slot 1, or raises; of a schedule as it
 * was after the step at slot 2, if that is given. */
static const TdProg *check_program(lua_State *L) {
  if (td_bind_test_schedule(L, 1) && !lua_isnoneornil(L, 2)) {
    const TdVersion *v = td_schedule_at(td_bind_check_schedule(L, 1), (int)luaL_checkinteger(L, 2));
    luaL_argcheck(L, v, 2, "no such step");
    return v->prog;
  }
  const TdProg *p = td_bind_test_schedule(L, 1);
  if (!p) p = td_bind_test_graph(L, 1);
  return p ? p : td_bind_check_unit(L, 1);
}

/* view.design(x, [step], [most]): {name, tasks, streams, arguments, ntask, nstream} of a design, of
 * tasks and streams at most that many; nil of a kernel. */
static int l_design(lua_State *L) {
  lua_Integer most = luaL_optinteger(L, 3, LUA_MAXINTEGER);
  luaL_argcheck(L, most >= 0, 3, "not negative");
  td_view_push_design(L, check_program(L), (size_t)most);
  return 1;
}

/* Pushes {piece =, from =, to =, name =, type =, source =, line =}; places count bytes from 1, both
 * included. */
static void push_mark(lua_State *L, TdArena *a, const TdPrintMark *m) {
  static const char *const pieces[] = {"expr", "symbol", "stmt"};
  lua_createtable(L, 0, 7);
  lua_pushstring(L, pieces[m->piece]);
  lua_setfield(L, -2, "piece");
  lua_pushinteger(L, (lua_Integer)m->from + 1);
  lua_setfield(L, -2, "from");
  lua_pushinteger(L, (lua_Integer)m->to);
  lua_setfield(L, -2, "to");
  lua_pushstring(L, m->name);
  lua_setfield(L, -2, "name");
  lua_pushstring(L, m->type ? td_type_str(a, m->type) : NULL);
  lua_setfield(L, -2, "type");
  if (!m->loc.source) return;
  lua_pushinteger(L, m->loc.source);
  lua_setfield(L, -2, "source");
  lua_pushinteger(L, m->loc.line);
  lua_setfield(L, -2, "line");
}

/* view.program(x, [step]): the printed form, and the list of what its pieces stand for. */
static int l_program(lua_State *L) {
  const TdProg *p = check_program(L);
  TdText t = td_text_new(td_bind_arena(L));
  TdPrintMarks marks = {0};
  td_print_marked(&t, p, &marks);
  lua_pushlstring(L, td_text_str(&t), t.n);
  lua_createtable(L, (int)marks.n, 0);
  for (size_t i = 0; i < marks.n; i++) {
    push_mark(L, t.arena, &marks.at[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 2;
}

/* view.steps(x): how many steps a schedule has; nil of anything else. */
static int l_steps(lua_State *L) {
  if (!td_bind_test_schedule(L, 1)) return 0;
  lua_pushinteger(L, td_bind_check_schedule(L, 1)->now->step);
  return 1;
}

/* view.name(x): the name of a kernel, design or schedule; nil of anything else. */
static int l_name(lua_State *L) {
  luaL_checkany(L, 1);
  const TdProg *p = td_bind_test_schedule(L, 1);
  if (!p) p = td_bind_test_unit(L, 1);
  lua_pushstring(L, p ? td_prog_root(p)->sym->name : NULL);
  return 1;
}

/* view.file(x): the path of the file in which the function of a kernel, design or schedule is
 * written, or nil. */
static int l_file(lua_State *L) {
  lua_Debug ar;
  check_program(L);
  if (lua_getiuservalue(L, 1, TD_UNIT_FUNCTION) != LUA_TFUNCTION) return 0;
  lua_getinfo(L, ">S", &ar);
  if (*ar.source != '@') return 0;
  lua_pushstring(L, ar.source + 1);
  return 1;
}

/* view.source(n): the name and the text of source n. */
static int l_source(lua_State *L) {
  const TdSources *s = td_bind_enter(L)->session->sources;
  uint32_t id = (uint32_t)luaL_checkinteger(L, 1);
  size_t n;
  lua_pushstring(L, td_sources_name(s, id));
  const char *text = td_sources_text(s, id, &n);
  lua_pushlstring(L, text, n);
  return 2;
}

/* x:html(path): stdlib's viewer writes the page; without a path, returns it. */
static int l_html(lua_State *L) {
  if (!td_bind_test_schedule(L, 1)) td_bind_check_unit(L, 1);
  if (!lua_isnoneornil(L, 2) && !lua_isstring(L, 2))
    return td_bind_fail(L, "argument", "html: the path of a page is a string");
  lua_settop(L, 2);
  td_stdlib_push_module(L, "tide.tool.viewer");
  if (lua_isnil(L, 2)) {
    lua_getfield(L, -1, "page");
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    return 1;
  }
  lua_getfield(L, -1, "write");
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_call(L, 2, 2);
  if (lua_isnil(L, -2)) td_bind_fail(L, "write", "%s", lua_tostring(L, -1));
  return 0;
}

/* view.lay_out(dot): a graph laid out by Graphviz, in its format "plain". */
static int l_lay_out(lua_State *L) {
  TdArena *a = td_bind_arena(L);
  TdDiag d = td_bind_diag(a);
  const char *plain = td_graphviz_render(a, luaL_checkstring(L, 1), "plain", &d);
  if (!plain) td_bind_raise(L, &d);
  lua_pushstring(L, plain);
  return 1;
}

/* The loader of the module. */
static int l_load(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"design", l_design}, {"program", l_program}, {"steps", l_steps},     {"name", l_name},
      {"file", l_file},     {"source", l_source},   {"lay_out", l_lay_out}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}

/* Adds the methods of this file to a class. */
static void add_methods(lua_State *L, const char *class) {
  luaL_getmetatable(L, class);
  lua_getfield(L, -1, "methods");
  lua_pushcfunction(L, l_html);
  lua_setfield(L, -2, "html");
  lua_pop(L, 2);
}

void td_bind_open_view(lua_State *L) {
  add_methods(L, TD_CLASS_UNIT);
  add_methods(L, TD_CLASS_SCHEDULE);
  td_bind_set_module(L, "tide.view", l_load);
}
