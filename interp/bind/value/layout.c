/* layout.c - T:layout "S0R": which axis of a task's map shards each dimension. */
#include <ctype.h>
#include <string.h>

#include "bind/bind.h"

const TdLayoutBox *td_bind_test_layout(lua_State *L, int idx) {
  return luaL_testudata(L, idx, TD_CLASS_LAYOUT);
}

const char *td_bind_check_layout(lua_State *L, const TdType *t, const char *text) {
  static const char help[] = "S<axis of map> or R for each dimension, as in \"S0R\"";
  TdArena *a = td_bind_arena(L);
  if (t->kind != TD_T_TENSOR)
    td_bind_refuse(L, TD_USAGE, "layout", help, "only a tensor has a layout, not %s",
                   td_type_str(a, t));
  int rank = 0, by[10] = {0}; /* of each axis, 1 + the dimension that it cuts */
  for (const char *p = text; *p; rank++) {
    bool shard = *p == 'S' && isdigit((unsigned char)p[1]);
    if (!shard && *p != 'R')
      td_bind_refuse(L, TD_USAGE, "layout", help, "layout \"%s\" is not understood at \"%s\"", text,
                     p);
    int *cut = shard ? &by[p[1] - '0'] : NULL;
    if (cut && *cut)
      td_bind_refuse(L, TD_USAGE, "layout", help,
                     "layout \"%s\": dimensions %d and %d are both cut by axis %c", text, *cut - 1,
                     rank, p[1]);
    if (cut) *cut = rank + 1;
    p += shard ? 2 : 1;
  }
  if (rank != t->rank)
    td_bind_refuse(L, TD_USAGE, "layout", help, "layout \"%s\" has %d dimension%s, %s has %d", text,
                   rank, rank == 1 ? "" : "s", td_type_str(a, t), t->rank);
  return td_names_str(td_bind_enter(L)->session->names, text);
}

/* T:layout "S0R" */
static int l_type_layout(lua_State *L) {
  const TdType *t = td_bind_check_type(L, 1);
  if (lua_type(L, 2) != LUA_TSTRING)
    td_bind_fail(L, "layout", "a layout is a string, not %s", td_bind_words(L, 2));
  const char *text = td_bind_check_layout(L, t, lua_tostring(L, 2));
  TdLayoutBox *box = lua_newuserdatauv(L, sizeof *box, 0);
  *box = (TdLayoutBox){t, text};
  luaL_setmetatable(L, TD_CLASS_LAYOUT);
  return 1;
}

/* The fields `type` and `text`. */
static int l_layout_index(lua_State *L) {
  const TdLayoutBox *box = luaL_checkudata(L, 1, TD_CLASS_LAYOUT);
  const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
  if (strcmp(key, "type") == 0)
    td_bind_push_type(L, box->type);
  else if (strcmp(key, "text") == 0)
    lua_pushstring(L, box->text);
  else
    lua_pushnil(L);
  return 1;
}

static int l_layout_tostring(lua_State *L) {
  const TdLayoutBox *box = luaL_checkudata(L, 1, TD_CLASS_LAYOUT);
  lua_pushfstring(L, "%s:layout \"%s\"", td_type_str(td_bind_arena(L), box->type), box->text);
  return 1;
}

void td_bind_open_layout(lua_State *L) {
  static const luaL_Reg meta[] = {
      {"__index", l_layout_index}, {"__tostring", l_layout_tostring}, {NULL, NULL}};
  td_bind_class(L, TD_CLASS_LAYOUT, meta, NULL);
  luaL_getmetatable(L, TD_CLASS_TYPE);
  lua_getfield(L, -1, "methods");
  lua_pushcfunction(L, l_type_layout);
  lua_setfield(L, -2, "layout");
  lua_pop(L, 3);
}
