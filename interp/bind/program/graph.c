/* graph.c - d:graph(), s:graph(), s:tasks(): the task graph of a design as a
 * value. */
#include <string.h>

#include "analysis/net/graph.h"
#include "bind/program/unit.h"
#include "lower/lower.h"
#include "rewrite/prim.h"

#define CLASS_GRAPH "tide.graph"

/* A graph in Lua: the program that it is of; its first user value is the store,
 * its second a table of what is known. */
typedef struct GraphBox {
  const TdProg *prog;
} GraphBox;
enum { GRAPH_STORE = 1, GRAPH_FIELDS, GRAPH_USER_VALUES = GRAPH_FIELDS };

/* The graph of design p, its collectives explicit, in arena a; or an error. */
static void graph_of(lua_State *L, TdArena *a, const TdProg *p, TdGraph *g) {
  TdDiag d = td_bind_diag(a);
  p = td_lower_collectives(a, p);
  TdAsk q = {td_bind_enter(L)->affine, a, p, td_prog_root(p)};
  if (q.unit->kind != TD_UNIT_DESIGN)
    td_bind_fail(L, "argument", "a kernel has no tasks: only designs have a graph");
  if (td_graph_of(&q, g, &d)) return;
  if (!d.loc.source) d.loc = td_bind_caller(L);
  td_bind_raise(L, &d);
}

