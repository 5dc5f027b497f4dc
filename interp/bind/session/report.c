/* report.c - errors on standard error: as drawn, or as JSON for programs that read them. */
#include <stdio.h>

#include "bind/prompt/prompt.h"

#define KEY_JSON "tide.report_json"

void td_report_as_json(lua_State *L) {
  lua_pushboolean(L, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, KEY_JSON);
}

/* Replaces the error on top by its line of JSON, if that was asked for. */
static void to_json(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, KEY_JSON);
  bool json = lua_toboolean(L, -1) != 0;
  lua_pop(L, 1);
  if (!json) return;
  td_stdlib_push_module(L, "tide.tool.diagnostics");
  lua_getfield(L, -1, "text");
  lua_pushvalue(L, -3);
  lua_call(L, 1, 1);
  lua_replace(L, -3);
  lua_pop(L, 1);
}

/* Pushes what the error on top says of itself; of a table that says nothing, what it holds. */
static const char *push_said(lua_State *L, size_t *n) {
  if (!lua_istable(L, -1) || luaL_getmetafield(L, -1, "__tostring") != LUA_TNIL)
    return luaL_tolstring(L, 1, n);
  TdText t = td_text_new(td_bind_arena(L));
  td_text_puts(&t, "error: ");
  td_show_value(L, &t, 1, false);
  *n = t.n;
  return lua_pushlstring(L, td_text_str(&t), t.n);
}

/* Where l_text leaves the text. */
typedef struct Told {
  TdArena *arena;
  const char *text;
} Told;

/* Puts the text of the error at slot 1 into the Told at slot 2; user code may run in its
 * __tostring. */
static int l_text(lua_State *L) {
  Told *told = lua_touserdata(L, 2);
  td_fault_handle(L);
  to_json(L);
  size_t n;
  const char *s = push_said(L, &n);
  told->text = td_arena_strndup(told->arena, s, n && s[n - 1] == '\n' ? n - 1 : n);
  return 0;
}

const char *td_report_text(lua_State *L, TdArena *a) {
  Told told = {a, "an error that cannot be told"};
  lua_pushcfunction(L, l_text);
  lua_insert(L, -2);
  lua_pushlightuserdata(L, &told);
  if (lua_pcall(L, 2, 0, 0) != LUA_OK) lua_pop(L, 1);
  return told.text;
}

void td_report_error(lua_State *L) {
  TdArena *a = td_arena_scratch(td_bind_enter(L)->ctx);
  fflush(stdout);
  fprintf(stderr, "%s\n", td_report_text(L, a));
  td_arena_free(a);
}
