/* arrays.c - k:arrays(), s:arrays(): the arrays of a program, their banks, and where each is
 * passed, as a value. */
#include <string.h>

#include "analysis/net/interface.h"
#include "bind/program/unit.h"
#include "bind/value/layout.h"

#define CLASS_ARRAYS "tide.arrays"

/* Sets the list of the banks of an array. */
static void set_banks(lua_State *L, TdArena *a, const TdInterface *g, const TdInterfaceArray *x) {
  lua_createtable(L, x->type->rank, 0);
  for (int d = 0; d < x->type->rank; d++) {
    lua_pushstring(L, td_banks_str(a, g->banks.node.at[x->first + (size_t)d].banks));
    lua_rawseti(L, -2, d + 1);
  }
  lua_setfield(L, -2, "banks");
}

/* Sets the layout of an array that is spread alike in all dimensions that are, with sizes that have
 * values; else there is no such field. */
static void set_layout(lua_State *L, TdArena *a, const TdInterface *g, const TdInterfaceArray *x) {
  int64_t dims[TD_MAX_RANK], extent;
  size_t n = 0;
  TdBanks like = {0};
  const char *kind = NULL;
  for (int d = 0; d < x->type->rank; d++) {
    TdBanks b = g->banks.node.at[x->first + (size_t)d].banks;
    if (!td_type_extent(x->type, d, &extent)) return;
    if (b.kind == TD_BANKS_NONE) continue;
    if (kind && (b.kind != like.kind || b.n != like.n)) return;
    like = b;
    kind = td_banks_word(b);
    if (b.kind != TD_BANKS_COMPLETE && extent % b.n) return;
    dims[n++] = d;
  }
  if (!n) return;
  TdLayoutBox *box = td_bind_push_layout(L, NULL);
  td_bind_layout_banks(L, a, box, x->type, dims, n, kind, like.n);
  lua_setfield(L, -2, "layout");
}

/* Pushes a list of {name =, type =, banks =, layout =}. */
static void push_arrays(lua_State *L, TdArena *a, const TdInterface *g) {
  lua_createtable(L, (int)g->array.n, 0);
  for (uint32_t i = 0; i < g->array.n; i++) {
    lua_createtable(L, 0, 3);
    td_bind_set_string(L, "name", td_interface_name(a, g, i));
    td_bind_set_string(L, "type", td_type_str(a, g->array.at[i].type));
    set_banks(L, a, g, &g->array.at[i]);
    if (g->array.at[i].type->kind == TD_T_TENSOR) set_layout(L, a, g, &g->array.at[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

/* Pushes a list of {array =, as =, line =}. */
static void push_passes(lua_State *L, TdArena *a, const TdInterface *g) {
  lua_createtable(L, (int)g->pass.n, 0);
  for (size_t i = 0; i < g->pass.n; i++) {
    const TdInterfacePass *p = &g->pass.at[i];
    lua_createtable(L, 0, 3);
    td_bind_set_string(L, "array", td_interface_name(a, g, p->of));
    td_bind_set_string(L, "as", td_interface_name(a, g, p->as));
    td_bind_set_integer(L, "line", p->loc.line);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

int td_bind_arrays(lua_State *L) {
  const TdProg *p = td_bind_test_schedule(L, 1);
  if (!p) p = td_bind_check_unit(L, 1);
  TdArena *a = td_bind_work(L, TD_WORK_CHECK);
  TdAsk q = {td_bind_enter(L)->affine, a, p, td_prog_root(p)};
  TdInterface g;
  td_interface_of(&q, &g);
  TdText table = td_text_new(a), dot = td_text_new(a);
  td_interface_print(&table, &g);
  td_interface_dot(&dot, &q, &g);
  lua_createtable(L, 0, 4);
  push_arrays(L, a, &g);
  lua_setfield(L, -2, "array");
  push_passes(L, a, &g);
  lua_setfield(L, -2, "pass");
  td_bind_set_string(L, "text", td_text_str(&table));
  td_bind_set_string(L, "dot", td_text_str(&dot));
  luaL_setmetatable(L, CLASS_ARRAYS);
  return 1;
}

static int l_tostring(lua_State *L) {
  lua_getfield(L, 1, "text");
  return 1;
}

/* g.svg, drawn when it is asked for. */
static int l_index(lua_State *L) {
  bool svg = lua_type(L, 2) == LUA_TSTRING && strcmp(lua_tostring(L, 2), "svg") == 0;
  if (!svg) return 0;
  lua_getfield(L, 1, "dot");
  return td_bind_draw(L, "dot");
}

void td_bind_open_arrays(lua_State *L) {
  static const luaL_Reg meta[] = {{"__index", l_index}, {"__tostring", l_tostring}, {NULL, NULL}};
  td_bind_class(L, CLASS_ARRAYS, meta, NULL);
  lua_pop(L, 1);
}
