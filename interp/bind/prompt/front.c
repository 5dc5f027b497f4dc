/* front.c - the module tide.front: the front end of a session, for stdlib's tide.display. */
#include <string.h>

#include "bind/prompt/prompt.h"

#define KEY_FRONT "tide.front"

void td_front_set(lua_State *L, const TdFront *front) {
  lua_pushlightuserdata(L, (void *)(uintptr_t)front);
  lua_setfield(L, LUA_REGISTRYINDEX, KEY_FRONT);
}

/* The front end, or NULL at a terminal. */
static const TdFront *front_of(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, KEY_FRONT);
  const TdFront *front = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return front;
}

/* Adds the strings of the table at idx, by MIME type. */
static void add_forms(lua_State *L, int idx, TdForms *out) {
  for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING || lua_type(L, -1) != LUA_TSTRING) continue;
    TdForm f = {.mime = td_arena_strdup(out->arena, lua_tostring(L, -2))};
    const char *data = lua_tolstring(L, -1, &f.n);
    f.data = td_arena_strndup(out->arena, data, f.n);
    td_vec_push(out->arena, &out->list, f);
  }
}

/* Pushes the name of the class of the value at idx, or nil. */
static void push_class(lua_State *L, int idx) {
  if (!luaL_getmetafield(L, idx, "__name")) lua_pushnil(L);
}

/* What l_forms is given. */
typedef struct Shown {
  const char *text;
  TdForms *out;
} Shown;

/* Puts the forms of the last answer, as stdlib's tide.display knows them, into the Shown at
 * slot 1. */
static int l_forms(lua_State *L) {
  const Shown *shown = lua_touserdata(L, 1);
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_getfield(L, -1, "tide.display");
  lua_getfield(L, -1, "forms");
  lua_getfield(L, LUA_REGISTRYINDEX, TD_PROMPT_ANSWER);
  push_class(L, -1);
  lua_pushstring(L, shown->text);
  lua_call(L, 3, 1);
  add_forms(L, lua_gettop(L), shown->out);
  return 0;
}

void td_front_forms(lua_State *L, const char *text, TdForms *out) {
  Shown shown = {text, out};
  lua_pushcfunction(L, l_forms);
  lua_pushlightuserdata(L, &shown);
  if (lua_pcall(L, 1, 0, 0) == LUA_OK && out->list.n) return;
  out->list.n = 0;
  TdForm plain = {"text/plain", text, strlen(text)};
  td_vec_push(out->arena, &out->list, plain);
}

/* front.is_here(): whether there is another front end than the terminal. */
static int l_is_here(lua_State *L) {
  lua_pushboolean(L, front_of(L) != NULL);
  return 1;
}

/* front.echo(x): how the prompt shows x, and the name of its class. */
static int l_echo(lua_State *L) {
  luaL_checkany(L, 1);
  TdText out = td_text_new(td_bind_arena(L));
  td_show_value(L, &out, 1, false);
  lua_pushlstring(L, td_text_str(&out), out.n && out.at[out.n - 1] == '\n' ? out.n - 1 : out.n);
  push_class(L, 1);
  return 2;
}

/* front.show(forms, id, update): nothing at a terminal. */
static int l_show(lua_State *L) {
  const TdFront *front = front_of(L);
  const char *id = luaL_optstring(L, 2, NULL);
  bool update = lua_toboolean(L, 3) != 0;
  luaL_checktype(L, 1, LUA_TTABLE);
  TdForms forms = {.arena = td_bind_arena(L)};
  add_forms(L, 1, &forms);
  if (front) front->show(front->ud, &forms, id, update);
  return 0;
}

/* front.clear(wait): nothing at a terminal. */
static int l_clear(lua_State *L) {
  const TdFront *front = front_of(L);
  if (front) front->clear(front->ud, lua_toboolean(L, 1) != 0);
  return 0;
}

/* front.ask(prompt): a line without its newline, or nil and why there is none. */
static int l_ask(lua_State *L) {
  const TdFront *front = front_of(L);
  const char *prompt = luaL_optstring(L, 1, ""), *why = "there is no front end";
  TdText line = td_text_new(td_bind_arena(L));
  if (front) why = front->ask(front->ud, prompt, &line);
  if (td_prompt_was_interrupted()) return luaL_error(L, "interrupted");
  if (why) {
    lua_pushnil(L);
    lua_pushstring(L, why);
    return 2;
  }
  lua_pushlstring(L, td_text_str(&line), line.n);
  return 1;
}

/* The loader of the module. */
static int l_load(lua_State *L) {
  static const luaL_Reg functions[] = {{"is_here", l_is_here}, {"echo", l_echo}, {"show", l_show},
                                       {"clear", l_clear},     {"ask", l_ask},   {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}

void td_bind_open_front(lua_State *L) {
  td_bind_set_module(L, "tide.front", l_load);
}