/* Pushes a list of {name =, task =, body =}. */
static void push_nodes(lua_State *L, TdArena *a, const TdGraph *g) {
  lua_createtable(L, (int)g->node.n, 0);
  for (uint32_t i = 0; i < g->node.n; i++) {
    lua_createtable(L, 0, 3);
    td_bind_set_string(L, "name", td_graph_name(a, g, i));
    td_bind_set_string(L, "task", g->design->run[g->node.at[i].run].sym->name);
    td_bind_set_integer(L, "body", g->node.at[i].body);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

/* Sets the name of a node, unless it is outside. */
static void set_end(lua_State *L, TdArena *a, const TdGraph *g, const char *key, uint32_t node) {
  if (node != TD_TRAFFIC_NONE) td_bind_set_string(L, key, td_graph_name(a, g, node));
}

/* Pushes a list of {stream =, from =, to =, tokens =}; tokens only where data
 * does not decide. */
static void push_edges(lua_State *L, TdArena *a, const TdGraph *g) {
  lua_createtable(L, (int)g->edge.n, 0);
  for (size_t i = 0; i < g->edge.n; i++) {
    const TdGraphEdge *e = &g->edge.at[i];
    lua_createtable(L, 0, 4);
    td_bind_set_string(L, "stream", td_traffic_chan_name(a, g->net, e->chan));
    set_end(L, a, g, "from", e->from);
    set_end(L, a, g, "to", e->to);
    if (e->tokens.lo == e->tokens.hi) td_bind_set_integer(L, "tokens", e->tokens.lo);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

/* Pushes a list of {node =, argument =, reads =, writes =}. */
static void push_ports(lua_State *L, TdArena *a, const TdGraph *g) {
  lua_createtable(L, (int)g->port.n, 0);
  for (size_t i = 0; i < g->port.n; i++) {
    const TdGraphPort *p = &g->port.at[i];
    lua_createtable(L, 0, 4);
    td_bind_set_string(L, "node", td_graph_name(a, g, p->node));
    td_bind_set_string(L, "argument", p->arg->name);
    td_bind_set_boolean(L, "reads", p->read);
    td_bind_set_boolean(L, "writes", p->write);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

/* Pushes the table of what is known. */
static void push_fields(lua_State *L, TdArena *a, const TdGraph *g) {
  TdRange tokens = td_graph_tokens(g);
  TdText t = td_text_new(a);
  td_graph_print(&t, g);
  lua_createtable(L, 0, 10);
  td_bind_set_integer(L, "nodes", (int64_t)g->node.n);
  td_bind_set_integer(L, "bodies", (int64_t)td_graph_bodies(g));
  td_bind_set_integer(L, "ports", (int64_t)(td_graph_ports(g, false) + td_graph_ports(g, true)));
  td_bind_set_integer(L, "streams", (int64_t)g->edge.n);
  if (tokens.lo == tokens.hi) td_bind_set_integer(L, "tokens", tokens.lo);
  push_nodes(L, a, g);
  lua_setfield(L, -2, "node");
  push_edges(L, a, g);
  lua_setfield(L, -2, "edge");
  push_ports(L, a, g);
  lua_setfield(L, -2, "port");
  td_bind_set_string(L, "text", td_text_str(&t));
}

int td_bind_graph(lua_State *L) {
  const TdProg *p = td_bind_test_schedule(L, 1);
  if (!p) p = td_bind_check_unit(L, 1);
  TdArena *a = td_bind_work(L, TD_WORK_CHECK);
  TdGraph g;
  graph_of(L, a, p, &g);
  GraphBox *box = lua_newuserdatauv(L, sizeof *box, GRAPH_USER_VALUES);
  box->prog = p;
  lua_getiuservalue(L, 1, TD_UNIT_STORE);
  lua_setiuservalue(L, -2, GRAPH_STORE);
  push_fields(L, a, &g);
  lua_setiuservalue(L, -2, GRAPH_FIELDS);
  luaL_setmetatable(L, CLASS_GRAPH);
  return 1;
}

int td_bind_tasks(lua_State *L) {
  const TdProg *p = td_bind_check_schedule(L, 1)->now->prog;
  TdArena *a = td_bind_work(L, TD_WORK_CHECK);
  TdGraph g;
  graph_of(L, a, p, &g);
  lua_createtable(L, (int)g.node.n, 0);
  for (uint32_t i = 0; i < g.node.n; i++) {
    lua_pushstring(L, td_graph_name(a, &g, i));
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

const TdProg *td_bind_test_graph(lua_State *L, int idx) {
  GraphBox *box = luaL_testudata(L, idx, CLASS_GRAPH);
  return box ? box->prog : NULL;
}

int td_bind_draw(lua_State *L, const char *how) {
  td_stdlib_push_module(L, "tide.tool.drawing");
  lua_getfield(L, -1, how);
  lua_pushvalue(L, -3);
  lua_call(L, 1, 1);
  return 1;
}

/* Calls a function of stdlib's drawings on the text on top, NULL: none, the
 * graph at slot 1 and the report at slot 3, or nil. */
static int draw_graph(lua_State *L, const char *how, bool has_text) {
  td_stdlib_push_module(L, "tide.tool.drawing");
  lua_getfield(L, -1, how);
  if (has_text) lua_pushvalue(L, -3);
  lua_pushvalue(L, 1);
  if (!has_text) lua_pushnil(L);
  lua_pushvalue(L, 3);
  lua_call(L, 3, 1);
  return 1;
}

/* g:dot {by = "instance" or "task"}, g:svg {.., run = report}: the drawing is
 * upvalue 1. */
static int l_draw(lua_State *L) {
  static const char *const all[] = {"by", "run", NULL}, *const of_text[] = {"by", NULL};
  static const char *const by[] = {"instance", "task", NULL};
  GraphBox *box = luaL_testudata(L, 1, CLASS_GRAPH);
  if (!box) return td_bind_expect(L, 1, "a graph");
  lua_settop(L, 2);
  bool svg = lua_toboolean(L, lua_upvalueindex(1)) != 0;
  bool given = td_bind_check_options(L, 2, svg ? all : of_text);
  TdGraphBy of = given && td_bind_opt_word(L, 2, "by", by, 0) ? TD_GRAPH_TASKS : TD_GRAPH_INSTANCES;
  lua_pushnil(L);
  if (given) {
    lua_getfield(L, 2, "run");
    lua_replace(L, 3);
  }
  if (!lua_isnil(L, 3) && !lua_istable(L, 3))
    td_bind_fail(L, "option", "run is the report of a run with a clock, m.report");
  if (svg && of == TD_GRAPH_TASKS) return draw_graph(L, "tasks", false);
  TdArena *a = td_bind_work(L, TD_WORK_CHECK);
  TdText t = td_text_new(a);
  TdGraph g;
  graph_of(L, a, box->prog, &g);
  td_graph_dot(&t, &g, of);
  lua_pushlstring(L, td_text_str(&t), t.n);
  return svg ? draw_graph(L, "dot", true) : 1;
}

static int l_tostring(lua_State *L) {
  lua_getiuservalue(L, 1, GRAPH_FIELDS);
  lua_getfield(L, -1, "text");
  return 1;
}

static int l_index(lua_State *L) {
  const char *key = luaL_checkstring(L, 2);
  lua_getiuservalue(L, 1, GRAPH_FIELDS);
  if (lua_getfield(L, -1, key) != LUA_TNIL) return 1;
  if (strcmp(key, "tokens") == 0) return 1;
  return td_bind_method(L, CLASS_GRAPH, key);
}

void td_bind_open_graph(lua_State *L) {
  static const luaL_Reg meta[] = {{"__index", l_index}, {"__tostring", l_tostring}, {NULL, NULL}};
  static const luaL_Reg none[] = {{NULL, NULL}};
  td_bind_class(L, CLASS_GRAPH, meta, none);
  td_bind_class_fields(L, "nodes ports streams tokens node edge port");
  lua_getfield(L, -1, "methods");
  lua_pushboolean(L, 0);
  lua_pushcclosure(L, l_draw, 1);
  lua_setfield(L, -2, "dot");
  lua_pushboolean(L, 1);
  lua_pushcclosure(L, l_draw, 1);
  lua_setfield(L, -2, "svg");
  lua_pop(L, 2);
}
